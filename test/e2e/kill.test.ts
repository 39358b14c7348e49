/**
 * kill -9 of `ingest` and of `crossmatch` at random moments, then a restart: nothing that was there is missing, nothing is there twice,
 * and the end is that of a run that nobody disturbed. NEARSKY_KILLS sets how many times each (3).
 */
import { cpSync, existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore, type Store, StoreError } from '../../src/store/store.ts';
import { offset, seededRandom } from '../oracle/skies.ts';
import { type Dump, readDump } from './dump.ts';
import { catalogRows } from './expected.ts';
import { CATALOGS, eventually, get, nearsky, sample, send, start, startServer, withDirectory } from './support.ts';

const kills = Number(process.env.NEARSKY_KILLS ?? 3);
const random = seededRandom(Number(process.env.NEARSKY_SEED ?? Date.now()));
const INGESTED = 20_000;
const CROSSMATCHED = 1000;
const CROSSMATCH_BATCH = 50;

const test = suite('e2e/kill');

/** Lasair messages of made objects, every fifth sent twice, around real and made Gaia sources of the sample. */
async function writeMessages(file: string, count: number): Promise<void> {
  const rows = (await catalogRows('gaia_dr3')) as { ra: number; dec: number }[];
  const lines: string[] = [];
  for (let i = 0; i < count; i++) {
    const { ra, dec } = offset(rows[i % rows.length]!, 2 * random(), 2 * Math.PI * random());
    const id = 9_100_000_000_000_000_001n + BigInt(i);
    lines.push(`{"diaObjectId": ${id}, "ra": ${ra}, "decl": ${dec}, "latestR": 0.9, "firstDiaSourceMjdTai": 61105.25}`);
    if (i % 5 === 0) lines.push(lines.at(-1)!);
  }
  writeFileSync(file, lines.join('\n'));
}

/** The store of a directory that another process makes, once it has committed something. */
async function openWhenThere(dataDir: string): Promise<Store> {
  const file = join(dataDir, 'nearsky.mdb');
  for (;;) {
    await new Promise(resolve => setTimeout(resolve, 2));
    if (!existsSync(file) || statSync(file).size === 0) continue;
    try {
      return openStore(dataDir, 'read');
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }
}

/**
 * Runs a command and kills it a random moment after its commit number `commits`.
 * @returns what the database held at the last look before that, or undefined when the command had ended by then
 */
async function killAfter(commits: number, dataDir: string, args: readonly string[]): Promise<Dump | undefined> {
  const { child, finished } = start(args);
  let ended = false;
  finished.then(() => {
    ended = true;
  });
  const store = await openWhenThere(dataDir);
  const before = store.lastSequence();
  while (!ended && store.lastSequence() < before + commits) {
    await new Promise(resolve => setTimeout(resolve, 1));
    store.resetRead();
  }
  await store.close();
  const seen = await readDump(dataDir);
  await new Promise(resolve => setTimeout(resolve, 20 * random()));
  send(child, 'SIGKILL');
  const { signal, code, stderr } = await finished;
  if (signal !== 'SIGKILL') assert.is(code, 0, stderr);
  return signal === 'SIGKILL' ? seen : undefined;
}

/** What `seen` held is still there, as it was or further on. */
function assertKept(seen: Dump, now: Dump): void {
  for (const [id, object] of seen.objects) {
    assert.ok(now.objects.has(id), `${id} is missing`);
    if (!seen.pending.has(id)) assert.is(now.objects.get(id), object);
  }
  for (const kind of ['stored', 'delivered', 'crossmatched'] as const)
    assert.equal(now.journal[kind].slice(0, seen.journal[kind].length), seen.journal[kind]);
}

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

test(`crossmatch, killed ${kills} times`, () =>
  withDirectory(async directory => {
    const messages = join(directory, 'messages.ndjson');
    await writeMessages(messages, CROSSMATCHED);
    const ready = join(directory, 'ready');
    await nearsky('ingest', '--broker', 'lasair', '--data', ready, messages);
    for (const name of CATALOGS) await nearsky('catalog', 'add', name, join(sample, 'catalogs', name), '--data', ready);
    const prepare = (name: string) => {
      const data = join(directory, name);
      cpSync(ready, data, { recursive: true });
      return data;
    };
    const args = (data: string) => ['crossmatch', '--batch', String(CROSSMATCH_BATCH), '--data', data];
    const undisturbed = prepare('undisturbed');
    await nearsky(...args(undisturbed));
    const whole = await readDump(undisturbed);
    assert.is(whole.pending.size, 0);
    assert.is(whole.journal.crossmatched.length, CROSSMATCHED);
    const commits = CROSSMATCHED / CROSSMATCH_BATCH;
    let killed = 0;
    for (let run = 0; killed < kills; run++) {
      const data = prepare(`data${run}`);
      killed += await killAndRestart(data, args(data), commits, whole);
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
