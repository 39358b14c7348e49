/** Runs an ADQL query. The answer is made as fast as possible, and sent as fast as the client reads. */

import { randomUUID } from 'node:crypto';
import { Budget } from '../../core/base/budget.ts';
import type { Config } from '../../core/config/config.ts';
import type { Service } from '../../core/service/service.ts';
import { spoolOf } from '../uploads/spool.ts';
import { TAP } from './channel.ts';
import type { TapState } from './edition.ts';
import { KeptAhead } from './kept_ahead.ts';
import type { TapQuery } from './query_run.ts';
import { adqlSettings } from './settings.ts';
import type { TapStarted } from './tap.ts';

/**
 * Extra time beyond the query's own limit: the query may wait for a slot, and for the tables, which are built before
 * the first query.
 */
const MARGIN_SECONDS = 20;

/** How long a client waits for the first or next bytes of an answer at most, seconds. */
export const maxWaitSeconds = (config: Config) => adqlSettings.of(config).TAP_QUERY_SECONDS + MARGIN_SECONDS;

interface AdqlAnswer {
  /** The state of the tables from which the answer comes. */
  readonly state: TapState;
  /** The whole answer, if it is small. Then `next` and `end` need not be called. */
  readonly whole?: Uint8Array<ArrayBuffer>;
  /**
   * The next bytes; null at the end.
   * @throws Unavailable
   */
  next(): Promise<Uint8Array | null>;
  /** Ends a query whose client no longer reads the answer. */
  end(): void;
}

/**
 * Starts a query. The caller must read it to its end, or end it.
 * @param client the name under which the query counts against the client's share
 * @param request the query ends if its client disconnects before the first rows
 * @returns the reason if the query is invalid or exceeds a limit
 * @throws Unavailable
 */
export async function beginQuery(
  service: Pick<Service, 'config' | 'coordination' | 'threads'>,
  query: TapQuery,
  client: string,
  request: { onGone?(act: () => void): () => void } = {},
): Promise<AdqlAnswer | { readonly refused: string; readonly param: string | undefined }> {
  const { config, coordination } = service;
  const budget = () => new Budget(maxWaitSeconds(config));
  const key = randomUUID();
  const stay = request.onGone?.(() => {
    coordination.ask(TAP, { step: 'giveUp', key }, budget()).catch(() => {});
  });
  let started: TapStarted;
  try {
    started = (await coordination.ask(TAP, { step: 'begin', key, client, query }, budget())) as TapStarted;
  } finally {
    stay?.();
  }
  const { job, begun } = started;
  if (begun.outcome !== 'begun')
    return { refused: begun.message, param: begun.outcome === 'refused' ? begun.param : undefined };
  if (begun.isWhole) return wholeAnswer(begun.part, begun.state);
  let isWhole = false;
  let first: Uint8Array | undefined = begun.part;
  const spool = spoolOf(service);
  // Parts are taken as soon as they are made, so a slow client does not use up the query's time or its slot.
  const kept = new KeptAhead({
    dataDir: config.NEARSKY_DATA,
    async more() {
      const part = first ?? ((await coordination.ask(TAP, { step: 'part', job }, budget())) as Uint8Array | null);
      first = undefined;
      isWhole = part === null;
      return part;
    },
    take: bytes => spool.take(client, bytes),
    free: bytes => bytes > 0 && spool.free(client, bytes),
  });
  return {
    state: begun.state,
    next: () => kept.next(),
    end() {
      if (!isWhole) void coordination.ask(TAP, { step: 'end', job }, budget()).catch(() => {});
      void kept.end().catch(() => {});
    },
  };
}

function wholeAnswer(whole: Uint8Array<ArrayBuffer>, state: TapState): AdqlAnswer {
  let left: Uint8Array | null = whole;
  return {
    state,
    whole,
    async next() {
      const next = left;
      left = null;
      return next;
    },
    end() {},
  };
}
