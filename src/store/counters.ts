/** Counts of everything that any process has ever done to the store. They change in the same commit as the data. */
import type { Databases } from './databases.ts';
import { decodePlain, encodePlain } from './records.ts';

const COUNTERS_KEY = new TextEncoder().encode('counters');

/** By name; a name contains its labels, after slashes. */
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

export function readCounters({ meta }: Databases, options?: object): Counters {
  return readCountersAt(meta, COUNTERS_KEY, options);
}

/** The counters stored under a key of `meta`; empty if the key does not exist. */
export function readCountersAt(meta: Databases['meta'], key: Uint8Array, options?: object): Counters {
  const bytes = meta.get(key, options);
  return bytes ? (decodePlain(bytes) as Counters) : {};
}

/** The changes of one commit to the counters that are stored under a key. */
export class Tally {
  readonly #key: Uint8Array;
  readonly #added = new Map<string, number>();
  readonly #latest = new Map<string, number | null>();

  constructor(key: Uint8Array = COUNTERS_KEY) {
    this.#key = key;
  }

  add(name: string, change = 1): void {
    this.#added.set(name, (this.#added.get(name) ?? 0) + change);
  }

  /** A counter that holds the latest value, or null. */
  set(name: string, value: number | null): void {
    this.#latest.set(name, value);
  }

  /** Call this inside the commit's transaction. */
  store({ meta }: Databases): void {
    if (this.#added.size + this.#latest.size === 0) return;
    meta.put(this.#key, encodePlain(this.total(readCountersAt(meta, this.#key))));
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
