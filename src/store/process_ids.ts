/**
 * Process ids that two processes share because each is in a PID namespace of its own, as the first process of each container is. LMDB
 * tells processes apart by their ids: each locks the byte of its id in the lock file, for as long as it lives. Where ids differ, processes
 * of several namespaces may use one directory; where they are equal, the second has no lock, and can't read.
 */
import { StoreError } from './store_error.ts';

/** LMDB's error where its table of readers has no place left. */
const READERS_FULL = -30790;

/**
 * Runs an opening of LMDB. Its addon tries for ten seconds to get the lock of this process's id, then goes on without, and a timer of
 * its ends the process with a stack. Nothing else in an opening waits by `Atomics.wait`, so its first pause ends the opening.
 * @throws StoreError where another process has the database open under the id of this one, or too many have it open; what `open` throws
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
    throw new StoreError(`${cannot} as many processes and threads have it open as it has room for: stop some of them`, {
      cause: error,
    });
  } finally {
    Atomics.wait = wait;
  }
}
