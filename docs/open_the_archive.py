"""Opening the archive of nearsky in LSDB, DuckDB and Polars (pip install lsdb duckdb polars).

A script in cells: run it whole, or cell by cell in an editor that knows `# %%`. First, on the machine that has the data directory:

    npm run nearsky -- export --format hats archive
    python docs/open_the_archive.py archive RA DEC [CATALOG ID_COLUMN]

RA and DEC, degrees, say where to look; CATALOG is another catalog in the HATS layout, to crossmatch with.
The tests of nearsky run it.
"""

import json
import sys

import duckdb
import lsdb
import polars as pl

if __name__ == "__main__":
    archive, ra, dec = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    results = {}

    # %% LSDB: `objects` and `matches` are collections: a catalog with its margin. Nothing is read yet.
    objects = lsdb.open_catalog(f"{archive}/objects")
    print(objects.get_healpix_pixels()[:3], "…", file=sys.stderr)

    # %% A cone: only the partitions that it touches are read.
    cone = objects.cone_search(ra, dec, radius_arcsec=3600).compute()
    print(cone[["diaObjectId", "ra", "dec", "status", "brokers"]], file=sys.stderr)
    results["cone"] = [str(id) for id in cone["diaObjectId"]]

    # %% A crossmatch with another catalog: the nearest within an arcsecond. The margin sees to pairs across the edges of partitions.
    if len(sys.argv) > 4:
        other = lsdb.open_catalog(sys.argv[4])
        both = objects.crossmatch(
            other, radius_arcsec=1, n_neighbors=1, suffixes=("", "_other"), suffix_method="all_columns"
        )
        pairs = both.compute()
        results["pairs"] = [
            [str(id), str(source)] for id, source in zip(pairs["diaObjectId"], pairs[f"{sys.argv[5]}_other"])
        ]

    # %% DuckDB reads the partitions as one table. Identifiers are exact 64-bit integers.
    table = f"'{archive}/matches/matches/dataset/**/*.parquet'"
    counts = duckdb.sql(f"select catalog_name, count(*) from read_parquet({table}) group by all order by 1").fetchall()
    print(counts, file=sys.stderr)
    results["matches"] = dict(counts)

    # %% The objects with a Gaia source within half an arcsecond: a join by the identifier.
    stars = duckdb.sql(f"""
        select o.diaObjectId, m.catalog_source_id, m.separation_arcsec, m.gaia_dr3_phot_g_mean_mag
        from read_parquet('{archive}/objects/objects/dataset/**/*.parquet') o
        join read_parquet({table}) m using (diaObjectId)
        where m.catalog_name = 'gaia_dr3' and m.separation_arcsec < 0.5
        order by o.diaObjectId
    """).fetchall()
    results["stars"] = [[str(id), str(source)] for id, source, *_ in stars]

    # %% Polars, lazily: which rows of a file are needed is known from its statistics.
    lazy = pl.scan_parquet(f"{archive}/objects/objects/dataset/**/*.parquet")
    by_status = lazy.group_by("status").len().collect()
    results["statuses"] = dict(by_status.iter_rows())
    results["ids"] = [str(id) for id in lazy.select("diaObjectId").collect()["diaObjectId"].sort()]

    print(json.dumps(results))
