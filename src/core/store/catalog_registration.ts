import type { ColumnKind } from '@nearsky/astrotables/columns';
import type { Partition } from '@nearsky/hats/partition';
import type { DescribedRegistration } from '../contract/catalogs.ts';
import type { Databases } from './databases.ts';
import { decodePlain } from './records.ts';
import type { Range } from './table.ts';

/** One payload value: its key and its column. */
export interface PayloadColumn {
  /** The key under which the value is stored and served: the lowercased column name. */
  readonly key: string;
  /**
   * The column as the files spell it; null if this copy of the catalog has no such column, and the value is then null.
   */
  readonly column: string | null;
  /**
   * The kind of values that the column has in all files: the kinds of other files must be joined to it without a change.
   * Undefined if this copy lacks the column.
   */
  readonly kind?: ColumnKind;
  /** The kinds in the files, if these differ. */
  readonly kinds?: readonly ColumnKind[];
  /** The number of files that have no values of the column, because they lack it or state no type; undefined for 0. */
  readonly filesWithout?: number;
}

/** The columns of one copy of a catalog, as its files spell them. */
export interface CatalogColumns {
  readonly id: string;
  /**
   * Whether ids are strings, according to the catalog's definition. It is stored here because the readers of the files
   * do not have the definition.
   */
  readonly hasTextIds?: boolean;
  readonly ra: string;
  readonly dec: string;
  readonly payload: readonly PayloadColumn[];
  /** Whether the positions are float32 numbers; comparisons do not convert them. */
  readonly hasSinglePositions?: boolean;
}

/** The part of the sky that a catalog covers; `index`'s Coverage as plain data. */
export interface StoredCoverage {
  /**
   * The order of the footprint: the order of the definition, or a coarser one if the catalog's map is coarser or its
   * rows are sparse.
   */
  readonly order: number;
  /** Sorted, disjoint [start, end) pairs of NESTED pixels at `order`, as little-endian uint32. */
  readonly ranges: Uint8Array;
  /** The name of the map or area file that the footprint was read from, `rows` or `all-sky`. */
  readonly source: string;
  /** The number of pixels of the map that are outside all partitions, so that the footprint omits them. */
  readonly pixelsLeftOut: number;
  /**
   * Set if the rows are too sparse for a finer footprint: the order that the footprint would otherwise have, and the
   * mean number of rows per pixel of that order.
   */
  readonly sparse?: { readonly order: number; readonly rowsPerPixel: number };
}

/** The number of rows, and of rows that cannot match anything; null if they were not counted. */
export interface RowCounts {
  readonly rows: number;
  /** The right ascension or the declination is null or not finite, or the declination is beyond 90 degrees. */
  readonly withoutPosition: number | null;
  /** Rows whose id is null, blank, or a string that cannot be stored. */
  readonly withoutId: number | null;
  /** How many of these ids are strings that are not blank, and one such id as JSON; undefined if there are none. */
  readonly refusedIds?: { readonly rows: number; readonly first: string };
}

/** A catalog for crossmatching: plain data, as stored. */
export interface CatalogRegistration extends DescribedRegistration {
  /**
   * The release that `catalog replace` has replaced by this one. Objects that were crossmatched with another release
   * are then crossmatched again in the background.
   */
  readonly replaced?: string;
  /** Absolute path or address of the HATS directory of the table itself (not of a collection above it). */
  readonly location: string;
  readonly addedAtUs: number;
  /** Sorted by order, then ipix. */
  readonly partitions: readonly Partition[];
  readonly columns: CatalogColumns;
  readonly coverage: StoredCoverage;
  /** The contents of the files when the catalog was added; null if they were not read. */
  readonly counted: RowCounts | null;
  /** Facts from the properties file, for display: number of rows (null if missing), builder, release date. */
  readonly hats: {
    readonly rows: number | null;
    readonly builder: string | null;
    readonly releaseDate: string | null;
  };
}

/** The names of the registered catalogs, ascending; reads none of the registrations. */
export const readCatalogNames = ({ catalogs }: Databases) =>
  [...catalogs.getKeys({})].map(key => new TextDecoder().decode(key));

export function readCatalog({ catalogs }: Databases, name: string): CatalogRegistration | undefined {
  const bytes = catalogs.get(new TextEncoder().encode(name));
  return bytes && (decodePlain(bytes) as CatalogRegistration);
}

/** Every registered catalog, by ascending name. */
export function readCatalogs({ catalogs }: Databases, options: Range = {}): CatalogRegistration[] {
  return [...catalogs.getRange(options)].map(({ value }) => decodePlain(value) as CatalogRegistration);
}
