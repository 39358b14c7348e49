/**
 * Outer joins: their rows, compared with those found by comparing all pairs; and their plans, in which the engine must
 * not compare all pairs.
 */
import { type DescribedTable, MACROS, translate } from '@nearsky/adql';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { duckdbObstacle, needs } from '../needs.ts';
import { seededRandom } from '../oracle/skies.ts';
import { column } from './support.ts';

const duckdb = await import('@duckdb/node-api').catch(() => undefined);
const test = suite('adql: joins');
const check = needs(test, duckdbObstacle());
const connection = await (await duckdb?.DuckDBInstance.create(':memory:', { threads: '2' }))?.connect();

type Maybe = number | null;
interface Row {
  readonly num: number;
  readonly id: Maybe;
  readonly x: Maybe;
  readonly s: string | null;
}
const NAMES = ['a', 'b', 'c'] as const;
const TABLES: readonly DescribedTable[] = NAMES.map(name => ({
  schema: 'sky',
  name,
  description: name,
  columns: [column('num', 'int64'), column('id', 'int64'), column('x', 'int32'), column('s', 'text')],
}));
const random = seededRandom(7);
const below = (count: number) => Math.floor(random() * count);
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
const maybe = <T>(value: T): T | null => (random() < 0.1 ? null : value);
const ROWS: readonly (readonly Row[])[] = NAMES.map((_, table) =>
  Array.from({ length: 40 }, (_, i) => ({
    num: 100 * table + i,
    id: maybe(below(30)),
    x: maybe(below(8)),
    s: maybe(pick(['', 'a', 'ab', 'b%', 'B'])),
  })),
);

/** A condition as SQL knows it. */
type Truth = boolean | null;
const compared = <T>(a: T | null, b: T | null, test: (a: T, b: T) => boolean): Truth =>
  a === null || b === null ? null : test(a, b);
const or = (a: Truth, b: Truth): Truth => (a === true || b === true ? true : a === null || b === null ? null : false);

interface Condition {
  readonly adql: (a: string, b: string) => string;
  readonly of: (a: Row, b: Row) => Truth;
}
const EQUAL: readonly Condition[] = [
  { adql: (a, b) => `${a}.id = ${b}.id`, of: (a, b) => compared(a.id, b.id, (x, y) => x === y) },
  { adql: (a, b) => `${b}.id + 1 = ${a}.id`, of: (a, b) => compared(a.id, b.id, (x, y) => x === y + 1) },
  { adql: (a, b) => `${b}.s = LOWER(${a}.s)`, of: (a, b) => compared(a.s, b.s, (x, y) => x.toLowerCase() === y) },
];
/** Conditions on one row, in either of the tables. */
const OF_ONE: readonly { adql: (t: string) => string; of: (row: Row) => Truth }[] = [
  { adql: t => `${t}.x > 3`, of: ({ x }) => compared(x, 3, (x, y) => x > y) },
  { adql: t => `${t}.x IS NULL`, of: ({ x }) => x === null },
  { adql: t => `NOT ${t}.s LIKE 'a%'`, of: ({ s }) => compared(s, '', s => !s.startsWith('a')) },
  {
    adql: t => `${t}.x IN (1, 2, ${t}.id)`,
    of: ({ x, id }) =>
      or(
        compared(x, 0, x => x === 1 || x === 2),
        compared(x, id, (x, y) => x === y),
      ),
  },
  {
    adql: t => `(${t}.x = 2 OR ${t}.id < 9)`,
    of: ({ x, id }) =>
      or(
        compared(x, 2, (x, y) => x === y),
        compared(id, 9, (x, y) => x < y),
      ),
  },
  { adql: t => `'a' = ${t}.s`, of: ({ s }) => compared(s, 'a', (x, y) => x === y) },
];
const OF_PAIRS: readonly Condition[] = [
  { adql: (a, b) => `${a}.x < ${b}.x`, of: (a, b) => compared(a.x, b.x, (x, y) => x < y) },
  { adql: (a, b) => `${a}.x + ${b}.x > 5`, of: (a, b) => compared(a.x, b.x, (x, y) => x + y > 5) },
  {
    adql: (a, b) => `(${a}.x = 1 OR ${b}.x = 2)`,
    of: (a, b) =>
      or(
        compared(a.x, 1, (x, y) => x === y),
        compared(b.x, 2, (x, y) => x === y),
      ),
  },
  {
    adql: (a, b) => `${a}.x BETWEEN ${b}.x - 1 AND ${b}.x + 1`,
    of: (a, b) => compared(a.x, b.x, (x, y) => Math.abs(x - y) <= 1),
  },
  { adql: (a, b) => `COALESCE(${a}.x, ${b}.x) = 2`, of: (a, b) => compared(a.x ?? b.x, 2, (x, y) => x === y) },
  {
    adql: (a, b) => `${b}.x IN (SELECT x FROM sky.c WHERE num < 205) AND ${a}.x <> 1`,
    of: (a, b) => {
      const list = ROWS[2]!.filter(({ num }) => num < 205).map(({ x }) => x);
      const isIn = b.x === null ? null : list.includes(b.x) ? true : list.includes(null) ? null : false;
      return isIn && compared(a.x, 1, x => x !== 1);
    },
  },
  {
    adql: (a, b) => `DISTANCE(${a}.x, ${a}.x, ${b}.x, ${b}.x) < 0.5`,
    of: (a, b) => compared(a.x, b.x, (x, y) => x === y),
  },
];

test.before(async () => {
  if (!connection) return;
  for (const macro of MACROS) await connection.run(macro);
  await connection.run('CREATE SCHEMA sky');
  for (const [i, name] of NAMES.entries()) {
    await connection.run(`CREATE TABLE sky.${name} ("num" BIGINT, id BIGINT, x INTEGER, s VARCHAR)`);
    const rows = ROWS[i]!.map(({ num, id, x, s }) => `(${num}, ${id}, ${x}, ${s === null ? 'NULL' : `'${s}'`})`);
    await connection.run(`INSERT INTO sky.${name} VALUES ${rows.join()}`);
  }
});

type Side = (table: string, alias: string) => { readonly adql: string; readonly with?: string };
const SIDES: readonly Side[] = [
  (table, alias) => ({ adql: `sky.${table} AS ${alias}` }),
  (table, alias) => ({ adql: `(SELECT num, id, x, s FROM sky.${table} WHERE num >= 0) AS ${alias}` }),
  (table, alias) => ({ adql: `q${alias} AS ${alias}`, with: `q${alias} AS (SELECT * FROM sky.${table})` }),
  // Each row is joined with itself.
  (table, alias) => ({
    adql: `(sky.${table} AS ${alias} LEFT JOIN sky.${table} AS ${alias}2 ON ${alias}.num = ${alias}2.num AND ${alias}.x > 100)`,
  }),
];

const order = (rows: readonly unknown[][]) => rows.map(row => row.join()).sort();

function expected(type: string, of: (a: Row, b: Row) => Truth): string[] {
  const [as, bs] = ROWS as readonly [readonly Row[], readonly Row[]];
  const pairs = as.flatMap(a => bs.filter(b => of(a, b) === true).map(b => [a, b] as const));
  const alone = (rows: readonly Row[], side: 0 | 1) => rows.filter(row => !pairs.some(pair => pair[side] === row));
  const rows: unknown[][] = pairs.map(([a, b]) => [a.num, a.s, b.num, b.x]);
  if (type !== 'RIGHT') rows.push(...alone(as, 0).map(a => [a.num, a.s, null, null]));
  if (type !== 'LEFT') rows.push(...alone(bs, 1).map(b => [null, null, b.num, b.x]));
  return order(rows);
}

check('no outer join by equal values compares all pairs, and each has the rows of its definition', async () => {
  const found: string[] = [];
  for (let i = 0; i < 400; i++) {
    const type = pick(['LEFT', 'RIGHT', 'FULL']);
    const [a, b] = [pick(SIDES)('a', 'a'), pick(SIDES)('b', 'b')];
    const conditions: { adql: string; of: (a: Row, b: Row) => Truth }[] = [];
    const ofPairs = ({ adql, of }: Condition) => conditions.push({ adql: adql('a', 'b'), of });
    ofPairs(pick(EQUAL));
    for (let more = below(3); more > 0; more--) {
      const { adql, of } = pick(OF_ONE);
      const isLeft = random() < 0.5;
      conditions.push({ adql: adql(isLeft ? 'a' : 'b'), of: (a, b) => of(isLeft ? a : b) });
    }
    if (random() < 0.5) ofPairs(pick(OF_PAIRS));
    const on = conditions
      .map(({ adql }) => adql)
      .sort(() => random() - 0.5)
      .join(' AND ');
    const named = [a.with, b.with].filter(each => each !== undefined);
    const query = `${named.length > 0 ? `WITH ${named.join(', ')} ` : ''}SELECT a.num, a.s, b.num, b.x FROM ${a.adql} ${type} OUTER JOIN ${b.adql} ON ${on}`;
    const { sql } = translate(query, TABLES, 100_000);
    const plan = String((await connection!.runAndReadAll(`EXPLAIN ${sql}`)).getRows()[0]![1]);
    // A position is near the corners of four cells, which multiplies rows.
    const isProduct = !on.includes('DISTANCE');
    const loops = (plan.match(/\w*(?:NESTED_LOOP|_NL_|CROSS_PRODUCT)\w*/g) ?? []).filter(
      each => isProduct || each !== 'CROSS_PRODUCT',
    );
    const rows = order((await connection!.runAndReadAll(sql)).getRows() as unknown[][]);
    const of = (x: Row, y: Row) => conditions.every(each => each.of(x, y) === true);
    const isEqual = JSON.stringify(rows) === JSON.stringify(expected(type, of));
    if (loops.length > 0 || !isEqual) found.push(`${query}\n  ${isEqual ? '' : 'other rows '}${loops}`);
  }
  assert.ok(found.length === 0, `${found.length}\n${found.slice(0, 5).join('\n')}`);
});

test.after(() => connection?.closeSync());

test.run();
