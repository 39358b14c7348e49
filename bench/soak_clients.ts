/**
 * The clients of a soak: some send requests at a steady rate and check the answers, others request much and hardly
 * read.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { seededRandom } from '../test/oracle/skies.ts';
import type { Alert } from './ingest.ts';
import { quantile } from './report.ts';

/** The state that clients need: the service's address, whether it should answer now, and what it must hold. */
export interface Target {
  readonly url: string;
  /**
   * False from before the service is ended until it is ready again. In this time, an unreachable service is not a
   * fault.
   */
  readonly isUp: boolean;
  /** Objects from 0 to this number (exclusive) were acknowledged a while ago. */
  readonly known: number;
}

interface KnownSky {
  /** Object `number` (from 0). */
  object(number: number): Alert;
}

interface Asked {
  readonly name: string;
  readonly path: string;
  readonly body?: string;
  /** A string that the answer must contain. */
  readonly has?: string;
}

interface Latencies {
  readonly p50: number;
  readonly p99: number;
}

function latenciesOf(all: readonly number[]): Latencies {
  if (all.length === 0) return { p50: Number.NaN, p99: Number.NaN };
  return { p50: quantile(all, 0.5), p99: quantile(all, 0.99) };
}

const LOOKUP_IDS = 100;
/** Further faults are only counted. */
const MAX_TOLD = 50;
const TIMEOUT_MS = 30_000;

export class AskingClients {
  readonly #sky: KnownSky;
  readonly #target: () => Target;
  readonly #random: () => number;
  readonly #agent = new Agent({ connections: 64, bodyTimeout: TIMEOUT_MS, headersTimeout: TIMEOUT_MS });
  readonly #stopped = new AbortController();
  #latencies = new Map<string, number[]>();
  /** Requests by outcome: `answered`, `refused` (503), `unreachable` (the service was down), `faulty`. */
  readonly counts = { answered: 0, refused: 0, unreachable: 0, faulty: 0 };
  /** The first faults, one line each. */
  readonly faults: string[] = [];

  constructor(sky: KnownSky, target: () => Target, seed: number) {
    this.#sky = sky;
    this.#target = target;
    this.#random = seededRandom(seed);
  }

  /** Runs this number of clients, with this total rate of requests per second, until `stop`. */
  async run(clients: number, perSecond: number): Promise<void> {
    const client = async () => {
      while (!this.#stopped.signal.aborted) {
        await sleep(((2 * clients * 1000) / perSecond) * this.#random());
        await this.#ask();
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    await this.#agent.destroy();
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** The times of the answers since the last call, milliseconds. */
  takeLatencies(): Latencies & { readonly byName: Readonly<Record<string, Latencies>> } {
    const taken = this.#latencies;
    this.#latencies = new Map();
    const byName = Object.fromEntries([...taken].map(([name, all]) => [name, latenciesOf(all)]));
    return { ...latenciesOf([...taken.values()].flat()), byName };
  }

  #next({ known }: Target): Asked {
    const number = Math.floor(this.#random() * known);
    const { id, ra, dec } = this.#sky.object(number);
    const place = `ra=${ra}&dec=${dec}`;
    const one: readonly (() => Asked)[] = [
      () => ({ name: 'object', path: `/api/objects/${id}?detail=full`, has: `${id}` }),
      () => ({ name: 'cone', path: `/api/cone?${place}&radius_arcsec=1&detail=ids`, has: `${id}` }),
      () => ({ name: 'wide cone', path: `/api/cone?${place}&radius_arcsec=60&detail=full`, has: `${id}` }),
      () => ({ name: 'lookup', path: '/api/lookup', body: this.#lookup(known, id), has: `${id}` }),
      () => ({ name: 'recent', path: '/api/recent-crossmatches?page_size=200' }),
      () => ({ name: 'cone as CSV', path: `/api/cone?${place}&radius_arcsec=5&format=csv`, has: `${id}` }),
      () => ({ name: 'SCS', path: `/vo/scs?RA=${ra}&DEC=${dec}&SR=0.01`, has: `${id}` }),
      () => ({ name: 'page', path: `/objects/${id}` }),
      () => ({ name: 'status', path: '/api/status' }),
    ];
    return one[Math.floor(this.#random() * one.length)]!();
  }

  #lookup(known: number, id: bigint): string {
    const others = Array.from(
      { length: LOOKUP_IDS - 1 },
      () => this.#sky.object(Math.floor(this.#random() * known)).id,
    );
    const inputs = [id, ...others].map(one => `{"kind": "id", "diaObjectId": ${one}}`);
    return `{"inputs": [${inputs.join(', ')}]}`;
  }

  async #ask(): Promise<void> {
    const target = this.#target();
    if (target.known === 0 || !target.isUp) return;
    const asked = this.#next(target);
    const startMs = performance.now();
    try {
      const answer = await this.#agent.request({
        origin: target.url,
        path: asked.path,
        method: asked.body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json' },
        body: asked.body ?? null,
      });
      const text = await answer.body.text();
      if (answer.statusCode === 503) this.counts.refused++;
      else if (answer.statusCode !== 200)
        this.#fault(`${asked.name} ${asked.path}: ${answer.statusCode} ${text.slice(0, 200)}`);
      else if (asked.has !== undefined && !text.includes(asked.has))
        this.#fault(`${asked.name} ${asked.path}: ${asked.has} is not in the answer`);
      else {
        this.counts.answered++;
        const all = this.#latencies.get(asked.name) ?? [];
        all.push(performance.now() - startMs);
        this.#latencies.set(asked.name, all);
      }
    } catch (error) {
      if (this.#target().url !== target.url || !this.#target().isUp) this.counts.unreachable++;
      else this.#fault(`${asked.name} ${asked.path}: ${(error as Error).message}`);
    }
  }

  #fault(line: string): void {
    this.counts.faulty++;
    if (this.faults.length < MAX_TOLD) this.faults.push(`${new Date().toISOString()} ${line}`);
  }
}

const PIPELINED = 4;
const REOPEN_MS = 500;
const SIP_MS = 1000;

/**
 * Clients that pipeline requests for large answers. Every second one reads a little now and then, the others nothing.
 * Clients whose connection ended connect again.
 */
export class SlowReaders {
  readonly #target: () => Target;
  readonly #sockets = new Set<Socket>();
  #stopped = false;
  /** The number of connections that were started. */
  begun = 0;

  constructor(target: () => Target) {
    this.#target = target;
  }

  start(readers: number): void {
    for (let reader = 0; reader < readers; reader++) void this.#open(reader);
  }

  stop(): void {
    this.#stopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  async #open(reader: number): Promise<void> {
    while (!this.#stopped) {
      const { url, isUp } = this.#target();
      if (isUp) await this.#read(new URL(url), reader % 2 === 0);
      await sleep(REOPEN_MS);
    }
  }

  async #read({ hostname: host, port }: URL, sips: boolean): Promise<void> {
    const socket = connect({ host, port: Number(port) });
    this.#sockets.add(socket);
    this.begun++;
    socket.on('error', () => {});
    const request = 'GET /api/recent-crossmatches?page_size=10000&detail=full HTTP/1.1\r\nHost: soak\r\n\r\n';
    socket.write(request.repeat(PIPELINED));
    socket.pause();
    socket.on('data', () => socket.pause());
    const sip = sips ? setInterval(() => socket.resume(), SIP_MS) : undefined;
    await new Promise(resolve => socket.once('close', resolve));
    clearInterval(sip);
    this.#sockets.delete(socket);
  }
}
