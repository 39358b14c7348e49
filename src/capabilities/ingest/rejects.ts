import { isUtf8 } from 'node:buffer';
import { closeSync, fdatasyncSync, fstatSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flush, makeDirectory } from '../../core/base/files.ts';
import type { Config } from '../../core/config/config.ts';
import type { BrokerName } from '../../core/contract/brokers.ts';
import { storeError } from '../../core/store/store_error.ts';

/** How much of a rejected message is kept. */
const MESSAGE_CHARACTERS = 4096;
const MESSAGE_BYTES = 3072;

/** Where a message came from: the line of a file (from 1), or its position at the broker. */
export type Origin =
  | { readonly file: string; readonly line: number }
  | { readonly topic: string; readonly partition: number; readonly offset: string }
  | { readonly subscription: string; readonly message_id: string };

/** The entry of a rejected message in the log. */
export type Reject = Origin & { readonly reason: string } & (
    | { readonly message: string }
    /** The bytes of a message that is not text. */
    | { readonly message_base64: string }
  );

export function rejectOf(origin: Origin, reason: string, message: string | Uint8Array): Reject {
  if (typeof message === 'string') return { ...origin, reason, message: message.slice(0, MESSAGE_CHARACTERS) };
  if (isUtf8(message)) return rejectOf(origin, reason, Buffer.from(message).toString());
  return { ...origin, reason, message_base64: Buffer.from(message.subarray(0, MESSAGE_BYTES)).toString('base64') };
}

const REASON_CHARACTERS = 80;

/**
 * A reason without the values of the message, which follow a colon or are in brackets. Used to count rejects by reason.
 */
export const reasonKind = (reason: string) => reason.split(/: | \(/, 1)[0]!.slice(0, REASON_CHARACTERS);

/** The settings for the place and the size of the log. */
type RejectSettings = Pick<Config, 'NEARSKY_DATA' | 'REJECTS_MAX_FILES'>;

/** A full file of this size still opens in an editor. */
const MAX_FILE_BYTES = 16 * 2 ** 20;

interface LogFile {
  readonly name: string;
  readonly date: string;
  /** From 1; restarts each day. */
  readonly number: number;
}

/**
 * Logs rejected messages, lines of an import, or rows of a registry file, with their reasons, as one JSON object per
 * line. It appends to `DATA/rejected/<broker>-<UTC date>.ndjson`, then to `<broker>-<UTC date>.2.ndjson`, and so on.
 * Several processes may do this at once.
 */
export class RejectLog {
  readonly #directory: string;
  /** The source of the messages: a broker, or another input. */
  readonly name: string;
  /** No entries are added to a file that has reached this size. */
  readonly #maxFileBytes: number;
  /** The maximum number of files per name. The oldest files are removed. */
  readonly #maxFiles: number;
  #waiting: Reject[] = [];
  #file: LogFile | undefined;
  #descriptor: number | undefined;

  /** @param maxFileBytes the size of a full file */
  constructor(config: RejectSettings, name: BrokerName | 'import' | 'table' | 'tns', maxFileBytes = MAX_FILE_BYTES) {
    this.#directory = join(config.NEARSKY_DATA, 'rejected');
    this.name = name;
    this.#maxFileBytes = maxFileBytes;
    this.#maxFiles = config.REJECTS_MAX_FILES;
  }

  /** The file that was written to last. */
  get path(): string | null {
    return this.#file ? join(this.#directory, this.#file.name) : null;
  }

  /** Adds a reject, which `flush` will write. */
  add(reject: Reject): void {
    this.#waiting.push(reject);
  }

  /** Writes the rejects that were added since the last call. */
  flush(): void {
    this.write(this.#waiting);
    this.#waiting = [];
  }

  /**
   * Writes the rejects, which are durable on return. The file is created with the first reject.
   * @throws StoreError
   */
  write(rejects: readonly Reject[]): void {
    if (rejects.length === 0) return;
    try {
      const descriptor = this.#open();
      // `writeFileSync` writes everything. A single write to a nearly full disk may write less, and only its return
      // value would show that.
      writeFileSync(descriptor, rejects.map(reject => `${JSON.stringify(reject)}\n`).join(''));
      fdatasyncSync(descriptor);
    } catch (error) {
      throw storeError(`keep the rejected messages in ${this.#directory}`, error);
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }

  [Symbol.dispose] = () => this.close();

  /** The file to append to: the open one, unless the day has changed, it is full, or another process has removed it. */
  #open(): number {
    const today = new Date().toISOString().slice(0, 10);
    if (this.#descriptor !== undefined && this.#file?.date === today) {
      const { size, nlink } = fstatSync(this.#descriptor);
      if (size < this.#maxFileBytes && nlink > 0) return this.#descriptor;
    }
    this.close();
    makeDirectory(this.#directory);
    const files = this.#files();
    const number = this.#numberToday(files, today);
    const name = number === 1 ? `${this.name}-${today}.ndjson` : `${this.name}-${today}.${number}.ndjson`;
    const older = files.filter(file => file.name !== name);
    for (const { name } of older.slice(0, Math.max(0, older.length + 1 - this.#maxFiles)))
      rmSync(join(this.#directory, name), { force: true });
    this.#file = { name, date: today, number };
    this.#descriptor = openSync(join(this.#directory, name), 'a', 0o600);
    flush(this.#directory);
    return this.#descriptor;
  }

  #numberToday(files: readonly LogFile[], today: string): number {
    const last = files.at(-1);
    if (last?.date !== today) return 1;
    const size = statSync(join(this.#directory, last.name), { throwIfNoEntry: false })?.size ?? 0;
    return size < this.#maxFileBytes ? last.number : last.number + 1;
  }

  /** The files, oldest first. */
  #files(): LogFile[] {
    const pattern = new RegExp(`^${this.name}-(\\d{4}-\\d\\d-\\d\\d)(?:\\.(\\d{1,9}))?\\.ndjson$`);
    const files = readdirSync(this.#directory).flatMap(name => {
      const [, date, number] = pattern.exec(name) ?? [];
      return date ? [{ name, date, number: Number(number ?? 1) }] : [];
    });
    return files.sort((a, b) => (a.date === b.date ? a.number - b.number : a.date < b.date ? -1 : 1));
  }
}
