/**
 * Nodes over a log in memory, everything else chosen by a seed: who submits what and when, with which clock, what the
 * network does with it, who reads how much, who is cut off, who dies between two steps or within a commit, who starts
 * again, from its own archive or from a copy of another's, who is upgraded, and when the level of the log is raised,
 * which nodes that are not upgraded yet cannot read.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Node } from '../../src/cluster/node.ts';
import { LostPlace } from '../../src/cluster/record_log.ts';
import { encodeChange } from '../../src/store/change_record.ts';
import type { Change, UntimedChange } from '../../src/store/changes.ts';
import { FORMAT_VERSION } from '../../src/store/environment.ts';
import { FIRST_LEVEL, LEVEL, UnreadableLevel } from '../../src/store/level.ts';
import { loggedChange } from '../../src/store/logged_changes.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { StoreError } from '../../src/store/store_error.ts';
import { Writer } from '../../src/store/writer.ts';
import { withDirectory } from '../directory.ts';
import { seededRandom } from '../oracle/skies.ts';
import { dump, RandomChanges } from '../store/random_changes.ts';
import { delivery, falsify } from '../store/support.ts';
import { Link, levelOf, MemoryLog } from './memory_log.ts';
import { NEWER, TOO_OLD } from './next_release.ts';

const NODES = 3;
const EVENTS = 150;

/** A change whose outcome a node was told. */
export interface Acknowledged {
  readonly change: Change;
  readonly outcome: unknown;
}

export interface Simulated {
  /** The dump of each node once it has applied the whole log. */
  readonly dumps: readonly (readonly string[])[];
  /** The dump of one archive to which each record was applied in a commit of its own. */
  readonly expected: readonly string[];
  /** The outcomes of each record there, by `contentOf`. */
  readonly outcomes: ReadonlyMap<string, readonly unknown[]>;
  readonly acknowledged: readonly Acknowledged[];
  /** The reason for which each node stops when at last one archive is changed behind the back of its node. */
  readonly stopped: readonly (string | undefined)[];
  /** The node whose archive is changed, and the dumps of the others at that time; undefined where nothing was ever stored. */
  readonly falsified: { readonly at: number; readonly others: readonly (readonly string[])[] } | undefined;
  /** The level of the log in front of each record, and the level in which the record is written. */
  readonly levels: readonly { readonly log: number; readonly record: number }[];
  /** The position of the record that raises the level; negative where none does. */
  readonly raised: number;
  /** The position of each node that stopped because it could not read the level of the log. */
  readonly outdated: readonly number[];
  /** How often each kind of event came. */
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
}

class Simulation {
  readonly #directory: string;
  readonly #chance: RandomChanges;
  readonly #log = new MemoryLog();
  readonly #stores = new Set<Store>();
  #directories = 0;
  readonly #members: Member[] = [];
  /** The records of nodes that have died, too, because they may still come. */
  readonly #links: Link[] = [];
  readonly #acknowledged: Acknowledged[] = [];
  readonly #outdated: number[] = [];
  readonly #events: Record<string, number> = {};
  #isFalsified = false;

  constructor(directory: string, chance: RandomChanges) {
    this.#directory = directory;
    this.#chance = chance;
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

  /** A new process in the place of a node. */
  #begin(at: number, directory: string, store: Store): void {
    const link = new Link(this.#log);
    this.#links.push(link);
    this.#members[at] = { directory, store, link, node: new Node(store, link) };
  }

  /** A newer release in the place of a node. */
  #upgrade(at: number): void {
    this.#start(at, this.#members[at]!.directory, NEWER);
  }

  /** Steps, unless the network or the release of the node does not let it. */
  async #step({ node, store }: Member): Promise<void> {
    try {
      await node.step();
    } catch (error) {
      if (!isOutdated(error)) return expectAway(error);
      store.resetRead();
      this.#outdated.push(store.logPosition()?.next ?? 0);
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
    const outcomes = new Map<string, unknown[]>();
    const levels: { log: number; record: number }[] = [];
    const alone = this.#open(this.#newDirectory(), NEWER);
    const writer = new Writer(alone);
    for (const entry of this.#log.entries) {
      const content = contentOf(entry.record);
      alone.resetRead();
      levels.push({ log: alone.logLevel(), record: levelOf(entry) });
      const [outcome] = await writer.applyLogged(this.#log.identity, [loggedChange(entry, NEWER)]);
      outcomes.set(content, [...(outcomes.get(content) ?? []), outcome]);
    }
    const whole = { dumps: this.#members.map(({ store }) => dump(store)), expected: dump(alone), outcomes };
    const [acknowledged, outdated, events] = [this.#acknowledged, this.#outdated, this.#events];
    alone.resetRead();
    const raised = [...levels.map(({ log }) => log), alone.logLevel()].indexOf(NEWER) - 1;
    return { ...whole, ...(await this.#falsify()), levels, raised, acknowledged, outdated, events };
  }

  async #falsify(): Promise<Pick<Simulated, 'stopped' | 'falsified'>> {
    const at = this.#chance.int(NODES);
    const ids = [...this.#members[at]!.store.objects()].map(({ diaObjectId }) => diaObjectId);
    if (ids.length === 0) return { stopped: [], falsified: undefined };
    const append = (change: UntimedChange) => this.#log.append('other/1', encodeChange({ ...change, timeUs: 0 })[0]!);
    const step = () => this.#members.map(({ node, link }) => stepsOf(node, link, 1 + this.#chance.int(3)));
    this.#isFalsified = true;
    append({ kind: 'tick' });
    falsify(this.#members[at]!.store, this.#chance.pick(ids));
    append({ kind: 'deliver', deliveries: ids.map(id => delivery(id, { broker: 'another' })) });
    append({ kind: 'tick' });
    await Promise.all(step());
    for (const [voter, { store }] of this.#members.entries()) {
      const { number, digest } = store.epoch()!;
      append({ kind: 'vote', epoch: number, vote: { voter: `${voter}`, format: FORMAT_VERSION, digest: digest! } });
    }
    append({ kind: 'tick' });
    append(this.#chance.change('deliver'));
    const stopped = await Promise.all(step());
    const others = this.#members.filter((_, i) => i !== at).map(({ store }) => dump(store));
    return { stopped, falsified: { at, others } };
  }

  async #event(): Promise<void> {
    const { pick, int } = { pick: this.#chance.pick.bind(this.#chance), int: this.#chance.int.bind(this.#chance) };
    const at = int(NODES);
    const member = this.#members[at]!;
    const { node, link, store, directory } = member;
    const flights = this.#links.flatMap(from => from.flights.map(flight => ({ from, flight })));
    const kind = pick(EVENT_KINDS);
    this.#events[kind] = (this.#events[kind] ?? 0) + 1;
    switch (kind) {
      case 'submit':
        return this.#submit(node, this.#writableChange());
      case 'vote': {
        const { number, digest } = store.epoch() ?? { number: 0, digest: null };
        if (digest === null) return;
        const vote = { voter: `${at}`, format: FORMAT_VERSION, digest };
        return this.#submit(node, { kind: 'vote', timeUs: 0, epoch: number, vote });
      }
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
        if (from.logLevel() > store.readableLevel) requireRefused(copy, store.readableLevel);
        return this.#start(at, copy, Math.max(store.readableLevel, from.logLevel()));
      }
      case 'upgrade':
        return this.#upgrade(at);
      case 'raise':
        if (store.readableLevel === NEWER) this.#submit(node, { kind: 'level', timeUs: 0, level: NEWER });
        return;
    }
  }

  /** The log is of its first level. */
  #writableChange(): Change {
    for (;;) {
      const change = this.#chance.change();
      if (change.kind !== 'remove_catalog' && change.kind !== 'fill_statistics') return change;
    }
  }

  #submit(node: Node, change: Change): void {
    node.submit(change).then(
      ([outcome]) => this.#acknowledged.push({ change, outcome }),
      // A change that was lost on its way waits until the node stops.
      error => this.#isFalsified || isOutdated(error) || expectAway(error),
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
  'vote',
  'vote',
  'cut',
  'crash',
  'crash within a commit',
  'from a copy',
  'upgrade',
  'upgrade',
  'raise',
  'raise',
  'raise',
] as const;

/** Applies all of the log, so many records at once; returns why the node has stopped, if it has. */
async function stepsOf(node: Node, link: Link, most: number): Promise<string | undefined> {
  link.most = most;
  try {
    while ((await node.step()) > 0);
    return undefined;
  } catch (error) {
    if (error instanceof LostPlace) return error.message;
    throw error;
  }
}

/** Whether a node has stopped because it cannot read the level of the log. */
function isOutdated(error: unknown): boolean {
  const isCause = error instanceof LostPlace && error.cause instanceof UnreadableLevel;
  return isCause && error.message.endsWith(TOO_OLD);
}

/** An older release opens no archive of a newer one. */
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
  if (!/^the broker (is away|did not answer)$/.test((error as Error).message)) throw error;
}

const DIED = 'the process died';

/** Has the last write of a commit fail, so that nothing of it may stay. */
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
