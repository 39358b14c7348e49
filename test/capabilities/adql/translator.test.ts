/** The SQL that queries become, and the types of their results. */

import { AdqlError, placedMessage } from '@nearsky/adql';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { translateQuery } from '../../../src/capabilities/adql/translate_query.ts';
import { TABLES } from '../../adql/support.ts';

const test = suite('adql: translator');

const sqlOf = (query: string) => translateQuery(query, TABLES, 1000).sql;

function refusal(query: string): string {
  try {
    translateQuery(query, TABLES, 1000);
  } catch (error) {
    if (error instanceof AdqlError) return placedMessage(query, error);
    throw error;
  }
  throw new Error(`accepted: ${query.slice(0, 200)}`);
}

test('names are written anew, and never those of the query', () => {
  const query = `SELECT "O".diaobjectid AS "x"";DROP", 'it''s' FROM NEARSKY.Objects AS "O" WHERE "O".status = 'a'';--'`;
  const { sql, columns } = translateQuery(query, TABLES, 1000);
  assert.is(
    sql,
    `SELECT CAST(t1."diaObjectId" AS BIGINT) AS c1, CAST('it''s' AS VARCHAR) AS c2 FROM "nearsky"."objects" AS t1 ` +
      `WHERE (t1."status" = 'a'';--') LIMIT 1000`,
  );
  assert.equal(
    columns.map(({ name, type }) => [name, type]),
    [
      ['x";DROP', 'int64'],
      ['value', 'text'],
    ],
  );
});

test('columns of the result keep their unit and type, and have names of their own', () => {
  const query =
    "SELECT ra, o.RA, MAX(dec) AS d, IN_UNIT(ra, 'arcsec') AS s, COUNT(*), ingest_time, MIN(2 * diaObjectId) AS e FROM objects o GROUP BY ra, ingest_time";
  const { columns } = translateQuery(query, TABLES, 1000);
  assert.equal(
    columns.map(({ name, type, unit }) => [name, type, unit]),
    [
      ['ra', 'float64', 'deg'],
      ['ra_2', 'float64', 'deg'],
      ['d', 'float64', 'deg'],
      ['s', 'float64', 'arcsec'],
      ['count', 'int64', undefined],
      ['ingest_time', 'time', undefined],
      ['e', 'int64', undefined],
    ],
  );
});

test('columns of the result have names of their own, whatever the names are', () => {
  const { columns } = translateQuery('SELECT ra AS a, ra AS A, ra AS a_2, ra AS a FROM objects', TABLES, 1);
  assert.equal(
    columns.map(({ name }) => name),
    ['a', 'A_2', 'a_2_2', 'a_3'],
  );
});

test('a circle around a place becomes ranges of pixels, a band of declinations and the exact test', () => {
  const sql = sqlOf('SELECT ra FROM objects WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 0.5))');
  assert.match(sql, /t1\."healpix_29" BETWEEN \d+::BIGINT AND \d+::BIGINT/);
  assert.match(sql, /t1\."dec" BETWEEN /);
  const square = Math.sin(Math.PI / 720) ** 2 * (1 + 2 ** -50);
  assert.ok(sql.includes(`power(sin(radians(t1."ra" - 10e0::DOUBLE) / 2), 2) <= ${square}e0::DOUBLE`), sql);
  assert.ok(sql.match(/BETWEEN \d+::BIGINT/g)!.length <= 17);
  // Positions that are not the table's own have no pixel column.
  assert.not.match(sqlOf('SELECT ra FROM matches WHERE DISTANCE(source_ra, source_dec, 1, 2) < 3'), /healpix/);
});

test('where NULL counts, a test of positions begins with no pixels, which rows without a position have', () => {
  for (const part of [
    'WHERE NOT (1 = {})',
    'WHERE 0 = {}',
    'WHERE {} > 0',
    'WHERE CASE WHEN {} = 1 THEN 1 END IS NULL',
  ])
    assert.not.match(
      sqlOf(`SELECT ra FROM objects ${part.replace('{}', 'CONTAINS(POINT(ra, dec), CIRCLE(1, 2, 3))')}`),
      /healpix/,
    );
  const test = '(ra = 1 OR 1 = CONTAINS(POINT(ra, dec), CIRCLE(1, 2, 3)))';
  assert.match(sqlOf(`SELECT ra FROM objects WHERE matches = 1 AND ${test}`), /healpix/);
});

test('a join by distance compares declinations before it computes distances', () => {
  const sql = sqlOf(
    'SELECT a.ra FROM objects a JOIN matches b ON DISTANCE(a.ra, a.dec, b.source_ra, b.source_dec) <= 1/3600.',
  );
  assert.match(sql, /ON \(.* AND t1\."dec" BETWEEN t2\."source_dec" - .* AND t2\."source_dec" \+ /);
});

test('a join by distance finds near positions by their cells, of which a table has a row each where no row can be kept twice', () => {
  const near = 'DISTANCE(a.ra, a.dec, b.source_ra, b.source_dec) <= 1/3600.';
  const cell = /adql_cell\(t1\."ra", t1\."dec", \S+\) = t2\."cell\t1"/;
  for (const from of [
    `objects a LEFT JOIN matches b ON ${near}`,
    `objects a JOIN matches b ON ${near}`,
    `objects a, matches b WHERE ${near}`,
    `(objects a JOIN matches b ON ${near} AND a.ra > 1) LEFT JOIN objects c ON a.diaObjectId = c.diaObjectId`,
  ])
    assert.match(sqlOf(`SELECT a.ra FROM ${from}`), cell);
  assert.match(
    sqlOf(`SELECT a.ra FROM matches b RIGHT JOIN objects a ON ${near}`),
    /adql_cell\(t2\."ra", t2\."dec", \S+\) = t1\."cell\t1"/,
  );
  for (const from of [
    `(objects a JOIN objects c ON a.ra = c.ra) LEFT JOIN matches b ON ${near}`,
    `(SELECT ra, dec FROM objects) AS a LEFT JOIN matches b ON ${near}`,
    `objects a FULL JOIN matches b ON ${near}`,
  ])
    assert.match(sqlOf(`SELECT a.ra FROM ${from}`), /adql_cell/);
  for (const from of [
    `objects a WHERE EXISTS (SELECT * FROM objects c LEFT JOIN matches b ON ${near.replaceAll('a.', 'c.')})`,
    `objects a JOIN matches b ON ${near} OR a.ra = 1`,
    `objects a JOIN matches b ON NOT (${near})`,
    `objects a, matches b WHERE DISTANCE(a.ra, a.dec, b.source_ra + 1, b.source_dec) <= 1`,
    `objects a WHERE EXISTS (SELECT * FROM matches b WHERE ${near})`,
    `objects a, matches b WHERE ${near.replace('1/3600.', 'b.pm')}`,
    `objects a, matches b WHERE ${near.replace('1/3600.', '6')}`,
  ])
    assert.not.match(sqlOf(`SELECT a.ra FROM ${from}`), /adql_cell/);
});

test('a condition on the table of which an outer join keeps all rows is one of its pairs, too, unless other tables are in it', () => {
  const join = 'objects a LEFT JOIN matches b ON DISTANCE(a.ra, a.dec, b.source_ra, b.source_dec) <= 1/3600.';
  const times = (from: string, condition: string, pattern: RegExp) =>
    [...sqlOf(`SELECT a.ra FROM ${from} WHERE ${condition}`).matchAll(pattern)].length;
  const isSeven = /t1\."diaObjectId" = 7/g;
  assert.is(times(join, 'a.diaObjectId = 7', isSeven), 2);
  assert.is(times(join, 'a.diaObjectId = 7 AND b.source_ra > 1', isSeven), 2);
  assert.is(times(join, 'a.diaObjectId = 7 AND b.source_ra > 1', /"source_ra" > 1/g), 1);
  assert.is(times(join, 'a.diaObjectId = 7 OR b.source_ra > 1', isSeven), 1);
  assert.is(times(join, 'a.diaObjectId = b.source_ra', /t1\."diaObjectId"/g), 1);
  assert.is(times(join, 'a.diaObjectId IN (SELECT diaObjectId FROM matches)', /t1\."diaObjectId" IN/g), 1);
  assert.is(times(`${join}, objects c`, 'a.diaObjectId = 7', isSeven), 1);
  assert.is(times(join, 'RAND() < 0.5', /random/g), 1);
});

test('the first rows of a query, where they may be all or cost no more than all', () => {
  const firstOf = (query: string) => translateQuery(query, TABLES, 1000).few(100);
  for (const query of [
    'SELECT TOP 99 ra FROM objects ORDER BY ra',
    'SELECT TOP 0 a.ra FROM objects AS a, objects AS b',
  ])
    assert.is(firstOf(query), sqlOf(query), query);
  for (const query of [
    'SELECT ra, dec FROM objects WHERE diaObjectId = 5',
    'SELECT TOP 100 o.* FROM objects AS o',
    'SELECT ra FROM objects OFFSET 3',
  ])
    assert.is(firstOf(query), sqlOf(query).replace(/ LIMIT \d+$/, ' LIMIT 100'), query);
  for (const query of [
    'SELECT ra FROM objects ORDER BY ra',
    'SELECT DISTINCT status FROM objects',
    'SELECT status, COUNT(*) FROM objects GROUP BY status',
    'SELECT COUNT(*) FROM objects',
    'SELECT a.ra FROM objects AS a, objects AS b',
    'SELECT ra FROM (SELECT DISTINCT ra FROM objects) AS t',
    'WITH t AS (SELECT DISTINCT ra FROM objects) SELECT ra FROM t',
    'SELECT ra FROM objects WHERE diaObjectId IN (SELECT diaObjectId FROM matches)',
    'SELECT ra FROM objects UNION ALL SELECT dec FROM objects',
  ])
    assert.is(firstOf(query), undefined, query);
});

test('LIMIT is the smaller of TOP and of the rows that are wanted', () => {
  assert.match(sqlOf('SELECT TOP 5 ra FROM objects'), / LIMIT 5$/);
  assert.match(sqlOf('SELECT TOP 99999999999999999999999999 ra FROM objects OFFSET 3'), / OFFSET 3 LIMIT 1000$/);
  assert.match(
    sqlOf('SELECT TOP 5 ra FROM objects UNION SELECT ra FROM matches ORDER BY ra'),
    / ORDER BY 1 LIMIT 1000$/,
  );
});

test('what no table has, what does not fit, and what is left out is refused at its place', () => {
  const refused: readonly (readonly [query: string, message: string])[] = [
    ['SELECT x FROM objects', 'Line 1, column 8: x is not a column of nearsky.objects'],
    ['SELECT o.x FROM objects o', 'Line 1, column 8: x is not a column of o'],
    ['SELECT objects.ra FROM objects o', 'Line 1, column 8: objects is not a table of this FROM'],
    ['SELECT "RA" FROM objects', 'Line 1, column 8: RA is not a column of nearsky.objects'],
    [
      'SELECT ra FROM sources',
      'Line 1, column 16: there is no table sources: there are nearsky.objects, nearsky.matches, TAP_SCHEMA.columns',
    ],
    ['SELECT ra FROM pg_catalog.objects', 'Line 1, column 16: there is no table pg_catalog.objects: there are'],
    [
      'SELECT ra FROM main.nearsky.objects',
      'there is no table main.nearsky.objects: did you mean nearsky.objects? There are',
    ],
    ['SELECT ra FROM objects, matches', 'Line 1, column 8: ra is a column of several tables: put the table before it'],
    ['SELECT ra FROM objects, objects', 'two tables of one FROM have the name nearsky.objects'],
    ['SELECT ra FROM objects WHERE ra', 'Line 1, column 30: WHERE must be a condition (a number was given)'],
    ["SELECT ra FROM objects WHERE ra = 'x'", 'Line 1, column 35: a text cannot be compared with a number'],
    [
      "SELECT ra FROM objects WHERE ingest_time > 'today'",
      "Line 1, column 44: a time is written as '2026-01-31T12:00:00'",
    ],
    [
      "SELECT ra FROM objects WHERE ingest_time > '2026-13-01'",
      "Line 1, column 44: a time is written as '2026-01-31T12:00:00'",
    ],
    ["SELECT ra + 'x' FROM objects", 'Line 1, column 13: an operand of + must be a number (a text was given)'],
    [
      'SELECT POINT(ra, dec) + 1 FROM objects',
      'Line 1, column 8: an operand of + must be a number (a point was given)',
    ],
    ['SELECT ra, COUNT(*) FROM objects', 'Line 1, column 8: ra must be in GROUP BY, or in an aggregate function'],
    ['SELECT * FROM objects GROUP BY ra', 'Line 1, column 8: healpix_29 must be in GROUP BY'],
    ['SELECT ra FROM objects WHERE COUNT(*) > 1', 'Line 1, column 30: aggregate functions are not allowed in WHERE'],
    ['SELECT SUM(COUNT(*)) FROM objects', 'Line 1, column 12: aggregate functions cannot be nested'],
    ['SELECT ra FROM objects ORDER BY 2', 'Line 1, column 33: ORDER BY 2 is not a column: the query has 1'],
    [
      'SELECT ra FROM objects UNION SELECT ra, dec FROM objects',
      'Line 1, column 24: the queries of UNION must have the same number of columns',
    ],
    [
      'SELECT ra FROM objects UNION SELECT status FROM objects',
      'Line 1, column 37: column 1 of UNION is a number on the left and a text on the right',
    ],
    ['SELECT read_csv(status) FROM objects', 'Line 1, column 8: there is no function READ_CSV'],
    ['SELECT constructor(status) FROM objects', 'Line 1, column 8: there is no function CONSTRUCTOR'],
    ['SELECT ABS() FROM objects', 'Line 1, column 8: ABS takes 1 argument (0 were given)'],
    ['SELECT POWER(2) FROM objects', 'Line 1, column 8: POWER takes 2 arguments (1 was given)'],
    [
      "SELECT ra FROM objects WHERE CONTAINS(POINT('GALACTIC', ra, dec), CIRCLE(1, 2, 3)) = 1",
      'Line 1, column 45: positions are in ICRS',
    ],
    ["SELECT AREA(CIRCLE('ICRS CARTESIAN2', 1, 2, 3)) FROM objects", 'Line 1, column 20: positions are in ICRS'],
    [
      'SELECT ra FROM objects WHERE CONTAINS(POINT(ra, dec), CIRCLE(1, 91, 3)) = 1',
      'Line 1, column 65: a declination must be -90 to 90 degrees (91 was given)',
    ],
    [
      'SELECT ra FROM objects WHERE CONTAINS(POINT(ra, dec), CIRCLE(1, 2, -3)) = 1',
      'a radius must be 0 to 180 degrees (-3 was given)',
    ],
    [
      'SELECT AREA(MOC(5, POLYGON(ra, 2, 3, 4, 5, 6))) FROM objects',
      'Line 1, column 20: this must be a number, not a column',
    ],
    [
      'SELECT ra FROM objects WHERE CONTAINS(POINT(ra, dec), POLYGON(1, 2, 1, 2, 5, 6)) = 1',
      'a polygon must have at least 3 vertices that differ',
    ],
    [
      "SELECT AREA(MOC('1/48')) FROM objects",
      "Line 1, column 17: a MOC is written as '4/0-3,5 6/100', with orders 0 to 29, not as 1/48",
    ],
    ["SELECT AREA(MOC('5')) FROM objects", 'Line 1, column 17: a MOC is written as'],
    ["SELECT AREA(MOC('30/1')) FROM objects", 'Line 1, column 17: a MOC is written as'],
    ["SELECT AREA(MOC('4/3-2')) FROM objects", 'Line 1, column 17: a MOC is written as'],
    ['SELECT AREA(MOC(status)) FROM objects', 'Line 1, column 17: a MOC must be a constant'],
    [
      "SELECT ra FROM objects WHERE 1 = CONTAINS(CIRCLE(ra, dec, 1), MOC('4/1'))",
      'CONTAINS takes a MOC with a POINT alone',
    ],
    [
      "SELECT COORD1(CENTROID(MOC('4/1'))) FROM objects",
      'Line 1, column 15: CENTROID takes a POINT, CIRCLE, BOX or POLYGON',
    ],
    ["SELECT +'x' FROM objects", 'Line 1, column 9: the operand of a sign must be a number (a text was given)'],
    ['SELECT COORDSYS(ra) FROM objects', 'Line 1, column 17: COORDSYS takes shapes (a number was given)'],
    ["SELECT IN_UNIT(ra, 'Jy') FROM objects", 'Line 1, column 20: ra has the unit deg, which cannot be converted to'],
    [
      'SELECT ra FROM matches WHERE 1 = CONTAINS(POINT(source_ra, source_dec), CIRCLE(ra, dec, separation))',
      'Line 1, column 89: the radius must be in degrees, and separation is in arcsec: write IN_UNIT("separation", \'deg\')',
    ],
    ['SELECT POINT(pm, dec) FROM matches', 'a right ascension must be in degrees, and pm is in mas.yr**-1: convert it'],
    ['SELECT 9223372036854775808 FROM objects', 'Line 1, column 8: an integer must be at most 9223372036854775807'],
    [
      'SELECT 123456789012345678901 FROM objects',
      'Line 1, column 8: an integer must be at most 9223372036854775807: write 123456789012345678901.0 for a number with a fraction',
    ],
    ['SELECT 1E999 FROM objects', 'Line 1, column 8: a number must be at most 1.797E308'],
    [
      "SELECT REGION('CIRCLE 1 2 3') FROM objects",
      'Line 1, column 8: there is no function REGION: write the shape as CIRCLE or POLYGON',
    ],
  ];
  for (const [query, message] of refused) assert.ok(refusal(query).includes(message), `${query}\n${refusal(query)}`);
});

test('mistakes that astronomers make: the message says what to write', () => {
  const circle = 'CONTAINS(POINT(ra, dec), CIRCLE(1, 2, 3))';
  const refused = [
    ['SELECT ra FROM objects LIMIT 10', 'write TOP'],
    ['SELECT ra FROM objects AS o WHERE ra > 1 ORDER BY ra LIMIT 10', 'write TOP'],
    ['SELECT ra FROM objects CROSS JOIN matches', 'a comma between the tables'],
    [`SELECT ra FROM objects WHERE ${circle}`, 'write 1 = CONTAINS(...)'],
    [`SELECT ra FROM objects WHERE ra > 1 AND NOT ${circle}`, 'write 1 = CONTAINS(...)'],
    ['SELECT ra FROM objects WHERE status = "pending"', "in single quotes, as in 'pending'"],
    ['SELECT "RA" FROM objects', 'did you mean ra?'],
    ['SELECT ra AS size FROM objects', 'write "size"'],
    ['SELECT date FROM objects', 'write "date"'],
    ['SELECT ra FROM objects WHERE ingest_time > NOW()', "write a time as '2026-01-31T12:00:00'"],
    ['SELECT ra FROM objects WHERE ingest_time > CURRENT_TIMESTAMP', "write a time as '2026-01-31T12:00:00'"],
    ['SELECT ra FROM objects WHERE ingest_time > 60000.5', 'ivo_to_mjd(...)'],
    ['SELECT ra FROM objects WHERE 60000 BETWEEN 1 AND ingest_time', 'ivo_to_mjd(...)'],
    ['SELECT ra FROM object', 'did you mean objects?'],
    ['SELECT ra FROM nearsky.matchs', 'did you mean nearsky.matches?'],
    ['SELECT reliabilty FROM objects', 'did you mean reliability?'],
    ['SELECT o.stats FROM objects AS o', 'did you mean status?'],
    ['SELECT SQRTT(ra) FROM objects', 'did you mean SQRT?'],
    ['SELECT LN(ra) FROM objects', 'LOG'],
    ["SELECT status AS s FROM objects WHERE s = 'x'", 'repeat its expression'],
    ['SELECT COUNT(*) AS n FROM objects GROUP BY status HAVING n > 1', 'repeat its expression'],
  ] as const;
  for (const [query, says] of refused) assert.ok(refusal(query).includes(says), `${query}\n${refusal(query)}`);
  const named = 'SELECT ROUND(ra, 0) AS strip, COUNT(*) AS n FROM objects GROUP BY';
  assert.is(translateQuery(`${named} strip`, TABLES, 9).sql, translateQuery(`${named} ROUND(ra, 0)`, TABLES, 9).sql);
  assert.match(refusal('SELECT status AS ra FROM objects GROUP BY ra'), /status must be in GROUP BY/, 'a column first');
  assert.is(translateQuery('SELECT limit.ra FROM objects limit', TABLES, 9).columns.length, 1, 'LIMIT can be a name');
});

test('an integer division of constants that is 0 is a warning', () => {
  const warnings = (query: string) =>
    translateQuery(query, TABLES, 9).warnings.map(({ at, message }) => `${at} ${message}`);
  const near = (radius: string) => `SELECT ra FROM objects WHERE DISTANCE(ra, dec, 1, 2) < ${radius}`;
  assert.match(warnings(near('2/3600')).join(), /^56 2 \/ 3600 is 0.*write 2\.0 \/ 3600/);
  assert.is(warnings(near('2 / 60 / 60')).length, 1);
  assert.is(warnings(near('(1 + 1) / (60 * 60) + 1/7')).length, 2);
  assert.is(warnings('SELECT 1/2, COUNT(*) FROM objects GROUP BY status, 1/2').length, 2);
  for (const radius of ['2.0/3600', '2/3600.', '7200/3600', '0/3600', 'matches/3600', 'MOD(2, 3600)', '2e0/3600'])
    assert.equal(warnings(near(radius)), [], radius);
});

test('expressions that would grow without an end are refused', () => {
  const nested = (name: string, levels: number) =>
    `SELECT ${`${name}(`.repeat(levels)}ra${')'.repeat(levels)} FROM objects`;
  assert.match(refusal(nested('LOG', 60)), /too long/);
  const distances = `SELECT ${'DISTANCE(1, 2, 3, '.repeat(60)}dec${')'.repeat(60)} FROM objects`;
  assert.match(refusal(distances), /a coordinate must be a short expression/);
  const cases = `SELECT ${'CASE '.repeat(40)}ra${' WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 END'.repeat(40)} FROM objects`;
  assert.match(refusal(cases), /too long/);
  assert.match(refusal(nested('COT', 40)), /too long/);
  for (const name of ['POWER', 'TRUNCATE']) {
    const query = `SELECT ${`${name}(`.repeat(40)}ra${', 2)'.repeat(40)} FROM objects`;
    assert.match(refusal(query), /too long/);
  }
  const nulls = `SELECT ${'NULLIF('.repeat(40)}ra${', dec)'.repeat(40)} FROM objects`;
  assert.match(refusal(nulls), /too long/);
  const quotients = `SELECT ${'(1 / (ra + '.repeat(40)}dec${'))'.repeat(40)} FROM objects`;
  assert.match(refusal(quotients), /too long/);
  const between = (levels: number) =>
    `SELECT ra FROM objects WHERE ${'CASE WHEN '.repeat(levels)}ra > 1${' THEN 1 END BETWEEN 0 AND 2'.repeat(levels)}`;
  assert.match(sqlOf(between(8)), /BETWEEN/);
  assert.match(refusal(between(9)), /BETWEEN can be nested at most 8 times/);
  const exists = (levels: number) =>
    `SELECT ra FROM objects WHERE ${'EXISTS (SELECT ra FROM objects WHERE '.repeat(levels)}ra > 1${')'.repeat(levels)}`;
  assert.match(sqlOf(exists(8)), /EXISTS/);
  assert.match(refusal(exists(9)), /at most 8 levels deep/);
  const joinedTexts = (levels: number, operand: string) => {
    const named = Array.from(
      { length: levels },
      (_, i) => `q${i + 1} AS (SELECT ${operand} AS x FROM ${i ? `q${i}` : '(SELECT status AS x FROM objects) AS o'})`,
    );
    return `WITH ${named.join()} SELECT x FROM q${levels}`;
  };
  for (const operand of ['x || x', 'UPPER(x) || LOWER(x)', "COALESCE(x || 'a', '') || CASE WHEN x > 'b' THEN x END"]) {
    assert.match(refusal(joinedTexts(16, operand)), /concatenated from at most 1000 strings/);
    assert.match(sqlOf(joinedTexts(6, operand)), /q6/);
  }
  const groups = `SELECT ${'ABS('.repeat(90)}dec + 1${')'.repeat(90)} FROM objects GROUP BY dec + 1`;
  assert.match(sqlOf(groups), /GROUP BY/);
  const test = 'CONTAINS(POINT(ra, dec), CIRCLE(1, 2, 3)) = CASE WHEN '.repeat(20);
  assert.match(sqlOf(`SELECT ra FROM objects WHERE ${test} ra = 1${' THEN 1 END'.repeat(20)}`), /WHERE/);
});

test('the columns of a query, and all of its SQL, have an end', () => {
  const stars = (count: number) => `SELECT ${Array.from({ length: count }, () => '*').join()} FROM objects`;
  assert.match(refusal(stars(9000)), /at most 500 columns/);
  // Each level has twice as many columns.
  const doubled = `${'SELECT q.*, q.* FROM ('.repeat(39)}SELECT ra FROM objects${') AS q'.repeat(39)}`;
  assert.match(refusal(doubled), /at most 500 columns/);
  const logs = Array.from({ length: 50 }, () => `${'LOG('.repeat(12)}ra${')'.repeat(12)}`);
  assert.match(sqlOf(`SELECT ${logs[0]} FROM objects`), /ln/);
  assert.match(refusal(`SELECT ${logs.join()} FROM objects`), /too long/);
});

test('more tables and corners than the engine plans in time are refused', () => {
  const joined = (count: number) => `SELECT 1 FROM ${Array.from({ length: count }, (_, i) => `objects o${i}`).join()}`;
  assert.match(sqlOf(joined(40)), /t40/);
  assert.match(refusal(joined(41)), /joins at most 40 tables/);
  const doubled = Array.from(
    { length: 6 },
    (_, i) => `q${i} AS (SELECT a.ra FROM ${i ? `q${i - 1} a, q${i - 1} b` : 'objects a'})`,
  );
  assert.match(refusal(`WITH ${doubled.join()} SELECT ra FROM q5, q5 b`), /joins at most 40 tables/);
  const equal = (count: number, columns: readonly string[]) =>
    `SELECT 1 FROM objects o0 ${Array.from({ length: count - 1 }, (_, i) => `JOIN objects o${i + 1} ON ${columns.map(name => `o0.${name} = o${i + 1}.${name}`).join(' AND ')}`).join(' ')}`;
  assert.match(sqlOf(equal(40, ['ra'])), /t40/);
  assert.match(sqlOf(equal(10, ['ra', 'dec', 'diaObjectId'])), /t10/);
  assert.match(refusal(equal(40, ['ra', 'dec'])), /a query of 40 tables has at most 40 comparisons/);
  const natural = `SELECT 1 FROM objects o0 ${Array.from({ length: 39 }, (_, i) => `NATURAL JOIN objects o${i + 1}`).join(' ')}`;
  assert.match(refusal(natural), /with those of NATURAL and USING/);
  const twice = `WITH q AS (${equal(10, ['ra', 'dec', 'diaObjectId'])}) SELECT 1 FROM q a, q b`;
  assert.match(refusal(twice), /a query of 30 tables has .* \(this one has 81\)/);
  const corners = Array.from({ length: 150 }, (_, i) => `${Math.cos(i / 24)}, ${Math.sin(i / 24)}`).join();
  const test = `1 = CONTAINS(POINT(ra, dec), POLYGON(${corners}))`;
  assert.match(refusal(`SELECT ra FROM objects WHERE ${test} OR ${test} OR ${test}`), /at most 400 corners/);
});

test('the MOCs of all shapes of a query have a bounded number of pixels', () => {
  const mocs = (count: number, shape: (i: number) => string) =>
    `SELECT ra FROM objects WHERE ${Array.from({ length: count }, (_, i) => `1 = CONTAINS(POINT(ra, dec), MOC(13, ${shape(i)}))`).join(' OR ')}`;
  const circle = (i: number) => `CIRCLE(${3 * i}, 20, 0.2)`;
  assert.match(sqlOf(mocs(2, circle)), /BETWEEN/);
  for (const shape of [(i: number) => `CIRCLE(${3 * i}, 20, 1.5)`, (i: number) => `BOX(${3 * i}, 20, 1.5, 1.5)`])
    assert.match(refusal(mocs(32, shape)), /at most 8000 ranges of pixels/);
});

test('polygons of rows: more pairs of corners than the engine compares without a pause are refused', () => {
  const polygon = (corners: number, x: string) =>
    `POLYGON(${Array.from({ length: corners }, (_, i) => `${x}.ra + ${Math.cos((6.28 * i) / corners)}, ${x}.dec * ${i}`).join()})`;
  const both = (a: number, b: number) => `INTERSECTS(${polygon(a, 'a')}, ${polygon(b, 'b')}) = 1`;
  const asked = (where: string) => `SELECT COUNT(*) FROM objects AS a, objects AS b WHERE ${where}`;
  assert.match(sqlOf(asked(both(16, 16))), /adql_polygons_meet/);
  for (const where of [both(80, 80), both(195, 195), both(17, 16), `${both(10, 15)} OR ${both(11, 10)}`])
    assert.match(refusal(asked(where)), /at most 256 pairs of corners/);
  const areas = Array.from({ length: 26 }, () => `AREA(${polygon(10, 'a')})`);
  assert.match(refusal(`SELECT ${areas.join()} FROM objects AS a`), /at most 256 pairs of corners/);
  const inside = `1 = CONTAINS(POINT(a.ra, a.dec), ${polygon(200, 'a')})`;
  assert.match(sqlOf(`SELECT ra FROM objects AS a WHERE ${inside}`), /adql_inside/);
  assert.match(refusal(`SELECT ra FROM objects AS a WHERE ${inside} OR ${inside}`), /these have 400/);
});

test('a query without an end in its length is refused before it is read', () => {
  assert.match(refusal(`SELECT ${' '.repeat(200_000)}`), /at most 200000 characters/);
});

test.run();
