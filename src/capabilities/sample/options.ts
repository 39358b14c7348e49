/** What a report is asked for, and what it says of itself. */
import type { Provenance } from '../../core/crossmatch/provenance.ts';

export interface SampleOptions {
  /** The names of the catalogs to report on. */
  readonly catalogs: readonly string[];
  /** CROSSMATCH_RADIUS_ARCSEC: the radius of a coincidence, inclusive. */
  readonly radiusArcsec: number;
  readonly brightMag: number;
  /** Inclusive. */
  readonly brightArcsec: number;
}

/** What a report says of itself. */
export interface AboutReport {
  readonly provenance: Provenance;
  /** The entry of the journal that the report is from. */
  readonly journalEntry: number;
  /** The day of the latest ingest of that entry, YYYY-MM-DD; null without objects. */
  readonly date: string | null;
}
