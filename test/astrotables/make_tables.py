"""Writes one table in the formats of astropy, pyarrow, polars and pandas: `make_tables.py DIRECTORY`."""

import sys
from pathlib import Path

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from astropy import units as u
from astropy.table import MaskedColumn, Table

out = Path(sys.argv[1])
ra = np.array([10.5, 350.25, 0.0, np.nan])
dec = np.array([-30.25, 89.5, -90.0, 1.0])
big = np.array([9223372036854775807, -9007199254740993, 0, 42], dtype=np.int64)
maybe = MaskedColumn(np.array([9007199254740993, 1, 2, 3], dtype=np.int64), mask=[False, True, False, False])
small = np.array([-5, 7, 0, 32767], dtype=np.int16)
single = np.array([0.1, -2.5, 3e38, 0], dtype=np.float32)
flag = np.array([True, False, True, False])
name = np.array(["abc", "d, e", 'q"uote', "é<&>"])

table = Table({"RA": ra * u.deg, "DEC": dec * u.deg, "big": big, "maybe": maybe, "small": small, "single": single, "flag": flag, "name": name})
table["RA"].info.description = "Right ascension"
table["RA"].info.meta = {"ucd": "pos.eq.ra;meta.main"}
table["DEC"].info.meta = {"ucd": "pos.eq.dec;meta.main"}
for kind in ("tabledata", "binary2"):
    table.write(out / f"{kind}.vot", format="votable", tabledata_format=kind, overwrite=True)
ascii_only = table.copy()
ascii_only["name"] = ["abc", "d, e", 'q"uote', "e<&>"]
ascii_only.write(out / "table.fits", overwrite=True)
table.write(out / "astropy.csv", format="ascii.csv", overwrite=True)
table.write(out / "astropy.ecsv", format="ascii.ecsv", overwrite=True)
table.write(out / "commas.ecsv", format="ascii.ecsv", delimiter=",", overwrite=True)
table.write(out / "astropy.parquet", overwrite=True)
table["maybe"].info.serialize_method["ecsv"] = "data_mask"
table.write(out / "masks.ecsv", format="ascii.ecsv", delimiter=",", overwrite=True)

columns = {
    "RA": pa.array(ra),
    "DEC": pa.array(dec),
    "big": pa.array(big),
    "maybe": pa.array([9007199254740993, None, 2, 3], pa.int64()),
    "small": pa.array(small),
    "single": pa.array(single),
    "flag": pa.array(flag),
    "name": pa.array(list(name)),
}
arrow = pa.table(columns)
for codec in ("none", "snappy", "gzip", "zstd", "brotli", "lz4"):
    pq.write_table(arrow, out / f"{codec}.parquet", compression=codec, row_group_size=3)
with pa.OSFile(str(out / "stream.arrows"), "wb") as sink, pa.ipc.new_stream(sink, arrow.schema) as writer:
    writer.write_table(arrow, max_chunksize=3)
feather.write_feather(arrow, out / "file.arrow", compression="uncompressed")
frame = polars.from_arrow(arrow)
frame.write_parquet(out / "polars.parquet")
frame.write_csv(out / "polars.csv")
frame.write_ndjson(out / "polars.ndjson")
frame.write_ipc(out / "polars.arrow", compat_level=polars.CompatLevel.oldest())
frame.write_ipc(out / "polars_newest.arrow")
frame.write_ipc(out / "polars_zstd.arrow", compression="zstd")
pandas_frame = arrow.to_pandas(types_mapper={pa.int64(): pandas.Int64Dtype()}.get)
pandas_frame.to_csv(out / "pandas.csv", index=False, encoding="utf-8-sig", sep=";")
pandas_frame.to_parquet(out / "pandas.parquet")
