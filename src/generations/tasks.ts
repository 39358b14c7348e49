/** The tasks of the pool that builds, merges, saves and opens indexes. */
import type { Generation } from '@nearsky/sky-index';
import type { Task } from '../pool/pool.ts';

/**
 * A generation with a number that is unique within its indexer. The number is needed because two generations may cover
 * the same sequence number.
 */
export interface PublishedGeneration extends Generation {
  readonly number: number;
  /**
   * The bytes of all arenas that the indexer has replaced so far. Whoever held an earlier generation may free the
   * difference.
   */
  readonly replacedBytes: number;
}

/**
 * Builds an arena of the objects stored after the first `rows`, up to a journal entry, and of the points in `absorb`.
 * Objects that were removed after `sequence` are left out, unless they were stored anew.
 */
export interface TailTask extends Task<TailAnswer> {
  readonly kind: 'tail';
  /** The number of rows of the position table to skip; 0 for an index of the whole database. */
  readonly rows: number;
  readonly sequence: number;
  /** The last journal entry to read. */
  readonly last: number;
  /**
   * Whether to leave out rows whose object the database has lost. This check reads every object, so it is only used
   * after an index turned out to be stale.
   */
  readonly checked: boolean;
  readonly absorb: readonly SharedArrayBuffer[];
}

export interface BuiltArena {
  readonly buffer: SharedArrayBuffer;
  readonly length: number;
}

export interface TailAnswer extends IndexedExtent {
  /** Undefined if there is no new object with a position. The arenas of `absorb` then stay unchanged. */
  readonly arena: BuiltArena | undefined;
}

/**
 * Builds arenas again without the objects that were removed after `sequence`. The arenas must have no object that was
 * stored later. An arena without such objects stays as it is: undefined.
 */
export interface PurgeTask extends Task<readonly (BuiltArena | undefined)[]> {
  readonly kind: 'purge';
  readonly sequence: number;
  readonly arenas: readonly SharedArrayBuffer[];
}

/** Merges several arenas into one. */
export interface MergeTask extends Task<BuiltArena> {
  readonly kind: 'merge';
  readonly arenas: readonly SharedArrayBuffer[];
}

export interface IndexedExtent {
  /** The last journal entry that the index covers, inclusive. */
  readonly sequence: number;
  /** The number of rows that the position table then had. */
  readonly rows: number;
}

/** Writes a generation to DATA/index, and replaces the previous one in one step. */
export interface SaveIndexTask extends Task<undefined>, IndexedExtent {
  readonly kind: 'saveIndex';
  readonly arenas: readonly SharedArrayBuffer[];
}

/** Reads the generation in DATA/index. Undefined if there is none, it is damaged, or it belongs to another database. */
export interface OpenIndexTask extends Task<BuiltIndex | undefined> {
  readonly kind: 'openIndex';
}

export interface BuiltIndex extends IndexedExtent {
  readonly arenas: readonly BuiltArena[];
}
