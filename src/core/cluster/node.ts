/** One of several nodes: its archive follows the log, and every change goes through the log. */
import { randomUUID } from 'node:crypto';
import { messageOf } from '../base/error_text.ts';
import { nowUs } from '../base/times.ts';
import { encodeChange } from '../store/change_record.ts';
import type { Change } from '../store/changes.ts';
import { type Claim, expectOutcome, forgetOutcome, submitterClaim } from '../store/claims.ts';
import { readLevel, UnreadableLevel } from '../store/level.ts';
import { readLogPosition } from '../store/log_position.ts';
import { type LoggedChange, loggedChange, recordHash } from '../store/logged_changes.ts';
import type { Store } from '../store/store.ts';
import { damageOf, StoreError } from '../store/store_error.ts';
import { type Election, type SharedLog, Writer } from '../store/writer.ts';
import {
  CURE,
  changedOnDisk,
  type LogEntry,
  type LogRead,
  LostPlace,
  lostPlace,
  type RecordLog,
} from './record_log.ts';

/**
 * Several processes of one machine may be the same node at once: each applies the records that no other process has
 * applied yet.
 */
export class Node implements SharedLog {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #log: RecordLog;
  /** The prefix of the ids of this process's records. */
  readonly #submitter = randomUUID();
  #submitted = 0;
  #claim: Claim | undefined;
  #claiming: Promise<void> | undefined;
  /** Records that this node is appending, or has appended but not yet applied. */
  readonly #waiting = new Map<string, PromiseWithResolvers<unknown>>();
  /** The name of the log, once the log is known to match the archive up to `#next`. */
  #identity: string | undefined;
  #next: number | undefined;
  #lost: LostPlace | undefined;
  /** The number of records that the log has beyond those that this node has applied, when it was last read. */
  left = 0;
  /** Whether the last read reached the end of the log, so that new records arrive as they are appended. */
  #isLive = false;
  /**
   * This node's clock minus the time of the last record of another process, microseconds, when that record arrived. NaN
   * while none has arrived.
   */
  clockSkewUs = Number.NaN;

  /** @param store opened with mode `write` */
  constructor(store: Store, log: RecordLog) {
    this.#store = store;
    this.#writer = new Writer(store);
    this.#log = log;
  }

  /**
   * Applies the next records after this node's position, as many as one read returns. The first call checks that the
   * archive matches the log.
   * @returns the number of records that remain in the log
   * @throws LostPlace, also in every later call, if the archive does not match the log, or stored data is damaged;
   * errors of the log and of the disk: the call may then be repeated
   */
  async step(): Promise<number> {
    if (this.#lost) throw this.#lost;
    try {
      await this.#register();
      this.#store.resetRead();
      const position = readLogPosition(this.#store.databases);
      const { next = 0 } = position ?? {};
      if (position?.next !== this.#next) {
        // Another process has applied more records.
        this.#identity = undefined;
        await this.#takeOutcomes();
      }
      this.#identity ??= await this.#checked();
      this.#next = position?.next;
      const read = await this.#log.read(next);
      requireKept(read, next);
      this.left = read.end - next;
      const { changes, unreadable } = decoded(read.entries, this.#store.readableLevel);
      const last = changes.at(-1);
      if (this.#isLive && last && !last.id.startsWith(this.#submitter)) this.clockSkewUs = nowUs() - last.change.timeUs;
      this.#isLive = read.end === next + read.entries.length;
      await this.#apply(read.entries, changes, this.#identity);
      this.left -= changes.length;
      if (unreadable) throw unreadable;
      return this.left;
    } catch (error) {
      // Reading damaged data again would fail again.
      const damage = damageOf(error);
      const found = damage ? changedOnDisk(damage) : error;
      if (found instanceof LostPlace) this.#stop(found);
      throw found;
    }
  }

  /**
   * Appends a change to the log and waits until `step` has applied it.
   * @returns the outcome of each record of the change: the result of `apply`, or a RefusedChange
   * @throws LostPlace; StoreError if the change is too long; errors of the log: it is then unknown whether the change
   * was made, and repeating it is safe
   */
  async submit(change: Change): Promise<unknown[]> {
    await this.#register();
    const outcomes: unknown[] = [];
    const level = readLevel(this.#store.databases);
    for (const record of encodeChange(change, level)) outcomes.push(await this.#submitRecord(record, change.timeUs));
    return outcomes;
  }

  async elect(duty: string): Promise<Election> {
    return this.#log.elect(duty);
  }

  async #submitRecord(record: Uint8Array, timeUs: number): Promise<unknown> {
    if (this.#lost) throw this.#lost;
    const id = `${this.#submitter}/${++this.#submitted}`;
    const applied = Promise.withResolvers<unknown>();
    this.#waiting.set(id, applied);
    expectOutcome(id);
    this.#log.append(id, record, timeUs).catch(applied.reject);
    try {
      return await applied.promise;
    } finally {
      this.#waiting.delete(id);
      forgetOutcome(id);
    }
  }

  async #apply(entries: readonly LogEntry[], changes: readonly LoggedChange[], identity: string): Promise<void> {
    if (changes.length === 0) return;
    let outcomes: unknown[];
    try {
      outcomes = await this.#writer.applyLogged(identity, changes);
    } catch (error) {
      // A disk that is too full for all of them may have room for some. If one cannot be applied, those before it are.
      if (changes.length > 1) {
        const half = Math.ceil(changes.length / 2);
        await this.#apply(entries.slice(0, half), changes.slice(0, half), identity);
        return this.#apply(entries.slice(half), changes.slice(half), identity);
      }
      if (error instanceof StoreError) throw error;
      // The disk is not the cause, so applying the record again would fail again.
      throw cannotFollow(changes[0]!.position, error);
    }
    const known = changes.length - outcomes.length;
    for (const [i, outcome] of outcomes.entries()) this.#waiting.get(entries[known + i]!.id)?.resolve(outcome);
    if (outcomes.length > 0) this.#next = changes.at(-1)!.position + 1;
    if (known > 0) await this.#takeOutcomes();
  }

  /** Makes the other processes of this node leave the outcomes of this process's changes. */
  #register(): Promise<void> {
    this.#claiming ??= this.#writer.claimExclusively(submitterClaim(this.#submitter)).then(
      claim => {
        this.#claim = claim;
      },
      error => {
        this.#claiming = undefined;
        throw error;
      },
    );
    return this.#claiming;
  }

  /** Resolves this process's changes that another process has applied, with their outcomes. */
  async #takeOutcomes(): Promise<void> {
    this.#store.resetRead();
    for (const [id, applied] of this.#waiting) {
      const taken = await this.#writer.takeOutcome(id);
      if (taken) applied.resolve(taken.outcome);
    }
  }

  /** The name of the log. */
  async #checked(): Promise<string> {
    const identity = await this.#log.identity();
    const position = readLogPosition(this.#store.databases);
    if (!position) {
      const { first } = await this.#log.read(0);
      if (first > 0) throw lostPlace(`it starts at record ${first}, but this node starts at record 0`);
      if (!this.#store.isEmpty) throw lostPlace('this node has an archive that was not made from it');
      return identity;
    }
    const { log, next, hash } = position;
    const { readableLevel } = this.#store;
    const level = readLevel(this.#store.databases);
    // Another process of this node, with a newer release, has applied more records.
    if (level > readableLevel) throw cannotFollow(next, new UnreadableLevel(level, readableLevel));
    if (log !== identity) throw lostPlace(`it is ${identity}, but this node followed ${log}`);
    // The log continues this archive, and no record of it is applied yet.
    if (next === 0) return identity;
    const last = await this.#log.read(next - 1);
    const [entry] = last.entries;
    if (!entry && last.first < next) await this.#requireShown(next);
    requireKept(last, next, next - 1);
    // Kafka may have removed the record because it was old.
    const isGone = last.first >= next;
    if (!isGone && (!entry || recordHash(entry.record) !== hash))
      throw lostPlace(`its record ${next - 1} differs from the record that this node applied`);
    return identity;
  }

  /**
   * A Kafka server that has just become the leader may have records that it does not show yet.
   * @throws Error in that case: the call may then be repeated
   */
  async #requireShown(next: number): Promise<void> {
    const { end } = await this.#log.read(next);
    if (end >= next) throw new Error(`the log does not show record ${next - 1} yet`);
  }

  /** Abandons the changes that wait to be applied. */
  async close(): Promise<void> {
    this.#stop(new LostPlace('Cannot wait for the log because this process is stopping'));
    if (this.#claim) await this.#writer.dropClaim(this.#claim);
  }

  #stop(error: LostPlace): void {
    this.#lost = error;
    for (const applied of this.#waiting.values()) applied.reject(error);
  }
}

/**
 * @param from the position from which the entries were read
 * @throws LostPlace if a node at the position `next` cannot continue with these entries
 */
function requireKept({ entries, first, end }: LogRead, next: number, from = next): void {
  if (end < next) throw lostPlace(`it ends at record ${end}, but this node has applied ${next} of its records`);
  if (first > next) throw lostPlace(`it no longer has the records from ${next} to ${first - 1}`);
  const missing = entries.findIndex(({ position }, i) => position !== from + i);
  if (missing >= 0) throw lostPlace(`it has no record ${from + missing}`);
}

/** The changes of the entries, up to the first entry that cannot be read. */
function decoded(
  entries: readonly LogEntry[],
  readableLevel: number,
): { changes: LoggedChange[]; unreadable?: LostPlace } {
  const changes: LoggedChange[] = [];
  for (const entry of entries) {
    try {
      changes.push(loggedChange(entry, readableLevel));
    } catch (error) {
      return { changes, unreadable: cannotFollow(entry.position, error) };
    }
  }
  return { changes };
}

function cannotFollow(position: number, error: unknown): LostPlace {
  const why = messageOf(error);
  // The messages of nearsky's own errors give the remedy.
  const cure = error instanceof StoreError || why.includes(CURE) ? '' : `: ${APPLY_CURE}`;
  return new LostPlace(`Cannot follow the log from record ${position} on: ${why}${cure}`, { cause: error });
}

const APPLY_CURE = `if other nodes have applied the record, ${CURE}; if none has, install a newer nearsky on all, and report this`;
