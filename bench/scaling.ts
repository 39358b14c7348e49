/**
 * The same searches over skies of 0.1 to 20 million points: the cost of a search depends on the size of its answer, not
 * on the size of the sky.
 */
import { type Figures, measureCore } from './core.ts';
import { median, ratio, type Workload } from './report.ts';
import { clusteredSky, runSkyref, uniformSky } from './sky.ts';

const POINTS = [100_000, 1_000_000, 5_000_000, 20_000_000];
const FIGURES = ['cone60_qps', 'cone10_qps', 'cone1_qps', 'nearest1_qps', 'bulk_rows_per_s', 'build_s'] as const;

export const scaling: Workload = {
  name: 'scaling',
  summary: 'the core over 0.1, 1, 5 and 20 million points',
  run({ queries, seed, runs }, note) {
    const rows: string[][] = [];
    const json: Record<string, Record<string, unknown>> = {};
    for (const [name, make] of Object.entries({ clustered: clusteredSky, uniform: uniformSky })) {
      for (const points of POINTS) {
        const sky = make({ points, queries, seed });
        const passes: Figures[] = [];
        const native: Figures[] = [];
        for (let run = 0; run < runs; run++) {
          note(`${name} sky, ${points} points, pass ${run + 1} of ${runs}`);
          const reference = runSkyref(sky.dir);
          if (reference) native.push(reference);
          passes.push(measureCore(sky));
        }
        const figures: Record<string, unknown> = {};
        const cells = FIGURES.map(key => {
          const rate = median(passes.map(pass => pass[key]!));
          const reference = key in (native[0] ?? {}) ? median(native.map(pass => pass[key]!)) : undefined;
          figures[key] = rate;
          if (reference === undefined) return key === 'build_s' ? `${rate.toFixed(2)} s` : millions(rate);
          const quotient = key === 'build_s' ? reference / rate : rate / reference;
          figures[`${key}_ratio`] = quotient;
          return `${key === 'build_s' ? `${rate.toFixed(2)} s` : millions(rate)} ${ratio(quotient)}`;
        });
        figures.cone60_hits_each = passes[0]!.cone60_hits! / passes[0]!.queries_each!;
        rows.push([`${name} ${points / 1e6}M`, Number(figures.cone60_hits_each).toFixed(1), ...cells]);
        (json[name] ??= {})[points] = figures;
      }
    }
    return { header: ['scaling, a second and to skyref', 'hits of 60"', ...FIGURES], rows, json };
  },
};

function millions(rate: number): string {
  return `${(rate / 1e6).toFixed(2)}M`;
}
