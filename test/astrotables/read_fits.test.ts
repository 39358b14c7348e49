/** FITS tables as people send them: their cells, and the columns that have no place in a table. */
import { readFileSync } from 'node:fs';
import type { Cell } from '@nearsky/astrotables';
import { TableError } from '@nearsky/astrotables';
import { fitsHeader } from '@nearsky/astrotables/fits';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openFits } from '../../packages/astrotables/read/fits.ts';

const test = suite('astrotables/read_fits');

const LIMITS = { maxRows: 1000, maxBytes: 2 ** 24 };
const fixture = (name: string) => readFileSync(new URL(`../fixtures/fits/${name}`, import.meta.url));

async function cellsOf(bytes: Uint8Array): Promise<Record<string, Cell[]>> {
  const table = openFits(bytes, LIMITS);
  const cells: Record<string, Cell[]> = {};
  for await (const block of table.blocks([...table.columns.keys()]))
    for (const [i, column] of block.cells.entries()) cells[table.columns[i]!.name] = Array.from(column);
  return cells;
}

test('columns that no cell can hold are left out by name; the others are read [Crossmatch of a table]', async () => {
  const { dropped } = openFits(fixture('types.fits'), LIMITS);
  const heaps = [...'BIJKED'].map(letter => `${letter}_heap`);
  assert.equal([...dropped!].sort(), [...heaps, 'C', 'M', 'M_heap', 'M_vector', 'bits'].sort());
  const cells = await cellsOf(fixture('types.fits'));
  for (const [name, expected] of Object.entries({
    D_exponent: [0.001, 0.002, 0.007],
    I_null: [1, 2, null],
    J_unsigned: [0n, 4294967295n, 2147483655n],
    K_plain: [-(2n ** 63n), 2n ** 63n - 1n, 7n],
    K_unsigned: ['0', '18446744073709551615', '9223372036854775815'],
    K_null_scaled: [0.5, 1, null],
    K_vector: ['0.1 0.2', '0.2 0.30000000000000004', '0.7000000000000001 0.8'],
    bit: [true, false, true],
    L_vector: ['true false', 'false false', 'true true'],
    A: ['abc', ' de', null],
    A_vector: ['abc de', 'f g', 'hij klm'],
    A_heap: ['abc', 'defghi', 'j'],
    last: [1, 2, 3],
  }))
    assert.equal(cells[name], expected, name);
});

test('tables of STILTS with nulls, arrays and texts', async () => {
  const expected: Record<string, Cell[]> = {
    short: [null, 7, -32768],
    int: [2147483647, null, 5],
    long: [2n ** 63n - 1n, null, -(2n ** 53n) - 1n],
    byte: [null, null, 0],
    float: [Math.fround(0.1), Number.NaN, Math.fround(3e38)],
    double: [0.1, Number.NaN, -1e308],
    flag: [true, null, false],
    text: ['abc', null, 'a longer text'],
    fixed: ['1 2', '3 4', '5 6'],
    variable: ['0.5 1.5', 'NaN NaN', '2 NaN'],
    names: ['ab cd', 'efgh ijkl', 'a b'],
  };
  assert.equal(await cellsOf(fixture('stilts.fits')), expected);
  assert.equal(openFits(fixture('stilts.fits'), LIMITS).dropped, []);
  const { variable: _, ...others } = expected;
  assert.equal(await cellsOf(fixture('stilts_var.fits')), others);
  assert.equal(openFits(fixture('stilts_var.fits'), LIMITS).dropped, ['variable']);
});

test('every string of an array in the older form', async () => {
  const cards = { XTENSION: 'BINTABLE', BITPIX: 8, NAXIS: 2, NAXIS1: 12, NAXIS2: 1, PCOUNT: 0, GCOUNT: 1, TFIELDS: 1 };
  const header =
    fitsHeader({ SIMPLE: true, BITPIX: 8, NAXIS: 0 }) + fitsHeader({ ...cards, TFORM1: '12A4', TTYPE1: 's' });
  assert.equal(await cellsOf(Buffer.from(`${header}ab\0\0cdefg   `)), { s: ['ab cdef g'] });
});

test('the first table with sources: after an empty one, and after the header of an image in FITS_LDAC [Crossmatch of a table]', async () => {
  // ldac.fits was written by astropy 8.0.2, which reads the same cells from its second table.
  const ldac = fixture('ldac.fits');
  const { NUMBER, ALPHA_J2000 } = await cellsOf(ldac);
  assert.equal(
    [NUMBER, ALPHA_J2000],
    [
      [1, 2],
      [61.62227592104076, 10],
    ],
  );
  const primary = fitsHeader({ SIMPLE: true, BITPIX: 8, NAXIS: 0 });
  const table = (rows: number, others: object) => {
    const axes = { NAXIS: 2, NAXIS1: 1, NAXIS2: rows, PCOUNT: 0, GCOUNT: 1, TFIELDS: 1, TFORM1: 'B', TTYPE1: 'n' };
    return (
      fitsHeader({ XTENSION: 'BINTABLE', BITPIX: 8, ...axes, ...others }) + '\x07'.repeat(rows).padEnd(rows && 2880)
    );
  };
  assert.equal(await cellsOf(Buffer.from(primary + table(0, {}) + table(1, {}))), { n: [7] });
  assert.equal(await cellsOf(Buffer.from(primary + table(0, {}))), {});
  assert.is(openFits(Buffer.from(primary + table(0, {})), LIMITS).rows, 0);
  assert.throws(() => openFits(Buffer.from(primary + table(1, { ZTABLE: true })), LIMITS), /compressed \(ZTABLE\)/);
});

test('texts in the heap that overlap are refused: a small file would have gigabytes of cells', () => {
  const [columns, heap] = [100, 1000];
  const forms = Array.from({ length: columns }, (_, i) => [`TFORM${i + 1}`, '1PA(1000)']);
  const cards = { NAXIS: 2, NAXIS1: 8 * columns, NAXIS2: 1, PCOUNT: heap, GCOUNT: 1, TFIELDS: columns };
  const header = { XTENSION: 'BINTABLE', BITPIX: 8, ...cards, ...Object.fromEntries(forms) };
  const row = Buffer.alloc(8 * columns + heap);
  for (let column = 0; column < columns; column++) row.writeInt32BE(heap, 8 * column);
  const file = Buffer.concat([
    Buffer.from(fitsHeader({ SIMPLE: true, BITPIX: 8, NAXIS: 0 }) + fitsHeader(header)),
    row,
  ]);
  assert.throws(
    () => openFits(file, LIMITS),
    (error: unknown) =>
      error instanceof TableError && /overlap: they have 100000 bytes of a heap of 1000/.test(error.message),
  );
});

test.run();
