/** The answer of a query, from the engine's first row to its last: no row is lost silently. */

import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { failing } from '@nearsky/adql';
import type { Column } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { FEW_ROWS, QueryRun, type TapQuery } from '../../../src/capabilities/adql/query_run.ts';
import { tapFormat } from '../../../src/capabilities/adql/tap_formats.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite('tap: job');
const obstacle = duckdbObstacle();
const check = needs(test, obstacle);

const instance = obstacle
  ? undefined
  : await (await import('@duckdb/node-api')).DuckDBInstance.create(':memory:', { threads: '2', temp_directory: '' });
const COLUMNS: readonly Column[] = [{ name: 'n', type: 'int64', description: '' }];
const INFOS = ['query', 'nearsky_journal_entry', 'nearsky_as_of'].map(name => ({ name, value: '1' }));
const LATE = /^the query cannot be carried out: too late$/;
/** More than what the engine and one part hold at once. */
const ROWS = 300_000;

type More = Partial<TapQuery> & {
  readonly as?: string;
  readonly columns?: readonly Column[];
  /** SQL for its first rows. */
  readonly few?: string;
  /** Runs after each part. */
  readonly between?: () => Promise<void>;
};

async function answer(sql: string, more: More = {}): Promise<string> {
  const { as = 'csv', columns = COLUMNS, few, between, ...asked } = more;
  const query = { query: sql, maxRecords: ROWS, format: tapFormat(as)!, seconds: 60, uploads: [], ...asked };
  const connection = await instance!.connect();
  await connection.run('BEGIN');
  const job = new QueryRun(connection, columns, query, () => {});
  try {
    await job.begin(sql, async () => INFOS, few);
    const parts: Uint8Array[] = [];
    for (let part = await job.part(); part; part = await job.part()) {
      parts.push(part);
      await between?.();
    }
    assert.ok(job.isDone);
    return Buffer.concat(parts).toString();
  } catch (error) {
    throw new Error(job.reasonOf(error));
  } finally {
    job.close();
  }
}

check('many columns share the room for descriptions, few have theirs whole', async () => {
  const answered = async (count: number, as: string) => {
    const columns = Array.from({ length: count }, (_, i): Column => {
      return { name: `c${i}`, type: 'int32', description: 'd'.repeat(2000) };
    });
    return await answer(`SELECT ${columns.map(({ name }) => `1 AS ${name}`).join()}`, { as, columns });
  };
  const of = async (count: number) =>
    [...(await answered(count, 'votable')).matchAll(/<DESCRIPTION>(d+)</g)].map(([, text]) => text!.length);
  assert.equal(await of(65), new Array(65).fill(2000));
  assert.equal(await of(512), new Array(512).fill(256));
  // Parquet and Arrow write a description several times, which takes the engine's only thread.
  for (const as of ['votable', 'parquet', 'arrow', 'json']) {
    const { length } = await answered(500, as);
    assert.ok(length < 2 ** 20, `${as}: ${length}`);
  }
});

check('the texts of a wide answer are whole, whenever garbage is collected between its parts', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const [rows, width] = [2000, 100];
  const columns = Array.from({ length: width }, (_, i): Column => ({ name: `t${i}`, type: 'text', description: '' }));
  const text = (row: number, column: number) => `row ${row} column ${column} ${'x'.repeat(20)}`;
  const selected = columns.map((_, i) => `'row ' || i || ' column ${i} ${'x'.repeat(20)}' AS c${i + 1}`);
  const sql = `SELECT ${selected.join(', ')} FROM range(${rows}) AS t(i)`;
  const other = await instance!.connect();
  const between = async () => {
    await setImmediate();
    collect();
    await setImmediate();
    // Takes the memory that is free now.
    await other.runAndReadAll(sql.replaceAll('row ', 'bad '));
  };
  try {
    for (const few of [{}, { few: sql }]) {
      const lines = (await answer(sql, { columns, between, ...few })).trimEnd().split('\n').slice(1);
      assert.is(lines.length, rows);
      for (const [row, line] of lines.entries()) assert.is(line, columns.map((_, i) => text(row, i)).join(','));
    }
  } finally {
    other.closeSync();
  }
});

const failure = (promise: Promise<string>): Promise<string> =>
  promise.then(
    text => `no failure, and ${text.split('\n').length} lines`,
    error => error.message,
  );

check('every row comes once and in order, at whatever number the rows end', async () => {
  for (const rows of [0, 1, 256, 257, 2047, 2048, 2049, 4096, 122_880, ROWS]) {
    for (const [maxRecords, isCut] of [
      [rows, false],
      [rows + 1, false],
      [Math.max(0, rows - 1), rows > 0],
    ] as const) {
      const unlimited = `SELECT ${rows} - i AS c1 FROM range(${rows}) AS t(i) ORDER BY i`;
      const sql = `${unlimited} LIMIT ${maxRecords + 1}`;
      for (const few of [{}, { few: `${unlimited} LIMIT ${Math.min(maxRecords + 1, FEW_ROWS + 1)}` }]) {
        const lines = (await answer(sql, { maxRecords, ...few })).trimEnd().split('\n').slice(1);
        assert.is(lines.length, Math.min(rows, maxRecords), `${rows}, ${maxRecords}`);
        assert.ok(lines.every((line, i) => line === `${rows - i}`));
        const votable = await answer(sql, { maxRecords, as: 'votable', ...few });
        assert.is(votable.includes('value="OVERFLOW"'), isCut);
      }
    }
  }
});

check('an error in a late row is told, with its reason', async () => {
  const late = `SELECT CASE WHEN i = ${ROWS - 5} THEN ${failing('too late')} ELSE i END::BIGINT AS c1 FROM range(${ROWS}) AS t(i)`;
  for (const as of ['csv', 'ndjson', 'parquet']) assert.match(await failure(answer(late, { as })), LATE, as);
  for (const as of ['votable', 'votable/b2']) {
    const text = await answer(late, { as });
    assert.match(text, /<INFO name="QUERY_STATUS" value="ERROR">.*too late/);
    assert.match(await failure(answer(late, { as, isJob: true })), LATE);
  }
  const overflow = `SELECT 9223372036854775807 - ${ROWS - 5} + i AS c1 FROM range(${ROWS}) AS t(i)`;
  assert.match(await failure(answer(overflow)), /a number is too large for its type/);
  const sum = 'SELECT CAST(sum(9223372036854775807 - i) AS BIGINT) AS c1 FROM range(2) AS t(i)';
  assert.match(await failure(answer(sum)), /a number is too large for its type/);
});

check('an answer that is ended while a part is made has no end', async () => {
  const query = { query: '', maxRecords: ROWS, format: tapFormat('csv')!, seconds: 60, uploads: [] };
  const connection = await instance!.connect();
  await connection.run('BEGIN');
  const job = new QueryRun(connection, COLUMNS, query, () => {});
  await job.begin(`SELECT i::BIGINT AS c1 FROM range(${ROWS}) AS t(i)`, async () => []);
  await job.part();
  const next = job.part().then(part => `${part?.length ?? 'the end'}`, String);
  await job.close();
  assert.match(await next, 'the query was ended');
});

check('long SQL is planned in turns, and not for a query that has ended', async () => {
  const terms = Array.from({ length: 8000 }, (_, i) => i);
  const sql = `SELECT list_sum([${terms}])::BIGINT AS c1`;
  const whole = `n\n${(8000 * 7999) / 2}\n`;
  const query = { query: '', maxRecords: ROWS, format: tapFormat('csv')!, seconds: 60, uploads: [] };
  const made = async () => new QueryRun(await instance!.connect(), COLUMNS, query, () => {});
  const [first, ended] = [await made(), await made()];
  const beginnings = [first, ended].map(job => job.begin(sql, async () => []).then(() => 'begun', String));
  const closing = ended.close();
  const [few, fits] = await Promise.all([answer(sql, { few: sql }), answer(sql, { as: 'fits' })]);
  const [begun, failed] = await Promise.all(beginnings);
  assert.is(begun, 'begun');
  assert.match(failed!, 'the query was ended');
  assert.ok(await closing);
  assert.is(`${Buffer.from((await first.part())!)}`, whole);
  assert.not(await first.close());
  assert.is(few, whole);
  assert.match(fits!, /NAXIS2 *= *1 /);
});

check('words of the engine do not come through', async () => {
  for (const [sql, reason] of [
    ["SELECT CAST('secret' AS INTEGER) AS c1", 'a value cannot be converted'],
    ['SELECT CAST(300 AS TINYINT) AS c1', 'a value cannot be converted'],
    ["SELECT error('secret') AS c1", 'the log of the service says why'],
    ['SELECT * FROM secret', 'the log of the service says why'],
    [`SELECT 1${' + 1'.repeat(1100)} AS c1`, 'nested too deeply'],
  ] as const) {
    for (const few of [{}, { few: sql }]) {
      const told = await failure(answer(sql, few));
      assert.ok(told.startsWith('the query cannot be carried out: ') && told.includes(reason), told);
      assert.not.match(told, /secret|Error|INT/, told);
    }
  }
});

check('a query that is late in a late row is told to be', async () => {
  const slow = `SELECT CASE WHEN i < 100000 THEN i ELSE (SELECT count(*) FROM range(20000) AS u(j) WHERE sin(j + i) > 2) END::BIGINT AS c1 FROM range(${ROWS}) AS t(i)`;
  for (const few of [{}, { few: slow }])
    assert.match(await failure(answer(slow, { seconds: 1, ...few })), /takes longer than is allowed/);
});

test.after(() => instance?.closeSync());

test.run();
