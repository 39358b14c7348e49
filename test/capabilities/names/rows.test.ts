import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseTimeLine, RegistryError } from '../../../src/capabilities/names/registry_file.ts';
import { type BadRow, readPublicObjects } from '../../../src/capabilities/names/rows.ts';
import type { TnsRecord } from '../../../src/core/store/types.ts';
import { anyText } from '../../any_text.ts';
import { failure } from '../../core/store/support.ts';
import { root, sample } from '../../directory.ts';
import { COLUMNS_21, COLUMNS_23, csvOf, someRecords } from './support.ts';

const test = suite('tns/rows');

async function read(text: string, pieceBytes = 1 << 16) {
  const bytes = Buffer.from(text);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
  }
  const { span, batches } = await readPublicObjects(pieces(), 'the file');
  const records: TnsRecord[] = [];
  const bad: BadRow[] = [];
  const notes: Record<string, number> = {};
  for await (const batch of batches) {
    records.push(...batch.records.map(({ record }) => record));
    bad.push(...batch.bad);
    for (const [what, times] of Object.entries(batch.notes)) notes[what] = (notes[what] ?? 0) + times;
  }
  return { span, records, bad, notes };
}

test('23 columns, the older 21, other orders, with and without a time line', async () => {
  const expected = someRecords(30);
  for (const columns of [COLUMNS_23, COLUMNS_21, [...COLUMNS_23].reverse()]) {
    for (const timeLine of ['2026-02-10 00:00:00', undefined]) {
      const { span, records, bad } = await read(csvOf(timeLine, expected, columns));
      assert.equal([records, bad], [expected, []]);
      assert.is(span?.startUs, timeLine && Date.UTC(2026, 1, 10) * 1000);
    }
  }
  const { records } = await read(`\uFEFF${csvOf('2026-02-10 00:00:00', expected).replaceAll('\n', '\r\n')}`);
  assert.equal(records.length, 30);
});

test('the time of creation is kept; one that is no time is dropped and counted', async () => {
  const [first, second] = someRecords(2);
  const created = { ...first!, createdUs: Date.UTC(2026, 1, 9, 3, 4, 5) * 1000 };
  const csv = csvOf('2026-02-10 00:00:00', [created, { ...second!, createdUs: Date.UTC(2026, 1, 9) * 1000 }]);
  const { records, notes } = await read(csv.replace('2026-02-09 00:00:00', 'yesterday'));
  assert.equal(records, [created, second]);
  assert.equal(notes, { 'creationdate is not a time, dropped': 1 });
});

test('cut into pieces of any size it reads the same', async () => {
  const expected = someRecords(40);
  const text = csvOf('2026-02-10 00:00:00', expected);
  for (const pieceBytes of [1, 2, 3, 7, 100]) assert.equal((await read(text, pieceBytes)).records, expected);
});

test('rows that are no objects are rejected, each with its line and reason; the rest is read', async () => {
  const header = '"objid","name_prefix","name","ra","declination","type","redshift"';
  const good = '"7","SN","2026abc","10.5","-20.25","SN Ia","0.1"';
  const rows = [
    good,
    '"x","","2026a","1","2","",""',
    '"","","2026a","1","2","",""',
    '"8","","","1","2","",""',
    `"8","","${'a'.repeat(65)}","1","2","",""`,
    '"8","","2026a","","2","",""',
    '"8","","2026a","360.5","2","",""',
    '"8","","2026a","10:30:00","2","",""',
    '"8","","2026a","1","-90.1","",""',
    '"8","","2026a","1","NaN","",""',
    '"8","","2026a","1"',
    '"9","","SN 2026xyz"," 0 ","90","","abc"',
    '"10","","2026","1","2","a ""quoted"" type",""',
    '"11","","20"26q","1","2","",""',
    good.replace('7', '12'),
    '"13","","at2026xyz","1","2","",""',
    '"14",""," Sn  2026 xza ","1","2","",""',
  ];
  const { records, bad } = await read(['"2026-02-10 00:00:00"', header, ...rows].join('\n'));
  assert.equal(
    records.map(({ objid, name, namePrefix, ra, dec, classification, redshift }) => {
      return [objid, name, namePrefix, ra, dec, classification, redshift];
    }),
    [
      [7, '2026abc', 'SN', 10.5, -20.25, 'SN Ia', 0.1],
      [9, '2026xyz', 'SN', 0, 90, null, null],
      [10, '2026', null, 1, 2, 'a "quoted" type', null],
      [12, '2026abc', 'SN', 10.5, -20.25, 'SN Ia', 0.1],
      [13, '2026xyz', 'AT', 1, 2, null, null],
      [14, '2026xza', 'SN', 1, 2, null, null],
    ],
  );
  const reasons = [
    'objid',
    'objid',
    'name',
    'name',
    'ra',
    'ra',
    'ra',
    'declination',
    'declination',
    'the row does not have 7 cells like the header',
    'name',
  ];
  assert.is(bad.length, reasons.length);
  for (const [i, reason] of reasons.entries()) {
    assert.is(bad[i]!.line, i < 10 ? 4 + i : 16);
    assert.ok(bad[i]!.reason.startsWith(reason), bad[i]!.reason);
  }
});

test('a stray quote costs its own row alone, not the rows that it joins', async () => {
  const header = 'objid,name,ra,declination,reporters';
  for (const [stray, next] of [
    ['"1","2026a","1","1","Joe ""', '"2","2026b","2","2","x"'],
    ['"1","2026a","1","1","Joe \\""', '"2","2026b","2","2","x"'],
    ['1,2026a,1,1,"Joe', '2,2026b,2,2,x'],
  ]) {
    const lines = [header, stray, next, '"3","2026c","3","3","y, ""z"""', '"4","2026d","4","4","two\nlines"'];
    for (const ending of ['\n', '\r\n']) {
      const { records, bad } = await read(`${lines.join(ending)}${ending}`);
      assert.equal([records.map(({ objid }) => objid), bad.map(({ line }) => line)], [[2, 3, 4], [2]]);
    }
  }
});

test('what cannot be used of a row that is read, and empty lines, are counted', async () => {
  const long = 'a'.repeat(257);
  const row = (objid: number, prefix: string, type: string, redshift: string) =>
    `"${objid}","${prefix}","2026a${objid}","1","2","${type}","${redshift}"`;
  const rows = [row(1, 'SN', 'SN Ia', '0.1'), '', row(2, long, long, 'unknown'), row(3, '', long, ''), '', ''];
  const many = Array.from({ length: 2000 }, (_, i) => row(10 + i, '', '', '?'));
  const header = '"objid","name_prefix","name","ra","declination","type","redshift"';
  const { records, bad, notes } = await read(
    ['', '"2026-02-10 00:00:00"', header, ...rows, ...many, '', ''].join('\n'),
  );
  assert.equal([records.length, bad], [2003, []]);
  assert.equal([records[1]!.redshift, records[1]!.classification!.length], [null, 256]);
  assert.equal(notes, {
    'redshift is not a number, dropped': 2001,
    'name_prefix cut to 256 characters': 1,
    'type cut to 256 characters': 2,
    'empty line': 4,
  });
});

test('a file of changes in which nothing has changed is its time line alone', async () => {
  const { span, records, bad } = await read('"2026-02-10 05:00 - 05:59"\n');
  assert.equal([records, bad], [[], []]);
  assert.equal(span, { startUs: Date.UTC(2026, 1, 10, 5) * 1000, endUs: Date.UTC(2026, 1, 10, 6) * 1000 });
});

test('what is no such file is refused, and one that is cut off', async () => {
  const whole = csvOf('2026-02-10 00:00:00', someRecords(3));
  const cases: [string, RegExp][] = [
    ['', /it is empty/],
    ['<html><body>Forbidden</body></html>', /it has no column objid, name, ra, declination/],
    ['"2026-02-10 00:00:00"\n"objid","name","ra"\n', /it has no column declination/],
    [whole.slice(0, whole.lastIndexOf('A. One') + 10), /ends within a quoted string/],
    [`"objid","name","ra","declination"\n"${'x'.repeat(2 ** 20 + 10)}"`, /Max Record Size/],
  ];
  for (const [text, reason] of cases) {
    const error = await failure(() => read(text));
    assert.instance(error, RegistryError);
    assert.match(error.message, reason);
  }
});

test('any names and classifications come through', async () => {
  const text = anyText({ minLength: 1, maxLength: 20 }).map(value =>
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a name has none
    value.replace(/["\0-\x1f\x7f]/g, 'c').trim(),
  );
  const record = fc.record(
    {
      objid: fc.nat(),
      name: text.filter(value => value.length > 0 && !/^[A-Z]{0,3}\d{4}/i.test(value.replace(/\s/g, ''))),
      namePrefix: fc.option(fc.constantFrom('SN', 'AT', 'TDE', 'FRB')),
      ra: fc.double({ min: 0, max: 360, noNaN: true }),
      dec: fc.double({ min: -90, max: 90, noNaN: true }),
      classification: fc.option(text.filter(value => value.length > 0)),
      redshift: fc.option(fc.double({ min: -1, max: 20, noNaN: true })),
    },
    { noNullPrototype: true },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(record, { maxLength: 5 }), async expected => {
      const { records, bad } = await read(csvOf('2026-02-10 00:00:00', expected));
      assert.equal([records, bad], [expected, []]);
    }),
    { numRuns: 200 },
  );
});

test('time lines', () => {
  const at = (...parts: [number, number, number, number?, number?, number?]) => Date.UTC(...parts) * 1000;
  const cases: [string, number | undefined, number | undefined][] = [
    ['2026-02-10 00:00:00', at(2026, 1, 10), undefined],
    ['2026-02-10 00:00', at(2026, 1, 10), undefined],
    ['2026-02-10 05:00 - 05:59', at(2026, 1, 10, 5), at(2026, 1, 10, 6)],
    ['2026-02-10 05:00:00 - 05:59:59', at(2026, 1, 10, 5), at(2026, 1, 10, 6)],
    ['2026-02-10 05:00:00 - 06:00:00', at(2026, 1, 10, 5), at(2026, 1, 10, 6)],
    ['2026-02-10 23:00 - 23:59', at(2026, 1, 10, 23), at(2026, 1, 11)],
    ['2026-02-10 23:00:00 - 2026-02-11 00:00:00', at(2026, 1, 10, 23), at(2026, 1, 11)],
    ['2026-02-10 05:00 - 04:59', undefined, undefined],
    ['2026-02-30 05:00', undefined, undefined],
    ['2026-02-10', undefined, undefined],
    ['objid', undefined, undefined],
  ];
  for (const [text, startUs, endUs] of cases) {
    assert.equal(parseTimeLine(text), startUs === undefined ? undefined : { startUs, endUs }, text);
  }
});

test('the rows of the sample; real ones too where they are at hand, as they may not be passed on', async () => {
  const made = await read(readFileSync(join(sample, 'tns/tns_public_objects.csv'), 'utf8'));
  assert.equal([made.records.length, made.bad, made.notes], [5, [], {}]);
  for (const [file, rows] of [
    ['tns_public_objects.3rows.csv', 3],
    ['tns_public_objects.assembled.csv', 1336],
  ] as const) {
    const path = join(root, '../shared/data/tns', file);
    if (!existsSync(path)) continue;
    const { span, records, bad, notes } = await read(readFileSync(path, 'utf8'));
    assert.equal([bad, span?.startUs, records.length, notes], [[], Date.UTC(2026, 1, 10) * 1000, rows, {}]);
  }
});

test.run();
