/**
 * Two processes can have the same process id if each is in its own PID namespace, like the first process of each
 * container. LMDB distinguishes processes by their ids: each process locks the byte of its id in the lock file while it
 * lives. Processes of several namespaces may use one directory if their ids differ. If the ids are equal, the second
 * process has no lock and cannot read.
 */
import { StoreError } from './store_error.ts';

/** LMDB's error when its table of readers is full. */
const READERS_FULL = -30790;

/**
 * Opens LMDB by calling `open`. LMDB's addon tries for ten seconds to get the lock of this process's id, then continues
 * without it, and one of its timers crashes the process. Nothing else in `open` waits by `Atomics.wait`, so the first
 * such wait is made to throw.
 * @throws StoreError if another process has the database open under the same id, or too many processes have it open;
 * any error of `open`
 */
export function withOwnProcessId<T>(dataDir: string, open: () => T): T {
  const cannot = `Cannot open the data directory ${dataDir} because`;
  const { wait } = Atomics;
  Atomics.wait = () => {
    throw new StoreError(
      `${cannot} a process of another container (another PID namespace) has it open with the same process id as this process, ${process.pid}: run both in one container, or share the PID namespace (docker run --pid=container:NAME)`,
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
