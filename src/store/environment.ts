/** Opening the LMDB environment of a data directory: creating it, and refusing what is not one or is of a newer format. */

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Database, open, type RootDatabase } from 'lmdb';
import { CACHE_DIRECTORY } from '../catalogs/remote/options.ts';
import { messageOf } from '../error_text.ts';
import { upgradeObject } from './format2.ts';
import { appendPositions } from './positions.ts';
import { listRecent, raiseLatestIngest } from './recent.ts';
import { decodeKey, decodeObject, decodePlain, EMPTY_TABLE, encodeJournal, encodeKey, encodePlain } from './records.ts';

/** The stored format that this release reads and writes; it upgrades an older one where it is opened for writing. */
export const FORMAT_VERSION = 3;

/** The database in its data directory. */
export const FILE_NAME = 'nearsky.mdb';
/** Several times what the lock file and an empty database take. */
const LOCK_FILE_SPACE_BYTES = 2 ** 20;
const INTERRUPTED = 'its creation was interrupted or is still under way: run `nearsky ingest` there once more';
const DATABASE_NAMES = [
  'meta',
  'objects',
  'sources',
  'pending',
  'claims',
  'journal',
  'positions',
  'provenance_sets',
  'payload_keys',
  'catalogs',
  'recent_ingest',
  'recent_event',
  'tns_objects',
  'tns_names',
] as const;

type DatabaseName = (typeof DATABASE_NAMES)[number];
/** Keys and values are bytes; src/store/records.ts makes and reads them. */
export type BinaryDatabase = Database<Uint8Array, Uint8Array>;
export type Databases = Readonly<Record<DatabaseName, BinaryDatabase>>;

/** The store cannot be opened, read or written; the message says why and how to mend it. */
export class StoreError extends Error {
  override name = 'StoreError';
}

export interface Environment {
  readonly file: string;
  readonly root: RootDatabase<Uint8Array, Uint8Array>;
  readonly databases: Databases;
}

/**
 * Opens `dataDir`; `write` creates it (mode 0700) where it is absent or empty.
 *
 * `overlappingSync: false` makes a synchronous commit return after the data and the meta page are flushed: when a write
 * returns, it is durable, and no other flush needs to be awaited.
 * @throws StoreError
 */
export function openEnvironment(dataDir: string, mode: 'read' | 'write'): Environment {
  const file = join(dataDir, FILE_NAME);
  let root: RootDatabase<Uint8Array, Uint8Array> | undefined;
  try {
    prepareDirectory(dataDir, file, mode);
    checkFiles(dataDir, file, mode);
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
    return { file, root, databases: openDatabases(root, dataDir, mode) };
  } catch (error) {
    void root?.close();
    throw error instanceof StoreError ? error : storeError(`open the data directory ${dataDir}`, error);
  }
}

/** Creates the directory where that is asked for, and refuses one that holds something else. */
function prepareDirectory(dataDir: string, file: string, mode: 'read' | 'write'): void {
  const cannot = `Cannot open the data directory ${dataDir}`;
  if (existsSync(dataDir)) {
    if (!statSync(dataDir).isDirectory()) throw new StoreError(`${cannot} as it is a file: give --data a directory`);
    if (existsSync(file)) return;
    const other = readdirSync(dataDir).find(name => !name.startsWith(FILE_NAME) && name !== CACHE_DIRECTORY);
    if (other !== undefined) {
      throw new StoreError(`${cannot} as it holds something else (${other}) and no ${FILE_NAME}: give --data another`);
    }
  }
  if (mode === 'read') {
    throw new StoreError(
      `${cannot} as nothing is stored there yet: run \`nearsky ingest\` or \`nearsky catalog add\` first, or give --data`,
    );
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  chmodSync(dataDir, 0o700);
}

/**
 * Refuses a file that LMDB could not open. In lmdb 3.5 a failed open is no error but the end of the process (it uses the environment
 * that it has freed), and so is a full disk where it maps the new lock file; so every likely failure is found here, before.
 */
function checkFiles(dataDir: string, file: string, mode: 'read' | 'write'): void {
  const lock = `${file}-lock`;
  if (existsSync(lock)) {
    accessSync(lock, constants.R_OK | constants.W_OK);
  } else {
    accessSync(dataDir, constants.W_OK);
    const { bavail, bsize } = statfsSync(dataDir);
    if (bavail * bsize < LOCK_FILE_SPACE_BYTES) {
      throw new StoreError(`Cannot open the data directory ${dataDir} as the disk is full: free some space on it`);
    }
  }
  if (!existsSync(file)) return;
  accessSync(file, mode === 'write' ? constants.R_OK | constants.W_OK : constants.R_OK);
  const size = statSync(file).size;
  if (size === 0 && mode === 'write') return;
  if (size === 0) throw new StoreError(`Cannot open the data directory ${dataDir} as ${INTERRUPTED}`);
  if (!hasMetaPages(file)) {
    throw new StoreError(
      `Cannot open the data directory ${dataDir} as ${FILE_NAME} is damaged or no LMDB file: restore a backup, or give --data another`,
    );
  }
}

/** Whether the file begins with LMDB's two meta pages: a page header of 24 bytes, then magic, data version (its low half is 2), and more. */
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

function openDatabases(root: RootDatabase<Uint8Array, Uint8Array>, dataDir: string, mode: 'read' | 'write'): Databases {
  const cannot = `Cannot open the data directory ${dataDir}`;
  const stored = [...root.getKeys()].map(key => new TextDecoder().decode(key).replace(/\0$/, ''));
  const foreign = stored.find(name => !(DATABASE_NAMES as readonly string[]).includes(name));
  if (stored.length > 0 && !stored.includes('meta')) {
    throw new StoreError(`${cannot} as ${FILE_NAME} is not a nearsky database: give --data another directory`);
  }
  const openOne = (name: DatabaseName): BinaryDatabase => {
    const database = root.openDB<Uint8Array, Uint8Array>(name, { keyEncoding: 'binary', encoding: 'binary' });
    if (!database) throw new StoreError(`${cannot} as ${INTERRUPTED}`);
    return database;
  };
  const meta = openOne('meta');
  const isNew = stored.every(name => name === 'meta');
  if (isNew && mode === 'write') writeFormat(meta);
  const format = readFormat(meta);
  if (format === undefined) {
    throw new StoreError(`${cannot} as ${isNew ? INTERRUPTED : 'its format version is damaged: restore a backup'}`);
  }
  checkFormat(format, mode, cannot, dataDir);
  if (foreign !== undefined) throw new StoreError(`${cannot} as it holds an unknown database: ${foreign}`);
  const databases = Object.fromEntries(
    DATABASE_NAMES.map(name => [name, name === 'meta' ? meta : openOne(name)]),
  ) as Databases;
  if (format < FORMAT_VERSION) upgradeFormat(databases);
  return databases;
}

const FORMAT_KEY = new TextEncoder().encode('format');
const CREATED_KEY = new TextEncoder().encode('created');

/** Marks a new database with the format, unless another process has done so by now. */
function writeFormat(meta: BinaryDatabase): void {
  meta.transactionSync(() => {
    if (meta.get(FORMAT_KEY) !== undefined) return;
    meta.put(CREATED_KEY, encodePlain(new Date().toISOString()));
    meta.put(FORMAT_KEY, encodePlain(FORMAT_VERSION));
  });
}

function readFormat(meta: BinaryDatabase): number | undefined {
  const bytes = meta.get(FORMAT_KEY);
  const format = bytes && decodePlain(bytes);
  return typeof format === 'number' ? format : undefined;
}

function checkFormat(format: number, mode: 'read' | 'write', cannot: string, dataDir: string): void {
  if (format > FORMAT_VERSION) {
    throw new StoreError(
      `${cannot} as its format is ${format} and this nearsky knows formats up to ${FORMAT_VERSION}: use a newer nearsky, or another --data`,
    );
  }
  if (format < FORMAT_VERSION && mode === 'read') {
    throw new StoreError(
      `${cannot} as its format is ${format}, older than ${FORMAT_VERSION}: run \`nearsky import --data ${dataDir} /dev/null\` once, which upgrades it`,
    );
  }
}

/** From any older format, step by step, in one transaction. A database that begins empty needs no step: opening has made it. */
function upgradeFormat(databases: Databases): void {
  databases.meta.transactionSync(() => {
    const format = readFormat(databases.meta)!;
    if (format < 3) layOutObjects(databases);
    if (format < 2) listAllRecent(databases);
    if (format < 3) tabulatePositions(databases);
    databases.meta.put(FORMAT_KEY, encodePlain(FORMAT_VERSION));
  });
}

const UPGRADED_AT_ONCE = 10_000;

/** Up to format 2 objects were stored otherwise. */
function layOutObjects({ objects }: Databases): void {
  let start = encodeKey(0n);
  for (;;) {
    const some = [...objects.getRange({ start, limit: UPGRADED_AT_ONCE })];
    for (const { key, value } of some) objects.put(key, upgradeObject(value));
    const last = some.at(-1);
    if (!last) return;
    start = encodeKey(decodeKey(last.key) + 1n);
  }
}

/** Format 1 did not list the objects with matches by time, nor note the latest ingest time. */
function listAllRecent(databases: Databases): void {
  for (const { key, value } of databases.objects.getRange({})) {
    const object = decodeObject(decodeKey(key), value);
    raiseLatestIngest(databases, object.ingestTimeUs);
    if (object.matches.length > 0) listRecent(databases, object);
  }
}

/** Up to format 2 the journal named the ids that a commit stored; now it counts the rows of the position table. */
function tabulatePositions(databases: Databases): void {
  let table = EMPTY_TABLE;
  for (const { key, value } of databases.journal.getRange({})) {
    const [stored, delivered, crossmatched] = decodePlain(value) as [bigint[], bigint[], bigint[]];
    const points = stored.map(id => decodeObject(id, databases.objects.get(encodeKey(id))!));
    table = appendPositions(databases, table, points);
    databases.journal.put(key, encodeJournal({ table, delivered, crossmatched }));
  }
}

/** An error of LMDB or the file system as a StoreError. LMDB reports a full disk as code 5, "Input/output error". */
export function storeError(doing: string, error: unknown): StoreError {
  const why = messageOf(error);
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const full = code === 5 || code === 28 || code === 'ENOSPC' || code === 'EIO';
  const mend = full
    ? 'free some space on that disk, or move the data directory'
    : 'check that the directory can be read and written';
  return new StoreError(`Cannot ${doing} as ${full ? `the disk is full or failing (${why})` : why}: ${mend}`, {
    cause: error,
  });
}
