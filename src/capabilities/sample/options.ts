/** What a report is asked for, and what it says of itself. */
import { formatTime } from '../../core/base/times.ts';
import type { Provenance } from '../../core/store/provenance.ts';
import { readLatestIngest } from '../../core/store/recent.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';

export interface SampleOptions {
  /** The names of the catalogs to report on. */
  readonly catalogs: readonly string[];
  /** CROSSMATCH_RADIUS_ARCSEC: the radius of a coincidence, inclusive, for catalogs without one of their own. */
  readonly radiusArcsec: number;
  readonly brightMag: number;
  /** Inclusive. */
  readonly brightArcsec: number;
}

/** What a report says of itself. A report of an entry always says the same. */
export interface AboutReport {
  readonly provenance: Provenance;
  /** The entry of the journal that the report is from. */
  readonly journalEntry: number;
  /** The day of the latest ingest of that entry, YYYY-MM-DD; null without objects. */
  readonly date: string | null;
}

/** @param entry undefined for the present */
export function stateOfReport(
  store: StoreReader,
  entry: number | undefined,
): Pick<AboutReport, 'journalEntry' | 'date'> {
  const latestUs = entry === undefined ? readLatestIngest(store.databases) : store.at(entry).latestIngestUs();
  return { journalEntry: entry ?? store.lastSequence(), date: latestUs ? formatTime(latestUs).slice(0, 10) : null };
}
