"""Writes mocs_and_histograms.json: MOCs of shapes by mocpy, and histograms by numpy (pip install mocpy numpy astropy)."""

import json
import pathlib

import astropy.units as u
import numpy as np
from astropy.coordinates import Latitude, Longitude
from mocpy import MOC

CONES = [(8, 10.0, 20.0, 1.0), (10, 0.01, -89.9, 0.3), (5, 359.9, 0.2, 12.0), (13, 61.6223, -49.2951, 0.01)]
POLYGONS = [(9, [[10, 10], [12, 10], [11, 12.5]]), (7, [[350, -5], [8, -4], [5, 9], [352, 8]])]
# mocpy's cones have pixels that they do not touch, fewer at deeper orders.
CELLS_FINER = 10

circles = np.random.default_rng(7)
for i in range(25):
    order = int(circles.integers(2, 10))
    dec = float(np.degrees(np.arcsin(circles.uniform(-1, 1)))) if i % 8 else 90 - float(circles.uniform(0, 1))
    radius = min(20, 58.6 / 2**order * 10 ** float(circles.uniform(-1, 1.3)))
    CONES.append((order, *(round(number, 4) for number in (float(circles.uniform(0, 360)), dec, radius))))

mocs = []
for order, ra, dec, radius in CONES:
    moc = MOC.from_cone(Longitude(ra * u.deg), Latitude(dec * u.deg), radius=radius * u.deg, max_depth=order + CELLS_FINER, delta_depth=2).degrade_to_order(order)
    mocs.append({"order": order, "shape": f"CIRCLE({ra}, {dec}, {radius})", "ranges": moc.to_depth29_ranges.astype(str).tolist()})
for order, corners in POLYGONS:
    ra, dec = np.array(corners, float).T
    moc = MOC.from_polygon(ra * u.deg, dec * u.deg, max_depth=order)
    shape = f"POLYGON({', '.join(str(number) for corner in corners for number in corner)})"
    mocs.append({"order": order, "shape": shape, "ranges": moc.to_depth29_ranges.astype(str).tolist()})

random = np.random.default_rng(3)
values = np.round(random.normal(5, 4, 500), 3)
histograms = []
for lower, upper, bins in [(0, 10, 5), (-1.5, 2.25, 30), (4.999, 5.001, 2), (100, 200, 3)]:
    # numpy counts a value that is the upper bound in the last bin, the catalogue of functions beyond it.
    below = values[values < upper]
    counts = np.histogram(below, bins, (lower, upper))[0]
    histograms.append({"lower": lower, "upper": upper, "bins": bins, "counts": [int((values < lower).sum()), *counts.tolist(), int((values >= upper).sum())]})

path = pathlib.Path(__file__).with_suffix(".json")
path.write_text(json.dumps({"mocs": mocs, "values": values.tolist(), "histograms": histograms}) + "\n")
