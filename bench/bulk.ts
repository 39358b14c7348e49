/** The nearest source within 1" of 100,000 positions: a sorted join on one thread and on a pool of all cores, beside skyref's nearest. */
import { availableParallelism } from 'node:os';
import { Arena, buildArena, nearestJoin, SkyIndex } from '../index/mod.ts';
import { nearestJoinOnPool } from '../src/crossmatch/join.ts';
import { Pool } from '../src/pool/pool.ts';
import { median, ratio, type Workload } from './report.ts';
import { runSkyref, type Sky, skiesOf } from './sky.ts';

const POSITIONS = 100_000;
const RADIUS_ARCSEC = 1;

/** Rows a second; every pass takes other positions while there are some. */
async function measure(sky: Sky, runs: number, note: (text: string) => void) {
  const id = BigInt64Array.from({ length: sky.ra.length }, (_, i) => BigInt(i));
  const buffer = buildArena({ ra: sky.ra, dec: sky.dec, id });
  const index = new SkyIndex([new Arena(buffer)]);
  const pool = new Pool({ threads: availableParallelism() });
  const rows = Math.min(POSITIONS, sky.queryRa.length);
  const rates: Record<string, number[]> = { one_thread: [], pool: [], skyref: [] };
  const passes = Math.max(1, Math.floor(sky.queryRa.length / rows));
  let equal = true;
  for (let run = -1; run < runs; run++) {
    note(run < 0 ? 'warming up' : `pass ${run + 1} of ${runs}`);
    const from = ((run + passes) % passes) * rows;
    const [ra, dec] = [sky.queryRa.slice(from, from + rows), sky.queryDec.slice(from, from + rows)];
    const start = performance.now();
    const alone = nearestJoin(index, ra, dec, RADIUS_ARCSEC);
    const between = performance.now();
    const together = await nearestJoinOnPool(pool, [buffer], ra, dec, RADIUS_ARCSEC);
    const end = performance.now();
    equal &&= alone.matched === together.matched && alone.row.every((row, i) => row === together.row[i]);
    if (run < 0) continue;
    rates.one_thread!.push((1000 * rows) / (between - start));
    rates.pool!.push((1000 * rows) / (end - between));
    const native = runSkyref(sky.dir);
    if (native) rates.skyref!.push(native.nearest1_qps!);
  }
  await pool.close();
  return { rates, equal, threads: pool.threads };
}

export const bulk: Workload = {
  name: 'bulk',
  summary: `nearest within ${RADIUS_ARCSEC}" of ${POSITIONS} positions, on one thread and on the pool`,
  async run(options, note) {
    const rows: string[][] = [];
    const json: Record<string, unknown> = {};
    for (const [name, sky] of Object.entries(skiesOf(options))) {
      const { rates, equal, threads } = await measure(sky, options.runs, text => note(`${name} sky, ${text}`));
      const figures = Object.fromEntries(
        Object.entries(rates).flatMap(([key, all]) => (all.length ? [[key, median(all)]] : [])),
      );
      const { one_thread, pool, skyref } = figures;
      const beside = (rate: number) => (skyref ? [skyref.toFixed(0), ratio(rate / skyref)] : ['', '']);
      rows.push([`${name} bulk, one thread`, one_thread!.toFixed(0), ...beside(one_thread!)]);
      rows.push([`${name} bulk, ${threads} threads`, pool!.toFixed(0), ...beside(pool!)]);
      if (!equal) process.exitCode = 1;
      json[name] = { points: sky.ra.length, ...figures, threads, results_equal: equal };
    }
    return { header: ['bulk nearest, rows a second', 'nearsky', 'skyref, one by one', 'ratio'], rows, json };
  },
};
