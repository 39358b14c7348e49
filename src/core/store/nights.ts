/**
 * The activity of each night. The counts change in the same commit as the data, so a kill neither loses nor doubles
 * any. A night has the date of its evening on Cerro Pachón, like Rubin's `day_obs`: the date in UTC−12 h. So the night
 * of D lasts from noon UTC of D to noon UTC of the next day. An event belongs to the night in which it was stored.
 */
import { formatTime } from '../base/times.ts';
import { type Counters, Tally } from './counters.ts';
import type { Databases } from './databases.ts';
import { MetaValue } from './meta.ts';

const HOUR_US = 3_600_000_000;
const DAY_US = 24 * HOUR_US;

/** The night of a time, `YYYY-MM-DD`. */
export function nightOf(timeUs: number): string {
  return formatTime(timeUs - DAY_US / 2).slice(0, 10);
}

/** The start of a night, microseconds since 1970. @throws RangeError for text that is not a date */
export function nightStartUs(night: string): number {
  const ms = Date.parse(`${night}T12:00:00Z`);
  if (/^\d{4}-\d\d-\d\d$/.test(night) && !Number.isNaN(ms) && nightOf(1000 * ms) === night) return 1000 * ms;
  throw new RangeError(`${night} is not a date`);
}

/** The night that lies `nights` after another one, or before it. */
export const nightAfter = (night: string, nights: number) => nightOf(nightStartUs(night) + nights * DAY_US);

/** The latest night that has reached dusk on Cerro Pachón, 23:00 UTC. */
export const latestNight = (nowUs: number) => nightOf(nowUs - 11 * HOUR_US);

/** The messages of one broker that are not stored. */
export interface UnstoredMessages {
  readonly broker: string;
  readonly below_cut: number;
  readonly skipped: number;
  /** Rejected messages by reason. */
  readonly rejected: Readonly<Record<string, number>>;
}

/** The outcomes of a broker's messages. The sum of the first six counts, and of `rejected`, is `messages`. */
export interface BrokerNight {
  readonly messages: number;
  /** New objects. */
  readonly stored: number;
  /** Known objects that another broker delivered for the first time. */
  readonly further_broker: number;
  /** Known objects that the same broker delivered again. */
  readonly duplicate: number;
  readonly below_cut: number;
  /** Solar-system objects. */
  readonly skipped: number;
  readonly rejected: number;
  readonly rejected_by_reason: Readonly<Record<string, number>>;
  /** Deliveries, whether new or not, with a missing or impossible position. */
  readonly without_position: number;
}

export interface NightCounts {
  readonly brokers: Readonly<Record<string, BrokerNight>>;
  readonly imported: number;
  /** Removed objects, also by the reason that was given; and removed deliveries of objects that stay. */
  readonly removed: {
    readonly objects: number;
    readonly by_reason: Readonly<Record<string, number>>;
    readonly deliveries: number;
  };
  /** Recorded crossmatches. `again` counts those that were not the first of their object. */
  readonly crossmatched: { readonly objects: number; readonly again: number };
  readonly catalogs: Readonly<Record<string, CatalogNight>>;
}

export interface CatalogNight {
  /** Recorded matches. */
  readonly matches: number;
  /** Recorded crossmatches by outcome. */
  readonly outcomes: Readonly<Record<string, number>>;
}

const OUTCOMES = ['stored', 'further_broker', 'duplicate', 'below_cut', 'skipped'] as const;
type Outcome = (typeof OUTCOMES)[number];

const countersOf = (night: string) => new MetaValue<Counters>(`night/${night}`);

/** The changes of one commit to the counts of its night. */
export class NightTally {
  readonly #tally: Tally;
  /** Deliveries by broker. They have a counter of their own because they are many: no string is built for each. */
  readonly #delivered = new Map<string, Record<Outcome | 'without_position', number>>();

  constructor(timeUs: number) {
    this.#tally = new Tally(countersOf(nightOf(timeUs)));
  }

  delivered(broker: string, outcome: Outcome, hasPosition: boolean): void {
    let counts = this.#delivered.get(broker);
    if (!counts) {
      counts = { stored: 0, further_broker: 0, duplicate: 0, below_cut: 0, skipped: 0, without_position: 0 };
      this.#delivered.set(broker, counts);
    }
    counts[outcome]++;
    if (!hasPosition) counts.without_position++;
  }

  unstored({ broker, below_cut, skipped, rejected }: UnstoredMessages): void {
    if (below_cut > 0) this.#tally.add(`broker/${broker}/below_cut`, below_cut);
    if (skipped > 0) this.#tally.add(`broker/${broker}/skipped`, skipped);
    for (const [reason, count] of Object.entries(rejected)) this.#tally.add(`rejected/${broker}/${reason}`, count);
  }

  imported(objects: number): void {
    if (objects > 0) this.#tally.add('imported', objects);
  }

  /** @param deliveries of objects that stay */
  removed(objects: number, deliveries: number, reason: string): void {
    if (objects > 0) this.#tally.add(`removed/${reason}`, objects);
    if (deliveries > 0) this.#tally.add('removed_deliveries', deliveries);
  }

  /** @param outcomes the outcomes that all these objects have, by catalog */
  crossmatched(outcomes: readonly (readonly [catalog: string, outcome: string])[], objects: number): void {
    this.#tally.add('crossmatched', objects);
    for (const [catalog, outcome] of outcomes) this.#tally.add(`outcome/${catalog}/${outcome}`, objects);
  }

  crossmatchedAgain(): void {
    this.#tally.add('again');
  }

  matched(catalog: string): void {
    this.#tally.add(`matches/${catalog}`);
  }

  /** Call this inside the commit's transaction. */
  store(databases: Databases): void {
    for (const [broker, counts] of this.#delivered)
      for (const [name, count] of Object.entries(counts))
        if (count > 0) this.#tally.add(`broker/${broker}/${name}`, count);
    this.#tally.store(databases);
  }
}

export function readNight(databases: Databases, night: string): NightCounts {
  const counters = countersOf(night).read(databases) ?? {};
  const brokers: Record<string, Record<string, number>> = {};
  const reasons: Record<string, Record<string, number>> = {};
  const catalogs: Record<string, { matches: number; outcomes: Record<string, number> }> = {};
  const removals: Record<string, number> = {};
  for (const [name, count] of Object.entries(counters).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const [kind, owner = '', ...rest] = name.split('/');
    const what = rest.join('/');
    if (kind === 'broker') (brokers[owner] ??= {})[what] = count;
    if (kind === 'rejected') {
      brokers[owner] ??= {};
      (reasons[owner] ??= {})[what] = count;
    }
    if (kind === 'removed') removals[name.slice('removed/'.length)] = count;
    if (kind !== 'outcome' && kind !== 'matches') continue;
    const catalog = (catalogs[owner] ??= { matches: 0, outcomes: {} });
    if (kind === 'outcome') catalog.outcomes[what] = count;
    else catalog.matches = count;
  }
  return {
    brokers: Object.fromEntries(
      Object.entries(brokers).map(([broker, counts]) => [broker, brokerNight(counts, reasons[broker] ?? {})]),
    ),
    imported: counters.imported ?? 0,
    removed: {
      objects: sum(Object.values(removals)),
      by_reason: removals,
      deliveries: counters.removed_deliveries ?? 0,
    },
    crossmatched: { objects: counters.crossmatched ?? 0, again: counters.again ?? 0 },
    catalogs,
  };
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

function brokerNight(counts: Readonly<Record<string, number>>, reasons: Readonly<Record<string, number>>): BrokerNight {
  const outcomes = Object.fromEntries(OUTCOMES.map(name => [name, counts[name] ?? 0])) as Record<Outcome, number>;
  const rejected = sum(Object.values(reasons));
  return {
    messages: sum(Object.values(outcomes)) + rejected,
    ...outcomes,
    rejected,
    rejected_by_reason: reasons,
    without_position: counts.without_position ?? 0,
  };
}

/** One kind of error, and how often it occurred in a night. */
export interface NotedError {
  readonly count: number;
  readonly lastUs: number;
  readonly lastText: string;
}

/** Facts of this machine and one night. They are not part of the archive; each node has its own. */
interface Notes {
  readonly errors: Readonly<Record<string, NotedError>>;
  /** The size of the database file at the first commit of the night. */
  readonly databaseBytes?: number;
}

const notesOf = (night: string) => new MetaValue<Notes>(`notes/${night}`);

export const readNotes = (databases: Databases, night: string) => notesOf(night).read(databases) ?? { errors: {} };

const MAX_TEXT = 500;

/** Call this in a write transaction, like the other functions that note something. */
export function noteError(databases: Databases, kind: string, text: string, timeUs: number): void {
  const night = nightOf(timeUs);
  const notes = readNotes(databases, night);
  const noted = { count: (notes.errors[kind]?.count ?? 0) + 1, lastUs: timeUs, lastText: text.slice(0, MAX_TEXT) };
  notesOf(night).write(databases, { ...notes, errors: { ...notes.errors, [kind]: noted } });
}

/** Notes the size of the database, unless it is noted for that night. */
export function noteSize(databases: Databases, bytes: number, timeUs: number): void {
  const night = nightOf(timeUs);
  const notes = readNotes(databases, night);
  if (notes.databaseBytes === undefined) notesOf(night).write(databases, { ...notes, databaseBytes: bytes });
}

/** Scheduled work. The report shows when each kind was last done. */
export type Chore = 'backup' | 'export';

export interface DoneChore {
  readonly timeUs: number;
  readonly target: string;
}

const lastDone = new MetaValue<Readonly<Partial<Record<Chore, DoneChore>>>>('last_done');

export const readDone = (databases: Databases) => lastDone.read(databases) ?? {};

export function noteDone(databases: Databases, chore: Chore, done: DoneChore): void {
  lastDone.write(databases, { ...readDone(databases), [chore]: done });
}
