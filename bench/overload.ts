/**
 * Three times the load that the service can carry, then ten thousand idle connections. It measures the latency of
 * answers, the kinds of refusals, the memory, and the time to recovery. The load is open: requests arrive whether or
 * not earlier ones are answered.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent } from 'undici';
import { seededRandom } from '../test/oracle/skies.ts';
import { idOf, type Program, startService, storeSky, withDirectory } from './processes.ts';
import type { Options, Workload } from './report.ts';
import { uniformSky } from './sky.ts';

const OBJECTS = 100_000;
/** The number of inputs of a lookup. It is high, so that making the load costs less than carrying it. */
const IDS = 500;
const CAPACITY_CLIENTS = 32;
const CAPACITY_SECONDS = 4;
const FACTOR = 3;
const TICK_MS = 10;
const CROWD = 10_000;
/** The service has recovered when this many answers in a row are as fast as before. */
const CALM = 20;

const MIB = 2 ** 20;

/** The outcomes of requests. */
class Tally {
  readonly #ms: number[] = [];
  readonly statuses: Record<string, number> = {};
  refusedWithoutRetryAfter = 0;

  add(status: number | string, ms: number, retryAfter: unknown): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
    if (status === 200) this.#ms.push(ms);
    if (status === 503 && retryAfter === undefined) this.refusedWithoutRetryAfter++;
  }

  get answered(): number {
    return this.#ms.length;
  }

  /** The times of answers with status 200, milliseconds. */
  quantile(q: number): number {
    const sorted = [...this.#ms].sort((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
  }
}

class Load {
  readonly #agent = new Agent({ connections: 4096, pipelining: 1, bodyTimeout: 30_000, headersTimeout: 30_000 });
  readonly #url: string;
  readonly #random: () => number;

  constructor(url: string, seed: number) {
    this.#url = url;
    this.#random = seededRandom(seed);
  }

  #id(): string {
    return `${idOf(Math.floor(this.#random() * OBJECTS))}`;
  }

  /** A lookup of many ids. */
  lookup(tally: Tally): Promise<void> {
    const inputs = Array.from({ length: IDS }, () => `{"kind": "id", "diaObjectId": ${this.#id()}}`);
    const body = `{"inputs": [${inputs.join(', ')}]}`;
    return this.#send(tally, '/api/lookup', body);
  }

  object(tally: Tally): Promise<void> {
    return this.#send(tally, `/api/objects/${this.#id()}`, null);
  }

  async #send(tally: Tally, path: string, body: string | null): Promise<void> {
    const startMs = performance.now();
    try {
      const answer = await this.#agent.request({
        origin: this.#url,
        path,
        method: body === null ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      await answer.body.dump({ limit: 2 ** 30 });
      tally.add(answer.statusCode, performance.now() - startMs, answer.headers['retry-after']);
    } catch (error) {
      tally.add((error as NodeJS.ErrnoException).code ?? 'error', performance.now() - startMs, undefined);
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** The rate of lookups, per second, for clients that send them without a pause. */
async function capacity(load: Load): Promise<{ perSecond: number; tally: Tally }> {
  const tally = new Tally();
  const startMs = performance.now();
  const endMs = startMs + 1000 * CAPACITY_SECONDS;
  const client = async () => {
    while (performance.now() < endMs) await load.lookup(tally);
  };
  await Promise.all(Array.from({ length: CAPACITY_CLIENTS }, client));
  return { perSecond: tally.answered / ((performance.now() - startMs) / 1000), tally };
}

async function overload(load: Load, service: Program, perSecond: number, seconds: number) {
  const tally = new Tally();
  const open = new Set<Promise<void>>();
  const memory: number[] = [];
  const startMs = performance.now();
  let sent = 0;
  for (let now = startMs; now < startMs + 1000 * seconds; now = performance.now()) {
    for (const due = ((now - startMs) / 1000) * perSecond; sent < due; sent++) {
      const request = load.lookup(tally);
      open.add(request);
      void request.then(() => open.delete(request));
    }
    if (now - startMs >= 500 * memory.length) memory.push(service.ownBytes / MIB);
    await sleep(TICK_MS);
  }
  return { tally, sent, memory, rest: Promise.all(open) };
}

/** The time until answers, requested one at a time, are as fast as `calmMs` again, milliseconds. */
async function recovery(load: Load, calmMs: number): Promise<number> {
  const startMs = performance.now();
  for (let inARow = 0; inARow < CALM; ) {
    const tally = new Tally();
    await load.object(tally);
    inARow = tally.quantile(0) <= calmMs ? inARow + 1 : 0;
    if (performance.now() - startMs > 60_000) return Number.POSITIVE_INFINITY;
    if (inARow === CALM) break;
    await sleep(5);
  }
  return performance.now() - startMs;
}

async function objects(load: Load, count: number): Promise<Tally> {
  const tally = new Tally();
  for (let i = 0; i < count; i++) {
    await load.object(tally);
    await sleep(2);
  }
  return tally;
}

/** Connections that send nothing, or a header letter by letter. */
async function crowd(url: string): Promise<{ readonly sockets: Socket[]; end(): void }> {
  const { port, hostname: host } = new URL(url);
  const sockets: Socket[] = [];
  for (let i = 0; i < CROWD; i += 200) {
    const joined = Array.from({ length: 200 }, () => {
      const socket = connect({ port: Number(port), host });
      socket.on('error', () => {});
      sockets.push(socket);
      return new Promise(resolve => socket.once('connect', resolve).once('close', resolve));
    });
    await Promise.all(joined);
  }
  const dribblers = sockets.filter((_, i) => i % 2 === 0);
  for (const socket of dribblers) socket.write('GET / HTTP/1.1\r\nX: ');
  const dribble = setInterval(() => {
    for (const socket of dribblers) socket.write('x');
  }, 1000);
  const end = () => {
    clearInterval(dribble);
    for (const socket of sockets) socket.destroy();
  };
  return { sockets, end };
}

/** Measures everything about one service, which is then ended. */
async function measure(url: string, service: Program, { seed, seconds }: Options, note: (text: string) => void) {
  const load = new Load(url, seed);
  await capacity(load);
  const calm = await objects(load, 300);
  const { perSecond } = await capacity(load);
  note(`carries ${perSecond.toFixed(0)} lookups of ${IDS} ids a second: ${FACTOR} times as many for ${seconds} s`);
  const { tally, sent, memory, rest } = await overload(load, service, FACTOR * perSecond, seconds);
  const recoveredMs = await recovery(load, Math.max(50, 3 * calm.quantile(0.99)));
  await rest;
  note(`${CROWD} connections`);
  const crowded = await crowd(url);
  const besideCrowd = await objects(load, 1000);
  crowded.end();
  const endMib = service.ownBytes / MIB;
  await load.close();
  const stopMs = performance.now();
  await service.stop();
  const ended = { code: service.process.exitCode, ms: performance.now() - stopMs };
  return { perSecond, tally, sent, memory, recoveredMs, calm, besideCrowd, endMib, ended };
}

type Measured = Awaited<ReturnType<typeof measure>>;

const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
const quantiles = (tally: Tally, ...all: readonly number[]) => all.map(q => ms(tally.quantile(q))).join(', ');

function report(
  { perSecond, tally, sent, memory, recoveredMs, calm, besideCrowd, endMib, ended }: Measured,
  seconds: number,
) {
  const early = Math.max(...memory.slice(0, Math.ceil(memory.length / 3)));
  const peak = Math.max(...memory);
  const refused = tally.statuses[503] ?? 0;
  const others = sent - tally.answered - refused;
  const rows = [
    ['carried without overload, lookups/s', perSecond.toFixed(0)],
    ['sent under overload, lookups/s', (sent / seconds).toFixed(0)],
    ['answered, lookups/s', (tally.answered / seconds).toFixed(0)],
    ['answered: p50, p99, longest', quantiles(tally, 0.5, 0.99, 1)],
    ['refused with 503 and Retry-After', `${refused - tally.refusedWithoutRetryAfter} of ${refused}`],
    ['neither answered nor refused', `${others} ${JSON.stringify(tally.statuses)}`],
    ['memory: first third, peak, end', [early, peak, endMib].map(mib => `${mib.toFixed(0)} MiB`).join(', ')],
    ['itself again after', ms(recoveredMs)],
    ['one object before: p50, p99', quantiles(calm, 0.5, 0.99)],
    [`one object beside ${CROWD} connections`, quantiles(besideCrowd, 0.5, 0.99)],
    ['... answered', `${besideCrowd.answered} of 1000`],
    ['SIGTERM: exit status, after', `${ended.code}, ${ms(ended.ms)}`],
  ];
  const json = {
    carried_per_s: perSecond,
    sent,
    statuses: tally.statuses,
    answered_ms: { p50: tally.quantile(0.5), p99: tally.quantile(0.99), max: tally.quantile(1) },
    refused_without_retry_after: tally.refusedWithoutRetryAfter,
    memory_mib: { first_third: early, peak, end: endMib },
    recovered_ms: recoveredMs,
    object_p99_ms: { before: calm.quantile(0.99), beside_crowd: besideCrowd.quantile(0.99) },
    exit: ended,
  };
  return { header: ['overload', ''], rows, json };
}

export const overloaded: Workload = {
  name: 'overload',
  summary: `${FACTOR} times what it can carry for --seconds, and ${CROWD / 1000},000 idle connections`,
  run: (options, note) =>
    withDirectory(async dataDir => {
      // The log of slow requests is of no interest here.
      process.env.NEARSKY_SLOW_REQUEST_MS ??= '600000';
      note(`storing ${OBJECTS} objects`);
      await storeSky(dataDir, uniformSky({ points: OBJECTS, queries: 1, seed: options.seed }), OBJECTS);
      const { service, url } = await startService(dataDir);
      try {
        return report(await measure(url, service, options, note), options.seconds);
      } finally {
        await service.stop();
      }
    }),
};
