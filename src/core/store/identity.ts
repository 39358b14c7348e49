/**
 * Detects whether the open files of a process are still the files at their paths. LMDB keeps using files that were
 * removed or replaced. It would then answer from a database that no other process sees, or destroy the database by
 * writing without knowing of other writers.
 */
import { type BigIntStats, readdirSync, statSync } from 'node:fs';

/** The kernel's identity of a file. */
interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

interface FileChange {
  readonly file: 'database' | 'lock';
  /** Only a database is ever `truncated`. */
  readonly what: 'removed' | 'replaced' | 'truncated';
  /** The event and its remedy, to complete "Cannot … because ". */
  readonly reason: string;
}

const MENDS: Readonly<Record<`${FileChange['file']} ${FileChange['what']}`, string>> = {
  'database removed': 'its file was removed: put the same file back, or restart nearsky',
  'database replaced': 'its file was replaced by another: put the same file back, or restart nearsky',
  'database truncated': 'its file was truncated: stop nearsky and restore a backup',
  'lock removed':
    'its lock file was removed, so writing would destroy it: stop every nearsky process that uses the directory, then start again',
  'lock replaced':
    'its lock file was removed and recreated, so writing would destroy it: stop every nearsky process that uses the directory, then start again',
  'lock truncated': '',
};

/** The lock file that LMDB keeps beside a database file. */
export const lockFileOf = (file: string) => `${file}-lock`;

/** The files at the paths of a database; undefined if there is none. */
interface FilesAtPaths {
  readonly database: FileIdentity | undefined;
  readonly lock: FileIdentity | undefined;
}

export function filesAt(file: string): FilesAtPaths {
  return { database: identityOf(file), lock: identityOf(lockFileOf(file)) };
}

/** The files of an open database: its own and LMDB's lock file beside it. */
export class OpenFiles {
  readonly #file: string;
  readonly #database: FileIdentity | undefined;
  readonly #lock: FileIdentity | undefined;
  #bytes = 0n;

  /**
   * @param before the files as they were just before LMDB opened them. A file that appeared later may not be the one
   * that LMDB opened
   */
  constructor(file: string, before: FilesAtPaths) {
    this.#file = file;
    const now = filesAt(file);
    this.#database = before.database ?? now.database;
    this.#lock = before.lock ?? now.lock;
  }

  /** The length of the database when `change` last looked at it. */
  get bytes(): number {
    return Number(this.#bytes);
  }

  /**
   * The change of the files since they were opened; undefined if there is none. Takes two system calls of some
   * microseconds each.
   */
  change(): FileChange | undefined {
    const found = statSync(this.#file, { bigint: true, throwIfNoEntry: false });
    if (!found) return changeOf('database', 'removed');
    if (!isSame(identity(found), this.#database)) return changeOf('database', 'replaced');
    if (found.size < this.#bytes) return changeOf('database', 'truncated');
    this.#bytes = found.size;
    // On a read-only file system LMDB opens a database without a lock file.
    if (!this.#lock) return undefined;
    const lock = identityOf(lockFileOf(this.#file));
    if (!lock) return changeOf('lock', 'removed');
    return isSame(lock, this.#lock) ? undefined : changeOf('lock', 'replaced');
  }
}

function changeOf(file: FileChange['file'], what: FileChange['what']): FileChange {
  return { file, what, reason: MENDS[`${file} ${what}`] };
}

function identityOf(path: string): FileIdentity | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && identity(found);
}

function identity({ dev, ino }: BigIntStats): FileIdentity {
  return { device: dev, inode: ino };
}

function isSame(a: FileIdentity, b: FileIdentity | undefined): boolean {
  return a.device === b?.device && a.inode === b.inode;
}

/**
 * Other processes that have the database open, as far as this process can see them. Processes of other users are
 * invisible; without /proc, all are. The lock file is a better source, so this function is used only while that file is
 * missing or not open yet.
 */
export function otherProcessesWith(file: string): readonly number[] {
  const database = identityOf(file);
  if (!database) return [];
  return namesIn('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter(pid => namesIn(`/proc/${pid}/fd`).some(fd => isOpenAs(`/proc/${pid}/fd/${fd}`, database)));
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function isOpenAs(descriptor: string, database: FileIdentity): boolean {
  try {
    const found = identityOf(descriptor);
    return found !== undefined && isSame(found, database);
  } catch {
    return false;
  }
}
