/** Catalogs that hats-import has written are added; their copies whose positions were moved are refused. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CatalogError } from '@nearsky/hats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { registerCatalog } from '../../../src/capabilities/catalogs/register.ts';
import { rejection } from '../../core/catalogs/support.ts';
import { withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';

const MODULES = 'lsdb, hats, hats_import, pyarrow';
const test = suite('catalogs/hats_import');
const check = needs(test, whyNoPython(MODULES));

/** Imports rows with float64, and with float32 and negative right ascensions; moves the rows of a copy by 3 arcsec. */
const IMPORT = `
import pathlib, shutil, sys
import numpy, pyarrow, pyarrow.parquet
from hats_import.catalog.arguments import ImportArguments
from hats_import.pipeline import pipeline
directory = pathlib.Path(sys.argv[1])

def written(name, kind, negative):
    random = numpy.random.default_rng(7)
    ra, dec = random.uniform(0, 360, 20000), numpy.degrees(numpy.arcsin(random.uniform(-1, 1, 20000)))
    if negative:
        ra = (ra + 180) % 360 - 180
    rows = {"id": numpy.arange(20000), "ra": ra.astype(kind), "dec": dec.astype(kind), "mag": random.normal(20, 1, 20000)}
    path = directory / f"{name}.parquet"
    pyarrow.parquet.write_table(pyarrow.table(rows), path)
    pipeline(ImportArguments(
        output_path=directory, output_artifact_name=name, input_file_list=[path], file_reader="parquet",
        ra_column="ra", dec_column="dec", sort_columns="id", pixel_threshold=2000, highest_healpix_order=7,
        dask_n_workers=1, dask_threads_per_worker=1, progress_bar=False, simple_progress_bar=False,
    ))

if __name__ == "__main__":
    written("double", "f8", False)
    written("single", "f4", True)
    shutil.copytree(directory / "double", directory / "moved")
    for path in (directory / "moved").rglob("Npix=*.parquet"):
        table = pyarrow.parquet.read_table(path, partitioning=None)
        dec = table["dec"].to_numpy()
        at = table.column_names.index("dec")
        moved = table.set_column(at, "dec", pyarrow.array(dec - numpy.sign(dec) * 3 / 3600))
        pyarrow.parquet.write_table(moved, path)
`;

check('as they were written, and with positions that were moved by 3 arcsec', () =>
  withDirectory(async directory => {
    const script = join(directory, 'import.py');
    writeFileSync(script, IMPORT);
    await runPython(pythonWith(MODULES)!, [script, directory], { timeout: 600_000 });
    const catalog = { name: 'stars', idColumn: 'id', description: {} };
    const depths = ['files', 'footers', 'rows'] as const;
    for (const depth of depths) {
      const options = { addedAtUs: 1, depth };
      for (const name of ['double', 'single'])
        assert.is((await registerCatalog(catalog, join(directory, name), options)).hats.rows, 20_000);
      const error = await rejection(registerCatalog(catalog, join(directory, 'moved'), options));
      assert.instance(error, CatalogError);
      assert.match(
        error.message,
        /Cannot use .*\/moved\/.*Npix=\d+\.parquet because row \d+ at ra [\d.]+, dec [-\d.]+ lies in pixel \d+, but its _healpix_29 is \d+, 3 arcsec away\. Searches would miss it, .* Import the catalog anew/,
      );
    }
  }),
);

test.run();
