"""Writes functions.json: solutions at other epochs, frames, HEALPix and dates by astropy and astropy-healpix (pip install astropy astropy-healpix)."""

import json
import pathlib

import astropy.units as u
import numpy as np
from astropy.coordinates import SkyCoord
from astropy.time import Time
from astropy_healpix import HEALPix

random = np.random.default_rng(11)


def places(count):
    ra = np.round(random.uniform(0, 360, count), 6)
    dec = np.round(np.degrees(np.arcsin(random.uniform(-1, 1, count))), 6)
    return ra, np.where(random.random(count) < 0.2, np.round(np.sign(dec) * (90 - 10 ** random.uniform(-4, 0, count)), 6), dec)


epochs = []
for ra, dec in zip(*places(40)):
    plx, pmra, pmdec, rv = (round(float(x), 4) for x in (random.uniform(50, 600), *random.normal(0, 800, 2), random.normal(0, 30)))
    start, end = 2016.0, float(random.choice([1950.0, 2026.5, 2100.0, 2016.0]))
    star = SkyCoord(ra * u.deg, dec * u.deg, distance=(plx * u.mas).to(u.pc, u.parallax()), pm_ra_cosdec=pmra * u.mas / u.yr,
                    pm_dec=pmdec * u.mas / u.yr, radial_velocity=rv * u.km / u.s, obstime=Time(start, format="jyear"))
    moved = star.apply_space_motion(dt=(end - start) * u.yr)
    solution = [moved.ra.deg, moved.dec.deg, moved.distance.to(u.mas, u.parallax()).value, moved.pm_ra_cosdec.value, moved.pm_dec.value, moved.radial_velocity.value]
    epochs.append({"from": [float(ra), float(dec), plx, pmra, pmdec, rv, start, end], "to": [float(x) for x in solution]})

frames = []
for ra, dec in zip(*places(20)):
    icrs = SkyCoord(ra * u.deg, dec * u.deg)
    frames.append({"icrs": [float(ra), float(dec)], "galactic": [float(icrs.galactic.l.deg), float(icrs.galactic.b.deg)], "fk5": [float(icrs.fk5.ra.deg), float(icrs.fk5.dec.deg)]})

pixels = []
for order in [0, 1, 5, 13, 14, 20, 29]:
    healpix = HEALPix(2**order, "nested")
    for ra, dec in zip(*places(12)):
        pixel = healpix.lonlat_to_healpix(ra * u.deg, dec * u.deg)
        lon, lat = healpix.healpix_to_lonlat(pixel)
        pixels.append({"order": order, "place": [float(ra), float(dec)], "pixel": str(pixel), "centre": [float(lon.deg % 360), float(lat.deg)]})

dates = [{"time": time, "jd": float(Time(time, scale="utc").jd), "mjd": float(Time(time, scale="utc").mjd)} for time in ["2026-01-31T12:00:00", "1999-12-31T23:59:59.5", "1858-11-17T00:00:00"]]

path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps({"epochs": epochs, "frames": frames, "pixels": pixels, "dates": dates}) + "\n")
