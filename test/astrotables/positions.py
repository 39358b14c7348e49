"""Random positions, and the poles, RA 0 and the galactic poles, in several frames, and the same in ICRS: astropy's SkyCoord.

    python3 positions.py COUNT >positions.json
"""
import json
import sys

import astropy
import numpy as np
from astropy.coordinates import FK4, FK5, Galactic, SkyCoord

count = int(sys.argv[1])
rng = np.random.default_rng(5)
edges = [(0, 90), (0, -90), (0, 0), (360, 0), (180, 0), (266.4, -28.9), (192.859508, 27.128336), (12.859508, -27.128336), (359.9999999, 1), (1e-7, -1)]
lon = np.concatenate([rng.uniform(0, 360, count), [ra for ra, _ in edges]])
lat = np.concatenate([np.degrees(np.arcsin(rng.uniform(-1, 1, count))), [dec for _, dec in edges]])
frames = {f"FK4 B{year}": FK4(equinox=f"B{year}") for year in (1855, 1875, 1900, 1950, 1975, 1984.3)}
frames |= {f"FK5 J{year}": FK5(equinox=f"J{year}") for year in (1900, 1950, 1975, 2000, 2025.5)}
frames |= {"GALACTIC": Galactic(), "ICRS": "icrs"}
answer = {"astropy": astropy.__version__, "lon": lon.tolist(), "lat": lat.tolist(), "frames": {}}
for name, frame in frames.items():
    icrs = SkyCoord(lon, lat, unit="deg", frame=frame).icrs
    answer["frames"][name] = {"ra": icrs.ra.deg.tolist(), "dec": icrs.dec.deg.tolist()}
observed = SkyCoord(lon, lat, unit="deg", frame=FK4(equinox="B1950", obstime="J1983.5")).icrs
answer["observed_1983_5"] = {"ra": observed.ra.deg.tolist(), "dec": observed.dec.deg.tolist()}
json.dump(answer, sys.stdout)
