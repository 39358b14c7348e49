/** The processes that read clients' uploads, configured by the settings of the service. */
import { memoized } from '../../core/base/memoized.ts';
import type { MainHost } from '../../core/host.ts';
import { remoteOptions } from '../catalogs/remote_options.ts';
import type { CatalogThreadData } from '../catalogs/thread_data.ts';
import { ChildMemory } from './child_memory.ts';
import { ReadingProcesses } from './reading_processes.ts';

const SMALL_MEMORY_MIB = 96;
/** The number of threads that help with a large table. More would only wait for the thread that writes the answer. */
const HELPERS = 3;

/**
 * Requests that take microseconds have priority over tables, and small tables over large ones. The processor's time is
 * shared 9 to 3 to 1.
 */
const NICENESS = { small: 5, large: 10 } as const;

type UploadHost = Pick<MainHost, 'config' | 'log' | 'admission' | 'hasSpareProcess'>;

/**
 * The reading processes and the memory limit of all child processes: one of each per process. Before the first upload,
 * only a spare process is started. `loadAhead` makes reading processes load a module of tasks when they start: a path
 * from the root without an extension.
 */
export const uploadsOf = memoized(({ config, log, admission, hasSpareProcess }: UploadHost) => {
  const childMemory = new ChildMemory(config.NEARSKY_CHILD_MEMORY_MIB, log);
  const modules: string[] = [];
  const processes = (memoryMib: number, niceness: number, helpers: number) => ({
    dataDir: config.NEARSKY_DATA,
    memoryMib,
    niceness,
    childMemory,
    data: {
      dataDir: config.NEARSKY_DATA,
      catalogs: { remote: remoteOptions(config), memoryBytes: (memoryMib / 4) * 2 ** 20 },
      helpers,
    } satisfies CatalogThreadData,
    modules,
  });
  const reading = new ReadingProcesses({
    small: processes(SMALL_MEMORY_MIB, NICENESS.small, 0),
    large: processes(config.API_TABLE_MEMORY_MIB, NICENESS.large, HELPERS),
    admission,
    hasSpare: hasSpareProcess,
  });
  // A process that starts for one reading needs only that reading's module.
  const loadAhead = (module: string) => void (hasSpareProcess && modules.push(module));
  return { childMemory, reading, loadAhead };
});
