/**
 * Unpacks the single executable's modules, addons and data. Threads and addons can only be loaded from files, not from
 * memory.
 */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';

/** The asset of the executable that lists the others: JSON with `name` and `paths`. */
export const CONTENTS = 'contents.json';

export interface Packed {
  /** The name of the directory into which the files are unpacked. It differs for different contents. */
  readonly name: string;
  /** The contents of the files, by their paths below that directory, with slashes. */
  readonly paths: readonly string[];
  read(path: string): Uint8Array;
}

/** The program cannot be unpacked anywhere. The message gives the reason and the remedy. */
export class UnpackError extends Error {
  override name = 'UnpackError';
}

/**
 * The possible cache directories, best first. If `NEARSKY_CACHE_DIR` is set, it is the only one. Otherwise: `nearsky`
 * in `XDG_CACHE_HOME`, `nearsky` in `HOME/.cache`, and a directory for temporary files whose name contains the user's
 * number.
 */
export function cacheDirectories(environment: NodeJS.ProcessEnv): string[] {
  const { NEARSKY_CACHE_DIR: given, XDG_CACHE_HOME: cache, HOME: home } = environment;
  if (given) return [resolve(given)];
  // The XDG Base Directory Specification says that relative paths must be ignored.
  const candidates = [cache, home && join(home, '.cache')].filter(path => path && isAbsolute(path));
  return [...candidates.map(path => join(path!, 'nearsky')), join(tmpdir(), `nearsky-${process.getuid!()}`)];
}

/**
 * Ensures that the files are in the first usable directory, and returns the path of their root. Each file is compared
 * byte for byte with the executable's copy. If it is missing or differs, it is written under a temporary name and
 * renamed. So several processes may do this at once, and a process that has loaded the old file keeps it.
 * @throws UnpackError if none of the directories can be used
 */
export function unpack(packed: Packed, directories: readonly string[]): string {
  const refusals: string[] = [];
  for (const directory of directories) {
    try {
      return unpackIn(directory, packed);
    } catch (error) {
      refusals.push(`${directory} (${error instanceof Error ? error.message : error})`);
    }
  }
  throw new UnpackError(
    `Cannot unpack the program, tried ${refusals.join(', ')}: set NEARSKY_CACHE_DIR to a directory of yours that allows execution`,
  );
}

function unpackIn(directory: string, packed: Packed): string {
  mkdirSync(dirname(directory), { recursive: true, mode: 0o700 });
  const root = join(directory, packed.name);
  const below = new Set(packed.paths.flatMap(parents));
  for (const own of [directory, root, ...[...below].sort().map(path => join(root, path))]) requireOwnDirectory(own);
  for (const path of packed.paths) requireFile(join(root, path), packed.read(path));
  return root;
}

/** The directories above a file, except the root. */
function parents(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'));
}

/** Creates a directory that only this user can write to. Throws if something that is not a directory has its name. */
function requireOwnDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const { uid, mode } = directoryStatus(path);
  if (uid !== process.getuid!()) throw new Error(`${path} belongs to user ${uid}`);
  if (mode & 0o022) throw new Error(`others may write to ${path}`);
}

function directoryStatus(path: string) {
  const status = lstatSync(path);
  if (status.isSymbolicLink()) throw new Error(`${path} is a symbolic link`);
  if (!status.isDirectory()) throw new Error(`${path} is not a directory`);
  return status;
}

function requireFile(path: string, bytes: Uint8Array): void {
  if (!holds(path, bytes)) {
    const temporary = `${path}.${randomBytes(8).toString('hex')}`;
    try {
      writeFileSync(temporary, bytes, { flag: 'wx', mode: isAddon(path) ? 0o700 : 0o600 });
      renameSync(temporary, path);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }
  // The system denies access on a file system mounted with `noexec`, from which the addon could not be loaded.
  if (isAddon(path)) accessSync(path, constants.X_OK);
}

const isAddon = (path: string) => path.endsWith('.node');

/** Whether a file belongs to this user and has these bytes. */
function holds(path: string, bytes: Uint8Array): boolean {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const status = fstatSync(descriptor);
    const isOurs = status.isFile() && status.uid === process.getuid!() && (status.mode & 0o022) === 0;
    return isOurs && status.size === bytes.length && readFileSync(descriptor).equals(bytes);
  } catch {
    return false;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
