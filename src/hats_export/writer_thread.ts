/** A thread that writes partitions of an export. All writer threads read the same snapshot of the database. */
import type { MessagePort } from 'node:worker_threads';
import { writeRows } from '@nearsky/hats/write';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import type { Task } from '../pool/pool.ts';
import { replyOver } from '../pool/rpc.ts';
import { ObjectView } from '../store/object_record.ts';
import type { Snapshot } from '../store/snapshot.ts';
import { openStore, type Store } from '../store/store.ts';
import { MatchRows, matchColumns, ObjectRows, objectColumns } from './columns.ts';

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
  readonly ids: BigInt64Array;
  /** The number of rows of all these objects. */
  readonly rows: number;
}

export type HatsRequest =
  /** Opens the database; for `at`, see `Store.snapshot`. The reply is the last journal entry that the thread sees. */
  | { readonly kind: 'open'; readonly at: number | undefined }
  /** The reply is the size of the file, bytes. */
  | { readonly kind: 'write'; readonly job: PartitionJob }
  | { readonly kind: 'done' };

export async function runHatsWriter({ dataDir, catalogs, link }: HatsTask): Promise<undefined> {
  const store = openStore(dataDir, 'read');
  const done = Promise.withResolvers<void>();
  const write = partitionWriter(store, catalogs);
  let snapshot: Snapshot | undefined;
  replyOver<HatsRequest>(link, request => {
    if (request.kind === 'done') return done.resolve();
    if (request.kind === 'write') return write(snapshot!, request.job);
    snapshot?.close();
    snapshot = store.snapshot(request.at);
    return snapshot.lastSequence();
  });
  await done.promise;
  snapshot?.close();
  await store.close();
  link.close();
  return undefined;
}

/** @returns a function that writes the rows of a file and returns the size of the file, bytes */
function partitionWriter(
  store: Store,
  catalogs: readonly CatalogDefinition[],
): (snapshot: Snapshot, job: PartitionJob) => number {
  const ofObjects = objectColumns(catalogs);
  const ofMatches = matchColumns(catalogs);
  const object = new ObjectView();
  return (snapshot, { catalog, path, ids, rows }) => {
    const collected =
      catalog === 'objects' ? new ObjectRows(store, catalogs, ofObjects, rows) : new MatchRows(store, ofMatches, rows);
    for (const id of ids) {
      const sources = snapshot.read(id, object);
      if (!sources) throw new Error(`Cannot export object ${id} because it is no longer stored`);
      collected.add(object, sources);
    }
    if (collected.length !== rows) {
      throw new Error(`Cannot export ${path} because ${collected.length} of its ${rows} rows were read`);
    }
    const { columns } = collected;
    return writeRows(path, { program: PROGRAM, columns, length: rows, valuesOf: collected.sorted() });
  };
}
