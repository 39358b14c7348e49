import { type CatalogOutcome, OBJECT_STATUSES, type ObjectStatus } from '../contract/enums.ts';
import { currentMatches } from './current_matches.ts';
import type { ObjectView } from './object_record.ts';
import type { RecordedOutcome, StoredObject } from './types.ts';

/** The status of a stored object; the API adds `not_in_service` for an object that is not stored. */
export type StoredStatus = Exclude<ObjectStatus, 'not_in_service'>;
export type CrossmatchedStatus = Exclude<StoredStatus, 'crossmatch_pending'>;

/** In the order of the specification. */
export const STORED_STATUSES: readonly StoredStatus[] = OBJECT_STATUSES.map(({ name }) => name).filter(
  name => name !== 'not_in_service',
);

/**
 * The status as the contract resolves it (docs/contract.md, Objects). Matches left over on a pending object do not
 * count, nor do those of earlier crossmatches.
 */
export function statusOf(object: StoredObject): StoredStatus {
  if (object.state === 'pending') return 'crossmatch_pending';
  return crossmatchedStatus(currentMatches(object).length > 0, object.records.at(-1)?.catalogOutcomes);
}

/** The same of a view, which need not be decoded for it. */
export function statusOfView(view: ObjectView): StoredStatus {
  if (view.state === 'pending') return 'crossmatch_pending';
  return view.hasMatches ? 'coincident_sources' : crossmatchedStatus(false, view.record?.catalogOutcomes);
}

/**
 * The status of a crossmatched object.
 * @param outcomes the outcomes of the current record; undefined when there is none
 */
export function crossmatchedStatus(
  hasMatches: boolean,
  outcomes: readonly (readonly [catalogName: string, outcome: RecordedOutcome])[] | undefined,
): CrossmatchedStatus {
  if (hasMatches) return 'coincident_sources';
  const isUnsearched = outcomes !== undefined && !outcomes.some(([, outcome]) => outcome === 'searched');
  return isUnsearched ? 'not_searched' : 'no_coincident_source';
}

/**
 * The outcome of a catalog, as in answers: null while the object is pending.
 * @param outcomes the outcomes of the current record; undefined if there is none
 */
export function outcomeOf(
  isPending: boolean,
  outcomes: readonly (readonly [catalogName: string, outcome: RecordedOutcome])[] | undefined,
  catalog: string,
): CatalogOutcome | null {
  if (isPending) return null;
  if (!outcomes) return 'not_recorded';
  return outcomes.find(([name]) => name === catalog)?.[1] ?? 'not_in_service_at_crossmatch';
}
