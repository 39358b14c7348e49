/** A thread that writes partitions of an export. */
import { rmSync } from 'node:fs';
import type { MessagePort } from 'node:worker_threads';
import { writeRows } from '@nearsky/hats/write';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import type { Task } from '../pool/pool.ts';
import { replyOver } from '../pool/rpc.ts';
import { ObjectView } from '../store/object_record.ts';
import { openStore, type Store } from '../store/store.ts';
import { MatchRows, matchColumns, ObjectRows, objectColumns } from './columns.ts';
import { readRecords } from './record_files.ts';

/** The program's name, as written into the files. */
export const PROGRAM = 'nearsky';

/** A task that ends when its link receives `done`. */
export interface HatsTask extends Task<undefined> {
  readonly kind: 'hats';
  readonly dataDir: string;
  /** The catalogs that have columns for their payloads, in the order of the columns. */
  readonly catalogs: readonly CatalogDefinition[];
  readonly link: MessagePort;
}

/** A file of rows of one of the catalogs. */
export interface PartitionJob {
  readonly catalog: 'objects' | 'matches';
  readonly path: string;
  /** The file with the objects; see `RecordFiles`. It is deleted when they were read. */
  readonly records: string;
  /** The journal entry after which the objects are exported; undefined for the last one. */
  readonly at: number | undefined;
  /** The number of rows of all these objects. */
  readonly rows: number;
}

export type HatsRequest =
  /** The reply is the size of the file, bytes. */
  { readonly kind: 'write'; readonly job: PartitionJob } | { readonly kind: 'done' };

export async function runHatsWriter({ dataDir, catalogs, link }: HatsTask): Promise<undefined> {
  const store = openStore(dataDir, 'read');
  const done = Promise.withResolvers<void>();
  const write = partitionWriter(store, catalogs);
  replyOver<HatsRequest>(link, request => (request.kind === 'done' ? done.resolve() : write(request.job)));
  await done.promise;
  await store.close();
  link.close();
  return undefined;
}

/** @returns a function that writes the rows of a file and returns the size of the file, bytes */
function partitionWriter(store: Store, catalogs: readonly CatalogDefinition[]): (job: PartitionJob) => number {
  const ofObjects = objectColumns(catalogs);
  const ofMatches = matchColumns(catalogs);
  const object = new ObjectView();
  return ({ catalog, path, records, at, rows }) => {
    // The objects may name keys and settings that were stored after this thread opened the store.
    store.resetRead();
    const collected =
      catalog === 'objects' ? new ObjectRows(store, catalogs, ofObjects, rows) : new MatchRows(store, ofMatches, rows);
    for (const sources of readRecords(records, object, at)) collected.add(object, sources);
    if (collected.length !== rows) {
      throw new Error(`Cannot export ${path} because ${collected.length} of its ${rows} rows were read`);
    }
    rmSync(records);
    const { columns } = collected;
    return writeRows(path, { program: PROGRAM, columns, length: rows, valuesOf: collected.sorted() });
  };
}
