/**
 * The time from a start to a current index: read from its file, or rebuilt from the database because the file is
 * missing or damaged. Both are measured in this process with its own threads, and for a whole `nearsky serve`.
 */
import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Indexer } from '../src/core/generations/indexer.ts';
import { Pool as ThreadPool } from '../src/core/pool/pool.ts';
import { startService, storeSky, withDirectory } from './processes.ts';
import { median, type Options, type Workload } from './report.ts';
import { type Sky, skiesOf } from './sky.ts';

/** The time until a generation exists, including the start of its threads, milliseconds. */
async function untilCurrent(dataDir: string): Promise<number> {
  const start = performance.now();
  const pool = new ThreadPool({ threads: 2, threadData: { dataDir } });
  const indexer = new Indexer({ dataDir, pool, log: () => {} });
  indexer.start();
  while (!indexer.current) await sleep(1);
  const elapsed = performance.now() - start;
  await indexer.close();
  await pool.close();
  return elapsed;
}

/** Milliseconds from the command to `listening on`. */
async function untilListening(dataDir: string): Promise<number> {
  const start = performance.now();
  const { service } = await startService(dataDir);
  const elapsed = performance.now() - start;
  await service.stop();
  return elapsed;
}

/** Flips one bit in the middle of a file. */
function damage(file: string): void {
  const descriptor = openSync(file, 'r+');
  const middle = fstatSync(descriptor).size >> 1;
  const byte = new Uint8Array(1);
  readSync(descriptor, byte, 0, 1, middle);
  byte[0]! ^= 1;
  writeSync(descriptor, byte, 0, 1, middle);
  closeSync(descriptor);
}

async function measure(sky: Sky, { runs }: Options, note: (text: string) => void) {
  return withDirectory(async dataDir => {
    note(`storing ${sky.ra.length} objects`);
    const empty = join(dataDir, 'empty');
    const full = join(dataDir, 'full');
    await storeSky(empty, sky, 1);
    await storeSky(full, sky, sky.ra.length);
    const file = join(full, 'index', 'generation');
    const times: Record<string, number[]> = {};
    const add = (name: string, ms: number) => (times[name] ??= []).push(ms);
    for (let run = 0; run < runs; run++) {
      note(`pass ${run + 1} of ${runs}`);
      rmSync(file, { force: true });
      add('index_rebuilt_ms', await untilCurrent(full));
      add('index_opened_ms', await untilCurrent(full));
      damage(file);
      add('index_after_damage_ms', await untilCurrent(full));
      add('serve_empty_ms', await untilListening(empty));
      add('serve_ms', await untilListening(full));
      rmSync(file);
      add('serve_rebuilding_ms', await untilListening(full));
    }
    return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
  });
}

export const start: Workload = {
  name: 'start',
  summary: 'from the command to answers: with the stored index, without it, with a damaged one',
  async run(options, note) {
    const rows: string[][] = [];
    const json: Record<string, unknown> = {};
    for (const [name, sky] of Object.entries(skiesOf(options))) {
      const figures = await measure(sky, options, text => note(`${name} sky, ${text}`));
      json[name] = { points: sky.ra.length, ...figures };
      for (const [key, ms] of Object.entries(figures)) rows.push([`${name} ${key}`, `${ms.toFixed(0)} ms`]);
    }
    return { header: ['start', 'median'], rows, json };
  },
};
