/** The rows that the engine finds with translated queries, compared with the rows that this file computes itself. */
import { readFileSync } from 'node:fs';
import { type DescribedTable, MACROS, translate } from '@nearsky/adql';
import { datatypeOf } from '@nearsky/astrotables';
import { pixel29, separationArcsec } from '@nearsky/sky-index';
import { circle, polygon } from '@nearsky/sky-index/areas';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { PositionTest } from '../../index/area.ts';
import { duckdbObstacle, needs } from '../needs.ts';
import { seededRandom } from '../oracle/skies.ts';
import { column, TABLES } from './support.ts';

const duckdb = await import('@duckdb/node-api').catch(() => undefined);
const test = suite('adql: engine');
const check = needs(test, duckdbObstacle());

const instance = await duckdb?.DuckDBInstance.create(':memory:', { threads: '1' });
const connection = await instance?.connect();

/** Places in each table of a join. Any 20 in a row are of all kinds. */
const PLACES_OF_JOINS = Number(process.env.TEST_JOIN_ROWS ?? 100);

interface Place {
  readonly id: number;
  readonly ra: number;
  readonly dec: number;
}

/** Positions all over the sky, many of them close together, some near a pole and the meridian of 0. */
const PLACES: readonly Place[] = [
  [0, 0],
  [359.9999, 0.5],
  [10, 89.9],
  [200, -89.99],
  [61.6, -49.3],
  [150, 2.2],
].flatMap(([ra, dec], group) =>
  Array.from({ length: 300 }, (_, i) => {
    const reach = 20 * (((i * 7919) % 997) / 997) ** 3;
    const angle = i * 2.399963;
    const other = Math.max(-90, Math.min(90, dec! + reach * Math.sin(angle)));
    const turn = (reach * Math.cos(angle)) / Math.max(0.01, Math.cos((other * Math.PI) / 180));
    return { id: 1000 * group + i, ra: (((ra! + turn) % 360) + 360) % 360, dec: other };
  }),
);

async function rows(query: string): Promise<readonly unknown[][]> {
  return (await connection!.runAndReadAll(translate(query, TABLES, 100_000).sql)).getRows() as unknown[][];
}

async function ids(query: string): Promise<number[]> {
  return (await rows(query)).map(([id]) => Number(id)).sort((a, b) => a - b);
}

const idsWhere = (isInside: PositionTest) => PLACES.filter(({ ra, dec }) => isInside(ra, dec)).map(({ id }) => id);

test.before(async () => {
  if (!connection) return;
  for (const macro of MACROS) await connection.run(macro);
  await connection.run('CREATE SCHEMA nearsky');
  const values = PLACES.map(
    ({ id, ra, dec }) =>
      `(${pixel29(ra, dec)}::BIGINT, ${id}::BIGINT, ${ra}::DOUBLE, ${dec}::DOUBLE, ${id % 10 === 0 ? 'NULL' : id / 10}::DOUBLE)`,
  );
  await connection.run(
    `CREATE TABLE nearsky.objects AS SELECT *, TIMESTAMP '2026-01-01 00:00' AS ingest_time, 'matched' AS status,
      1::INTEGER AS matches, TRUE AS tns_checked FROM (VALUES ${values.join()}) AS t(healpix_29, diaObjectId, ra, "dec", reliability)
      ORDER BY healpix_29`,
  );
});

check('circles', async () => {
  for (const [ra, dec, radius] of [
    [0, 0, 0.001],
    [0, 0, 5],
    [359.5, 0, 3],
    [10, 89.9, 0.5],
    [190, -90, 20],
    [61.6, -49.3, 1],
    [150, 2.2, 120],
    [150, 2.2, 180],
    [77, 33, 1e-6],
  ] as const) {
    const expected = idsWhere(circle(ra, dec, radius * 3600).testOf(undefined as never));
    const inside = `CONTAINS(POINT('ICRS', ra, dec), CIRCLE('ICRS', ${ra}, ${dec}, ${radius}))`;
    assert.equal(await ids(`SELECT diaObjectId FROM objects WHERE 1 = ${inside}`), expected, inside);
    assert.equal(
      await ids(`SELECT diaObjectId FROM objects WHERE DISTANCE(${ra}, ${dec}, ra, dec) <= ${radius}`),
      expected,
    );
    const outside = await ids(`SELECT diaObjectId FROM objects WHERE ${inside} = 0`);
    assert.is(outside.length + expected.length, PLACES.length);
    assert.equal(await rows(`SELECT SUM(${inside}) FROM objects`), [[BigInt(expected.length)]]);
  }
});

check('polygons and boxes', async () => {
  for (const vertices of [
    [
      [359, -1],
      [1, -1],
      [1, 1],
      [359, 1],
    ],
    [
      [0, 80],
      [90, 85],
      [180, 70],
      [270, 88],
    ],
    [
      [55, -55],
      [70, -52],
      [60, -40],
    ],
    [
      [140, -10],
      [160, -10],
      [150, 0],
      [160, 10],
      [140, 10],
    ],
  ] as const) {
    const { whole, testOf } = polygon(vertices);
    const text = vertices.flat().join(', ');
    const found = await ids(`SELECT diaObjectId FROM objects WHERE 1 = CONTAINS(POINT(ra, dec), POLYGON(${text}))`);
    assert.equal(found, idsWhere(testOf(whole)), text);
    assert.ok(found.length > 10);
  }
  const box = polygon([
    [148, 0.2],
    [152, 0.2],
    [152, 4.2],
    [148, 4.2],
  ]);
  assert.equal(
    await ids('SELECT diaObjectId FROM objects WHERE 1 = INTERSECTS(BOX(150, 2.2, 4, 4), POINT(ra, dec))'),
    idsWhere(box.testOf(box.whole)),
  );
});

check('a MOC has the positions whose pixels it has', async () => {
  const many = Array.from({ length: 700 }, (_, i) => 3 * i).join();
  for (const [moc, order, has] of [
    ['0/0-11', 0, () => true],
    ['', 0, () => false],
    ['0/4', 0, (pixel: bigint) => pixel === 4n],
    ['3/0-200, 205 29/', 3, (pixel: bigint) => pixel <= 200n || pixel === 205n],
    ['1/2 2/8-11', 1, (pixel: bigint) => pixel === 2n],
    [`4/${many}`, 4, (pixel: bigint) => pixel % 3n === 0n && pixel < 2100n],
  ] as const) {
    const expected = PLACES.filter(({ ra, dec }) => has(pixel29(ra, dec) >> BigInt(2 * (29 - order)))).map(
      ({ id }) => id,
    );
    const inside = `CONTAINS(POINT(ra, dec), MOC('${moc}'))`;
    assert.equal(await ids(`SELECT diaObjectId FROM objects WHERE 1 = ${inside}`), expected, moc);
    const outside = await ids(
      `SELECT diaObjectId FROM objects WHERE 0 = ${inside} AND INTERSECTS(MOC('${moc}'), POINT(ra, dec)) = 0`,
    );
    assert.is(outside.length + expected.length, PLACES.length);
  }
});

check('joins by distance', async () => {
  const query = `SELECT COUNT(*) FROM objects AS a JOIN objects AS b
    ON CONTAINS(POINT(a.ra, a.dec), CIRCLE(b.ra, b.dec, 0.05)) = 1 WHERE a.diaObjectId < b.diaObjectId`;
  let pairs = 0;
  for (const a of PLACES)
    for (const b of PLACES) if (a.id < b.id && separationArcsec(a.ra, a.dec, b.ra, b.dec) <= 180) pairs++;
  assert.equal(await rows(query), [[BigInt(pairs)]]);
  assert.ok(pairs > 100);
});

/**
 * Positions at the edges of zones and cells, at the poles and at the meridian of 0, in every convention of right
 * ascension.
 */
function placesBeside(others: readonly Place[], radius: number, random: () => number): Place[] {
  return others.map(({ ra, dec }, id) => {
    const distance = radius * 1.3 * random() ** 0.3;
    const angle = 2 * Math.PI * random();
    const other = Math.max(-90, Math.min(90, dec + distance * Math.sin(angle)));
    const turn = (distance * Math.cos(angle)) / Math.max(1e-6, Math.cos((other * Math.PI) / 180));
    return { id, ra: ra + turn + 360 * (Math.floor(4 * random()) - 2), dec: other };
  });
}

check('joins by distance have every pair once', async () => {
  const random = seededRandom(5);
  const upload = (name: string): DescribedTable => ({
    schema: 'TAP_UPLOAD',
    name,
    description: name,
    relation: `temp.main.${name}`,
    columns: [column('id', 'int64'), column('ra', 'float64'), column('dec', 'float64')],
  });
  const tables = [...TABLES, upload('a'), upload('b')];
  for (const radius of [0, 1e-5, 1 / 3600, 0.05, 1, 5, 40]) {
    const edge = () => (Math.floor(4000 * (random() - 0.5)) * 8 * radius) % 90;
    const nearPole = () => (random() < 0.5 ? 1 : -1) * (90 - 20 * radius * random() ** 3);
    const a = Array.from({ length: PLACES_OF_JOINS }, (_, id): Place => {
      const dec = [edge, nearPole, () => 180 * random() - 90, () => 90, () => 0][id % 5]!();
      const ra = [360 * random(), 4 * radius * (random() - 0.5), 0, 90 * Math.floor(4 * random())][id % 4]!;
      return { id, ra, dec: Math.max(-90, Math.min(90, dec)) };
    });
    const b = [...placesBeside(a, radius, random), ...a];
    for (const [name, places] of Object.entries({ a, b })) {
      const values = places.map(({ id, ra, dec }) => `(${id}::BIGINT, ${ra}::DOUBLE, ${dec}::DOUBLE)`);
      const without = "(-1, NULL, 5), (-2, 5, NULL), (-3, 'nan', 'nan')";
      await connection!.run(
        `CREATE OR REPLACE TEMP TABLE ${name} AS FROM (VALUES ${values.join()}, ${without}) AS t(id, ra, "dec")`,
      );
    }
    const partners = b.map(
      ({ ra, dec }) => a.filter(other => separationArcsec(ra, dec, other.ra, other.dec) <= radius * 3600).length,
    );
    const count = partners.reduce((sum, each) => sum + each, 0);
    const alone = 3 + partners.filter(each => each === 0).length;
    const ofSeven = partners.filter((_, i) => b[i]!.id === 7).reduce((sum, each) => sum + each, 0);
    const near = (operator: string) => `DISTANCE(a.ra, a.dec, b.ra, b.dec) ${operator} ${radius}`;
    const keptB = 'TAP_UPLOAD.b AS b LEFT JOIN TAP_UPLOAD.a AS a';
    const [pair, others] = ['TAP_UPLOAD.a AS a JOIN TAP_UPLOAD.b AS b', 'TAP_UPLOAD.a AS a, TAP_UPLOAD.b AS b'];
    for (const [query, expected] of [
      [`SELECT COUNT(*) FROM ${pair} ON ${near('<=')}`, count],
      [`SELECT COUNT(*) FROM ${others} WHERE 1 = CONTAINS(POINT(b.ra, b.dec), CIRCLE(a.ra, a.dec, ${radius}))`, count],
      [`SELECT COUNT(*) FROM ${others} WHERE ${near('<=')} AND (${near('<=')} OR a.id = b.id)`, count],
      [`SELECT COUNT(*) FROM ${pair} ON ${near('<=')} WHERE ${near('<=')} AND ${near('<=')}`, count],
      [
        `SELECT COUNT(*) FROM (SELECT id, ra + 0 AS ra, dec FROM TAP_UPLOAD.a) AS a JOIN TAP_UPLOAD.b AS b ON ${near('<=')}`,
        count,
      ],
      [`SELECT COUNT(DISTINCT a.id) FROM TAP_UPLOAD.a AS a LEFT JOIN TAP_UPLOAD.b AS b ON ${near('<=')}`, a.length + 3],
      [`SELECT COUNT(*) FROM ${pair.replace('JOIN', 'RIGHT JOIN')} ON ${near('<=')}`, count + alone],
      [`SELECT COUNT(*) FROM ${pair.replace('JOIN', 'FULL JOIN')} ON ${near('<=')}`, count + alone + 3],
      [`SELECT COUNT(*) FROM ${keptB} ON ${near('<=')}`, count + alone],
      [`SELECT COUNT(*) FROM ${keptB} ON ${near('<=')} WHERE a.id IS NULL`, alone],
      [`SELECT COUNT(a.id) FROM ${keptB} ON ${near('<=')} WHERE b.id = 7 AND b.dec > -91 AND a.id >= 0`, ofSeven],
      [`SELECT COUNT(a.id) FROM ${keptB} ON ${near('<=')} WHERE b.id = 7 OR a.id < 0`, ofSeven],
      [
        `SELECT COUNT(*) FROM TAP_UPLOAD.a AS c LEFT JOIN (${keptB} ON ${near('<=')}) ON a.id = c.id WHERE b.id IS NULL`,
        3,
      ],
      [`SELECT COUNT(*) FROM ${keptB} ON ${near('<=')} WHERE ${near('<=')}`, count],
      [`SELECT COUNT(*) FROM ${keptB} ON ${near('<=')} AND ${near('<')} AND a.id = -1`, b.length + 3],
      [
        `SELECT COUNT(*) FROM (${keptB} ON ${near('<=')}) JOIN TAP_UPLOAD.a AS c ON DISTANCE(b.ra, b.dec, c.ra, c.dec) <= ${radius}`,
        partners.reduce((sum, each) => sum + each ** 2, 0),
      ],
      [
        `SELECT COUNT(a.id) FROM TAP_UPLOAD.b AS b LEFT JOIN (SELECT id, ra + 0 AS ra, dec FROM TAP_UPLOAD.a) AS a ON ${near('<=')}`,
        count,
      ],
      [
        `SELECT COUNT(*) FROM TAP_UPLOAD.a AS a WHERE EXISTS (SELECT id FROM TAP_UPLOAD.b AS b WHERE ${near('<=')})`,
        a.length,
      ],
    ] as const) {
      const { sql } = translate(query, tables, 10);
      assert.equal((await connection!.runAndReadAll(sql)).getRows(), [[BigInt(expected)]], `${radius}: ${query}`);
    }
  }
});

check('an outer join by distance of a table whose own column is called rowid', async () => {
  const columns = [column('RowID', 'int64'), column('ra', 'float64'), column('dec', 'float64')];
  const mine = { schema: 'TAP_UPLOAD', name: 'mine', description: '', relation: 'temp.main.mine', columns };
  await connection!.run(
    'CREATE TEMP TABLE mine AS FROM (VALUES (7::BIGINT, 10::DOUBLE, 10::DOUBLE), (7, 20, 20), (NULL, 30, 30)) AS t(RowID, ra, "dec")',
  );
  const query =
    'SELECT a.ra, b.ra FROM TAP_UPLOAD.mine AS a LEFT JOIN TAP_UPLOAD.mine AS b ON DISTANCE(a.ra, a.dec, b.ra, b.dec) < 1 ORDER BY 1';
  const { sql } = translate(query, [...TABLES, mine], 10);
  assert.equal((await connection!.runAndReadAll(sql)).getRows(), [
    [10, 10],
    [20, 20],
    [30, 30],
  ]);
});

check('pixels of positions', async () => {
  const query = 'SELECT IVO_HEALPIX_INDEX(29, ra, dec), IVO_HEALPIX_INDEX(5, POINT(ra, dec)), ra, dec FROM objects';
  for (const [deep, shallow, ra, dec] of await rows(query)) {
    assert.is(deep, pixel29(ra as number, dec as number));
    assert.is(shallow, pixel29(ra as number, dec as number) >> 48n);
  }
});

check('values of expressions', async () => {
  const values: readonly (readonly [expression: string, value: unknown])[] = [
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775807 - 1', -(2n ** 63n)],
    ['7 / 2', 3n],
    ['-7 / 2', -3n],
    ['7 / 2.', 3.5],
    ['2 + 3 * 4 - -1', 15n],
    ['MOD(-7, 3)', -1n],
    ['LOG(EXP(2))', 2],
    ['LOG10(1000)', 3],
    ['LOG(0)', null],
    ['SQRT(-1)', null],
    ['ROUND(2.5)', 3],
    ['ROUND(1234.5, -2)', 1200],
    ['TRUNCATE(-2.57, 1)', -2.5],
    ['TRUNCATE(1299, -2)', 1200],
    ['CEILING(1.2) + FLOOR(-1.2)', 0],
    ['DEGREES(PI())', 180],
    ["UPPER('aé') || LOWER('B')", 'AÉb'],
    ['COALESCE(NULL, 3, 4.5)', 3],
    ["CAST('12' AS INTEGER) + CAST(2.0 AS BIGINT)", 14n],
    ['CAST(12 AS VARCHAR(1))', '1'],
    ["CAST('2026-01-01T00:00:01.5Z' AS TIMESTAMP)", 1767225601500000n],
    ["CASE WHEN reliability IS NULL THEN 'none' ELSE 'some' END", 'none'],
    ['CASE diaObjectId WHEN 0 THEN 1 WHEN 2 THEN 3 END', 1n],
    ['AREA(CIRCLE(0, 0, 180))', 41252.96124941927],
    ['AREA(POLYGON(0, 0, 90, 0, 0, 90))', 5156.620156177409],
    ['COORD1(CENTROID(BOX(10, 0, 2, 2)))', 10],
    ['COORD2(CENTROID(CIRCLE(POINT(1, 2), 3)))', 2],
    ['COORD2(IVO_HEALPIX_CENTER(0, 4))', 0],
    ['IVO_HEALPIX_INDEX(0, 0, 0)', 4n],
    ["IN_UNIT(ra, 'arcmin') + IN_UNIT(dec, 'rad')", 0],
    ['COORDSYS(POINT(1, 2))', 'ICRS'],
    ['DISTANCE(POINT(0, 0), POINT(0, 90))', 90],
    ['DISTANCE(10, 30, 190, -30)', 180],
    ['1 / 0 + 1 / 0.', null],
    ['7.5 % 2 + 7 % 4', 4.5],
    ['MOD(7.5, 0.)', null],
    ['POWER(-8, 0.5)', null],
    ['COT(0)', null],
    ['TRUNCATE(0.29, 2)', 0.29],
    ['TRUNCATE(-0.2899, 2)', -0.28],
    // Decimal numbers have no -0, so rounding to places returns none.
    ['ATAN2(TRUNCATE(-3.5, -1), -1)', Math.PI],
    ['ATAN2(ROUND(-0.04, 1), -1)', Math.PI],
    ["COORD2(CAST('12.3 45.6' AS POINT))", 45.6],
    ["CONTAINS(POINT(0, 1), CAST('1.0 0.1 -2.0 0.2 3.0 -0.3' AS POLYGON))", 0],
    ["AREA(MOC('0/0-5 1/24'))", (41252.96124941927 * 6.25) / 12],
    ["CONTAINS(POINT(45, 1), MOC('0/4'))", 0],
    ["CONTAINS(POINT(0, 0), MOC('0/4'))", 1],
    ['CONTAINS(CIRCLE(0, 0, 100), CIRCLE(90, 0, 180))', 1],
    ['CONTAINS(CIRCLE(0, 0, 1), CIRCLE(0, 0, 0.5))', 0],
  ];
  for (const [expression, value] of values) {
    const [[found]] = (await rows(`SELECT ${expression} FROM objects WHERE diaObjectId = 0`)) as [[unknown]];
    if (typeof value !== 'number') assert.is(found, value, expression);
    else {
      assert.type(found, 'number', expression);
      assert.ok(Math.abs((found as number) - value) <= 1e-12 * Math.abs(value) + 1e-12, `${expression} is ${found}`);
    }
  }
});

check('no pattern takes longer than its length', async () => {
  const long = `SELECT IVO_STRING_AGG(status, '') AS s FROM objects`;
  for (const test of [
    `s LIKE '${'%m'.repeat(50)}%b_'`,
    `s ILIKE '${'%M_'.repeat(50)}b'`,
    "s LIKE '%m%m%m%m' || LOWER('_B')",
  ])
    assert.equal(await rows(`SELECT COUNT(*) FROM (${long}) AS q WHERE ${test}`), [[0n]]);
  const own =
    "SELECT COUNT(*) FROM objects WHERE status LIKE status || '%_' OR status LIKE 'm%_ed' AND status NOT ILIKE 'M_X%'";
  assert.equal(await rows(own), [[BigInt(PLACES.length)]]);
  const error = await rows(`SELECT 1 FROM (${long}) AS q WHERE s LIKE s`).catch(each => each);
  assert.match((error as Error).message, 'a pattern with % and _, or of a table, has at most 200 characters');
});

check('groups, sets, subqueries and order', async () => {
  const all = PLACES.length;
  const asked: readonly (readonly [query: string, rows: readonly unknown[][]])[] = [
    ['SELECT COUNT(*), COUNT(reliability), MIN(diaObjectId) FROM objects', [[BigInt(all), BigInt(all * 0.9), 0n]]],
    [
      'SELECT diaObjectId / 1000 AS g, COUNT(*) FROM objects GROUP BY diaObjectId / 1000 HAVING MAX(diaObjectId) > 4000 ORDER BY g DESC',
      [
        [5n, 300n],
        [4n, 300n],
      ],
    ],
    [
      'SELECT TOP 2 diaObjectId FROM objects WHERE diaObjectId IN (5, 6, 7) ORDER BY diaObjectId DESC OFFSET 1',
      [[6n], [5n]],
    ],
    [
      '(SELECT TOP 1 diaObjectId AS x FROM objects ORDER BY x) UNION (SELECT TOP 1 diaObjectId FROM objects ORDER BY diaObjectId DESC) ORDER BY x DESC',
      [[5299n], [0n]],
    ],
    [
      'SELECT diaObjectId FROM objects WHERE diaObjectId < 3 EXCEPT SELECT diaObjectId FROM objects WHERE diaObjectId = 1 ORDER BY 1',
      [[0n], [2n]],
    ],
    [
      'WITH near AS (SELECT * FROM objects WHERE diaObjectId < 3) SELECT o.diaObjectId FROM objects o LEFT JOIN near USING (diaObjectId) WHERE near.ra IS NULL AND o.diaObjectId < 5 ORDER BY 1',
      [[3n], [4n]],
    ],
    [
      'SELECT diaObjectId FROM objects o WHERE EXISTS (SELECT 1 FROM objects p WHERE p.diaObjectId = o.diaObjectId + 5299)',
      [[0n]],
    ],
    [
      "SELECT IVO_STRING_AGG(CAST(diaObjectId AS VARCHAR), '-') FROM objects WHERE diaObjectId BETWEEN 1 AND 3",
      [['1-2-3']],
    ],
    [
      "SELECT COUNT(*) FROM objects WHERE tns_checked = 'true' AND ingest_time < '2026-01-02' AND status ILIKE 'MATCH%'",
      [[BigInt(all)]],
    ],
  ];
  for (const [query, expected] of asked) assert.equal(await rows(query), expected, query);
});

interface Oracle {
  /** Ranges at order 29, [first, end). */
  readonly mocs: readonly { order: number; shape: string; ranges: [string, string][] }[];
  readonly values: readonly number[];
  readonly histograms: readonly { lower: number; upper: number; bins: number; counts: number[] }[];
}
const ORACLE: Oracle = JSON.parse(readFileSync(new URL('./oracle/mocs_and_histograms.json', import.meta.url), 'utf8'));

const refusal = (says: string) => (error: Error) => error.name === 'AdqlError' && error.message.includes(says);

check('the MOC of a shape has the pixels that mocpy finds', async () => {
  for (const { order, shape, ranges } of ORACLE.mocs) {
    const shift = BigInt(58 - 2 * order);
    const theirs = ranges.map(([first, end]) => [BigInt(first), BigInt(end)] as const);
    const cells = theirs.reduce((sum, [first, end]) => sum + Number((end - first) >> shift), 0);
    const moc = `MOC(${order}, ${shape})`;
    const [[area]] = (await rows(`SELECT AREA(${moc}) FROM objects WHERE diaObjectId = 0`)) as [[number]];
    const own = (area * 12 * 4 ** order) / 41252.96124941927;
    assert.ok(Math.abs(own - cells) < 0.001, `${shape}: ${own} and ${cells}`);
    const { sql } = translate(`SELECT 1 FROM objects WHERE 1 = CONTAINS(POINT(ra, dec), ${moc})`, TABLES, 1);
    const isInside = sql.replace(/^.* WHERE (.*) LIMIT 1$/, '$1').replaceAll('t1."healpix_29"', 'pixel');
    // The first and the last position of each range.
    const bounds = theirs.flatMap(([first, end]) => [first, end - 1n]).map(pixel => `(${pixel}::BIGINT)`);
    const outside = `SELECT pixel FROM (VALUES ${bounds.join()}) AS t(pixel) WHERE (${isInside}) IS NOT TRUE`;
    assert.equal((await connection!.runAndReadAll(outside)).getRows(), [], shape);
  }
  const areas = ['MOC(10, POINT(61.6, -49.3))', "MOC(3, MOC('5/0,17-20'))", "MOC('3/0-1')"].map(
    each => `AREA(${each})`,
  );
  const [found] = (await rows(`SELECT ${areas.join(', ')} FROM objects WHERE diaObjectId = 0`)) as [number[]];
  assert.ok(Math.abs(found[0]! * 12 * 4 ** 10 - 41252.96124941927) < 1e-6 && found[1] === found[2], `${found}`);
  for (const [moc, says] of [
    ['MOC(14, CIRCLE(1, 2, 3))', 'an order of at most 13'],
    ['MOC(13, CIRCLE(1, 2, 40))', 'too many pixels'],
    ['MOC(5, CIRCLE(ra, 2, 3))', 'this must be a number, not a column'],
  ] as const)
    assert.throws(() => translate(`SELECT AREA(${moc}) FROM objects`, TABLES, 1), refusal(says));
});

check('histograms as numpy counts them', async () => {
  const { values, histograms } = ORACLE;
  const made = [...values.map(value => `${value}::DOUBLE`), 'NULL', "'NaN'::DOUBLE"].map(value => `(${value})`);
  await connection!.run(`CREATE TEMP TABLE sample AS SELECT * FROM (VALUES ${made.join()}) AS t(x)`);
  const column = { name: 'x', type: 'float64', description: '' } as const;
  const tables = [{ schema: 's', name: 'sample', description: '', columns: [column], relation: 'temp.sample' }];
  const ask = (query: string) => translate(query, tables, 10);
  const counted = async (query: string) => (await connection!.runAndReadAll(ask(query).sql)).getRows();
  for (const { lower, upper, bins, counts } of histograms) {
    const query = `SELECT IVO_HISTOGRAM(x, ${lower}, ${upper}, ${bins}) FROM sample`;
    assert.equal(await counted(query), [[counts.join(' ')]]);
    assert.equal(datatypeOf(ask(query).columns[0]!), { datatype: 'long', arraysize: '*' });
  }
  assert.equal(await counted('SELECT ivo_histogram(x, 0, 1, 1) FROM sample WHERE x IS NULL'), [['0 0 0']]);
  for (const wrong of ['x, 1, 1, 2', 'x, 0, 1, 0', 'x, 0, 1, 1.5', 'x, 0, 1, 10001', 'x, x, 1, 2', 'x, 0, 1'])
    assert.throws(() => ask(`SELECT IVO_HISTOGRAM(${wrong}) FROM sample`), refusal(''));
});

test.after(() => {
  connection?.closeSync();
  instance?.closeSync();
});

test.run();
