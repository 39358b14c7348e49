/**
 * The archive as files that the engine reads: exports in the HATS layout, made by a process of their own beside
 * everything else. One holds everything; where that is much, a second one holds what has changed since. Each has its
 * name only when it is whole. Each engine has a directory of its own, named by its process; the directory of one that
 * has ended becomes that of the next, with what is in it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isAlive } from '../base/processes.ts';
import { programFile } from '../base/program_files.ts';
import { programArguments } from '../base/runtime.ts';
import type { Source } from './tables.ts';

/** The objects that are exported in a second or two. */
const SMALL_OBJECTS = 50_000;
/** The share of the objects that may have changed before everything is exported anew. */
const MAX_CHANGED = 0.1;

/** How the name of what this process is exporting begins. */
const NEW = `new-${process.pid}`;

interface Export {
  readonly path: string;
  /** The journal entry up to which it goes. */
  readonly sequence: number;
  /** The entry after which it begins; 0 for everything. */
  readonly since: number;
}

export interface Snapshot {
  readonly sequence: number;
  readonly exports: readonly Export[];
}

export class Snapshots {
  readonly #dataDir: string;
  readonly #smallObjects: number;
  readonly #directory: string;
  readonly #children = new Set<ChildProcess>();

  /** @param smallObjects with fewer objects everything is exported anew */
  constructor(dataDir: string, smallObjects = SMALL_OBJECTS) {
    this.#dataDir = dataDir;
    this.#smallObjects = smallObjects;
    this.#directory = ownDirectory(join(dataDir, 'tap'));
  }

  get directory(): string {
    return this.#directory;
  }

  /**
   * Makes the archive's present state, or what is missing of it.
   * @param last the last entry of the journal
   * @param key tells archives apart whose columns differ
   */
  async make(last: number, key: string, current: Snapshot | undefined): Promise<Snapshot> {
    const whole = current?.exports[0] ?? this.#found(key, last);
    if (!whole) return await this.#whole(key);
    if (whole.sequence === last) return { sequence: last, exports: [whole] };
    const objects = rowsOf(whole);
    if (objects < this.#smallObjects) return await this.#whole(key);
    const changed = await this.#export(key, whole.sequence);
    if (rowsOf(changed) > MAX_CHANGED * objects) return await this.#whole(key);
    return { sequence: changed.sequence, exports: [whole, changed] };
  }

  async #whole(key: string): Promise<Snapshot> {
    const whole = await this.#export(key, 0);
    return { sequence: whole.sequence, exports: [whole] };
  }

  /** The newest export of everything that an earlier process has made. */
  #found(key: string, last: number): Export | undefined {
    const found = this.#all().filter(each => each.key === key && each.since === 0 && each.sequence <= last);
    return found.sort((a, b) => b.sequence - a.sequence)[0];
  }

  #all() {
    return readdirSync(this.#directory).flatMap(name => {
      const [, key, since, sequence] = /^(\w+)-(\d+)-(\d+)$/.exec(name) ?? [];
      return key ? [{ key, path: join(this.#directory, name), since: Number(since), sequence: Number(sequence) }] : [];
    });
  }

  /** Removes all exports but those of some snapshots, which queries may be reading. */
  keep(snapshots: readonly Snapshot[]): void {
    const kept = new Set(snapshots.flatMap(({ exports }) => exports.map(({ path }) => path)));
    for (const name of readdirSync(this.#directory)) {
      const path = join(this.#directory, name);
      if (!kept.has(path) && !name.startsWith(NEW)) rmSync(path, { recursive: true, force: true });
    }
  }

  async #export(key: string, since: number): Promise<Export> {
    // An export of an engine that was killed may still be at work, and must not write into this one.
    const made = join(this.#directory, NEW);
    rmSync(made, { recursive: true, force: true });
    const since_ = since === 0 ? [] : ['--since', `${since}`];
    const printed = await this.#run(['export', '--format', 'hats', '--json', '--data', this.#dataDir, ...since_, made]);
    const { sequence } = JSON.parse(printed) as { sequence: number };
    const path = join(this.#directory, `${key}-${since}-${sequence}`);
    rmSync(path, { recursive: true, force: true });
    renameSync(made, path);
    return { path, since, sequence };
  }

  async #run(args: readonly string[]): Promise<string> {
    const main = programFile('src/main.ts');
    const before = programArguments(programFile('.'), this.#dataDir);
    const child = spawn(process.execPath, [...before, main, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    try {
      if (child.pid) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
      const ended = new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve));
      const [printed, said, code] = await Promise.all([text(child.stdout!), text(child.stderr!), ended]);
      if (code !== 0) throw new Error(`the export ended with ${code}: ${said.slice(-500)}`);
      return printed;
    } finally {
      this.#children.delete(child);
    }
  }

  close(): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

/** The directory of this process, which takes over that of a process that has ended, and removes those of others. */
export function ownDirectory(all: string): string {
  const own = join(all, `${process.pid}`);
  mkdirSync(all, { recursive: true });
  for (const name of readdirSync(all)) {
    const path = join(all, name);
    const pid = Number.parseInt(name, 10);
    if (path === own || isAlive(pid)) continue;
    try {
      if (existsSync(own) || name !== `${pid}`) rmSync(path, { recursive: true, force: true });
      else renameSync(path, own);
    } catch (error) {
      // Another engine has taken it.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  mkdirSync(own, { recursive: true });
  return own;
}

/** The number of objects in an export. */
function rowsOf({ path }: Export): number {
  const properties = readFileSync(join(path, 'objects/objects/properties'), 'utf8');
  return Number(/^hats_nrows=(\d+)$/m.exec(properties)?.[1] ?? 0);
}

/** The files of a relation in an export; the schema's is one without rows. */
export function filesOf({ path }: Export, source: Source): string[] {
  const dataset = join(path, source, source, 'dataset');
  const found = readdirSync(dataset, { recursive: true, encoding: 'utf8' });
  const files = found.filter(name => name.endsWith('.parquet') || name === '_common_metadata');
  const aside = join(path, `${source}_without_position.parquet`);
  return [...files.map(name => join(dataset, name)), ...(existsSync(aside) ? [aside] : [])];
}

/** A short text that differs where the database's file or the catalogs differ. */
export function snapshotKey(databaseFile: string, catalogs: unknown): string {
  const { ino, birthtimeMs } = statSync(databaseFile);
  return createHash('sha256')
    .update(`${ino} ${birthtimeMs} ${JSON.stringify(catalogs)}`)
    .digest('hex')
    .slice(0, 12);
}
