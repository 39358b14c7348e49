/** Lists crossmatched objects for which a catalog could not be read. They need another crossmatch. */
import type { Databases } from './databases.ts';
import { encodeKey } from './records.ts';
import type { StoredObject } from './types.ts';

const NOTHING = new Uint8Array(0);

/** The catalogs that could not be read for a record. */
export function skippedCatalogs({ catalogOutcomes }: Outcomes): Set<string> {
  return new Set(catalogOutcomes.flatMap(([name, outcome]) => (outcome === 'skipped_read_failure' ? [name] : [])));
}

type Outcomes = Pick<StoredObject['records'][number], 'catalogOutcomes'>;

/**
 * Whether a crossmatch could read every catalog that the current record could read; without a record (undefined),
 * whether it could read every catalog. A catalog that is not in the record does not count.
 */
export function readsAsMuch(result: Outcomes, current: Outcomes | undefined): boolean {
  const skipped = skippedCatalogs(result);
  if (!current) return skipped.size === 0;
  return !current.catalogOutcomes.some(([name, outcome]) => outcome !== 'skipped_read_failure' && skipped.has(name));
}

/**
 * Whether a crossmatch could read a catalog that the current record could not read, and all catalogs that the record
 * could read.
 */
export function readsMore(result: Outcomes, current: Outcomes): boolean {
  return readsAsMuch(result, current) && !skippedCatalogs(current).isSubsetOf(skippedCatalogs(result));
}

/** Whether an object is crossmatched and a catalog could not be read for its current record. */
export function isUnread({ state, records }: Pick<StoredObject, 'state' | 'records'>): boolean {
  const current = state === 'crossmatched' ? records.at(-1) : undefined;
  return current !== undefined && skippedCatalogs(current).size > 0;
}

/** Adds an object that is being stored to the list, or removes it; to be called in a write transaction. */
export function listUnread(
  { unread }: Databases,
  object: Pick<StoredObject, 'diaObjectId' | 'state' | 'records'>,
): void {
  const key = encodeKey(object.diaObjectId);
  if (isUnread(object)) unread.put(key, NOTHING);
  else if (unread.doesExist(key)) unread.remove(key);
}
