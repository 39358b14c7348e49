"""Writes one map of probability as healpy and ligo.skymap write it, and its values in NESTED order; cdshealpix orders the pixels."""

import json
import sys
from pathlib import Path

import cdshealpix
import numpy
from astropy.io import fits

directory = Path(sys.argv[1])
order = 4
nside = 2**order
pixels = numpy.arange(12 * nside**2)
values = numpy.random.default_rng(7).lognormal(0, 3, pixels.size).astype("float32")
values /= values.sum()
# The RING pixel of each NESTED one.
rings = cdshealpix.to_ring(pixels, order).astype("int64")
in_ring = numpy.empty_like(values)
in_ring[rings] = values


def write(name: str, columns: list, ordering: str, scheme: str) -> None:
    table = fits.BinTableHDU.from_columns(columns)
    table.header.update({"PIXTYPE": "HEALPIX", "ORDERING": ordering, "NSIDE": nside, "INDXSCHM": scheme, "COORDSYS": "C"})
    if scheme == "IMPLICIT":
        table.header.update({"FIRSTPIX": 0, "LASTPIX": pixels.size - 1})
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(directory / name)


def several(name: str, of: numpy.ndarray) -> list:
    """The columns of healpy.write_map: 1024 values a row."""
    return [fits.Column(name=name, format="1024E", array=of.reshape(-1, 1024))]


write("healpy_ring.fits", several("PROBABILITY", in_ring), "RING", "IMPLICIT")
write("healpy_nested.fits", several("T", values), "NESTED", "IMPLICIT")
distance = fits.Column(name="DISTMU", format="D", array=numpy.full(pixels.size, 40.0), unit="Mpc")
prob = fits.Column(name="PROB", format="D", array=values.astype("float64"), unit="pix-1")
write("ligo_nested.fits", [prob, distance], "NESTED", "IMPLICIT")
write("distance_first.fits", [distance, prob], "NESTED", "IMPLICIT")
some = numpy.random.default_rng(8).permutation(pixels)
explicit = [
    fits.Column(name="PIXEL", format="J", array=rings[some]),
    fits.Column(name="PROBABILITY", format="E", array=values[some]),
]
write("explicit_ring.fits", explicit, "RING", "EXPLICIT")
names = ["healpy_ring.fits", "healpy_nested.fits", "ligo_nested.fits", "distance_first.fits", "explicit_ring.fits"]
(directory / "maps.json").write_text(json.dumps({"order": order, "values": [float(value) for value in values], "names": names}))
