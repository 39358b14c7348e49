/** The processes that read clients' uploads, configured by the settings of the service. */

import type { ClientAdmission } from '../base/client_admission.ts';
import type { Config } from '../config/config.ts';
import type { ChildMemory } from '../pool/child_memory.ts';
import { ReadingProcesses } from '../pool/reading_processes.ts';
import type { CatalogThreadData } from './catalog_thread_data.ts';
import { remoteOptions } from './remote_options.ts';

const SMALL_MEMORY_MIB = 96;
/** The number of threads that help with a large table. More would only wait for the thread that writes the answer. */
const HELPERS = 3;

/**
 * Requests that take microseconds have priority over tables, and small tables over large ones. The processor's time is
 * shared 9 to 3 to 1.
 */
const NICENESS = { small: 5, large: 10 } as const;

/**
 * @param modules those that each process loads ahead; it is read when a process starts
 * @param hasSpare see `ReadingProcessesOptions`
 */
export function readingProcesses(
  config: Config,
  admission: ClientAdmission,
  childMemory: ChildMemory,
  modules: readonly string[] = [],
  hasSpare = true,
): ReadingProcesses {
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
  return new ReadingProcesses({
    small: processes(SMALL_MEMORY_MIB, NICENESS.small, 0),
    large: processes(config.API_TABLE_MEMORY_MIB, NICENESS.large, HELPERS),
    admission,
    hasSpare,
  });
}
