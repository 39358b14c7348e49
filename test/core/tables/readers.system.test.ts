/** 10,000 objects as tables, read by the usual programs of astronomers: every id is as stored. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { needs } from '../../needs.ts';
import { pythonWith } from '../../python.ts';
import { delivery, match, NOW_US, type Running, searched, startApp } from '../http/support.ts';
import { hasStilts, run, votlint, withFolder } from './clients.ts';

const COUNT = 10_000;
const pandas = pythonWith('pandas');
const pyarrow = pythonWith('pandas, pyarrow');

/** Integers of all sizes, up to the largest. */
const ids = Array.from({ length: COUNT }, (_, i) =>
  i % 3 === 0 ? 2n ** 63n - 1n - BigInt(i) : 10n ** BigInt(i % 19) + BigInt(i),
);

const test = suite<{ running: Running }>('tables/readers');

test.before(async context => {
  context.running = await startApp(
    async world => {
      await world.writer.ingest(
        ids.map((id, i) => delivery(id, { position: { ra: 150 + (i % 100) * 1e-5, dec: 2 + i * 1e-7 } })),
        NOW_US,
      );
      const outcomes = searched('gaia_dr3', 'des_y6_gold');
      await world.writer.recordCrossmatches(
        ids.slice(1).map((diaObjectId, i) => ({
          diaObjectId,
          catalogOutcomes: outcomes,
          matches:
            i % 2 === 0
              ? [
                  match('gaia_dr3', `${-(2n ** 63n) + BigInt(i)}`),
                  match('des_y6_gold', `${i}`, { payload: { flags_gold: 2n ** 62n + BigInt(i), dnf_z: i / 8 } }),
                ]
              : [],
        })),
        { crossmatch_radius_arcsec: 1, catalogs: [{ name: 'gaia_dr3', release: 'Gaia DR3' }], reliability_cuts: [] },
        NOW_US,
      );
    },
    { API_MAX_OBJECTS_PER_REQUEST: `${COUNT}`, API_REQUEST_BUDGET_SECONDS: '60' },
  );
});
test.after(({ running }) => running.close());

async function table({ app }: Running, format: string, detail = 'matches'): Promise<Uint8Array> {
  const cone = `/api/cone?ra=150.0005&dec=2.0005&radius_arcsec=60&page_size=${COUNT}`;
  const path = `${cone}&detail=${detail}&format=${format}`;
  const response = await app.app.fetch(new Request(`http://nearsky.test${path}`));
  const bytes = new Uint8Array(await response.arrayBuffer());
  assert.is(response.status, 200, Buffer.from(bytes).toString('latin1', 0, 300));
  assert.is(response.headers.get('X-Row-Count'), `${COUNT}`);
  assert.is(response.headers.get('Link'), null);
  return bytes;
}

const sorted = (values: readonly string[]) => [...values].sort();
const expectedIds = sorted(ids.map(String));
const expectedSources = sorted(ids.slice(1).flatMap((_, i) => (i % 2 === 0 ? [`${-(2n ** 63n) + BigInt(i)}`] : [])));

const PANDAS = `
import json, sys
import pandas
path, kind = sys.argv[1:]
if kind == "csv":
    # pandas 1 goes by way of floats to Int64.
    whole = lambda text: int(text) if text else pandas.NA
    table = pandas.read_csv(path, converters={"gaia_dr3_source_id": whole}, parse_dates=["ingest_time"])
elif kind == "parquet":
    table = pandas.read_parquet(path)
else:
    import pyarrow
    stream = pyarrow.ipc.open_stream(path)
    assert stream.schema.field("ra").metadata[b"unit"] == b"deg"
    table = stream.read_pandas()
print(json.dumps({
    "ids": [str(each) for each in table["diaObjectId"]],
    "sources": [str(each) for each in table["gaia_dr3_source_id"].dropna()],
    "dtypes": [str(table["diaObjectId"].dtype).lower(), str(table["ra"].dtype).lower(), str(table["ingest_time"].dtype)[:14]],
    "time": str(table["ingest_time"][0]),
}))
`;

for (const [format, python] of [
  ['csv', pandas],
  ['parquet', pyarrow],
  ['arrow', pyarrow],
] as const) {
  const name = `pandas reads ${format} with the ids unchanged`;
  const missing = format === 'csv' ? 'pandas' : 'pandas and pyarrow';
  needs(test, python ? undefined : `there is no Python with ${missing}`)(name, ({ running }) =>
    withFolder(async folder => {
      const path = join(folder, `table.${format}`);
      writeFileSync(path, await table(running, format));
      const { status, out, errors } = run(python!, ['-c', PANDAS, path, format]);
      assert.is(status, 0, errors);
      const read = JSON.parse(out);
      assert.equal(sorted(read.ids), expectedIds);
      assert.equal(sorted(read.sources), expectedSources);
      assert.equal(read.dtypes, [
        'int64',
        'float64',
        'datetime64[ns,'.replace('ns', /\[(\w\w),/.exec(read.dtypes[2])![1]!),
      ]);
      assert.is(read.time, '2026-09-21 14:13:20.123456+00:00');
    }),
  );
}

const BARE = `
import json, sys
import pandas, pyarrow.parquet
table = pandas.read_parquet(sys.argv[1])
schema = pyarrow.parquet.read_schema(sys.argv[1])
print(json.dumps({
    "flags": [str(each) for each in table["des_y6_gold_flags_gold"].dropna()],
    "dtypes": table.dtypes.astype(str).to_dict(),
    "redshifts": float(table["des_y6_gold_dnf_z"].sum()),
    "index": [table.index.name, len(table)],
    "fields": {field.name: {key.decode(): value.decode() for key, value in (field.metadata or {}).items()} for field in schema},
    "file": sorted(key.decode() for key in schema.metadata),
}))
`;

needs(test, pyarrow ? undefined : 'there is no Python with pandas and pyarrow')(
  'a bare pandas.read_parquet keeps every digit of integers that may be missing [P17]',
  ({ running }) =>
    withFolder(async folder => {
      const path = join(folder, 'table.parquet');
      writeFileSync(path, await table(running, 'parquet', 'full'));
      const { status, out, errors } = run(pyarrow!, ['-c', BARE, path]);
      assert.is(status, 0, errors);
      const { flags, dtypes, redshifts, index, fields, file } = JSON.parse(out);
      const matched = ids.slice(1).flatMap((_, i) => (i % 2 === 0 ? [i] : []));
      assert.equal(sorted(flags), sorted(matched.map(i => `${2n ** 62n + BigInt(i)}`)));
      assert.is(
        redshifts,
        matched.reduce((sum, i) => sum + i / 8, 0),
      );
      assert.equal(index, [null, COUNT]);
      assert.equal(fields.ra, { unit: 'deg', ucd: 'pos.eq.ra;meta.main', description: fields.ra.description });
      assert.is(fields.gaia_dr3_parallax.unit, 'mas');
      for (const key of ['columns', 'nearsky', 'pandas']) assert.ok(file.includes(key), key);
      for (const name of ['diaObjectId', 'gaia_dr3_source_id', 'des_y6_gold_ext_mash', 'skymapper_dr4_ngood'])
        assert.is(dtypes[name], 'Int64', name);
      assert.equal([dtypes.matches, dtypes.tns_checked, dtypes.gaia_dr3_ruwe], ['Int32', 'boolean', 'float64']);
    }),
);

needs(test, hasStilts ? undefined : 'there is no stilts here (Debian package stilts)')(
  'stilts reads csv and votable with the ids unchanged',
  ({ running }) =>
    withFolder(async folder => {
      // Debian's has no reader of Parquet.
      for (const format of ['csv', 'votable']) {
        const path = join(folder, `table.${format}`);
        const bytes = await table(running, format);
        writeFileSync(path, bytes);
        if (format === 'votable') assert.equal(votlint(Buffer.from(bytes).toString()), []);
        const { status, out, errors } = run('stilts', [
          'tpipe',
          `in=${path}`,
          `ifmt=${format}`,
          'cmd=keepcols "diaObjectId gaia_dr3_source_id"',
          'ofmt=csv',
        ]);
        assert.is(status, 0, errors);
        const lines = out
          .trim()
          .split('\n')
          .slice(1)
          .map(line => line.split(','));
        assert.equal(sorted(lines.map(([id]) => id!)), expectedIds, format);
        assert.equal(sorted(lines.flatMap(([, source]) => (source ? [source] : []))), expectedSources, format);
      }
    }),
);

test.run();
