/** Compares the spatial core on one thread with skyref, over the same sky in the same run, in turns. */
import { Arena, buildArena, ConeHits, nearestJoin, SkyIndex } from '@nearsky/sky-index';
import { median, type Options, ratio, type Workload } from './report.ts';
import { runSkyref, type Sky, type Skyref, skiesOf } from './sky.ts';

const RADII = [60, 10, 1] as const;
const JOIN_POSITIONS = 100_000;

export type Figures = Record<string, number>;

/**
 * One pass: builds an index, runs each kind of search with a quarter of the queries, none of them twice, and then runs
 * a join. The keys are skyref's.
 */
export function measureCore(sky: Sky): Figures {
  const { ra, dec, queryRa, queryDec } = sky;
  const id = BigInt64Array.from({ length: ra.length }, (_, i) => BigInt(i));
  let start = performance.now();
  const arena = new Arena(buildArena({ ra, dec, id }));
  const build = (performance.now() - start) / 1000;
  const index = new SkyIndex([arena]);
  const hits = new ConeHits();
  const each = Math.floor(queryRa.length / 4);
  const figures: Figures = { points: ra.length, queries_each: each, build_s: build };
  const perSecond = (count: number) => count / ((performance.now() - start) / 1000);
  RADII.forEach((radius, kind) => {
    let total = 0;
    start = performance.now();
    for (let i = kind * each; i < (kind + 1) * each; i++)
      total += index.coneSearch(queryRa[i]!, queryDec[i]!, radius, hits);
    figures[`cone${radius}_qps`] = perSecond(each);
    figures[`cone${radius}_hits`] = total;
  });
  let found = 0;
  let idSum = 0n;
  start = performance.now();
  for (let i = 3 * each; i < 4 * each; i++) {
    const nearest = index.nearest(queryRa[i]!, queryDec[i]!, 1);
    if (!nearest) continue;
    found++;
    idSum += nearest.id;
  }
  figures.nearest1_qps = perSecond(each);
  figures.nearest1_hits = found;
  figures.nearest1_id_sum = Number(idSum);
  const rows = Math.min(JOIN_POSITIONS, queryRa.length);
  start = performance.now();
  nearestJoin(index, queryRa.subarray(0, rows), queryDec.subarray(0, rows), 1);
  figures.bulk_rows_per_s = perSecond(rows);
  figures.index_bytes_per_point = ra.length ? arena.indexBytes / ra.length : 0;
  return figures;
}

/** The medians of several passes of both programs, and whether all totals are equal. */
function compare(
  sky: Sky,
  runs: number,
  note: (text: string) => void,
): { ours: Figures; native: Skyref; equal: boolean } {
  const passes: Figures[] = [];
  const nativePasses: NonNullable<Skyref>[] = [];
  for (let run = 0; run < runs; run++) {
    note(`pass ${run + 1} of ${runs}`);
    const native = runSkyref(sky.dir);
    if (native) nativePasses.push(native);
    passes.push(measureCore(sky));
  }
  const medians = (all: readonly Readonly<Figures>[]): Figures =>
    Object.fromEntries(Object.keys(all[0]!).map(key => [key, median(all.map(pass => pass[key]!))]));
  const ours = medians(passes);
  const native = nativePasses.length ? medians(nativePasses) : undefined;
  const totals = Object.keys(native ?? {}).filter(key => key.endsWith('_hits') || key.endsWith('_sum'));
  return { ours, native, equal: totals.every(key => native![key] === ours[key]) };
}

export const core: Workload = {
  name: 'core',
  summary: 'build, cone, nearest and join on one thread, beside native code (skyref)',
  run(options: Options, note) {
    const rows: string[][] = [];
    let json: Record<string, unknown> = {};
    for (const [name, sky] of Object.entries(skiesOf(options))) {
      const { ours, native, equal } = compare(sky, options.runs, text => note(`${name} sky, ${text}`));
      for (const key of [
        'build_s',
        'cone60_qps',
        'cone10_qps',
        'cone1_qps',
        'nearest1_qps',
        'bulk_rows_per_s',
        'index_bytes_per_point',
      ]) {
        const reference = native?.[key];
        // For a build, less is better; all other figures are rates.
        const quotient = reference ? (key === 'build_s' ? reference / ours[key]! : ours[key]! / reference) : undefined;
        rows.push([
          `${name} ${key}`,
          format(ours[key]!),
          reference ? format(reference) : '',
          quotient ? ratio(quotient) : '',
        ]);
      }
      if (native) rows.push([`${name} totals`, equal ? 'equal' : 'DIFFERENT', '', '']);
      if (!equal) process.exitCode = 1;
      const figures = native ? { ...ours, totals_equal: equal, skyref: native } : ours;
      json = options.sky ? figures : { ...json, [name]: figures };
    }
    return { header: ['core', 'nearsky', 'skyref', 'ratio'], rows, json };
  },
};

function format(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString('en') : value.toPrecision(4);
}
