"""Writes 100 areas, positions around them, and which of the positions are inside: `stream_areas.py DIRECTORY`.

MOCs are those of mocpy, maps of probability those of ligo.skymap with its levels; circles are by astropy, and convex polygons by the side of each edge.
"""

import json
import sys
from pathlib import Path

import astropy.units as u
import healpy as hp
import numpy as np
from astropy.coordinates import Latitude, Longitude, SkyCoord
from ligo.skymap.bayestar import derasterize
from ligo.skymap.io import write_sky_map
from ligo.skymap.postprocess.crossmatch import crossmatch
from astropy.table import Table
from mocpy import MOC

directory = Path(sys.argv[1])
random = np.random.default_rng(40)
NSIDE = 64


def anywhere(n):
    return SkyCoord(random.uniform(0, 360, n) * u.deg, np.degrees(np.arcsin(random.uniform(-1, 1, n))) * u.deg)


def around(centre, degrees, n):
    return centre.directional_offset_by(random.uniform(0, 360, n) * u.deg, degrees * np.sqrt(random.uniform(0, 1, n)) * u.deg)


centres = anywhere(100)
centres = SkyCoord([*centres[:96].ra.deg, 0.01, 359.99, 10, 200] * u.deg, [*centres[:96].dec.deg, 5, -5, 89.9, -89.95] * u.deg)
centres = centres[random.permutation(100)]
sizes = 10 ** random.uniform(-0.5, 1.4, 100)
positions = SkyCoord([anywhere(500), *(around(c, 1.6 * s, 25) for c, s in zip(centres, sizes))])
vectors = positions.cartesian.xyz.value.T


def moc(i, centre, size):
    order = int(random.integers(6, 13)) if size < 3 else 8
    if i % 3 == 0:
        area = MOC.from_cone(Longitude(centre.ra), Latitude(centre.dec), radius=size * u.deg, max_depth=order)
    elif i % 3 == 1:
        area = MOC.from_ring(Longitude(centre.ra), Latitude(centre.dec), internal_radius=size / 3 * u.deg, external_radius=size * u.deg, max_depth=order)
    else:
        other = MOC.from_cone(Longitude(centre.ra), Latitude(centre.dec), radius=size / 2 * u.deg, max_depth=order)
        area = MOC.from_elliptical_cone(centre.ra, centre.dec, a=size * u.deg, b=size / 2 * u.deg, pa=30 * u.deg, max_depth=order).difference(other)
    area.save(directory / f"{i}", format="fits")
    return area.contains_skycoords(positions), {}


def circle(i, centre, size):
    (directory / f"{i}").write_text(f"CIRCLE {float(centre.ra.deg)!r} {float(centre.dec.deg)!r} {size!r}")
    return centre.separation(positions).deg <= size, {}


def polygon(i, centre, size):
    corners = centre.directional_offset_by(np.arange(0, 360, 60)[::-1] * u.deg, size * u.deg)
    numbers = " ".join(f"{float(c.ra.deg)!r} {float(c.dec.deg)!r}" for c in corners)
    (directory / f"{i}").write_text(f"POLYGON {numbers}")
    edges = np.cross(corners.cartesian.xyz.value.T, np.roll(corners.cartesian.xyz.value.T, -1, axis=0))
    sides = vectors @ edges.T
    same = (sides > 0).all(axis=1) | (sides < 0).all(axis=1)
    return same & (vectors @ centre.cartesian.xyz.value > 0), {}


def sky_map(i, centre, size):
    pixels = SkyCoord(*hp.pix2ang(NSIDE, np.arange(hp.nside2npix(NSIDE)), nest=True, lonlat=True), unit="deg")
    distance = centre.separation(pixels).deg
    probability = np.exp(-0.5 * (distance / max(size / 2, 1)) ** 2) * (1 + 0.3 * random.uniform(size=distance.size))
    probability[probability < 1e-8] = 0
    level = float(random.choice([0.3, 0.5, 0.9, 0.99]))
    table = derasterize(Table({"PROB": probability / probability.sum()}, meta={"nest": True}))
    write_sky_map(str(directory / f"{i}.fits"), table, nest=True)
    (directory / f"{i}.fits").rename(directory / f"{i}")
    return crossmatch(table, positions).searched_prob <= level, {"level": level}


KINDS = [moc, moc, circle, polygon, sky_map]
areas = []
for i, (centre, size) in enumerate(zip(centres, sizes)):
    inside, query = KINDS[i % len(KINDS)](i, centre, float(size))
    areas.append({"kind": KINDS[i % len(KINDS)].__name__, "query": query, "inside": np.flatnonzero(inside).tolist()})
found = {"positions": [[float(c.ra.deg), float(c.dec.deg)] for c in positions], "areas": areas}
(directory / "areas.json").write_text(json.dumps(found))
print({kind.__name__: sum(len(a["inside"]) for a in areas if a["kind"] == kind.__name__) for kind in KINDS})
