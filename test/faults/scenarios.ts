/** The commands into which faults are injected, each over a small run, and the required results. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { csvOf, someRecords, zipOf } from '../capabilities/names/support.ts';
import { writeMessages } from '../e2e/kill_support.ts';
import { get, nearsky, type Running, sample, send, start } from '../e2e/support.ts';
import { fileHoldings, type Holdings, rejectHoldings, storeHoldings, wholeHoldings } from './holdings.ts';

export interface Scenario {
  readonly name: string;
  /** The start directory of a run, below the directory of all scenarios. */
  readonly ready: string;
  /** The command line of a run in this directory. */
  args(directory: string): readonly string[];
  /** Where faults are injected, by default in all of the directory of the run. */
  under?(directory: string): string;
  /** The values that may be lost, and the values that the command makes. */
  holdings(directory: string): Promise<Holdings>;
  /** Runs it to its end; by default a command that ends by itself. */
  run?(args: readonly string[], variables: Record<string, string>): Running;
  /** Throws if it printed that more is stored than there is. */
  acknowledged?(stdout: string, now: Holdings, before: Holdings): void;
  /** A valid value that is neither the old nor the final one. */
  readonly tolerated?: RegExp;
}

const GARBAGE = '{"diaObjectId": "no number"}';
const OBJECTS = 120;
const TRANSIENTS = 3000;
const LAST_OBJECT = 9_100_000_000_000_000_000n + BigInt(OBJECTS);

const data = (directory: string) => join(directory, 'data');
const stored = (directory: string) => storeHoldings(data(directory));
const countObjects = (holdings: Holdings) => [...holdings.keys()].filter(key => key.startsWith('object')).length;

async function storedAndRejected(directory: string): Promise<Holdings> {
  return new Map([...(await stored(directory)), ...rejectHoldings(data(directory))]);
}

function countsAreOnDisk(stdout: string, now: Holdings, before: Holdings): void {
  if (stdout === '') return;
  const { stored } = JSON.parse(stdout);
  assert.ok(countObjects(now) - countObjects(before) >= stored, `${stored} objects are said to be stored`);
}

const ingest = (directory: string) => {
  const files = ['some.ndjson', 'more.ndjson.gz'].map(name => join(directory, name));
  return ['ingest', '--broker', 'lasair', ...files, '--data', data(directory), '--json'];
};
const tnsLoad = (name: string): Scenario => ({
  name: `tns-load-${name.split('.').at(-1)}`,
  ready: 'full',
  args: directory => ['tns', 'load', join(directory, name), '--data', data(directory), '--json'],
  holdings: stored,
});
const exportTo = (name: string): Scenario => ({
  name: name.endsWith('.gz') ? 'export-gz' : 'export',
  ready: 'full',
  args: directory => ['export', join(directory, name), '--data', data(directory), '--json'],
  holdings: async directory => fileHoldings(join(directory, name)),
});

/** Asks for an object when it listens, and stops it. */
function serve(args: readonly string[], variables: Record<string, string>): Running {
  const { child, finished } = start(args, variables);
  let seen = '';
  let wrong = '';
  child.stdout?.on('data', async data => {
    const url = /listening on (http:\/\/\S+)\n/.exec((seen += data))?.[1];
    if (!url) return;
    seen = '';
    try {
      const { results } = await get(`${url}/api/objects/${LAST_OBJECT}`);
      if (results[0].objects.length !== 1) wrong = `\nwrong answer: ${JSON.stringify(results)}`;
    } catch (error) {
      // An answer that it could not look counts, too.
      if (!/gave 50\d/.test(String(error))) wrong = `\nwrong answer: ${error}`;
    }
    send(child, 'SIGTERM');
  });
  return { child, finished: finished.then(ended => ({ ...ended, stderr: ended.stderr + wrong })) };
}

export const SCENARIOS: readonly Scenario[] = [
  { name: 'ingest-new', ready: 'files', args: ingest, holdings: storedAndRejected, acknowledged: countsAreOnDisk },
  { name: 'ingest', ready: 'catalogs', args: ingest, holdings: storedAndRejected, acknowledged: countsAreOnDisk },
  {
    name: 'catalog-add',
    ready: 'ingested',
    args: directory => [
      'catalog',
      'add',
      'delve_dr3_gold',
      join(directory, 'delve_dr3_gold'),
      '--data',
      data(directory),
      '--json',
    ],
    holdings: stored,
  },
  {
    name: 'crossmatch',
    ready: 'ingested',
    args: directory => ['crossmatch', '--batch', '50', '--data', data(directory), '--json'],
    holdings: stored,
  },
  {
    name: 'crossmatch-reading',
    ready: 'ingested',
    args: directory => ['crossmatch', '--batch', '50', '--data', data(directory), '--json'],
    under: directory => join(directory, '../sky'),
    holdings: stored,
    // It reports that it could not look.
    tolerated: /"skipped_read_failure"/,
  },
  tnsLoad('newer.csv'),
  tnsLoad('newer.csv.gz'),
  tnsLoad('newer.csv.zip'),
  exportTo('export.ndjson'),
  exportTo('export.ndjson.gz'),
  {
    name: 'import',
    ready: 'catalogs',
    args: directory => ['import', join(directory, 'full.ndjson.gz'), '--data', data(directory), '--json'],
    holdings: stored,
  },
  {
    name: 'backup',
    ready: 'full',
    args: directory => ['backup', join(directory, 'backups/copy'), '--data', data(directory), '--json'],
    holdings: async directory => wholeHoldings(await storeHoldings(join(directory, 'backups/copy'))),
  },
  {
    name: 'stats',
    ready: 'full',
    args: directory => ['stats', '--data', data(directory), '--json'],
    holdings: stored,
  },
  {
    name: 'serve',
    ready: 'full',
    args: directory => ['serve', '--port', '0', '--data', data(directory)],
    holdings: stored,
    run: serve,
  },
];

/** Makes what the scenarios begin with, each in a directory of its name; the catalogs lie in one, `sky`. */
export async function prepare(directory: string): Promise<void> {
  const at = (...names: string[]) => join(directory, ...names);
  const from = (name: string, former: string) => {
    cpSync(at(former), at(name), { recursive: true });
    return at(name, 'data');
  };
  for (const name of ['gaia_dr3', 'skymapper_dr4']) {
    cpSync(join(sample, 'catalogs', name), at('sky', name), { recursive: true });
  }
  mkdirSync(at('files'));
  await writeMessages(at('all.ndjson'), OBJECTS);
  const lines = readFileSync(at('all.ndjson'), 'utf8').split('\n');
  const half = lines.length / 2;
  writeFileSync(at('files/some.ndjson'), lines.slice(0, half).join('\n'));
  writeFileSync(at('files/more.ndjson.gz'), gzipSync([GARBAGE, ...lines.slice(half)].join('\n')));

  const withCatalogs = from('catalogs', 'files');
  for (const name of ['gaia_dr3', 'skymapper_dr4']) {
    await nearsky('catalog', 'add', name, at('sky', name), '--data', withCatalogs);
  }
  const ingested = from('ingested', 'catalogs');
  await nearsky('ingest', '--broker', 'lasair', at('all.ndjson'), '--data', ingested);
  cpSync(join(sample, 'catalogs/delve_dr3_gold'), at('ingested/delve_dr3_gold'), { recursive: true });

  const full = from('full', 'ingested');
  await nearsky('crossmatch', '--data', full);
  writeFileSync(at('former.csv'), csvOf('2026-01-01 00:00:00', someRecords(20)));
  await nearsky('tns', 'load', at('former.csv'), '--data', full);
  const newer = csvOf(
    '2026-02-10 00:00:00',
    someRecords(TRANSIENTS).map(record => ({ ...record, ra: record.ra / 2 })),
  );
  writeFileSync(at('full/newer.csv'), newer);
  writeFileSync(at('full/newer.csv.gz'), gzipSync(newer));
  writeFileSync(at('full/newer.csv.zip'), zipOf([{ name: 'newer.csv', content: newer }]));
  writeFileSync(at('full/export.ndjson'), 'of yesterday\n');
  await nearsky('export', at('catalogs/full.ndjson.gz'), '--data', full);
}
