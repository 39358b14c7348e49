/** FITS tables that astropy and STILTS wrote (make_tables.py): each value is what astropy reads. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import {
  FitsError,
  FitsHeader,
  type FitsItem,
  findHduOf,
  fitsHeader,
  isTable,
  itemReader,
  itemsOf,
  tableOf,
  textsOf,
  valuesAt,
} from '@nearsky/astrotables/fits';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('astrotables/fits');

/** What astropy reads: integers with all their digits, and numbers that may come of a scale. */
type Expected = string | number | boolean | null | readonly Expected[];

const FIXTURES = new URL('../fixtures/fits/', import.meta.url);

function open(bytes: Uint8Array) {
  const hdu = findHduOf(bytes, isTable)!;
  return { ...tableOf(hdu), view: new DataView(bytes.buffer, bytes.byteOffset + hdu.dataStart, hdu.dataBytes) };
}

function isSame(found: FitsItem | string | undefined, expected: Expected | undefined): boolean {
  if (expected === null) return found === null || Number.isNaN(found);
  if (typeof expected === 'string') return `${found}` === expected;
  return (typeof expected === 'number' ? Number(found) : found) === expected;
}

for (const file of readdirSync(FIXTURES).filter(
  name => existsSync(new URL(name.replace('.fits', '.json'), FIXTURES)) && name.endsWith('.fits'),
))
  test(`every value of ${file}`, () => {
    const answer = JSON.parse(readFileSync(new URL(file.replace('.fits', '.json'), FIXTURES), 'utf8'));
    const table = open(readFileSync(new URL(file, FIXTURES)));
    const names = table.columns.map(({ name }) => name);
    assert.equal(names, Object.keys(answer.cells));
    for (const column of table.columns)
      for (let row = 0; row < table.rows; row++) {
        const values = valuesAt(table.view, table, column, row);
        const found =
          column.letter === 'A'
            ? textsOf(table.view, column, values)
            : itemsOf(table.view, column, values, itemReader(column));
        const expected = [answer.cells[column.name][row]].flat(3) as Expected[];
        const isText = column.letter === 'A' && found.length === 0 && expected[0] === '';
        if (isText) continue;
        assert.is(found.length, expected.length, `${column.name} ${row + 1}`);
        for (const [i, each] of found.entries())
          assert.ok(isSame(each, expected[i]), `${column.name} ${row + 1}: ${each} is not ${expected[i]}`);
      }
    if (file !== 'types.fits') return;
    assert.equal(table.header.comments, answer.comments);
    assert.is(table.header.get('LONGTEXT'), answer.LONGTEXT);
    assert.is(table.header.get('BIGINT'), BigInt(answer.BIGINT));
    assert.is(table.columns.at(-1)!.name, 'last');
  });

/** A table of one row. */
function tableWith(cards: Readonly<Record<string, string | number | bigint | boolean>>, data: Uint8Array): Uint8Array {
  const headers = [
    { SIMPLE: true, BITPIX: 8, NAXIS: 0 },
    { XTENSION: 'BINTABLE', BITPIX: 8, NAXIS: 2, NAXIS2: 1, PCOUNT: 0, GCOUNT: 1, TFIELDS: 1, ...cards },
  ];
  return Buffer.concat([Buffer.from(headers.map(each => fitsHeader(each)).join('')), data]);
}

test('an array that is not within the heap is refused by its column and row', () => {
  const arrays: [count: number, place: number, isWithin: boolean][] = [
    [2, 0, true],
    [1, 8, true],
    [3, 0, false],
    [1, 9, false],
    [-1, 0, false],
    [1, -8, false],
    [2 ** 31 - 1, 2 ** 31 - 1, false],
    [0, 2 ** 31 - 1, true],
  ];
  for (const heap of ['P', 'Q'])
    for (const [count, place, isWithin] of arrays) {
      const descriptor = new DataView(new ArrayBuffer(heap === 'P' ? 8 : 16));
      if (heap === 'P') descriptor.setInt32(0, count);
      else descriptor.setBigInt64(0, BigInt(count));
      if (heap === 'P') descriptor.setInt32(4, place);
      else descriptor.setBigInt64(8, BigInt(place));
      const data = Buffer.concat([new Uint8Array(descriptor.buffer), new Uint8Array(16)]);
      const cards = { NAXIS1: descriptor.byteLength, PCOUNT: 16, TTYPE1: 'a', TFORM1: `1${heap}D(9)` };
      const table = open(tableWith(cards, data));
      const read = () =>
        itemsOf(
          table.view,
          table.columns[0]!,
          valuesAt(table.view, table, table.columns[0]!, 0),
          itemReader(table.columns[0]!),
        );
      if (isWithin) assert.is(read().length, count);
      else
        assert.throws(
          read,
          (error: unknown) => error instanceof FitsError && /row 1 of its column a/.test(error.message),
        );
    }
});

test('headers that contradict themselves are refused', () => {
  const refused: [cards: Record<string, string | number | bigint | boolean>, message: RegExp][] = [
    [{ NAXIS1: 8, NAXIS2: -1 }, /NAXIS2 .*-1 was found/],
    [{ NAXIS1: 8, NAXIS2: 1.5 }, /NAXIS2 .*1.5 was found/],
    [{ NAXIS1: 4, TFORM1: 'D' }, /columns take 8 bytes of a row, and NAXIS1 is 4/],
    [{ NAXIS1: 8, NAXIS2: 2, TFORM1: 'D', NAXIS: 1 }, /2 rows take 16 bytes, and its header gives them 8/],
    [{ NAXIS1: 8, TFORM1: 'D', GCOUNT: 0 }, /1 rows take 8 bytes, and its header gives them 0/],
    [{ NAXIS1: 8, TFORM1: 'Z' }, /TFORM Z, which is not a FITS format/],
    [{ NAXIS1: 16, TFORM1: '2PD(1)' }, /TFORM 2PD/],
    [{ NAXIS1: 8, TFORM1: `${'9'.repeat(40)}D` }, /TFORM 9+D/],
    [{ NAXIS1: 8, TFORM1: 'D', TSCAL1: 'many' }, /TSCAL1 must be a number \(many/],
    [{ NAXIS1: 8, TFORM1: 'D', TFIELDS: 1000 }, /TFIELDS .*from 0 to 999 \(1000/],
  ];
  for (const [cards, message] of refused)
    assert.throws(
      () => open(tableWith(cards, new Uint8Array(8))),
      (error: unknown) => error instanceof FitsError && message.test(error.message),
      `${message}`,
    );
});

test('CONTINUE cards: a string of megabytes; one that nothing continues keeps its &', () => {
  const header = new FitsHeader();
  const card = (text: string) => header.add(text.padEnd(80));
  card(`LONG    = '${'x'.repeat(66)}&'`);
  for (let i = 0; i < 36_000; i++) card(`CONTINUE  '${'y'.repeat(66)}&'`);
  card("CONTINUE  'z'");
  assert.is(header.text('LONG')!.length, 66 * 36_001 + 1);
  card("ALONE   = 'a&'");
  card("OTHER   = 'b'");
  card("CONTINUE  'c'");
  card("OTHER   = 'd'");
  assert.equal([header.get('ALONE'), header.get('OTHER')], ['a&', 'b']);
});

test.run();
