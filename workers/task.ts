/**
 * The entry of a thread that runs short tasks. Such threads only read the database; see `src/store/writer.ts` for
 * writes.
 */
import type { MatchColumnsTask, MatchTask } from '../src/crossmatch/match_file.ts';
import type { MergeTask, OpenIndexTask, SaveIndexTask, TailTask } from '../src/generations/tasks.ts';
import { holdEnd } from '../src/pool/thread_end.ts';
import type { FollowSkyTask, SkyMapTask } from '../src/sky_map/map_thread.ts';
import type { SourcesTask } from '../src/sources/near_task.ts';
import type { MetricsTask } from '../src/store/metrics_task.ts';
import type { FindObjectsTask } from '../src/table_match/find_objects.ts';
import type { RegistryTask } from '../src/tns/registry_index.ts';

type ShortTask =
  | MatchTask
  | MatchColumnsTask
  | SourcesTask
  | FindObjectsTask
  | MetricsTask
  | TailTask
  | MergeTask
  | SaveIndexTask
  | OpenIndexTask
  | RegistryTask
  | FollowSkyTask
  | SkyMapTask;

/**
 * Modules are loaded with the first task of their kind: a thread that crossmatches needs no database, and a thread that
 * builds arenas needs no Parquet.
 */
export default async function run(task: ShortTask): Promise<unknown> {
  switch (task.kind) {
    case 'match':
      return (await holdEnd(() => import('../src/crossmatch/match_file.ts'))).runMatch(task);
    case 'matchColumns':
      return (await holdEnd(() => import('../src/crossmatch/match_file.ts'))).runMatchColumns(task);
    case 'sources':
      return (await holdEnd(() => import('../src/sources/near_task.ts'))).runSources(task);
    case 'findObjects':
      return (await holdEnd(() => import('../src/table_match/find_objects.ts'))).runFindObjects(task);
    case 'metrics':
      return (await holdEnd(() => import('../src/store/metrics_task.ts'))).runMetrics();
    case 'tail':
      return (await holdEnd(() => import('../src/generations/build.ts'))).runTail(task);
    case 'merge':
      return (await holdEnd(() => import('../src/generations/build.ts'))).runMerge(task);
    case 'saveIndex':
      return (await holdEnd(() => import('../src/generations/index_file.ts'))).runSaveIndex(task);
    case 'openIndex':
      return (await holdEnd(() => import('../src/generations/index_file.ts'))).runOpenIndex();
    case 'registry':
      return (await holdEnd(() => import('../src/tns/registry_index.ts'))).runRegistry();
    case 'followSky':
      return (await holdEnd(() => import('../src/sky_map/map_thread.ts'))).runFollowSky();
    case 'skyMap':
      return (await holdEnd(() => import('../src/sky_map/map_thread.ts'))).runSkyMap(task);
  }
}
