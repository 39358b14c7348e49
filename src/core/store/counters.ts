/** Counts of everything that any process has ever done to the store. They change in the same commit as the data. */
import type { Databases } from './databases.ts';
import { MetaValue } from './meta.ts';

/** Counters by name. A name contains its labels, after slashes. */
export type Counters = Readonly<Record<string, number>>;

/** Deliveries by broker: either the broker's first delivery of the object, or a later one. */
export const ingestedCounter = (broker: string, result: 'new' | 'duplicate') => `ingested/${broker}/${result}`;
/** When a delivery of the broker was last stored, milliseconds since 1970. */
export const lastIngestMs = (broker: string) => `last_ingest_ms/${broker}`;
export const crossmatchBatches = () => 'crossmatch_batches';
export const crossmatchMatches = (catalog: string) => `crossmatch_matches/${catalog}`;
/** Commits with an object for which the catalog could not be read. */
export const catalogSkips = (catalog: string) => `catalog_skips/${catalog}`;

/** The number of catalog registrations so far. Processes compare it to detect that their catalogs are out of date. */
export const catalogRegistrations = () => 'catalog_registrations';
/** Rows of a registered catalog, as counted when the catalog was added. */
export const catalogRows = (catalog: string) => `catalog_rows/${catalog}`;
/** The rows among these that cannot match anything. */
export const catalogRowsWithout = (catalog: string, what: 'position' | 'id') =>
  `catalog_rows_without/${catalog}/${what}`;

const stored = new MetaValue<Counters>('counters');

export const readCounters = (databases: Databases, options?: object) => stored.read(databases, options) ?? {};

/** The counts of capabilities: facts of this machine. */
const counted = new MetaValue<Counters>('counted');

/** Adds to the counts of capabilities, in a write transaction. @returns all of them */
export function addCounted(databases: Databases, added: Counters): Counters {
  const tally = new Tally(counted);
  for (const [name, change] of Object.entries(added)) if (change !== 0) tally.add(name, change);
  tally.store(databases);
  return counted.read(databases) ?? {};
}

/** The changes of one commit to counters. */
export class Tally {
  readonly #counters: MetaValue<Counters>;
  readonly #added = new Map<string, number>();
  readonly #latest = new Map<string, number | null>();

  constructor(counters = stored) {
    this.#counters = counters;
  }

  add(name: string, change = 1): void {
    this.#added.set(name, (this.#added.get(name) ?? 0) + change);
  }

  /** A counter that holds the latest value, or null. */
  set(name: string, value: number | null): void {
    this.#latest.set(name, value);
  }

  /** Call this inside the commit's transaction. */
  store(databases: Databases): void {
    if (this.#added.size + this.#latest.size === 0) return;
    this.#counters.write(databases, this.total(this.#counters.read(databases)));
  }

  /** The counters after the commit. */
  total(before: Counters = {}): Counters {
    const counters: Record<string, number> = { ...before };
    for (const [name, change] of this.#added) counters[name] = (counters[name] ?? 0) + change;
    for (const [name, value] of this.#latest) {
      if (value === null) delete counters[name];
      else counters[name] = value;
    }
    return counters;
  }
}
