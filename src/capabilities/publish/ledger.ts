/**
 * Keeps the state of a publication in the database: its position; the claim to the topic, which one process of this
 * machine holds; and the lease of the topic, which one node of the shared log holds.
 */
import type { MessagePort } from 'node:worker_threads';
import type { InWriter } from '../../core/background/beside_writer.ts';
import type { Work } from '../../core/background/duty.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { Caller, replyOver } from '../../core/pool/rpc.ts';
import type { Claim } from '../../core/store/claims.ts';
import { HeldLease } from '../../core/store/held_lease.ts';
import { publishLease } from '../../core/store/leases.ts';
import { readPublished } from '../../core/store/meta.ts';
import type { Store } from '../../core/store/store.ts';
import type { PublishedPosition } from '../../core/store/types.ts';
import type { Writer } from '../../core/store/writer.ts';

export interface Ledger {
  /** Takes the claim and the lease; undefined while another process or node has them. */
  begin(): Promise<PublishedPosition | undefined>;
  /** True if certainly no other node has taken over. */
  holds(): Promise<boolean>;
  /** @returns false, without storing anything, if another node has taken over */
  store(position: PublishedPosition): Promise<boolean>;
  /** Drops the claim, if this process has it; another node may then take the lease. */
  end(): Promise<void>;
}

/** The position before the first message. */
const NOTHING_PUBLISHED: PublishedPosition = { sequence: 0, objects: 0, messages: 0 };

export class StoreLedger implements Ledger {
  readonly #store: Store;
  readonly #writer: Writer;
  readonly #topic: string;
  /** Only if several nodes share a log. */
  readonly #lease: HeldLease | undefined;
  #claim: Claim | undefined;

  constructor(store: Store, writer: Writer, topic: string) {
    this.#store = store;
    this.#writer = writer;
    this.#topic = topic;
    this.#lease = writer.log ? new HeldLease(store, writer, publishLease(topic)) : undefined;
  }

  async begin(): Promise<PublishedPosition | undefined> {
    // A waiting candidate writes nothing.
    if (this.#lease && !(await this.#lease.isElected())) return undefined;
    this.#claim ??= await this.#writer.claimExclusively(publishLease(this.#topic));
    if (!this.#claim) return undefined;
    if ((await this.#lease?.take()) === false) {
      await this.#dropClaim();
      return undefined;
    }
    this.#store.resetRead();
    const position = readPublished(this.#store.databases).get(this.#topic);
    // A publication whose messages are never accepted must have a position, too: its lag is computed from it.
    if (!position) await this.store(NOTHING_PUBLISHED);
    return position ?? NOTHING_PUBLISHED;
  }

  async holds(): Promise<boolean> {
    return this.#lease?.isHeld ?? true;
  }

  store(position: PublishedPosition): Promise<boolean> {
    return this.#writer.commit({ kind: 'published', topic: this.#topic, position, owner: this.#lease?.owner });
  }

  async end(): Promise<void> {
    await this.#dropClaim();
    await this.#lease?.leave();
  }

  async #dropClaim(): Promise<void> {
    const claim = this.#claim;
    this.#claim = undefined;
    if (claim) await this.#writer.dropClaim(claim);
  }
}

type Call = { readonly [K in keyof Ledger]: { readonly call: K; readonly args: Parameters<Ledger[K]> } }[keyof Ledger];

/** A ledger that lives in another thread: see `KeepTask`. */
export class RemoteLedger implements Ledger {
  readonly #calls: Caller<Call>;

  constructor(port: MessagePort) {
    this.#calls = Caller.over(port);
  }

  begin(): Promise<PublishedPosition | undefined> {
    return this.#calls.ask({ call: 'begin', args: [] });
  }

  holds(): Promise<boolean> {
    return this.#calls.ask({ call: 'holds', args: [] });
  }

  store(position: PublishedPosition): Promise<boolean> {
    return this.#calls.ask({ call: 'store', args: [position] });
  }

  end(): Promise<void> {
    return this.#calls.ask({ call: 'end', args: [] });
  }
}

/** Keeps the ledger of a publication in the writer thread, for the `RemoteLedger` at the other side of the port. */
export interface KeepTask extends Task<Work>, InWriter {
  readonly module: 'src/capabilities/publish/ledger';
  readonly kind: 'keep';
  readonly topic: string;
  readonly port: MessagePort;
}

export const tasks: Tasks<KeepTask> = { keep };

function keep({ store, writer, topic, port, after }: KeepTask): Work {
  const ledger = new StoreLedger(store, writer, topic);
  replyOver<Call>(port, async asked => {
    // If the former publication could not be ended, every call fails.
    await after;
    return asked.call === 'store' ? await ledger.store(...asked.args) : await ledger[asked.call]();
  });
  return { close: () => ledger.end() };
}
