/**
 * The memory of the index, in bytes per point and by purpose. Then the resident memory of `nearsky serve`, without pages
 * of files: before, during and after an ingest with many merges, compared with a fresh service over the same objects.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Arena, buildArena } from '@nearsky/sky-index';
import { Program, startService, storeSky, withDirectory } from './processes.ts';
import { type Options, ratio, type Workload } from './report.ts';
import { type Sky, skiesOf } from './sky.ts';

const SAMPLE_MS = 100;
/** How long the service is left alone before its memory is read. */
const SETTLE_MS = 5000;
const BATCH = 2000;

const MIB = 2 ** 20;

function bytesAPoint({ ra, dec }: Sky): { searched: number; all: number } {
  const id = BigInt64Array.from({ length: ra.length }, (_, i) => BigInt(i));
  const time = new Float64Array(ra.length);
  const buffer = buildArena({ ra, dec, id, time });
  return { searched: new Arena(buffer).indexBytes / ra.length, all: buffer.byteLength / ra.length };
}

async function settled(dataDir: string): Promise<number> {
  const { service } = await startService(dataDir);
  await sleep(SETTLE_MS);
  const { ownBytes } = service;
  await service.stop();
  return ownBytes;
}

/** MiB. Half of the sky is stored and a service is started. Then the other half is stored as fast as possible. */
async function measure(sky: Sky, note: (text: string) => void): Promise<Record<string, number>> {
  return withDirectory(async dataDir => {
    const total = sky.ra.length;
    const half = total >> 1;
    await storeSky(dataDir, sky, 1);
    const empty = await settled(dataDir);
    note(`storing ${half} objects, then as many beside a service`);
    const writer = new Program('./writer.ts', [dataDir, sky.dir, '1', `${half}`, '10000', '1e9']);
    for await (const _ of writer.lines);
    const before = await settled(dataDir);
    const { service } = await startService(dataDir);
    const second = new Program('./writer.ts', [dataDir, sky.dir, `${half}`, `${total}`, `${BATCH}`, '1e9']);
    let peak = 0;
    let writing = true;
    const sampling = (async () => {
      for (; writing; await sleep(SAMPLE_MS)) peak = Math.max(peak, service.ownBytes);
    })();
    for await (const _ of second.lines);
    await sleep(SETTLE_MS);
    writing = false;
    await sampling;
    const after = service.ownBytes;
    await service.stop();
    const fresh = await settled(dataDir);
    const mib = { empty, before, peak, after, fresh };
    return Object.fromEntries(Object.entries(mib).map(([name, bytes]) => [`${name}_mib`, Math.round(bytes / MIB)]));
  });
}

export const memory: Workload = {
  name: 'memory',
  summary: 'bytes a point of the index, and the memory of a service before, during and after an ingest',
  async run(options: Options, note) {
    const rows: string[][] = [];
    const json: Record<string, unknown> = {};
    for (const [name, sky] of Object.entries(skiesOf(options))) {
      const { searched, all } = bytesAPoint(sky);
      const rss = await measure(sky, text => note(`${name} sky, ${text}`));
      json[name] = { points: sky.ra.length, bytes_per_point_searched: searched, bytes_per_point: all, ...rss };
      rows.push([`${name} bytes a point, coordinates and times apart`, searched.toFixed(1), '']);
      rows.push([`${name} bytes a point, all`, all.toFixed(1), '']);
      for (const [key, value] of Object.entries(rss))
        rows.push([`${name} ${key}`, `${value}`, key === 'after_mib' ? ratio(value / rss.fresh_mib!) : '']);
    }
    return { header: ['memory', '', 'to a fresh start'], rows, json };
  },
};
