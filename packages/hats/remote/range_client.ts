/**
 * Range requests (RFC 9110, section 14) to hosts that fail now and then. A request is repeated until it is answered in
 * full, or until another try is pointless.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { ReadFailure, reasonOf } from '@nearsky/astrotables/files';
import type { Dispatcher, request } from 'undici';
import type { ReadCounts } from '../catalog_files.ts';
import { FileChanged, MissingFile, WithheldFile } from '../errors.ts';
import { publicConnector } from '../public_hosts.ts';
import type { RemoteOptions } from './options.ts';
import { type FileVersion, isSameVersion } from './range_cache.ts';

/** One opened file, with its limits. */
export interface FileSession {
  readonly url: string;
  /** The file's name, for messages. */
  readonly name: string;
  /** The version that answers must have; unset until the first answer. */
  version: FileVersion | undefined;
  /** The bytes that may still be received. */
  bytesLeft: number;
  /** Fires when the time for the file is over. `deadlineMs` is the same moment by `performance.now()`. */
  readonly deadline: AbortSignal;
  readonly deadlineMs: number;
  readonly counts: ReadCounts;
  /** The limit for `bytesLeft`, for messages. */
  readonly maxBytes: number;
}

/** Bytes [start, end), or the last bytes: as many of these as the file has. */
export type Wanted = { readonly start: number; readonly end: number } | { readonly last: number };

export interface RangeAnswer {
  readonly version: FileVersion;
  readonly start: number;
  readonly bytes: ArrayBuffer;
  /** Whether the answer may be cached: the host supports ranges, and states a version that later requests can check. */
  readonly isKeepable: boolean;
}

const MAX_TRIES = 8;
/**
 * The number of attempts after a status that is usually permanent. A 404 for an existing file disappears within
 * seconds.
 */
const REFUSED_TRIES = 3;
/** The number of attempts for a host that has just failed all attempts for a file, and how long this limit applies. */
const TRIES_WHEN_FAILING = 2;
const FAILING_MS = 30_000;
const MAX_PAUSE_MS = 10_000;
const CONNECT_TIMEOUT_MS = 10_000;
/** The longest wait for a header, or for the next part of a body. */
const SILENCE_MS = 30_000;
const MAX_REDIRECTIONS = 5;
/** The largest whole file that is accepted from a host that ignores the range. */
const MAX_WHOLE_FILE_BYTES = 64 << 20;
/** The maximum number of bytes of an error's body that are read to reuse the connection. */
const MAX_ERROR_BYTES = 16 << 10;

/** Why a request failed, and how many such failures end the attempts. */
class Unanswered extends Error {
  readonly status: number | undefined;
  readonly tries: number;
  readonly pauseMs: number;

  constructor(reason: string, tries: number, status?: number, pauseMs = 0) {
    super(reason);
    this.tries = tries;
    this.status = status;
    this.pauseMs = pauseMs;
  }
}

/** Makes the error for a connection to an address that is not public. */
function refusal({ privateRedirects }: RemoteOptions['names']): (host: string, address: string) => Unanswered {
  return (host, address) => {
    const where = host === address ? host : `${host}, at ${address}`;
    return new Unanswered(
      `it redirects to ${where}, which is not a public address: register the catalog under that address, or set ${privateRedirects}`,
      1,
    );
  };
}

/** The host does not support ranges counted from the end of a file. */
export class NoSuffixRange extends ReadFailure {
  override name = 'NoSuffixRange';
}

/** Sends requests by one dispatcher. */
interface Sender {
  readonly request: typeof request;
  readonly dispatcher: Dispatcher;
}

/** undici is loaded with the first request: that takes longer than all other modules of a server thread. */
async function senderFor(options: RemoteOptions, ownHost: string): Promise<Sender> {
  const { Agent, interceptors, request } = await import('undici');
  const { connections, privateRedirects, names } = options;
  const dispatcher = new Agent({
    connections,
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
    connect: privateRedirects
      ? { timeout: CONNECT_TIMEOUT_MS }
      : await publicConnector(host => host === ownHost, CONNECT_TIMEOUT_MS, refusal(names)),
  }).compose(interceptors.redirect({ maxRedirections: MAX_REDIRECTIONS }));
  return { request, dispatcher };
}

export class RangeClient {
  readonly #options: RemoteOptions;
  readonly #ownHost: string;
  #sender: Promise<Sender> | undefined;
  /** The time until which each origin counts as failing, by `performance.now()`. */
  readonly #failing = new Map<string, number>();

  /** @param ownHost the host that the operator has named; only this host may have an address that is not public */
  constructor(options: RemoteOptions, ownHost: string) {
    this.#options = options;
    this.#ownHost = ownHost;
  }

  /**
   * The bytes of a whole range. If the session has a version of the file, they are from that version. Undefined if the
   * file still has the version `unless`.
   * @throws MissingFile; WithheldFile; FileChanged; NoSuffixRange for `last`; or ReadFailure with the reason of the last attempt
   */
  async get(session: FileSession, wanted: Wanted, unless?: FileVersion): Promise<RangeAnswer | undefined> {
    const { origin } = new URL(session.url);
    /** The number of failures by status; 0 means temporary failures. */
    const failures = new Map<number, number>();
    for (let tried = 1; ; tried++) {
      try {
        const answer = await this.#send(session, wanted, unless);
        this.#failing.delete(origin);
        return answer;
      } catch (error) {
        if (error instanceof ReadFailure) throw error;
        const why = session.deadline.aborted ? new Unanswered('its time limit was reached', 0) : unanswered(error);
        const mayPass = why.tries === MAX_TRIES;
        const kind = mayPass ? 0 : (why.status ?? 0);
        const failed = (failures.get(kind) ?? 0) + 1;
        failures.set(kind, failed);
        if (failed < (mayPass && this.#isFailing(origin) ? TRIES_WHEN_FAILING : why.tries)) {
          await this.#pause(tried, why, session);
          session.counts.retries++;
          continue;
        }
        if (mayPass) this.#failing.set(origin, performance.now() + FAILING_MS);
        const Kind = KINDS.get(why.status) ?? ReadFailure;
        throw new Kind(`Cannot read ${session.name}: ${why.message}${tried > 1 ? `, tried ${tried} times` : ''}`);
      }
    }
  }

  #isFailing(origin: string): boolean {
    return performance.now() < (this.#failing.get(origin) ?? 0);
  }

  /**
   * Waits for half of a pause that doubles each time, plus a random time of up to the same length, but at least as long
   * as the host requests.
   */
  async #pause(tried: number, { message, pauseMs }: Unanswered, { name, deadlineMs }: FileSession): Promise<void> {
    const most = Math.min(MAX_PAUSE_MS, this.#options.pauseMs * 2 ** (tried - 1));
    const waitMs = Math.max(most * (0.5 + 0.5 * Math.random()), pauseMs);
    if (performance.now() + waitMs > deadlineMs)
      throw new ReadFailure(`Cannot read ${name}: ${message}, and there is no time left for another attempt`);
    await sleep(waitMs);
  }

  /** A failure is forgotten: the next attempt loads undici again, for example when files can be opened again. */
  #loadSender(): Promise<Sender> {
    this.#sender ??= senderFor(this.#options, this.#ownHost).catch(error => {
      this.#sender = undefined;
      throw error;
    });
    return this.#sender;
  }

  async #send(session: FileSession, wanted: Wanted, unless?: FileVersion): Promise<RangeAnswer | undefined> {
    session.counts.requests++;
    const range = 'last' in wanted ? `-${wanted.last}` : `${wanted.start}-${wanted.end - 1}`;
    const { request, dispatcher } = await this.#loadSender();
    const response = await request(session.url, {
      dispatcher,
      signal: session.deadline,
      headers: {
        range: `bytes=${range}`,
        'accept-encoding': 'identity',
        'user-agent': this.#options.userAgent,
        ...conditions(unless),
      },
    });
    try {
      if (response.statusCode !== 304 || !unless) return await take(response, wanted, session);
      await response.body.dump();
      return undefined;
    } catch (error) {
      // A short body is read to its end so that the connection can be reused.
      await response.body.dump({ limit: MAX_ERROR_BYTES }).catch(() => {});
      throw error;
    }
  }
}

async function take(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  wanted: Wanted,
  session: FileSession,
): Promise<RangeAnswer> {
  if ('last' in wanted && [400, 416, 501].includes(statusCode)) throw new NoSuffixRange(session.name);
  if (statusCode !== 200 && statusCode !== 206) throw statusFailure(statusCode, headers, session);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') throw new Unanswered(`its host sends it encoded as ${encoding}`, MAX_TRIES);
  const sent = statusCode === 206 ? sentRange(headers, session) : sentWhole(headers, wanted);
  const { version } = sent;
  if (session.version && !isSameVersion(session.version, version))
    throw new FileChanged(`Cannot read ${session.name}: it was replaced while it was read`);
  const [start, end] = rangeWithin(wanted, version.byteLength);
  if (statusCode === 206 && (sent.start !== start || sent.end !== end)) {
    if ('last' in wanted) throw new NoSuffixRange(session.name);
    throw new Unanswered(`its host sends bytes ${sent.start} to ${sent.end} for ${start} to ${end}`, MAX_TRIES);
  }
  const bytes = await receive(body, sent, { start, end }, session);
  return { version, start, bytes, isKeepable: statusCode === 206 && (version.etag ?? version.lastModified) !== null };
}

type Headers = Readonly<Record<string, string | string[] | undefined>>;

function conditions(unless: FileVersion | undefined): Record<string, string> {
  if (unless?.etag) return { 'if-none-match': unless.etag };
  return unless?.lastModified ? { 'if-modified-since': unless.lastModified } : {};
}

/** Treats any broken exchange as one that may succeed at the next attempt. */
function unanswered(error: unknown): Unanswered {
  if (error instanceof Unanswered) return error;
  // undici throws this about the target of a redirect.
  if (error instanceof Error && 'code' in error && error.code === 'UND_ERR_INVALID_ARG')
    return new Unanswered('its host redirects endlessly, or not to an http address', 1);
  const cause = error instanceof AggregateError ? error.errors[0] : error;
  return new Unanswered(reasonOf(cause) || 'the connection broke', MAX_TRIES);
}

/** Explains the HTTP status of the last answer about a file. */
const KINDS: ReadonlyMap<number | undefined, typeof ReadFailure> = new Map([
  [404, MissingFile],
  [410, MissingFile],
  [403, WithheldFile],
]);

function statusFailure(status: number, headers: Headers, { name, version }: FileSession): Error {
  const reason = `its host answers ${status}`;
  if (status === 416 && version) return new FileChanged(`Cannot read ${name}: it was replaced while it was read`);
  if (status === 408 || status === 425 || status === 429 || status >= 500)
    return new Unanswered(reason, MAX_TRIES, status, retryAfterMs(String(headers['retry-after'] ?? '').trim()));
  if (status === 404 || status === 410 || status === 403) return new Unanswered(reason, REFUSED_TRIES, status);
  if (status >= 300 && status < 400)
    return new Unanswered(`it is redirected more than ${MAX_REDIRECTIONS} times`, 1, status);
  const region = headers['x-amz-bucket-region'];
  const hint = region ? `: its bucket is in the region ${region}, give its https address there` : '';
  return new Unanswered(reason + hint, 1, status);
}

/** The wait that a Retry-After header asks for, in seconds or as a date (RFC 9110, section 10.2.3); 0 if it asks for none. */
function retryAfterMs(text: string): number {
  const ms = /^\d+$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? 0 : Math.max(0, ms);
}

function versionOf(headers: Headers, byteLength: number): FileVersion {
  const text = (name: string) => (typeof headers[name] === 'string' ? headers[name] : null);
  return { etag: text('etag'), lastModified: text('last-modified'), byteLength };
}

interface Sent {
  readonly version: FileVersion;
  readonly start: number;
  readonly end: number;
}

function sentRange(headers: Headers, { version }: FileSession): Sent {
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(String(headers['content-range'])) ?? [];
  const byteLength = total === '*' ? version?.byteLength : Number(total);
  if (first === undefined || byteLength === undefined)
    throw new Unanswered('its host does not state which bytes it sends', MAX_TRIES);
  return { version: versionOf(headers, byteLength), start: Number(first), end: Number(last) + 1 };
}

/** The host sent the whole file, because it does not support ranges or has not applied this one. */
function sentWhole(headers: Headers, wanted: Wanted): Sent {
  const byteLength = Number(headers['content-length'] ?? Number.NaN);
  if (!Number.isSafeInteger(byteLength))
    throw new Unanswered(
      'its host sends the whole file, without its length, instead of the requested range',
      MAX_TRIES,
    );
  if (rangeWithin(wanted, byteLength)[1] > MAX_WHOLE_FILE_BYTES) {
    throw new Unanswered(
      `its host sends the whole file of ${byteLength} bytes instead of the requested range: copy the catalog to a local directory`,
      MAX_TRIES,
    );
  }
  return { version: versionOf(headers, byteLength), start: 0, end: byteLength };
}

function rangeWithin(wanted: Wanted, byteLength: number): [start: number, end: number] {
  if ('last' in wanted) return [Math.max(0, byteLength - wanted.last), byteLength];
  return [wanted.start, Math.min(wanted.end, byteLength)];
}

/** Bytes [start, end) of a body that begins at or before them. The rest of the body is not awaited. */
async function receive(
  body: Dispatcher.ResponseData['body'],
  sent: { readonly start: number; readonly end: number },
  { start, end }: { readonly start: number; readonly end: number },
  session: FileSession,
): Promise<ArrayBuffer> {
  const bytes = new Uint8Array(end - start);
  let at = sent.start;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    session.counts.networkBytes += chunk.length;
    session.bytesLeft -= chunk.length;
    if (session.bytesLeft < 0) {
      throw new ReadFailure(
        `Cannot read ${session.name} because a search of it needs more than ${session.maxBytes} bytes: copy the catalog to a local directory`,
      );
    }
    const [from, to] = [Math.max(start, at), Math.min(end, at + chunk.length)];
    if (from < to) bytes.set(chunk.subarray(from - at, to - at), from - start);
    at += chunk.length;
    if (at >= end && end < sent.end) break;
  }
  if (at < end) throw new Unanswered(`its host broke off after ${at - sent.start} bytes`, MAX_TRIES);
  return bytes.buffer;
}
