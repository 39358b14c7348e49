"""Ten catalogs of different schemas, by hats-import and LSDB, and what LSDB's own crossmatch finds in them: make.py DIRECTORY OBJECTS"""

import shutil
import sys
import warnings
from pathlib import Path

import hats_import
import lsdb
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from dask.distributed import Client
from hats_import.catalog.arguments import ImportArguments
from nested_pandas import NestedFrame

warnings.filterwarnings("ignore")
RADIUS_ARCSEC = 1.0


def places(count, random):
    """A field of 4 degrees across RA 0."""
    return random.uniform(-2, 2, count) % 360, random.uniform(-32, -28, count)


def sources_near(objects, random):
    """A source near every object, most within the radius, and as many elsewhere; RA from 0 to 360."""
    reach, angle = random.uniform(0, 1.6, len(objects)) / 3600, random.uniform(0, 2 * np.pi, len(objects))
    dec = objects["dec"] + reach * np.cos(angle)
    ra = (objects["ra"] + reach * np.sin(angle) / np.cos(np.radians(dec))) % 360
    ra2, dec2 = places(len(objects), random)
    frame = pd.DataFrame({"ra": np.concatenate([ra, ra2]), "dec": np.concatenate([dec, dec2])})
    frame["id"] = 9_000_000_000_000_000_000 - random.permutation(len(frame)).astype(np.int64)
    frame["mag"] = random.normal(20, 2, len(frame))
    return frame


def with_lightcurves(part):
    light = pd.DataFrame({"id": np.repeat(part["id"].values, 2), "mjd": 60_000.0, "flux": 1.5}).set_index("id")
    nested = NestedFrame(part.set_index("id", drop=False)).join_nested(light, "lightcurve")
    return nested.set_axis(part.index)


def with_lsdb(target, frame, names, collection=False, nested=False):
    table = frame.rename(columns=names)
    ra, dec = names.get("ra", "ra"), names.get("dec", "dec")
    catalog = lsdb.from_dataframe(table, ra_column=ra, dec_column=dec, partition_rows=20_000, catalog_name=target.name, margin_threshold=5)
    if nested:
        catalog = catalog.map_partitions(with_lightcurves)
    catalog.to_hats(target, catalog_name=target.name, as_collection=collection, progress_bar=False)


def with_import(target, frame, names, client, **further):
    file = target.parent / f"{target.name}.parquet"
    frame.rename(columns=names).to_parquet(file, index=False)
    arguments = ImportArguments(
        ra_column=names.get("ra", "ra"), dec_column=names.get("dec", "dec"), input_file_list=[file], file_reader="parquet",
        output_artifact_name=target.name, output_path=target.parent, pixel_threshold=20_000, highest_healpix_order=9, progress_bar=False, **further)
    hats_import.pipeline_with_client(arguments, client)
    file.unlink()


def rewrite(target, change):
    """Every data file of a catalog anew."""
    for file in target.glob("dataset/**/*.parquet"):
        table = pq.read_table(file, partitioning=None)
        pq.write_table(change(table), file, compression="SNAPPY", row_group_size=3000)
    for other in ("_metadata", "_common_metadata", "data_thumbnail.parquet"):
        (target / "dataset" / other).unlink(missing_ok=True)


def index_last(table):
    at = table.column_names.index("_healpix_29")
    column = table.column(at)
    return table.remove_column(at).append_column("_healpix_29", column)


def main(directory, count):
    random = np.random.default_rng(22)
    ra, dec = places(count, random)
    objects = pd.DataFrame({"object": np.arange(count), "ra": ra, "dec": dec})
    objects.to_csv(directory / "objects.csv", index=False)
    left = lsdb.from_dataframe(objects, ra_column="ra", dec_column="dec", partition_rows=50_000, catalog_name="objects", margin_threshold=5)
    client = Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None, local_directory=str(directory / "dask"))

    def texts(frame):
        return frame.assign(id=frame["id"].astype(str))

    def narrow(frame):
        return frame.assign(id=(frame["id"] % 1_000_000_007 % 2**31).rank(method="first").astype(np.int32), mag=frame["mag"].astype(np.float32))

    none = {}
    upper = {"ra": "RAJ2000", "dec": "DEJ2000", "id": "ObjID"}
    makers = {
        "imported": (lambda t, f: with_import(t, f, none, client), None),
        "upper_case": (lambda t, f: with_import(t, f, upper, client), None),
        "folders": (lambda t, f: with_import(t, f, none, client, npix_suffix="/"), None),
        "short_ending": (lambda t, f: with_import(t, f, none, client, npix_suffix=".parq"), None),
        "text_ids": (lambda t, f: with_import(t, texts(f), none, client), None),
        "narrow": (lambda t, f: with_lsdb(t, f, none), narrow),
        "collection": (lambda t, f: with_lsdb(t, f, none, collection=True), None),
        "nested": (lambda t, f: with_lsdb(t, f, none, nested=True), None),
        "index_last": (lambda t, f: (with_lsdb(t, f, none), rewrite(t, index_last)), None),
        "no_index_no_map": (lambda t, f: (with_lsdb(t, f, none), rewrite(t, lambda table: table.drop_columns(["_healpix_29"]))), None),
    }
    for number, (name, (make, change)) in enumerate(makers.items()):
        if (directory / f"{name}.csv").exists():
            continue
        frame = sources_near(objects, np.random.default_rng(number))
        if change:
            frame = change(frame)
        target = directory / name
        shutil.rmtree(target, ignore_errors=True)
        make(target, frame)
        if name == "no_index_no_map":
            for file in target.glob("*.fits"):
                file.unlink()
        right = lsdb.from_dataframe(frame, ra_column="ra", dec_column="dec", partition_rows=50_000, catalog_name=name, margin_threshold=5)
        found = left.crossmatch(right, n_neighbors=1, radius_arcsec=RADIUS_ARCSEC, suffixes=("_l", "_r"), suffix_method="all_columns").compute()
        pd.DataFrame({"object": found["object_l"], "id": found["id_r"].astype(str), "arcsec": found["_dist_arcsec"]}).to_csv(directory / f"{name}.csv", index=False)
        print(name, len(found), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
