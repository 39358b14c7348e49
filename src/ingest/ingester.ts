import { nowUs } from '../../workers/times.ts';
import type { Delivery } from '../store/types.ts';
import type { Writer } from '../store/writer.ts';
import { type Line, openSource, readLines } from './lines.ts';
import type { Normaliser } from './normalise.ts';
import type { RejectLog } from './rejects.ts';

/** What became of the messages. `read` is the sum of the others; blank lines are not messages. */
export interface MessageCounts {
  read: number;
  /** New objects. */
  stored: number;
  /** Known objects, delivered by a further broker. */
  further_broker: number;
  duplicate: number;
  below_cut: number;
  /** Solar-system objects. */
  skipped: number;
  rejected: number;
}

const noMessages = (): MessageCounts => {
  return { read: 0, stored: 0, further_broker: 0, duplicate: 0, below_cut: 0, skipped: 0, rejected: 0 };
};

/** A batch is committed when it has this many messages, or its first one has waited this long. */
const BATCH_MESSAGES = 1000;
const BATCH_WAIT_MS = 250;

/** Brings the lines of files into the store, in batches. */
export class Ingester {
  readonly #writer: Writer;
  readonly #normalise: Normaliser;
  readonly #rejects: RejectLog;
  readonly #durable = noMessages();
  #waiting = noMessages();
  #deliveries: Delivery[] = [];
  #waitingSinceMs = 0;

  constructor(writer: Writer, normalise: Normaliser, rejects: RejectLog) {
    this.#writer = writer;
    this.#normalise = normalise;
    this.#rejects = rejects;
  }

  /** What is durable by now. */
  get counts(): Readonly<MessageCounts> {
    return this.#durable;
  }

  /**
   * Reads a file, or standard input (`-`), to its end. Whether it ends well or not, what was read of it is durable afterwards.
   * @param onBatch called after each commit
   * @throws StoreError; Error where the file cannot be read
   */
  async ingestFile(file: string, onBatch: () => void): Promise<void> {
    const source = openSource(file);
    const blocks = readLines(source, file);
    try {
      let next = blocks.next();
      for (;;) {
        const block = await this.#nextOrDue(next);
        if (block === 'due') {
          await this.#flush(onBatch);
          continue;
        }
        if (block.done) break;
        next = blocks.next();
        next.catch(() => {}); // It is awaited in the next round; until then it is not unhandled.
        await this.#addLines(file, block.value, onBatch);
      }
    } finally {
      source.destroy();
      await this.#flush(onBatch);
    }
  }

  /** The block, or `due` when the waiting batch must not wait for it any longer. */
  async #nextOrDue<T>(next: Promise<T>): Promise<T | 'due'> {
    if (this.#waiting.read === 0) return next;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const due = new Promise<'due'>(resolve => {
      timer = setTimeout(resolve, this.#waitingSinceMs + BATCH_WAIT_MS - performance.now(), 'due');
    });
    try {
      return await Promise.race([next, due]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #addLines(file: string, lines: readonly Line[], onBatch: () => void): Promise<void> {
    for (const line of lines) {
      this.#add(file, line);
      if (this.#waiting.read >= BATCH_MESSAGES) await this.#flush(onBatch);
    }
    if (this.#waiting.read > 0 && performance.now() - this.#waitingSinceMs >= BATCH_WAIT_MS) await this.#flush(onBatch);
  }

  #add(file: string, line: Line): void {
    if (line.text.trim() === '') return;
    const waiting = this.#waiting;
    if (waiting.read === 0) this.#waitingSinceMs = performance.now();
    waiting.read++;
    const normalised = line.problem
      ? ({ kind: 'rejected', reason: line.problem } as const)
      : this.#normalise(line.text, nowUs());
    switch (normalised.kind) {
      case 'delivery':
        this.#deliveries.push(normalised.delivery);
        break;
      case 'skipped':
        waiting.skipped++;
        break;
      case 'below_cut':
        waiting.below_cut++;
        break;
      case 'rejected':
        waiting.rejected++;
        this.#rejects.add({ file, line: line.number, reason: normalised.reason, message: line.text });
    }
  }

  /** Makes the waiting messages durable, and only then counts them. */
  async #flush(onBatch: () => void): Promise<void> {
    if (this.#waiting.read === 0) return;
    const [waiting, deliveries] = [this.#waiting, this.#deliveries];
    this.#waiting = noMessages();
    this.#deliveries = [];
    const written = await this.#writer.ingest(deliveries, nowUs());
    this.#rejects.flush();
    waiting.stored = written.stored;
    waiting.further_broker = written.delivered;
    waiting.duplicate = written.duplicate;
    for (const name of Object.keys(waiting) as (keyof MessageCounts)[]) this.#durable[name] += waiting[name];
    onBatch();
  }
}
