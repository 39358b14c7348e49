/** The tasks of the pool that builds, merges, saves and opens indexes. */
import type { Generation } from '@nearsky/sky-index';
import type { Task } from '../pool/pool.ts';

/**
 * A generation with a number that is unique within its indexer. The number is needed because two generations may cover
 * the same sequence number.
 */
export interface PublishedGeneration extends Generation {
  readonly number: number;
  /** One number for each arena: see `BuiltArena.sequence`. */
  readonly purgedTo: readonly number[];
  /**
   * The bytes of all arenas that the indexer has replaced so far. Whoever held an earlier generation may free the
   * difference.
   */
  readonly replacedBytes: number;
}

/**
 * Builds an arena of the objects stored after the first `rows`, and of the points in `absorb`, without the objects that
 * were removed since.
 */
export interface TailTask extends Task<TailAnswer> {
  readonly module: 'src/core/generations/build';
  readonly kind: 'tail';
  /** The number of rows of the position table to skip; 0 for an index of the whole database. */
  readonly rows: number;
  /** The journal entry with which the position table had that number of rows. */
  readonly sequence: number;
  /**
   * Whether to leave out rows whose object the database has lost. This check reads every object, so it is only used
   * after an index turned out to be stale.
   */
  readonly checked: boolean;
  readonly absorb: readonly BuiltArena[];
}

export interface BuiltArena {
  readonly buffer: SharedArrayBuffer;
  readonly length: number;
  /**
   * All its objects were stored up to this journal entry, and none was removed up to it. Objects that were removed later
   * are still in the arena.
   */
  readonly sequence: number;
}

export interface TailAnswer extends IndexedExtent {
  /** Undefined if there is no new object with a position. The arenas of `absorb` then stay unchanged. */
  readonly arena: BuiltArena | undefined;
}

/** Makes one arena of arenas, without the objects that were removed since they were built. */
export interface MergeTask extends Task<MergeAnswer> {
  readonly module: 'src/core/generations/build';
  readonly kind: 'merge';
  readonly arenas: readonly BuiltArena[];
}

export interface MergeAnswer {
  /** The last journal entry whose removals the arena follows. */
  readonly sequence: number;
  /** Undefined if there is only one arena, and none of its objects was removed. */
  readonly arena: BuiltArena | undefined;
}

export interface IndexedExtent {
  /** The last journal entry that the index covers, inclusive. */
  readonly sequence: number;
  /** The number of rows that the position table then had. */
  readonly rows: number;
}

/** Writes a generation to DATA/index, and replaces the previous one in one step. */
export interface SaveIndexTask extends Task<undefined>, IndexedExtent {
  readonly module: 'src/core/generations/index_file';
  readonly kind: 'saveIndex';
  readonly arenas: readonly SharedArrayBuffer[];
}

/** Reads the generation in DATA/index. Undefined if there is none, it is damaged, or it belongs to another database. */
export interface OpenIndexTask extends Task<BuiltIndex | undefined> {
  readonly module: 'src/core/generations/index_file';
  readonly kind: 'openIndex';
}

export interface BuiltIndex extends IndexedExtent {
  readonly arenas: readonly BuiltArena[];
}
