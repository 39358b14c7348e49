/**
 * Generated queries: the translation and the engine must give PostgreSQL's answers. A normal test run reads
 * PostgreSQL's answers from a file. `TEST_ADQL_QUERIES=5000` asks a PostgreSQL with q3c and pgsphere on this machine,
 * from the seed `TEST_ADQL_SEED` on; `TEST_ADQL_RECORD=60` writes the file.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { ENGINE_TYPES, MACROS, translate } from '@nearsky/adql';
import type { ColumnType } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { duckdbObstacle, needs } from '../needs.ts';
import { ROWS, TABLES } from './oracle/data.ts';
import { Postgres, whyNoPostgres } from './oracle/postgres.ts';
import { Queries } from './oracle/queries.ts';

type Row = readonly (string | null)[];
interface Answered {
  readonly query: string;
  readonly isOrdered: boolean;
  /** Undefined if PostgreSQL fails. */
  readonly rows?: readonly Row[];
}

const ANSWERS = new URL('./oracle/answers.json', import.meta.url);
const SLICE = 500;

const duckdb = await import('@duckdb/node-api').catch(() => undefined);
const obstacle = duckdbObstacle();
const test = suite('adql: oracle');

const connection = await (await duckdb?.DuckDBInstance.create(':memory:', { threads: '1' }))?.connect();

test.before(async () => {
  if (!connection) return;
  for (const macro of MACROS) await connection.run(macro);
  await connection.run('CREATE SCHEMA nearsky');
  for (const [i, { schema, name, columns }] of TABLES.entries()) {
    await connection.run(
      `CREATE TABLE ${schema}.${name} (${columns.map(each => `"${each.name}" ${ENGINE_TYPES[each.type]}`).join(', ')})`,
    );
    const cell = (type: ColumnType, value: unknown) =>
      value === null
        ? 'NULL'
        : type === 'time'
          ? `make_timestamp(${value})`
          : type === 'text'
            ? `'${`${value}`.replaceAll("'", "''")}'`
            : `${value}`;
    const rows = ROWS[i]!.map(row => `(${row.map((value, j) => cell(columns[j]!.type, value)).join(', ')})`);
    await connection.run(`INSERT INTO ${schema}.${name} VALUES ${rows.join(', ')}`);
  }
});

/** Our rows with each value as a string, and the types of the columns. */
async function answer(query: string) {
  const { sql, columns } = translate(query, TABLES, 1_000_000);
  const result = await connection!.runAndReadAll(sql);
  const rows = result.getRows().map((row): Row => row.map(cell => (cell === null ? null : String(cell))));
  return { rows, types: columns.map(({ type }) => type) };
}

function isSame(type: ColumnType, ours: string | null, theirs: string | null): boolean {
  if (ours === null || theirs === null) return ours === theirs;
  if (type === 'float64' || type === 'float32') {
    const [a, b] = [ours, theirs].map(Number) as [number, number];
    return (
      Object.is(a, b) || Math.abs(a - b) <= (type === 'float32' ? 1e-6 : 1e-9) * Math.max(1, Math.abs(a), Math.abs(b))
    );
  }
  return type === 'boolean' ? ours === (theirs === 't' ? 'true' : 'false') : ours === theirs;
}

/** A time of PostgreSQL's, `2026-01-01 00:00:00.5`, as microseconds since 1970. */
function microseconds(time: string): string {
  const [whole, fraction = ''] = time.split('.') as [string, string?];
  return `${Date.parse(`${whole.replace(' ', 'T')}Z`) / 1000}${fraction.padEnd(6, '0')}`;
}

/** Rows without an order are sorted for the comparison; numbers with a fraction come last. */
function sorted(rows: readonly Row[], types: readonly ColumnType[]): readonly Row[] {
  const isNumber = (type: ColumnType | undefined) => type?.startsWith('float') ?? false;
  const places = types.map((_, i) => i).sort((a, b) => Number(isNumber(types[a])) - Number(isNumber(types[b])));
  const compare = (a: Row, b: Row) => {
    // Numbers that hardly differ are in order, too; otherwise many of them, each near the next, would be in any order.
    let nearly = 0;
    for (const i of places) {
      const [x, y] = [a[i]!, b[i]!];
      if (x === y) continue;
      if (x === null || y === null) return x === null ? 1 : -1;
      const difference = isNumber(types[i]) ? Number(x) - Number(y) : x < y ? -1 : 1;
      if (!isNumber(types[i]) || Math.abs(difference) > 1e-9 * Math.abs(Number(x))) return difference;
      nearly ||= difference;
    }
    return nearly;
  };
  return rows.toSorted(compare);
}

/** How our answer differs; undefined if it does not. */
async function difference({ query, isOrdered, rows: theirs }: Answered): Promise<string | undefined> {
  let ours: Awaited<ReturnType<typeof answer>>;
  try {
    ours = await answer(query);
  } catch (error) {
    return theirs && `ours: ${(error as Error).message.split('\n', 1)[0]}`;
  }
  if (!theirs) return `ours has ${ours.rows.length} rows, theirs ends with an error`;
  if (theirs.length !== ours.rows.length) return `ours has ${ours.rows.length} rows, theirs ${theirs.length}`;
  const read = theirs.map(row => row.map((cell, i) => (cell && ours.types[i] === 'time' ? microseconds(cell) : cell)));
  const [a, b] = (isOrdered ? [ours.rows, read] : [ours.rows, read].map(rows => sorted(rows, ours.types))) as [
    Row[],
    Row[],
  ];
  const row = a.findIndex((cells, i) => cells.some((cell, j) => !isSame(ours.types[j]!, cell, b[i]![j]!)));
  return row < 0 ? undefined : `row ${row}: ours ${JSON.stringify(a[row])}, theirs ${JSON.stringify(b[row])}`;
}

async function differences(answered: readonly Answered[]): Promise<string[]> {
  const found: string[] = [];
  for (const each of answered) {
    const how = await difference(each);
    if (how) found.push(`${each.query}\n  ${how}`);
  }
  return found;
}

async function asked(
  postgres: Postgres,
  seed: number,
  count: number,
): Promise<(Answered & { readonly sql: string })[]> {
  const queries = new Queries(seed);
  const made = Array.from({ length: count }, () => queries.next());
  const rows = await postgres.rows(made.map(({ sql }) => sql));
  assert.is(rows.length, made.length);
  return made.map(({ adql, sql, isOrdered }, i) => ({
    query: adql,
    isOrdered,
    sql,
    ...(rows[i] && { rows: rows[i] }),
  }));
}

const count = Number(process.env.TEST_ADQL_QUERIES ?? 0);
const recorded = Number(process.env.TEST_ADQL_RECORD ?? 0);
const live = needs(
  test,
  obstacle ?? (count + recorded > 0 ? whyNoPostgres() : 'it takes minutes: TEST_ADQL_QUERIES=5000 runs it'),
);

live('many queries have the rows that PostgreSQL finds', async () => {
  const postgres = await Postgres.start(TABLES, ROWS);
  try {
    const found: string[] = [];
    let [failed, filled] = [0, 0];
    for (let from = 0; from < count; from += SLICE) {
      const answered = await asked(
        postgres,
        Number(process.env.TEST_ADQL_SEED ?? 1) + from / SLICE,
        Math.min(SLICE, count - from),
      );
      failed += answered.filter(({ rows }) => !rows).length;
      filled += answered.filter(({ rows }) => rows && rows.length > 0).length;
      found.push(...(await differences(answered)));
    }
    console.log(`${count} queries, ${filled} with rows, ${failed} refused by both, ${found.length} differ`);
    if (recorded > 0) {
      const kept = (await asked(postgres, 1, 5 * recorded)).filter(
        ({ rows }) => rows && rows.length > 0 && rows.length <= 20,
      );
      const answers = kept.slice(0, recorded).map(({ query, isOrdered, rows }) => ({ query, isOrdered, rows }));
      writeFileSync(ANSWERS, `[\n${answers.map(each => JSON.stringify(each)).join(',\n')}\n]\n`);
    }
    assert.ok(found.length === 0, found.slice(0, 40).join('\n'));
    assert.ok(failed <= count / 20 && filled >= count / 3);
  } finally {
    await postgres.close();
  }
});

needs(test, obstacle)('queries have the rows that PostgreSQL found', async () => {
  const answered = JSON.parse(readFileSync(ANSWERS, 'utf8')) as Answered[];
  assert.ok(answered.length >= 60);
  const found = await differences(answered);
  assert.ok(found.length === 0, found.join('\n'));
});

test.after(() => connection?.closeSync());

test.run();
