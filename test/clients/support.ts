/** Shared by the tests of the clients: a service on a socket with small limits. A test can replace its answers. */

import { type AddressInfo, createServer } from 'node:net';
import type { StreamClient, StreamedBody } from '../../src/core/answers/body.ts';
import { TooExpensive, Unavailable } from '../../src/core/base/refusal.ts';
import { errorResponse, expectedErrorOf } from '../../src/core/http/errors.ts';
import { type IncomingBody, type IncomingRequest, PlainRequest } from '../../src/core/http/incoming.ts';
import { type Answer, jsonResponse } from '../../src/core/http/respond.ts';
import { HttpServer } from '../../src/core/server/http_server.ts';
import { serverLimits } from '../../src/core/server/server_limits.ts';
import { API, configWith } from '../capabilities.ts';
import {
  crossmatched,
  delivery,
  type Json,
  loadRegistry,
  match,
  NOW_US,
  type Running,
  searched,
  startApp,
  type World,
} from '../core/http/support.ts';

export const MAX_IDS = 10;
export const MAX_POSITIONS = 4;
/** The service's own address, as behind a proxy: not the one that the clients use. */
export const PUBLIC_ADDRESS = 'https://sky.example.org/nearsky';
const SETTINGS = {
  API_MAX_IDS: `${MAX_IDS}`,
  API_MAX_POSITIONS: `${MAX_POSITIONS}`,
  API_MAX_OBJECTS_PER_POSITION: '4',
  API_MAX_OBJECTS_PER_REQUEST: '12',
};

export const FIRST_ID = 9_223_372_036_854_775_000n;
/** Seven of the first objects lie within 0.1" of each other. */
export const CROWD = { ra: 150, dec: 2 };
export const OBJECTS = 30;

async function fill(world: World): Promise<void> {
  const ids = Array.from({ length: OBJECTS }, (_, i) => FIRST_ID + BigInt(i));
  const position = (i: number) => ({ ra: 150, dec: i < 7 ? 2 + i * 1e-6 : 10 + i });
  await world.writer.keepHistory(true);
  await loadRegistry(world, Date.now() * 1000, [{ name: '2026abc', ra: 150, dec: 2 }]);
  await world.writer.ingest(
    ids.map((id, i) => delivery(id, { position: position(i) })),
    NOW_US,
  );
  for (const id of ids.slice(0, 9)) await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', `${id}`)]);
}

/**
 * Replaces an answer of the service; returns undefined to keep it. @param isFirst whether this request is sent for the
 * first time
 */
export type InTheWay = (count: number, isFirst: boolean) => Answer | undefined;

/** The log positions of nodes in their answers, and the position that a client then sends. */
const SAID = ['aa-5-3', 'aa-4-7', 'aa-12-7', 'bb-1-1'];
export const SENT_BACK = [null, 'aa-5-3', 'aa-5-7', 'aa-12-7', 'bb-1-1', 'bb-1-1'];

/** The answers of nodes at different log positions; the last one is an error. */
export const nodes: InTheWay = count => {
  const logPlace = SAID[count];
  const answer = count === 3 ? errorResponse(expectedErrorOf(new TooExpensive())!) : jsonResponse(200, '{}');
  return logPlace === undefined ? answer : { ...answer, logPlace };
};

/** A stream whose client loses the connection after this many bytes, and soon reconnects. */
function cut(stream: StreamedBody, bytes: number): StreamedBody {
  let left = bytes;
  const begin = (client: StreamClient) =>
    stream.begin({
      ...client,
      write: part => {
        const soon = Buffer.from(
          Buffer.from(part)
            .toString()
            .replace(/^retry: \d+/, 'retry: 10'),
        );
        client.write(soon.subarray(0, left));
        left -= soon.length;
        if (left <= 0) setTimeout(() => client.end(), 5);
      },
    });
  return { begin, written: () => left > 0 && stream.written(), gone: () => stream.gone() };
}

export class Service {
  readonly #running: Running;
  readonly #server: HttpServer;
  #inTheWay: InTheWay = () => undefined;
  #inFlight = 0;
  /** The number of bytes after which each of the next streams is cut. */
  cuts: number[] = [];
  readonly #asked = new Set<string>();
  /** The number of requests received. */
  requests = 0;
  /** The maximum number of concurrent requests. */
  mostInFlight = 0;
  url = '';
  /** The values of X-Log-Position that came with requests. */
  places: (string | null)[] = [];

  private constructor(running: Running) {
    this.#running = running;
    this.#server = new HttpServer({
      answer: request => this.#answer(request),
      host: '127.0.0.1',
      port: 0,
      limits: serverLimits(20_000, 5, 1),
      bodies: API.bodies(configWith()),
    });
  }

  /** @param address the service's own; by default clients must find its jobs at the address that they were given */
  static async start(address = PUBLIC_ADDRESS): Promise<Service> {
    const service = new Service(await startApp(fill, { ...SETTINGS, ...(address && { PUBLIC_BASE_URL: address }) }));
    service.url = `http://127.0.0.1:${await service.#server.listen()}`;
    return service;
  }

  get app() {
    return this.#running.app;
  }

  /** Runs with replaced answers, and resets the counters. */
  async with<T>(inTheWay: InTheWay, work: () => Promise<T>): Promise<T> {
    this.#inTheWay = inTheWay;
    this.requests = 0;
    this.mostInFlight = 0;
    this.#asked.clear();
    this.places = [];
    try {
      return await work();
    } finally {
      this.#inTheWay = () => undefined;
    }
  }

  async close(): Promise<void> {
    await this.#server.close(100);
    await this.#running.close();
  }

  async #answer(request: IncomingRequest): Promise<Answer> {
    this.mostInFlight = Math.max(this.mostInFlight, ++this.#inFlight);
    try {
      this.places.push(request.headers.get('X-Log-Position'));
      const body = request.body && (await bytesOf(request.body));
      const what = `${request.method} ${request.url} ${body && Buffer.from(body).toString()}`;
      const isFirst = !this.#asked.has(what);
      this.#asked.add(what);
      const whole = new PlainRequest(request.method, request.url, lowercased(request), body);
      const answer =
        this.#inTheWay(this.requests++, isFirst) ?? (await this.#running.app.app.answer(whole, '127.0.0.1'));
      const { stream } = answer;
      const bytes = stream && this.cuts.shift();
      return bytes === undefined ? answer : { ...answer, stream: cut(stream!, bytes) };
    } finally {
      this.#inFlight--;
    }
  }
}

const lowercased = ({ headers }: IncomingRequest) =>
  [...{ [Symbol.iterator]: () => headers[Symbol.iterator]() }].map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );

/** Replaces the answer to every second request, once for each. */
export const busyAtTimes: InTheWay = (count, isFirst) => (isFirst && count % 2 === 1 ? busy() : undefined);

/** Replaces the answer to the second request. */
export const busySecond: InTheWay = count => (count === 1 ? busy() : undefined);

/** 503, which asks for an immediate retry. */
export function busy(): Answer {
  const answer = errorResponse(expectedErrorOf(new Unavailable('a test is in the way'))!);
  return { ...answer, headers: { ...answer.headers, 'Retry-After': '0' } };
}

/** A page whose cursor is always the same. */
export const endless = (): Answer =>
  jsonResponse(
    200,
    '{"results": [{"objects": [], "total": 1}], "objects": [], "next_cursor": "abc", "as_of": "2026-01-01T00:00:00+00:00"}',
  );

/** The matches of the stream: object and catalog. */
export const MATCHES = Array.from({ length: 9 }, (_, i) => `${FIRST_ID + BigInt(i)} gaia_dr3`);
/** The changes of the objects in the crowd, as the stream of objects has them. */
export const CROWD_CHANGES = ['stored', 'crossmatched'].flatMap(change =>
  Array.from({ length: 7 }, (_, i) => `${FIRST_ID + BigInt(i)} ${change} ${change === 'stored' ? 0 : 1}`),
);
/** The bytes after which connections break: in the first block, within an event of some 350 bytes, after several. */
export const CUTS = [7, 300, 30, 1000, 1500];

/** A service whose first answers, this many, break off within the body; the others are `{"whole": true}`. */
export async function breaking(broken: number, status = '200 OK') {
  let asked = 0;
  const server = createServer(socket => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      const text = asked++ < broken ? '{"whole": t' : '{"whole": true}';
      socket.end(
        `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: 15\r\nConnection: close\r\n\r\n${text}`,
      );
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked: () => asked, close: () => server.close() };
}

/** The service's result for each input requested alone. */
export async function alone(service: Service): Promise<Json[]> {
  const results: Json[] = [];
  for (const input of INPUTS) results.push((await service.app.lookup([input])).results[0]);
  return results.map((result, index) => {
    const { error } = result;
    const place = (text: string) => text.replaceAll('inputs[0]', `inputs[${index}]`);
    return { ...result, index, ...(error && { error: { message: place(error.message), param: place(error.param) } }) };
  });
}

/**
 * Known and unknown ids, a crowd, empty positions, names, and malformed inputs: more than several requests may have.
 */
export const INPUTS: readonly Record<string, unknown>[] = [
  ...Array.from({ length: 23 }, (_, i) => ({ kind: 'id', diaObjectId: `${FIRST_ID + BigInt(2 * i)}` })),
  ...Array.from({ length: 9 }, (_, i) => ({ kind: 'position', ...CROWD, radius_arcsec: 0.01 + i / 10 })),
  { kind: 'tns', name: 'SN 2026abc', radius_arcsec: 5 },
  { kind: 'position', ra: 150, dec: -80, radius_arcsec: 5 },
  { kind: 'tns', name: '1999zz', radius_arcsec: 5 },
  { kind: 'position', ra: 999, dec: 0, radius_arcsec: 5 },
  { kind: 'id', diaObjectId: '-5' },
  ...Array.from({ length: 12 }, (_, i) => ({ kind: 'id', diaObjectId: `${FIRST_ID + BigInt(i)}` })),
];

/** The received bytes of a body, whose client may have disconnected meanwhile. */
async function bytesOf(body: IncomingBody): Promise<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const chunks: Uint8Array[] = [];
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) chunks.push(part.value);
  } catch {}
  return new Uint8Array(Buffer.concat(chunks));
}
