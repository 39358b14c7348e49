/**
 * Shared by `lookup`, `cone` and `match`: a running service answers the request, or this process answers over a data directory.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/error_text.ts';
import { limited, logToStderr } from '../base/log.ts';
import type { Config } from '../config/config.ts';
import { httpUrl } from '../config/values.ts';
import { DETAIL_LEVELS, namesOf } from '../contract/enums.ts';
import { FORMATS } from '../contract/formats.ts';
import type { TableProgress } from '../contract/table_match.ts';
import { openStore } from '../store/store.ts';
import { type Option, UsageError, valueOfText } from './cli.ts';
import { TABLE } from './terminal_table.ts';

const READY_POLL_MS = 5;
/** Log events that are irrelevant to someone who asks a single question. */
const QUIET_EVENTS: ReadonlySet<string> = new Set(['index_ready', 'index_loaded', 'slow_request']);

export const ASK_OPTIONS: Readonly<Record<string, Option>> = {
  url: { value: 'URL', help: 'query the service at this address instead of a data directory' },
  format: {
    value: 'NAME',
    help: `${TABLE} (the default at a terminal), ${namesOf(FORMATS).join(', ')} (json elsewhere)`,
  },
  detail: { value: 'LEVEL', help: `${namesOf(DETAIL_LEVELS).join(', ')} (default matches)` },
};

export interface Asked {
  readonly path: string;
  readonly search: Readonly<Record<string, string | undefined>>;
  /** JSON, or the bytes of a table; a request without a body is a GET. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** GET, or POST with a body, by default. */
  readonly method?: 'DELETE';
  /** The request's `Prefer`. */
  readonly prefer?: string;
  /** Receives the body of a successful answer piece by piece. The answer itself then has no body. */
  readonly onPart?: (part: Uint8Array) => Promise<void>;
}

export interface Answered {
  readonly status: number;
  readonly body: Uint8Array;
  readonly headers: Headers;
}

export type Ask = (asked: Asked) => Promise<Answered>;

/**
 * Calls `use` with a function that answers requests, and closes everything afterwards.
 * @param onTableProgress called with the progress of a table, over a data directory only
 * @throws UsageError for an invalid address; Error if no service answers there, or the data directory cannot be read
 */
export async function withService<T>(
  config: Config,
  url: string | undefined,
  use: (ask: Ask) => Promise<T>,
  onTableProgress?: (progress: TableProgress) => void,
): Promise<T> {
  return url === undefined ? withDirectory(config, use, onTableProgress) : use(askerOf(url));
}

function askerOf(url: string): Ask {
  const given = valueOfText(httpUrl(''), '--url', url);
  const base = new URL(given.endsWith('/') ? given : `${given}/`);
  return async asked => {
    const address = new URL(`.${asked.path}${searchOf(asked)}`, base);
    try {
      return await answered(await fetch(address, initOf(asked)), asked);
    } catch (error) {
      const why = messageOf((error as Error).cause ?? error);
      throw new Error(`Cannot reach ${base.origin} because ${why}: is a service running there?`, { cause: error });
    }
  };
}

async function withDirectory<T>(
  config: Config,
  use: (ask: Ask) => Promise<T>,
  onTableProgress: ((progress: TableProgress) => void) | undefined,
): Promise<T> {
  // Opening the store first gives a clear error if the data cannot be read.
  await using store = openStore(config.NEARSKY_DATA, 'read');
  const log = limited((event, fields) => {
    if (!QUIET_EVENTS.has(event)) logToStderr(event, fields);
  });
  // A command that asks a service does not load one.
  const { createApp } = await import('../routes/app.ts');
  const app = createApp({ config, log, onTableProgress });
  try {
    while (!app.ready) await sleep(READY_POLL_MS);
    return await use(async asked => {
      const request = new Request(`http://localhost${asked.path}${searchOf(asked)}`, initOf(asked));
      const answer = await answered(await app.fetch(request), asked);
      store.requireUndisturbed();
      return answer;
    });
  } finally {
    await app.close();
  }
}

function searchOf({ search }: Asked): string {
  const given = Object.entries(search).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

function initOf({ body, method, prefer }: Asked): RequestInit {
  // Removing a job is answered with a redirect to the list of jobs.
  if (body === undefined) return method ? { method, redirect: 'manual' } : {};
  const type = typeof body === 'string' ? 'application/json' : 'application/octet-stream';
  return { method: 'POST', body, headers: { 'Content-Type': type, ...(prefer && { Prefer: prefer }) } };
}

async function answered(response: Response, { onPart }: Asked): Promise<Answered> {
  if (onPart && response.status === 200) {
    for await (const part of response.body!) await onPart(part);
    return { status: response.status, body: new Uint8Array(0), headers: response.headers };
  }
  const body = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, body, headers: response.headers };
}

/**
 * Returns a successful answer.
 * @throws UsageError with the service's own message for an invalid request; Error if the service fails
 */
export function requireAnswer({ status, body, headers }: Answered): Answered {
  if (status === 200) return { status, body, headers };
  const text = Buffer.from(body).toString();
  let message: unknown;
  try {
    message = JSON.parse(text).error?.message ?? JSON.parse(text).message;
  } catch {
    message = undefined;
  }
  const why = typeof message === 'string' ? message : `the service answered ${status}: ${text.slice(0, 200)}`;
  throw status >= 400 && status < 500 ? new UsageError(why) : new Error(why);
}

/** Writes bytes to standard output. Waits if the reader is slow. */
export async function writeOut(bytes: Uint8Array): Promise<void> {
  if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
}

/** Adds a line break to JSON, so that a terminal's prompt begins on a new line. Other formats are unchanged. */
export function asDocument(bytes: Uint8Array, format: string | undefined): Uint8Array {
  return format === undefined || format === 'json' ? Buffer.concat([bytes, Buffer.from('\n')]) : bytes;
}
