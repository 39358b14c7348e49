/** Query strings, numbers, times and cursors, by themselves. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  AREA_CURSOR,
  type CursorSchema,
  coneCursor,
  encodeCursor,
  OBJECTS_CURSOR,
  RECENT_CURSOR,
} from '../../../src/core/answers/cursor.ts';
import { parseInstant, parseTime } from '../../../src/core/base/parse_time.ts';
import { formatTime } from '../../../src/core/base/times.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { number } from '../../../src/core/contract/kind.ts';
import { ANY_NUMBER, OBJECT_ID } from '../../../src/core/documents/kinds.ts';
import { pageSize } from '../../../src/core/documents/parameters.ts';
import { readCursor } from '../../../src/core/http/cursor.ts';
import { ApiError } from '../../../src/core/http/errors.ts';
import { decodeSegment, parameterOf, parseSearch } from '../../../src/core/http/params.ts';
import { readerOf } from '../../../src/core/http/read_parameters.ts';
import { seededRandom } from '../../oracle/skies.ts';

const test = suite('http/values');

const idOf = (text: string) => parameterOf(OBJECT_ID, 'diaObjectId', text);

/** The parameter that an error names. */
function paramOf(action: () => unknown): string | undefined {
  try {
    action();
  } catch (error) {
    if (error instanceof ApiError && error.code === 'invalid_parameter') return error.details.param;
    throw error;
  }
  return undefined;
}

test('the query string: the last value wins, empty is a value, names are exact', () => {
  assert.equal(
    [...parseSearch('a=1&b=2&a=3')],
    [
      ['a', '3'],
      ['b', '2'],
    ],
  );
  assert.equal([...parseSearch('a=1&a=')], [['a', '']]);
  assert.equal(
    [...parseSearch('a&&=5&B=1')],
    [
      ['a', ''],
      ['B', '1'],
    ],
  );
  assert.equal(
    [...parseSearch('a=x%20y+z%2B&%62=1=2')],
    [
      ['a', 'x y z+'],
      ['b', '1=2'],
    ],
  );
  assert.equal([...parseSearch('a=%zz%E0%A4')].length, 1, 'bad escapes do not throw');
  assert.equal([...parseSearch('')], []);
});

test('texts of forms are decoded as the standard of URLs says', () => {
  const parts = [
    'a',
    '%',
    '%4',
    '%41',
    '%c3',
    '%a9',
    '%C3%A9',
    '+',
    '%ef%bb%bf',
    '%00',
    '%zz',
    '%0',
    '=',
    '%F0%9F%98%80',
  ];
  const random = seededRandom(1);
  for (let i = 0; i < 20_000; i++) {
    const text = Array.from({ length: 8 }, () => parts[Math.floor(random() * parts.length)]).join('');
    assert.is(parseSearch(`q=${text}`).get('q'), new URLSearchParams(`q=${text}`).get('q')!, text);
  }
  // Node's own decoder damages letters beyond ASCII beside an invalid escape.
  assert.is(parseSearch('q=é+%a9%C3%A9').get('q'), 'é \ufffdé');
});

test('a path segment: decoded once, plus is plus, an encoded slash is no segment', () => {
  assert.is(decodeSegment('1+2%20%2525'), '1+2 %25');
  assert.is(decodeSegment('%31&x=2'), '1&x=2');
  assert.is(decodeSegment('a&%2Fb'), undefined);
  assert.is(decodeSegment('a%2Fb'), undefined);
  assert.is(decodeSegment('a%2fb'), undefined);
  assert.is(decodeSegment('%zz'), '%zz');
});

test('numbers: decimal, trimmed, finite', () => {
  const good = { '1': 1, ' 1.5 ': 1.5, '.5': 0.5, '5.': 5, '+10': 10, '-0': -0, '1e1': 10, '1E-2': 0.01, '\t7\n': 7 };
  for (const [text, value] of Object.entries(good)) assert.is(parameterOf(ANY_NUMBER, 'ra', text), value, text);
  const bad = [
    '',
    ' ',
    'nan',
    'NaN',
    'inf',
    'Infinity',
    '-inf',
    '1e999',
    '0x10',
    '1_0',
    '1,5',
    '1 2',
    '--1',
    '.',
    'e5',
    '١',
    '1e',
  ];
  for (const text of bad)
    assert.is(
      paramOf(() => parameterOf(ANY_NUMBER, 'ra', text)),
      'ra',
      text,
    );
});

test('page_size: integer text, at least 1, clamped', () => {
  const sizeIn = (search: string, max = 2000) =>
    readerOf(parseSearch(search), { page_size: pageSize(100, max) }, PROJECT_CATALOGS)('page_size');
  const size = (text: string) => sizeIn(`page_size=${encodeURIComponent(text)}`);
  assert.equal(['1', ' 7 ', '+5', '007', '2000', '2001', '9'.repeat(400)].map(size), [1, 7, 5, 7, 2000, 2000, 2000]);
  for (const text of ['5.0', '1e2', '²', '', ' ', 'x', '0', '-1', '-0', '٣'])
    assert.is(
      paramOf(() => size(text)),
      'page_size',
      text,
    );
  assert.is(sizeIn(''), 100);
  assert.is(sizeIn('', 50), 50, 'the default is clamped too');
});

test('ids: digits of a 64-bit integer', () => {
  assert.is(idOf(`${'0'.repeat(4000)}7`), 7n);
  assert.is(idOf('000'), 0n);
  fc.assert(fc.property(fc.bigInt(0n, 2n ** 63n - 1n), id => idOf(`${id}`) === id));
  fc.assert(fc.property(fc.bigInt(2n ** 63n, 2n ** 80n), id => paramOf(() => idOf(`${id}`)) === 'diaObjectId'));
});

test('times: offset as +00:00, six digits or none, exact to the microsecond [Times]', () => {
  assert.is(formatTime(0), '1970-01-01T00:00:00+00:00');
  assert.is(formatTime(1_790_000_000_000_001), '2026-09-21T14:13:20.000001+00:00');
  assert.is(formatTime(-1), '1969-12-31T23:59:59.999999+00:00');
  fc.assert(
    fc.property(fc.integer({ min: -9_000_000_000_000_000, max: 9_000_000_000_000_000 }), timeUs => {
      const text = formatTime(timeUs);
      return (
        parseTime(text) === timeUs &&
        /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/.test(text) &&
        !text.includes('.000000')
      );
    }),
  );
});

test('times are read with any offset, naive as UTC, and only when they exist', () => {
  const noon = Date.UTC(2026, 1, 28, 12) * 1000;
  const same = [
    '2026-02-28T12:00:00Z',
    '2026-02-28 12:00',
    '2026-02-28T12',
    '2026-02-28T14:00:00+02:00',
    '2026-02-28T06:30-0530',
    '2026-02-28T00-12',
    '2026-02-28T12:00:00.0',
    '2026-02-28T12:00:00,000000999-00:00',
    '20260228T120000Z',
    '20260228T1200+0000',
    '2026-W09-6T12:00',
    '2026W096T12',
    '2026-059T12:00',
    '2026059T12',
  ];
  for (const text of same) assert.is(parseTime(text), noon, text);
  assert.is(parseTime('2026-02-28T12:00:00.1234567Z'), noon + 123_456);
  const midnights = { '2026-02-28': [2026, 1, 28], '20240229': [2024, 1, 29], '2026-W01': [2025, 11, 29] };
  for (const [text, [year, month, day]] of Object.entries(midnights))
    assert.is(parseTime(text), Date.UTC(year!, month!, day) * 1000, text);
  assert.is(parseTime('2020-W53-7'), Date.UTC(2021, 0, 3) * 1000);
  assert.is(parseTime('2024-366'), Date.UTC(2024, 11, 31) * 1000);
  assert.is(parseTime('0050-01-01'), new Date('0050-01-01').getTime() * 1000, 'a year of two digits is one');
  const bad = [
    ...['', 'now', '2026', '2026-02', '2026-02-28Z', '2026-02-28T', 'T12:00', '2026-2-28', '26-02-28', '1772280000'],
    ...['2026-13-01T00:00:00Z', '2026-00-01', '2026-02-29T00:00:00Z', '2026-02-00', '2026-W00', '2026-W54', '2021-W53'],
    ...['2026-W09-8', '2026-000', '2026-366', '2026-02-28T24:00:00Z', '2026-02-28T12:60:00Z', '2026-02-28T12:00:60Z'],
    ...['2026-02-28T12:00:00+25:00', '2026-02-28T12:00:00+02:60', '2026-02-28T12:00:00.', '2026-02-28T12:00:00 02:00'],
    ...['2026-02-28T12:00:00Zx', ' 2026-02-28', '2026-02-28  12:00', '0000-12-31', '0001-01-01T00:00+01', '9999-W52-6'],
    ...['9999-12-31T23:59:59-01', '٢٠٢٦-02-28'],
  ];
  for (const text of bad) assert.is(parseTime(text), undefined, text);
});

test('weeks: as the calendar has them, over 400 years', () => {
  for (let day = Date.UTC(1800, 0, 1); day < Date.UTC(2200, 0, 1); day += 86_400_000 * 5) {
    const thursday = new Date(day + (4 - (new Date(day).getUTCDay() || 7)) * 86_400_000);
    const year = thursday.getUTCFullYear();
    const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * 86_400_000));
    const text = `${year}-W${String(week).padStart(2, '0')}-${new Date(day).getUTCDay() || 7}`;
    assert.is(parseTime(text), day * 1000, text);
  }
});

test('an instant keeps its offset and every digit [Times]', () => {
  const text = (written: string) => parseInstant(written)?.text;
  assert.is(text('2026-02-28T12:00:00.5Z'), '2026-02-28T12:00:00.500000+00:00');
  assert.is(text('20260228T1200-0330'), '2026-02-28T12:00:00-03:30');
  assert.is(text('9999-12-31T23:59:59.999999'), '9999-12-31T23:59:59.999999+00:00');
  fc.assert(
    fc.property(
      fc.integer({ min: -8_000_000_000_000_000, max: 9_000_000_000_000_000 }),
      fc.integer({ min: -1439, max: 1439 }),
      (timeUs, offsetMinutes) => {
        const written = formatTime(timeUs, offsetMinutes);
        assert.equal(parseInstant(written), { timeUs, offsetMinutes, text: written });
      },
    ),
  );
});

const CURSOR = {
  timeUs: 1_790_000_000_000_001,
  diaObjectId: 2n ** 63n - 1n,
  asOfUs: 1_790_000_000_500_000,
  ra: 359.99999,
  dec: -1e-7,
  radiusArcsec: 1.5,
  detail: 'full',
  archive: '0123abcd',
  at: 2 ** 53 - 1,
} as const;

const CONE = coneCursor(number({ min: 0, max: 60, aboveMin: true }));

test('a cursor keeps every digit [Cursors; Times]', () => {
  assert.equal(readCursor(CONE, encodeCursor(CONE, CURSOR)), CURSOR);
  fc.assert(
    fc.property(
      fc.bigInt(0n, 2n ** 63n - 1n),
      fc.double({ min: 0, max: 360, noNaN: true }),
      fc.integer({ min: 0, max: 9e15 }),
      (diaObjectId, ra, timeUs) => {
        const cursor = { ...CURSOR, diaObjectId, ra, timeUs };
        const token = encodeCursor(CONE, cursor);
        assert.equal(readCursor(CONE, token), { ...cursor, ra: ra + 0 });
        return /^[\w-]+$/.test(token) && token.length <= 1024;
      },
    ),
  );
});

const TIME = fc.integer({ min: 0, max: 9e15 });

test('a cursor of recent crossmatches keeps every digit', () => {
  fc.assert(
    fc.property(
      fc.bigInt(0n, 2n ** 63n - 1n),
      fc.tuple(TIME, TIME, TIME, TIME),
      fc.constantFrom('ingest_time' as const, 'event_time' as const),
      (diaObjectId, [timeUs, startUs, endUs, asOfUs], timeField) => {
        const cursor = {
          timeUs,
          diaObjectId,
          startUs,
          endUs,
          timeField,
          detail: 'full' as const,
          asOfUs,
          archive: 'f',
        };
        const token = encodeCursor(RECENT_CURSOR, cursor);
        assert.equal(readCursor(RECENT_CURSOR, token), cursor);
        return /^[\w-]+$/.test(token) && token.length <= 1024;
      },
    ),
  );
});

const FIELDS = {
  k: 'cone_search',
  t: '2026-09-21T14:13:20+00:00',
  i: 5,
  a: '2026-09-21T14:13:20',
  ra: 1,
  dec: 2,
  r: 3,
  d: 'ids',
};

function tokenOf(fields: object | string): string {
  return Buffer.from(typeof fields === 'string' ? fields : JSON.stringify(fields)).toString('base64url');
}

test('a forged cursor is a 400 naming it [Cursors]', () => {
  assert.is(
    readCursor(CONE, tokenOf(FIELDS)).asOfUs,
    1_790_000_000_000_000,
    'the base of the forgeries is good; naive is UTC',
  );
  assert.is(readCursor(CONE, tokenOf(FIELDS)).archive, undefined);
  const { a: _a, ...withoutAsOf } = FIELDS;
  const { k: _k, ...withoutKind } = FIELDS;
  const bad: [string, string][] = [
    ['empty', ''],
    ['long', 'A'.repeat(1025)],
    ['not base64url', `${tokenOf(FIELDS)}=`],
    ['not base64url', '!!!'],
    ['not base64url', `${tokenOf({ ...FIELDS, x: 'xy' })}A`],
    ['not JSON', tokenOf('{"k":')],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')],
    ['no object', tokenOf('[]')],
    ['no object', tokenOf('null')],
    ['other operation', tokenOf({ ...FIELDS, k: 'recent_crossmatches' })],
    ['unknown operation', tokenOf({ ...FIELDS, k: 'zzz' })],
    ['no kind', tokenOf(withoutKind)],
    ['no as_of', tokenOf(withoutAsOf)],
    ['bad time', tokenOf({ ...FIELDS, t: 'yesterday' })],
    ['impossible time', tokenOf({ ...FIELDS, a: '2026-13-01T00:00:00' })],
    ['numeric time', tokenOf({ ...FIELDS, t: 5 })],
    ['fractional id', tokenOf(JSON.stringify(FIELDS).replace('"i":5', '"i":5.0'))],
    ['boolean id', tokenOf({ ...FIELDS, i: true })],
    ['textual id', tokenOf({ ...FIELDS, i: '5' })],
    ['negative id', tokenOf({ ...FIELDS, i: -5 })],
    ['large id', tokenOf(JSON.stringify(FIELDS).replace('"i":5', '"i":9223372036854775808'))],
    ['textual ra', tokenOf({ ...FIELDS, ra: '1' })],
    ['null dec', tokenOf({ ...FIELDS, dec: null })],
    ['boolean radius', tokenOf({ ...FIELDS, r: true })],
    ['numeric detail', tokenOf({ ...FIELDS, d: 1 })],
    ['unknown detail', tokenOf({ ...FIELDS, d: 'zzz' })],
    ['ra out of range', tokenOf({ ...FIELDS, ra: 361 })],
    ['dec out of range', tokenOf({ ...FIELDS, dec: -91 })],
    ['radius of 0', tokenOf({ ...FIELDS, r: 0 })],
    ['large radius', tokenOf({ ...FIELDS, r: 61 })],
    ['wrong check', tokenOf({ ...FIELDS, c: '00000000' })],
    ['numeric archive', tokenOf({ ...FIELDS, o: 1 })],
  ];
  for (const [name, token] of bad)
    assert.is(
      paramOf(() => readCursor(CONE, token)),
      'cursor',
      name,
    );
});

test('cursors have the same letters in each release', () => {
  const same = <C>(schema: CursorSchema<C>, cursor: NoInfer<C>, token: string) => {
    assert.is(encodeCursor(schema, cursor), token, schema.kind);
    assert.equal(readCursor(schema, token), cursor, schema.kind);
  };
  const last = { timeUs: 1_790_000_000_123_456, diaObjectId: 2n ** 63n - 1n, archive: '0123abcd' };
  const [timeUs, laterUs] = [last.timeUs, last.timeUs + 1e6];
  same(
    CONE,
    { ...last, asOfUs: laterUs, ra: 359.99999, dec: -1e-7, radiusArcsec: 1.5, detail: 'full', at: undefined },
    'eyJrIjoiY29uZV9zZWFyY2giLCJ0IjoiMjAyNi0wOS0yMVQxNDoxMzoyMC4xMjM0NTYrMDA6MDAiLCJpIjo5MjIzMzcyMDM2ODU0Nzc1ODA3LCJhIjoiMjAyNi0wOS0yMVQxNDoxMzoyMS4xMjM0NTYrMDA6MDAiLCJyYSI6MzU5Ljk5OTk5LCJkZWMiOi0xZS03LCJyIjoxLjUsImQiOiJmdWxsIiwibyI6IjAxMjNhYmNkIiwiYyI6ImY1NzQ4ZDhhIn0',
  );
  const recent = { startUs: timeUs - 1e6, endUs: timeUs, timeField: 'event_time', detail: 'ids' } as const;
  same(
    RECENT_CURSOR,
    { ...last, ...recent, asOfUs: laterUs },
    'eyJrIjoicmVjZW50X2Nyb3NzbWF0Y2hlcyIsInQiOiIyMDI2LTA5LTIxVDE0OjEzOjIwLjEyMzQ1NiswMDowMCIsImkiOjkyMjMzNzIwMzY4NTQ3NzU4MDcsInMiOiIyMDI2LTA5LTIxVDE0OjEzOjE5LjEyMzQ1NiswMDowMCIsImUiOiIyMDI2LTA5LTIxVDE0OjEzOjIwLjEyMzQ1NiswMDowMCIsImYiOiJldmVudF90aW1lIiwiZCI6ImlkcyIsImEiOiIyMDI2LTA5LTIxVDE0OjEzOjIxLjEyMzQ1NiswMDowMCIsIm8iOiIwMTIzYWJjZCIsImMiOiJjYzc0NzhhYyJ9',
  );
  const pixel = { level: 0.25, pixel: 3_221_225_471, id: 7n, digest: 'd1', archive: last.archive };
  same(
    AREA_CURSOR,
    { ...pixel, timeField: 'ingest_time', status: 'any', asOfUs: timeUs, at: undefined },
    'eyJrIjoiYXJlYSIsImwiOjAuMjUsInAiOjMyMjEyMjU0NzEsImkiOjcsImYiOiJpbmdlc3RfdGltZSIsInUiOiJhbnkiLCJhIjoiMjAyNi0wOS0yMVQxNDoxMzoyMC4xMjM0NTYrMDA6MDAiLCJuIjoiZDEiLCJvIjoiMDEyM2FiY2QiLCJjIjoiMDFhNGEyYzAifQ',
  );
  same(
    OBJECTS_CURSOR,
    { ...last, timeField: 'ingest_time', status: 'not_searched', asOfUs: timeUs, at: undefined },
    'eyJrIjoib2JqZWN0cyIsInQiOiIyMDI2LTA5LTIxVDE0OjEzOjIwLjEyMzQ1NiswMDowMCIsImkiOjkyMjMzNzIwMzY4NTQ3NzU4MDcsImYiOiJpbmdlc3RfdGltZSIsInUiOiJub3Rfc2VhcmNoZWQiLCJhIjoiMjAyNi0wOS0yMVQxNDoxMzoyMC4xMjM0NTYrMDA6MDAiLCJvIjoiMDEyM2FiY2QiLCJjIjoiNDQ5NDUyYjAifQ',
  );
});

test.run();
