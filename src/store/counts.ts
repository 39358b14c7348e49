/**
 * The numbers of stored objects by kind. Each commit that changes them keeps them, so that nobody has to read every
 * object.
 */
import { type Counters, readCountersAt, Tally } from './counters.ts';
import type { Databases } from './databases.ts';
import { ObjectView, readCurrent } from './object_record.ts';
import { crossmatchedStatus, STORED_STATUSES, type StoredStatus, statusOf } from './status.ts';
import type { CrossmatchRecord, StoredObject } from './types.ts';

const COUNTS_KEY = new TextEncoder().encode('counts');

/** The result of `Store.counts`. */
export interface StoreCounts {
  readonly objects: number;
  /** By status, every status present. */
  readonly statuses: Readonly<Record<StoredStatus, number>>;
  /** Catalog name, then recorded outcome of the current crossmatch. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Coincident sources of the crossmatched objects, of any version, by catalog name. */
  readonly matches: Readonly<Record<string, number>>;
  readonly journalEntries: number;
}

/** The changes of one commit to the counts. */
export class CountChanges {
  readonly #tally = new Tally(COUNTS_KEY);
  readonly #outcomes = new Map<string, CrossmatchRecord['catalogOutcomes'] | undefined>();

  /** An object is now stored as `after`; it was `before`, undefined where it is new. */
  changed(before: StoredObject | undefined, after: StoredObject): void {
    if (before) this.#add(before, -1);
    this.#add(after, 1);
  }

  #add(object: StoredObject, change: 1 | -1): void {
    this.#tally.add(statusName(statusOf(object)), change);
    for (const [catalog, outcome] of object.records.at(-1)?.catalogOutcomes ?? []) {
      this.#tally.add(outcomeName(catalog, outcome), change);
    }
    if (object.state === 'pending' || object.matches.length === 0) return;
    const sources = new Set(object.matches.map(match => `${match.catalogName} ${match.catalogSourceId}`));
    for (const source of sources) this.#tally.add(matchesName(source.slice(0, source.indexOf(' '))), change);
  }

  /** Pending objects are now crossmatched, all with these outcomes: `matched` with matches, `unmatched` without. */
  firstCrossmatched(outcomes: CrossmatchRecord['catalogOutcomes'], matched: number, unmatched: number): void {
    const objects = matched + unmatched;
    this.#tally.add(statusName('crossmatch_pending'), -objects);
    if (matched > 0) this.#tally.add(statusName(crossmatchedStatus(true, outcomes)), matched);
    if (unmatched > 0) this.#tally.add(statusName(crossmatchedStatus(false, outcomes)), unmatched);
    for (const [catalog, outcome] of outcomes) this.#tally.add(outcomeName(catalog, outcome), objects);
  }

  /** Objects that are now crossmatched have their first matches: `sources` distinct ones of that catalog. */
  firstMatched(catalog: string, sources: number): void {
    this.#tally.add(matchesName(catalog), sources);
  }

  /** A new object is stored, as these bytes. */
  added(diaObjectId: bigint, object: Uint8Array): void {
    view.load(diaObjectId, object);
    if (!view.matchesAreCurrent) {
      this.#add(view.decode(), 1);
      return;
    }
    // All matches of an object have the same version, so that each is another source.
    const offsets = view.matches();
    const isCrossmatched = view.state === 'crossmatched';
    const outcomes = this.#outcomesOf(view.current);
    this.#tally.add(
      statusName(isCrossmatched ? crossmatchedStatus(offsets.length > 0, outcomes) : 'crossmatch_pending'),
    );
    for (const [catalog, outcome] of outcomes ?? []) this.#tally.add(outcomeName(catalog, outcome));
    if (isCrossmatched) for (const at of offsets) this.#tally.add(matchesName(view.catalogName(at)));
  }

  /** The outcomes of the current crossmatch, kept by its bytes, because many objects share a few of these. */
  #outcomesOf(current: string): CrossmatchRecord['catalogOutcomes'] | undefined {
    if (!this.#outcomes.has(current)) this.#outcomes.set(current, readCurrent(current).record?.catalogOutcomes);
    return this.#outcomes.get(current);
  }

  /** To be called inside the commit's transaction. */
  store(databases: Databases): void {
    this.#tally.store(databases);
  }

  /** The counts of a store that holds only the objects that were counted here. */
  total(journalEntries: number): StoreCounts {
    return asCounts(this.#tally.total(), journalEntries);
  }
}

const view = new ObjectView();

const outcomeName = (catalog: string, outcome: string) => `outcome/${catalog}/${outcome}`;
const matchesName = (catalog: string) => `matches/${catalog}`;
const statusName = (status: StoredStatus) => `status/${status}`;

export function readCounts({ meta, journal }: Databases, options?: object): StoreCounts {
  const entries = options ? journal.getKeysCount(options) : journal.entryCount();
  return asCounts(readCountersAt(meta, COUNTS_KEY, options), entries);
}

function asCounts(counters: Counters, journalEntries: number): StoreCounts {
  const statuses = Object.fromEntries(STORED_STATUSES.map(status => [status, counters[statusName(status)] ?? 0]));
  const objects = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  const outcomes: Record<string, Record<string, number>> = {};
  const matches: Record<string, number> = {};
  for (const [name, count] of Object.entries(counters).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [kind, catalog = '', outcome = ''] = name.split('/');
    if (count === 0) continue;
    if (kind === 'outcome') (outcomes[catalog] ??= {})[outcome] = count;
    if (kind === 'matches') matches[catalog] = count;
  }
  return { objects, statuses: statuses as StoreCounts['statuses'], outcomes, matches, journalEntries };
}
