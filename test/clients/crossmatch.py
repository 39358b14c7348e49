"""Crossmatches a table of each kind that this Python has: nearsky, the address, and a position with an object near it."""

import json
import sys

from nearsky import Nearsky, NearskyError

service = Nearsky(sys.argv[1])
ra, dec = float(sys.argv[2]), float(sys.argv[3])
kinds = []


def check(kind, status, ids):
    assert list(status) == ["matched", "no_match"], (kind, list(status))
    kinds.append([kind, str(ids[0])])


def has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


text = f"name,ra,dec\na,{ra!r},{dec!r}\nb,150,-80\n".encode()
for as_job in (False, True):
    rows = [line.split(",") for line in service.crossmatch(text, radius_arcsec=2, as_job=as_job).decode().splitlines()]
    check("bytes", [row[3] for row in rows[1:]], [row[4] for row in rows[1:]])
paths = []


class Recorded(Nearsky):
    def _send(self, path, *more):
        paths.append(path)
        return super()._send(path, *more)


# The wait for a job ends before the timeout of a request.
Recorded(sys.argv[1], timeout_seconds=4).crossmatch(text, radius_arcsec=2, as_job=True)
assert [path for path in paths if "WAIT" in path][0].endswith("?WAIT=2"), paths
if has("pandas") and has("pyarrow"):
    import pandas

    frame = pandas.DataFrame({"wide": pandas.array([2**60 + 1, None], "Int64"), "ra": [ra, 150], "dec": [dec, -80]}, index=[7, 9])
    found = service.crossmatch(frame, radius_arcsec=2)
    assert type(found) is pandas.DataFrame and found["wide"][0] == 2**60 + 1 and found["wide"].dtype == "Int64"
    check("pandas", found["nearsky_status"], found["nearsky_diaObjectId"])
if has("polars"):
    import polars

    found = service.crossmatch(polars.DataFrame({"ra": [ra, 150], "dec": [dec, -80], "wide": [2**60 + 1, None]}), radius_arcsec=2)
    assert type(found) is polars.DataFrame and found["wide"].to_list() == [2**60 + 1, None]
    check("polars", found["nearsky_status"], found["nearsky_diaObjectId"])
if has("astropy"):
    import numpy
    from astropy import units
    from astropy.coordinates import SkyCoord
    from astropy.table import Table
    from astropy.time import Time

    table = Table({"ra": [ra, 150] * units.deg, "dec": [dec, -80] * units.deg, "flux": [1.5, 2] * units.mJy})
    found = service.crossmatch(table, radius_arcsec=2 * units.arcsec, as_job=True)
    assert type(found) is Table and found["flux"].unit == units.mJy
    check("astropy", found["nearsky_status"], found["nearsky_diaObjectId"])
    found = service.crossmatch(SkyCoord([ra, 150], [dec, -80], unit="deg").galactic, radius_arcsec=2)
    check("SkyCoord", found["nearsky_status"], found["nearsky_diaObjectId"])
    mixed = Table({"at": SkyCoord([ra, 150], [dec, -80], unit="deg").galactic, "seen": Time([61000.5, 61001], format="mjd")})
    mixed["wide"] = numpy.array([2**63 + 5, 1], "uint64")
    found = service.crossmatch(mixed, radius_arcsec=2)
    assert str(found["wide"][0]) == str(2**63 + 5), found["wide"]
    check("a column of SkyCoord", found["nearsky_status"], found["nearsky_diaObjectId"])
    ecliptic = Table({"at": SkyCoord([ra, 150], [dec, -80], unit="deg").barycentrictrueecliptic})
    found = service.crossmatch(ecliptic, radius_arcsec=2)
    check("a frame that only astropy converts", found["nearsky_status"], found["nearsky_diaObjectId"])
    assert ecliptic["at"].frame.name == "barycentrictrueecliptic"
    old = SkyCoord([ra, 150], [dec, -80], unit="deg").fk4
    for meta in ({"RADESYS": "FK4", "EQUINOX": 1950.0}, {"EPOCH": 1950.0}, {"keywords": {"EQUINOX": {"value": "B1950"}}}):
        found = service.crossmatch(Table({"ra": old.ra.deg, "dec": old.dec.deg}, meta=meta), radius_arcsec=2)
        check(f"a frame in the metadata {meta}", found["nearsky_status"], found["nearsky_diaObjectId"])
    assert len(service.crossmatch(SkyCoord([], [], unit="deg"))) == 0
for as_job in (False, True):
    try:
        service.crossmatch(b"x,y\n1,2\n", as_job=as_job)
        raise AssertionError("it was answered")
    except NearskyError as error:
        assert error.param == "body" and "its columns are x, y" in str(error), error
try:
    service.crossmatch(text, error_arcsec=0.1)
    raise AssertionError("it was answered")
except NearskyError as error:
    assert error.param == "error_arcsec", error
try:
    service.crossmatch(text, against="gaia_dr3", error_arcsec=["ra", 'no "column"'])
    raise AssertionError("it was answered")
except NearskyError as error:
    assert error.param == "error_arcsec" and 'no column no "column"' in str(error), error
try:
    service.sources(ra, dec, 1, error_arcsec=0)
    raise AssertionError("it was answered")
except NearskyError as error:
    assert error.param == "error_arcsec", error
for no_table in ([1, 2], *([polars.LazyFrame({"ra": [ra]})] if has("polars") else [])):
    try:
        service.crossmatch(no_table)
        raise AssertionError("it was answered")
    except TypeError as error:
        assert "pandas" in str(error), error
print(json.dumps(kinds))
