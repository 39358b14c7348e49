/** The rows of objects that have changed. */
import { setImmediate as otherWork } from 'node:timers/promises';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { ObjectView } from '../../core/store/object_record.ts';
import type { SourceValues } from '../../core/store/records.ts';
import type { Snapshot } from '../../core/store/snapshot.ts';
import type { Store } from '../../core/store/store.ts';
import type { ChangedObjects } from '../hats/changed_objects.ts';
import { MatchRows, matchColumns, ObjectRows, objectColumns } from '../hats/columns.ts';

/**
 * The number of objects per batch. The process has little memory for them, and answers no query while it collects a
 * batch.
 */
const BATCH_OBJECTS = 2048;

/** The rows of some objects, with the columns of an export. */
export interface ChangedRows {
  readonly objects: ObjectRows;
  readonly matches: MatchRows;
  /** Whether some of the objects may already have rows in the tables. */
  readonly areReplaced: boolean;
  /** Whether some of the objects may have matches. */
  readonly areCrossmatched: boolean;
}

/** Yields the present rows of the changed objects that are still stored. */
export async function* changedRows(
  store: Store,
  snapshot: Snapshot,
  { changed, added }: ChangedObjects,
  catalogs: readonly CatalogDefinition[],
): AsyncGenerator<ChangedRows> {
  const ofObjects = objectColumns(catalogs);
  const ofMatches = matchColumns(catalogs, 'all');
  const ids = [...changed];
  for (let from = 0; from < ids.length; from += BATCH_OBJECTS) {
    const stored: { readonly object: ObjectView; readonly sources: readonly SourceValues[] }[] = [];
    let found = 0;
    for (const id of ids.slice(from, from + BATCH_OBJECTS)) {
      const object = new ObjectView();
      const sources = snapshot.read(id, object);
      if (!sources) continue;
      stored.push({ object, sources });
      found += sources.length;
    }
    const objects = new ObjectRows(store, catalogs, ofObjects, stored.length);
    const matches = new MatchRows(store, ofMatches, found);
    for (const { object, sources } of stored) {
      objects.add(object);
      if (object.hasStoredMatches) matches.add(object, sources);
    }
    const areReplaced = stored.some(({ object }) => !added.has(object.diaObjectId));
    const areCrossmatched = stored.some(({ object }) => object.record !== undefined || object.hasStoredMatches);
    yield { objects, matches, areReplaced, areCrossmatched };
    await otherWork();
  }
}
