"""Positions, and which of them astropy finds in shapes of several frames: `make_shapes.py FILE.json`."""

import json
import sys
from pathlib import Path

import astropy.units as u
import numpy as np
from astropy.coordinates import FK5, SkyCoord

random = np.random.default_rng(33)
count = 1000
ra = np.round(np.concatenate([random.uniform(0, 360, count - 200), random.normal(0, 12, 200) % 360]), 5)
dec = np.round(np.degrees(np.arcsin(np.concatenate([random.uniform(-1, 1, count - 200), random.normal(0, 0.2, 200)]))), 5)
places = SkyCoord(ra, dec, unit="deg", frame="icrs")
galactic, fk5 = places.galactic, places.transform_to(FK5(equinox="J1975"))
lon, lat = galactic.l.wrap_at("180d").deg, galactic.b.deg


def within(frame_places, lon, lat, radius):
    centre = SkyCoord(lon, lat, unit="deg", frame=frame_places.frame)
    return centre.separation(frame_places) <= radius * u.deg


# The sides of a box between corners of one latitude are great circles: tan b is in proportion to cos l.
in_box = (abs(lon) <= 30) & (abs(np.tan(np.radians(lat))) <= np.tan(np.radians(40)) * np.cos(np.radians(lon)) / np.cos(np.radians(30)))
across = (ra >= 340) | (ra <= 20)
shapes = {
    "CIRCLE('GALACTIC', 10, 20, 35)": within(galactic, 10, 20, 35),
    "Circle GALACTIC BARYCENTER -350 20 35": within(galactic, 10, 20, 35),
    "CIRCLE FK5 J1975 200 -60 40": within(fk5, 200, -60, 40),
    "CIRCLE -160 -60 40": within(places, 200, -60, 40),
    "CIRCLE 560 -60 40": within(places, 200, -60, 40),
    "POLYGON GALACTIC 0 0 90 0 0 90": (lon >= 0) & (lon <= 90) & (lat >= 0),
    "POLYGON -20 -40 20 -40 0 50": None,
    "POLYGON 340 -40 380 -40 360 50": None,
    "BOX('GALACTIC', 0, 0, 60, 80)": in_box,
    "RANGE 340 20 -30 45.5": across & (dec >= -30) & (dec <= 45.5),
    "RANGE -20 20 -30 45.5": across & (dec >= -30) & (dec <= 45.5),
    "RANGE(100, 250, 10, 90)": (ra >= 100) & (ra <= 250) & (dec >= 10),
    "RANGE 0 360 -Inf -20": dec <= -20,
    "RANGE -Inf +Inf -2 +2": abs(dec) <= 2,
}


def sides(vertices):
    """Whether each place is on the left of all edges."""
    corners = SkyCoord(vertices, unit="deg").cartesian.xyz.value.T
    vectors = places.cartesian.xyz.value
    return np.all([np.cross(a, b) @ vectors >= 0 for a, b in zip(corners, np.roll(corners, -1, axis=0))], axis=0)


for name in ("POLYGON -20 -40 20 -40 0 50", "POLYGON 340 -40 380 -40 360 50"):
    shapes[name] = sides([(340, -40), (20, -40), (0, 50)])
answer = {
    "positions": [[float(a), float(d)] for a, d in zip(ra, dec)],
    "inside": {name: np.flatnonzero(inside).tolist() for name, inside in shapes.items()},
}
Path(sys.argv[1]).write_text(json.dumps(answer) + "\n")
