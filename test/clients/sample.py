"""Reports on a sample of each kind that this Python has: nearsky, the address, an id, and the position of its object."""

import asyncio
import json
import sys

from nearsky import Nearsky, NearskyError
from nearsky.aio import AsyncNearsky

service = Nearsky(sys.argv[1])
first, ra, dec = int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
kinds = {}


def has(module):
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def shown(rows):
    return [[row["label"], row["diaObjectId_str"]] for row in rows]


inputs = [first, str(first + 1), "2026abc", {"kind": "position", "ra": ra, "dec": dec, "label": 'mine, "too"'}, (150, -80)]
report = service.sample(inputs, catalogs="gaia_dr3", bright_mag=12)
kinds["list"] = shown(report["rows"])
assert report["bright_mag"] == 12 and report["summary"]["catalogs"]["gaia_dr3"]["coincident"] == 4
kinds["asyncio"] = shown(asyncio.run(AsyncNearsky(sys.argv[1]).sample(iter(inputs)))["rows"])
# More inputs than a request takes are a table, with the same rows.
assert service.sample(inputs * 250, catalogs=["gaia_dr3"])["rows"] == report["rows"] * 250
kinds["job"] = shown(service.sample(inputs, as_job=True)["rows"])
assert "mine, ''too'' & " in service.sample(inputs, kind="latex")
assert service.sample(inputs, kind="html", as_job=True).startswith("<!doctype html>")
kept = service.keep_sample("Mine & others", inputs, catalogs="gaia_dr3", bright_mag=12)
assert service.kept_sample(kept["id"]) == report and kept["title"] == "Mine & others"
assert service.kept_sample(kept["id"], kind="html").startswith("<!doctype html>")
several = service.keep_sample("Several", inputs * 250, catalogs="gaia_dr3", bright_mag=12)
assert asyncio.run(AsyncNearsky(sys.argv[1]).kept_sample(several["id"]))["rows"] == report["rows"] * 250
for each in (kept, several):
    service.delete_kept_sample(each["id"])
    try:
        service.kept_sample(each["id"])
        raise AssertionError("it was answered")
    except NearskyError as error:
        assert error.code == "not_found", error
text = f"number,who,ra,dec\n{first},a,,\n,b,{ra!r},{dec!r}\n".encode()
for as_job in (False, True):
    assert shown(service.sample(text, id="number", name="who", as_job=as_job)["rows"]) == [["a", str(first)], ["b", str(first)]]
assert service.validation() == asyncio.run(AsyncNearsky(sys.argv[1]).validation()) == {"status": "not_made", "refresh_hours": None, "validation": None}
entry = service.journal_entry
assert service.sample([first], at=entry, since=1)["changes"][0]["changes"][0].startswith("crossmatched")
for sample, options, code in (
    (text, {"since": 1}, "unknown_parameter"),
    (["2026abc"], {"at": 1}, "invalid_parameter"),
    (b"x,y\n1,2\n", {}, "invalid_parameter"),
    (b"x,y\n1,2\n", {"as_job": True}, "invalid_parameter"),
):
    try:
        service.sample(sample, **options)
        raise AssertionError("it was answered")
    except NearskyError as error:
        assert error.code == code, error
for sample, options, kind in (
    ("2026abc", {}, TypeError),
    ([1.5], {}, TypeError),
    ([first], {"kind": "rows"}, ValueError),
    ([(ra, dec, 1)], {"as_job": True}, ValueError),
    ([{"kind": "tns", "name": "2026abc", "label": "mine"}], {"as_job": True}, ValueError),
):
    try:
        service.sample(sample, **options)
        raise AssertionError("it was answered")
    except kind:
        pass
if has("pandas") and has("pyarrow"):
    import pandas

    frame = pandas.DataFrame({"name": ["a", "b"], "diaObjectId": pandas.array([first, None], "Int64"), "ra": [None, ra], "dec": [None, dec]})
    assert shown(service.sample(frame)["rows"]) == [["a", str(first)], ["b", str(first)]]
    for sample in (frame, frame["diaObjectId"][:1]):
        found = service.sample(sample, kind="pandas")
        assert type(found) is pandas.DataFrame and found["diaObjectId"][0] == first, found
if has("polars"):
    import polars

    found = service.sample(polars.DataFrame({"ra": [ra, 150], "dec": [dec, -80]}), kind="polars")
    assert type(found) is polars.DataFrame and found["diaObjectId"].to_list() == [first, None], found
if has("astropy"):
    from astropy import units
    from astropy.coordinates import SkyCoord
    from astropy.table import Table

    places = SkyCoord([ra, 150], [dec, -80], unit="deg")
    for sample in (places.galactic, Table({"at": places.galactic})):
        found = service.sample(sample, radius_arcsec=1 * units.arcsec, kind="astropy")
        assert type(found) is Table and found["diaObjectId"][0] == first and found["ra"].unit == units.deg, found
print(json.dumps(kinds))
