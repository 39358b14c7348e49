import { closeSync, fdatasyncSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { storeError } from '../store/environment.ts';
import type { BrokerName } from '../store/types.ts';

/** Of a rejected message, this much is kept. */
const MESSAGE_CHARACTERS = 4096;

/** What is kept of a rejected message. */
export interface Reject {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly reason: string;
  readonly message: string;
}

/** Keeps rejected messages, lines of an import or rows of a registry file, with their reasons: appends to `DATA/rejected/<broker>-<UTC date>.ndjson`, one JSON object a line. */
export class RejectLog {
  readonly path: string;
  readonly #directory: string;
  #waiting = '';
  #descriptor: number | undefined;

  constructor(dataDir: string, broker: BrokerName | 'import' | 'tns') {
    this.#directory = join(dataDir, 'rejected');
    this.path = join(this.#directory, `${broker}-${new Date().toISOString().slice(0, 10)}.ndjson`);
  }

  add(reject: Reject): void {
    const message = reject.message.slice(0, MESSAGE_CHARACTERS);
    this.#waiting += `${JSON.stringify({ ...reject, message })}\n`;
  }

  /**
   * Writes what was added since; it is durable on return. The file is made with the first reject.
   * @throws StoreError
   */
  flush(): void {
    if (this.#waiting === '') return;
    try {
      if (this.#descriptor === undefined) {
        mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
        this.#descriptor = openSync(this.path, 'a', 0o600);
      }
      // All of it: a single write to a disk that is nearly full may write less, and say so only in what it returns.
      writeFileSync(this.#descriptor, this.#waiting);
      fdatasyncSync(this.#descriptor);
      this.#waiting = '';
    } catch (error) {
      throw storeError(`keep the rejected messages in ${this.path}`, error);
    }
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}
