/** A consistent copy of a data directory that others may be writing to. */
import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf } from '../../core/base/error_text.ts';
import { flush, isThere, makeDirectory } from '../../core/base/files.ts';
import { FILE_NAME } from '../../core/store/data_files.ts';
import { partFileOf } from '../../core/store/part_file.ts';
import type { Store } from '../../core/store/store.ts';
import { StoreError, storeError } from '../../core/store/store_error.ts';
import { type CheckReport, checkDirectory } from '../status/check.ts';

/** The contents of the copy. */
interface BackupCounts extends Pick<CheckReport, 'objects' | 'pending' | 'journalEntries'> {
  readonly bytes: number;
}

interface BackupOptions {
  readonly dataDir: string;
  /** The open store of `dataDir`. */
  readonly store: Store;
  /** The directory to create; an existing one must be empty. */
  readonly target: string;
  readonly onProgress: (text: string) => void;
}

const PROGRESS_MS = 500;

/**
 * Copies a snapshot of the database, and the rejected messages. The index is not copied, because a missing index is
 * rebuilt. The copy is read from end to end before it gets its name, so a directory of that name is complete.
 * @throws StoreError; then nothing exists under that name
 */
export async function backUp({ dataDir, store, target, onProgress }: BackupOptions): Promise<BackupCounts> {
  const cannot = `Cannot make a backup in ${target}`;
  if (isTaken(target, cannot)) {
    throw new StoreError(`${cannot} because it exists and a backup never overwrites: choose another directory`);
  }
  const parent = dirname(resolve(target));
  const { path: part, otherPid } = partFileOf(target, store.livePids());
  if (otherPid)
    throw new StoreError(`${cannot} because process ${otherPid} is making one there: wait until it finishes`);
  makePart(parent, part, cannot);
  try {
    const file = join(part, FILE_NAME);
    checkSpace(part, join(dataDir, FILE_NAME), cannot);
    await copyDatabase(store, file, onProgress);
    store.requireUndisturbed();
    chmodSync(file, 0o600);
    flush(file);
    const rejected = join(dataDir, 'rejected');
    if (isThere(rejected)) copyRejected(rejected, join(part, 'rejected'));
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

/** @throws StoreError if the target cannot be examined */
function isTaken(target: string, cannot: string): boolean {
  try {
    return isThere(target) && !(statSync(target).isDirectory() && readdirSync(target).length === 0);
  } catch (error) {
    throw new StoreError(`${cannot} because ${messageOf(error)}: choose a writable directory`, { cause: error });
  }
}

function makePart(parent: string, part: string, cannot: string): void {
  try {
    makeDirectory(parent);
    mkdirSync(part, { mode: 0o700 });
  } catch (error) {
    throw new StoreError(`${cannot} because ${messageOf(error)}: choose a writable directory`, { cause: error });
  }
}

function checkSpace(part: string, source: string, cannot: string): void {
  const { bavail, bsize } = statfsSync(part);
  const needed = statSync(source).size;
  if (bavail * bsize >= needed) return;
  throw new StoreError(
    `${cannot} because it needs ${mib(needed)} and ${mib(bavail * bsize)} are free there: free some space`,
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

function copyRejected(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  for (const name of readdirSync(to)) flush(join(to, name));
  flush(to);
}

/**
 * Reads the copy from end to end.
 * @throws StoreError if the copy cannot be read or contradicts itself
 */
async function check(dataDir: string, onProgress: (text: string) => void): Promise<Omit<BackupCounts, 'bytes'>> {
  const report = await checkDirectory(dataDir, text => onProgress(`${text} of the copy`));
  const { faults, more, ...counts } = report;
  if (faults.length === 0) return counts;
  throw new StoreError(
    `Cannot trust the copy because the database is damaged (${faults[0]}; ${faults.length + more} faults): run \`nearsky check\`, then restore an earlier backup`,
  );
}

const mib = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
