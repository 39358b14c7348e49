/** Malicious tables: each is refused with a reason, or read, within bounded time. */
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { findPositions, openQuickTable, openTable, readPositions, TableError, tableFormat } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lz4Frame } from '../../packages/astrotables/read/lz4_frame.ts';
import { TABLE_FORMATS } from '../../src/core/contract/formats.ts';
import { seededRandom } from '../oracle/skies.ts';

const test = suite('astrotables/hostile');

const LIMITS = { maxRows: 10_000, maxBytes: 2 ** 24 };

/** The right ascensions; every cell of the table is read. */
async function read(table: string | Uint8Array): Promise<number[]> {
  const bytes = typeof table === 'string' ? new TextEncoder().encode(table) : table;
  const opened = await openTable(bytes, LIMITS, true);
  for await (const { rows, cells } of opened.blocks([...opened.columns.keys()]))
    for (const column of cells) for (let row = 0; row < rows; row++) assert.is.not(column[row], undefined);
  return [...(await readPositions(opened, findPositions(opened, {}))).ra];
}

async function refusal(table: string | Uint8Array): Promise<string> {
  try {
    await read(table);
  } catch (error) {
    assert.instance(error, TableError, `${error}`);
    return (error as Error).message;
  }
  return 'read';
}

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tables/${name}`, import.meta.url));

const votable = (datatype: string, cell: string) =>
  `<VOTABLE><TABLE><FIELD name="ra" datatype="${datatype}"/><FIELD name="dec" datatype="int"/><DATA><TABLEDATA>
<TR><TD>${cell}</TD><TD>1</TD></TR></TABLEDATA></DATA></TABLE></VOTABLE>`;
const BINARY =
  '<VOTABLE><TABLE><FIELD name="ra" datatype="int"/><FIELD name="dec" datatype="int"/><DATA><BINARY><STREAM encoding="base64">';

test('a quick table has few rows and few bytes when decompressed', async () => {
  const open = (table: string | Uint8Array) =>
    openQuickTable(Buffer.from(table as Uint8Array), LIMITS, true, { maxRows: 100, maxBytes: 1000 });
  const [rows, bytes] = ['ra,dec\n1,2\n', `ra,dec\n${'1,2\n'.repeat(101)}`];
  assert.is((await open(rows))?.rows, 1);
  assert.is((await open(gzipSync(rows)))?.rows, 1);
  const others = [bytes, gzipSync(bytes), gzipSync(Buffer.alloc(1001, rows)), gzipSync(gzipSync(rows))];
  for (const other of [...others, gzipSync(rows).subarray(0, 20)]) assert.is(await open(other), undefined);
});

test('bombs, endless rows and columns, lies about sizes', async () => {
  const header = (name: string, cards: string[]) =>
    `${[name, ...cards].map(card => card.padEnd(80)).join('')}${'END'.padEnd(80)}`.padEnd(2880 * 2);
  const fits = (cards: string[]) =>
    `${header('SIMPLE  =                    T', ['NAXIS   = 0']).slice(0, 2880)}${header("XTENSION= 'BINTABLE'", cards)}`;
  const wrong: [table: string | Uint8Array, message: RegExp][] = [
    [gzipSync(Buffer.alloc(2 ** 26, 'ra,dec\n1,2\n')), /compressed/],
    [`${Array.from({ length: 100_000 }, (_, i) => `c${i}`).join()}\n`, /more than 2000 columns/],
    [`ra,dec\n1,"${'x'.repeat(2 ** 22)}"\n`, /bytes: is it CSV/],
    ['<VOTABLE><!DOCTYPE x [<!ENTITY a "aaaa">]><TABLE/></VOTABLE>', /document type/],
    [`<VOTABLE><TABLE>${'<FIELD name="a" datatype="int"/>'.repeat(3)}<DATA><TABLEDATA><TR><TD>1</TD>`, /ends/],
    [`<VOTABLE a="${'x'.repeat(100_000)}`, /well-formed/],
    [
      '<VOTABLE><TABLE><FIELD name="ra" datatype="char" arraysize="0"/><DATA><BINARY><STREAM encoding="base64">AAAA</STREAM>',
      /more than 10000 rows/,
    ],
    [fits(['NAXIS   = 2', 'NAXIS1  = 8', 'NAXIS2  = 99999999999', 'TFIELDS = 0']), /more than 10000 rows/],
    [
      fits(['NAXIS   = 2', 'NAXIS1  = 8', 'NAXIS2  = 10', 'TFIELDS = 1', "TFORM1  = '999999999D'"]),
      /take 7999999992 bytes/,
    ],
    [
      fits(['NAXIS   = 0'])
        .slice(0, 2 * 2880)
        .replace("'BINTABLE'", "'TABLE   '"),
      /without a binary table: convert its ASCII table with TOPCAT or STILTS$/,
    ],
    [fits(['NAXIS   = 0']).slice(0, 2880), /without a binary table$/],
    [
      'Title: Stars, and more\nAuthors: A, B, C\n====\nByte-by-byte Description of file: t.dat\n----\n Bytes Format\n',
      /it is a Machine-Readable Table \(MRT, CDS\): convert it to ECSV with astropy/,
    ],
    [fits(['NAXIS   = -1']), /NAXIS .*-1 was found/],
    ['{"ra": 1, "dec": [[[[{"a": 1}', /not JSON/],
    [
      `# %ECSV 1.0\n# ---\n${`# - ${'x'.repeat(1000)}\n`.repeat(5000)}ra,dec\n1,2\n`,
      /its head has more than 4194304 bytes/,
    ],
    [`# %ECSV 1.0\n# ---\n${'# - x\n'.repeat(50_000)}ra,dec\n1,2\n`, /its head has more than 50000 lines/],
    [`${`\\a=${'b'.repeat(1000)}\n`.repeat(5000)}|ra |dec|\n 1  2\n`, /its head has more than 4194304 bytes/],
    [`${'\\a=b\n'.repeat(50_001)}|ra |dec|\n 1  2\n`, /its head has more than 50000 lines/],
    [`\\ \n|ra |dec|\n 1   2\n${'\\\n'.repeat(10_001)}`, /more than 10000 lines that are blank or comments/],
    [`ra dec\n1 2\n${'\n'.repeat(10_001)}`, /more than 10000 lines that are blank or comments/],
    ['[{"ra": 1, "dec": 2}]', /send one object per line/],
    ['--x\r\nContent-Disposition: form-data; name="table"\r\n\r\nra,dec\r\n1,2\r\n--x--', /is a form/],
    [votable('int', '3000000000'), /3000000000 in its column ra is not an integer of 32 bits/],
    [votable('long', '9223372036854775808'), /not an integer of 64 bits/],
    [
      'ra,dec\n1,2\n# and, that, is all\n',
      /row 2 has 3 fields, but its header has 2: a comment must stand before the header/,
    ],
    [
      '#\nRA\tDE\tV\n---\t---\t---\n1\t2\t3\n\n#RESOURCE=a\n#Table\tII_246:\nRA\tDE\n1\t2\n',
      /does not fit the 3 columns of its header: .*, another table in a file of its own$/,
    ],
    ['# r\n1,2\n3,4\n', /its first line has numbers instead of column names/],
    ['sep=,', /only one line/],
    ['1 2\n3 4\n', /its first line has numbers instead of column names/],
    ['ra dec\n1 2\n3 4 5\n', /row 2 has 3 words separated by blanks, but its header has 2/],
    [`ra dec\n1 2\n1 ${'2'.repeat(2 ** 21)}\n`, /one of its rows has more than 1048576 bytes/],
    [`${'r '.repeat(100_000)}\n`, /more than 2000 columns/],
    [`ra dec\n${'1 2\n'.repeat(10_001)}`, /more than 10000 rows/],
    ['\\begin{tabular}\n1 & 2\n', /it is LaTeX: convert it/],
    ['\\a=b\n1 & 2\n', /no line with column names between bars/],
    [`\\a=${'b'.repeat(2 ** 21)}\n|ra|dec|\n`, /a line of its head has more than 1048576 bytes/],
    [`\\ \n|${'r|'.repeat(100_000)}\n`, /more than 2000 columns/],
    [`\\ \n|r |\n|i |\n${' 1\n'.repeat(10_001)}`, /more than 10000 rows/],
    [`\\ \n${'|ra |dec|\n'.repeat(5)} 1  2\n`, /5 lines between bars, but an IPAC table has 4/],
    ['\\ \n|ra |dec|\n|int|\n 1  2\n', /line 2 of its header has 1 cells between bars, but line 1 has 2/],
    ['\\ \n|ra |dec|\n 1234 2\n 12345 2\n', /row 2 has 12345 2 under a bar of the header/],
    ['# %ECSV 1.0\n# no line ends', /it is empty/],
    // Without its end, a stream would look like one with fewer rows.
    [`${BINARY}AAAAAAAAAAA=`, /ends within its rows/],
  ];
  for (const [table, message] of wrong) assert.match(await refusal(table), message, `${message}`);
});

test('long texts where a position should be; names that objects inherit', async () => {
  const blanks = ' '.repeat(500_000);
  assert.equal(await read(`ra,dec\n"${blanks}x",1\n${'1'.repeat(500_000)}x,2\n3,4\n`), [Number.NaN, Number.NaN, 3]);
  assert.equal(await read(`skycoord\n"${blanks}x${blanks.slice(0, 9)}"\n1 2\n`), [Number.NaN, 1]);
  assert.equal(await read('{"ra": 1, "dec": 2}\n{"ra": 3, "dec": 4, "constructor": 1, "__proto__": 2}\n'), [1, 3]);
});

test('columns that no answer can hold are left out by name: lists, structures, bytes [Crossmatch of a table]', async () => {
  const file = parquetWriteBuffer({
    columnData: [
      { name: 'ra', data: [1] },
      { name: 'dec', data: [2] },
      { name: 'fluxes', data: [[3, 4]] },
    ],
    schema: [
      { name: 'root', num_children: 3 },
      { name: 'ra', type: 'DOUBLE', repetition_type: 'REQUIRED' },
      { name: 'dec', type: 'DOUBLE', repetition_type: 'REQUIRED' },
      { name: 'fluxes', converted_type: 'LIST', num_children: 1, repetition_type: 'OPTIONAL' },
      { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
      { name: 'element', type: 'DOUBLE', repetition_type: 'OPTIONAL' },
    ],
  });
  const dropped = async (bytes: Uint8Array) => {
    const { columns, dropped } = await openTable(bytes, LIMITS, true);
    return [columns.map(({ name }) => name), dropped];
  };
  assert.equal(await dropped(new Uint8Array(file)), [['ra', 'dec'], ['fluxes']]);
  assert.equal((await dropped(fixture('bytes.arrows')))[1], ['bytes']);
  // pyarrow 26 reads bytes, lists and structures from them.
  const views = await dropped(fixture('views.arrows'));
  assert.equal(views, [
    ['ra', 'dec', 'string_view'],
    ['binary_view', 'list', 'struct'],
  ]);
  assert.equal(await dropped(fixture('list_view.parquet')), [['ra'], ['x']]);
  const unread = await Promise.all(['list_view', 'run_end_encoded'].map(name => refusal(fixture(`${name}.arrows`))));
  assert.match(unread[0]!, /its column x has the Arrow type ListView/);
  assert.match(unread[1]!, /its column x has the Arrow type RunEndEncoded/);
  const refused = await dropped(fixture('repeated_name.parquet')).catch(error => error.message);
  assert.match(refused, 'it has two columns named id: rename one');
  // pyarrow 21: pq.write_table(..., use_deprecated_int96_timestamps=True), as Spark writes times.
  const spark = fixture('spark.parquet');
  assert.equal(await dropped(spark), [
    ['ra', 'dec', 'seen'],
    ['fluxes', 'pair', 'raw'],
  ]);
  assert.equal(await cellsOf(spark), [
    [1, 2],
    [3, 4],
    [Date.UTC(2026, 0, 31, 12, 0, 0, 500) * 1000 + 1, null],
  ]);
});

test('no integer is rounded, and no row is lost at the end of a line or of a table [Crossmatch of a table]', async () => {
  const text = (table: string) => cellsOf(new TextEncoder().encode(table));
  const wide = ['18446744073709551615', '1.5', '9223372036854775807', '007'];
  for (const [i, other] of wide.entries())
    assert.equal(await text(`id,ra\n${other},1\nNaN,2\n`), [i === 1 ? [1.5, Number.NaN] : [other, 'NaN'], [1n, 2n]]);
  assert.equal(await text('{"id": 9223372036854775807}\n{"id": 1.5}\n'), [['9223372036854775807', '1.5']]);
  assert.equal(await text('{"id": 9223372036854775807}\n{"id": 1}\n'), [[9223372036854775807n, 1n]]);
  // Polars and pandas write a fraction of zeros; an integer column would be divided as integers.
  assert.equal(await text('{"a": 7.0, "b": 1, "c": [1.0]}\n{"a": 8e0, "b": 2, "c": null}\n'), [
    [7, 8],
    [1n, 2n],
    ['[1]', null],
  ]);
  assert.equal(await text('ra,dec\r1,2\r3,4\r'), [
    [1n, 3n],
    [2n, 4n],
  ]);
  const comments = '# of a night\n\n# of two rows\n';
  assert.equal(await text(`${comments}ra,dec\n#1,2\n3,4\n`), [
    ['#1', '3'],
    [2n, 4n],
  ]);
  assert.equal(await text(votable('long', '0xFFFFFFFFFFFFFFFF')), [[-1n], [1]]);
  assert.equal(await text('<VOTABLE><TABLE><FIELD name="ra" datatype="int"/></TABLE></VOTABLE>'), [[]]);
});

test('decimals of every width, and dictionaries, of Arrow', async () => {
  assert.equal(await cellsOf(fixture('decimals.arrows')), [
    [10, 11],
    [-30.5, -0.01],
    ['9223372036854775808', null],
    [7n, null],
  ]);
  const numbers = [-1.25, 0.5, 12345.67, null];
  assert.equal(await cellsOf(fixture('decimal_widths.arrows')), [numbers, numbers, numbers, numbers]);
});

const corpus = (name: string) => readFileSync(new URL(`../fuzz/corpus/table/${name}`, import.meta.url));

/** Every cell, a list a column. */
async function cellsOf(bytes: Uint8Array): Promise<unknown[][]> {
  const table = await openTable(bytes, LIMITS, true);
  const columns: unknown[][] = table.columns.map(() => []);
  for await (const { cells } of table.blocks([...table.columns.keys()]))
    cells.forEach((ofColumn, i) => void columns[i]!.push(...Array.from(ofColumn)));
  return columns;
}

test('Arrow with LZ4 and ZSTD, and Parquet, have the same cells; times to the microsecond [Crossmatch of a table]', async () => {
  const plain = await cellsOf(corpus('plain.arrows'));
  assert.is(plain[5]![3], Date.UTC(2026, 0, 1, 0, 0, 3) * 1000 + 123_456);
  for (const name of ['lz4.arrows', 'zstd.arrows', 'none.parquet', 'zstd.parquet', 'nanoseconds.parquet'])
    assert.equal(await cellsOf(corpus(name)), plain, name);
  // pyarrow 26: 1767225603123456999 ns. As a double it would be the next microsecond.
  const times = [1_767_225_603_123_456, null];
  for (const name of ['nanoseconds_999.arrow', 'nanoseconds_999.parquet'])
    assert.equal((await cellsOf(fixture(name)))[2], times, name);
});

test('files of Arrow are read by their index; where it, or a message, is damaged so that the library would read without an end, they are refused', async () => {
  const names = Array.from({ length: 20 }, (_, i) => (i % 3 ? `n${i}` : null));
  for (const name of ['polars.arrow', 'polars-lz4.arrow', 'pyarrow.arrow'])
    assert.equal((await cellsOf(corpus(name)))[2], names, name);
  const dictionary = corpus('dictionary.arrow');
  assert.equal((await cellsOf(dictionary))[2], ['x', 'y']);
  // The index lists the dictionary, then the batch of rows: 24 bytes each, the offset first.
  const damaged = Buffer.from(dictionary);
  const messages = [...damaged.keys()].filter(
    at => at % 8 === 0 && at < damaged.length - 8 && damaged.readInt32LE(at) === -1,
  );
  const [first, second] = messages
    .slice(1, 3)
    .map(at => damaged.lastIndexOf(Buffer.from(BigUint64Array.of(BigInt(at)).buffer)));
  damaged.copy(damaged, second, first, first! + 8);
  assert.match(await refusal(damaged), /damaged Arrow: a message in it is not whole/);
  // The number of buffers that the texts of a view lie in.
  const endless = Buffer.from(corpus('polars-lz4.arrow'));
  endless[315] = 0xff;
  assert.match(await refusal(endless), /damaged Arrow: a message in it is not whole/);
});

test('a table that is too large when it is decompressed is not called damaged', async () => {
  const opened = openTable(fixture('zeros_zstd.arrows'), { ...LIMITS, maxRows: 1e7 }, true);
  const message = await opened.catch(error => error.message);
  assert.match(message, /more than 16777216 bytes when it is decompressed/);
});

test('a frame of LZ4: matches that overlap, blocks that refer to others, and what is damaged', () => {
  const frame = (...blocks: number[][]) =>
    Uint8Array.from([
      4,
      0x22,
      0x4d,
      0x18,
      0x40,
      0x40,
      0,
      ...blocks.flatMap(each => [each.length, 0, 0, 0, ...each]),
      0,
      0,
      0,
      0,
    ]);
  const text = (bytes: Uint8Array, most = 100) => Buffer.from(lz4Frame(bytes, most)).toString();
  assert.is(text(frame([0x20, 0x61, 0x62])), 'ab');
  assert.is(text(frame([0x24, 0x61, 0x62, 2, 0, 0x00])), 'abababababab'.slice(0, 10));
  assert.is(text(frame([0x20, 0x61, 0x62], [0x00, 2, 0, 0x10, 0x63])), 'abababc');
  assert.is(text(frame([0x1f, 0x61, 1, 0, 255, 1]), 400).length, 1 + 4 + 15 + 256);
  for (const damaged of [
    frame([0x20, 0x61]),
    frame([0x24, 0x61, 0x62, 3, 0, 0x00]),
    frame([0x24, 0x61, 0x62, 0, 0, 0x00]),
    frame([0xf0, 255, 255]),
    Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8]),
  ])
    assert.throws(
      () => text(damaged),
      (error: unknown) => error instanceof TableError,
    );
  assert.throws(() => text(frame([0x1f, 0x61, 1, 0, 255, 255, 1]), 200), /more than 200 bytes/);
});

test('columns of Parquet that an answer copies are decoded before', async () => {
  const whole = corpus('none.parquet');
  const groups = async (bytes: Uint8Array) => {
    const { stored } = await openTable(bytes, LIMITS, true);
    let rows = 0;
    for await (const group of stored!.groups()) rows += group.rows;
    return rows;
  };
  assert.is(await groups(whole), 20);
  // The page of names in the first row group, which is not needed for any position.
  const at = whole.indexOf('name 1');
  assert.ok(at > 0);
  const damaged = Buffer.from(whole);
  damaged.fill(0xff, at - 4, at);
  try {
    await groups(damaged);
  } catch (error) {
    assert.instance(error, TableError);
    assert.match((error as Error).message, /damaged/);
    return;
  }
  throw new Error('a damaged page is copied');
});

test('bytes that have changed: read, or refused with a reason', async () => {
  const random = seededRandom(5);
  const columns = ['ra', 'dec'].map(name => ({ name, type: 'float64' as const, description: '' }));
  const text = { name: 'name', type: 'text' as const, description: '' };
  const about = { program: 'test', json: '{}' };
  for (const { name } of TABLE_FORMATS) {
    const out = new ByteSink();
    const writer = (await tableFormat(name))(out, { name: 'x', description: 'x', columns: [...columns, text] }, about);
    for (let row = 0; row < 20; row++) writer.row([row, -row, row % 3 ? `n${row}` : null]);
    writer.end();
    const whole = out.bytes.slice(0, out.length);
    assert.is((await read(whole)).length, 20, name);
    for (let turn = 0; turn < 150; turn++) {
      const bytes = whole.slice(0, turn % 5 === 0 ? Math.floor(random() * whole.length) : whole.length);
      for (let change = 0; change < 3; change++)
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      await refusal(bytes);
    }
  }
});

test.run();
