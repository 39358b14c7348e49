/** Everything that a directory contains after a command, as strings by key, for comparison. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readCatalogs } from '../../src/core/store/catalog_registration.ts';
import { countRegistry, readRegistry, readRegistryEpochUs } from '../../src/core/store/registry.ts';
import { openStore } from '../../src/core/store/store.ts';
import { StoreError } from '../../src/core/store/store_error.ts';
import { readDump } from '../e2e/dump.ts';

/** The stored or written values, by key: one key for all that a command changes as a whole. */
export type Holdings = ReadonlyMap<string, string>;

const NOTHING_YET = /nothing is stored there yet|its creation was interrupted/;

/** The contents of the store of `dataDir`; empty if there is no store. It also runs the checks of the dump. */
export async function storeHoldings(dataDir: string): Promise<Map<string, string>> {
  const holdings = new Map<string, string>();
  try {
    const { objects, pending } = await readDump(dataDir);
    for (const [id, object] of objects) holdings.set(`object ${id}`, `${pending.has(id) ? 'pending ' : ''}${object}`);
  } catch (error) {
    if (error instanceof StoreError && NOTHING_YET.test(error.message)) return holdings;
    throw error;
  }
  const store = openStore(dataDir, 'read');
  try {
    const registry = [...readRegistry(store.databases)].map(record => JSON.stringify(record)).join('\n');
    const hash = createHash('sha256').update(registry).digest('hex');
    if (countRegistry(store.databases) > 0)
      holdings.set(`registry`, `${readRegistryEpochUs(store.databases)} ${countRegistry(store.databases)} ${hash}`);
    for (const { addedAtUs: _, ...catalog } of readCatalogs(store.databases)) {
      holdings.set(`catalog ${catalog.name}`, JSON.stringify(catalog).replaceAll(dirname(dataDir), ''));
    }
  } finally {
    await store.close();
  }
  return holdings;
}

/** The contents of a file that is written as a whole. */
export function fileHoldings(file: string): Map<string, string> {
  if (!existsSync(file)) return new Map();
  const bytes = readFileSync(file);
  return new Map([
    [
      `file`,
      createHash('sha256')
        .update(file.endsWith('.gz') ? gunzipSync(bytes) : bytes)
        .digest('hex'),
    ],
  ]);
}

/** Messages of which the log of rejects has a whole line. */
export function rejectHoldings(dataDir: string): Map<string, string> {
  const directory = join(dataDir, 'rejected');
  const holdings = new Map<string, string>();
  for (const name of existsSync(directory) ? readdirSync(directory) : []) {
    for (const line of readFileSync(join(directory, name), 'utf8').split('\n')) {
      try {
        holdings.set(`reject ${JSON.parse(line).message}`, '');
      } catch {
        // The rest of a line that a fault cut off.
      }
    }
  }
  return holdings;
}

/** A store that is made as a whole, as one key. */
export function wholeHoldings(holdings: Holdings): Map<string, string> {
  if (holdings.size === 0) return new Map();
  return new Map([
    [
      'file',
      createHash('sha256')
        .update(JSON.stringify([...holdings]))
        .digest('hex'),
    ],
  ]);
}

/** The keys that are in only one of `before` and `after`, or whose value is neither the old nor the new one. */
export function strangers(now: Holdings, before: Holdings, after: Holdings): string[] {
  return [...new Set([...before.keys(), ...now.keys(), ...after.keys()])].filter(key => {
    return now.get(key) !== before.get(key) && now.get(key) !== after.get(key);
  });
}

/** The keys whose text differs. */
export function differences(one: Holdings, other: Holdings): string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter(key => one.get(key) !== other.get(key));
}
