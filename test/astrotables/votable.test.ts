/** VOTables: readers get exactly what was written, whatever the cells contain. */

import {
  type Cell,
  CellError,
  type Column,
  type ColumnType,
  type Row,
  type Serialization,
  VotableWriter,
  votableError,
} from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { timestamp } from '@nearsky/astrotables/timestamp';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { anyText } from '../any_text.ts';
import { dataCells } from '../core/tables/read_votable.ts';
import { columnsOf, document, SERIALIZATIONS, TYPES } from './documents.ts';

const test = suite('astrotables/votable');

const XML_TEXT = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;
/** The text as a reader gets it: XML cannot hold every character. */
const legible = (text: string) =>
  [...text.toWellFormed()].map(each => (XML_TEXT.test(each) ? each : '\ufffd')).join('');

/** The rows of a BINARY2 document. */
function binaryRows(xml: string, columns: readonly Column[]): Row[] {
  const base64 = /<STREAM encoding="base64">\n([\s\S]*)<\/STREAM>/.exec(xml)![1]!;
  const bytes = Buffer.from(base64.replace(/\n/g, ''), 'base64');
  const rows: Row[] = [];
  let at = 0;
  const take = (length: number) => bytes.subarray(at, (at += length));
  const text = (width: number) => {
    const units = take(width * take(4).readInt32BE());
    return width === 1 ? units.toString('latin1') : units.swap16().toString('utf16le');
  };
  const readers: Readonly<Record<ColumnType, () => Cell>> = {
    int64: () => take(8).readBigInt64BE(),
    int32: () => take(4).readInt32BE(),
    float64: () => take(8).readDoubleBE(),
    float32: () => take(4).readFloatBE(),
    boolean: () => take(1).toString('latin1') === 'T',
    text: () => text(2),
    time: () => text(1),
  };
  while (at < bytes.length) {
    const flags = take(Math.ceil(columns.length / 8));
    rows.push(
      columns.map(({ type }, i) => {
        const cell = readers[type]();
        return (flags[i >> 3]! >> (7 - (i & 7))) & 1 ? null : cell;
      }),
    );
  }
  return rows;
}

const TEXTS = fc.oneof(
  anyText(),
  fc.string({
    unit: fc.constantFrom('<', '&', '>', '"', "'", ']]>', '\0', '\ud800', '\ufffe', '\u{1f52d}', '\n', ' ', 'é'),
  }),
);
const CELLS: Readonly<Record<ColumnType, fc.Arbitrary<Cell>>> = {
  int64: fc.oneof(
    fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
    fc.constantFrom(-(2n ** 63n), 2n ** 63n - 1n, 2n ** 53n + 1n),
  ),
  int32: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  float64: fc.oneof(
    fc.double(),
    fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 5e-324),
  ),
  float32: fc.oneof(fc.float(), fc.constantFrom(-0, Number.NaN, Number.NEGATIVE_INFINITY)),
  boolean: fc.boolean(),
  text: TEXTS,
  time: fc.maxSafeNat().map(time => time % 253_402_300_800_000_000),
};

const tables = fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 20 }).chain(types =>
  fc.tuple(
    fc.constant(columnsOf(types)),
    fc.array(fc.tuple(...types.map(type => fc.option(CELLS[type], { freq: 4 }))) as fc.Arbitrary<Row>, {
      maxLength: 5,
    }),
  ),
);

/** The value as which the text of a cell must read back. */
function readBack({ type }: Column, text: string | null): Cell {
  if (text === null) return null;
  switch (type) {
    case 'int64':
      return BigInt(text);
    case 'int32':
      return Number(text);
    case 'float64':
      return Number(text.replace('Inf', 'Infinity'));
    case 'boolean':
      return text === 'true';
    default:
      return text;
  }
}

/** The cell as its document can express it. */
function expected({ type }: Column, cell: Cell, how: Serialization): Cell {
  if (type === 'time' && cell !== null) return timestamp(cell as number);
  if (typeof cell !== 'string') return cell;
  return how === 'tabledata' ? legible(cell) : cell.toWellFormed();
}

for (const how of SERIALIZATIONS) {
  test(`any cells read back as they were: ${how}`, () => {
    fc.assert(
      fc.property(tables, ([columns, rows]) => {
        const xml = document(columns, rows, how);
        assert.match(xml, /^[\n -~]*$/);
        const read =
          how === 'binary2'
            ? binaryRows(xml, columns)
            : dataCells(xml).map(cells => cells.map((text, i) => readBack(columns[i]!, text)));
        assert.is(read.length, rows.length);
        rows.forEach((row, r) => {
          columns.forEach((column, i) => {
            const wanted = expected(column, row[i]!, how);
            assert.ok(
              Object.is(read[r]![i], wanted),
              `${column.type}: ${JSON.stringify(String(row[i]))} reads as ${JSON.stringify(String(read[r]![i]))}`,
            );
          });
        });
      }),
      { numRuns: 500 },
    );
  });
}

test('an ASCII column is of char, and takes nothing else', () => {
  const columns: Column[] = [{ name: 'a', type: 'text', isAscii: true, description: '' }];
  assert.match(document(columns, [['x']], 'tabledata'), /datatype="char" arraysize="\*"/);
  assert.match(document(columns, [['xyz']], 'binary2'), new RegExp(Buffer.from('\0\0\0\0\x03xyz').toString('base64')));
  for (const how of SERIALIZATIONS) assert.throws(() => document(columns, [['é']], how), isCellError);
});

test('a cell of another type than its column is refused', () => {
  const wrong: readonly [ColumnType, Cell][] = [
    ['int64', 1],
    ['int64', 2n ** 63n],
    ['int32', 2 ** 31],
    ['int32', 1.5],
    ['int32', 1n],
    ['float64', '1'],
    ['boolean', 1],
    ['text', 1],
    ['time', '2026'],
  ];
  for (const how of SERIALIZATIONS)
    for (const [type, cell] of wrong) assert.throws(() => document(columnsOf([type]), [[cell]], how), isCellError);
});

test('a timestamp has the microseconds that there are, and four digits of a year', () => {
  assert.is(timestamp(0), '1970-01-01T00:00:00Z');
  assert.is(timestamp(1), '1970-01-01T00:00:00.000001Z');
  assert.is(timestamp(-1), '1969-12-31T23:59:59.999999Z');
  for (const time of [253_402_300_800_000_000, -62_167_219_200_001_000, 0.5, Number.NaN])
    assert.throws(
      () => timestamp(time),
      (error: unknown) => error instanceof RangeError,
    );
});

test('a broken result says so after its rows, an error where a table would be', () => {
  const out = new ByteSink();
  const writer = new VotableWriter(out, { name: 't', description: '', columns: columnsOf(['int32']) });
  writer.begin([{ name: 'note', value: 'a & b' }]);
  writer.row([1]);
  writer.end({ error: 'lost <it>' });
  const xml = Buffer.from(out.bytes.subarray(0, out.length)).toString('latin1');
  assert.match(xml, /<\/TABLE>\n<INFO name="QUERY_STATUS" value="ERROR">lost &lt;it&gt;<\/INFO>\n<\/RESOURCE>/);
  assert.match(xml, /<INFO name="note" value="a &amp; b"\/>\n<TABLE/);
  const error = votableError('no "RA"');
  assert.match(error, /<INFO ID="Error" name="Error" value="no &quot;RA&quot;"\/>\n<RESOURCE/);
  assert.match(error, /<INFO name="QUERY_STATUS" value="ERROR">no &quot;RA&quot;<\/INFO>/);
});

function isCellError(error: unknown): boolean {
  return error instanceof CellError;
}

test.run();
