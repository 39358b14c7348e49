/**
 * Alerts per second from a file, until they are durable and found by a search. Compared with one thread that only reads
 * the file and parses each line.
 */

import { once } from 'node:events';
import { createReadStream, createWriteStream, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { normaliserOf } from '../src/capabilities/ingest/brokers.ts';
import { loadConfig } from '../src/core/config/config.ts';
import { BROKER_NAMES, type BrokerName } from '../src/core/contract/brokers.ts';
import type { Delivery } from '../src/core/store/types.ts';
import { anywhere, seededRandom } from '../test/oracle/skies.ts';
import { runToEnd, startService, withDirectory } from './processes.ts';
import { median, type Options, ratio, type Workload } from './report.ts';

const MAX_ALERTS = 100_000;
const FIRST_ID = 170_000_000_000_000_000n;
const POLL_MS = 10;

const sample = fileURLToPath(new URL('../sample/alerts', import.meta.url));

interface Template {
  readonly text: string;
  readonly delivery: Delivery;
}

/** The broker's messages in the sample that are stored, except those much shorter than usual. */
export function templatesOf(broker: BrokerName): Template[] {
  const normalise = normaliserOf(broker, loadConfig().MIN_DIASOURCE_RELIABILITY);
  const lines = readFileSync(join(sample, `${broker}.ndjson`), 'utf8')
    .trimEnd()
    .split('\n');
  const usual = median(lines.map(line => line.length));
  return lines.flatMap(text => {
    const normalised = normalise(text, 0);
    if (normalised.kind !== 'delivery' || text.length < usual / 2) return [];
    const { delivery } = normalised;
    return delivery.position && text.includes(`${delivery.position.ra}`) ? [{ text, delivery }] : [];
  });
}

interface Alerts {
  readonly bytes: number;
  /** The position of the last object. */
  readonly last: { readonly ra: number; readonly dec: number };
}

/** The object that a message is about. */
export interface Alert {
  readonly id: bigint;
  readonly ra: number;
  readonly dec: number;
}

/** Makes this number of objects, each at a different position. */
export function* alertsAnywhere(count: number, seed: number): Generator<Alert> {
  const random = seededRandom(seed);
  for (let i = 0; i < count; i++) yield { id: FIRST_ID + BigInt(i), ...anywhere(random) };
}

/** Writes a message of the broker for each. */
export async function writeAlerts(file: string, broker: BrokerName, alerts: Iterable<Alert>): Promise<Alerts> {
  const templates = templatesOf(broker);
  const out = createWriteStream(file);
  let last = { ra: 0, dec: 0 };
  let written = 0;
  for (const alert of alerts) {
    const { text, delivery } = templates[written++ % templates.length]!;
    const { ra, dec } = delivery.position!;
    last = alert;
    const line = text
      .replaceAll(`${delivery.diaObjectId}`, `${alert.id}`)
      .replaceAll(`${ra}`, `${last.ra}`)
      .replaceAll(`${dec}`, `${last.dec}`);
    if (!out.write(`${line}\n`)) await once(out, 'drain');
  }
  out.end();
  await finished(out);
  return { bytes: statSync(file).size, last };
}

/** The time in which one thread reads the file and parses each line, and does nothing else, seconds. */
async function bareSeconds(file: string): Promise<number> {
  const start = performance.now();
  for await (const line of createInterface({ input: createReadStream(file) }))
    JSON.parse(line.replaceAll('NaN', 'null'));
  return (performance.now() - start) / 1000;
}

async function untilFound(url: string, { ra, dec }: Alerts['last']): Promise<void> {
  for (;;) {
    const { body } = await request(`${url}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=1&detail=ids`);
    if (((await body.json()) as { results: unknown[] }).results.length > 0) return;
    await new Promise(resolve => setTimeout(resolve, POLL_MS));
  }
}

interface Run {
  readonly durableSeconds: number;
  readonly searchableSeconds: number;
  /** The CPU time of all threads of the process that ingests. */
  readonly cpuSeconds: number;
}

/** Ingests the file beside a server, both started for it; the time of the ingest includes its start. */
async function ingest(dataDir: string, broker: BrokerName, file: string, { last }: Alerts): Promise<Run> {
  const { service, url } = await startService(dataDir);
  try {
    const start = performance.now();
    const args = ['ingest', '--broker', broker, '--data', dataDir, file];
    const { cpuSeconds } = await runToEnd('../src/main.ts', args);
    const durableSeconds = (performance.now() - start) / 1000;
    await untilFound(url, last);
    const searchableSeconds = (performance.now() - start) / 1000;
    return { durableSeconds, searchableSeconds, cpuSeconds };
  } finally {
    await service.stop();
  }
}

function measure(broker: BrokerName, count: number, options: Options, note: (text: string) => void) {
  return withDirectory(async directory => {
    const file = join(directory, `${broker}.ndjson`);
    note(`writing ${count} messages of ${broker}`);
    const alerts = await writeAlerts(file, broker, alertsAnywhere(count, options.seed));
    const runs: Run[] = [];
    const bare: number[] = [];
    for (let run = 0; run < options.runs; run++) {
      note(`${broker}, pass ${run + 1} of ${options.runs}`);
      bare.push(await bareSeconds(file));
      const dataDir = join(directory, `data${run}`);
      runs.push(await ingest(dataDir, broker, file, alerts));
      rmSync(dataDir, { recursive: true });
    }
    const of = (key: keyof Run) => median(runs.map(run => run[key]));
    return {
      bytes: Math.round(alerts.bytes / count),
      durable_per_s: count / of('durableSeconds'),
      searchable_per_s: count / of('searchableSeconds'),
      cpu_us: (of('cpuSeconds') * 1e6) / count,
      bare_per_s: count / median(bare),
    };
  });
}

export const ingestFiles: Workload = {
  name: 'ingest',
  summary: `${MAX_ALERTS / 1000},000 alerts (or --points, if fewer) of each broker from a file, beside bare JSON.parse`,
  async run(options: Options, note) {
    const count = Math.min(MAX_ALERTS, options.points);
    const rows: string[][] = [];
    const json: Record<string, unknown> = {};
    for (const broker of BROKER_NAMES) {
      const figures = await measure(broker, count, options, note);
      const share = figures.searchable_per_s / figures.bare_per_s;
      rows.push([
        `ingest ${broker}`,
        `${figures.bytes}`,
        figures.durable_per_s.toFixed(0),
        figures.searchable_per_s.toFixed(0),
        figures.cpu_us.toFixed(1),
        figures.bare_per_s.toFixed(0),
        ratio(share),
      ]);
      json[broker] = { ...figures, ratio: share };
    }
    const header = [
      'alerts a second',
      'bytes each',
      'durable',
      'searchable',
      'CPU µs each',
      'bare JSON.parse',
      'ratio',
    ];
    return { header, rows, json };
  },
};
