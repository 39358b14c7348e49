"""Writes the sample's sky map in the format of LIGO, Virgo and KAGRA: `skymap.py FILE`. Pack it with `gzip -9n`.

The event is invented. The map has a region around most of the sample's alerts, and a lesser one around others, at 40 Mpc.
The same versions of astropy and ligo.skymap give the same bytes.
"""

import sys

import healpy
import numpy as np
from astropy.table import Table
from ligo.skymap.io.fits import write_sky_map

FIRST_ORDER, LAST_ORDER = 2, 6
# Each region: right ascension, declination, width in degrees, share of the probability.
REGIONS = [(59.5, -48.2, 2.2, 0.8), (222.5, -39.5, 1.6, 0.2)]


def vectors(order, pixels):
    return np.array(healpy.pix2vec(2**order, pixels, nest=True)).T


def density(order, pixels):
    """Probability per steradian at the centres of the pixels."""
    total = np.zeros(len(pixels))
    for ra, dec, width, share in REGIONS:
        centre = healpy.ang2vec(ra, dec, lonlat=True)
        kappa = 1 / np.radians(width) ** 2
        total += share * kappa / (2 * np.pi) * np.exp(kappa * (vectors(order, pixels) @ centre - 1))
    return total


orders = np.full(healpy.nside2npix(2**FIRST_ORDER), FIRST_ORDER)
pixels = np.arange(len(orders))
for order in range(FIRST_ORDER, LAST_ORDER):
    # As BAYESTAR does: the quarter of the pixels with most of the probability is divided.
    last = np.flatnonzero(orders == order)
    content = density(order, pixels[last]) * healpy.nside2pixarea(2**order)
    divided = last[np.argsort(-content, kind="stable")[: len(last) // 4]]
    quarters = (4 * pixels[divided, None] + np.arange(4)).ravel()
    orders = np.concatenate([np.delete(orders, divided), np.full(len(quarters), order + 1)])
    pixels = np.concatenate([np.delete(pixels, divided), quarters])

value = np.concatenate([density(order, pixels[orders == order]) for order in np.unique(orders)])
area = np.concatenate([np.full(np.sum(orders == order), healpy.nside2pixarea(2**order)) for order in np.unique(orders)])
uniq = np.concatenate([4 ** (order + 1) + pixels[orders == order] for order in np.unique(orders)])
sorting = np.argsort(uniq)
table = Table(
    {
        "UNIQ": uniq[sorting],
        "PROBDENSITY": (value / np.sum(value * area))[sorting],
        "DISTMU": np.full(len(uniq), 40.0),
        "DISTSIGMA": np.full(len(uniq), 8.0),
        "DISTNORM": np.full(len(uniq), 1 / (40.0**2 + 8.0**2)),
    },
    meta={
        "objid": "MS260308a",
        "instruments": {"H1", "L1"},
        "gps_time": 1456965690.0,
        "gps_creation_time": 1456965720.0,
        "origin": "nearsky",
        "creator": "sample/make/skymap.py",
        "distmean": 40.0,
        "diststd": 8.0,
    },
)
write_sky_map(sys.argv[1], table, moc=True, build_date="2026-03-08T00:41:42", vcs_version="ligo.skymap")
