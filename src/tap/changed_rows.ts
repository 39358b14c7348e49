/** The rows of objects that have changed, as Parquet files with the columns of an export. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { makeDirectory } from '../base/files.ts';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import type { ChangedObjects } from '../hats_export/changed_objects.ts';
import { partitionWriter } from '../hats_export/writer_thread.ts';
import { ObjectView } from '../store/object_record.ts';
import type { Snapshot } from '../store/snapshot.ts';
import type { Store } from '../store/store.ts';
import type { Rows, Source } from './tables.ts';

/**
 * The number of objects per file. The process has little memory for them, and answers no query while a file is written.
 */
const FILE_OBJECTS = 2048;

/** The files with the rows of changed objects. */
export interface ChangedRows extends Rows {
  /** The objects that were removed, even if they were stored anew, perhaps with another position. */
  readonly removed: readonly bigint[];
  /** The files of `objects` whose objects may already have rows in the tables. */
  readonly replaced: readonly string[];
  /** The files of `objects` whose objects may have rows in other tables; `matches` has the files of their matches. */
  readonly crossmatched: readonly string[];
}

/**
 * Writes the present rows of objects.
 * @param directory replaced if it exists
 */
export async function writeChangedRows(
  store: Store,
  snapshot: Snapshot,
  { changed, added, removed }: ChangedObjects,
  catalogs: readonly CatalogDefinition[],
  directory: string,
): Promise<ChangedRows> {
  rmSync(directory, { recursive: true, force: true });
  makeDirectory(directory);
  const write = partitionWriter(store, catalogs);
  const files: Record<Exclude<keyof ChangedRows, 'removed'>, string[]> = {
    objects: [],
    matches: [],
    replaced: [],
    crossmatched: [],
  };
  const put = (source: Source, ids: readonly bigint[], rows: number) => {
    const path = join(directory, `${source}-${files.objects.length}.parquet`);
    write(snapshot, { catalog: source, path, ids: BigInt64Array.from(ids), rows });
    return path;
  };
  const object = new ObjectView();
  /** The number of matches of objects that may have rows in other tables. */
  const crossmatched = new Map<bigint, number>();
  const present: bigint[] = [];
  for (const id of changed) {
    if (!snapshot.read(id, object)) continue;
    present.push(id);
    if (object.record || object.hasMatches || object.tns !== '')
      crossmatched.set(id, object.hasMatches ? object.matches().length : 0);
  }
  for (const [isCrossmatched, isAdded] of KINDS) {
    const ids = present.filter(id => crossmatched.has(id) === isCrossmatched && added.has(id) === isAdded);
    for (let from = 0; from < ids.length; from += FILE_OBJECTS) {
      const of = ids.slice(from, from + FILE_OBJECTS);
      if (isCrossmatched) {
        const matches = of.reduce((sum, id) => sum + crossmatched.get(id)!, 0);
        files.matches.push(put('matches', of, matches));
      }
      const path = put('objects', of, of.length);
      files.objects.push(path);
      if (isCrossmatched) files.crossmatched.push(path);
      if (!isAdded) files.replaced.push(path);
      await otherWork();
    }
  }
  return { ...files, removed: [...removed] };
}

/** Whether objects may have rows in other tables, and whether they are new. */
const KINDS = [
  [true, true],
  [true, false],
  [false, true],
  [false, false],
] as const;
