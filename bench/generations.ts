/**
 * Measures ingest while serving, from outside: a process commits while `nearsky serve` answers cones over the same data
 * directory. How long does it take until a commit is found, and how much slower are other answers meanwhile?
 */
import { Pool } from 'undici';
import { seededRandom } from '../test/oracle/skies.ts';
import { idOf, Program, placeOf, startService, storeSky, withDirectory } from './processes.ts';
import { median, type Options, quantile, ratio, type Workload } from './report.ts';
import { type Sky, skiesOf } from './sky.ts';

/** The part of the sky that is stored before the measurement. */
const BASE_SHARE = 0.2;
const CONNECTIONS = 16;
const LOAD_SECONDS = 5;
/** A commit that is not found within this time never will be. */
const FOUND_WITHIN_MS = 60_000;

interface Feed {
  readonly name: string;
  readonly perSecond: number;
  readonly batch: number;
  readonly seconds: number;
}

const FEEDS: readonly Feed[] = [
  { name: '1,000/s', perSecond: 1000, batch: 50, seconds: 12 },
  { name: '100,000/s', perSecond: 100_000, batch: 5000, seconds: 10 },
];

/**
 * The rate of objects that became durable, per second, and the time after which a cone found the newest object of a
 * commit, milliseconds.
 */
interface Followed {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const now = () => performance.timeOrigin + performance.now();

/** The rate of answers, per second, to clients that request random cones of 10" without pause. */
async function coneRate(client: Pool, sky: Sky, base: number, seed: number): Promise<number> {
  const random = seededRandom(seed);
  const end = performance.now() + LOAD_SECONDS * 1000;
  let answers = 0;
  const ask = async () => {
    while (performance.now() < end) {
      const point = Math.floor(random() * base);
      const path = `/api/cone?ra=${sky.ra[point]}&dec=${sky.dec[point]}&radius_arcsec=10`;
      const { statusCode, body } = await client.request({ path, method: 'GET' });
      await body.dump();
      if (statusCode !== 200) throw new Error(`a cone was answered ${statusCode}`);
      answers++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, ask));
  return answers / LOAD_SECONDS;
}

/** Requests the cone around a point until it contains the object. Returns the time. */
async function foundAt(client: Pool, sky: Sky, point: number): Promise<number> {
  const { ra, dec } = placeOf(sky, point);
  const path = `/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=0.01&detail=ids`;
  for (const start = now(); now() - start < FOUND_WITHIN_MS; ) {
    const { body } = await client.request({ path, method: 'GET' });
    if ((await body.text()).includes(`"${idOf(point)}"`)) return now();
  }
  throw new Error(`object ${idOf(point)} was stored and not found within ${FOUND_WITHIN_MS} ms`);
}

function startWriter(dataDir: string, sky: Sky, from: number, { perSecond, batch, seconds }: Feed): Program {
  const to = from + perSecond * seconds;
  return new Program('./writer.ts', [dataDir, sky.dir, ...[from, to, batch, perSecond].map(String)]);
}

/** Follows a writer to its end; it looks for a commit when the previous one has been found. */
async function follow(client: Pool, sky: Sky, writer: Program): Promise<Followed> {
  const delays: number[] = [];
  const commits: { readonly end: number; readonly atMs: number }[] = [];
  let looking: Promise<void> | undefined;
  for await (const line of writer.lines) {
    const [end, atMs] = line.split(' ').map(Number) as [number, number];
    commits.push({ end, atMs });
    looking ??= foundAt(client, sky, end - 1).then(found => {
      delays.push(Math.max(0, found - atMs));
      looking = undefined;
    });
  }
  await looking;
  const [first, last] = [commits[0], commits.at(-1)];
  if (!first || !last) throw new Error('the writer ended before it stored anything');
  const perSecond = (1000 * (last.end - first.end)) / (last.atMs - first.atMs);
  return { perSecond, p50Ms: quantile(delays, 0.5), p99Ms: quantile(delays, 0.99) };
}

async function measure(sky: Sky, { runs, seed }: Options, note: (text: string) => void) {
  return withDirectory(async dataDir => {
    const base = Math.ceil(BASE_SHARE * sky.ra.length);
    note(`storing ${base} objects`);
    await storeSky(dataDir, sky, base);
    const { service, url } = await startService(dataDir);
    const client = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
    const figures: Record<string, Record<string, number>> = {};
    let from = base;
    try {
      await coneRate(client, sky, base, seed);
      for (const feed of FEEDS) {
        note(`${feed.name}: when commits are found`);
        const followed = await follow(client, sky, startWriter(dataDir, sky, from, feed));
        from += feed.perSecond * feed.seconds;
        const [idle, busy]: [number[], number[]] = [[], []];
        for (let run = 0; run < runs; run++) {
          note(`${feed.name}: cones meanwhile, pass ${run + 1} of ${runs}`);
          idle.push(await coneRate(client, sky, base, seed + run));
          const writer = startWriter(dataDir, sky, from, { ...feed, seconds: LOAD_SECONDS });
          await writer.lines.next();
          busy.push(await coneRate(client, sky, base, seed + run));
          await writer.stop();
          from += feed.perSecond * LOAD_SECONDS;
        }
        figures[feed.name] = {
          objects_per_s: followed.perSecond,
          found_p50_ms: followed.p50Ms,
          found_p99_ms: followed.p99Ms,
          cones_per_s_idle: median(idle),
          cones_per_s_meanwhile: median(busy),
          ratio: median(busy.map((rate, run) => rate / idle[run]!)),
        };
      }
    } finally {
      await client.close();
      await service.stop();
    }
    return figures;
  });
}

export const generations: Workload = {
  name: 'generations',
  summary: 'ingest while serving: when a commit is found, and how fast cones are answered meanwhile',
  async run(options, note) {
    const rows: string[][] = [];
    const json: Record<string, unknown> = {};
    for (const [name, sky] of Object.entries(skiesOf(options))) {
      const figures = await measure(sky, options, text => note(`${name} sky, ${text}`));
      json[name] = figures;
      for (const [feed, f] of Object.entries(figures))
        rows.push([
          `${name} generations ${feed}`,
          f.objects_per_s!.toFixed(0),
          `${f.found_p50_ms!.toFixed(0)} ms`,
          `${f.found_p99_ms!.toFixed(0)} ms`,
          ratio(f.ratio!),
        ]);
    }
    return { header: ['ingest while serving', 'stored/s', 'found p50', 'found p99', 'cones to idle'], rows, json };
  },
};
