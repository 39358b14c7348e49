import { noteGarbage } from '../base/shared_memory.ts';
import type { BuiltArena, BuiltIndex, IndexedExtent, MergeAnswer, PublishedGeneration, TailAnswer } from './tasks.ts';

/**
 * An arena of up to this many rows is rebuilt together with new rows, so that no further arena is needed. This takes
 * well under a millisecond.
 */
const ABSORB_ROWS = 1024;
/**
 * The limit during a long merge, while other arenas wait. It is higher, to keep the number of arenas low. Rebuilding
 * then takes tens of milliseconds.
 */
const ABSORB_ROWS_CROWDED = 65_536;

/** The arenas that represent the journal up to a sequence number. An arena is never changed, only replaced. */
export class LiveIndex {
  #arenas: readonly BuiltArena[];
  #extent: IndexedExtent;
  #replacedBytes: number;
  /** Arenas that are being merged. They must stay until the merged arena replaces them. */
  readonly #merging = new Set<BuiltArena>();

  /** @param replacedBytes the bytes of all arenas that the indexer replaced before */
  constructor({ arenas, sequence, rows }: BuiltIndex, replacedBytes: number) {
    this.#arenas = arenas;
    this.#extent = { sequence, rows };
    this.#replacedBytes = replacedBytes;
  }

  get extent(): IndexedExtent {
    return this.#extent;
  }

  get buffers(): SharedArrayBuffer[] {
    return this.#arenas.map(({ buffer }) => buffer);
  }

  get arenaCount(): number {
    return this.#arenas.length;
  }

  get length(): number {
    return this.#arenas.reduce((sum, { length }) => sum + length, 0);
  }

  generation(number: number): PublishedGeneration {
    const { sequence } = this.#extent;
    const purgedTo = this.#arenas.map(arena => arena.sequence);
    return { number, sequence, purgedTo, arenas: this.buffers, replacedBytes: this.#replacedBytes };
  }

  /** The small arenas that should be rebuilt together with new rows. */
  toAbsorb(): BuiltArena[] {
    const isCrowded = this.#arenas.length - this.#merging.size > MAX_ARENAS;
    const limit = isCrowded ? ABSORB_ROWS_CROWDED : ABSORB_ROWS;
    return this.#arenas.filter(arena => arena.length <= limit && !this.#merging.has(arena));
  }

  /** Advances the index. `arena` contains the new rows and the rows of `absorbed`. */
  extend({ sequence, rows, arena }: TailAnswer, absorbed: readonly BuiltArena[]): void {
    this.#extent = { sequence, rows };
    if (arena) this.#replace(absorbed, arena);
  }

  /** Whether the arenas have no object that was removed up to this journal entry. */
  isPurgedTo(sequence: number): boolean {
    return this.#arenas.every(arena => arena.sequence >= sequence);
  }

  /**
   * The arenas to merge now, or one that may have removed objects; usually none. They are reserved until `merged` or
   * `discard` is called.
   * @param lastRemoval the journal entry of the last removal
   */
  takeForMerge(lastRemoval: number): BuiltArena[] {
    if (this.#merging.size > 0) return [];
    const taken = planMerge(this.#arenas.map(({ length }) => length)).map(position => this.#arenas[position]!);
    const [oldest] = this.#arenas.toSorted((a, b) => a.sequence - b.sequence);
    if (taken.length === 0 && oldest && oldest.sequence < lastRemoval) taken.push(oldest);
    for (const arena of taken) this.#merging.add(arena);
    return taken;
  }

  merged(parts: readonly BuiltArena[], { sequence, arena }: MergeAnswer): void {
    if (arena) this.#replace(parts, arena);
    else this.#arenas = this.#arenas.map(kept => (parts.includes(kept) ? { ...kept, sequence } : kept));
    this.discard(parts);
  }

  discard(parts: readonly BuiltArena[]): void {
    for (const arena of parts) this.#merging.delete(arena);
  }

  /**
   * Call this once, when another index replaces this one. Returns the bytes of all arenas that the indexer has then
   * replaced.
   */
  letGo(): number {
    this.#noteReplaced(this.#arenas);
    return this.#replacedBytes;
  }

  #replace(old: readonly BuiltArena[], arena: BuiltArena): void {
    this.#arenas = [...this.#arenas.filter(kept => !old.includes(kept)), arena];
    this.#noteReplaced(old);
  }

  #noteReplaced(arenas: readonly BuiltArena[]): void {
    const bytes = arenas.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
    this.#replacedBytes += bytes;
    noteGarbage(bytes);
  }
}

/** If there are more arenas than this, some are merged. */
export const MAX_ARENAS = 8;
/** The minimum number of arenas in a merge. A smaller merge would not justify the copying. */
const MIN_MERGED = 4;
/** A merged arena is at most the next larger arena divided by this, so that each row is copied only a few times. */
const RATIO = 2;

/**
 * Chooses the arenas that should be merged into one, as indexes into `lengths` (points each). It merges the smallest
 * arenas, and as few as possible, so that the sizes differ enough afterwards. Empty while there are at most MAX_ARENAS.
 * If arenas arrive one by one, a row is copied about log2(rows) times.
 */
export function planMerge(lengths: readonly number[]): number[] {
  if (lengths.length <= MAX_ARENAS) return [];
  const bySize = lengths.map((length, position) => ({ length, position })).sort((a, b) => b.length - a.length);
  let start = bySize.length - MIN_MERGED;
  let sum = bySize.slice(start).reduce((total, { length }) => total + length, 0);
  while (start > 0 && sum * RATIO > bySize[start - 1]!.length) sum += bySize[--start]!.length;
  return bySize.slice(start).map(({ position }) => position);
}
