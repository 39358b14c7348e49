/** The entry of a pool thread: one task in, its result out. Threads only read the database; see `src/store/writer.ts` for writes. */
import { runMerge, runTail } from './build.ts';
import { runOpenIndex, runSaveIndex } from './index_file.ts';
import { runJoin } from './join.ts';
import { runMetrics, runProbe, runQueries } from './query.ts';
import { runRegistry } from './registry.ts';
import { fromEventLoop } from './runtime.ts';
import type { ResultOf, Task } from './tasks.ts';

export default async function run(task: Task): Promise<ResultOf<Task>> {
  switch (task.kind) {
    case 'query':
      return fromEventLoop(() => runQueries(task));
    case 'match':
      // Loaded when first needed: its Parquet reader is no business of a query thread.
      return (await import('./match.ts')).runMatch(task);
    case 'normalise':
      return (await import('./normalise.ts')).default(task);
    case 'join':
      return runJoin(task);
    case 'probe':
      return runProbe();
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
