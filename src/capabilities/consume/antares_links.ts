/**
 * The alerts of an ANTARES locus: extracts the link to them from a message, and reads the pages behind it over HTTP.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import type { Agent } from 'undici';
import { Backoff } from '../../core/base/backoff.ts';
import { messageOf } from '../../core/base/error_text.ts';
import { asObject, type ExactId, type JsonObject, parseMessage } from '../../core/base/json_reader.ts';
import { readText } from '../../core/base/response_body.ts';
import { pause } from '../../core/base/timeout.ts';
import { withoutPassword } from '../../core/config/config.ts';
import type { AlertProperties } from '../ingest/antares.ts';
import { UnusableMessage } from './transport.ts';

interface AlertLinksOptions {
  /**
   * The base of relative links. Links to other hosts are rejected, because the sender of a message need not be ANTARES.
   */
  readonly baseUrl: string;
  /** How long a failing link is retried while other links work; `PATIENCE_SECONDS` by default. */
  readonly patienceSeconds?: number;
}

const CONNECTIONS = 16;
const REQUEST_TIMEOUT_MS = 20_000;
const MAX_PAGE_BYTES = 64 * 2 ** 20;
/** A limit far above the number of alerts of any object. @internal Exported for the test. */
export const MAX_PAGES = 1000;
const FIRST_RETRY_MS = 200;
const MAX_RETRY_MS = 5000;
/** How long a locus may have no alerts, because the host may lag behind the messages. */
const ABSENT_MS = 5000;
/** One locus may fail for long while the host is busy. Waiting longer would hold back the messages after it. */
const PATIENCE_SECONDS = 60;
/** Statuses after which a retry would fail too. Any other failure is due to the host, the network or a setting. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 404, 410, 422]);

/** The maximum size of a locus with its light curve, bytes. */
const MAX_LOCUS_BYTES = 64 * 2 ** 20;

const inflateAsync = promisify(inflate);

/**
 * The link to the alerts of a locus, from a message's value: `zlib(BSON(JSON:API document))`.
 * @throws UnusableMessage if the value is something else
 */
export async function alertsLink(value: Uint8Array): Promise<string> {
  const { deserialize } = await import('bson');
  let document: unknown;
  try {
    document = deserialize(await inflateAsync(value, { maxOutputLength: MAX_LOCUS_BYTES }), { useBigInt64: true });
  } catch (error) {
    throw new UnusableMessage(`not a locus of ANTARES (BSON in zlib): ${messageOf(error)}`, { cause: error });
  }
  const relationships = asObject(asObject(asObject(document)?.data)?.relationships);
  const link = asObject(asObject(relationships?.alerts)?.links)?.related;
  if (typeof link === 'string') return link;
  throw new UnusableMessage('not a locus of ANTARES: no data.relationships.alerts.links.related');
}

interface Page {
  readonly document: JsonObject;
  readonly exactId: ExactId;
}

/** The locus has no alert yet, or none at all. */
class AbsentAlert extends UnusableMessage {}

export class AlertLinks {
  /** The maximum number of useful concurrent requests. */
  static readonly PARALLEL = CONNECTIONS;
  readonly #options: Required<AlertLinksOptions>;
  #agent: Agent | undefined;
  #answeredMs = Number.NEGATIVE_INFINITY;

  constructor(options: AlertLinksOptions) {
    this.#options = { patienceSeconds: PATIENCE_SECONDS, ...options };
  }

  /**
   * The properties of a locus's newest alert (by `mjd`), read through its link. If there are alerts of LSST objects,
   * only these count.
   * @throws UnusableMessage if there is still no alert after some seconds, only this link has failed for
   * `patienceSeconds`, a link leads to another host, or the pages form a loop or are too many; the
   * signal's reason; Error if the host cannot be reached
   */
  async newest(link: string, signal: AbortSignal): Promise<AlertProperties> {
    const backoff = new Backoff(FIRST_RETRY_MS, MAX_RETRY_MS);
    const untilMs = performance.now() + Math.min(ABSENT_MS, this.#options.patienceSeconds * 1000);
    for (;;) {
      try {
        return await this.#newestNow(link, signal);
      } catch (error) {
        if (!(error instanceof AbsentAlert) || performance.now() >= untilMs) throw error;
      }
      await sleep(backoff.next(), undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }

  async #newestNow(link: string, signal: AbortSignal): Promise<AlertProperties> {
    let newest: Alert | undefined;
    let url = this.#resolve(link);
    const visited = new Set<string>();
    for (;;) {
      if (visited.has(url)) throw new UnusableMessage(`the pages of alerts form a loop: ${withoutPassword(url)} again`);
      if (visited.size === MAX_PAGES)
        throw new UnusableMessage(`more than ${MAX_PAGES} pages of alerts: the next would be ${withoutPassword(url)}`);
      visited.add(url);
      const page = await this.#page(url, signal);
      for (const alert of alertsOf(page, url)) {
        const isNewer = !newest || (alert.isLsst === newest.isLsst ? alert.mjd >= newest.mjd : alert.isLsst);
        if (isNewer) newest = alert;
      }
      const next = nextOf(page, url);
      if (next === undefined) break;
      url = this.#resolve(next);
    }
    if (!newest) throw new AbsentAlert(`the locus has no alert: ${withoutPassword(url)}`);
    return newest;
  }

  async close(): Promise<void> {
    await this.#agent?.destroy();
  }

  #resolve(link: string): string {
    const { baseUrl } = this.#options;
    const url = URL.parse(link, baseUrl);
    if (!url) throw new UnusableMessage(`the link is not an address: ${link.slice(0, 200)}`);
    if (url.origin !== new URL(baseUrl).origin) {
      const where = withoutPassword(url.href).slice(0, 200);
      throw new UnusableMessage(
        `the link must lead to ${new URL(baseUrl).origin} (ANTARES_API_BASE_URL): ${where} was given`,
      );
    }
    // Only the parts of the link that identify a page are kept. Other parts may differ for the same page.
    [url.username, url.password, url.hash] = ['', '', ''];
    return url.href;
  }

  async #page(url: string, signal: AbortSignal): Promise<Page> {
    const patienceMs = this.#options.patienceSeconds * 1000;
    const backoff = new Backoff(FIRST_RETRY_MS, MAX_RETRY_MS);
    const beganMs = performance.now();
    for (;;) {
      signal.throwIfAborted();
      try {
        const page = await this.#get(url, signal);
        this.#answeredMs = performance.now();
        return page;
      } catch (error) {
        if (error instanceof UnusableMessage) throw error;
        signal.throwIfAborted();
        const why = `Cannot follow the link: ${withoutPassword(url)}: ${messageOf(error)}`;
        if (performance.now() - beganMs >= patienceMs) {
          // Other requests were answered in the meantime, so the host works.
          if (this.#answeredMs > beganMs + patienceMs / 2) throw new UnusableMessage(why, { cause: error });
          throw new Error(why, { cause: error });
        }
      }
      await pause(backoff.next(), signal);
    }
  }

  /** @throws UnusableMessage if a retry would have the same result */
  async #get(url: string, signal: AbortSignal): Promise<Page> {
    const { Agent, request } = await import('undici');
    this.#agent ??= new Agent({
      connections: CONNECTIONS,
      headersTimeout: REQUEST_TIMEOUT_MS,
      bodyTimeout: REQUEST_TIMEOUT_MS,
    });
    const headers = { accept: 'application/vnd.api+json, application/json' };
    const response = await request(url, { dispatcher: this.#agent, headers, signal });
    if (response.statusCode !== 200) {
      await response.body.dump();
      const why = `it answered ${response.statusCode}`;
      if (!FINAL_STATUSES.has(response.statusCode)) throw new Error(why);
      const Kind = response.statusCode === 404 ? AbsentAlert : UnusableMessage;
      throw new Kind(`Cannot follow the link: ${withoutPassword(url)}: ${why}`);
    }
    // Truncated JSON fails to parse, and is requested again.
    const { value, exactId } = parseMessage(await readText(response, MAX_PAGE_BYTES));
    const document = asObject(value);
    if (!document) throw new Error('the answer is not a JSON object');
    return { document, exactId };
  }
}

/** The address of the next page. In JSON:API, a link is a string, or an object with the string as `href`. */
function nextOf({ document }: Page, url: string): string | undefined {
  const next = asObject(document.links)?.next;
  const link = asObject(next)?.href ?? next;
  if (link === undefined || link === null) return undefined;
  if (typeof link === 'string') return link;
  throw new UnusableMessage(`the link to the next page is not a string: ${withoutPassword(url)}`);
}

interface Alert extends AlertProperties {
  readonly isLsst: boolean;
  readonly mjd: number;
}

function alertsOf({ document, exactId }: Page, url: string): Alert[] {
  if (!Array.isArray(document.data))
    throw new UnusableMessage(`the answer has no list of alerts: ${withoutPassword(url)}`);
  return document.data.flatMap(entry => {
    const attributes = asObject(asObject(entry)?.attributes);
    const properties = asObject(attributes?.properties);
    if (!properties) return [];
    const mjd = Number(attributes?.mjd ?? properties.ant_mjd ?? Number.NEGATIVE_INFINITY);
    // The id is copied, because a substring would keep the whole page in memory.
    const diaObjectId = structuredClone(exactId(properties.lsst_diaObject_diaObjectId));
    return [{ isLsst: diaObjectId !== undefined && diaObjectId !== null, mjd, properties, diaObjectId }];
  });
}
