/** The parts of a catalog. */

/** A HEALPix pixel, NESTED. */
export interface Pixel {
  readonly order: number;
  readonly ipix: number;
}

/** One HEALPix pixel's share of a catalog. */
export interface Partition extends Pixel {
  /** Parquet files, relative to the catalog's location, with `/` between the parts. */
  readonly files: readonly string[];
}
