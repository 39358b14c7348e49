/** The HTTP side of ANTARES: the alerts of a locus, page by page; and the contents of its Kafka messages. */
import { deflateSync } from 'node:zlib';
import { serialize } from 'bson';
import { type Fault, type HttpRequest, startHttpServer } from './http_server.ts';

/** The flat properties of an alert, as JSON text: an id may have more digits than a number. */
export type AlertText = string;

/** The value of a Kafka message: the locus as the service has it, around a link to its alerts. */
export function locusMessage(locusId: string, link: string, more: Record<string, unknown> = {}): Buffer {
  const lightcurve = 'alert_id,ant_mjd,ant_survey,ant_ra,ant_dec,ant_passband,ant_mag,ant_magerr\n'.padEnd(2000, 'x');
  const attributes = { htm16: 12345678, ra: 238.986105, dec: -14.424639, tags: ['lsst'], catalogs: [], lightcurve };
  const relationships = { alerts: { links: { related: link } } };
  const document = {
    data: { type: 'locus', id: locusId, attributes: { ...attributes, properties: more }, relationships },
  };
  return deflateSync(serialize(document));
}

export class AntaresServer {
  /** Replaces the next page's address, given the requested path and query. */
  next: ((asked: string) => unknown) | undefined;
  /** The requested paths, with their queries. */
  readonly requests: string[] = [];
  readonly #pageSize: number;
  readonly #alerts = new Map<string, readonly AlertText[]>();
  #http: Awaited<ReturnType<typeof startHttpServer>> | undefined;

  private constructor(pageSize: number) {
    this.#pageSize = pageSize;
  }

  static async start(fault?: (request: HttpRequest) => Fault | undefined, pageSize = 100): Promise<AntaresServer> {
    const server = new AntaresServer(pageSize);
    server.#http = await startHttpServer(request => {
      server.requests.push(`${request.url.pathname}${request.url.search}`);
      return server.#answer(request.url);
    }, fault);
    return server;
  }

  get url(): string {
    return `${this.#http!.url}/v1/`;
  }

  /** Makes a locus with these alerts, in this order; the value of its Kafka message. */
  add(locusId: string, alerts: readonly AlertText[]): Buffer {
    this.#alerts.set(locusId, alerts);
    return locusMessage(locusId, this.link(locusId));
  }

  link(locusId: string): string {
    return `${this.url}loci/${locusId}/alerts`;
  }

  close(): Promise<void> {
    return this.#http!.close();
  }

  #answer(url: URL): unknown {
    const locusId = /^\/v1\/loci\/([^/]+)\/alerts$/.exec(url.pathname)?.[1];
    const alerts = this.#alerts.get(locusId ?? '');
    if (!locusId || !alerts) return undefined;
    const offset = Number(url.searchParams.get('page[offset]') ?? 0);
    const end = offset + this.#pageSize;
    const data = alerts.slice(offset, end).map((text, i) => ({
      type: 'alert',
      id: `lsst:${offset + i}`,
      attributes: {
        mjd: Number(/"ant_mjd": ?([\d.]+)/.exec(text)?.[1]),
        processed_at: '2026-09-20T12:00:00+00:00',
        properties: exactJson.rawJSON(text),
      },
    }));
    if (this.next) return { data, links: { next: this.next(`${url.pathname}${url.search}`) } };
    const links = end < alerts.length ? { next: `${this.link(locusId)}?page[offset]=${end}` } : {};
    return { data, links };
  }
}

// In both runtimes, not yet in TypeScript's library. It takes no object, so the text of one is put in as it is.
const exactJson = {
  rawJSON: (text: string) => {
    const raw: Record<string, unknown> = {};
    for (const [, key, value] of text.matchAll(/"([^"]+)": ?("[^"]*"|[^,}\s]+)/g))
      raw[key!] = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(value!);
    return raw;
  },
};
