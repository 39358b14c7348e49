/** The same work under Node and under Deno, in turns: the spatial core, the service over HTTP, ingest from a file. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../test/oracle/skies.ts';
import { deno, taskOptions } from '../test/runtime.ts';
import type { Figures } from './core.ts';
import { alertsAnywhere, writeAlerts } from './ingest.ts';
import { load } from './load.ts';
import { idOf, placeOf, type Runtime, runToEnd, startService, storeSky, withDirectory } from './processes.ts';
import { median, type Options, ratio, type Workload } from './report.ts';
import { type Sky, uniformSky } from './sky.ts';

const MAX_POINTS = 200_000;
const MAX_QUERIES = 400_000;
const ALERTS = 20_000;
const REQUESTS = 50_000;
const CONNECTIONS = 32;
const WARM_SECONDS = 1;
const SECONDS = 2;

type Side = 'node' | 'deno';

const SIDES: readonly Side[] = ['node', 'deno'];

/** Deno with the permissions of its tasks, and those of a benchmark's own files. */
function runtimeOf(side: Side, dataDir: string): Runtime {
  if (side === 'node') return { file: process.execPath, args: [] };
  return { file: deno, args: ['run', ...taskOptions('nearsky', dataDir)] };
}

/** The work done in one pass for a second of one core, by kind of work. */
type Pass = Readonly<Record<string, number>>;

async function corePass(side: Side, sky: Sky): Promise<Pass> {
  const { output } = await runToEnd('./runtime_core.ts', [sky.dir], runtimeOf(side, sky.dir));
  const figures: Figures = JSON.parse(output.split('\n')[0]!);
  return { 'core, cones of 1"': figures.cone1_qps!, 'core, nearest within 1"': figures.nearest1_qps! };
}

async function ingestPass(side: Side, file: string): Promise<Pass> {
  return withDirectory(async dataDir => {
    const args = ['ingest', '--broker', 'lasair', '--data', dataDir, file];
    const { cpuSeconds } = await runToEnd('../src/main.ts', args, runtimeOf(side, dataDir));
    return { 'ingest, alerts of Lasair': ALERTS / cpuSeconds };
  });
}

async function httpPass(side: Side, dataDir: string, files: Readonly<Record<string, string>>): Promise<Pass> {
  const { service, url } = await startService(dataDir, runtimeOf(side, dataDir));
  try {
    const pass: Record<string, number> = {};
    for (const [name, file] of Object.entries(files)) {
      await load({ url, file, connections: CONNECTIONS, seconds: WARM_SECONDS });
      const before = service.cpuMs;
      const { requests } = await load({ url, file, connections: CONNECTIONS, seconds: SECONDS });
      pass[`HTTP, ${name}`] = (1000 * requests) / (service.cpuMs - before);
    }
    return pass;
  } finally {
    await service.stop();
  }
}

/** Files of requests: objects by id, and cones around objects. */
function writeRequests(directory: string, sky: Sky, seed: number): Record<string, string> {
  const random = seededRandom(seed);
  const some = () => Math.floor(random() * sky.ra.length);
  const cone = () => {
    const { ra, dec } = placeOf(sky, some());
    return `GET /api/cone?ra=${ra}&dec=${dec}&radius_arcsec=1`;
  };
  const lines = { get_object: () => `GET /api/objects/${idOf(some())}`, 'cones of 1"': cone };
  return Object.fromEntries(
    Object.entries(lines).map(([name, line], i) => {
      const file = join(directory, `requests${i}`);
      writeFileSync(file, `${Array.from({ length: REQUESTS }, line).join('\n')}\n`);
      return [name, file];
    }),
  );
}

async function measure(options: Options, note: (text: string) => void): Promise<Readonly<Record<Side, Pass[]>>> {
  const points = Math.min(MAX_POINTS, options.points);
  const sky = uniformSky({ points, queries: Math.min(MAX_QUERIES, options.queries), seed: options.seed });
  return withDirectory(async directory => {
    const dataDir = join(directory, 'data');
    note(`storing ${points} objects`);
    await storeSky(dataDir, sky, points);
    const requests = writeRequests(directory, sky, options.seed);
    const alerts = join(directory, 'lasair.ndjson');
    await writeAlerts(alerts, 'lasair', alertsAnywhere(ALERTS, options.seed));
    const passes: Record<Side, Pass[]> = { node: [], deno: [] };
    for (let run = 0; run < options.runs; run++) {
      for (const side of SIDES) {
        note(`${side}, pass ${run + 1} of ${options.runs}`);
        passes[side].push({
          ...(await corePass(side, sky)),
          ...(await httpPass(side, dataDir, requests)),
          ...(await ingestPass(side, alerts)),
        });
      }
    }
    return passes;
  });
}

export const runtimes: Workload = {
  name: 'runtimes',
  summary:
    'core, HTTP and ingest under Node and under Deno, a second of CPU each; 200,000 objects (or --points, if fewer)',
  async run(options: Options, note) {
    const { node, deno } = await measure(options, note);
    const rows: string[][] = [];
    const json: Record<string, unknown> = {};
    for (const name of Object.keys(node[0]!)) {
      const [ofNode, ofDeno] = [node, deno].map(passes => median(passes.map(pass => pass[name]!))) as [number, number];
      rows.push([name, ofNode.toFixed(0), ofDeno.toFixed(0), ratio(ofDeno / ofNode)]);
      json[name] = { node: ofNode, deno: ofDeno, ratio: ofDeno / ofNode };
    }
    return { header: ['a second of CPU', 'Node', 'Deno', 'Deno to Node'], rows, json };
  },
};
