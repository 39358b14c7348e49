import type { CatalogName } from '../contract/catalogs.ts';

/** One HEALPix pixel's share of a catalog. */
export interface Partition {
  readonly order: number;
  /** NESTED. */
  readonly ipix: number;
  /** Parquet files, relative to the catalog's location, with `/` between the parts. */
  readonly files: readonly string[];
}

/** Where a payload value comes from. */
export interface PayloadColumn {
  /** The key that it is stored and served under: the lowercased column name. */
  readonly key: string;
  /** The column as the files spell it, or null where this copy of the catalog has none: the value is then null. */
  readonly column: string | null;
}

/** The columns of one copy of a catalog, as its files spell them. */
export interface CatalogColumns {
  readonly id: string;
  readonly ra: string;
  readonly dec: string;
  readonly payload: readonly PayloadColumn[];
}

/** The part of the sky that a catalog covers; `index`'s Coverage as plain data. */
export interface StoredCoverage {
  /**
   * The order that the footprint is really known at: the definition's, or a coarser one where the catalog's map is
   * coarser.
   */
  readonly order: number;
  /** Sorted, disjoint [start, end) pairs of NESTED pixels at `order`, as little-endian uint32. */
  readonly ranges: Uint8Array;
  /** The name of the map file that it was read from, or `rows`. */
  readonly source: string;
  /** Pixels of the map that no partition touches, left out of the footprint; undefined in a registration of before they were. */
  readonly pixelsLeftOut?: number;
}

/** Rows, and those that can be the source of no match. null where that was not counted. */
export interface RowCounts {
  readonly rows: number;
  /** The right ascension or the declination is null, not finite, or the latter beyond 90 degrees. */
  readonly withoutPosition: number | null;
  readonly withoutId: number | null;
}

/** A catalog that crossmatching searches: plain data, as it is stored. */
export interface CatalogRegistration {
  readonly name: CatalogName;
  /** Absolute path or address of the HATS directory that holds the table itself (not of a collection above it). */
  readonly location: string;
  readonly addedAtUs: number;
  /** Ascending by order, then ipix. */
  readonly partitions: readonly Partition[];
  readonly columns: CatalogColumns;
  readonly coverage: StoredCoverage;
  /** What its files hold, as looked at when it was added; null where they were not, undefined in a registration of before they were. */
  readonly counted?: RowCounts | null;
  /** What the properties file says, for people: number of rows (null where it does not), builder, release date. */
  readonly hats: {
    readonly rows: number | null;
    readonly builder: string | null;
    readonly releaseDate: string | null;
  };
}
