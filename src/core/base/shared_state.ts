import { randomBytes } from 'node:crypto';
import { COUNT_CELLS } from './counts.ts';
import { steadyMs } from './runtime.ts';

const CELLS = 17;
const COUNTS_AT = (CELLS + 1) * Float64Array.BYTES_PER_ELEMENT;
const SECRET_AT = COUNTS_AT + COUNT_CELLS * BigInt64Array.BYTES_PER_ELEMENT;
const SECRET_BYTES = 32;
/** Longer than the pause after which a refused write is retried. */
const WANTED_MS = 60_000;

/**
 * State that every thread of the process can read at any time: numbers in shared memory, read without a system call.
 */
export class SharedState {
  /** The memory with which another thread shares the state. */
  readonly memory: SharedArrayBuffer;
  readonly #cells: Float64Array;
  /** Numbers that several threads increase. */
  readonly #sums: Int32Array;

  /** @param memory the memory of another thread; by default new memory, which reports no problem */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(SECRET_AT + SECRET_BYTES);
    this.#cells = new Float64Array(this.memory, 0, CELLS);
    this.#sums = new Int32Array(this.memory, CELLS * Float64Array.BYTES_PER_ELEMENT, 1);
    if (memory) return;
    this.#secret.set(randomBytes(SECRET_BYTES));
    this.diskFreeBytes = Number.POSITIVE_INFINITY;
    this.logFollowedMs = Number.POSITIVE_INFINITY;
    this.logTimeUs = Number.POSITIVE_INFINITY;
    this.clockSkewUs = Number.NaN;
  }

  get #secret(): Uint8Array {
    return new Uint8Array(this.memory, SECRET_AT);
  }

  /** The memory of `Counts`. */
  get counts(): BigInt64Array {
    return new BigInt64Array(this.memory, COUNTS_AT, COUNT_CELLS);
  }

  /** Random bytes that only this process knows, to sign what clients send back to any of its threads. */
  get secret(): Uint8Array {
    return this.#secret.slice();
  }

  /**
   * Whether the database's files were removed, replaced or truncated while this process was running. Then they must not
   * be used for answers.
   */
  get databaseIsGone(): boolean {
    return this.#cells[0] !== 0;
  }

  set databaseIsGone(isGone: boolean) {
    this.#cells[0] = isGone ? 1 : 0;
  }

  /** Whether the archive differs, or may differ, from the result of the nodes' log. */
  get isStopped(): boolean {
    return this.#cells[4] !== 0;
  }

  set isStopped(isStopped: boolean) {
    this.#cells[4] = isStopped ? 1 : 0;
  }

  /** Whether the node has stopped because its stored data is damaged. */
  get isDamaged(): boolean {
    return this.#cells[14] !== 0;
  }

  set isDamaged(isDamaged: boolean) {
    this.#cells[14] = isDamaged ? 1 : 0;
  }

  /** Whether the node has stopped because its release is older than the level of the log. */
  get isOutdated(): boolean {
    return this.#cells[10] !== 0;
  }

  set isOutdated(isOutdated: boolean) {
    this.#cells[10] = isOutdated ? 1 : 0;
  }

  /** The level of the log that this node has read so far; 0 without a log. */
  get logLevel(): number {
    return this.#cells[11]!;
  }

  set logLevel(level: number) {
    this.#cells[11] = level;
  }

  /** Why the database must not be read now, as a clause after "because"; undefined if it may be read. */
  get whyNoAnswer(): string | undefined {
    if (this.databaseIsGone) return 'the database cannot be read';
    if (this.isStopped && this.isOutdated)
      return `this node has stopped because the log of the nodes has level ${this.logLevel}, which this release cannot read: install a newer nearsky`;
    return this.isStopped
      ? 'this node has stopped because its archive differs, or may differ, from the log of the nodes (see node_stopped in the log of this node)'
      : undefined;
  }

  /**
   * When this node had last applied the whole log, by `steadyMs`; if it never had, the time of its start. Infinite
   * without a log.
   */
  get logFollowedMs(): number {
    return this.#cells[5]!;
  }

  set logFollowedMs(followedMs: number) {
    this.#cells[5] = followedMs;
  }

  /** For how long this node has been behind the log; 0 without a log. */
  get logLagMs(): number {
    return Math.max(0, steadyMs() - this.logFollowedMs);
  }

  /** Whether this node has caught up with the log since it started. */
  get hasCaughtUp(): boolean {
    return this.#cells[12] !== 0;
  }

  set hasCaughtUp(hasCaughtUp: boolean) {
    this.#cells[12] = hasCaughtUp ? 1 : 0;
  }

  /** Whether the log cannot be read. */
  get isLogAway(): boolean {
    return this.#cells[13] !== 0;
  }

  set isLogAway(isAway: boolean) {
    this.#cells[13] = isAway ? 1 : 0;
  }

  /** The number of records of the log that this node has applied. */
  get logPosition(): number {
    return this.#cells[6]!;
  }

  set logPosition(position: number) {
    this.#cells[6] = position;
  }

  /**
   * The time up to which this node has every ingested object, microseconds since 1970: the time of the last log record
   * that it has applied. Infinite without a log.
   */
  get logTimeUs(): number {
    return this.#cells[8]!;
  }

  set logTimeUs(timeUs: number) {
    this.#cells[8] = timeUs;
  }

  /**
   * This node's clock minus the time of the last record of another process, microseconds, at the arrival of that
   * record; NaN until one has arrived.
   */
  get clockSkewUs(): number {
    return this.#cells[9]!;
  }

  set clockSkewUs(skewUs: number) {
    this.#cells[9] = skewUs;
  }

  /** Whether the archive is made from a log that several nodes share. */
  get hasLog(): boolean {
    return this.logTimeUs !== Number.POSITIVE_INFINITY;
  }

  /** The number of further records that the log contained when it was last checked. */
  get logLeft(): number {
    return this.#cells[7]!;
  }

  set logLeft(left: number) {
    this.#cells[7] = left;
  }

  /** When a write of this process began to wait for another process, milliseconds since 1970; 0 if no write waits. */
  get writeWaitsSinceMs(): number {
    return this.#cells[1]!;
  }

  set writeWaitsSinceMs(sinceMs: number) {
    this.#cells[1] = sinceMs;
  }

  /**
   * Free bytes on the disk of the data directory, measured a moment ago; infinite if the file system does not report
   * them.
   */
  get diskFreeBytes(): number {
    return this.#cells[2]!;
  }

  set diskFreeBytes(bytes: number) {
    this.#cells[2] = bytes;
  }

  /** Notes that a write needed this much space just now, and the disk had less. */
  wantDisk(bytes: number): void {
    [this.#cells[15], this.#cells[16]] = [bytes, Date.now()];
  }

  /** The bytes that a write wanted in vain within the last minute; 0 if none did. */
  get diskWantedBytes(): number {
    return Date.now() - this.#cells[16]! < WANTED_MS ? this.#cells[15]! : 0;
  }

  /** When a query last found too little memory for its answer, milliseconds since 1970; 0 if that never happened. */
  get memoryWantedMs(): number {
    return this.#cells[3]!;
  }

  set memoryWantedMs(wantedMs: number) {
    this.#cells[3] = wantedMs;
  }

  /**
   * Adds to the KiB that are reserved for the long answers of all threads, unless the total would exceed `limitKib`.
   * Returns whether it did.
   */
  reserveAnswers(kib: number, limitKib: number): boolean {
    if (Atomics.add(this.#sums, 0, kib) + kib <= limitKib) return true;
    Atomics.sub(this.#sums, 0, kib);
    return false;
  }

  freeAnswers(kib: number): void {
    Atomics.sub(this.#sums, 0, kib);
  }
}
