/**
 * The needs of a service for a million objects: disk, memory and the time to start. The objects are crossmatched, with one source each on average
 * (as in `transfer`), and stored in commits of 10,000.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStore } from '../src/core/store/store.ts';
import { fill } from './filled_store.ts';
import { startService, withDirectory } from './processes.ts';
import type { Options, Workload } from './report.ts';

const MOST_OBJECTS = 1_000_000;
/** How long the service is left alone before its memory is read. */
const SETTLE_MS = 3000;

function bytesIn(directory: string, isCounted: (name: string) => boolean): number {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(isCounted);
  return names.map(name => statSync(join(directory, name))).reduce((sum, { size }) => sum + size, 0);
}

/** A start: the time until it listens, the CPU time until then, and its own memory a while after. */
async function started(dataDir: string) {
  const startMs = performance.now();
  const { service } = await startService(dataDir);
  const [ms, cpuMs] = [performance.now() - startMs, service.cpuMs];
  await sleep(SETTLE_MS);
  const { ownBytes } = service;
  await service.stop();
  return { ms, cpuMs, ownBytes };
}

async function run({ points, seed }: Options, note: (text: string) => void) {
  const objects = Math.min(points, MOST_OBJECTS);
  return await withDirectory(async directory => {
    const [empty, full] = [join(directory, 'empty'), join(directory, 'full')];
    await openStore(empty, 'write').close();
    note(`storing ${objects} objects`);
    const store = openStore(full, 'write');
    await fill(store, seed, objects);
    await store.close();
    const none = await started(empty);
    const building = await started(full);
    const opening = await started(full);
    const mbPerMillion = 1 / objects;
    const json = {
      objects,
      database_mb_per_million: bytesIn(full, name => name === 'nearsky.mdb') * mbPerMillion,
      index_file_mb_per_million: bytesIn(full, name => name.startsWith('index')) * mbPerMillion,
      memory_mb_per_million: (opening.ownBytes - none.ownBytes) * mbPerMillion,
      empty_memory_mb: none.ownBytes / 1e6,
      empty_start_ms: none.ms,
      empty_start_cpu_ms: none.cpuMs,
      start_ms: opening.ms,
      start_cpu_ms: opening.cpuMs,
      start_building_ms: building.ms,
      start_building_cpu_ms: building.cpuMs,
    };
    const rows = Object.entries(json).map(([name, value]) => [name, value.toFixed(0)]);
    return { header: ['sizing', ''], rows, json };
  });
}

export const sizing: Workload = {
  name: 'sizing',
  summary: 'what a million crossmatched objects take: disk, memory, time to start',
  run,
};
