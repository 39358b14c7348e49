import { isUtf8 } from 'node:buffer';
import { closeSync, fdatasyncSync, fstatSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flush, makeDirectory } from '../base/files.ts';
import type { Config } from '../config/config.ts';
import type { BrokerName } from '../contract/brokers.ts';
import { storeError } from '../store/store_error.ts';

/** The part of a rejected message that is kept. */
const MESSAGE_CHARACTERS = 4096;
const MESSAGE_BYTES = 3072;

/** The origin of a message: a line of a file (from 1), or its place with the broker. */
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

/** The settings of the log's place and size. */
type RejectSettings = Pick<Config, 'NEARSKY_DATA' | 'REJECTS_MAX_FILE_BYTES' | 'REJECTS_MAX_FILES'>;

interface LogFile {
  readonly name: string;
  readonly date: string;
  /** From 1, within the day. */
  readonly number: number;
}

/**
 * Keeps rejected messages, lines of an import or rows of a registry file, with their reasons, one JSON object a line: appends to
 * `DATA/rejected/<broker>-<UTC date>.ndjson`, then to `<broker>-<UTC date>.2.ndjson` and so on. Several processes may do so at once.
 */
export class RejectLog {
  readonly #directory: string;
  readonly #name: string;
  /** A file that has reached this size gets no further entries. */
  readonly #maxFileBytes: number;
  /** The maximum number of files of one name; the oldest are removed. */
  readonly #maxFiles: number;
  #waiting: Reject[] = [];
  #file: LogFile | undefined;
  #descriptor: number | undefined;

  constructor(config: RejectSettings, name: BrokerName | 'import' | 'table' | 'tns') {
    this.#directory = join(config.NEARSKY_DATA, 'rejected');
    this.#name = name;
    this.#maxFileBytes = config.REJECTS_MAX_FILE_BYTES;
    this.#maxFiles = config.REJECTS_MAX_FILES;
  }

  /** The file that was last written to. */
  get path(): string | null {
    return this.#file ? join(this.#directory, this.#file.name) : null;
  }

  /** Adds a reject, which `flush` writes. */
  add(reject: Reject): void {
    this.#waiting.push(reject);
  }

  /** Writes the rejects that were added since the last call. */
  flush(): void {
    this.write(this.#waiting);
    this.#waiting = [];
  }

  /**
   * Writes the rejects; they are durable on return. The file is made with the first reject.
   * @throws StoreError
   */
  write(rejects: readonly Reject[]): void {
    if (rejects.length === 0) return;
    try {
      const descriptor = this.#open();
      // `writeFileSync` writes everything. A single write to a nearly full disk may write less, and only its return
      // value shows that.
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

  /** The file to append to: the open one, while it is today's, not full, and not removed by another process. */
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
    const name = number === 1 ? `${this.#name}-${today}.ndjson` : `${this.#name}-${today}.${number}.ndjson`;
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
    const pattern = new RegExp(`^${this.#name}-(\\d{4}-\\d\\d-\\d\\d)(?:\\.(\\d{1,9}))?\\.ndjson$`);
    const files = readdirSync(this.#directory).flatMap(name => {
      const [, date, number] = pattern.exec(name) ?? [];
      return date ? [{ name, date, number: Number(number ?? 1) }] : [];
    });
    return files.sort((a, b) => (a.date === b.date ? a.number - b.number : a.date < b.date ? -1 : 1));
  }
}
