/** A thread that writes partitions of an export. All such threads read the database as it was at the same moment. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../base/error_text.ts';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import type { Task } from '../pool/pool.ts';
import { ObjectView } from '../store/object_record.ts';
import type { Snapshot } from '../store/snapshot.ts';
import { openStore } from '../store/store.ts';
import { MatchRows, matchColumns, ObjectRows, objectColumns } from './columns.ts';
import { parquetFile } from './parquet_file.ts';

/** A task that lasts until its link receives `done`. */
export interface HatsTask extends Task<undefined> {
  readonly kind: 'hats';
  readonly dataDir: string;
  /** The catalogs that have columns for their payloads, in their order. */
  readonly catalogs: readonly CatalogDefinition[];
  readonly link: MessagePort;
}

/** A file of rows of one of the catalogs. */
export interface PartitionJob {
  readonly catalog: 'objects' | 'matches';
  readonly path: string;
  readonly ids: BigInt64Array;
  /** The number of rows of the objects. */
  readonly rows: number;
}

export type ToHatsWriter =
  /** Asks the thread to open the database in its present state. */
  { readonly kind: 'open' } | { readonly kind: 'write'; readonly job: PartitionJob } | { readonly kind: 'done' };

export type FromHatsWriter =
  /** The last journal entry that the thread sees. */
  | { readonly kind: 'opened'; readonly sequence: number }
  | { readonly kind: 'written'; readonly bytes: number }
  | { readonly kind: 'failed'; readonly error: string };

export async function runHatsWriter({ dataDir, catalogs, link }: HatsTask): Promise<undefined> {
  const store = openStore(dataDir, 'read');
  const done = Promise.withResolvers<void>();
  const ofObjects = objectColumns(catalogs);
  const ofMatches = matchColumns(catalogs);
  const rowsOf = ({ catalog, rows }: PartitionJob) =>
    catalog === 'objects' ? new ObjectRows(store, catalogs, ofObjects, rows) : new MatchRows(store, ofMatches, rows);
  let snapshot: Snapshot | undefined;
  const answer = (message: ToHatsWriter): FromHatsWriter | undefined => {
    switch (message.kind) {
      case 'open':
        snapshot?.close();
        snapshot = store.snapshot();
        return { kind: 'opened', sequence: snapshot.lastSequence() };
      case 'write':
        return { kind: 'written', bytes: writePartition(snapshot!, rowsOf(message.job), message.job) };
      case 'done':
        done.resolve();
        return undefined;
    }
  };
  link.on('message', (message: ToHatsWriter) => {
    let answered: FromHatsWriter | undefined;
    try {
      answered = answer(message);
    } catch (error) {
      answered = { kind: 'failed', error: messageOf(error) };
    }
    if (answered) link.postMessage(answered);
  });
  await done.promise;
  snapshot?.close();
  await store.close();
  link.close();
  return undefined;
}

/** @returns the bytes of the file */
function writePartition(
  snapshot: Snapshot,
  collected: ObjectRows | MatchRows,
  { path, ids, rows }: PartitionJob,
): number {
  const object = new ObjectView();
  for (const id of ids) {
    const sources = snapshot.read(id, object);
    if (!sources) throw new Error(`Cannot export object ${id} because it is not stored any more`);
    collected.add(object, sources);
  }
  if (collected.length !== rows) {
    throw new Error(`Cannot export ${path} because ${collected.length} rows were read and ${rows} are there`);
  }
  const bytes = parquetFile(collected.columns, collected.sorted(), rows);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes, { flush: true });
  return bytes.length;
}
