/**
 * The only way to write to the database. Each method is one synchronous transaction: all of it is committed and
 * flushed, or none of it.
 */
import { setImmediate as immediate } from 'node:timers/promises';
import { compare } from '../base/compare.ts';
import type { Counts } from '../base/counts.ts';
import { nowUs } from '../base/times.ts';
import { type Applied, apply } from './apply.ts';
import {
  aboutChange,
  type Change,
  type ChangeKind,
  type IngestCounts,
  type RemovedCounts,
  type UntimedChange,
} from './changes.ts';
import { type Claim, dropClaim, noteDamage, noteStop, passedOutcome, takeClaim, takeExclusive } from './claims.ts';
import { addCounted } from './counters.ts';
import { beginHistory, endHistory, historyStart, removeFormer } from './history.ts';
import type { ImportItem, ImportOutcome, PreparedObject, PreparedOutcome } from './import.ts';
import { storedLevel } from './level.ts';
import { readLogPosition, removeLogPosition, writeLogPosition } from './log_position.ts';
import { applyLogged, type LoggedChange } from './logged_changes.ts';
import { storedSettings } from './meta.ts';
import { type Chore, noteDone, noteError, noteSize, type UnstoredMessages } from './nights.ts';
import { removeNodes } from './nodes.ts';
import { readLatestIngest } from './recent.ts';
import type { Store } from './store.ts';
import { RefusedChange, StoreError, storeError } from './store_error.ts';
import type { CrossmatchResult, Delivery, ProvenanceSet } from './types.ts';

/** The number of former records that one transaction removes. */
const REMOVED_AT_ONCE = 10_000;

/** The length of a delivery, the shortest kind of entry in a record, bytes. */
const BYTES_AN_ENTRY = 40;

/** The log that several nodes share, and that the archive follows. */
export interface SharedLog {
  /**
   * Appends a change, and waits until it is applied here.
   * @returns the outcomes of its parts: the result of `apply`, or a RefusedChange
   */
  submit(change: Change): Promise<unknown[]>;
  /** Becomes a candidate for a duty. */
  elect(duty: string): Promise<Election>;
}

/** One candidate of the nodes for a duty. */
export interface Election {
  /**
   * Whether this candidate is the elected one. After a pause of its process this may be out of date, so the log
   * decides.
   */
  readonly isElected: boolean;
  /** Leaves the duty to another candidate for some time. */
  resign(): void;
  close(): Promise<void>;
}

/**
 * Must run on a thread that nothing terminates from outside: a thread that is terminated inside a transaction locks the
 * database for every process. Changes are durable once the promise of their method resolves.
 */
export class Writer {
  readonly #store: Store;
  /** The log that the archive follows, which other nodes may share; undefined if there is none. */
  readonly log: SharedLog | undefined;

  /**
   * @param store opened with mode `write`
   * @param log the log that the archive follows, if any: each change goes through it, and may become several commits
   */
  constructor(store: Store, log?: SharedLog) {
    this.#store = store;
    this.log = log;
  }

  /**
   * Makes a change of the archive, in one commit, or through the log.
   * @param timeUs the time of the change
   * @throws StoreError; then nothing is stored
   */
  async commit<K extends ChangeKind>(change: UntimedChange & { kind: K }, timeUs = nowUs()): Promise<Applied<K>> {
    if (this.log) return joined(await this.log.submit({ ...change, timeUs })) as Applied<K>;
    const { doing, entries } = aboutChange(change);
    return this.#transaction(doing, entries, () => {
      this.#requireNoLog(doing);
      this.#noteSize(timeUs);
      return apply<K>(this.#store.databases, { ...change, timeUs });
    });
  }

  /**
   * Stores deliveries in one commit, by ascending id: ids of one visit are neighbours, so fewer pages change, and they
   * are fuller. The first delivery of an object fixes its position, times and reliability; a later one adds its broker; a
   * repeated one changes nothing.
   * @param unstored the messages among them that are not stored, to be counted in the same commit
   * @throws StoreError; then nothing is stored
   */
  async ingest(
    deliveries: readonly Delivery[],
    ingestTimeUs: number,
    unstored?: UnstoredMessages,
  ): Promise<IngestCounts> {
    const sorted = deliveries.toSorted((a, b) => compare(a.diaObjectId, b.diaObjectId));
    const change = { kind: 'deliver', deliveries: sorted, ...(unstored && { unstored }) } as const;
    return this.commit(change, ingestTimeUs);
  }

  /**
   * Claims the objects of `ids` that are pending and claimed by nobody else, to be crossmatched by this process alone.
   * A claim ends with `dropClaim`, or when this process ends in any way.
   * @throws StoreError
   */
  async claim(ids: readonly bigint[], isAgain = false): Promise<Claim> {
    return this.#transaction('claim the pending objects', 1, () => {
      return takeClaim(this.#store.databases, ids, this.#store.livePids(), isAgain);
    });
  }

  /** Claims a named task that one process at a time may run; undefined if another process has claimed it. */
  async claimExclusively(name: string): Promise<Claim | undefined> {
    return this.#transaction(`begin to ${name}`, 1, () =>
      takeExclusive(this.#store.databases, name, this.#store.livePids()),
    );
  }

  /** Drops a claim; other processes may then claim its objects that are still pending. */
  async dropClaim(claim: Claim): Promise<void> {
    this.#transaction('release the claim', 0, () => dropClaim(this.#store.databases, claim));
  }

  /**
   * Records crossmatches in one commit: record, matches, sources, state and registry association of each object. The
   * objects are then no longer pending. An object for which a catalog could not be read is listed as unread, until a
   * later crossmatch could read all. A result for an object that is not pending is skipped, unless the object is unread
   * and the result has read more. A first crossmatch has version 1, a later one the next. Older crossmatches are kept,
   * and so is an existing association.
   * @param isAgain whether to record results for crossmatched objects, too. Such a result is recorded only if its
   * provenance set differs from the object's, and if it could read every catalog that the old crossmatch could read
   * @throws StoreError; then nothing is stored
   */
  async recordCrossmatches(
    results: readonly CrossmatchResult[],
    provenance: ProvenanceSet,
    crossmatchedAtUs: number,
    isAgain = false,
  ): Promise<{ recorded: number; skipped: number }> {
    const change = { kind: 'crossmatch', results, provenance, ...(isAgain && { isAgain }) } as const;
    return this.commit(change, crossmatchedAtUs);
  }

  /**
   * Removes objects with everything that belongs to them, in one commit. Objects that are not stored are skipped.
   * @param broker removes only the deliveries of that broker: objects that another broker delivered, too, stay
   * @throws StoreError; then nothing is removed
   */
  async remove(ids: readonly bigint[], reason: string, broker?: string): Promise<RemovedCounts> {
    const change = { kind: 'remove', ids, reason, ...(broker !== undefined && { broker }) } as const;
    return this.commit(change);
  }

  /**
   * Adds data of another store, in one commit; the entries may come in any order. Existing data is not changed
   * otherwise.
   * @returns an outcome for each entry
   * @throws StoreError; then nothing is stored
   */
  async import(entries: readonly (ImportItem | PreparedObject)[]): Promise<(ImportOutcome | PreparedOutcome)[]> {
    const commit = <T>(some: readonly (ImportItem | PreparedObject)[]) =>
      this.commit({ kind: 'import', entries: some }) as Promise<T[]>;
    if (!this.log) return commit(entries);
    // By the time its record in the log is applied, an object prepared for this store may no longer fit it.
    const items = entries.map(entry => (entry.kind === 'prepared' ? entry.items() : [entry]));
    const outcomes = (await commit<ImportOutcome>(items.flat())).values();
    const next = () => outcomes.next().value!;
    return entries.map((entry, i) => (entry.kind === 'prepared' ? items[i]!.map(next) : next()));
  }

  /**
   * Applies records of the log that the archive follows, and stores the new position, all in one commit.
   * @returns the outcome of each record that no other process has applied; see `applyLogged`
   */
  async applyLogged(log: string, changes: readonly LoggedChange[]): Promise<unknown[]> {
    const entries = changes.reduce((sum, { record }) => sum + Math.ceil(record.length / BYTES_AN_ENTRY), 0);
    return this.#transaction('apply the log', entries, () => {
      this.#noteSize(nowUs());
      return applyLogged(this.#store.databases, log, changes);
    });
  }

  /** Makes the archive the start of a log, whose first record continues it. */
  async beginLog(log: string): Promise<void> {
    const position = { log, next: 0, hash: '', timeUs: readLatestIngest(this.#store.databases) ?? 0 };
    this.#transaction('begin the log', 1, () => writeLogPosition(this.#store.databases, position));
  }

  /** Detaches the archive from its log. */
  async leaveLog(): Promise<void> {
    this.#transaction('leave the log', 1, () => {
      removeLogPosition(this.#store.databases);
      removeNodes(this.#store.databases);
      storedSettings.remove(this.#store.databases);
      storedLevel.remove(this.#store.databases);
    });
  }

  /** Stores, for other processes, why this process no longer follows the log. */
  async noteStop(reason: string): Promise<void> {
    this.#transaction('note the stop', 1, () => noteStop(this.#store.databases, reason));
  }

  /** Stores, for all later processes, what was found damaged; undefined if a check of the whole database found nothing. */
  async noteDamage(what: string | undefined): Promise<void> {
    this.#transaction('note the damage', what === undefined ? 0 : 1, () => noteDamage(this.#store.databases, what));
  }

  /** Stores what the threads of this process have counted for capabilities. */
  async keepCounts(counts: Counts): Promise<void> {
    counts.keep(added => this.#transaction('store the counts', 1, () => addCounted(this.#store.databases, added)));
  }

  /** Counts an error of this machine, for the report of the night. */
  async noteError(kind: string, text: string): Promise<void> {
    this.#transaction('note the error', 1, () => noteError(this.#store.databases, kind, text, nowUs()));
  }

  /** Notes that a chore is done, for the report of the night. */
  async noteDone(chore: Chore, target: string): Promise<void> {
    const done = { timeUs: nowUs(), target };
    this.#transaction(`note the ${chore}`, 1, () => noteDone(this.#store.databases, chore, done));
  }

  /**
   * Begins to keep a history of objects, or removes it. Later calls with the same value change nothing, unless a removal
   * was interrupted: they continue it.
   * @param signal interrupts a removal
   */
  async keepHistory(isKept: boolean, signal?: AbortSignal): Promise<void> {
    const { databases } = this.#store;
    const has = () => historyStart(databases) !== undefined;
    if (isKept === has() && (isKept || databases.history.entryCount() === 0)) return;
    if (!isKept) this.#transaction('end the history', 0, () => endHistory(databases));
    // The remains of an interrupted removal do not belong to a new history, which another process may begin meanwhile.
    while (!has() && databases.history.entryCount() > 0) {
      this.#transaction('remove the history', 0, () => {
        if (!has()) removeFormer(databases, REMOVED_AT_ONCE);
      });
      // Other work of this thread goes on meanwhile.
      await immediate();
      if (signal?.aborted) return;
      this.#store.resetRead();
    }
    if (isKept) this.#transaction('begin a history', 1, () => has() || beginHistory(databases));
  }

  #noteSize(timeUs: number): void {
    noteSize(this.#store.databases, this.#store.files.bytes, timeUs);
  }

  /** Takes the outcome that another process has left for a change of this process. */
  async takeOutcome(id: string): Promise<{ readonly outcome: unknown } | undefined> {
    const passed = passedOutcome(this.#store.databases, id);
    if (passed) await this.dropClaim(passed.claim);
    return passed;
  }

  /** A change outside the log would make this archive differ from all others that follow the log. */
  #requireNoLog(doing: string): void {
    const position = readLogPosition(this.#store.databases);
    if (!position) return;
    throw new StoreError(
      `Cannot ${doing} because the archive follows a log (${position.log}): set NEARSKY_LOG, so that the change goes through the log`,
    );
  }

  /** @param entries see `Store.requireSpace` */
  #transaction<T>(doing: string, entries: number, change: () => T): T {
    const store = this.#store;
    store.onWaiting(true);
    try {
      return store.databases.objects.transactionSync(() => {
        store.onWaiting(false);
        store.requireInPlace();
        store.requireSpace(doing, entries);
        return change();
      });
    } catch (error) {
      store.onWaiting(false);
      throw error instanceof Error && 'code' in error ? storeError(doing, error) : error;
    }
  }
}

/**
 * Combines the outcomes of the parts of a change: a single outcome, lists, or counts.
 * @throws RefusedChange if a part was refused
 */
function joined(parts: readonly unknown[]): unknown {
  for (const part of parts) if (part instanceof RefusedChange) throw part;
  const [first] = parts;
  if (parts.length === 1 || typeof first !== 'object') return first;
  if (Array.isArray(first)) return parts.flat();
  const counts = parts as readonly Readonly<Record<string, number>>[];
  return Object.fromEntries(
    Object.keys(first!).map(name => [name, counts.reduce((sum, part) => sum + part[name]!, 0)]),
  );
}
