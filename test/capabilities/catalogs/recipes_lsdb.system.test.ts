/**
 * Each recipe beside LSDB: hats-import writes a catalog of its columns, with missing and extreme values; LSDB's nearest
 * sources, their separations and values are compared with the crossmatch, `against=`, ADQL and the exported archive.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RECIPES } from '../../../src/capabilities/catalogs/recipes.ts';
import { CAPABILITIES } from '../../../src/capabilities.ts';
import { nearsky } from '../../commands/in_process.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { hasTextIds } from './recipe_catalogs.ts';

const MODULES = 'lsdb, hats, hats_import, pyarrow';
const test = suite('catalogs/recipes_lsdb');
const isThere = (name: string) => CAPABILITIES.some(capability => capability.name === name);
const check = needs(test, isThere('hats') ? whyNoPython(MODULES) : 'archives are exported by the capability hats');
/** Separations differ by rounding only, arcsec. */
const SAME_ARCSEC = 1e-6;
const OBJECTS = 240;

/** What both programs read of a recipe. */
const FACTS = RECIPES.map(recipe => ({
  name: recipe.name,
  id: recipe.description.idColumn!,
  hasTextIds: hasTextIds(recipe),
  ra: recipe.description.raColumn ?? 'ra',
  dec: recipe.description.decColumn ?? 'dec',
  columns: recipe.description.columns!.map(({ name, type }) => [name, type] as const),
  arcsec: recipe.description.radius?.arcsec ?? 1,
  radius: recipe.description.radius,
}));
type Facts = (typeof FACTS)[number];

/**
 * Values of the field: absent, not finite, codes for missing values, the bounds of each type, and texts that need care.
 * Imports them with hats-import.
 */
const MAKE = `
import json, pathlib, sys
import numpy, pyarrow, pyarrow.parquet
from dask.distributed import Client
from hats_import import pipeline_with_client
from hats_import.collection.arguments import CollectionArguments

FLOATS = ["float32", "float64"]
INTEGERS = ["int16", "int32", "int64", "uint8"]
TEXTS = [pyarrow.string(), pyarrow.large_string(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())]
WORDS = [None, "", " ", 'a,"b"', "β Cet  ", "x" * 300, "-999", "NULL", "line\\nline"]
PLACES = [(0, 0), (45, 41.8103), (359.9999, -30), (10, 89.99)]

def around(ra, dec, arcsec, angle):
    "The positions at that distance and position angle."
    d, r = numpy.radians(arcsec / 3600), numpy.radians(dec)
    sin = numpy.sin(r) * numpy.cos(d) + numpy.cos(r) * numpy.sin(d) * numpy.cos(angle)
    there = numpy.arcsin(numpy.clip(sin, -1, 1))
    east = numpy.arctan2(numpy.sin(angle) * numpy.sin(d) * numpy.cos(r), numpy.cos(d) - numpy.sin(r) * sin)
    return (ra + numpy.degrees(east)) % 360, numpy.degrees(there)

def sky(random, count):
    "Half of the positions anywhere, half in crowds where partitions meet."
    ra, dec = random.uniform(0, 360, count), numpy.degrees(numpy.arcsin(random.uniform(-1, 1, count)))
    crowded = numpy.arange(count) % 2 == 0
    places = numpy.array(PLACES)[numpy.arange(count) // 2 % len(PLACES)]
    near = around(*places.T, 4000 * random.uniform(size=count), random.uniform(0, 2 * numpy.pi, count))
    return numpy.where(crowded, near[0], ra), numpy.where(crowded, near[1], dec)

def column(random, at, kind, count):
    pick = random.integers(0, 14, count)
    if kind == "text":
        words = [WORDS[i] if i < len(WORDS) else f"word {n % 50}" for n, i in enumerate(pick)]
        return pyarrow.array(words, pyarrow.string()).cast(TEXTS[at % 3])
    if kind == "int64":
        name = INTEGERS[at % 4]
        bounds = numpy.iinfo(name)
        special = [None, int(bounds.min), int(bounds.max), 0]
        values = [special[i] if i < 4 else int(n) for n, i in zip(random.integers(0, 100, count), pick)]
        return pyarrow.array(values, name)
    name = FLOATS[at % 2]
    bounds = numpy.finfo(name)
    special = [None, float("nan"), float("inf"), -999.0, 99.0, -99.99, -0.0, float(bounds.max), float(bounds.smallest_subnormal)]
    values = [special[i] if i < 9 else n for n, i in zip(random.normal(20, 3, count).astype(name).tolist(), pick)]
    return pyarrow.array(values, name)

def rows(recipe, objects):
    random = numpy.random.default_rng(sum(recipe["name"].encode()))
    ra, dec = (numpy.repeat(each, 2) for each in objects)
    near = around(ra, dec, 1.5 * recipe["arcsec"] * random.uniform(size=len(ra)), random.uniform(0, 6.28, len(ra)))
    filler = sky(random, 1000)
    ra, dec = (numpy.concatenate(pair) for pair in zip(near, filler))
    count = len(ra)
    ids = [f"J{n:05d} β+{n % 7}" if recipe["hasTextIds"] else 2 ** 62 + n for n in range(count)]
    table = {recipe["id"]: pyarrow.array(ids), recipe["ra"]: ra, recipe["dec"]: dec}
    for at, (name, kind) in enumerate(recipe["columns"]):
        table[name] = column(random, at, kind, count)
        if name == (recipe.get("radius") or {}).get("column"):
            table[name] = pyarrow.array([None if n % 11 == 0 else 0.0 if n % 13 == 0 else n % 50 / 10 for n in range(count)])
    return pyarrow.table(table)

if __name__ == "__main__":
    directory, settings, count = pathlib.Path(sys.argv[1]), json.loads(sys.argv[3]), int(sys.argv[4])
    objects = sky(numpy.random.default_rng(5), count)
    table = pyarrow.table({"id": numpy.arange(count) + 1, "ra": objects[0], "dec": objects[1]})
    pyarrow.parquet.write_table(table, directory / "objects.parquet")
    pyarrow.csv.write_csv(table, directory / "objects.csv")
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        for recipe in json.loads(sys.argv[2]):
            path = directory / f"{recipe['name']}.parquet"
            pyarrow.parquet.write_table(rows(recipe, objects), path)
            collection = CollectionArguments(
                output_path=directory / "catalogs", output_artifact_name=recipe["name"],
                progress_bar=False, simple_progress_bar=False,
            ).catalog(
                input_file_list=[path], file_reader="parquet", ra_column=recipe["ra"], dec_column=recipe["dec"], **settings,
            ).add_margin(margin_threshold=60, is_default=True)
            pipeline_with_client(collection, client)
`;

/** For each recipe: all rows, the nearest sources, and the archive's matches. Integers are texts; not finite is null. */
const READ = `
import json, math, sys
import dask, lsdb, numpy, pandas

def plain(value):
    if value is None or (not isinstance(value, str) and pandas.isna(value)):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, (int, numpy.integer)):
        return str(int(value))
    return float(value) if math.isfinite(value) else None

def records(table, columns, suffix=""):
    return list(zip(*[[plain(each) for each in table[column + suffix]] for column in columns]))

def nearest(objects, catalog, recipe):
    columns = [recipe["id"]] + [name for name, _ in recipe["columns"]]
    radius = recipe.get("radius") or {}
    count = 100 if "column" in radius else 1
    pairs = objects[["diaObjectId", "ra", "dec"]].crossmatch(
        catalog, radius_arcsec=recipe["arcsec"], n_neighbors=count, suffixes=("_o", "_s"), suffix_method="all_columns",
    ).compute()
    if "column" in radius:
        pairs = pairs[pairs["_dist_arcsec"] <= radius["factor"] * pairs[radius["column"] + "_s"].fillna(0)]
        pairs = pairs[pairs[radius["column"] + "_s"].fillna(0) > 0]
        pairs = pairs.sort_values("_dist_arcsec").drop_duplicates("diaObjectId_o")
    ids = [str(each) for each in pairs["diaObjectId_o"]]
    return dict(zip(ids, zip([float(d) for d in pairs["_dist_arcsec"]], records(pairs, columns, "_s"))))

if __name__ == "__main__":
    directory, archive = sys.argv[1], sys.argv[2]
    recipes = json.loads(sys.argv[3])
    found = {}
    with dask.config.set(scheduler="synchronous"):
        objects = lsdb.open_catalog(f"{archive}/objects")
        matches = lsdb.open_catalog(f"{archive}/matches").compute()
        for recipe in recipes:
            catalog = lsdb.open_catalog(f"{directory}/catalogs/{recipe['name']}")
            columns = [name for name, _ in recipe["columns"]]
            mine = matches[matches["catalog_name"] == recipe["name"]]
            id = "catalog_source_name" if recipe["hasTextIds"] else "catalog_source_id"
            archived = zip(
                mine["diaObjectId"], mine["separation_arcsec"],
                records(mine, [id] + [f"{recipe['name']}_{name.lower()}" for name in columns]),
            )
            found[recipe["name"]] = {
                "partitions": len(catalog.get_healpix_pixels()),
                "rows": records(catalog.compute(), [recipe["id"], recipe["ra"], recipe["dec"]] + columns),
                "nearest": nearest(objects, catalog, recipe),
                "archived": {str(i): [float(d), values] for i, d, values in archived},
            }
    with open(f"{directory}/found.json", "w") as file:
        json.dump(found, file)
`;

/** What LSDB makes of a recipe's catalog. A source is its id and the values of the recipe's columns. */
interface Found {
  readonly partitions: number;
  /** Id, right ascension, declination, values. */
  readonly rows: readonly (readonly unknown[])[];
  /** By object, with the separation in arcsec. */
  readonly nearest: Readonly<Record<string, readonly [number, readonly unknown[]]>>;
  /** Of the exported archive, in the same form. */
  readonly archived: Found['nearest'];
}

/** Compares a source with LSDB's: integers by their digits, all else exactly. */
function assertValues(
  { columns }: Facts,
  [id, ...values]: readonly unknown[],
  [theirId, ...theirs]: readonly unknown[],
  where: string,
) {
  assert.is(`${id}`, theirId, where);
  for (const [at, [column, type]] of columns.entries()) {
    const [value = null, other] = [values[at], theirs[at]];
    const isSame = type === 'int64' && value !== null ? String(value) === other : value === other;
    assert.ok(isSame, `${where}, ${column}: ${value} here, ${other} by LSDB`);
  }
}

function assertNearest(
  facts: Facts,
  ours: ReadonlyMap<string, readonly [number, readonly unknown[]]>,
  found: Found,
  by: string,
) {
  const where = `${facts.name}, ${by}`;
  const alone = [ours, new Map(Object.entries(found.nearest))].map((mine, i, both) =>
    [...mine.keys()].filter(object => !both[1 - i]!.has(object)),
  );
  assert.equal(alone, [[], []], `${where}: objects that match only here, or only in LSDB`);
  for (const [object, [arcsec, source]] of ours) {
    const [theirArcsec, theirs] = found.nearest[object]!;
    assertValues(facts, source, theirs, `${where}, object ${object}`);
    assert.ok(Math.abs(arcsec - theirArcsec) < SAME_ARCSEC, `${where}, object ${object}: ${arcsec}, ${theirArcsec}`);
  }
}

/** The matches of all objects, by catalog and object. */
async function answered(app: TestApp): Promise<Map<string, Map<string, [number, unknown[]]>>> {
  const ids = Array.from({ length: OBJECTS }, (_, i) => ({ kind: 'id', diaObjectId: `${i + 1}` }));
  const { results } = await app.lookup(ids, { detail: 'full' });
  const found = new Map<string, Map<string, [number, unknown[]]>>(FACTS.map(({ name }) => [name, new Map()]));
  for (const object of results.flatMap((result: Json) => result.objects))
    for (const match of object.matches) {
      const { columns } = FACTS.find(({ name }) => name === match.catalog_name)!;
      const values = columns.map(([column]) => match.catalog_payload[column.toLowerCase()]);
      const source = [match.catalog_source_id, ...values];
      found.get(match.catalog_name)!.set(`${object.diaObjectId}`, [match.separation_arcsec, source]);
    }
  return found;
}

/** The nearest sources of the objects' positions, by a table. */
async function assertTableMatch(app: TestApp, found: Readonly<Record<string, Found>>, positions: string) {
  const { status, text } = await app.post('/api/crossmatch?against=all&format=csv', positions, 'text/csv');
  assert.is(status, 200, text);
  const rows: Record<string, string>[] = parse(text, { columns: true });
  for (const [name, { nearest }] of Object.entries(found))
    for (const row of rows) {
      const [arcsec, source] = nearest[row.id!] ?? [];
      assert.is(row[`nearsky_${name}_source_id`], source?.[0] ?? '', `${name}, against, ${row.id}`);
      const ours = row[`nearsky_${name}_separation_arcsec`]!;
      assert.ok(
        arcsec === undefined ? ours === '' : Math.abs(+ours - arcsec) < SAME_ARCSEC,
        `${name}, ${row.id}: ${ours}`,
      );
    }
}

/** All sources of the catalog, by ADQL. */
async function assertQueried(app: TestApp, facts: Facts, { rows }: Found) {
  const names = [facts.id, facts.ra, facts.dec, ...facts.columns.map(([name]) => name)];
  const query = `SELECT ${names.map(name => `"${name}"`).join(', ')} FROM ${facts.name}.sources`;
  const parameters = new URLSearchParams({ REQUEST: 'doQuery', LANG: 'ADQL', FORMAT: 'json', QUERY: query });
  const { status, text, body } = await app.get(`/vo/tap/sync?${parameters}`);
  assert.is(status, 200, text);
  const theirs = new Map(rows.map(row => [row[0], row]));
  assert.is(body.rows.length, theirs.size, facts.name);
  // The shortest decimals of a float32 are another double.
  const isSingle: readonly boolean[] = body.columns.map(({ type }: Json) => type === 'float32');
  for (const row of body.rows) {
    const [id, ra, dec, ...values] = row.map((value: unknown, at: number) =>
      isSingle[at] && value !== null ? Math.fround(value as number) : value,
    );
    const [theirId, theirRa, theirDec, ...others] = theirs.get(`${id}`)!;
    assert.equal([ra, dec], [theirRa, theirDec], `${facts.name}, ADQL, ${id}`);
    assertValues(facts, [id, ...values], [theirId, ...others], `${facts.name}, ADQL, ${id}`);
  }
}

/** Text ids, a radius of each source, a column that is no word. */
const FEW = ['milliquas', 'erosita_dr1', 'glade_plus', 'sdss_dr16'];
const RUNS = [
  { name: 'several partitions', settings: { pixel_threshold: 400, highest_healpix_order: 5 }, recipes: FACTS },
  { name: 'the settings of hats-import', settings: {}, recipes: FACTS.filter(({ name }) => FEW.includes(name)) },
];

for (const { name, settings, recipes } of RUNS)
  check(`nearest sources, separations and values are those of LSDB: ${name}`, () =>
    withDirectory(async directory => {
      const python = pythonWith(MODULES)!;
      for (const [file, program] of Object.entries({ make: MAKE, read: READ }))
        writeFileSync(join(directory, `${file}.py`), program);
      const list = JSON.stringify(recipes);
      const make = [join(directory, 'make.py'), directory, list, JSON.stringify(settings), `${OBJECTS}`];
      await runPython(python, make, { timeout: 1_800_000 });
      const data = ['--data', join(directory, 'data')];
      for (const { name } of recipes) {
        const added = await nearsky('catalog', 'add', name, join(directory, 'catalogs', name), ...data);
        assert.equal(added.missing_columns, [], name);
      }
      const table = join(directory, 'objects.parquet');
      await nearsky('ingest', '--table', table, '--id', 'id', '--ra', 'ra', '--dec', 'dec', ...data);
      assert.is((await nearsky('crossmatch', ...data)).recorded, OBJECTS);
      const archive = join(directory, 'archive');
      await nearsky('export', ...data, '--format', 'hats', archive);
      await runPython(python, [join(directory, 'read.py'), directory, archive, list], { timeout: 1_800_000 });
      const found: Record<string, Found> = JSON.parse(readFileSync(join(directory, 'found.json'), 'utf8'));
      const app = await new TestApp(join(directory, 'data')).ready();
      try {
        const ours = await answered(app);
        for (const facts of recipes) {
          const one = found[facts.name]!;
          assert.ok(one.partitions >= 10, `${one.partitions} partitions`);
          assert.ok(Object.keys(one.nearest).length > OBJECTS / 3, facts.name);
          assertNearest(facts, ours.get(facts.name)!, one, 'answers');
          assertNearest(facts, new Map(Object.entries(one.archived)), one, 'archive');
          if (isThere('adql')) await assertQueried(app, facts, one);
        }
        if (isThere('table_match'))
          await assertTableMatch(app, found, readFileSync(join(directory, 'objects.csv'), 'utf8'));
      } finally {
        await app.app.close();
      }
    }),
  );

test.run();
