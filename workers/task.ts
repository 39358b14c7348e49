/**
 * The entry of a thread that runs short tasks. Such threads only read the database; see `src/store/writer.ts` for
 * writes.
 */
import type { MatchTask } from '../src/crossmatch/match_file.ts';
import { runMerge, runTail } from '../src/publish/build.ts';
import { runOpenIndex, runSaveIndex } from '../src/publish/index_file.ts';
import type { MergeTask, OpenIndexTask, SaveIndexTask, TailTask } from '../src/publish/tasks.ts';
import type { FollowSkyTask, SkyMapTask } from '../src/sky_map/map_thread.ts';
import type { MetricsTask } from '../src/store/metrics_task.ts';
import { runMetrics } from '../src/store/metrics_task.ts';
import type { RegistryTask } from '../src/tns/registry_index.ts';
import { runRegistry } from '../src/tns/registry_index.ts';

type ShortTask =
  | MatchTask
  | MetricsTask
  | TailTask
  | MergeTask
  | SaveIndexTask
  | OpenIndexTask
  | RegistryTask
  | FollowSkyTask
  | SkyMapTask;

export default async function run(task: ShortTask): Promise<unknown> {
  switch (task.kind) {
    case 'match':
      // Loaded when first needed, because the other tasks have no use for its Parquet reader.
      return (await import('../src/crossmatch/match_file.ts')).runMatch(task);
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
