/** Functions and shapes that a query computes, compared with astropy and astropy-healpix (`oracle/functions.py`). */
import { readFileSync } from 'node:fs';
import { type DescribedTable, FEATURES, MACROS, translate } from '@nearsky/adql';
import { datatypeOf } from '@nearsky/astrotables';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { duckdbObstacle, needs } from '../needs.ts';
import { column } from './support.ts';

interface Oracle {
  readonly epochs: readonly { from: number[]; to: number[] }[];
  readonly frames: readonly { icrs: number[]; galactic: number[]; fk5: number[] }[];
  readonly pixels: readonly { order: number; place: number[]; pixel: string; centre: number[] }[];
  readonly dates: readonly { time: string; jd: number; mjd: number }[];
}
const ORACLE: Oracle = JSON.parse(readFileSync(new URL('./oracle/functions.json', import.meta.url), 'utf8'));

const duckdb = await import('@duckdb/node-api').catch(() => undefined);
const test = suite('adql: functions');
const check = needs(test, duckdbObstacle());
const connection = await (await duckdb?.DuckDBInstance.create(':memory:', { threads: '1' }))?.connect();

/** Numbers as columns, so that nothing is computed before the query runs. */
const NAMES = ['n', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const TABLE: DescribedTable = {
  schema: 'sky',
  name: 'made',
  description: 'Numbers',
  columns: [
    ...NAMES.map(name => column(name, name === 'n' ? 'int64' : 'float64')),
    column('label', 'text'),
    column('seen', 'time'),
  ],
};

const ask = (query: string) => translate(query, [TABLE], 100_000);

async function rows(query: string): Promise<unknown[][]> {
  return (await connection!.runAndReadAll(ask(query).sql)).getRows() as unknown[][];
}

async function filled(numbers: readonly (readonly (number | bigint | string | null)[])[]): Promise<void> {
  await connection!.run(
    `CREATE OR REPLACE TABLE sky.made (${TABLE.columns.map(({ name, type }) => `${name} ${{ int64: 'BIGINT', float64: 'DOUBLE', text: 'VARCHAR', time: 'TIMESTAMP' }[type as 'text']}`).join()})`,
  );
  for (const row of numbers) {
    const cells = NAMES.map((_, i) => row[i] ?? 'NULL');
    await connection!.run(`INSERT INTO sky.made VALUES (${cells.join()}, 'Ab#c#100%', TIMESTAMP '2026-01-31 12:00')`);
  }
}

test.before(async () => {
  if (!connection) return;
  for (const macro of MACROS) await connection.run(macro);
  await connection.run('CREATE SCHEMA sky');
  await filled([]);
});

const isNear = (a: number, b: number, share: number) => Math.abs(a - b) <= share * Math.max(1, Math.abs(b));

check('solutions at other epochs are those of astropy', async () => {
  await filled(ORACLE.epochs.map(({ from }, i) => [i, ...from]));
  const own = 'a, b, c, d, e, f, g, h';
  const found = await rows(
    `SELECT n, ivo_epoch_prop(${own}), COORD1(ivo_epoch_prop_pos(${own})), COORD2(ivo_epoch_prop_pos(${own})) FROM made`,
  );
  assert.is(found.length, ORACLE.epochs.length);
  for (const [n, solution, ra, dec] of found as [bigint, string, number, number][]) {
    const { from, to } = ORACLE.epochs[Number(n)]!;
    const ours = solution.split(' ').map(Number);
    assert.equal(ours.slice(0, 2), [ra, dec]);
    // astropy takes the speed of light into account, which changes a motion over decades by 1e-4.
    const moved = separationArcsec(from[0]!, from[1]!, to[0]!, to[1]!);
    const apart = separationArcsec(ra, dec, to[0]!, to[1]!);
    assert.ok(apart <= 1e-6 + 5e-4 * moved, `${from}: ${apart} arcsec of ${moved}`);
    for (const i of [2, 3, 4]) assert.ok(isNear(ours[i]!, to[i]!, 1e-3), `${from}: ${ours} and ${to}`);
    assert.ok(Math.abs(ours[5]! - to[5]!) < 0.1, `${from}: ${ours} and ${to}`);
  }
  await filled([[0, 10, 20, null, 1000, -2000, null, 2016, 2026]]);
  const [[position, whole]] = (await rows(
    `SELECT ivo_epoch_prop_pos(a, b, d, e, g, h), ivo_epoch_prop(${own}) FROM made`,
  )) as [[string, string]];
  const [ra, dec] = position.split(' ').map(Number) as [number, number];
  assert.ok(
    Math.abs(dec - (20 - 20 / 3600)) < 1e-7 && Math.abs((ra - 10) * Math.cos((dec * Math.PI) / 180) - 10 / 3600) < 1e-7,
  );
  assert.is(whole.split(' ').slice(0, 2).join(' '), position);
  assert.equal(await rows(`SELECT ivo_epoch_prop(a, b, c, f, e, f, g, h) FROM made`), [[null]]);
});

check('shapes in other frames are where astropy has them', async () => {
  await filled(ORACLE.frames.map(({ icrs }, i) => [i, ...icrs]));
  const to = (frame: string, of = 'POINT(a, b)') => `ivo_geom_transform('ICRS', '${frame}', ${of})`;
  const query = `SELECT n, COORD1(${to('GALACTIC')}), COORD2(${to('galactic')}), COORD1(${to('FK5')}), COORD2(${to('FK5')}),
    DISTANCE(POINT(a, b), ivo_geom_transform('GALACTIC', 'ICRS', ${to('GALACTIC')})), CENTROID(${to('GALACTIC', 'CIRCLE(a, b, 1)')}) FROM made`;
  for (const [n, l, b, ra, dec, back, centre] of (await rows(query)) as [
    bigint,
    number,
    number,
    number,
    number,
    number,
    string,
  ][]) {
    const { galactic, fk5 } = ORACLE.frames[Number(n)]!;
    assert.ok(separationArcsec(l, b, galactic[0]!, galactic[1]!) < 1e-6);
    assert.ok(separationArcsec(ra, dec, fk5[0]!, fk5[1]!) < 1e-6);
    assert.ok(back < 1e-10, `${back}`);
    assert.is(centre, `${l} ${b}`.replaceAll(/(?<= |^)(-?\d+)(?= |$)/g, '$1.0'));
  }
  const [{ icrs, galactic }] = ORACLE.frames as [Oracle['frames'][number]];
  const [[constant]] = (await rows(`SELECT TOP 1 ${to('GALACTIC', `POINT(${icrs.join()})`)} FROM made`)) as [[string]];
  const [l, b] = constant.split(' ').map(Number) as [number, number];
  assert.ok(separationArcsec(l, b, galactic[0]!, galactic[1]!) < 1e-6);
  const polygon = 'POLYGON(a, 0.9 * b, a + 2, 0.9 * b, a + 1, 0.9 * b + 2)';
  for (const [own, turned] of (await rows(`SELECT AREA(${polygon}), AREA(${to('GALACTIC', polygon)}) FROM made`)) as [
    number,
    number,
  ][])
    assert.ok(isNear(own, turned, 1e-9), `${own} ${turned}`);
  assert.throws(() => ask(`SELECT ${to('FK4')} FROM made`), /a frame is one of ICRS, FK5, GALACTIC/);
  assert.throws(() => ask(`SELECT AREA(${to('FK5', "MOC('0/1')")}) FROM made`), /a MOC was given/);
});

/** Every third, of 12 for each order. */
const PIXELS = ORACLE.pixels.filter((_, i) => i % Number(process.env.TEST_PIXEL_STEP ?? 3) === 0);

check('pixels of any position, and their centres, are those of astropy-healpix', async () => {
  await filled(PIXELS.map(({ place, pixel }) => [pixel, ...place]));
  for (const { order, place, pixel, centre } of PIXELS) {
    const inMoc = (moc: string) => `CONTAINS(POINT(a + 0, b), MOC('${moc}'))`;
    const query = `SELECT ivo_healpix_index(${order}, a, b), ivo_healpix_index(${order}, POINT(${place.join()})), COORD1(ivo_healpix_center(${order}, n)),
      COORD2(ivo_healpix_center(${order}, ${pixel})), ${inMoc(`${order}/${pixel}`)}, ${inMoc(`${order}/${(BigInt(pixel) + 1n) % (12n * 4n ** BigInt(order))}`)}
      FROM made WHERE n = ${pixel} AND a = ${place[0]}`;
    const [[ofRow, constant, ra, dec, inside, outside]] = (await rows(query)) as [[bigint, bigint, ...number[]]];
    assert.is(`${ofRow} ${constant}`, `${pixel} ${pixel}`, `${order} ${place}`);
    assert.ok(separationArcsec(ra!, dec!, centre[0]!, centre[1]!) < 1e-6, `${order} ${pixel}`);
    assert.equal([inside, outside], [1, 0]);
  }
  await filled([
    [-1, 10, null],
    [48, 10, 91],
  ]);
  assert.equal(await rows('SELECT ivo_healpix_index(3, a, b), COORD1(ivo_healpix_center(1, n)) FROM made'), [
    [null, null],
    [null, null],
  ]);
});

check('dates, texts and numbers', async () => {
  await filled([
    [5, 1, 2, 4],
    [7, 3, 2, 4],
  ]);
  for (const { time, jd, mjd } of ORACLE.dates) {
    const cast = `CAST('${time}' AS TIMESTAMP)`;
    const [own] = (await rows(
      `SELECT TOP 1 ivo_to_mjd(${cast}), gavo_to_mjd('${time}'), ivo_to_jd(${cast}), gavo_to_jd(${cast}) FROM made`,
    )) as [number[]];
    for (const [i, expected] of [mjd, mjd, jd, jd].entries()) assert.ok(Math.abs(own[i]! - expected) < 1e-8, `${time}`);
  }
  for (const [expression, expected] of [
    ['-9223372036854775808', -(2n ** 63n)],
    ['- 9223372036854775808 + 1', 1n - 2n ** 63n],
    ["SUBSTRING('abcdef', 2, 3)", 'bcd'],
    ["SUBSTRING('abcdef' FROM 2 FOR 3)", 'bcd'],
    ["SUBSTRING('abcdef' FROM 4)", 'def'],
    ["SUBSTRING('abcdef', -1, 3)", 'a'],
    ["SUBSTRING('abcdef', 0)", 'abcdef'],
    ["SUBSTRING('abc', 2, -5)", ''],
    ["ivo_nocasematch(label, 'aB#%')", 1],
    ["ivo_nocasematch(label, 'b%')", 0],
    ["ivo_hashlist_has(label, 'C')", 1],
    ["ivo_hashlist_has(label, 'b')", 0],
    ['ivo_hashlist_has(label, NULL)', null],
    ["seen - '2026-01-30T06:00:00'", 1.25],
    ["'2026-01-31T13:00:00' - seen", 1 / 24],
    ['seen - seen', 0],
  ] as const) {
    const [[own]] = (await rows(`SELECT ${expression} FROM made WHERE n = 5`)) as [[unknown]];
    assert.equal(own, expected, expression);
  }
  assert.is(ask('SELECT seen - seen FROM made').columns[0]!.unit, 'd');
  assert.throws(() => ask('SELECT seen + seen FROM made'), /must be a number \(a time was given\)/);
  assert.throws(() => ask('SELECT 9223372036854775808 FROM made'), /at most 9223372036854775807/);
  await filled([1, 2, 4, 9].map((x, i) => [i, x]));
  assert.equal(await rows('SELECT MEDIAN(a), ROUND(STDDEV(a), 12), MEDIAN(DISTINCT a) FROM made'), [
    [3, 3.55902608401, 3],
  ]);
  const [[alone]] = (await rows('SELECT STDDEV(a) FROM made WHERE n = 0')) as [[unknown]];
  assert.is(alone, null);
});

check('a seed has the same random numbers each time, one a row', async () => {
  await filled(Array.from({ length: 200 }, (_, i) => [i]));
  const first = await rows('SELECT n, RAND(7) FROM made');
  assert.equal(await rows('SELECT n, RAND(7) FROM made'), first);
  assert.not.equal(await rows('SELECT n, RAND(8) FROM made'), first);
  const numbers = first.map(([, x]) => x as number);
  assert.is(new Set(numbers).size, 200);
  assert.ok(numbers.every(x => x >= 0 && x < 1) && Math.abs(numbers.reduce((a, b) => a + b) / 200 - 0.5) < 0.1);
  assert.is((await rows('SELECT COUNT(*) FROM (SELECT n FROM made WHERE RAND(3) < 0.5) AS q'))[0]!.length, 1);
});

check('a column of polygons with many corners is not compared', async () => {
  await filled([[0, 10, 20]]);
  const corners = (count: number) =>
    `POLYGON(${Array.from({ length: count }, (_, i) => `a + ${Math.cos((6.28 * i) / count)}, b + ${Math.sin((6.28 * i) / count)}`).join()})`;
  const query = (count: number) =>
    `SELECT AREA(p), CONTAINS(POINT(a, b), p) FROM (SELECT a, b, ${corners(count)} AS p FROM made) AS q`;
  const [[area, isInside] = []] = await rows(query(100));
  assert.is(isInside, 1);
  assert.ok(Math.abs((area as number) - Math.PI * Math.cos((20 * Math.PI) / 180)) < 0.01, `${area}`);
  const failure = await rows(query(129)).catch(({ message }) => message);
  assert.match(failure, /at most 128 pairs of corners/);
});

check('shapes are results, and columns of queries are shapes', async () => {
  await filled([
    [0, 10, 20, 0.5],
    [1, 350.25, -89.5, 2],
    [2, null, 20, 1],
  ]);
  const query = `SELECT n, POINT(a, b) AS p, CIRCLE(a, b, c) AS "circle", BOX(a, b, c, c) AS "box", POLYGON(a, b, a + 1, b, a, b + 1) AS poly FROM made`;
  const { columns } = ask(query);
  assert.equal(
    columns.slice(1).map(each => datatypeOf(each)),
    [
      { datatype: 'double', arraysize: '2', xtype: 'point' },
      { datatype: 'double', arraysize: '3', xtype: 'circle' },
      ...Array.from({ length: 2 }, () => ({ datatype: 'double', arraysize: '*', xtype: 'polygon' })),
    ],
  );
  const [first, , unknown] = await rows(`${query} ORDER BY n`);
  assert.equal(first, [
    0n,
    '10.0 20.0',
    '10.0 20.0 0.5',
    '9.75 19.75 10.25 19.75 10.25 20.25 9.75 20.25',
    '10.0 20.0 11.0 20.0 10.0 21.0',
  ]);
  assert.equal(unknown, [2n, null, null, null, null]);
  const again = `WITH made_shapes AS (${query}) SELECT n, COORD1(p), CONTAINS(p, "circle"), CONTAINS(p, "box"), AREA("circle") - AREA(CIRCLE(0, 0, 0.5)),
    INTERSECTS(poly, "circle"), CONTAINS(poly, "circle"), p FROM made_shapes WHERE n <> 1 ORDER BY n`;
  assert.equal(await rows(again), [
    [0n, 10, 1, 1, 0, 1, 0, '10.0 20.0'],
    [2n, null, null, null, null, null, null, null],
  ]);
  assert.throws(() => ask("SELECT MOC('0/1') FROM made"), /a MOC cannot be a column of the result/);
  assert.throws(() => ask('SELECT CENTROID(POLYGON(a, b, 1, 2, 3, 4)) FROM made'), /the same for all rows/);
  assert.throws(() => ask("SELECT CONTAINS(CIRCLE(a, b, 1), MOC('0/1')) FROM made"), /a MOC with a POINT alone/);
});

check('a box beyond a pole has its sizes along great circles', async () => {
  await filled([
    [0, 30, 89.5, 2, 4],
    [1, 200, -90, 3, 3],
  ]);
  for (const [ra, dec, isIn] of [
    [30, 87.6, [1, 0]],
    [30, 87.4, [0, 0]],
    [210, 88.6, [1, 0]],
    [210, 88.4, [0, 0]],
    [120, 89.1, [1, 0]],
    [120, 88.9, [0, 0]],
    [7, -88.6, [0, 1]],
    [200, -88.4, [0, 0]],
  ] as const) {
    const found = await rows(`SELECT CONTAINS(POINT(${ra}, ${dec}), BOX(a, b, c, d)) FROM made ORDER BY n`);
    assert.equal(found.flat(), isIn, `${ra} ${dec}`);
    const constant = await rows(
      `SELECT TOP 1 CONTAINS(POINT(${ra}, ${dec}), BOX(30, 89.5, 2, 4)), CONTAINS(POINT(${ra}, ${dec}), BOX(200, -90, 3, 3)) FROM made`,
    );
    assert.equal(constant, [isIn]);
  }
  assert.throws(() => ask('SELECT AREA(BOX(1, 89, 200, 5)) FROM made'), /less than 180 wide/);
});

check(
  'what has no value at an infinity is NULL: a pixel, an angle, an area; and so is the area of no circle',
  async () => {
    await filled([[1, 10, 20, 800, 400, -1]]);
    const pixels = ['EXP(c), b', 'a, EXP(c)', 'a, -EXP(c)', 'POINT(a * EXP(c), b)', 'a, b * 5', 'a, EXP(c) - EXP(c)'];
    const angles = ['SIN', 'COS', 'TAN', 'COT'].map(name => `${name}(EXP(c))`);
    const areas = ['EXP(c)', 'd', 'e', 'EXP(800)'].map(radius => `AREA(CIRCLE(a, b, ${radius}))`);
    const others = ['ivo_epoch_prop(a, b, 1, 1, 1, 1, 2000, EXP(c))', 'POINT(EXP(c), b)', 'CIRCLE(a, b, EXP(c))'];
    const list = [...pixels.map(of => `ivo_healpix_index(5, ${of})`), ...angles, ...areas, ...others];
    const [row] = await rows(`SELECT ${list.map((each, i) => `${each} AS x${i}`).join(', ')} FROM made`);
    assert.equal(
      list.filter((_, i) => row![i] !== null),
      [],
    );
  },
);

test('every documented function is one that queries can call', () => {
  for (const { form } of FEATURES.filter(({ type }) => type === 'udf')) {
    const name = /^\w+/.exec(form)![0];
    assert.throws(() => ask(`SELECT ${name}() FROM made`), /takes .*\(0 were given\)|takes \d+ argument/, form);
  }
});

test.after(() => connection?.closeSync());

test.run();
