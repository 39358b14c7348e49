/**
 * Simulates nodes over a log in memory. A seed decides everything else. Which node submits what and when? How does its
 * clock jump and drift? What does the network do with its messages? Which node is elected, and which still believes so?
 * Which node reads how much, is cut off, dies between two steps or within a commit, or restarts from its own archive or
 * a copy of another? Which node is upgraded, and when is the level of the log raised, which other nodes cannot read?
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Node } from '../../../src/core/cluster/node.ts';
import { LostPlace } from '../../../src/core/cluster/record_log.ts';
import { encodeChange } from '../../../src/core/store/change_record.ts';
import type { Change } from '../../../src/core/store/changes.ts';
import { HeldLease } from '../../../src/core/store/held_lease.ts';
import { publishLease } from '../../../src/core/store/leases.ts';
import { FIRST_LEVEL, LEVEL, readLevel, UnreadableLevel } from '../../../src/core/store/level.ts';
import { readLogPosition } from '../../../src/core/store/log_position.ts';
import { loggedChange } from '../../../src/core/store/logged_changes.ts';
import { readLatestIngest } from '../../../src/core/store/recent.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { StoreError } from '../../../src/core/store/store_error.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { dump, RandomChanges } from '../store/random_changes.ts';
import { AHEAD_US, Link, levelOf, MemoryLog } from './memory_log.ts';
import { NEWER, TOO_OLD } from './next_release.ts';

const NODES = 3;
const EVENTS = 180;

/** A change whose outcome was reported to a node. */
export interface Acknowledged {
  readonly change: Change;
  readonly outcome: unknown;
}

export interface Simulated {
  /** The dump of each node once it has applied the whole log. */
  readonly dumps: readonly (readonly string[])[];
  /** The dump of an archive to which each record was applied in a separate commit. */
  readonly expected: readonly string[];
  /** The outcomes of each record there, by `contentOf`. */
  readonly outcomes: ReadonlyMap<string, readonly unknown[]>;
  readonly acknowledged: readonly Acknowledged[];
  /** The violated promises about time, visibility or duties. */
  readonly broken: readonly string[];
  /** The level of the log in front of each record, and the level in which the record is written. */
  readonly levels: readonly { readonly log: number; readonly record: number }[];
  /** The position of the record that raises the level; negative if none does. */
  readonly raised: number;
  /** The position of each node that stopped because it could not read the level of the log. */
  readonly outdated: readonly number[];
  /** The number of events of each kind. */
  readonly events: Readonly<Record<string, number>>;
}

/** The content of a record as text, without the head, which has the level, and without the checksum. */
const contentOf = (record: Uint8Array) => Buffer.from(record.subarray(5, -4)).toString('base64');

export function simulate(seed: number): Promise<Simulated> {
  return withDirectory(async directory => {
    const simulation = new Simulation(directory, new RandomChanges(seededRandom(seed)));
    try {
      return await simulation.run();
    } finally {
      await simulation.close();
    }
  });
}

interface Member {
  readonly directory: string;
  readonly store: Store;
  readonly link: Link;
  readonly node: Node;
  readonly writer: Writer;
  readonly lease: HeldLease;
}

/** The clock of a machine: its offset at a time, and its drift since then. */
interface Clock {
  readonly offUs: number;
  readonly sinceUs: number;
  readonly rate: number;
}

const FIRST_US = 1_772_000_000_000_000;
const TOPIC = 'matches';

class Simulation {
  readonly #directory: string;
  readonly #chance: RandomChanges;
  readonly #log = new MemoryLog();
  readonly #stores = new Set<Store>();
  #directories = 0;
  readonly #members: Member[] = [];
  /** Also the records of dead nodes, because they may still arrive. */
  readonly #links: Link[] = [];
  readonly #acknowledged: Acknowledged[] = [];
  readonly #outdated: number[] = [];
  readonly #events: Record<string, number> = {};
  readonly #broken: string[] = [];
  readonly #clocks: Clock[] = [];

  constructor(directory: string, chance: RandomChanges) {
    this.#directory = directory;
    this.#chance = chance;
    this.#log.nowUs = FIRST_US;
    for (let i = 0; i < NODES; i++) this.#start(i, this.#newDirectory(), LEVEL);
  }

  #newDirectory(): string {
    return join(this.#directory, `${this.#directories++}`);
  }

  #open(directory: string, readableLevel: number): Store {
    const store = openStore(directory, 'write', readableLevel);
    this.#stores.add(store);
    return store;
  }

  #start(at: number, directory: string, readableLevel: number): void {
    this.#begin(at, directory, this.#open(directory, readableLevel));
  }

  /** A new process replaces a node. */
  #begin(at: number, directory: string, store: Store): void {
    const link = new Link(this.#log);
    this.#links.push(link);
    // A dead process remains a candidate until its session expires.
    if (this.#chance.int(2) === 0) this.#expire(at);
    const node = new Node(store, link);
    const writer = new Writer(store, node);
    const lease = new HeldLease(store, writer, publishLease(TOPIC));
    this.#clocks[at] ??= { offUs: 0, sinceUs: FIRST_US, rate: 0 };
    this.#members[at] = { directory, store, link, node, writer, lease };
  }

  #expire(at: number): void {
    void this.#members[at]?.lease.leave();
  }

  /** The time that a node's clock shows. */
  #clockUs(at: number): number {
    const { offUs, sinceUs, rate } = this.#clocks[at]!;
    return Math.floor(this.#log.nowUs + offUs + rate * (this.#log.nowUs - sinceUs));
  }

  /** A newer release replaces a node. */
  #upgrade(at: number): void {
    this.#start(at, this.#members[at]!.directory, NEWER);
  }

  /** Takes a step, unless the network or the node's release prevents it. */
  async #step({ node, store }: Member): Promise<void> {
    try {
      await node.step();
    } catch (error) {
      if (!isOutdated(error)) return expectAway(error);
      store.resetRead();
      this.#outdated.push(readLogPosition(store.databases)?.next ?? 0);
    }
  }

  async run(): Promise<Simulated> {
    for (let i = 0; i < EVENTS; i++) await this.#event();
    for (const link of this.#links) {
      link.isCut = false;
      link.most = Number.POSITIVE_INFINITY;
      for (const flight of [...link.flights]) link.land(flight, 1, 'appended');
    }
    for (const [at, { store }] of this.#members.entries()) {
      await this.#step(this.#members[at]!);
      if (store.readableLevel < NEWER) this.#upgrade(at);
    }
    for (const { node } of this.#members) while ((await node.step()) > 0);
    for (const member of this.#members) this.#requireVisible(member);
    const outcomes = new Map<string, unknown[]>();
    let owner: string | undefined;
    const levels: { log: number; record: number }[] = [];
    const alone = this.#open(this.#newDirectory(), NEWER);
    const writer = new Writer(alone);
    for (const [i, entry] of this.#log.entries.entries()) {
      const content = contentOf(entry.record);
      alone.resetRead();
      levels.push({ log: readLevel(alone.databases), record: levelOf(entry) });
      const logged = loggedChange(entry, NEWER);
      const [outcome] = await writer.applyLogged(this.#log.identity, [logged]);
      const { change } = logged;
      if (change.kind === 'take_lease' && change.name === publishLease(TOPIC)) owner = change.owner;
      if (change.kind === 'published' && change.owner !== undefined) {
        const isOwner = change.owner === owner;
        this.#events[isOwner ? 'accepted' : 'fenced'] = (this.#events[isOwner ? 'accepted' : 'fenced'] ?? 0) + 1;
        if (outcome !== isOwner)
          this.#broken.push(`record ${i}: a position of ${change.owner} has the outcome ${outcome}, but ${owner} owns`);
      }
      alone.resetRead();
      if (readLogPosition(alone.databases)!.timeUs > this.#log.cameUs[i]! + AHEAD_US + i)
        this.#broken.push(`record ${i}: the time of the log is ahead of its servers`);
      outcomes.set(content, [...(outcomes.get(content) ?? []), outcome]);
    }
    const whole = { dumps: this.#members.map(({ store }) => dump(store)), expected: dump(alone), outcomes };
    const [acknowledged, outdated, events] = [this.#acknowledged, this.#outdated, this.#events];
    alone.resetRead();
    const raised = [...levels.map(({ log }) => log), readLevel(alone.databases)].indexOf(NEWER) - 1;
    return { ...whole, broken: this.#broken, levels, raised, acknowledged, outdated, events };
  }

  /** Every object is at or before the `as_of` of an answer, unless it was removed. */
  #requireVisible({ store }: Member, ids?: readonly bigint[]): void {
    store.resetRead();
    const asOfUs = Math.max(readLogPosition(store.databases)?.timeUs ?? 0, readLatestIngest(store.databases) ?? 0);
    const isRemoved = store.removedSince(0);
    const left = ids?.filter(id => !isRemoved?.(id));
    const objects = left ? left.map(id => store.getObject(id)) : [...store.objects()];
    for (const object of objects)
      if (!object || object.ingestTimeUs > asOfUs) this.#broken.push(`an object is denied as of ${asOfUs}`);
  }

  async #event(): Promise<void> {
    const { pick, int } = { pick: this.#chance.pick.bind(this.#chance), int: this.#chance.int.bind(this.#chance) };
    const at = int(NODES);
    const member = this.#members[at]!;
    const { link, store, directory } = member;
    const flights = this.#links.flatMap(from => from.flights.map(flight => ({ from, flight })));
    const kind = pick(EVENT_KINDS);
    this.#log.nowUs += int(3e6);
    this.#events[kind] = (this.#events[kind] ?? 0) + 1;
    switch (kind) {
      case 'submit':
        return this.#submit(at, this.#chance.change());
      case 'report': {
        return this.#submit(at, { kind: 'report_node', timeUs: 0, node: `${at}`, level: store.readableLevel });
      }
      case 'clock': {
        const offUs = pick([0, 600e6, -600e6, 1e6, 270e6]) * this.#chance.int(2);
        this.#clocks[at] = { offUs, sinceUs: this.#log.nowUs, rate: pick([0, 0, 1e-3, -1e-3, 0.1]) };
        return;
      }
      case 'duty': {
        if (!(await member.lease.isElected())) return;
        const { owner } = member.lease;
        return this.#submit(at, { kind: 'take_lease', timeUs: 0, name: publishLease(TOPIC), owner });
      }
      case 'publish': {
        // The node may believe that it is still the owner.
        const position = { sequence: int(9), objects: 0, messages: int(9) };
        return this.#submit(at, { kind: 'published', timeUs: 0, topic: TOPIC, position, owner: member.lease.owner });
      }
      case 'resign':
        return pick(this.#members).lease.resign();
      case 'land': {
        if (flights.length === 0) return;
        const { from, flight } = pick(flights);
        const times = pick([1, 1, 1, 1, 1, 1, 1, 2, 0]);
        const answer = pick(['appended', 'appended', 'failed', 'silence'] as const);
        return from.land(flight, times, times === 0 && answer === 'appended' ? 'failed' : answer);
      }
      case 'step':
        link.most = 1 + int(6);
        return this.#step(member);
      case 'cut':
        link.isCut = !link.isCut;
        return;
      case 'crash':
        return this.#begin(at, directory, store);
      case 'crash within a commit':
        link.isCut = false;
        await failing(store, () => this.#step(member));
        return this.#begin(at, directory, store);
      case 'from a copy': {
        const copy = this.#newDirectory();
        mkdirSync(copy);
        const from = pick(this.#members).store;
        await from.copyTo(join(copy, 'nearsky.mdb'));
        from.resetRead();
        if (readLevel(from.databases) > store.readableLevel) requireRefused(copy, store.readableLevel);
        return this.#start(at, copy, Math.max(store.readableLevel, readLevel(from.databases)));
      }
      case 'upgrade':
        return this.#upgrade(at);
      case 'raise':
        if (store.readableLevel === NEWER) this.#submit(at, { kind: 'level', timeUs: 0, level: NEWER });
        return;
    }
  }

  #submit(at: number, untimed: Change): void {
    const member = this.#members[at]!;
    const change = { ...untimed, timeUs: this.#clockUs(at) };
    member.node.submit(change).then(
      ([outcome]) => {
        this.#acknowledged.push({ change, outcome });
        if (change.kind === 'deliver')
          this.#requireVisible(
            member,
            change.deliveries.map(({ diaObjectId }) => diaObjectId),
          );
      },
      // A change that was lost in transit waits until the node stops.
      error => isOutdated(error) || expectAway(error),
    );
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close();
  }
}

const EVENT_KINDS = [
  ...Array<'submit'>(12).fill('submit'),
  ...Array<'land'>(12).fill('land'),
  ...Array<'step'>(10).fill('step'),
  'report',
  'clock',
  'clock',
  'duty',
  'duty',
  'duty',
  'publish',
  'publish',
  'resign',
  'cut',
  'crash',
  'crash within a commit',
  'from a copy',
  'upgrade',
  ...Array<'raise'>(6).fill('raise'),
] as const;

/** Whether a node has stopped because it cannot read the level of the log. */
function isOutdated(error: unknown): boolean {
  const isCause = error instanceof LostPlace && error.cause instanceof UnreadableLevel;
  return isCause && error.message.endsWith(TOO_OLD);
}

/** An older release cannot open an archive of a newer one. */
function requireRefused(directory: string, readableLevel: number): void {
  try {
    void openStore(directory, 'write', readableLevel).close();
  } catch (error) {
    if (error instanceof StoreError && error.message.endsWith(TOO_OLD)) return;
    throw error;
  }
  throw new Error('an archive of a higher level was opened');
}

function expectAway(error: unknown): void {
  if (!/^the (broker (is away|did not answer)|clock is ahead)$/.test((error as Error).message)) throw error;
}

const DIED = 'the process died';

/** Makes the last write of a commit fail; nothing of the commit may remain. */
async function failing(store: Store, commit: () => Promise<unknown>): Promise<void> {
  const { meta } = store.databases;
  meta.put = () => {
    throw new StoreError(DIED);
  };
  try {
    await commit();
  } catch (error) {
    if ((error as Error).message !== DIED) throw error;
  } finally {
    delete (meta as { put?: unknown }).put;
  }
}

/** The contents that a change's record may have in the log: it is written in the level that the log has then. */
export const contentsOf = (change: Change) =>
  [FIRST_LEVEL, NEWER].map(level => contentOf(encodeChange(change, level)[0]!));
