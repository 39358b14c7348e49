/** Queries that take all memory or all slots: those of another client are answered meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Running } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { ask, engine, LONG, MEMORY_MIB, OTHER, SLOW, small, startEngine, THREE } from './engine_support.ts';

interface Context {
  running: Running;
  /** For tests in which a query may take only seconds. */
  brief: Running;
}

const test = suite<Context>('tap: hungry');
const obstacle = duckdbObstacle();
const check = needs(test, obstacle);
const onLinux = needs(test, obstacle ?? (process.platform === 'linux' ? undefined : 'only Linux bounds the memory'));

test.before(async context => {
  // Memory is taken before the time is over, on a slow machine, too.
  context.running = await startEngine(50);
});

test.after(({ running, brief }) => (brief ?? running).close());

const joined = (text: string, count: number) => new Array(count).fill(text).join(' || ');
const SUM = 'a.ra + b.ra + c.ra';
const WIDE = Array.from({ length: 490 }, (_, i) => `a.diaObjectId + ${i} AS k${i}`);

/** The engine gives way to others: questions without a pause would keep it from the memory until its time is over. */
const BREATH_MS = 100;
/** It takes about a third of the memory. */
const HONEST =
  'SELECT COUNT(*) FROM (SELECT DISTINCT a.diaObjectId AS x, b.diaObjectId AS y, c.ra AS z FROM objects AS a, objects AS b, (SELECT TOP 4 ra FROM objects) AS c) AS q';

/** Each takes more memory than there is. */
const HUNGRY: Readonly<Record<string, string>> = {
  'texts of texts': `SELECT MAX(x) FROM (SELECT ${joined('t', 100)} AS x FROM (SELECT ${joined(`CAST(${SUM} AS VARCHAR)`, 20)} AS t FROM ${THREE}) AS q) AS r`,
  'an order of all': `SELECT a.status, b.ra, c.dec, CAST(${SUM} AS VARCHAR) AS x FROM ${THREE} ORDER BY 4 OFFSET 3000000`,
  'different rows': `SELECT COUNT(*) FROM (SELECT DISTINCT a.diaObjectId AS x, b.diaObjectId AS y, c.ra AS z FROM ${THREE}) AS q`,
};

onLinux('rows of many kilobytes do not end the engine', async ({ running }) => {
  await small(running);
  const { pid } = engine()!;
  const text = `${joined('a.status', 64)} || '${'x'.repeat(1024)}`;
  for (const columns of [7, 8, 9, 10]) {
    const list = Array.from({ length: columns }, (_, i) => `${text}${i}' AS c${i}`);
    for (const top of ['', 'TOP 2000'])
      await ask(
        running,
        `SELECT ${top} ${list.join(', ')} FROM objects AS a, (SELECT TOP 10 ra FROM objects) AS b`,
        OTHER,
      );
  }
  assert.is(engine()?.pid, pid);
});

onLinux('a query that takes all memory is refused alone, within the bound', async ({ running }) => {
  await small(running);
  const { pid } = engine()!;
  for (const [name, query] of Object.entries(HUNGRY)) {
    let isOver = false;
    const hungry = ask(running, query, '192.0.2.1').finally(() => (isOver = true));
    let most = 0;
    while (!isOver) {
      await small(running);
      most = Math.max(most, engine()!.mib);
      await sleep(BREATH_MS);
    }
    const { status, text } = await hungry;
    assert.is(status, 400, `${name}: ${text}`);
    assert.match(text, /memory/, `${name}: ${text}`);
    assert.ok(most <= MEMORY_MIB + 192, `${name}: ${most} MiB`);
    assert.is(engine()!.pid, pid, name);
  }
});

onLinux('a query that takes all memory beside others is refused, and the others are answered', async ({ running }) => {
  await small(running);
  const { pid } = engine()!;
  let isAllOver = false;
  const long = (async () => {
    while (!isAllOver) await ask(running, LONG, OTHER);
  })();
  try {
    for (const [name, query] of Object.entries(HUNGRY)) {
      let isOver = false;
      const hungry = ask(running, query, '192.0.2.1').finally(() => (isOver = true));
      while (!isOver) {
        const { status, text } = await ask(running, HONEST, '192.0.2.3');
        assert.is(status, 200, `beside ${name}: ${text}`);
        assert.is(text, `count\n${400 * 400 * 4}\n`);
        await sleep(BREATH_MS);
      }
      const { status, text } = await hungry;
      assert.is(status, 400, `${name}: ${text}`);
      assert.match(text, /memory/, `${name}: ${text}`);
    }
  } finally {
    isAllOver = true;
    await long;
  }
  assert.is(engine()!.pid, pid);
});

check('each of eight slots can work at the same time', async context => {
  await context.running.close();
  const running = await startEngine(15, { TAP_MAX_QUERIES: '8' });
  context.brief = running;
  let over = 0;
  const asked = Array.from({ length: 7 }, async (_, i) => {
    await ask(running, SLOW, `192.0.2.${i < 4 ? 1 : 3}`);
    over++;
  });
  await sleep(1000);
  for (let answered = 0; answered < 3; answered++) await small(running);
  assert.is(over, 0);
  await Promise.all(asked);
});

check('one client takes half of the places', async context => {
  await context.brief.close();
  // Longer than a query waits for its turn, which is 10 s.
  const running = await startEngine(12);
  context.brief = running;
  const asked = [1, 2, 3, 4].map(() => ask(running, SLOW, '192.0.2.1'));
  let over = 0;
  for (const each of asked) void each.finally(() => over++);
  let answered = 0;
  while (over < 2) {
    await small(running);
    answered++;
  }
  const answers = await Promise.all(asked);
  assert.ok(answered > 10, `${answered}`);
  for (const { status, text } of answers)
    assert.match(text, status === 503 ? /this client has 2 of them/ : /takes longer/);
  assert.equal(answers.map(({ status }) => status).sort(), [400, 400, 503, 503]);
});

onLinux('wide rows of several queries leave others their answers', async ({ brief: running }) => {
  const query = `SELECT ${WIDE.join(', ')} FROM objects AS a, objects AS b`;
  let over = 0;
  const wide = [1, 1].map(async client => {
    await ask(running, query, `192.0.2.${client}`)
      .catch(() => {})
      .finally(() => over++);
  });
  while (over < wide.length) {
    await small(running);
    assert.ok(engine()!.mib <= MEMORY_MIB + 192);
  }
});

test.run();
