/**
 * Checks the pages of a database file without LMDB. LMDB trusts its file, so a damaged page can crash the process.
 * Every page of a tree must carry its own number, have valid contents for its type, have its keys in order, and belong
 * to one tree only. A page that is listed as free must not belong to a tree, and must be listed only once, because LMDB
 * writes the next commits there. A page that is neither used nor free only wastes space.
 *
 * The file is read by its newest meta page. While another process writes, the result is valid only if a read
 * transaction is held. Otherwise pages may be overwritten during the check; a changed `PageReport.txnid` reveals that.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const HEADER_BYTES = 24;
const NODE_BYTES = 8;
const META_MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const MAX_PAGE_BYTES = 65_536;
const NO_PAGE = 2n ** 64n - 1n;
const [BRANCH, LEAF, OVERFLOW] = [1, 2, 4];
const [BIG_DATA, SUB_DATABASE] = [1, 2];
/**
 * The offsets of two descriptions in a meta page, for the tree of free pages and for the main tree, and the length of
 * each.
 */
const [FREE_TREE_AT, MAIN_TREE_AT, TREE_BYTES] = [48, 96, 48];
const FREE_PAGES = 'the tree of free pages';
/** The known use of a page. */
const [USED, FREE] = [1, 2];
const MAX_FAULTS = 20;
const PROGRESS_PAGES = 10_000;

interface PageReport {
  /** The faults as messages; empty if there are none. The list is limited, because one fault can cause many more. */
  readonly faults: readonly string[];
  /** The number of the newest commit. */
  readonly txnid: bigint;
  readonly pages: number;
  /** Whether the file ends before its last page. That is no fault unless a tree uses the page. */
  readonly isShort: boolean;
}

interface Tree {
  readonly name: string;
  readonly root: bigint;
  readonly depth: number;
  readonly branchPages: bigint;
  readonly leafPages: bigint;
  readonly overflowPages: bigint;
  readonly entries: bigint;
}

interface PageOptions {
  /** The databases to check; by default all of them, and the tree of free pages. */
  readonly only?: readonly string[];
  /** Called from time to time with the number of pages checked so far. */
  readonly onProgress?: (pages: number) => void;
}

/** @throws an error of the file system */
export function checkPages(file: string, options: PageOptions = {}): PageReport {
  const descriptor = openSync(file, 'r');
  try {
    return new PageWalk(descriptor, options).run();
  } finally {
    closeSync(descriptor);
  }
}

/** A fault that ends the walk of one tree. */
class PageFault extends Error {}

class PageWalk {
  readonly #descriptor: number;
  readonly #options: PageOptions;
  #size = 0;
  readonly #faults: string[] = [];
  #pageBytes = 0;
  #lastPage = 0n;
  #txnid = 0n;
  #seen = new Uint8Array(0);
  #pages = 0;

  constructor(descriptor: number, options: PageOptions) {
    this.#descriptor = descriptor;
    this.#options = options;
  }

  run(): PageReport {
    const meta = this.#newestMeta();
    // A writer extends the file before it writes the meta page that states the new length.
    this.#size = fstatSync(this.#descriptor).size;
    if (meta) {
      this.#seen = new Uint8Array(Math.ceil(this.#size / this.#pageBytes));
      const { only } = this.#options;
      const free: Buffer[] = [];
      if (!only)
        this.#walk(treeAt(meta, FREE_TREE_AT, FREE_PAGES), (_key, _flags, list) => free.push(Buffer.from(list)));
      this.#walk(treeAt(meta, MAIN_TREE_AT, 'the list of databases'), (key, flags, data) => {
        const name = key.toString('latin1').replace(/\0$/, '');
        if (!(flags & SUB_DATABASE) || data.length !== TREE_BYTES) throw new PageFault(`${name} is not a database`);
        if (!only || only.includes(name)) this.#walk(treeAt(Buffer.from(data), 0, name), () => {});
      });
      for (const list of free) this.#checkFree(list);
    }
    const isShort = Number(this.#lastPage + 1n) * this.#pageBytes > this.#size;
    return { faults: this.#faults, txnid: this.#txnid, pages: this.#pages, isShort };
  }

  #newestMeta(): Buffer | undefined {
    const first = this.#bytes(0, 168);
    this.#pageBytes = first.readUInt32LE(FREE_TREE_AT);
    const isSize =
      this.#pageBytes >= 512 && this.#pageBytes <= MAX_PAGE_BYTES && Number.isInteger(Math.log2(this.#pageBytes));
    if (!isMeta(first) || !isSize) {
      this.#faults.push('the first page is not the first page of an LMDB file');
      return undefined;
    }
    const second = this.#bytes(this.#pageBytes, 168);
    if (!isMeta(second)) {
      this.#faults.push('the second page is not the second page of an LMDB file');
      return undefined;
    }
    const txnid = (meta: Buffer) => meta.readBigUInt64LE(152);
    const meta = txnid(second) > txnid(first) ? second : first;
    this.#txnid = txnid(meta);
    this.#lastPage = meta.readBigUInt64LE(144);
    return meta;
  }

  #walk(tree: Tree, onEntry: (key: Buffer, flags: number, data: Buffer) => void): void {
    if (this.#faults.length >= MAX_FAULTS) return;
    const found = { branch: 0n, leaf: 0n, overflow: 0n, entries: 0n };
    let last: Buffer | undefined;
    const ordered = tree.name !== FREE_PAGES;
    const visit = (number: bigint, level: number, from: Buffer | undefined): void => {
      const page = Buffer.from(this.#page(number, level === tree.depth ? LEAF : BRANCH));
      const isLeaf = level === tree.depth;
      if (isLeaf) found.leaf++;
      else found.branch++;
      const nodes = this.#nodes(page, number);
      for (const [i, at] of nodes.entries()) {
        const flags = page.readUInt16LE(at + 4);
        const keyEnd = at + NODE_BYTES + page.readUInt16LE(at + 6);
        if (keyEnd > page.length) throw new PageFault(`page ${number} has a key beyond its end`);
        const key = page.subarray(at + NODE_BYTES, keyEnd);
        if (!isLeaf) {
          const child = BigInt(page.readUInt32LE(at)) | (BigInt(flags) << 32n);
          // LMDB never reads the first key of a branch page.
          visit(child, level + 1, i === 0 ? from : key);
          continue;
        }
        if (ordered && last && Buffer.compare(last, key) >= 0)
          throw new PageFault(`page ${number} has keys out of order`);
        if (ordered && from && i === 0 && Buffer.compare(from, key) > 0)
          throw new PageFault(`page ${number} has a key that belongs to another page`);
        last = key;
        found.entries++;
        const length = page.readUInt32LE(at);
        if (flags & ~(BIG_DATA | SUB_DATABASE)) throw new PageFault(`page ${number} has an entry of an unknown kind`);
        const end = keyEnd + (flags & BIG_DATA ? HEADER_BYTES : length);
        if (end > page.length) throw new PageFault(`page ${number} has a value beyond its end`);
        const first = flags & BIG_DATA ? page.readBigUInt64LE(keyEnd) : undefined;
        if (first !== undefined) found.overflow += this.#overflow(first, length);
        // The content of a long value matters only if it is a list of free pages.
        const isRead = first !== undefined && !ordered;
        const value = isRead ? this.#bytes(this.#placeOf(first) + HEADER_BYTES, length) : page.subarray(keyEnd, end);
        onEntry(key, flags, value);
      }
    };
    try {
      if (tree.root !== NO_PAGE) visit(tree.root, 1, undefined);
      for (const [what, is, said] of [
        ['branch pages', found.branch, tree.branchPages],
        ['leaf pages', found.leaf, tree.leafPages],
        ['overflow pages', found.overflow, tree.overflowPages],
        ['entries', found.entries, tree.entries],
      ] as const)
        if (is !== said) throw new PageFault(`it has ${is} ${what}, but ${said} are recorded`);
    } catch (error) {
      if (!(error instanceof PageFault)) throw error;
      this.#faults.push(`${tree.name}: ${error.message}`);
    }
  }

  /**
   * Checks a list of free pages. Its first word is the number of words that follow. Each of those is a page, 0 for
   * nothing, or a negative count of pages that start at the page in the next word.
   */
  #checkFree(list: Buffer): void {
    const words = list.length >= 8 ? Number(list.readBigInt64LE(0)) : -1;
    if (words < 0 || 8 * (words + 1) > list.length) {
      this.#faults.push(`${FREE_PAGES}: a list is longer than its entry`);
      return;
    }
    let count = 1;
    for (let i = 1; i <= words && this.#faults.length < MAX_FAULTS; i++) {
      const word = Number(list.readBigInt64LE(8 * i));
      if (word > 0) for (let page = word; page < word + count; page++) this.#checkFreePage(page);
      count = Math.max(1, -word);
    }
  }

  #checkFreePage(page: number): void {
    if (this.#faults.length >= MAX_FAULTS) return;
    if (page < 2 || page > Number(this.#lastPage))
      this.#faults.push(`${FREE_PAGES}: it lists page ${page}, which does not exist`);
    else if (this.#seen[page] === USED) this.#faults.push(`${FREE_PAGES}: page ${page} is in use`);
    else if (this.#seen[page] === FREE) this.#faults.push(`${FREE_PAGES}: page ${page} is listed twice`);
    // Writing beyond the end of the array has no effect. This happens if the file is shorter than its last page.
    else this.#seen[page] = FREE;
  }

  /** The offsets of a page's nodes. */
  #nodes(page: Buffer, number: bigint): number[] {
    const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)];
    if (lower % 2 !== 0 || lower > upper || upper > page.length - HEADER_BYTES || lower === 0) {
      throw new PageFault(`page ${number} has impossible bounds`);
    }
    return Array.from({ length: lower / 2 }, (_, i) => {
      const at = page.readUInt16LE(HEADER_BYTES + 2 * i) + HEADER_BYTES;
      if (at < upper + HEADER_BYTES || at + NODE_BYTES > page.length) {
        throw new PageFault(`page ${number} has an entry outside of it`);
      }
      return at;
    });
  }

  /**
   * The number of pages of a value that has pages of its own. It may be more than the value needs, if the same commit
   * replaced a longer value.
   */
  #overflow(number: bigint, length: number): bigint {
    const needed = BigInt(Math.floor((HEADER_BYTES - 1 + length) / this.#pageBytes) + 1);
    const count = BigInt(this.#page(number, OVERFLOW, needed).readUInt32LE(20));
    if (count < needed) throw new PageFault(`page ${number} is part of a value with a different number of pages`);
    this.#use(number + needed, number + count);
    return count;
  }

  /** Reads a page of that type into its own buffer. If several pages belong together, reads only the first. */
  #page(number: bigint, kind: number, count = 1n): Buffer {
    this.#use(number, number + count);
    if (this.#pages % PROGRESS_PAGES === 0) this.#options.onProgress?.(this.#pages);
    const page = this.#bytes(this.#placeOf(number), kind === OVERFLOW ? HEADER_BYTES : this.#pageBytes);
    if (page.readBigUInt64LE(0) !== number) throw new PageFault(`page ${number} contains the number of another page`);
    if (page.readBigUInt64LE(8) > this.#txnid) throw new PageFault(`page ${number} belongs to a later commit`);
    if (page.readUInt16LE(18) !== kind) throw new PageFault(`page ${number} has another type`);
    return page;
  }

  /** Records that the pages from `number` to `end` (exclusive) belong to a tree. */
  #use(number: bigint, end: bigint): void {
    if (number < 2n || end > this.#lastPage + 1n)
      throw new PageFault(`it refers to page ${number}, which does not exist`);
    if (this.#placeOf(end) > this.#size) {
      throw new PageFault(`page ${number} lies beyond the end of the file, which was truncated`);
    }
    for (let i = Number(number); i < Number(end); i++) {
      if (this.#seen[i]) throw new PageFault(`page ${i} is used twice`);
      this.#seen[i] = USED;
    }
    this.#pages += Number(end - number);
  }

  #placeOf(page: bigint): number {
    return Number(page) * this.#pageBytes;
  }

  #bytes(from: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    readSync(this.#descriptor, bytes, 0, length, from);
    return bytes;
  }
}

const isMeta = (page: Buffer) => page.readUInt32LE(24) === META_MAGIC && page.readUInt16LE(28) === DATA_VERSION;

function treeAt(bytes: Buffer, at: number, name: string): Tree {
  return {
    name,
    depth: bytes.readUInt16LE(at + 6),
    branchPages: bytes.readBigUInt64LE(at + 8),
    leafPages: bytes.readBigUInt64LE(at + 16),
    overflowPages: bytes.readBigUInt64LE(at + 24),
    entries: bytes.readBigUInt64LE(at + 32),
    root: bytes.readBigUInt64LE(at + 40),
  };
}
