/** The numbers of stored objects by kind. Each commit updates them, so that nothing needs to read every object. */
import { type Counters, Tally } from './counters.ts';
import { currentMatches } from './current_matches.ts';
import type { Databases } from './databases.ts';
import { MetaValue } from './meta.ts';
import { ObjectView, readCurrent } from './object_record.ts';
import { tableAfter } from './positions.ts';
import { lastOrdinal } from './records.ts';
import { removalsAfter } from './removals.ts';
import { crossmatchedStatus, STORED_STATUSES, type StoredStatus, statusOf } from './status.ts';
import type { CrossmatchRecord, StoredObject } from './types.ts';

const stored = new MetaValue<Counters>('counts');

export interface StoreCounts {
  readonly objects: number;
  /** Objects by status. Every status has an entry. */
  readonly statuses: Readonly<Record<StoredStatus, number>>;
  /** Catalog name, then recorded outcome of the current crossmatch. */
  readonly outcomes: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Coincident sources of the crossmatched objects, by catalog name. */
  readonly matches: Readonly<Record<string, number>>;
  readonly journalEntries: number;
}

/** The number of new objects that share one current crossmatch. */
interface Added {
  /** Undefined without a crossmatch. */
  readonly outcomes: CrossmatchRecord['catalogOutcomes'] | undefined;
  pending: number;
  matched: number;
  unmatched: number;
}

/** The changes of one commit to the counts. */
export class CountChanges {
  readonly #tally = new Tally(stored);
  /** New objects by their section `current`, which many objects share. */
  readonly #added = new Map<string, Added>();
  /** Sources of new objects by the stored name of the catalog. */
  readonly #addedSources = new Map<string, number>();

  /**
   * Counts an object that is now stored as `after`, and was stored as `before`; `before` is undefined for a new object.
   */
  changed(before: StoredObject | undefined, after: StoredObject): void {
    if (before) this.#add(before, -1);
    this.#add(after, 1);
  }

  removed(object: StoredObject): void {
    this.#add(object, -1);
  }

  #add(object: StoredObject, change: 1 | -1): void {
    this.#tally.add(statusName(statusOf(object)), change);
    for (const [catalog, outcome] of object.records.at(-1)?.catalogOutcomes ?? []) {
      this.#tally.add(outcomeName(catalog, outcome), change);
    }
    if (object.state === 'pending') return;
    for (const { match } of currentMatches(object)) this.#tally.add(matchesName(match.catalogName), change);
  }

  addedPending(objects: number): void {
    this.#addObjects({ outcomes: undefined, pending: objects, matched: 0, unmatched: 0 });
  }

  /**
   * Counts pending objects that are now crossmatched, all with these outcomes: `matched` objects with matches,
   * `unmatched` without.
   */
  firstCrossmatched(outcomes: CrossmatchRecord['catalogOutcomes'], matched: number, unmatched: number): void {
    this.#addObjects({ outcomes, pending: -matched - unmatched, matched, unmatched });
    for (const [catalog, outcome] of outcomes) this.#tally.add(outcomeName(catalog, outcome), matched + unmatched);
  }

  #addObjects({ outcomes, pending, matched, unmatched }: Added): void {
    if (pending !== 0) this.#tally.add(statusName('crossmatch_pending'), pending);
    if (matched > 0) this.#tally.add(statusName(crossmatchedStatus(true, outcomes)), matched);
    if (unmatched > 0) this.#tally.add(statusName(crossmatchedStatus(false, outcomes)), unmatched);
  }

  /** Counts newly crossmatched objects with a source of that catalog; they had no match before. */
  firstMatched(catalog: string, objects: number): void {
    this.#tally.add(matchesName(catalog), objects);
  }

  /** Counts a new object, given as its stored bytes. */
  added(diaObjectId: bigint, object: Uint8Array): void {
    view.load(diaObjectId, object);
    const { current } = view;
    let added = this.#added.get(current);
    if (!added) {
      added = { outcomes: readCurrent(current).record?.catalogOutcomes, pending: 0, matched: 0, unmatched: 0 };
      this.#added.set(current, added);
    }
    if (view.state === 'pending') added.pending++;
    else if (!view.hasMatches) added.unmatched++;
    else {
      added.matched++;
      for (const { at } of view.currentMatches()) {
        const catalog = view.text(view.catalogNameAt(at), view.sourceIdAt(at));
        this.#addedSources.set(catalog, (this.#addedSources.get(catalog) ?? 0) + 1);
      }
    }
  }

  /** Tallies the new objects, group by group. */
  #tallyAdded(): void {
    for (const added of this.#added.values()) {
      this.#addObjects(added);
      const objects = added.pending + added.matched + added.unmatched;
      for (const [catalog, outcome] of added.outcomes ?? []) this.#tally.add(outcomeName(catalog, outcome), objects);
    }
    for (const [catalog, sources] of this.#addedSources)
      this.#tally.add(matchesName(JSON.parse(`"${catalog}"`)), sources);
    this.#added.clear();
    this.#addedSources.clear();
  }

  /** Call this inside the commit's transaction. */
  store(databases: Databases): void {
    this.#tallyAdded();
    this.#tally.store(databases);
  }

  /** The counts of a store that contains only the objects counted here. */
  total(journalEntries: number): StoreCounts {
    this.#tallyAdded();
    return asCounts(this.#tally.total(), journalEntries);
  }
}

const view = new ObjectView();

const outcomeName = (catalog: string, outcome: string) => `outcome/${catalog}/${outcome}`;
const matchesName = (catalog: string) => `matches/${catalog}`;
const statusName = (status: StoredStatus) => `status/${status}`;

/** The number of stored objects, from the counts. */
export function countObjects(databases: Databases, options?: object): number {
  return objectsOf(stored.read(databases, options) ?? {});
}

/** The number of objects after a journal entry: without those stored since, and with those removed since. */
export function countObjectsAt(databases: Databases, at: number, options?: object): number {
  const rowsAt = (sequence: number) => tableAfter(databases, sequence, options).rows;
  let count = countObjects(databases, options) + rowsAt(at) - rowsAt(lastOrdinal(databases.journal, options));
  for (const { objects } of removalsAfter(databases, at, options)) count += objects.length;
  return count;
}

const objectsOf = (counters: Counters) =>
  STORED_STATUSES.reduce((sum, status) => sum + (counters[statusName(status)] ?? 0), 0);

export function readCounts(databases: Databases, options?: object): StoreCounts {
  const { journal } = databases;
  const entries = options ? journal.getKeysCount(options) : journal.entryCount();
  return asCounts(stored.read(databases, options) ?? {}, entries);
}

function asCounts(counters: Counters, journalEntries: number): StoreCounts {
  const statuses = Object.fromEntries(STORED_STATUSES.map(status => [status, counters[statusName(status)] ?? 0]));
  const outcomes: Record<string, Record<string, number>> = {};
  const matches: Record<string, number> = {};
  for (const [name, count] of Object.entries(counters).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [kind, catalog = '', outcome = ''] = name.split('/');
    if (count === 0) continue;
    if (kind === 'outcome') (outcomes[catalog] ??= {})[outcome] = count;
    if (kind === 'matches') matches[catalog] = count;
  }
  return {
    objects: objectsOf(counters),
    statuses: statuses as StoreCounts['statuses'],
    outcomes,
    matches,
    journalEntries,
  };
}
