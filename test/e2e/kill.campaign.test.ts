/**
 * kill -9 of `ingest` and of `crossmatch` at random moments, then a restart: no stored data are lost or
 * duplicated, and the result equals that of an undisturbed run. TEST_KILLS sets how many times each (2).
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Dump, readDump } from './dump.ts';
import { assertKept, killAfter, kills, random, writeMessages } from './kill_support.ts';
import { CATALOGS, eventually, get, nearsky, sample, send, start, startServer, withDirectory } from './support.ts';

const INGESTED = 20_000;
const CROSSMATCHED = 1000;
const CROSSMATCH_BATCH = 50;

const test = suite('e2e/kill');

/** Kills the command once or more in one directory, lets it run to its end, and compares with an undisturbed run. */
async function killAndRestart(dataDir: string, args: readonly string[], commits: number, whole: Dump): Promise<number> {
  let killed = 0;
  for (let left = commits; left > 1; ) {
    const target = 1 + Math.floor(random() * (left - 1));
    const seen = await killAfter(target, dataDir, args);
    const now = await readDump(dataDir);
    if (!seen) break;
    killed++;
    assertKept(seen, now);
    left = Math.min(left - target, 1 + Math.floor(random() * 3));
  }
  await nearsky(...args);
  const end = await readDump(dataDir);
  assert.equal(end.objects, whole.objects);
  assert.equal(end.pending, whole.pending);
  return killed;
}

test(`ingest, killed ${kills} times`, () =>
  withDirectory(async directory => {
    const messages = join(directory, 'messages.ndjson');
    await writeMessages(messages, INGESTED);
    const args = (data: string) => ['ingest', '--broker', 'lasair', '--data', data, messages];
    const undisturbed = join(directory, 'undisturbed');
    assert.is((await nearsky(...args(undisturbed))).stored, INGESTED);
    const whole = await readDump(undisturbed);
    const commits = INGESTED / 1000;
    let killed = 0;
    for (let run = 0; killed < kills; run++) {
      const data = join(directory, `data${run}`);
      killed += await killAndRestart(data, args(data), commits, whole);
    }
  }));

/** A directory with 1000 pending objects and the catalogs, to be copied, and what becomes of it. */
async function prepareCrossmatch(directory: string): Promise<{ ready: string; whole: Dump }> {
  const messages = join(directory, 'messages.ndjson');
  await writeMessages(messages, CROSSMATCHED);
  const ready = join(directory, 'ready');
  await nearsky('ingest', '--broker', 'lasair', '--data', ready, messages);
  for (const name of CATALOGS) await nearsky('catalog', 'add', name, join(sample, 'catalogs', name), '--data', ready);
  const undisturbed = join(directory, 'undisturbed');
  cpSync(ready, undisturbed, { recursive: true });
  await nearsky('crossmatch', '--data', undisturbed);
  const whole = await readDump(undisturbed);
  assert.is(whole.pending.size, 0);
  assert.is(whole.journal.crossmatched.length, CROSSMATCHED);
  return { ready, whole };
}

test(`crossmatch, killed ${kills} times`, () =>
  withDirectory(async directory => {
    const { ready, whole } = await prepareCrossmatch(directory);
    const commits = CROSSMATCHED / CROSSMATCH_BATCH;
    let killed = 0;
    for (let run = 0; killed < kills; run++) {
      const data = join(directory, `data${run}`);
      cpSync(ready, data, { recursive: true });
      const args = ['crossmatch', '--batch', String(CROSSMATCH_BATCH), '--data', data];
      killed += await killAndRestart(data, args, commits, whole);
    }
  }));

test(`two crossmatches beside a server that crossmatches too, one of them killed ${kills} times`, () =>
  withDirectory(async directory => {
    const { ready, whole } = await prepareCrossmatch(directory);
    for (let killed = 0; killed < kills; killed++) {
      const data = join(directory, `data${killed}`);
      cpSync(ready, data, { recursive: true });
      const settings = { CROSSMATCH_BATCH_MAX_SIZE: String(CROSSMATCH_BATCH), CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0' };
      const server = start(['serve', '--data', data, '--port', '0'], settings);
      const args = ['crossmatch', '--batch', String(CROSSMATCH_BATCH), '--data', data, '--json'];
      const commands = [start(args), start(args)];
      await new Promise(resolve => setTimeout(resolve, 100 + 1500 * random()));
      const seen = await readDump(data);
      const victim = [server, ...commands][Math.floor(3 * random())]!;
      send(victim.child, 'SIGKILL');
      await victim.finished;
      assertKept(seen, await readDump(data));
      for (const command of commands) {
        const { code, signal, stderr } = await command.finished;
        if (command !== victim) assert.equal([code, signal], [0, null], stderr);
      }
      // The processes that live have taken up the victim's work.
      const end = await readDump(data);
      assert.equal(end.pending, new Set());
      assert.equal(end.objects, whole.objects);
      send(server.child, 'SIGTERM');
      await server.finished;
      assert.is((await nearsky('crossmatch', '--data', data)).objects, 0);
      assert.is((await nearsky('stats', '--data', data)).claimed, 0);
    }
  }));

test('ingest, killed beside a server that crossmatches: both go on', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const messages = join(directory, 'messages.ndjson');
    await writeMessages(messages, 5000);
    await nearsky('catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'), '--data', data);
    const server = await startServer(['serve', '--data', data, '--port', '0']);
    const args = ['ingest', '--broker', 'lasair', '--data', data, messages];
    for (let run = 0; run < 2; run++) await killAfter(1 + Math.floor(2 * random()), data, args);
    await nearsky(...args);
    await eventually('everything is crossmatched', async () => {
      const { statuses } = (await nearsky('stats', '--data', data)) as { statuses: Record<string, number> };
      return statuses.crossmatch_pending === 0 ? true : undefined;
    });
    const { results } = await get(`${server.url}/api/objects/9100000000000005000`);
    assert.is.not(results[0].status, 'not_in_service');
    assert.is((await server.stop()).code, 0);
    assert.is((await readDump(data)).journal.crossmatched.length, 5000);
  }));

test.run();
