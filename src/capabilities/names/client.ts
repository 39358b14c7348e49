/**
 * Downloads the public files of the TNS over HTTP and follows its rules for bots: it identifies itself, sends one
 * request at a time, and slows down when the server asks for that.
 */

import { ftruncateSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { backoffMs, retryAfterMs } from '../../core/base/backoff.ts';
import { messageOf } from '../../core/base/error_text.ts';
import { withoutPassword } from '../../core/config/config.ts';
import type { Validators } from '../../core/store/registry.ts';
import type { BotCredentials } from './bot.ts';
import { RegistryError } from './registry_file.ts';

interface ClientOptions {
  /** Ends in a slash. */
  readonly baseUrl: string;
  readonly bot: BotCredentials;
  /** The wait before the first retry. Each further wait is twice as long. Default 2 seconds. */
  readonly backoffMs?: number;
  /** Called before each wait for a retry. */
  readonly onWait?: (why: string, waitMs: number) => void;
  /** Aborts the work in progress, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** `absent`: the file does not exist. `unmodified`: the file is no newer than the validators. */
export type Download =
  | { readonly outcome: 'whole'; readonly validators: Validators }
  | { readonly outcome: 'absent' | 'unmodified' };

const ATTEMPTS = 6;
const BACKOFF_MS = 2000;
/** The longest wait that a server may request. If it requests a longer one, the download fails. */
const LONGEST_WAIT_MS = 15 * 60_000;
const HEADERS_TIMEOUT_MS = 60_000;
const BODY_TIMEOUT_MS = 60_000;
/** The maximum size of a file, ten times that of the whole registry. */
const MAX_BYTES = 2 ** 30;

/** The reason why an attempt failed that may be retried. */
class Setback extends Error {
  /** The wait that the server requested; undefined if it requested none. */
  readonly waitMs: number | undefined;

  constructor(message: string, waitMs?: number) {
    super(message);
    this.waitMs = waitMs;
  }
}

export class TnsClient {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * Downloads a file. After a dropped connection, a server error or a rate limit (429), it retries, up to five times.
   * @param descriptor the file to write to, from its beginning
   * @param known the validators of the local copy, if there is one
   * @throws RegistryError; the signal's reason
   */
  async download(fileName: string, descriptor: number, known: Validators | null = null): Promise<Download> {
    const { backoffMs: firstWaitMs = BACKOFF_MS, onWait, signal } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#attempt(fileName, descriptor, known);
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof Setback)) throw error;
        const waitMs = error.waitMs ?? backoffMs(firstWaitMs, Number.POSITIVE_INFINITY, attempt - 1);
        if (attempt === ATTEMPTS || waitMs > LONGEST_WAIT_MS) {
          const later = waitMs > LONGEST_WAIT_MS ? `in ${Math.ceil(waitMs / 60_000)} minutes` : 'later';
          throw this.#failure(fileName, `${error.message} (attempt ${attempt})`, `try again ${later}`);
        }
        onWait?.(error.message, waitMs);
        await sleep(waitMs, undefined, signal && { signal });
      }
    }
  }

  async #attempt(fileName: string, descriptor: number, known: Validators | null): Promise<Download> {
    const { request } = await import('undici');
    const { baseUrl, bot, signal } = this.#options;
    let response: Dispatcher.ResponseData;
    try {
      response = await request(new URL(fileName, baseUrl), {
        method: 'POST',
        headers: {
          'user-agent': markerOf(bot),
          'content-type': 'application/x-www-form-urlencoded',
          ...(known?.etag ? { 'if-none-match': known.etag } : {}),
          ...(known?.lastModified ? { 'if-modified-since': known.lastModified } : {}),
        },
        body: new URLSearchParams({ api_key: bot.apiKey }).toString(),
        headersTimeout: HEADERS_TIMEOUT_MS,
        bodyTimeout: BODY_TIMEOUT_MS,
        ...(signal && { signal }),
      });
    } catch (error) {
      throw new Setback(messageOf(error));
    }
    if (response.statusCode === 200) return await this.#save(fileName, response, descriptor);
    await response.body.dump().catch(() => {});
    switch (response.statusCode) {
      case 304:
      // The status of the answer to a POST whose If-None-Match matches (RFC 9110, section 13.1.2).
      case 412:
        return { outcome: 'unmodified' };
      case 404:
        return { outcome: 'absent' };
      default:
        throw this.#refusal(fileName, response);
    }
  }

  async #save(fileName: string, { headers, body }: Dispatcher.ResponseData, descriptor: number): Promise<Download> {
    let bytes = 0;
    // An earlier attempt may have written a part of the file.
    ftruncateSync(descriptor);
    try {
      for await (const piece of body as AsyncIterable<Buffer>) {
        if (bytes + piece.length > MAX_BYTES)
          throw this.#failure(fileName, `it has more than ${MAX_BYTES} bytes`, 'check the file');
        for (let at = 0; at < piece.length; ) at += writeSync(descriptor, piece, at, piece.length - at, bytes + at);
        bytes += piece.length;
      }
    } catch (error) {
      // A full disk causes an error with a system error code. Any other error here comes from the connection.
      if (error instanceof RegistryError || (error as NodeJS.ErrnoException).syscall === 'write') throw error;
      throw new Setback(`the connection broke after ${bytes} bytes: ${messageOf(error)}`);
    }
    const text = (value: string | string[] | undefined) => (typeof value === 'string' ? value : null);
    return { outcome: 'whole', validators: { etag: text(headers.etag), lastModified: text(headers['last-modified']) } };
  }

  /** The error for a refused request: a Setback if a retry may succeed, else a final error. */
  #refusal(fileName: string, { statusCode, headers }: Dispatcher.ResponseData): Error {
    if (statusCode === 429 || statusCode >= 500) {
      return new Setback(`the server answered ${statusCode}`, waitOf(headers));
    }
    const mend =
      statusCode === 401 || statusCode === 403
        ? 'check TNS_BOT_ID, TNS_BOT_NAME and TNS_BOT_API_KEY'
        : 'check TNS_OBJECTS_BASE_URL';
    return this.#failure(fileName, `the server answered ${statusCode}`, mend);
  }

  #failure(fileName: string, why: string, mend: string): RegistryError {
    return new RegistryError(
      `Cannot download ${withoutPassword(`${new URL(fileName, this.#options.baseUrl)}`)} because ${why}: ${mend}`,
    );
  }
}

/** The User-Agent that identifies a bot to the TNS. Headers must be ASCII. */
export function markerOf({ id, name }: BotCredentials): string {
  const marker = JSON.stringify({ tns_id: id, type: 'bot', name });
  const ascii = marker.replace(/[^ -~]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `tns_marker${ascii}`;
}

/** The wait that the server requests: Retry-After, in seconds or as a date, or else the rest of its rate window. */
function waitOf(headers: Dispatcher.ResponseData['headers']): number | undefined {
  for (const value of [headers['retry-after'], headers['x-rate-limit-reset']]) {
    const ms = typeof value === 'string' ? retryAfterMs(value) : undefined;
    if (ms !== undefined && Number.isFinite(ms)) return ms;
  }
  return undefined;
}
