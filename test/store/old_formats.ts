/** Data directories of format 1, which had no listing by time, no registry, and no latest ingest time. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { encodePlain } from '../../src/store/records.ts';
import type { Store } from '../../src/store/store.ts';

const DATABASES = ['objects', 'sources', 'pending', 'journal', 'provenance_sets', 'payload_keys', 'catalogs'] as const;

/** Makes one of what a store of today holds; the values of those databases are the same in both formats. */
export async function writeFormat1(store: Store, directory: string): Promise<void> {
  mkdirSync(directory);
  const binary = { keyEncoding: 'binary', encoding: 'binary' } as const;
  const path = join(directory, 'nearsky.mdb');
  const root = open<Uint8Array, Uint8Array>({ path, overlappingSync: false, maxDbs: 24, ...binary });
  const meta = root.openDB<Uint8Array, Uint8Array>('meta', binary);
  await meta.put(new TextEncoder().encode('created'), encodePlain('2026-10-01T00:00:00.000Z'));
  await meta.put(new TextEncoder().encode('format'), encodePlain(1));
  for (const name of DATABASES) {
    const database = root.openDB<Uint8Array, Uint8Array>(name, binary);
    for (const { key, value } of store.databases[name].getRange({})) await database.put(key, value);
  }
  await root.flushed;
  await root.close();
}
