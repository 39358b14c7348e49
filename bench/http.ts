/**
 * Measures the load that the service can carry, from socket to socket, in turns with a bare node:http server that sends
 * the same number of bytes.
 */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { countPending } from '../src/core/store/object_tables.ts';
import { openStore } from '../src/core/store/store.ts';
import { seededRandom } from '../test/oracle/skies.ts';
import { hatsSky } from './hats_sky.ts';
import { type Alert, writeAlerts } from './ingest.ts';
import { type Loaded, load, loadedBy } from './load.ts';
import { makeNight, type Night } from './night.ts';
import { type Program, runToEnd, startListening, startService, withDirectory } from './processes.ts';
import { median, type Options, ratio, type Workload } from './report.ts';

const OBJECTS = 1_000_000;
const CONNECTIONS = 64;
/**
 * The numbers of connections. One connection is like a script that sends one request after another, which is what most
 * people run.
 */
const FEWER_CONNECTIONS = [1, 8];
const BULK_CONNECTIONS = 4;
/** The warm-up time until the hot path is compiled. */
const WARM_SECONDS = 6;
const SECONDS = 3;
/**
 * The number of distinct requests: as many as are sent in some seconds. For bulk requests, a few hundred already name
 * all objects.
 */
const REQUESTS = 200_000;
const BULK_REQUESTS = 400;
const BULK_IDS = 1000;
const BULK_POSITIONS = 200;
const PAGE_OBJECTS = 10_000;
/** The messages that are ingested while small cones are answered, and the catalog with which they are crossmatched. */
const COMING_IN = { objects: 100_000, sources: 5_000_000, seed: 1 };

interface Target {
  readonly name: string;
  readonly requests: number;
  readonly connections: number;
  /** The number of items per request, for rates of items; 1 for rates of requests. */
  readonly asked: number;
  readonly unit: string;
  request(random: () => number): string;
}

function targetsOf({ places, idOf }: Night): Target[] {
  const some = (random: () => number) => Math.floor(random() * places.length);
  const ids = (detail: string) => (random: () => number) => {
    const inputs = Array.from({ length: BULK_IDS }, () => ({ kind: 'id', diaObjectId: `${idOf(some(random))}` }));
    return `POST /api/lookup ${JSON.stringify({ inputs, detail })}`;
  };
  const cone = (radius: number) => (random: () => number) => {
    const { ra, dec } = places[some(random)]!;
    return `GET /api/cone?ra=${ra}&dec=${dec}&radius_arcsec=${radius}`;
  };
  const positions = (random: () => number) => {
    const inputs = Array.from({ length: BULK_POSITIONS }, () => ({ kind: 'position', ...places[some(random)]! }));
    return `POST /api/lookup ${JSON.stringify({ inputs, radius_arcsec: 1, detail: 'ids' })}`;
  };
  const single = { requests: REQUESTS, connections: CONNECTIONS, asked: 1, unit: 'requests' };
  const object = (random: () => number) => `GET /api/objects/${idOf(some(random))}`;
  const bulk = { requests: BULK_REQUESTS, connections: BULK_CONNECTIONS, asked: BULK_IDS, unit: 'ids' };
  return [
    { name: 'cone 1"', ...single, request: cone(1) },
    { name: 'cone 10"', ...single, request: cone(10) },
    { name: 'cone 60"', ...single, request: cone(60) },
    { name: 'get_object', ...single, request: object },
    ...FEWER_CONNECTIONS.flatMap(connections => [
      { name: `cone 1", connections: ${connections}`, ...single, connections, request: cone(1) },
      { name: `get_object, connections: ${connections}`, ...single, connections, request: object },
    ]),
    { name: 'ids at ids', ...bulk, request: ids('ids') },
    { name: 'ids at full', ...bulk, request: ids('full') },
    { name: 'positions at ids', ...bulk, asked: BULK_POSITIONS, unit: 'positions', request: positions },
  ];
}

/** Pages of the recent crossmatches at `full`, each with a different end. */
function pages({ lastIngestUs }: Night): string[] {
  return Array.from({ length: 50 }, (_, i) => {
    const end = new Date(lastIngestUs / 1000 - 20 * i).toISOString();
    return `GET /api/recent-crossmatches?end=${end}&page_size=${PAGE_OBJECTS}&detail=full`;
  });
}

/** One side of a comparison, over several passes. */
class Side {
  readonly #program: Program;
  readonly #url: string;
  readonly #perSecond: number[] = [];
  readonly #cpuUs: number[] = [];

  constructor(program: Program, url: string) {
    this.#program = program;
    this.#url = url;
  }

  load(file: string, connections: number, seconds: number): Promise<Loaded> {
    return load({ url: this.#url, file, connections, seconds });
  }

  async pass(file: string, connections: number): Promise<void> {
    const before = this.#program.cpuMs;
    const { requests, seconds } = await this.load(file, connections, SECONDS);
    this.#perSecond.push(requests / seconds);
    this.#cpuUs.push((1000 * (this.#program.cpuMs - before)) / requests);
  }

  get perSecond(): number {
    return median(this.#perSecond);
  }

  get cpuUs(): number {
    return median(this.#cpuUs);
  }
}

interface Measured {
  readonly row: string[];
  readonly json: Readonly<Record<string, number>>;
}

/** Runs both sides in turns; measures the latency of ours at half of its maximum load. */
async function measure(
  target: Target,
  file: string,
  { service, url, runs }: { readonly service: Program; readonly url: string; readonly runs: number },
): Promise<Measured> {
  const { name, connections, asked, unit } = target;
  const ours = new Side(service, url);
  const { bytes, requests } = await ours.load(file, connections, WARM_SECONDS);
  const { program: bare, url: bareUrl } = await startListening('./bare_server.ts', [`${Math.round(bytes / requests)}`]);
  const theirs = new Side(bare, bareUrl);
  await theirs.load(file, connections, 1);
  for (let run = 0; run < runs; run++) {
    await theirs.pass(file, connections);
    await ours.pass(file, connections);
  }
  await bare.stop();
  const paced = asked === 1 ? CONNECTIONS : connections;
  const delayMs = (1000 * paced) / (ours.perSecond / 2);
  const half = await load({ url, file, connections: paced, seconds: SECONDS, delayMs });
  const shares = { ratio: ours.perSecond / theirs.perSecond, cpu_ratio: ours.cpuUs / theirs.cpuUs };
  const per = asked === 1 ? '' : ` (${(asked * ours.perSecond).toFixed(0)} ${unit}/s)`;
  return {
    row: [
      `http ${name}`,
      `${ours.perSecond.toFixed(0)}${per}`,
      theirs.perSecond.toFixed(0),
      ours.cpuUs.toFixed(1),
      theirs.cpuUs.toFixed(1),
      shares.cpu_ratio.toFixed(2),
      half.p50_ms.toFixed(2),
      half.p99_ms.toFixed(2),
      ratio(shares.ratio),
    ],
    json: {
      requests_per_s: ours.perSecond,
      [`${unit}_per_s`]: asked * ours.perSecond,
      bare_requests_per_s: theirs.perSecond,
      cpu_us: ours.cpuUs,
      bare_cpu_us: theirs.cpuUs,
      bytes: Math.round(bytes / requests),
      half_load_per_s: half.requests / half.seconds,
      half_load_p50_ms: half.p50_ms,
      half_load_p99_ms: half.p99_ms,
      ...shares,
    },
  };
}

/** Runs `body` with a service that has this many threads. */
async function withThreads<T>(
  dataDir: string,
  threads: number,
  body: (side: Side, url: string) => Promise<T>,
): Promise<T> {
  const { service, url } = await startService(dataDir, undefined, ['--no-crossmatch', '--workers', `${threads}`]);
  try {
    return await body(new Side(service, url), url);
  } finally {
    await service.stop();
  }
}

/**
 * The CPU time per request with one thread and with two. Rates cannot be compared, because the load generator shares
 * the cores.
 */
async function threadsCompared(dataDir: string, cones: string, runs: number): Promise<Measured> {
  const measured = (threads: number) =>
    withThreads(dataDir, threads, async side => {
      await side.load(cones, CONNECTIONS, WARM_SECONDS);
      for (let run = 0; run < runs; run++) await side.pass(cones, CONNECTIONS);
      return { perSecond: side.perSecond, cpuUs: side.cpuUs };
    });
  const one = await measured(1);
  const two = await measured(2);
  // Two threads can carry twice the load if a request takes no more CPU time with them.
  const scaling = (2 * one.cpuUs) / two.cpuUs;
  const cells = [two.perSecond.toFixed(0), '', two.cpuUs.toFixed(1), one.cpuUs.toFixed(1), '', '', ''];
  return {
    row: ['http cone 1", two threads against one by CPU', ...cells, ratio(scaling)],
    json: { one_thread_cpu_us: one.cpuUs, two_threads_cpu_us: two.cpuUs, scaling },
  };
}

/**
 * Small cones at half of the load that one thread can carry, while one client requests the largest pages from that
 * thread without a pause.
 */
function mixed(dataDir: string, cones: string, dear: string): Promise<Measured> {
  return withThreads(dataDir, 1, async (side, url) => {
    await side.load(cones, CONNECTIONS, WARM_SECONDS);
    await side.pass(cones, CONNECTIONS);
    const delayMs = (1000 * CONNECTIONS) / (side.perSecond / 2);
    const [page, cone] = await Promise.all([
      load({ url, file: dear, connections: 1, seconds: 3 * SECONDS + 2 }),
      load({ url, file: cones, connections: CONNECTIONS, delayMs, seconds: 3 * SECONDS }),
    ]);
    const perSecond = cone.requests / cone.seconds;
    const json = {
      requests_per_s: perSecond,
      p50_ms: cone.p50_ms,
      p99_ms: cone.p99_ms,
      max_ms: cone.max_ms,
      pages: page.requests,
      page_p50_ms: page.p50_ms,
      page_bytes: page.bytes / page.requests,
    };
    const name = `http cones 1" on one thread beside ${PAGE_OBJECTS}-object pages (${page.p50_ms.toFixed(0)} ms each)`;
    return {
      row: [name, perSecond.toFixed(0), '', '', '', '', cone.p50_ms.toFixed(2), cone.p99_ms.toFixed(2), ''],
      json,
    };
  });
}

/** Small cones at half of the maximum load, from before alerts arrive until they are crossmatched. */
function besideIngest(dataDir: string, cones: string, note: (text: string) => void): Promise<Measured> {
  return withDirectory(async directory => {
    const sky = await hatsSky(COMING_IN, note);
    const data = join(directory, 'data');
    cpSync(dataDir, data, { recursive: true });
    await runToEnd('../src/main.ts', ['catalog', 'add', 'gaia_dr3', sky.catalog, '--data', data]);
    const file = join(directory, 'alerts.ndjson');
    await writeAlerts(file, 'lasair', alertsOf(sky.data));
    const { service, url } = await startService(data, undefined, []);
    const store = openStore(data, 'read');
    const pending = () => countPending(store.databases);
    try {
      const side = new Side(service, url);
      while (pending() > 0) await side.load(cones, CONNECTIONS, WARM_SECONDS);
      await side.pass(cones, CONNECTIONS);
      const delayMs = (1000 * CONNECTIONS) / (side.perSecond / 2);
      const begun = performance.now();
      let isIngested = false;
      const ingested = runToEnd('../src/main.ts', ['ingest', '--broker', 'lasair', '--data', data, file]).then(() => {
        isIngested = true;
      });
      const parts: Loaded[] = [];
      while (!isIngested || pending() > 0)
        parts.push(await load({ url, file: cones, connections: CONNECTIONS, delayMs, seconds: SECONDS }));
      await ingested;
      const seconds = (performance.now() - begun) / 1000;
      const perSecond = median(parts.map(part => part.requests / part.seconds));
      const p50 = median(parts.map(part => part.p50_ms));
      const p99 = Math.max(...parts.map(part => part.p99_ms));
      const name = `http cones 1" while ${COMING_IN.objects} objects are ingested and crossmatched in ${seconds.toFixed(0)} s (p99 of the worst ${SECONDS} s)`;
      return {
        row: [name, perSecond.toFixed(0), '', '', '', '', p50.toFixed(2), p99.toFixed(2), ''],
        json: {
          requests_per_s: perSecond,
          p50_ms: p50,
          worst_p99_ms: p99,
          median_p99_ms: median(parts.map(part => part.p99_ms)),
          seconds,
        },
      };
    } finally {
      await store.close();
      await service.stop();
    }
  });
}

/** The objects of a data directory, as alerts. */
function* alertsOf(dataDir: string): Generator<Alert> {
  const store = openStore(dataDir, 'read');
  for (const { diaObjectId, position } of store.objects()) yield { id: diaObjectId, ...position! };
  void store.close();
}

const HEADER = [
  `http, requests a second (${loadedBy})`,
  'nearsky',
  'bare node:http',
  'CPU us',
  'bare',
  'CPU ratio',
  'p50 ms at half',
  'p99 ms',
  'ratio',
];

export const http: Workload = {
  name: 'http',
  summary: `cones, objects and bulk lookups over HTTP from ${OBJECTS / 1e6}M objects, beside bare node:http with as many bytes`,
  run: ({ seed, runs }: Options, note) =>
    withDirectory(async directory => {
      const night = await makeNight(OBJECTS, seed, note);
      const write = (name: string, requests: readonly string[]) => {
        const file = join(directory, name.replace(/\W/g, '_'));
        writeFileSync(file, `${requests.join('\n')}\n`);
        return file;
      };
      const rows: string[][] = [];
      const json: Record<string, unknown> = { by: loadedBy };
      const { service, url } = await startService(night.dataDir);
      try {
        for (const target of targetsOf(night)) {
          note(target.name);
          const random = seededRandom(seed);
          const file = write(
            target.name,
            Array.from({ length: target.requests }, () => target.request(random)),
          );
          const measured = await measure(target, file, { service, url, runs });
          note(measured.row.join('  '));
          rows.push(measured.row);
          json[target.name] = measured.json;
        }
      } finally {
        await service.stop();
      }
      const cones = join(directory, 'cone_1_');
      note('two threads against one');
      const compared = await threadsCompared(night.dataDir, cones, runs);
      note('cones beside pages');
      const both = await mixed(night.dataDir, cones, write('pages', pages(night)));
      note('cones beside ingest');
      const beside = await besideIngest(night.dataDir, cones, note);
      rows.push(compared.row, both.row, beside.row);
      json['two threads'] = compared.json;
      json['cones beside pages'] = both.json;
      json['cones beside ingest'] = beside.json;
      return { header: HEADER, rows, json };
    }),
};
