/**
 * Opens the LMDB environment of a data directory: creates it, and rejects a directory with other content or a newer
 * format.
 */

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { messageOf } from '../base/error_text.ts';
import { flush, isThere, makeDirectory } from '../base/files.ts';
import { formatTime, nowUs } from '../base/times.ts';
import { CACHE_DIRECTORY, FILE_NAME, INDEX_DIRECTORY, POSITIONS_DIRECTORY } from './data_files.ts';
import { DATABASE_NAMES, type DatabaseName, type Databases } from './databases.ts';
import { RESERVE_BYTES, requireSpace } from './disk_space.ts';
import { filesAt, lockFileOf, OpenFiles, otherProcessesWith } from './identity.ts';
import { readLevel, requireReadable, UnreadableLevel } from './level.ts';
import { CREATED_KEY } from './meta.ts';
import { checkPages } from './pages.ts';
import { withOwnProcessId } from './process_ids.ts';
import { decodePlain, encodePlain } from './records.ts';
import { StoreError, storeError } from './store_error.ts';
import { type BinaryDatabase, pagesOf, Table, type TreeStats } from './table.ts';
import { UPGRADES, type UpgradeStep } from './upgrade.ts';

/** The storage format of this release. Opening a database for writing upgrades an older format. */
export const FORMAT_VERSION = formatAfter(UPGRADES);

function formatAfter(upgrades: readonly UpgradeStep[]): number {
  return 1 + upgrades.length;
}

/** LMDB keeps the newest two states of its file in two pages. */
const META_PAGES = 2;

/**
 * The files that nearsky keeps beside its database. The index and the sky map contain the id of their database, so
 * files of a former database are never used. Stored positions name the version of the catalog's file.
 */
const MADE_BESIDE: ReadonlySet<string> = new Set([CACHE_DIRECTORY, INDEX_DIRECTORY, POSITIONS_DIRECTORY, 'rejected']);
/** Several times the size of the lock file and an empty database. */
const LOCK_FILE_SPACE_BYTES = 2 ** 20;
const INTERRUPTED = 'its creation was interrupted or is still in progress: run `nearsky ingest` there again';
/** The tables without checksums. Their values are empty, or only repeat the key and the object. */
const UNSEALED: ReadonlySet<DatabaseName> = new Set([
  'unread',
  'recent_ingest',
  'recent_event',
  'objects_by_ingest',
  'objects_by_event',
  'matches_by_source',
  'tns_names',
]);

export interface Environment {
  readonly dataDir: string;
  /**
   * On a read-only file system, the newest commit when the database was opened. LMDB takes no lock there, so a writer
   * on another host does not know of this reader. From its second commit after this one, it may overwrite pages that
   * are being read.
   */
  readonly unlockedSince: bigint | undefined;
  readonly files: OpenFiles;
  readonly root: RootDatabase<Uint8Array, Uint8Array>;
  readonly databases: Databases;
}

/**
 * Opens `dataDir`; `write` creates it (mode 0700) if it is missing or empty.
 *
 * `overlappingSync: false` makes a synchronous commit return after the data and the meta page are flushed: when a write
 * returns, it is durable, and no other flush needs to be awaited.
 * @param readableLevel the highest readable level of the log
 * @param upgrades the steps from format 1 to the present one
 * @throws StoreError
 */
export function openEnvironment(
  dataDir: string,
  mode: 'read' | 'write',
  readableLevel: number,
  upgrades: readonly UpgradeStep[] = UPGRADES,
): Environment {
  const file = join(dataDir, FILE_NAME);
  let root: RootDatabase<Uint8Array, Uint8Array> | undefined;
  try {
    prepareDirectory(dataDir, mode);
    const isUnlocked = checkFiles(dataDir, file, mode);
    const commit = requireSoundPages(dataDir, file);
    requireOneLockFile(dataDir, file);
    const before = filesAt(file);
    const opened = withOwnProcessId(dataDir, () => {
      root = open<Uint8Array, Uint8Array>({
        path: file,
        readOnly: mode === 'read',
        overlappingSync: false,
        keyEncoding: 'binary',
        encoding: 'binary',
        maxDbs: 24,
        maxReaders: 1024,
        permissionsMode: 0o600,
      } as Parameters<typeof open>[0]) as RootDatabase<Uint8Array, Uint8Array>;
      const files = new OpenFiles(file, before);
      const change = files.change();
      if (change) throw new StoreError(`Cannot open the data directory ${dataDir} because ${change.reason}`);
      // After a power cut, `isCutOff` recognises a new file by its two meta pages. So these must be durable before
      // anything follows them.
      if (commit === 0n && mode === 'write') flush(file);
      return { root, files, databases: openDatabases(root, dataDir, mode, readableLevel, upgrades) };
    });
    // The contents of a file are durable only if its name is.
    if (mode === 'write') flush(dataDir);
    return { dataDir, unlockedSince: isUnlocked ? commit : undefined, ...opened };
  } catch (error) {
    void root?.close();
    throw error instanceof StoreError ? error : storeError(`open the data directory ${dataDir}`, error);
  }
}

/**
 * Whether a directory holds a database.
 * @throws StoreError if it holds something else, or is not a directory
 */
function holdsDatabase(dataDir: string): boolean {
  const cannot = `Cannot open the data directory ${dataDir}`;
  if (!isThere(dataDir)) return false;
  if (!statSync(dataDir).isDirectory())
    throw new StoreError(`${cannot} because it is a file: set --data to a directory`);
  if (isThere(join(dataDir, FILE_NAME))) return true;
  const other = readdirSync(dataDir).find(name => !name.startsWith(FILE_NAME) && !MADE_BESIDE.has(name));
  if (other === undefined) return false;
  throw new StoreError(
    `${cannot} because it contains other files (${other}) and no ${FILE_NAME}: set --data to another directory`,
  );
}

/**
 * For commands that never create a database, even if they write.
 * @throws StoreError if the directory is empty or missing
 */
export function requireDatabase(dataDir: string): void {
  if (holdsDatabase(dataDir)) return;
  throw new StoreError(
    `Cannot open the data directory ${dataDir} because nothing is stored there yet: run \`nearsky ingest\` or \`nearsky catalog add\` first, or set --data to another directory`,
  );
}

/** Creates the directory on request, and rejects one that holds something else. */
function prepareDirectory(dataDir: string, mode: 'read' | 'write'): void {
  if (mode === 'read') requireDatabase(dataDir);
  if (holdsDatabase(dataDir)) return;
  try {
    makeDirectory(dataDir);
  } catch (error) {
    throw new StoreError(
      `Cannot make the data directory ${dataDir} because ${messageOf(error)}: set --data to another directory`,
      {
        cause: error,
      },
    );
  }
  chmodSync(dataDir, 0o700);
}

/**
 * Rejects a file that LMDB could not open. In lmdb 3.5 a failed open crashes the process, because lmdb uses the
 * environment after freeing it. A full disk has the same effect when lmdb maps the new lock file. So every likely
 * failure is detected here first.
 * @returns whether the database is read without a lock, as LMDB does on a read-only file system
 */
function checkFiles(dataDir: string, file: string, mode: 'read' | 'write'): boolean {
  const lock = lockFileOf(file);
  const isUnlocked = isReadOnly(file);
  if (isUnlocked && mode === 'write') {
    throw new StoreError(
      `Cannot write to the data directory ${dataDir} because its file system is mounted read-only: mount it writable, or set --data to another directory`,
    );
  }
  if (isUnlocked) {
    requireNoWriter(dataDir, lock);
  } else if (isThere(lock)) {
    accessSync(lock, constants.R_OK | constants.W_OK);
  } else {
    accessSync(dataDir, constants.W_OK);
    requireSpace(`open the data directory ${dataDir}`, dataDir, LOCK_FILE_SPACE_BYTES);
  }
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0 && mode === 'write') requireSpace(`create a database in ${dataDir}`, dataDir, RESERVE_BYTES);
  if (!isThere(file)) return isUnlocked;
  accessSync(file, mode === 'write' ? constants.R_OK | constants.W_OK : constants.R_OK);
  if (size === 0 && mode === 'write') return isUnlocked;
  if (size === 0) throw new StoreError(`Cannot open the data directory ${dataDir} because ${INTERRUPTED}`);
  if (!hasMetaPages(file)) {
    if (isCutOff(file, size) && otherProcessesWith(file).length === 0) {
      if (mode === 'read') throw new StoreError(`Cannot open the data directory ${dataDir} because ${INTERRUPTED}`);
      truncateSync(file);
      return isUnlocked;
    }
    throw new StoreError(
      `Cannot open the data directory ${dataDir} because ${FILE_NAME} is damaged or not an LMDB file: restore a backup, or set --data to another directory`,
    );
  }
  return isUnlocked;
}

/**
 * Whether a file is on a file system that is mounted read-only here. (Under Deno, `accessSync` does not detect that.)
 */
function isReadOnly(file: string): boolean {
  try {
    closeSync(openSync(file, 'r+'));
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS';
  }
}

/** If another process has the lock file open, the file system is writable for that process. */
function requireNoWriter(dataDir: string, lock: string): void {
  const [pid] = isThere(lock) ? otherProcessesWith(lock) : [];
  if (pid === undefined) return;
  throw new StoreError(
    `Cannot read the data directory ${dataDir} because its file system is read-only here and process ${pid}, which has it open elsewhere, may overwrite the data while it is read: set --data to the writable directory, or to a backup`,
  );
}

/** Another process's commit may invalidate any attempt. */
const PAGE_TRIES = 100;

/**
 * Rejects a truncated file, and a file whose first pages would lead LMDB beyond its end: a read beyond the end crashes
 * the process. A file may be shorter than its last commit states if nothing uses the pages at its end; in that case all
 * pages are checked.
 * @returns the number of the newest commit; 0 if there is none yet
 */
function requireSoundPages(dataDir: string, file: string): bigint {
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0) return 0n;
  let isWhole = false;
  for (let tries = 1; ; tries++) {
    const { faults, isShort, txnid } = checkPages(file, isWhole ? {} : { only: ['meta'] });
    const [fault] = faults;
    if (fault === undefined && (isWhole || !isShort)) return txnid;
    // While another process writes, a check may find pages of a commit overwritten, or a meta page half written. So a
    // fault counts only if a second check finds it, and no commit came during that check.
    if (fault !== undefined && (tries >= PAGE_TRIES || (tries > 1 && newestCommit(dataDir) === txnid)))
      throw new StoreError(
        `Cannot open the data directory ${dataDir} because ${FILE_NAME} is damaged (${fault}): restore a backup`,
      );
    isWhole = isShort;
  }
}

/** The number of the newest commit in a data directory, read without LMDB. */
export function newestCommit(dataDir: string): bigint {
  return checkPages(join(dataDir, FILE_NAME), { only: [] }).txnid;
}

const LOCK_FILE_TRIES = 20;
const LOCK_FILE_WAIT_MS = 50;

/**
 * Refuses to create a second lock file for a database that another process has open: the two processes would write
 * without knowing of each other. It waits a moment, because a process that is just opening the database is about to
 * create its lock file.
 */
function requireOneLockFile(dataDir: string, file: string): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 1; ; tries++) {
    const [pid] = isThere(lockFileOf(file)) ? [] : otherProcessesWith(file);
    if (pid === undefined) return;
    if (tries === LOCK_FILE_TRIES) {
      throw new StoreError(
        `Cannot open the data directory ${dataDir} because process ${pid} has its database open and the lock file ${FILE_NAME}-lock was removed: stop that process, then start again`,
      );
    }
    Atomics.wait(pause, 0, 0, LOCK_FILE_WAIT_MS);
  }
}

/**
 * Whether the file begins with LMDB's two meta pages: a page header of 24 bytes, then magic, data version (its low half
 * is 2), and more.
 */
function hasMetaPages(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    const head = new DataView(new ArrayBuffer(64));
    const isMeta = (offset: number) =>
      readSync(descriptor, head, 0, 64, offset) === 64 &&
      head.getUint32(24, true) === 0xbeefc0de &&
      head.getUint16(28, true) === 2;
    return isMeta(0) && isMeta(head.getUint32(48, true));
  } finally {
    closeSync(descriptor);
  }
}

/** LMDB starts a new file by writing two meta pages in one write. */
const PAGE_BYTES = 4096;
const SECTOR_BYTES = 512;

/**
 * Whether the file contains only a part of that first write; such a file holds no data. Each meta lies in the first
 * sector of its page.
 */
function isCutOff(file: string, size: number): boolean {
  if (size > 2 * PAGE_BYTES) return false;
  const bytes = readFileSync(file);
  const isZero = (from: number, to: number) => bytes.subarray(from, to).every(byte => byte === 0);
  return [0, PAGE_BYTES].every(page => {
    const isMeta = bytes.length >= page + 28 && bytes.readUInt32LE(page + 24) === 0xbeefc0de;
    return (isMeta || isZero(page, page + SECTOR_BYTES)) && isZero(page + SECTOR_BYTES, page + PAGE_BYTES);
  });
}

function openDatabases(
  root: RootDatabase<Uint8Array, Uint8Array>,
  dataDir: string,
  mode: 'read' | 'write',
  readableLevel: number,
  upgrades: readonly UpgradeStep[],
): Databases {
  const present = formatAfter(upgrades);
  const cannot = `Cannot open the data directory ${dataDir}`;
  const stored = [...root.getKeys()].map(key => new TextDecoder().decode(key).replace(/\0$/, ''));
  const foreign = stored.find(name => !(DATABASE_NAMES as readonly string[]).includes(name));
  if (stored.length > 0 && !stored.includes('meta')) {
    throw new StoreError(`${cannot} because ${FILE_NAME} is not a nearsky database: set --data to another directory`);
  }
  if (mode === 'write' && stored.length < DATABASE_NAMES.length)
    requireSpace(`create a database in ${dataDir}`, dataDir, RESERVE_BYTES);
  const openOne = (name: DatabaseName): BinaryDatabase => {
    const database = root.openDB<Uint8Array, Uint8Array>(name, { keyEncoding: 'binary', encoding: 'binary' });
    if (!database) throw new StoreError(`${cannot} as ${INTERRUPTED}`);
    return database;
  };
  const meta = openOne('meta');
  const isNew = stored.every(name => name === 'meta');
  if (isNew && mode === 'write') writeFormat(meta, present);
  requireReleased(meta, cannot);
  const format = readFormat(meta);
  if (format === undefined) {
    throw new StoreError(`${cannot} as ${isNew ? INTERRUPTED : 'its format version is damaged: restore a backup'}`);
  }
  checkFormat(format, present, mode, cannot);
  if (foreign !== undefined) throw new StoreError(`${cannot} because it contains an unknown database: ${foreign}`);
  const opened = DATABASE_NAMES.map(name => [name, name === 'meta' ? meta : openOne(name)] as const);
  const databases = Object.fromEntries(
    opened.map(([name, one]) => [name, new Table(name, one, !UNSEALED.has(name))]),
  ) as Databases;
  requireLevel(databases, readableLevel, cannot);
  if (format < present) {
    // One transaction may rewrite everything.
    const bytes = RESERVE_BYTES + statSync(join(dataDir, FILE_NAME)).size;
    requireSpace(`upgrade the data directory ${dataDir}`, dataDir, bytes);
    upgradeFormat(meta, databases, upgrades);
  }
  return databases;
}

// Like CREATED_KEY, it has no checksum, because every release must be able to read it.
const FORMAT_KEY = new TextEncoder().encode('data_format');
/** The key of the format in data directories that were written before the first release. */
const UNRELEASED_KEY = new TextEncoder().encode('format');

/** Marks a new database with the format, unless another process has already done so. */
function writeFormat(meta: BinaryDatabase, format: number): void {
  meta.transactionSync(() => {
    if (meta.get(FORMAT_KEY) !== undefined) return;
    meta.put(CREATED_KEY, encodePlain(formatTime(nowUs())));
    meta.put(FORMAT_KEY, encodePlain(format));
  });
}

function readFormat(meta: BinaryDatabase): number | undefined {
  const bytes = meta.get(FORMAT_KEY);
  const format = bytes && decodePlain(bytes);
  return typeof format === 'number' ? format : undefined;
}

function requireReleased(meta: BinaryDatabase, cannot: string): void {
  if (meta.get(FORMAT_KEY) !== undefined || meta.get(UNRELEASED_KEY) === undefined) return;
  throw new StoreError(
    `${cannot} because a nearsky from before the first release wrote it: run \`nearsky export\` with that checkout, then \`nearsky import\` here`,
  );
}

function checkFormat(format: number, present: number, mode: 'read' | 'write', cannot: string): void {
  if (format > present) {
    throw new StoreError(
      `${cannot} because its format is ${format} and this nearsky supports formats up to ${present}: use a newer nearsky, or another --data`,
    );
  }
  if (format < present && mode === 'read') {
    throw new StoreError(
      `${cannot} because its format is ${format}, older than ${present}: run a command that writes to it, such as \`nearsky crossmatch\`, which upgrades it`,
    );
  }
}

function requireLevel(databases: Databases, readableLevel: number, cannot: string): void {
  try {
    requireReadable(readLevel(databases), readableLevel);
  } catch (error) {
    throw error instanceof UnreadableLevel
      ? new StoreError(`${cannot} because ${error.message}`, { cause: error })
      : error;
  }
}

/** Upgrades an older format in one transaction. */
function upgradeFormat(meta: BinaryDatabase, databases: Databases, upgrades: readonly UpgradeStep[]): void {
  meta.transactionSync(() => {
    for (const step of upgrades.slice(readFormat(meta)! - 1)) step(databases);
    meta.put(FORMAT_KEY, encodePlain(formatAfter(upgrades)));
  });
}

/**
 * The bytes of the database file that hold no data, and that later commits use. Pages that a reader may still need count,
 * too.
 */
export function reusableBytes({ root, databases }: Environment): number {
  root.resetReadTxn();
  const { lastPageNumber, pageSize, ...stats } = root.getStats() as {
    readonly lastPageNumber: number;
    readonly pageSize: number;
    /** The tree that names the databases, and the tree of free pages. */
    readonly root: TreeStats;
    readonly free: TreeStats;
  };
  const trees = [...Object.values(databases).map(table => table.pageCount()), pagesOf(stats.root), pagesOf(stats.free)];
  return pageSize * trees.reduce((left, pages) => left - pages, lastPageNumber + 1 - META_PAGES);
}
