/**
 * Process ids that two processes share because each is in a PID namespace of its own, like the first process of each
 * container. LMDB tells processes apart by their ids: each locks the byte of its id in the lock file for as long as it
 * lives. Processes of several namespaces may use one directory if their ids differ. If the ids are equal, the second
 * process has no lock and cannot read.
 */
import { StoreError } from './store_error.ts';

/** LMDB's error when its table of readers is full. */
const READERS_FULL = -30790;

/**
 * Runs an opening of LMDB. Its addon tries for ten seconds to get the lock of this process's id, then goes on without
 * it, and one of its timers ends the process with a stack. Nothing else in an opening waits by `Atomics.wait`, so that
 * its first pause ends the opening.
 * @throws StoreError where another process has the database open under the same id, or too many processes have it open;
 * any error of `open`
 */
export function withOwnProcessId<T>(dataDir: string, open: () => T): T {
  const cannot = `Cannot open the data directory ${dataDir} because`;
  const { wait } = Atomics;
  Atomics.wait = () => {
    throw new StoreError(
      `${cannot} a process of another container (another PID namespace) has it open whose process id there, ${process.pid}, is also the id of this process here: run both in one container, or share the PID namespace (docker run --pid=container:NAME)`,
    );
  };
  try {
    return open();
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== READERS_FULL) throw error;
    throw new StoreError(`${cannot} the maximum number of processes and threads have it open: stop some of them`, {
      cause: error,
    });
  } finally {
    Atomics.wait = wait;
  }
}
