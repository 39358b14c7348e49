/** A query in ADQL, as a reader of its answer drives it. */
import { Budget } from '../base/budget.ts';
import type { TapQuery } from '../tap/job.ts';
import type { TapStarted } from '../tap/tap.ts';
import type { Service } from './service.ts';

/** Beyond the time of a query: it may wait for a place, and for the tables, which are made before the first one. */
const MARGIN_SECONDS = 20;

export interface ArchiveAnswer {
  /**
   * The next bytes; null at the end.
   * @throws Unavailable
   */
  next(): Promise<Uint8Array | null>;
  /** Ends a query whose answer nobody reads further. */
  end(): void;
}

/**
 * Begins a query: it is to be read to its end, or ended.
 * @param client by whose name its share of the queries is counted
 * @returns the reason where the query is wrong, or takes more than it may
 * @throws Unavailable
 */
export async function beginQuery(
  { config, coordination }: Pick<Service, 'config' | 'coordination'>,
  query: TapQuery,
  client: string,
): Promise<ArchiveAnswer | { readonly refused: string }> {
  const budget = () => new Budget(config.TAP_QUERY_SECONDS + MARGIN_SECONDS);
  const { job, begun } = (await coordination.ask('tap', { step: 'begin', client, query }, budget())) as TapStarted;
  if (begun.outcome !== 'begun') return { refused: begun.message };
  let first: Uint8Array | null = begun.part;
  let { isWhole } = begun;
  return {
    async next() {
      const part = first;
      first = null;
      if (part || isWhole) return part;
      const later = (await coordination.ask('tap', { step: 'part', job }, budget())) as Uint8Array | null;
      isWhole = later === null;
      return later;
    },
    end() {
      if (!isWhole) void coordination.ask('tap', { step: 'end', job }, budget()).catch(() => {});
    },
  };
}
