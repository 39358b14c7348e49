/** The pages of an LMDB file, to damage them: read by the layout of LMDB's `midl.h` and `mdb.c`, without our own reader of pages. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HEADER_BYTES = 24;
const NODE_BYTES = 8;
const BRANCH = 1;
/** The flag of a node whose value is on pages of its own. */
const APART = 1;

/** The root of an empty database. */
const NO_PAGE = 2n ** 64n - 1n;

const fileOf = (directory: string) => join(directory, 'nearsky.mdb');

interface Node {
  readonly key: Buffer;
  /** Where its value begins in the file. */
  readonly valueAt: number;
  /** For a branch: the page below. */
  readonly child: number;
  /** For a leaf: the length of the value. */
  readonly bytes: number;
  readonly isApart: boolean;
}

class Pages {
  readonly file: Buffer;
  readonly bytes: number;

  constructor(directory: string) {
    this.file = readFileSync(fileOf(directory));
    this.bytes = this.file.readUInt32LE(48);
  }

  isBranch(page: number): boolean {
    return this.file.readUInt16LE(page * this.bytes + 18) === BRANCH;
  }

  nodes(page: number): Node[] {
    const { file } = this;
    const start = page * this.bytes;
    return Array.from({ length: file.readUInt16LE(start + 20) / 2 }, (_, i) => {
      const at = start + HEADER_BYTES + file.readUInt16LE(start + HEADER_BYTES + 2 * i);
      const valueAt = at + NODE_BYTES + file.readUInt16LE(at + 6);
      const [child, bytes] = [file.readUInt32LE(at), file.readUInt32LE(at)];
      const isApart = (file.readUInt16LE(at + 4) & APART) !== 0;
      return { key: file.subarray(at + NODE_BYTES, valueAt), valueAt, child, bytes, isApart };
    });
  }

  /** The leaves of a database, in the order of their keys. */
  leaves(database: string): number[] {
    const metas = [0, this.bytes].map(at => ({ at, txnid: this.file.readBigUInt64LE(at + 152) }));
    const { at } = metas.reduce((a, b) => (b.txnid > a.txnid ? b : a));
    const list = this.#below(Number(this.file.readBigUInt64LE(at + 136))).flatMap(page => this.nodes(page));
    const found = list.find(({ key }) => key.toString('latin1').replace('\0', '') === database)!;
    const root = this.file.readBigUInt64LE(found.valueAt + 40);
    return root === NO_PAGE ? [] : this.#below(Number(root));
  }

  #below(page: number): number[] {
    return this.isBranch(page) ? this.nodes(page).flatMap(({ child }) => this.#below(child)) : [page];
  }
}

/** Where the file has a value of a database that is read: not on a free page. */
export function valuesOf(directory: string, database: string): { readonly at: number; readonly bytes: number }[] {
  const pages = new Pages(directory);
  return pages
    .leaves(database)
    .flatMap(page => pages.nodes(page))
    .filter(({ bytes, isApart }) => bytes > 0 && !isApart)
    .map(({ valueAt, bytes }) => ({ at: valueAt, bytes }));
}

/** Lets a leaf of a database hold zeros, as where a disk has lost it. */
export function blankLeaf(directory: string, database: string, at: number): void {
  const pages = new Pages(directory);
  const page = pages.leaves(database).at(at)!;
  pages.file.fill(0, page * pages.bytes, (page + 1) * pages.bytes);
  writeFileSync(fileOf(directory), pages.file);
}

/** The number of leaves of a database. */
export const countLeaves = (directory: string, database: string): number =>
  new Pages(directory).leaves(database).length;

/**
 * Lets a leaf of a database hold the bytes of another leaf of it; returns the numbers of entries of both.
 * @param from @param to which of its leaves, from 0
 */
export function copyLeaf(directory: string, database: string, from: number, to: number): [number, number] {
  const pages = new Pages(directory);
  const leaves = pages.leaves(database);
  const [source, target] = [leaves.at(from)!, leaves.at(to)!];
  const counts: [number, number] = [pages.nodes(source).length, pages.nodes(target).length];
  const { file, bytes } = pages;
  file.copy(file, target * bytes, source * bytes, (source + 1) * bytes);
  writeFileSync(fileOf(directory), file);
  return counts;
}
