/**
 * The state of a publication in the database: the claim to a topic, which one process at a time has, and the position.
 */
import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../base/error_text.ts';
import type { Claim } from '../store/claims.ts';
import type { Store } from '../store/store.ts';
import type { PublishedPosition } from '../store/types.ts';
import type { Writer } from '../store/writer.ts';

export interface Ledger {
  /** Takes the claim; undefined while another process has it. */
  begin(): Promise<PublishedPosition | undefined>;
  store(position: PublishedPosition): Promise<void>;
  /** Gives up the claim, if this process has it. */
  end(): Promise<void>;
}

/** The position before the first message. */
const NOTHING_PUBLISHED: PublishedPosition = { sequence: 0, objects: 0, messages: 0 };

export class StoreLedger implements Ledger {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #topic: string;
  #claim: Claim | undefined;

  constructor(store: Store, writer: Writer, topic: string) {
    this.#store = store;
    this.#writer = writer;
    this.#topic = topic;
  }

  async begin(): Promise<PublishedPosition | undefined> {
    this.#claim ??= await this.#writer.claimExclusively(`publish to ${this.#topic}`);
    if (!this.#claim) return undefined;
    this.#store.resetRead();
    return this.#store.published().get(this.#topic) ?? NOTHING_PUBLISHED;
  }

  store(position: PublishedPosition): Promise<void> {
    return this.#writer.storePublished(this.#topic, position);
  }

  async end(): Promise<void> {
    const claim = this.#claim;
    this.#claim = undefined;
    if (claim) await this.#writer.dropClaim(claim);
  }
}

type Call = { readonly [K in keyof Ledger]: { readonly call: K; readonly args: Parameters<Ledger[K]> } }[keyof Ledger];
type Asked = Call & { readonly id: number };
type Answered = { readonly id: number; readonly value?: unknown; readonly error?: string };

/** A ledger that another thread keeps: see `keepLedger`. */
export class RemoteLedger implements Ledger {
  readonly #port: MessagePort;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #calls = 0;

  constructor(port: MessagePort) {
    this.#port = port;
    port.on('message', ({ id, value, error }: Answered) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiting?.resolve(value);
      else waiting?.reject(new Error(error));
    });
  }

  #ask(call: Call): Promise<unknown> {
    const id = this.#calls++;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    this.#port.postMessage({ ...call, id } satisfies Asked);
    return answer.promise;
  }

  begin(): Promise<PublishedPosition | undefined> {
    return this.#ask({ call: 'begin', args: [] }) as Promise<PublishedPosition | undefined>;
  }

  async store(position: PublishedPosition): Promise<void> {
    await this.#ask({ call: 'store', args: [position] });
  }

  async end(): Promise<void> {
    await this.#ask({ call: 'end', args: [] });
  }
}

/**
 * Serves the requests of a `RemoteLedger`.
 * @param after a promise that must be over before; if it rejects, every call fails
 */
export function keepLedger(port: MessagePort, ledger: Ledger, after: Promise<void> = Promise.resolve()): void {
  after.catch(() => {});
  port.on('message', async (asked: Asked) => {
    const { id } = asked;
    try {
      await after;
      const value = asked.call === 'store' ? await ledger.store(...asked.args) : await ledger[asked.call]();
      port.postMessage({ id, value } satisfies Answered);
    } catch (error) {
      port.postMessage({ id, error: messageOf(error) } satisfies Answered);
    }
  });
}
