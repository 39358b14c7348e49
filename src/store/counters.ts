/** Counts of what was ever done to the store, by whatever process: they change in the commit that does it. */
import type { Databases } from './environment.ts';
import { decodePlain, encodePlain } from './records.ts';

const COUNTERS_KEY = new TextEncoder().encode('counters');

/** By name; a name has its labels in it, after slashes. */
export type Counters = Readonly<Record<string, number>>;

/** Deliveries by broker: the object's first from that broker, or another. */
export const ingestedCounter = (broker: string, result: 'new' | 'duplicate') => `ingested/${broker}/${result}`;
/** When a broker's delivery was last stored, milliseconds since 1970. */
export const lastIngestMs = (broker: string) => `last_ingest_ms/${broker}`;
export const crossmatchBatches = () => 'crossmatch_batches';
export const crossmatchMatches = (catalog: string) => `crossmatch_matches/${catalog}`;
/** Commits with an object for which the catalog could not be read. */
export const catalogSkips = (catalog: string) => `catalog_skips/${catalog}`;

export function readCounters({ meta }: Databases): Counters {
  const bytes = meta.get(COUNTERS_KEY);
  return bytes ? (decodePlain(bytes) as Counters) : {};
}

/** What one commit adds to the counters. */
export class Tally {
  readonly #added = new Map<string, number>();
  readonly #latest = new Map<string, number>();

  add(name: string): void {
    this.#added.set(name, (this.#added.get(name) ?? 0) + 1);
  }

  /** A counter that holds a time. */
  set(name: string, value: number): void {
    this.#latest.set(name, value);
  }

  /** To be called inside the commit's transaction. */
  store(databases: Databases): void {
    if (this.#added.size + this.#latest.size === 0) return;
    const counters: Record<string, number> = { ...readCounters(databases) };
    for (const [name, change] of this.#added) counters[name] = (counters[name] ?? 0) + change;
    for (const [name, value] of this.#latest) counters[name] = value;
    databases.meta.put(COUNTERS_KEY, encodePlain(counters));
  }
}
