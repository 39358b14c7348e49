import { openTable } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cellsOf, documentOf } from './read_cells.ts';

const test = suite('astrotables/read_votable');

test('empty tables before the first table with rows are passed over', async () => {
  const table = (name: string, data: string) =>
    `<TABLE><FIELD name="${name}" datatype="int"/>${data && `<DATA>${data}</DATA>`}</TABLE>`;
  const stream = (bytes: string) => `<BINARY2><STREAM encoding="base64">${bytes}</STREAM></BINARY2>`;
  const rows = '<TABLEDATA><TR><TD>7</TD></TR></TABLEDATA>';
  const read = async (...tables: readonly string[]) => {
    const bytes = Buffer.from(`<VOTABLE version="1.4"><RESOURCE>${tables.join('')}</RESOURCE></VOTABLE>`);
    const { columns } = await openTable(bytes, { maxRows: 100, maxBytes: 1e6 }, true);
    return [columns.map(({ name }) => name), await cellsOf(bytes)];
  };
  const emptyTag = '<BINARY><STREAM encoding="base64"/></BINARY>';
  for (const none of ['', '<TABLEDATA/>', '<TABLEDATA>\n</TABLEDATA>', stream(''), stream('\n'), emptyTag]) {
    assert.equal(await read(table('a', none), table('b', rows)), [['b'], [[7]]], none);
    assert.equal(await read(table('a', none), table('b', none)), [['a'], [[]]], none);
  }
  assert.equal(await read(table('a', stream('AAAAAAc=')), table('b', rows)), [['a'], [[7]]]);
});

test('a number that stands for null is compared as a number', async () => {
  const field = (type: string, blank: string) => `<FIELD name="x" datatype="${type}"><VALUES null="${blank}"/></FIELD>`;
  const cells = (texts: readonly string[]) =>
    `<TABLEDATA>${texts.map(text => `<TR><TD>${text}</TD></TR>`).join('')}</TABLEDATA>`;
  assert.equal(await cellsOf(documentOf(field('double', '-999.0'), cells(['-999', '-999.00', '1']))), [
    [null, null, 1],
  ]);
  assert.equal(await cellsOf(documentOf(field('int', '0xFF'), cells(['255', '1']))), [[null, 1]]);
  assert.equal(await cellsOf(documentOf(field('int', 'none'), cells(['none', '1']))), [[null, 1]]);
  const numbers = Buffer.alloc(16);
  numbers.writeDoubleBE(99, 0);
  numbers.writeDoubleBE(1, 8);
  const stream = `<BINARY><STREAM encoding="base64">${numbers.toString('base64')}</STREAM></BINARY>`;
  assert.equal(await cellsOf(documentOf(field('double', '99.0'), stream)), [[null, 1]]);
});

test('the rows before an error of the service that wrote them are not all of its rows', async () => {
  const whole = documentOf('<FIELD name="x" datatype="int"/>', '<TABLEDATA><TR><TD>1</TD></TR></TABLEDATA>').toString();
  const ended = (info: string) => Buffer.from(whole.replace('</RESOURCE>', `${info}</RESOURCE>`));
  assert.equal(await cellsOf(ended('<INFO name="QUERY_STATUS" value="OVERFLOW"/>')), [[1]]);
  const failed = ended('<INFO name="QUERY_STATUS" value="ERROR">out of &quot;time&quot;</INFO>');
  const refused = await cellsOf(failed).catch(error => error.message);
  assert.match(refused, 'incomplete answer of a service, which ended with an error (out of "time")');
});

// The expected values of the next four tests are those of astropy 8.0.2.

const row = (...cells: readonly (string | number)[]) => `<TR>${cells.map(cell => `<TD>${cell}</TD>`).join('')}</TR>`;
const tabledata = (...rows: readonly string[]) => `<TABLEDATA>${rows.join('')}</TABLEDATA>`;

test('VALUES may refer to those of another element', async () => {
  const rows = tabledata(row(-9), row(3));
  const field = (values: string) => `<FIELD name="n" datatype="int">${values}</FIELD>`;
  const referring = field('<VALUES ref="v"/>');
  const declaring = '<VALUES ID="v" null="-9"/>';
  for (const fields of [
    field('<VALUES type="legal"><MIN value="1"/></VALUES><VALUES null="-9"/>'),
    `<PARAM name="p" datatype="int" value="1">${declaring}</PARAM>${referring}`,
  ])
    assert.equal(await cellsOf(documentOf(fields, rows)), [[null, 3]], fields);
  const two = documentOf(field(declaring) + referring, tabledata(row(-9, -9), row(3, 4)));
  assert.equal(await cellsOf(two), [
    [null, 3],
    [null, 4],
  ]);
});

test('the text of an attribute within another value is not an attribute', async () => {
  const fields = `<FIELD utype="x name='wrong' ID='z' y" ucd="a unit=&quot;m&quot; unit='s'" name = "ra" datatype='int'>
    <VALUES ID="x null='4'" null="7"/></FIELD>`;
  const bytes = documentOf(fields, tabledata(row(4), row(7)));
  const { columns } = await openTable(bytes, { maxRows: 100, maxBytes: 1e6 }, true);
  assert.equal([columns[0]!.name, columns[0]!.unit], ['ra', undefined]);
  assert.equal(await cellsOf(bytes), [[4, null]]);
});

test('tags, comments and CDATA within a cell or a description', async () => {
  const fields = `<FIELD name="t" datatype="char" arraysize="*"><DESCRIPTION><![CDATA[a < b]]> &lt;<!-- no --> c</DESCRIPTION></FIELD>`;
  const cell = 'a<![CDATA[</TD><b>&amp;</b>]]>&amp;<!-- </TD> -->c';
  const bytes = documentOf(fields, tabledata(row(cell), row('<![CDATA[x]]>')));
  assert.equal(await cellsOf(bytes), [['a</TD><b>&amp;</b>&c', 'x']]);
  const { columns } = await openTable(bytes, { maxRows: 100, maxBytes: 1e6 }, true);
  assert.is(columns[0]!.description, 'a < b < c');
});

test('a TABLE with the fields of another one, and a document in UTF-16', async () => {
  const fields = '<FIELD name="t" datatype="unicodeChar" arraysize="*"/>';
  const data = (rows: string) => `<DATA>${tabledata(rows)}</DATA>`;
  const tables = `<TABLE ID="a">${fields}${data('')}</TABLE><TABLE ref="a">${data(row('é'))}</TABLE>`;
  const text = `<?xml version="1.0" encoding="UTF-16"?><VOTABLE version="1.4"><RESOURCE>${tables}</RESOURCE></VOTABLE>`;
  assert.equal(await cellsOf(Buffer.from(`\ufeff${text}`, 'utf16le')), [['é']]);
});

test.run();
