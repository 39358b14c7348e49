/** The tasks of the pool that builds, merges, saves and opens indexes. */
import type { Generation } from '@nearsky/sky-index';
import type { Task } from '../pool/pool.ts';

/**
 * A generation with a number that is unique within its indexer, because two generations may cover the same sequence
 * number.
 */
export interface PublishedGeneration extends Generation {
  readonly number: number;
  /**
   * The bytes of arenas that the indexer has replaced so far. Holders of an earlier generation may free the
   * difference.
   */
  readonly replacedBytes: number;
}

/** Builds one arena from the objects stored after the first `rows`, and from the points of `absorb`. */
export interface TailTask extends Task<TailAnswer> {
  readonly kind: 'tail';
  /** Rows of the position table; 0 for an index of the whole database. */
  readonly rows: number;
  /**
   * Leaves out rows whose object the database has lost. The check reads every object, so it is for an index that
   * follows a stale one.
   */
  readonly checked: boolean;
  readonly absorb: readonly SharedArrayBuffer[];
}

export interface BuiltArena {
  readonly buffer: SharedArrayBuffer;
  readonly length: number;
}

export interface TailAnswer extends IndexedExtent {
  /** Undefined when there is no new object that can be indexed; `absorb` then stays as it is. */
  readonly arena: BuiltArena | undefined;
}

/** Merges several arenas into one. */
export interface MergeTask extends Task<BuiltArena> {
  readonly kind: 'merge';
  readonly arenas: readonly SharedArrayBuffer[];
}

export interface IndexedExtent {
  /** The last journal entry that the index covers, inclusive. */
  readonly sequence: number;
  /** The number of rows that the position table had then. */
  readonly rows: number;
}

/** Writes a generation to DATA/index, replacing the present one in one step. */
export interface SaveIndexTask extends Task<undefined>, IndexedExtent {
  readonly kind: 'saveIndex';
  readonly arenas: readonly SharedArrayBuffer[];
}

/**
 * Reads the generation in DATA/index; undefined when there is none, it is damaged, or it belongs to another database.
 */
export interface OpenIndexTask extends Task<BuiltIndex | undefined> {
  readonly kind: 'openIndex';
}

export interface BuiltIndex extends IndexedExtent {
  readonly arenas: readonly BuiltArena[];
}
