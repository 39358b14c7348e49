/** Lists crossmatched objects for which a catalog could not be read. They need another crossmatch. */
import type { Databases } from './databases.ts';
import { encodeKey } from './records.ts';
import type { StoredObject } from './types.ts';

const NOTHING = new Uint8Array(0);

/** The catalogs that could not be read for the crossmatch of a record. */
export function skippedCatalogs({ catalogOutcomes }: Outcomes): Set<string> {
  return new Set(catalogOutcomes.flatMap(([name, outcome]) => (outcome === 'skipped_read_failure' ? [name] : [])));
}

type Outcomes = Pick<StoredObject['records'][number], 'catalogOutcomes'>;

/**
 * Whether a new crossmatch could read every catalog that was readable for the current record. Without a record
 * (undefined), all catalogs must have been readable. Catalogs that the record does not name are ignored.
 */
export function readsAsMuch(result: Outcomes, current: Outcomes | undefined): boolean {
  const skipped = skippedCatalogs(result);
  if (!current) return skipped.size === 0;
  return !current.catalogOutcomes.some(([name, outcome]) => outcome !== 'skipped_read_failure' && skipped.has(name));
}

/**
 * Whether a new crossmatch could read a catalog that was unreadable for the current record, and every catalog that was
 * readable for it.
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
