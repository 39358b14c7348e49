"""Tables of positions in several frames, as astropy and STILTS write them, and the same positions in ICRS: DIRECTORY COUNT."""
import importlib.util
import json
import os
import shutil
import subprocess
import sys

import astropy.units as u
import numpy as np
from astropy.coordinates import FK4, FK5, ICRS, Galactic, SkyCoord
from astropy.io import fits
from astropy.io.votable import from_table, tree, writeto
from astropy.table import Table
from astropy.utils.masked import Masked
from astropy.time import Time

directory, count = sys.argv[1], int(sys.argv[2])
rng = np.random.default_rng(20261124)
# The poles, RA 0, the galactic poles and centre, then random positions.
lon = np.concatenate([[0, 0, 0, 359.9999999999, 1e-12, 192.85948, 12.85948, 266.40499], rng.uniform(0, 360, count)])
lat = np.concatenate([[90, -90, 0, 1, -1, 27.12825, -27.12825, -28.93617], np.degrees(np.arcsin(rng.uniform(-1, 1, count)))])
FRAMES = {
    "ICRS": (ICRS(), "ICRS", None),
    "FK5 J2000": (FK5(equinox="J2000"), "eq_FK5", "J2000"),
    "FK5 J1975": (FK5(equinox="J1975"), "eq_FK5", "J1975"),
    "FK4 B1950": (FK4(equinox="B1950"), "eq_FK4", "B1950"),
    "FK4 B1875": (FK4(equinox="B1875"), "eq_FK4", "B1875"),
    "GALACTIC": (Galactic(), "galactic", None),
}
NAMES = {"GALACTIC": ("glon", "glat"), "FK4 B1950": ("RAB1950", "DEB1950"), "ICRS": ("ra", "dec")}

HAS_PYARROW = importlib.util.find_spec("pyarrow") is not None

# What STILTS writes that is refused, and what the refusal says.
REFUSED_FORMATS = {
    "tst": "Tab-Separated Table",
    "html": "HTML",
    "latex": "LaTeX",
    "colfits-basic": "colfits",
}
# Frames that are not converted are named.
OTHERS = ["supergalactic", "barycentrictrueecliptic", "fk4noeterms", "gcrs"]

truth = {"files": {}, "positions": {}, "refused": {}}

# The first run of STILTS stores its loaded classes; later runs start faster with them.
classes = f"{directory}/classes.jsa"


def stilts(*args):
    store = "SharedArchiveFile" if os.path.exists(classes) else "ArchiveClassesAtExit"
    java = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", f"-XX:{store}={classes}"]
    subprocess.run(["stilts", *java, *args], check=True)


def wrote(name, frame, source):
    truth["files"][name] = [frame, source]


def votables(stem, coordinates, frame):
    _, system, equinox = FRAMES[frame]
    galactic = frame == "GALACTIC"
    # Names that state no frame: COOSYS alone does.
    table = Table({"id": np.arange(len(lon)), "lon": lon, "lat": lat}) if galactic else Table({"ra": lon, "dec": lat})
    for form in ("tabledata", "binary", "binary2"):
        for how in ("ref", "group", "around"):
            file = from_table(table)
            resource = file.resources[0]
            given = {"equinox": equinox} if equinox else {}
            resource.coordinate_systems.append(tree.CooSys(ID="sys", system=system, **given))
            data = resource.tables[0]
            for field in data.fields:
                if field.name != "id":
                    field.unit = "deg"
                    if how == "ref":
                        field.ref = "sys"
            if how == "group":
                group = tree.Group(data, ref="sys")
                data.groups.append(group)
                for field in data.fields[-2:]:
                    field.ID = field.name
                    group.entries.append(tree.FieldRef(data, ref=field.name))
            if how == "around" and galactic:
                continue
            name = f"{stem}_{form}_{how}.vot"
            writeto(file, f"{directory}/{name}", tabledata_format=form)
            wrote(name, frame, "declaration")


for frame, (coordinates, system, equinox) in FRAMES.items():
    sky = SkyCoord(lon * u.deg, lat * u.deg, frame=coordinates)
    icrs = sky.icrs
    truth["positions"][frame] = [icrs.ra.deg.tolist(), icrs.dec.deg.tolist()]
    stem = frame.replace(" ", "_")
    mixin = Table({"sky": sky})
    mixin.write(f"{directory}/{stem}.ecsv", format="ascii.ecsv")
    wrote(f"{stem}.ecsv", frame, "declaration")
    named = Table({"name": np.arange(len(lon)).astype(str), "where": sky})
    named.write(f"{directory}/{stem}_comma.ecsv", format="ascii.ecsv", delimiter=",")
    wrote(f"{stem}_comma.ecsv", frame, "declaration")
    votables(stem, coordinates, frame)
    mixin.write(f"{directory}/{stem}_mixin.fits")
    wrote(f"{stem}_mixin.fits", frame, "declaration")
    masked = Table({"sky": SkyCoord(Masked(lon * u.deg), Masked(lat * u.deg), frame=coordinates)})
    for form, ending in (("ascii.ecsv", "ecsv"), ("fits", "fits"), *([("parquet", "parquet")] if HAS_PYARROW else [])):
        masked.write(f"{directory}/{stem}_masked.{ending}", format=form)
        wrote(f"{stem}_masked.{ending}", frame, "declaration")
    if HAS_PYARROW:
        import pyarrow.feather
        import pyarrow.parquet

        mixin.write(f"{directory}/{stem}.parquet", format="parquet")
        wrote(f"{stem}.parquet", frame, "declaration")
        pyarrow.feather.write_feather(pyarrow.parquet.read_table(f"{directory}/{stem}.parquet"), f"{directory}/{stem}.arrow", compression="uncompressed")
        wrote(f"{stem}.arrow", frame, "declaration")
    if frame != "GALACTIC":
        hdu = fits.BinTableHDU(Table({"ra": lon, "dec": lat}))
        hdu.header["RADESYS"] = frame[:4].strip()
        if equinox:
            hdu.header["EQUINOX"] = float(equinox[1:])
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(f"{directory}/{stem}_radesys.fits")
        wrote(f"{stem}_radesys.fits", frame, "declaration")
        # The old keyword, in the primary header, which the table inherits.
        hdu = fits.BinTableHDU(Table({"ra": lon, "dec": lat}))
        hdu.header["INHERIT"] = True
        primary = fits.PrimaryHDU()
        primary.header["RADECSYS"] = frame[:4].strip()
        if equinox:
            primary.header["EQUINOX"] = float(equinox[1:])
        fits.HDUList([primary, hdu]).writeto(f"{directory}/{stem}_inherited.fits")
        wrote(f"{stem}_inherited.fits", frame, "declaration")
        ipac = Table({"ra": lon, "dec": lat})
        ipac.meta["keywords"] = {"RADESYS": {"value": frame[:4].strip()}}
        if equinox:
            ipac.meta["keywords"]["EQUINOX"] = {"value": equinox}
        ipac.write(f"{directory}/{stem}.ipac", format="ascii.ipac")
        wrote(f"{stem}.ipac", frame, "declaration")
    if shutil.which("stilts"):
        source = f"{directory}/{stem}_binary2_ref.vot"
        for form, ending in (("fits-plus", "fits"), ("votable-binary-inline", "vot")):
            name = f"{stem}_by_stilts_{form}.{ending}"
            stilts("tcopy", f"in={source}", f"out={directory}/{name}", f"ofmt={form}")
            wrote(name, frame, "declaration")
    if frame in NAMES:
        a, b = NAMES[frame]
        plain = Table({a: lon, b: lat})
        source = "default" if frame == "ICRS" else "column name"
        for form in ("csv", "ipac", "basic", "commented_header", "tab", "fixed_width_two_line"):
            plain.write(f"{directory}/{stem}_named.{form}", format=f"ascii.{form}")
            wrote(f"{stem}_named.{form}", frame, source)
        plain.write(f"{directory}/{stem}_named.fits")
        wrote(f"{stem}_named.fits", frame, source)
        if shutil.which("stilts"):
            for form in ("csv", "ipac", "ascii", "text", "tst", "html", "latex", "votable", "fits-basic", "colfits-basic"):
                name = f"{stem}_by_stilts.{form}"
                stilts("tcopy", f"in={directory}/{stem}_named.fits", f"out={directory}/{name}", f"ofmt={form}")
                if form in REFUSED_FORMATS:
                    truth["refused"][name] = REFUSED_FORMATS[form]
                else:
                    wrote(name, frame, source)

for frame in OTHERS:
    sky = Table({"sky": SkyCoord(lon[:8] * u.deg, lat[:8] * u.deg, frame=frame)})
    for form, ending in (("ascii.ecsv", "ecsv"), ("fits", "fits"), *([("parquet", "parquet")] if HAS_PYARROW else [])):
        sky.write(f"{directory}/{frame}.{ending}", format=form)
        truth["refused"][f"{frame}.{ending}"] = f"the frame {frame} is not converted"

for name, source, add in (
    ("stilts_galactic", "declaration", "addskycoords -inunit deg -outunit deg icrs galactic ra dec gal_long gal_lat; delcols \"ra dec\""),
    ("stilts_fk5", "request", "addskycoords -inunit deg -outunit deg icrs fk5 ra dec ra5 dec5; delcols \"ra dec\""),
):
    if not shutil.which("stilts"):
        break
    for form in ("votable-tabledata", "votable-binary2-inline", "fits-basic"):
        out = f"{name}_{form}." + ("fits" if form.startswith("fits") else "vot")
        stilts("tpipe", f"in={directory}/ICRS_named.csv", "ifmt=csv", f"cmd={add}", f"out={directory}/{out}", f"ofmt={form}")
        wrote(out, "GALACTIC of ICRS" if "galactic" in name else "FK5 of ICRS", source)

json.dump(truth, open(f"{directory}/truth.json", "w"))
