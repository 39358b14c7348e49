/** The entry of a pool thread: one task in, its result out. Threads only read the database; see `src/store/writer.ts` for writes. */
import { runMerge, runTail } from './build.ts';
import { runOpenIndex, runSaveIndex } from './index_file.ts';
import { runJoin } from './join.ts';
import { runMetrics } from './metrics.ts';
import { runRegistry } from './registry.ts';
import type { ResultOf, Task } from './tasks.ts';

/** A task that a pool's thread ends with in a while; the others have threads of their own, with entries of their own. */
type ShortTask = Exclude<Task, { readonly kind: 'serve' | 'write' }>;

export default async function run(task: ShortTask): Promise<ResultOf<ShortTask>> {
  switch (task.kind) {
    case 'match':
      // Loaded when first needed: its Parquet reader is no business of the other tasks.
      return (await import('./match.ts')).runMatch(task);
    case 'normalise':
      return (await import('./normalise.ts')).default(task);
    case 'join':
      return runJoin(task);
    case 'metrics':
      return runMetrics();
    case 'tail':
      return runTail(task);
    case 'merge':
      return runMerge(task);
    case 'saveIndex':
      return runSaveIndex(task);
    case 'openIndex':
      return runOpenIndex();
    case 'registry':
      return runRegistry();
    case 'followSky':
      return (await import('./sky_map.ts')).runFollowSky();
    case 'skyMap':
      return (await import('./sky_map.ts')).runSkyMap(task);
  }
}
