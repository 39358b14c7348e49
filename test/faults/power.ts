/**
 * The states that a power cut may leave of the changes that `faults.c` recorded: flushed changes are there; of the rest any part is, a sector at a
 * time. Entries of a directory become durable with a flush of the directory, in the order in which they were made; a file's own flush
 * does not make its name durable, because only some file systems are so kind.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const SECTOR_BYTES = 512;

const CHANGES = ['', 'write', 'truncate', 'create', 'mkdir', 'rename', 'remove', 'sync', 'print'] as const;

/** One change, in the order in which they happened. */
export interface Change {
  readonly kind: (typeof CHANGES)[number];
  /** Whether the write was on the disk when it returned. */
  readonly isDurable: boolean;
  readonly path: string;
  /** The new path of what is renamed. */
  readonly second: string;
  /** Where a write begins, or the new length. */
  readonly offset: number;
  readonly data: Buffer;
}

export function readChanges(file: string): Change[] {
  const bytes = readFileSync(file);
  const changes: Change[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [kind, isDurable, pathBytes, secondBytes] = [0, 4, 8, 12].map(i => bytes.readUInt32LE(at + i)) as [
      number,
      number,
      number,
      number,
    ];
    const offset = Number(bytes.readBigUInt64LE(at + 16));
    // Only writes and printed lines have data.
    const dataBytes = Number(bytes.readBigUInt64LE(at + 24));
    at += 32;
    const take = (length: number) => bytes.subarray(at, (at += length));
    changes.push({
      kind: CHANGES[kind]!,
      isDurable: isDurable === 1,
      path: take(pathBytes).toString(),
      second: take(secondBytes).toString(),
      offset,
      data: take(dataBytes),
    });
  }
  return changes;
}

interface File {
  readonly base: Buffer;
  readonly changes: { readonly at: number; readonly change: Change }[];
  /** Changes before this one are durable. */
  flushed: number;
}

interface Directory {
  /** The files before the first change. */
  readonly base: ReadonlyMap<string, Item>;
  readonly entries: Map<string, Item>;
  /** A name gets an item or loses it. */
  readonly changes: { readonly at: number; readonly name: string; readonly item: Item | undefined }[];
  flushed: number;
}

type Item = File | Directory;

const isDirectory = (item: Item): item is Directory => 'entries' in item;

function readItem(path: string): Directory {
  const base = new Map<string, Item>();
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    const file = () => ({ base: readFileSync(inside), changes: [], flushed: 0 });
    base.set(entry.name, entry.isDirectory() ? readItem(inside) : file());
  }
  return { base, entries: new Map(base), changes: [], flushed: 0 };
}

/** How much of the unflushed data survives the cut. */
export type Survival = 'nothing' | 'everything' | 'sectors' | 'changes';
export const SURVIVALS: readonly Survival[] = ['nothing', 'everything', 'sectors', 'changes'];

/** A directory to which recorded changes happen, up to the power cut. */
export class Disk {
  readonly #path: string;
  readonly #root: Directory;
  #at = 0;

  /** @param path the directory that was recorded, as the changes name it; what it begins with is read from `base` */
  constructor(path: string, base: string) {
    this.#path = path;
    this.#root = readItem(base);
  }

  apply(change: Change): void {
    const at = this.#at++;
    const { kind, path, second } = change;
    if (kind === 'print') return;
    const [directory, name] = kind === 'sync' && path === this.#path ? [this.#root, ''] : this.#entry(path);
    const put = (into: Directory, key: string, item: Item | undefined) => {
      into.changes.push({ at, name: key, item });
      if (item) into.entries.set(key, item);
      else into.entries.delete(key);
    };
    const item = name === '' ? directory : directory.entries.get(name);
    switch (kind) {
      case 'create':
        put(directory, name, { base: Buffer.alloc(0), changes: [], flushed: 0 });
        break;
      case 'mkdir':
        put(directory, name, { base: new Map(), entries: new Map(), changes: [], flushed: 0 });
        break;
      case 'remove':
        put(directory, name, undefined);
        break;
      case 'rename': {
        const [target, newName] = this.#entry(second);
        put(target, newName, item);
        put(directory, name, undefined);
        break;
      }
      case 'sync':
        // The bytes of a removed file are unknown.
        if (item) item.flushed = at;
        break;
      default:
        if (item && !isDirectory(item)) item.changes.push({ at, change });
    }
  }

  #entry(path: string): [Directory, string] {
    const names = path.slice(this.#path.length + 1).split('/');
    let directory = this.#root;
    for (const name of names.slice(0, -1)) directory = directory.entries.get(name) as Directory;
    return [directory, names.at(-1)!];
  }

  /**
   * Writes what is left into a new directory.
   * @param torn a write that had begun at the cut
   */
  leave(target: string, survival: Survival, random: () => number, torn?: Change): void {
    const at = this.#at;
    let inFlight: Item | undefined;
    if (torn?.kind === 'write') {
      const [directory, name] = this.#entry(torn.path);
      inFlight = directory.entries.get(name);
    }
    const write = (item: Item, path: string) => {
      if (!isDirectory(item)) {
        const changes = item === inFlight ? [...item.changes, { at, change: torn! }] : item.changes;
        writeFileSync(path, contents({ ...item, changes }, at, survival, random));
        return;
      }
      mkdirSync(path);
      const pending = item.changes.filter(change => change.at >= item.flushed).length;
      const survive = { nothing: 0, everything: pending }[survival as string] ?? Math.floor(random() * (pending + 1));
      const entries = new Map(item.base);
      for (const { name, item: inside } of item.changes.slice(0, item.changes.length - pending + survive)) {
        if (inside) entries.set(name, inside);
        else entries.delete(name);
      }
      for (const [name, inside] of entries) write(inside, join(path, name));
    };
    mkdirSync(dirname(target), { recursive: true });
    write(this.#root, target);
  }
}

function contents({ base, changes, flushed }: File, cut: number, survival: Survival, random: () => number): Buffer {
  let bytes = Buffer.from(base);
  const resize = (length: number) => {
    const resized = Buffer.alloc(length);
    bytes.copy(resized);
    bytes = resized;
  };
  const isLucky = () => random() < 0.5;
  for (const { at, change } of changes) {
    const { kind, offset, data } = change;
    // A write that was in progress at the cut had not returned.
    const isSafe = at < flushed || (change.isDurable && at < cut) || survival === 'everything';
    if (!isSafe && (survival === 'nothing' || (survival === 'changes' && !isLucky()))) continue;
    if (kind === 'truncate') {
      if (isSafe || survival === 'changes' || isLucky()) resize(offset);
      continue;
    }
    for (let from = 0; from < data.length; ) {
      // Sectors lie where the file's offsets say.
      const to = Math.min(data.length, from + SECTOR_BYTES - ((offset + from) % SECTOR_BYTES));
      if (isSafe || survival === 'changes' || isLucky()) {
        if (bytes.length < offset + to) resize(offset + to);
        data.copy(bytes, offset + from, from, to);
      }
      from = to;
    }
  }
  return bytes;
}
