/** One of several nodes: its archive is what the log makes, and whatever changes it goes through the log. */
import { randomUUID } from 'node:crypto';
import { messageOf } from '../base/error_text.ts';
import { encodeChange } from '../store/change_record.ts';
import type { Change } from '../store/changes.ts';
import { type LoggedChange, loggedChange, recordHash } from '../store/logged_changes.ts';
import type { Store } from '../store/store.ts';
import { StoreError } from '../store/store_error.ts';
import { Writer } from '../store/writer.ts';
import { type Log, type LogEntry, type LogRead, LostPlace, lostPlace } from './log.ts';

export class Node {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #log: Log;
  /** Records that this node has appended, or is appending, and that it has not applied yet. */
  readonly #waiting = new Map<string, PromiseWithResolvers<unknown>>();
  /** The name of the log, once it is known to be the one that made the archive. */
  #identity: string | undefined;
  #lost: LostPlace | undefined;

  /** @param store opened with mode `write`, and written to by this node alone */
  constructor(store: Store, log: Log) {
    this.#store = store;
    this.#writer = new Writer(store);
    this.#log = log;
  }

  /**
   * Applies what the log has beyond this node's position, as much as one read gives; the first call checks that the
   * archive is the log's.
   * @returns the number of records that the log has beyond those
   * @throws LostPlace from then on, when the archive is not what the log makes; errors of the log and of the disk: the
   * call may then be repeated
   */
  async step(): Promise<number> {
    if (this.#lost) throw this.#lost;
    try {
      this.#identity ??= await this.#checked();
      const { next = 0 } = this.#store.logPosition() ?? {};
      const read = await this.#log.read(next);
      requireKept(read, next);
      const { changes, unreadable } = decoded(read.entries);
      await this.#apply(read.entries, changes, this.#identity);
      if (unreadable) throw unreadable;
      return read.end - next - changes.length;
    } catch (error) {
      if (error instanceof LostPlace) this.#stop(error);
      throw error;
    }
  }

  /**
   * Appends a change to the log and waits until `step` has applied it.
   * @returns the outcome of each of its records: the result of `apply`, or a RefusedChange
   * @throws LostPlace; StoreError when the change is too long; errors of the log: whether the change was made is then
   * unknown, and to make it again does no harm
   */
  async submit(change: Change): Promise<unknown[]> {
    const outcomes: unknown[] = [];
    for (const record of encodeChange(change)) outcomes.push(await this.#submitRecord(record));
    return outcomes;
  }

  async #submitRecord(record: Uint8Array): Promise<unknown> {
    if (this.#lost) throw this.#lost;
    const id = randomUUID();
    const applied = Promise.withResolvers<unknown>();
    this.#waiting.set(id, applied);
    this.#log.append(id, record).catch(applied.reject);
    try {
      return await applied.promise;
    } finally {
      this.#waiting.delete(id);
    }
  }

  async #apply(entries: readonly LogEntry[], changes: readonly LoggedChange[], identity: string): Promise<void> {
    if (changes.length === 0) return;
    const outcomes = await this.#writer.applyLogged(identity, changes).catch(error => {
      // No fault of the disk: to apply the same again would fail again.
      throw error instanceof StoreError ? error : cannotFollow(changes[0]!.position, error);
    });
    for (const [i, outcome] of outcomes.entries()) this.#waiting.get(entries[i]!.id)?.resolve(outcome);
  }

  /** The name of the log. */
  async #checked(): Promise<string> {
    const identity = await this.#log.identity();
    const position = this.#store.logPosition();
    if (!position) {
      const { first } = await this.#log.read(0);
      if (first > 0) throw lostPlace(`it begins at record ${first}, and this node at record 0`);
      if (!this.#store.isEmpty) throw lostPlace('this node has an archive that was not made from it');
      return identity;
    }
    const { log, next, hash } = position;
    if (log !== identity) throw lostPlace(`it is ${identity}, and this node followed ${log}`);
    const last = await this.#log.read(next - 1);
    requireKept(last, next);
    const [entry] = last.entries;
    // The record may have been removed because it was old.
    const isGone = last.first >= next;
    if (!isGone && (!entry || recordHash(entry.record) !== hash))
      throw lostPlace(`its record ${next - 1} is another one than this node applied`);
    return identity;
  }

  #stop(error: LostPlace): void {
    this.#lost = error;
    for (const applied of this.#waiting.values()) applied.reject(error);
  }
}

/** @throws LostPlace when a node at that position cannot go on with what the log has */
function requireKept({ entries, first, end }: LogRead, next: number): void {
  if (end < next) throw lostPlace(`it ends at record ${end}, and this node has applied ${next} records of it`);
  if (first > next) throw lostPlace(`it no longer has the records from ${next} to ${first - 1}`);
  const [entry] = entries;
  if (entry && entry.position > next) throw lostPlace(`it has no record ${next}`);
}

/** The changes of the entries, up to the first entry that cannot be read. */
function decoded(entries: readonly LogEntry[]): { changes: LoggedChange[]; unreadable?: LostPlace } {
  const changes: LoggedChange[] = [];
  for (const { position, record } of entries) {
    try {
      changes.push(loggedChange(position, record));
    } catch (error) {
      return { changes, unreadable: cannotFollow(position, error) };
    }
  }
  return { changes };
}

const cannotFollow = (position: number, error: unknown) =>
  new LostPlace(`Cannot follow the log from record ${position} on: ${messageOf(error)}`);
