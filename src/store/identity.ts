/**
 * Whether the files that a process has open are still those that its paths name. LMDB goes on with files that were removed or replaced:
 * it then answers from a database that nobody else sees, or writes without knowing of the others that write, which destroys it.
 */
import { type BigIntStats, readdirSync, statSync } from 'node:fs';

/** A file as the kernel knows it. */
interface FileIdentity {
  readonly device: bigint;
  readonly inode: bigint;
}

export interface FileChange {
  readonly file: 'database' | 'lock';
  /** `truncated` is the database's only. */
  readonly what: 'removed' | 'replaced' | 'truncated';
  /** What has happened and how to mend it, to follow "Cannot … because ". */
  readonly reason: string;
}

const MENDS: Readonly<Record<`${FileChange['file']} ${FileChange['what']}`, string>> = {
  'database removed': 'its file was removed: put the same file back, or restart nearsky',
  'database replaced': 'its file was replaced by another: put the same file back, or restart nearsky',
  'database truncated': 'its file was cut short: stop nearsky and restore a backup',
  'lock removed':
    'its lock file was removed, so that writing would destroy it: stop every nearsky process that uses the directory, then start again',
  'lock replaced':
    'its lock file was removed and made anew, so that writing would destroy it: stop every nearsky process that uses the directory, then start again',
  'lock truncated': '',
};

/** The lock file that LMDB keeps beside a database file. */
export const lockFileOf = (file: string) => `${file}-lock`;

/** What lies at the paths of a database; undefined where there is nothing. */
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

  /** @param before what was there just before LMDB opened the files: what has come since, LMDB may not have open */
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
   * What has happened to the files since they were opened; undefined where they are as they were. Two system calls, of some
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
 * The other processes that have the database open, as far as they are seen: another user's are not, and nobody's where there is no /proc.
 * The lock file would tell, so this is asked where that is gone or not open yet.
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
