/** Requests a second from socket to socket, beside a bare node:http server that sends as many bytes, in turns. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { openStore } from '../src/store/store.ts';
import { Writer } from '../src/store/writer.ts';
import { seededRandom } from '../test/oracle/skies.ts';
import { median, type Options, ratio, type Workload } from './report.ts';

const OBJECTS = 200_000;
const BATCH = 10_000;
const CONNECTIONS = 32;
const SECONDS = 3;
const FIRST_ID = 170_000_000_000_000_000n;

interface Target {
  readonly name: string;
  path(random: () => number): string;
}

interface Server {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Starts a program and waits for its `listening on URL`. */
async function start(file: string, args: readonly string[]): Promise<Server> {
  const program = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const line of createInterface(child.stdout!)) {
    const url = /^listening on (\S+)/.exec(line)?.[1];
    if (url) return { url, process: child };
  }
  throw new Error(`${file} ended before it listened`);
}

async function stop({ process: child }: Server): Promise<void> {
  const ended = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** Objects anywhere on the sky, and where they are. */
async function fill(dataDir: string, seed: number): Promise<{ ra: Float64Array; dec: Float64Array }> {
  const random = seededRandom(seed);
  const ra = Float64Array.from({ length: OBJECTS }, () => 360 * random());
  const dec = Float64Array.from({ length: OBJECTS }, () => (Math.asin(2 * random() - 1) * 180) / Math.PI);
  const store = openStore(dataDir, 'write');
  const writer = new Writer(store);
  for (let from = 0; from < OBJECTS; from += BATCH) {
    const deliveries = Array.from({ length: BATCH }, (_, k) => ({
      diaObjectId: FIRST_ID + BigInt(from + k),
      position: { ra: ra[from + k]!, dec: dec[from + k]! },
      reliability: 0.9,
      eventTimeUs: 1_790_000_000_000_000,
      broker: 'lasair' as const,
    }));
    await writer.ingest(deliveries, 1_790_000_000_000_000 + from);
  }
  await store.close();
  return { ra, dec };
}

/** Requests a second over `seconds`, and the mean size of an answer. */
async function load(url: string, path: () => string, seconds: number): Promise<{ perSecond: number; bytes: number }> {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const start = performance.now();
  const end = start + seconds * 1000;
  let requests = 0;
  let bytes = 0;
  const client = async () => {
    while (performance.now() < end) {
      const { statusCode, body } = await pool.request({ path: path(), method: 'GET' });
      bytes += (await body.arrayBuffer()).byteLength;
      if (statusCode !== 200) throw new Error(`status ${statusCode}`);
      requests++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, client));
  const elapsed = (performance.now() - start) / 1000;
  await pool.close();
  return { perSecond: requests / elapsed, bytes: Math.round(bytes / requests) };
}

export const http: Workload = {
  name: 'http',
  summary: `cones and objects over HTTP from ${OBJECTS / 1000},000 objects, beside bare node:http with as many bytes`,
  async run(options: Options, note) {
    const dataDir = mkdtempSync(join(tmpdir(), 'nearsky-bench-'));
    const random = seededRandom(options.seed);
    const rows: string[][] = [];
    const json: Record<string, unknown> = {};
    let service: Server | undefined;
    try {
      note(`storing ${OBJECTS} objects`);
      const { ra, dec } = await fill(dataDir, options.seed);
      const cone = (radius: number) => () => {
        const k = Math.floor(random() * OBJECTS);
        return `/api/cone?ra=${ra[k]}&dec=${dec[k]}&radius_arcsec=${radius}`;
      };
      const targets: Target[] = [
        { name: 'cone 1"', path: cone(1) },
        { name: 'cone 60"', path: cone(60) },
        { name: 'get_object', path: () => `/api/objects/${FIRST_ID + BigInt(Math.floor(random() * OBJECTS))}` },
      ];
      service = await start('../src/main.ts', ['serve', '--data', dataDir, '--port', '0', '--no-crossmatch']);
      for (const target of targets) {
        const path = () => target.path(random);
        const { bytes } = await load(service.url, path, 1);
        const bare = await start('./bare_server.ts', [`${bytes}`]);
        const ours: number[] = [];
        const theirs: number[] = [];
        await load(bare.url, () => '/', 1);
        for (let run = 0; run < options.runs; run++) {
          note(`${target.name}, pass ${run + 1} of ${options.runs}`);
          theirs.push((await load(bare.url, () => '/', SECONDS)).perSecond);
          ours.push((await load(service.url, path, SECONDS)).perSecond);
        }
        await stop(bare);
        const rate = median(ours);
        const bareRate = median(theirs);
        rows.push([`http ${target.name}`, rate.toFixed(0), bareRate.toFixed(0), ratio(rate / bareRate)]);
        json[target.name] = { requests_per_s: rate, bare_requests_per_s: bareRate, ratio: rate / bareRate, bytes };
      }
    } finally {
      if (service) await stop(service);
      rmSync(dataDir, { recursive: true, force: true });
    }
    return { header: ['http, requests a second', 'nearsky', 'bare node:http', 'ratio'], rows, json };
  },
};
