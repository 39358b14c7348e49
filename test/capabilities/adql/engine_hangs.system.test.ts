/** A query that the engine cannot interrupt, and a job of another client. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { ask, engine, LONG, SLOW, small, startEngine } from './engine_support.ts';

const test = suite('tap: engine hangs');
const onLinux = needs(
  test,
  duckdbObstacle() ?? (process.platform === 'linux' ? undefined : 'the process of the engine is found on Linux'),
);

onLinux('a query that the engine cannot interrupt is refused, and the job of another client runs again', async () => {
  const running = await startEngine(2);
  try {
    await small(running);
    const headers = { 'X-Forwarded-For': '192.0.2.3' };
    const body = new URLSearchParams({ LANG: 'ADQL', QUERY: LONG, FORMAT: 'csv', PHASE: 'RUN' });
    const { headers: made } = await running.app.get('/vo/tap/async', {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
    });
    const { pathname: job } = new URL(made.get('Location')!);
    const phase = async () => (await running.app.get(`${job}/phase`)).text;
    await eventually('the job runs', async () => (await phase()) === 'EXECUTING' || undefined);
    const hanging = ask(running, SLOW, '192.0.2.1');
    await sleep(500);
    const { pid } = engine()!;
    // A process that is stopped answers nothing, like one that cannot interrupt a query.
    process.kill(pid, 'SIGSTOP');
    const { status, text } = await hanging;
    assert.is(status, 400, text);
    assert.match(text, /cannot interrupt this query/);
    await eventually('the job has ended', async () => /COMPLETED|ERROR/.test(await phase()) || undefined);
    assert.is(await phase(), 'COMPLETED', (await running.app.get(job)).text);
    assert.is((await running.app.get(`${job}/results/result`)).text, 'count\n0\n');
  } finally {
    await running.close();
  }
});

test.run();
