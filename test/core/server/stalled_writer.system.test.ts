/**
 * Another process is stopped while it writes: readers do not notice, and writers report which process they wait for.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { nearsky, type Running, sample, send, start, startServer } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';
import { isDeno, runtimeArgs } from '../../runtime.ts';
import { delivery, eventually, NOW_US, withDirectory } from '../http/support.ts';

const test = suite('server/stalled_writer');
const hasPs = spawnSync('ps', ['-o', 'stat=', '-p', `${process.pid}`]).status === 0;
const testWithPs = needs(test, hasPs ? undefined : 'there is no ps, which tells whether a process is stopped');

const SCRIPT = fileURLToPath(new URL('./fixtures/stopped_writer.ts', import.meta.url));

/** A process that has stopped inside a write to the directory. */
async function stoppedWriter(data: string) {
  const child = spawn(process.execPath, [...runtimeArgs, SCRIPT, data], { stdio: 'inherit' });
  const ended = new Promise<number | null>(resolve => child.on('exit', resolve));
  const state = () => execFileSync('ps', ['-o', 'stat=', '-p', `${child.pid}`], { encoding: 'utf8' });
  await eventually('it is stopped', async () => state().startsWith('T') || undefined);
  return { child, ended };
}

async function filled(directory: string): Promise<string> {
  const data = join(directory, 'data');
  const store = openStore(data, 'write');
  await new Writer(store).ingest([delivery(5n)], NOW_US);
  await store.close();
  return data;
}

async function get(url: string) {
  const { statusCode, body } = await request(url, { headersTimeout: 5000 });
  return { status: statusCode, text: await body.text() };
}

testWithPs('a service that runs goes on answering, says that its writes wait, and later writes', () =>
  withDirectory(async directory => {
    const data = await filled(directory);
    await nearsky('catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'), '--data', data);
    const server = await startServer(['serve', '--data', data, '--port', '0', '--workers', '2'], {
      CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0.1',
    });
    let log = '';
    server.child.stderr!.on('data', text => (log += text));
    const isCrossmatched = async (id: number) => {
      const { text } = await get(`${server.url}/api/objects/${id}`);
      return !text.includes('"status": "crossmatch_pending"') || undefined;
    };
    await eventually('it crossmatches', () => isCrossmatched(5));
    const { child, ended } = await stoppedWriter(data);
    const waiting = await eventually('it waits', async () => {
      const { status, text } = await get(`${server.url}/readyz`);
      assert.is(status, 200, 'reading goes on');
      return JSON.parse(text).writes_wait;
    });
    assert.ok(waiting.seconds >= 3);
    assert.ok(waiting.for_processes.includes(child.pid), JSON.stringify(waiting));
    for (let i = 0; i < 20; i++) {
      assert.is((await get(`${server.url}/healthz`)).status, 200);
      assert.match((await get(`${server.url}/api/objects/6`)).text, '"status": "crossmatch_pending"');
      assert.match((await get(`${server.url}/api/cone?ra=150&dec=2&radius_arcsec=10`)).text, '"total": 2');
    }
    const { text: metrics } = await get(`${server.url}/metrics`);
    assert.ok(Number(/^nearsky_write_wait_seconds (\S+)$/m.exec(metrics)![1]) >= 3);
    // /readyz may report the wait a moment before the log does. The log reports the end of a wait only if it has
    // reported the wait.
    await eventually('the log tells of the wait', async () => /"writes_wait"/.test(log) || undefined);
    process.kill(child.pid!, 'SIGCONT');
    assert.is(await ended, 0);
    await eventually('it writes again', () => isCrossmatched(6));
    assert.is((await get(`${server.url}/readyz`)).text, '{"status": "ready"}');
    await eventually('the log says so', async () => /"writes_go_on"/.test(log) || undefined);
    const { code, stderr } = await server.stop();
    assert.is(code, 0, stderr);
    assert.match(stderr, new RegExp(`"writes_wait".*${child.pid}`));
  }),
);

testWithPs('one that starts says for whom it waits, and ends in time when it is told to', () =>
  withDirectory(async directory => {
    const data = await filled(directory);
    const { child, ended } = await stoppedWriter(data);
    const server: Running = start(['serve', '--data', data, '--port', '0']);
    let seen = '';
    server.child.stderr!.on('data', text => (seen += text));
    await eventually('it says so', async () => /"writes_wait"/.test(seen) || undefined);
    // Under Deno it may not look into /proc.
    if (!isDeno) assert.match(seen, `"for_processes":[${child.pid}]`);
    send(server.child, 'SIGTERM');
    const { signal, stderr } = await server.finished;
    assert.is(signal, 'SIGTERM');
    assert.match(stderr, isDeno ? /"stopped_early"/ : new RegExp(`"stopped_early","for_processes":\\[${child.pid}\\]`));
    process.kill(child.pid!, 'SIGCONT');
    assert.is(await ended, 0);
  }),
);

test.run();
