/** The entry of a pool thread: one task in, its result out. Threads only read the database; see `src/store/writer.ts` for writes. */
import type { ResultOf, Task } from '../src/answers/queries.ts';
import { runJoin } from '../src/crossmatch/join.ts';
import { runMetrics } from '../src/metrics/database_metrics.ts';
import { runMerge, runTail } from '../src/publish/build.ts';
import { runOpenIndex, runSaveIndex } from '../src/publish/index_file.ts';
import { runRegistry } from '../src/publish/registry_index.ts';

/** A task that a pool's thread ends with in a while; the others have threads of their own, with entries of their own. */
type ShortTask = Exclude<Task, { readonly kind: 'serve' | 'write' | 'publish' }>;

export default async function run(task: ShortTask): Promise<ResultOf<ShortTask>> {
  switch (task.kind) {
    case 'match':
      // Loaded when first needed: its Parquet reader is no business of the other tasks.
      return (await import('../src/crossmatch/match_file.ts')).runMatch(task);
    case 'normalise':
      return (await import('../src/ingest/normalise_lines.ts')).default(task);
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
      return (await import('../src/sky_map/map_thread.ts')).runFollowSky();
    case 'skyMap':
      return (await import('../src/sky_map/map_thread.ts')).runSkyMap(task);
  }
}
