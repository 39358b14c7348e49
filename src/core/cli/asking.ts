/** Requests of a command: a running service answers them, or this process over a data directory. */
import { messageOf } from '../base/error_text.ts';
import type { Config } from '../config/config.ts';
import type { RowProgress } from '../contract/row_progress.ts';

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

/** Answers in this process over the data directory of `config`, and closes everything after `use`. */
export type InProcess = <T>(
  config: Config,
  use: (ask: Ask) => Promise<T>,
  onProgress?: (progress: RowProgress) => void,
) => Promise<T>;

/** Asks the service at an address. */
export function askerOf(url: string): Ask {
  const base = new URL(url.endsWith('/') ? url : `${url}/`);
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

/** A request as `fetch` of an app takes it. */
export const requestOf = (asked: Asked) =>
  new Request(`http://localhost${asked.path}${searchOf(asked)}`, initOf(asked));

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

export async function answered(response: Response, { onPart }: Asked): Promise<Answered> {
  if (onPart && response.status === 200) {
    for await (const part of response.body!) await onPart(part);
    return { status: response.status, body: new Uint8Array(0), headers: response.headers };
  }
  const body = new Uint8Array(await response.arrayBuffer());
  return { status: response.status, body, headers: response.headers };
}
