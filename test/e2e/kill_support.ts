/** Shared by the tests that kill processes at random moments. TEST_KILLS sets how many times each (2), TEST_SEED which moments. */
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { findByName, readRegistry, readRegistryEpochUs } from '../../src/core/store/registry.ts';
import { openStore, type Store } from '../../src/core/store/store.ts';
import { StoreError } from '../../src/core/store/store_error.ts';
import type { TnsRecord } from '../../src/core/store/types.ts';
import { offset, seededRandom } from '../oracle/skies.ts';
import { type Dump, readDump } from './dump.ts';
import { catalogRows } from './expected.ts';
import { send, start } from './support.ts';

export const kills = Number(process.env.TEST_KILLS ?? 2);
export const random = seededRandom(Number(process.env.TEST_SEED ?? Date.now()));

/** Lasair messages of made objects, every fifth sent twice, around real and made Gaia sources of the sample. */
export async function writeMessages(file: string, count: number): Promise<void> {
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

export interface KillOptions {
  readonly variables?: Record<string, string>;
  /** A command that commits nothing for this long is killed, too: it may have nothing left to do but run on. */
  readonly idleMs?: number;
}

/**
 * Runs a command and kills it a random moment after its commit number `commits`.
 * @returns what the database held at the last look before that, or undefined when the command had ended by then
 */
export async function killAfter(
  commits: number,
  dataDir: string,
  args: readonly string[],
  { variables = {}, idleMs = Number.POSITIVE_INFINITY }: KillOptions = {},
): Promise<Dump | undefined> {
  const { child, finished } = start(args, variables);
  let ended = false;
  finished.then(() => {
    ended = true;
  });
  const store = await openWhenThere(dataDir);
  const before = store.lastSequence();
  let [last, lastMs] = [before, performance.now()];
  while (!ended && last < before + commits && performance.now() - lastMs < idleMs) {
    await new Promise(resolve => setTimeout(resolve, 1));
    store.resetRead();
    if (store.lastSequence() > last) [last, lastMs] = [store.lastSequence(), performance.now()];
  }
  await store.close();
  const seen = await readDump(dataDir);
  await new Promise(resolve => setTimeout(resolve, 20 * random()));
  send(child, 'SIGKILL');
  const { signal, code, stderr } = await finished;
  if (signal !== 'SIGKILL') assert.is(code, 0, stderr);
  return signal === 'SIGKILL' ? seen : undefined;
}

/** Checks that the values of `seen` still exist, unchanged or further advanced. */
export function assertKept(seen: Dump, now: Dump): void {
  for (const [id, object] of seen.objects) {
    assert.ok(now.objects.has(id), `${id} is missing`);
    if (!seen.pending.has(id)) assert.is(now.objects.get(id), object);
  }
  assertJournalKept(seen, now);
}

/** The journal of `seen` is a prefix of the current one. */
export function assertJournalKept(seen: Dump, now: Dump): void {
  for (const kind of ['stored', 'delivered', 'crossmatched'] as const)
    assert.equal(now.journal[kind].slice(0, seen.journal[kind].length), seen.journal[kind]);
}

/** A snapshot of the TNS registry. */
export interface Registry {
  readonly epochUs: number;
  readonly records: readonly TnsRecord[];
}

/** Checks that the registry is one of these, as a whole, and that each of its names leads to its object; which one. */
export async function assertOneOf(dataDir: string, ...registries: readonly Registry[]): Promise<Registry> {
  const store = openStore(dataDir, 'read');
  try {
    const records = [...readRegistry(store.databases)];
    const expected = registries.find(({ epochUs }) => epochUs === readRegistryEpochUs(store.databases));
    assert.ok(expected, `an epoch of ${readRegistryEpochUs(store.databases)}`);
    assert.equal(records, expected.records);
    for (const { name, objid } of records) assert.is(findByName(store.databases, name.toLowerCase())?.objid, objid);
    return expected;
  } finally {
    await store.close();
  }
}
