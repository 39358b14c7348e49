/** Tables of text that are not CSV, as astropy, numpy, STILTS and the archives of IPAC write them. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cell, Column } from '@nearsky/astrotables';
import { findPositions, openTable, readPositions, tableFormat } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hasStilts, runBeside } from '../core/tables/clients.ts';
import { withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../python.ts';

const test = suite('astrotables/text');

const LIMITS = { maxRows: 1000, maxBytes: 2 ** 24 };
const SCRIPT = fileURLToPath(new URL('./make_text.py', import.meta.url));
const MODULES = 'astropy, numpy';
/** The rows of make_text.py. */
const ROWS: readonly (readonly Cell[])[] = [
  [10.5, -30.25, 2n ** 63n - 1n, 0.5, 'a b'],
  [350.25, 89.5, -(2n ** 53n) - 1n, null, 'it\'s "q"'],
  [0, -90, 0n, 3e300, null],
];

/** The same without a missing value and quotes, which the drawn tables of astropy do not keep. */
const DRAWN: readonly (readonly Cell[])[] = [
  [10.5, -30.25, 2n ** 63n - 1n, 0.5, 'a b'],
  [350.25, 89.5, -(2n ** 53n) - 1n, -2.5, "it's"],
  [0, -90, 0n, 3e300, 'x'],
];

async function read(bytes: Uint8Array | string, areTyped = true) {
  const table = await openTable(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, LIMITS, areTyped);
  const rows: Cell[][] = [];
  for await (const { rows: count, cells } of table.blocks([...table.columns.keys()]))
    for (let row = 0; row < count; row++) rows.push(cells.map(column => column[row]!));
  return { table, rows, units: table.columns.map(({ unit }) => unit) };
}

async function refusal(text: string | Uint8Array): Promise<string> {
  return read(text).then(
    () => 'read',
    error => error.message,
  );
}

needs(test, whyNoPython(MODULES))('IPAC tables and words of astropy, and the headers of numpy', () =>
  withDirectory(async directory => {
    await runPython(pythonWith(MODULES)!, [SCRIPT, directory]);
    for (const name of ['ipac', 'commented', 'basic'])
      assert.equal((await read(readFileSync(join(directory, `${name}.txt`)))).rows, ROWS, name);
    assert.equal((await read(readFileSync(join(directory, 'table.rdb')))).rows, ROWS);
    const { units } = await read(readFileSync(join(directory, 'ipac.txt')));
    assert.equal(units, ['deg', 'deg', undefined, undefined, undefined]);
    for (const name of ['numpy_blanks', 'numpy_commas']) {
      const { table, rows } = await read(readFileSync(join(directory, `${name}.dat`)));
      assert.equal([table.columns.map(({ name }) => name), rows], [['ra', 'dec'], ROWS.map(row => row.slice(0, 2))]);
    }
    const drawn = readdirSync(directory).filter(name => name.endsWith('.drawn'));
    assert.is(drawn.length, 6);
    for (const name of drawn) {
      const { rows, units } = await read(readFileSync(join(directory, name)));
      assert.equal(rows, DRAWN, name);
      assert.is(units[0], name === 'pprint.drawn' ? 'deg' : undefined);
    }
    const foreign = readdirSync(directory).filter(name => name.endsWith('.foreign'));
    assert.is(foreign.length, 4);
    for (const name of foreign)
      assert.match(await refusal(readFileSync(join(directory, name))), /^it is .*: convert it to ECSV/, name);
  }),
);

needs(test, hasStilts ? undefined : 'STILTS is not installed (Debian package stilts)')(
  'IPAC tables and words of STILTS; its TST is refused by name',
  () =>
    withDirectory(async directory => {
      const csv = ROWS.map(row => row.map(cell => `"${`${cell ?? ''}`.replaceAll('"', '""')}"`).join());
      writeFileSync(join(directory, 'in.csv'), ['ra,dec,id,mag,name', ...csv, ''].join('\n'));
      const written = async (format: string) => {
        const out = join(directory, `out.${format}`);
        const args = ['tcopy', `in=${directory}/in.csv`, 'ifmt=csv', `out=${out}`, `ofmt=${format}`];
        const { status, errors } = await runBeside('stilts', args);
        assert.is(status, 0, errors);
        return readFileSync(out);
      };
      for (const format of ['ascii', 'ipac']) assert.equal((await read(await written(format))).rows, ROWS, format);
      assert.match(await refusal(await written('tst')), /it is a Tab-Separated Table \(TST\): convert it to CSV/);
    }),
);

// The example of IRSA's description of the format, with what archives do beside it.
const IRSA = String.raw`\catalog = sao
\EQUINOX = 'B1950.0'
\ This is an example of a valid comment
|-----ra---|----dec---|--sao--|---v----|----sptype---|-unit-|
|   real   |   double |   i   |   d    |     char    | cha  |
|   deg    |   deg    |       |  mag   |             |  -   |
|   null   |   null   |  -99  |   9.9  |     n/a     | null |
  2.09708   29.09056     73765   2.06     B8IVpMnHg    1-2
  2          29.1          -99   9.9      null         null
  1234567890  -90          0     null     n/a        beyond the bar

`;

test('IPAC tables of archives: shortened types, dashes, units, nulls, the equinox [Crossmatch of a table]', async () => {
  const { table, rows, units } = await read(IRSA);
  assert.equal(
    table.columns.map(({ name, type }) => `${name} ${type}`),
    ['ra float64', 'dec float64', 'sao int64', 'v float64', 'sptype text', 'unit text'],
  );
  assert.equal(units, ['deg', 'deg', undefined, 'mag', undefined, '-']);
  assert.equal(rows, [
    [2.09708, 29.09056, 73765n, 2.06, 'B8IVpMnHg', '1-2'],
    [2, 29.1, null, null, 'null', null],
    [1234567890, -90, 0n, null, null, 'beyond the bar'],
  ]);
  const columns = findPositions(table, {});
  assert.equal([columns.frame, columns.frameSource], [{ system: 'FK4', equinox: 1950 }, 'declaration']);
  const { ra } = await readPositions(table, columns);
  // astropy 8: SkyCoord(2.09708, 29.09056, unit="deg", frame=FK4(equinox="B1950")).icrs.ra.deg
  assert.ok(Math.abs(ra[0]! - 2.7443364159822687) < 1e-6, `${ra[0]}`);
  assert.equal((await read(IRSA, false)).rows[0], ['2.09708', '29.09056', '73765', '2.06', 'B8IVpMnHg', '1-2']);
});

test('a word under a bar is whole, and belongs to the column with its other characters', async () => {
  const head = '|ra   |dec  |n|\n';
  assert.equal((await read(`${head}1.2345 6.789 a\n 1.2345 6.78 b\n`)).rows, [
    [1.2345, 6.789, 'a'],
    [1.2345, 6.78, 'b'],
  ]);
  assert.match(await refusal(`${head} 1.23456.78 b\n`), /its row 1 has 1.23456.78 b under a bar of the header/);
});

test('cells that are not of the declared type keep what they say', async () => {
  const { table, rows } = await read(
    '|ra |dec|n   |m   |\n|int|d  |int |int |\n 1   2   1.5  n/a \n 3   4   2    007\n',
  );
  assert.equal(
    table.columns.map(({ type }) => type),
    ['int64', 'float64', 'float64', 'text'],
  );
  assert.equal(rows, [
    [1n, 2, 1.5, 'n/a'],
    [3n, 4, 2, '007'],
  ]);
});

test('CSV stays CSV: comments of other words, one column of several words', async () => {
  const namesOf = async (text: string) => (await read(text)).table.columns.map(({ name }) => name);
  assert.equal(await namesOf('# made, today\nra,dec\n1,2\n'), ['ra', 'dec']);
  assert.equal(await namesOf('# by me\nra dec\n1 2\n'), ['ra', 'dec']);
  assert.equal(await namesOf('#ra;dec\r\n\r\n1;2\r\n'), ['ra', 'dec']);
  assert.equal(await namesOf('# ra dec\r12:30:49 +12:23:28\r'), ['ra', 'dec']);
  assert.equal(await namesOf('the position\n12 30 49 +12 23 28\n'), ['the position']);
  assert.equal((await read('ra dec\n1 2\n# the end\n\n')).rows, [[1n, 2n]]);
  assert.equal((await read('ra dec n\n1 2 "a ""b"" \\"c\\" \\x"\n')).rows, [[1n, 2n, 'a "b" "c" \\x']]);
});

test('drawn tables: Markdown, org, psql, MySQL; missing values, and bars in cells [Crossmatch of a table]', async () => {
  const expected = [
    [1n, 2.5, 'a b'],
    [2n, null, 'x|y'],
  ];
  for (const text of [
    '| id | ra | name |\n|---:|:--:|------|\n| 1 | 2.5 | a b |\n| 2 | | x\\|y |\n',
    'id | ra | name\n--- | --- | ---\n1 | 2.5 | a b\n2 | | x\\|y\n',
    '| id | ra | name |\n|-|-|-|\n| 1 | 2.5 | a b |\n| 2 | | x\\|y |\n',
    '| id |  ra | name |\n|----+-----+------|\n|  1 | 2.5 | a b  |\n|  2 |     | x|y  |\n',
    ' id | ra  | name \n----+-----+------\n  1 | 2.5 | a b\n  2 |     | x|y\n(2 rows)\n\n',
    '+----+------+------+\n| id | ra   | name |\n+----+------+------+\n|  1 |  2.5 | a b  |\n|  2 | NULL | x|y  |\n+----+------+------+\n',
    '| id |  ra | name |\r\n|  1 | 2.5 |  a b |\r\n|  2 |     |  x|y |\r\n',
    'id\tra\tname\n---\t---\t---\n1\t2.5\ta b\n2\t\tx|y\n#END#\n',
    'id |  ra | name\n 1 | 2.5 |  a b\n 2 |     |  x|y\n',
  ]) {
    const { table, rows } = await read(text);
    assert.equal([table.columns.map(({ name }) => name), rows], [['id', 'ra', 'name'], expected], text);
  }
  assert.equal((await read('id   ra\n--  ---\n 1 10.5\n', false)).rows, [['1', '10.5']]);
  assert.match(
    await refusal(' id  ra\n--- ---\n  1 2.5\n... ...\n  9 9.5\n'),
    /its row 2 stands for rows that were left out/,
  );
  assert.match(await refusal('| id | ra |\n|---|---|\n| 1 |\n'), /its row 1, \| 1 \|, does not fit the 2 columns/);
});

test('the list of the TNS is read; an archive of it, and files of other kinds, say what they are', async () => {
  const { table, rows } = await read(
    '"2026-11-27 00:00:00 - 23:59:59"\n"objid","name","ra","declination"\n"7","2026abc","10.5","-30.25"\n',
  );
  assert.equal(
    table.columns.map(({ name }) => name),
    ['objid', 'name', 'ra', 'declination'],
  );
  assert.equal(rows, [[7n, '2026abc', 10.5, -30.25]]);
  for (const [begin, message] of [
    ['PK\x03\x04', /it is a ZIP archive: unpack it/],
    ['\x89HDF\r\n', /it is HDF5/],
    ['<!DOCTYPE html>\n<html>', /it is HTML/],
    ['#   1 NUMBER   Running object number\n#   2 X_WORLD   [deg]\n 1 2\n', /SExtractor/],
  ] as const)
    assert.match(await refusal(Buffer.from(begin, 'latin1')), message);
});

needs(test, whyNoPython(MODULES))('astropy reads the ECSV that is written', async () => {
  const out = new ByteSink();
  const columns: Column[] = [
    { name: 'id', type: 'int64', description: 'a: "b" # c' },
    { name: 'ra', type: 'float64', unit: 'deg', ucd: 'pos.eq.ra', description: '' },
    { name: 'f', type: 'float32', unit: 'mas.yr**-1', description: 'é' },
    { name: 'ok', type: 'boolean', description: '' },
    { name: 't, x', type: 'text', description: '' },
    { name: 'at', type: 'time', description: '' },
  ];
  const table = { name: 'n', description: 'd', columns };
  const writer = (await tableFormat('ecsv'))(out, table, { program: 'p', json: '{"n":12345678901234567890}' });
  writer.row([2n ** 63n - 1n, 1.5, 0.1, true, 'a "b", c', 1e15]);
  writer.block([[null], [Number.NaN], [null], [false], [null], [null]]);
  writer.end();
  const bytes = out.take();
  await withDirectory(async directory => {
    writeFileSync(join(directory, 'x.ecsv'), bytes);
    const script = `import sys; from astropy.table import Table; t = Table.read(sys.argv[1])
print(*[c.dtype for c in t.itercols()], t['ra'].unit, t['f'].unit, t['id'].description, t['f'].description, t['ra'].meta['ucd'], t.meta['p']['n'], *[repr(r) for r in t.as_array().tolist()], sep='|')`;
    writeFileSync(join(directory, 'read.py'), script);
    const text = await runPython(pythonWith(MODULES)!, [join(directory, 'read.py'), join(directory, 'x.ecsv')]);
    const [id, ra, f, ok, , , ...others] = `${text}`.trim().split('|');
    assert.equal([id, ra, f, ok], ['int64', 'float64', 'float32', 'bool']);
    const expected = ['deg', 'mas / yr', 'a: "b" # c', 'é', 'pos.eq.ra', '12345678901234567890'];
    assert.equal(others.slice(0, 6), expected);
    assert.match(others[6]!, /^\(9223372036854775807, 1\.5, 0\.1\d*, True, 'a "b", c', '2001-09-09T01:46:40Z'\)$/);
    assert.match(others[7]!, /^\(None, None, None, False, None, None\)$/);
  });
  const { rows } = await read(bytes);
  assert.equal(rows[0], [2n ** 63n - 1n, 1.5, Math.fround(0.1), true, 'a "b", c', '2001-09-09T01:46:40Z']);
});

test("numpy's names of types in ECSV, as astropy reads them", async () => {
  const head = (types: string) =>
    `# %ECSV 1.0\n# ---\n# datatype:\n${types
      .split(' ')
      .map((type, i) => `# - {name: c${i}, datatype: "${type}"}\n`)
      .join('')}`;
  const types = 'int float str bool object double <f8 i4 U5 single long complex';
  const { table, rows } = await read(
    `${head(types)}${types
      .split(' ')
      .map((_, i) => `c${i}`)
      .join(' ')}\n1 2 a True None 3 4 5 x 0.5 6 1+2j\n`,
  );
  assert.equal(
    table.columns.map(({ type }) => type),
    'int64 float64 text boolean text float64 float64 int32 text float32 int64 text'.split(' '),
  );
  assert.equal(rows, [[1n, 2, 'a', true, 'None', 3, 4, 5, 'x', 0.5, 6n, '1+2j']]);
});

test('a row of letters is a row, unless numbers follow an N', async () =>
  assert.equal((await read('hemisphere\tclass\nN\tM\nS\tS\n')).rows, [
    ['N', 'M'],
    ['S', 'S'],
  ]));

test('what spreadsheets and archives write [Crossmatch of a table]', async () => {
  const utf16 = Buffer.from('\ufeffra\tdec\tnote\r\n10\t20\tcafé\r\n', 'utf16le');
  for (const [sent, names, row] of [
    ['sep=;\r\nra;dec\r\n10;20\r\n', ['ra', 'dec'], [10n, 20n]],
    ['"Name,\nas published";ra;dec\nx;10;20\n', ['Name,\nas published', 'ra', 'dec'], ['x', 10n, 20n]],
    [utf16, ['ra', 'dec', 'note'], [10n, 20n, 'café']],
    [Buffer.from(utf16).swap16(), ['ra', 'dec', 'note'], [10n, 20n, 'café']],
    [Buffer.from('ra (°),note\n10,café 5 µm\n', 'latin1'), ['ra (°)', 'note'], [10n, 'café 5 µm']],
    [Buffer.from('ra,cost\n10,5 \x80\n', 'latin1'), ['ra', 'cost'], [10n, '5 €']],
    ['a;b\nx;y\n--;--\n', ['a', 'b'], ['x', 'y']],
    ['a;b\n1;y\n---;---\n', ['a', 'b'], ['1', 'y']],
    ['# flux\n1.5\n2.5\n', ['flux'], [1.5]],
    ['# flux  \n  1.5   \n 22.5   \n', ['flux'], [1.5]],
    ['ra, dec, n\n10.5, -20, 3 \n', ['ra', 'dec', 'n'], [10.5, -20n, 3n]],
    ['n,m\n1,2\n ,3\n', ['n', 'm'], ['1', 2n]],
  ] as const) {
    const { table, rows } = await read(sent);
    assert.equal(
      table.columns.map(({ name }) => name),
      names,
    );
    assert.equal(rows[0], row);
  }
  const { table, rows, units } = await read(
    '#Table I/1\n#Column\tra\n\nRAJ2000\te_RA\tDEJ2000\tName\n"h:m:s"\tmas\tdeg\t\n-------\t-\t---\t----\n10 30 00\t3\t20\tx\n\n#END#\n',
  );
  assert.equal([units, rows], [['h:m:s', 'mas', 'deg', undefined], [['10 30 00', 3n, 20n, 'x']]]);
  assert.is((await readPositions(table, findPositions(table, {}))).ra[0], 157.5);
  // UTF-8 with a damaged character, and bytes that are no text.
  for (const damaged of ['ra,note\n10,cafÃ© 5 Âµm \xe9\n', 'ra,note\n10,\xe9\0\n'])
    assert.match(await refusal(Buffer.from(damaged, 'latin1')), /it is neither text in UTF-8/);
});

test('text that is no table is refused: messages, prose, JSON documents [Crossmatch of a table]', async () => {
  for (const [text, message] of [
    ['Forbidden', 'it has only one line, Forbidden: send a header and rows'],
    ['404 Not Found\n', 'it has only one line, 404 Not Found: send a header and rows'],
    ['The table is gone', 'it has only one line, The table is gone: send a header and rows'],
    ['Sorry, that table is gone', 'it has only one line, Sorry, that table is gone: send a header and rows'],
    [
      'The table moved.\nAsk us for its new address.\n',
      'its first line has 3 words without a delimiter, but its second line has 6: put a column name with blanks into quotes',
    ],
    ['Not here, alas\nWrite to us\n', 'its row 1 has 1 fields, but its header has 2'],
    ['{"ra":[1,2],"dec":[3,4]}', 'it is one JSON document of lists or objects: send one object per line (NDJSON)'],
    ['{"error":{"code":404}}\n', 'it is one JSON document of lists or objects: send one object per line (NDJSON)'],
    ['{\n  "ra": 1\n}\n', 'its line 1 is not JSON in UTF-8'],
  ] as const)
    assert.is(await refusal(text), message);
  for (const table of ['ra,dec\n', '"object name"\nM 31\nM 32\n', 'name\nM 31\n', '{"id":1,"flux":[1,2]}\n'])
    assert.is(await refusal(table), 'read', table);
});

test.run();
