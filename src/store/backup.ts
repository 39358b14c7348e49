/** A consistent copy of a data directory that others may be writing to. */
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../error_text.ts';
import { FILE_NAME, StoreError, storeError } from './environment.ts';
import { partOf } from './parts.ts';
import { openStore, type Store } from './store.ts';

/** What the copy was found to hold. */
export interface BackupCounts {
  readonly objects: number;
  readonly pending: number;
  readonly journalEntries: number;
  readonly bytes: number;
}

export interface BackupOptions {
  readonly dataDir: string;
  /** Opened on `dataDir`. */
  readonly store: Store;
  /** Is made; may exist where it is empty. */
  readonly target: string;
  readonly onProgress: (text: string) => void;
}

const PROGRESS_MS = 500;

/**
 * Copies the database as it is at one moment, and the rejected messages; the index is not copied, as it is made anew where it is missing.
 * The copy is read from end to end before it gets its name, so a directory of that name is whole.
 * @throws StoreError; then there is nothing of that name
 */
export async function backUp({ dataDir, store, target, onProgress }: BackupOptions): Promise<BackupCounts> {
  const cannot = `Cannot make a backup in ${target}`;
  if (existsSync(target) && !(statSync(target).isDirectory() && readdirSync(target).length === 0)) {
    throw new StoreError(`${cannot} as it exists and a backup overwrites nothing: give another directory`);
  }
  const parent = dirname(resolve(target));
  const { path: part, otherPid } = partOf(target, store.livePids());
  if (otherPid) throw new StoreError(`${cannot} as process ${otherPid} is making one there: wait until it has ended`);
  makePart(parent, part, cannot);
  try {
    const file = join(part, FILE_NAME);
    checkSpace(part, join(dataDir, FILE_NAME), cannot);
    await copyDatabase(store, file, onProgress);
    chmodSync(file, 0o600);
    flush(file);
    const rejected = join(dataDir, 'rejected');
    if (existsSync(rejected)) cpSync(rejected, join(part, 'rejected'), { recursive: true });
    const counts = await check(part, onProgress);
    rmSync(`${file}-lock`, { force: true });
    flush(part);
    renameSync(part, target);
    flush(parent);
    return { ...counts, bytes: statSync(join(target, FILE_NAME)).size };
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    throw error instanceof StoreError ? error : storeError(`make a backup in ${target}`, error);
  }
}

function makePart(parent: string, part: string, cannot: string): void {
  try {
    mkdirSync(parent, { recursive: true });
    mkdirSync(part, { mode: 0o700 });
  } catch (error) {
    throw new StoreError(`${cannot} as ${messageOf(error)}: give a directory that can be written`, { cause: error });
  }
}

function checkSpace(part: string, source: string, cannot: string): void {
  const { bavail, bsize } = statfsSync(part);
  const needed = statSync(source).size;
  if (bavail * bsize >= needed) return;
  throw new StoreError(
    `${cannot} as it takes ${mib(needed)} and ${mib(bavail * bsize)} are free there: free some space`,
  );
}

async function copyDatabase(store: Store, file: string, onProgress: (text: string) => void): Promise<void> {
  const tell = () => onProgress(`${mib(statSync(file, { throwIfNoEntry: false })?.size ?? 0)} copied`);
  const timer = setInterval(tell, PROGRESS_MS);
  try {
    await store.copyTo(file);
  } finally {
    clearInterval(timer);
  }
}

/**
 * Reads the copy from end to end.
 * @throws StoreError where it cannot be read, or does not agree with itself
 */
async function check(dataDir: string, onProgress: (text: string) => void): Promise<Omit<BackupCounts, 'bytes'>> {
  const store = openStore(dataDir, 'read');
  try {
    let objects = 0;
    let pending = 0;
    for (const object of store.objects()) {
      objects++;
      if (object.state === 'pending') pending++;
      store.getSources(object.diaObjectId);
      if (objects % 1000 === 0) onProgress(`${objects} objects of the copy checked`);
    }
    const listed = store.pendingCount();
    if (pending === listed) return { objects, pending, journalEntries: store.lastSequence() };
    throw new StoreError(
      `Cannot trust the copy as ${pending} objects are pending and ${listed} are listed as such: make it again`,
    );
  } finally {
    await store.close();
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
