/** Every format, checked with a reader that is not ours, over random tables with everything difficult. */
import { Buffer } from 'node:buffer';
import { type Cell, CellError, type Column, openTable, type Row, type Table, tableFormat } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { tableFromIPC } from 'apache-arrow';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TableFormat } from '../../src/core/contract/formats.ts';
import { anyText } from '../any_text.ts';

const COLUMNS: readonly Column[] = [
  { name: 'id', type: 'int64', ucd: 'meta.id;meta.main', description: 'Identifier.' },
  { name: 'count', type: 'int32', description: 'How many.' },
  { name: 'ra', type: 'float64', unit: 'deg', description: 'Right ascension.' },
  { name: 'is_new', type: 'boolean', description: 'Whether it is new.' },
  { name: 'note, "quoted"', type: 'text', description: 'Anything.' },
  { name: 'seen', type: 'time', description: 'When.' },
];
const TABLE: Table = { name: 'things', description: 'Things.', columns: COLUMNS };
const ABOUT = { program: 'nearsky', json: '{"provenance": "p\\u00e9"}' };

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n, 0n),
);
const text = fc.oneof(
  anyText(),
  fc.constantFrom(
    '',
    ' ',
    '"',
    'a,b',
    'line\nfeed',
    'carriage\r\nreturn',
    '=1+1',
    'é 星 🔭',
    'null',
    'NaN',
    '1',
    'true',
  ),
);
// Times that microseconds in a double hold exactly.
const time = fc.maxSafeInteger();
const row: fc.Arbitrary<Row> = fc
  .tuple(
    int64,
    fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    text,
    time,
  )
  .chain(cells => fc.tuple(...cells.map(cell => fc.option(fc.constant<Cell>(cell), { freq: 5 }))));
const rows = fc.array(row, { maxLength: 40 });

async function written(format: TableFormat, table: readonly Row[], columns = COLUMNS): Promise<Uint8Array> {
  const out = new ByteSink();
  const writer = (await tableFormat(format))(out, { ...TABLE, columns }, ABOUT);
  // Half of them a row at a time, the others as columns.
  const middle = Math.floor(table.length / 2);
  for (const cells of table.slice(0, middle)) writer.row(cells);
  const rest = table.slice(middle);
  if (rest.length > 0) writer.block(columns.map((_, i) => rest.map(cells => cells[i]!)));
  writer.end();
  return out.bytes.slice(0, out.length);
}

const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8');
const isoOf = (timeUs: number) => {
  const ms = Math.floor(timeUs / 1e3);
  const micros = `${new Date(ms).toISOString().slice(-4, -1)}${String(timeUs - ms * 1e3).padStart(3, '0')}`;
  return `${new Date(ms).toISOString().slice(0, -5)}${micros === '000000' ? '' : `.${micros}`}Z`;
};
/** A lone surrogate has no UTF-8, so every encoder replaces it. */
const asUtf8 = (cell: Cell) => (typeof cell === 'string' ? cell.toWellFormed() : cell);

test('csv: what csv-parse reads is what was written', async () => {
  await fc.assert(
    fc.asyncProperty(rows, async table => {
      const cells = parse(textOf(await written('csv', table)), {
        cast: (value, { quoting }) => (value === '' && !quoting ? null : value),
      });
      const expected = table.map(cells =>
        cells.map((cell, i) =>
          cell === null
            ? null
            : COLUMNS[i]!.type === 'time'
              ? isoOf(cell as number)
              : Object.is(cell, -0)
                ? '-0.0'
                : `${asUtf8(cell)}`,
        ),
      );
      assert.equal(cells, [COLUMNS.map(({ name }) => name), ...expected]);
    }),
    { numRuns: 200 },
  );
});

test('csv: numbers of a column have the texts that numbers of a row have', async () => {
  const numbers = [
    null,
    Number.NaN,
    -0,
    0,
    1e21,
    -5e-324,
    Number.POSITIVE_INFINITY,
    150.1,
    Number.NEGATIVE_INFINITY,
    null,
  ];
  const table: Table = { ...TABLE, columns: COLUMNS.slice(2, 3) };
  const texts = await Promise.all(
    [true, false].map(async byRow => {
      const out = new ByteSink();
      const writer = (await tableFormat('csv'))(out, table, ABOUT);
      if (byRow) for (const number of numbers) writer.row([number]);
      else writer.block([numbers]);
      return textOf(out.bytes.slice(0, out.length));
    }),
  );
  assert.is(texts[1], texts[0]);
  assert.is(texts[0], 'ra\n""\n""\n-0.0\n0\n1e+21\n-5e-324\nInfinity\n150.1\n-Infinity\n""\n');
  // Most readers skip blank lines, and would lose these rows.
  const read = await openTable(Buffer.from(texts[0]!), { maxRows: 100, maxBytes: 1e4 }, true);
  assert.equal([read.rows, read.columns[0]!.type], [numbers.length, 'float64']);
});

test('ndjson: what JSON.parse reads is what was written', async () => {
  await fc.assert(
    fc.asyncProperty(rows, async table => {
      const lines = textOf(await written('ndjson', table)).split('\n');
      assert.is(lines.pop(), '');
      const read = lines.map(line =>
        Object.entries(
          JSON.parse(line, (key, value, { source }: { source?: string } = {}) =>
            key === 'id' && value !== null ? BigInt(source!) : value,
          ),
        ),
      );
      const expected = table.map(cells =>
        cells.map((cell, i) => {
          const { name, type } = COLUMNS[i]!;
          return [name, type === 'time' && cell !== null ? isoOf(cell as number) : cell];
        }),
      );
      assert.equal(read, expected);
    }),
    { numRuns: 200 },
  );
});

test('parquet: what hyparquet reads is what was written', async () => {
  await fc.assert(
    fc.asyncProperty(rows, async table => {
      const { buffer } = await written('parquet', table);
      const file = buffer as ArrayBuffer;
      const read = await parquetReadObjects({
        file,
        parsers: { timestampFromMicroseconds: (us: bigint) => Number(us) } as never,
      });
      const names = COLUMNS.map(({ name }) => name);
      assert.equal(
        read.map(object => names.map(name => object[name] ?? null)),
        table.map(cells => cells.map(asUtf8)),
      );
    }),
    { numRuns: 100 },
  );
});

test('arrow: what apache-arrow reads is what was written', async () => {
  await fc.assert(
    fc.asyncProperty(rows, async table => {
      const read = tableFromIPC(await written('arrow', table));
      assert.is(read.numRows, table.length);
      const cells = COLUMNS.map(({ type }, column) => {
        const vector = read.getChildAt(column)!;
        const raw = vector.data.flatMap(({ values }) => [...(values as BigInt64Array)]);
        return table.map((_, i) => (type === 'time' && vector.isValid(i) ? Number(raw[i]) : (vector.get(i) as Cell)));
      });
      assert.equal(
        table.map((_, i) => cells.map(column => column[i] ?? null)),
        table.map(cells => cells.map(asUtf8)),
      );
    }),
    { numRuns: 100 },
  );
});

test('more rows than a chunk, and none', async () => {
  const many: Row[] = Array.from({ length: 5000 }, (_, i) => [
    BigInt(i),
    i,
    i / 7,
    i % 2 === 0,
    i % 3 ? `${i}` : null,
    i * 1e6,
  ]);
  const ids = many.map(([id]) => id);
  const { buffer } = await written('parquet', many);
  const metadata = await parquetMetadataAsync(buffer as ArrayBuffer);
  assert.equal(
    metadata.row_groups.map(group => Number(group.num_rows)),
    [1000, 1000, 500, 2500],
  );
  assert.equal(
    (await parquetReadObjects({ file: buffer as ArrayBuffer })).map(({ id }) => id),
    ids,
  );
  const arrow = tableFromIPC(await written('arrow', many));
  assert.equal([...arrow.getChild('id')!], ids);
  for (const format of ['parquet', 'arrow', 'csv', 'ndjson'] as const) {
    const bytes = await written(format, []);
    if (format === 'parquet') assert.equal(await parquetReadObjects({ file: bytes.buffer as ArrayBuffer }), []);
    if (format === 'arrow')
      assert.equal([tableFromIPC(bytes).numRows, tableFromIPC(bytes).numCols], [0, COLUMNS.length]);
    if (format === 'csv') assert.is(textOf(bytes), 'id,count,ra,is_new,"note, ""quoted""",seen\n');
    if (format === 'ndjson') assert.is(bytes.length, 0);
  }
});

test('units, descriptions and what the answer says beside its rows', async () => {
  const { buffer } = await written('parquet', []);
  const { key_value_metadata } = await parquetMetadataAsync(buffer as ArrayBuffer);
  const values = Object.fromEntries(key_value_metadata!.map(({ key, value }) => [key, value]));
  assert.is(values.nearsky, ABOUT.json);
  assert.equal(JSON.parse(values.columns!).ra, { unit: 'deg', description: 'Right ascension.' });
  assert.equal(JSON.parse(values.columns!).id, { ucd: 'meta.id;meta.main', description: 'Identifier.' });
  const { schema } = tableFromIPC(await written('arrow', []));
  assert.is(schema.metadata.get('nearsky'), ABOUT.json);
  assert.equal(Object.fromEntries(schema.fields[2]!.metadata), { unit: 'deg', description: 'Right ascension.' });
  assert.match(textOf(await written('votable', [])), 'value="{&quot;provenance&quot;: &quot;p\\u00e9&quot;}"');
});

test('a cell that is not of its column is a fault, not another value', async () => {
  const wrong: [number, Cell][] = [
    [0, 5],
    [0, 2n ** 63n],
    [1, 2 ** 31],
    [1, 0.5],
    [2, '1'],
    [3, 1],
    [4, 1],
    [5, 0.5],
  ];
  for (const format of ['parquet', 'arrow'] as const) {
    for (const [column, cell] of wrong) {
      try {
        await written(format, [[cell]], [COLUMNS[column]!]);
        assert.unreachable(`${format} wrote ${cell} as ${COLUMNS[column]!.type}`);
      } catch (error) {
        assert.instance(error, CellError);
      }
    }
  }
});

test.run();
