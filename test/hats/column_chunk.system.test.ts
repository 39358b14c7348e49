/** Columns of Parquet files: values in typed arrays give the same bytes as hyparquet-writer makes from single values. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ColumnValues, type HatsColumn, valueArray, writeRows } from '@nearsky/hats/write';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { seededRandom } from '../oracle/skies.ts';

const test = suite<{ directory: string }>('hats/column_chunk');

test.before.each(context => {
  context.directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
});

test.after.each(({ directory }) => rmSync(directory, { recursive: true }));

/** Some columns of this length, with a share of nulls. */
function columnsOf(rows: number, nulls: number, random: () => number): [HatsColumn, ColumnValues | undefined][] {
  const isPresent = Uint8Array.from({ length: rows }, () => (random() < nulls ? 0 : 1));
  const floats = Float64Array.from(isPresent, () => (random() < 0.1 ? -0 : random() - 0.5));
  const integers = BigInt64Array.from(isPresent, () => BigInt(Math.floor(2 ** 52 * (random() - 0.5))));
  const shared = (distinct: number, makeValue: (i: number) => unknown): ColumnValues => ({
    indexes: Int32Array.from(isPresent, present => (present ? Math.floor(distinct * random()) : -1)),
    distinct: Array.from({ length: distinct }, (_, i) => makeValue(i)),
  });
  const varied = { description: '', isVaried: true } as const;
  const column = (name: string, type: HatsColumn['type']) => ({ name, type, description: '' });
  return [
    [
      { ...varied, name: 'id', type: 'int64', isRequired: true, hasBounds: true },
      { numbers: integers, isPresent: undefined },
    ],
    [
      { ...varied, name: 'ra', type: 'float64', hasBounds: true },
      { numbers: floats, isPresent },
    ],
    [
      { ...varied, name: 'mag', type: 'float64' },
      { numbers: floats, isPresent },
    ],
    [
      { ...varied, name: 'source', type: 'int64' },
      { numbers: integers, isPresent },
    ],
    [{ ...column('flags', 'int64') }, { numbers: integers, isPresent }],
    [column('one', 'text'), shared(1, () => 'é')],
    [column('few', 'text'), shared(40, i => `value ${i}`)],
    [column('many', 'text'), shared(Math.max(1, rows), i => 'x'.repeat(i % 50) + i)],
    [column('version', 'int32'), shared(5, i => i - 2)],
    [column('time', 'time'), shared(300, i => BigInt(i) * 10n ** 12n)],
    [column('redshift', 'float64'), shared(700, i => i / 7)],
    [column('checked', 'boolean'), shared(2, i => i === 1)],
    [column('none', 'text'), undefined],
    [column('nothing', 'text'), undefined],
    [{ ...varied, name: 'no_number', type: 'float64' }, undefined],
  ];
}

test('each kind of column, few and many rows, with and without nulls', ({ directory }) => {
  const random = seededRandom(11);
  for (const rows of [1, 2, 7, 8, 17, 999, 1001, 20_000, 270_000]) {
    for (const nulls of rows < 100_000 ? [0, 0.3, 1] : [0]) {
      const all = columnsOf(rows, nulls, random);
      const columns = all.map(([column]) => column);
      const written = [
        (values: ColumnValues | undefined) => values,
        (values: ColumnValues | undefined) => values && valueArray(values),
      ].map((form, i) => {
        const path = join(directory, `${i}.parquet`);
        writeRows(path, { program: 'test', columns, length: rows, valuesOf: column => form(all[column]![1]) });
        return readFileSync(path);
      });
      assert.ok(written[0]!.equals(written[1]!), `${rows} rows, ${nulls} null`);
    }
  }
});

test.run();
