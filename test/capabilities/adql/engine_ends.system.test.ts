/** Queries whose engine ends under them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually, type Running } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { ask, engine, LONG, SLOW, small, startEngine } from './engine_support.ts';

const test = suite<{ running: Running }>('tap: engine ends');
const onLinux = needs(
  test,
  duckdbObstacle() ?? (process.platform === 'linux' ? undefined : 'the process of the engine is found on Linux'),
);

test.before(async context => {
  context.running = await startEngine(50);
});

test.after(({ running }) => running.close());

onLinux('queries whose engine ends are begun again', async ({ running }) => {
  await small(running);
  const asked = [1, 3].map(client => ask(running, LONG, `192.0.2.${client}`));
  const { pid } = engine()!;
  await sleep(200);
  process.kill(pid, 'SIGKILL');
  for (const { status, text } of await Promise.all(asked)) {
    assert.is(status, 200, text);
    assert.is(text, 'count\n0\n');
  }
  assert.not.equal(engine()!.pid, pid);
  assert.ok(running.app.logged.some(([event]) => event === 'tap_engine_ended'));
});

onLinux('a query that ends the engine twice, the second time alone, is refused', async ({ running }) => {
  await small(running);
  const asked = ask(running, SLOW, '192.0.2.1');
  let last = 0;
  for (let ends = 0; ends < 2; ends++) {
    last = await eventually('another engine', async () => [engine()?.pid].find(pid => pid !== last));
    await sleep(3000);
    process.kill(last, 'SIGKILL');
  }
  const { status, text } = await asked;
  assert.is(status, 400, text);
  assert.match(text, /engine of queries ends twice/);
  await small(running);
});

test.run();
