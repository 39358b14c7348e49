/** A thread that writes partitions of an export. */
import { rmSync } from 'node:fs';
import type { MessagePort } from 'node:worker_threads';
import { writeRows } from '@nearsky/hats/write';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { replyOver } from '../../core/pool/rpc.ts';
import { ObjectView } from '../../core/store/object_record.ts';
import { openStore, type Store } from '../../core/store/store.ts';
import { type MatchesKept, MatchRows, matchColumns, ObjectRows, objectColumns } from './columns.ts';
import { readRecords } from './record_files.ts';

/** The program's name, as written into the files. */
export const PROGRAM = 'nearsky';

/** A task that ends when its link receives `done`. */
export interface HatsTask extends Task<undefined> {
  readonly module: 'src/capabilities/hats/partition_writer';
  readonly kind: 'hats';
  readonly dataDir: string;
  /** The catalogs that have columns for their payloads, in the order of the columns. */
  readonly catalogs: readonly CatalogDefinition[];
  readonly kept: MatchesKept;
  readonly link: MessagePort;
}

/** A file of rows of one of the catalogs. */
export interface PartitionJob {
  readonly catalog: 'objects' | 'matches';
  readonly path: string;
  /** The file with the objects; see `RecordFiles`. It is deleted when they were read. */
  readonly records: string;
  /** The number of rows of all these objects. */
  readonly rows: number;
}

export type HatsRequest =
  /** The reply is the size of the file, bytes. */
  { readonly kind: 'write'; readonly job: PartitionJob } | { readonly kind: 'done' };

export const tasks: Tasks<HatsTask> = { hats: runHatsWriter };

async function runHatsWriter({ dataDir, catalogs, kept, link }: HatsTask): Promise<undefined> {
  const store = openStore(dataDir, 'read');
  const done = Promise.withResolvers<void>();
  const write = partitionWriter(store, catalogs, kept);
  replyOver<HatsRequest>(link, request => (request.kind === 'done' ? done.resolve() : write(request.job)));
  await done.promise;
  await store.close();
  link.close();
  return undefined;
}

/** @returns a function that writes the rows of a file and returns the size of the file, bytes */
function partitionWriter(
  store: Store,
  catalogs: readonly CatalogDefinition[],
  kept: MatchesKept,
): (job: PartitionJob) => number {
  const ofObjects = objectColumns(catalogs);
  const ofMatches = matchColumns(catalogs, kept);
  const object = new ObjectView();
  return ({ catalog, path, records, rows }) => {
    // The objects may name keys and settings that were stored after this thread opened the store.
    store.resetRead();
    const collected =
      catalog === 'objects' ? new ObjectRows(store, catalogs, ofObjects, rows) : new MatchRows(store, ofMatches, rows);
    for (const sources of readRecords(records, object)) collected.add(object, sources);
    if (collected.length !== rows) {
      throw new Error(`Cannot export ${path} because ${collected.length} of its ${rows} rows were read`);
    }
    rmSync(records);
    const { columns } = collected;
    return writeRows(path, { program: PROGRAM, columns, length: rows, valuesOf: collected.sorted() });
  };
}
