"""Writes a map of NSIDE 1024 in doubles, and the credible levels of some positions: `make_large_map.py DIRECTORY`.

healpy writes the map; ligo.skymap computes the levels. The file is 100 MB, and is compressed twice, because gzip leaves a
thousandth of zeros.
"""

import gzip
import json
import sys
from pathlib import Path

import healpy
import numpy as np
from ligo.skymap.postprocess import find_greedy_credible_levels

out = Path(sys.argv[1])
nside = 1024
random = np.random.default_rng(5)
centre = healpy.ang2vec(207.3, -12.4, lonlat=True)
near = healpy.query_disc(nside, centre, np.radians(1.5))
away = np.degrees(np.arccos(np.clip(np.array(healpy.pix2vec(nside, near)).T @ centre, -1, 1)))
prob = np.zeros(healpy.nside2npix(nside))
prob[near] = np.exp(-(away**2) / 0.5)
prob /= prob.sum()
assert len(np.unique(prob[near])) == len(near)
path = out / "nside1024.fits"
healpy.write_map(path, prob, dtype=np.float64, coord="C", column_names=["PROB"], overwrite=True, fits_IDL=True)
levels = find_greedy_credible_levels(prob)
ra, dec = 207.3 + random.normal(0, 0.8, 300), -12.4 + random.normal(0, 0.8, 300)
pixels = healpy.ang2pix(nside, ra, dec, lonlat=True)
positions = [[float(a), float(d), float(levels[p]) if prob[p] > 0 else None] for a, d, p in zip(ra, dec, pixels)]
once = gzip.compress(path.read_bytes(), 9, mtime=0)
path.unlink()
(out / "nside1024.fits.gz.gz").write_bytes(gzip.compress(once, 9, mtime=0))
(out / "nside1024.json").write_text(json.dumps(positions) + "\n")
