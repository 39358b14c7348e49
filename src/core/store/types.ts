/**
 * The types of the stored data, as the rest of the program uses them. Times are integer microseconds since
 * 1970-01-01T00:00:00Z (UTC).
 */
import type { MatchStatistics } from './match_statistics.ts';

/** A validated ICRS position, degrees: 0 <= ra <= 360, -90 <= dec <= 90. */
export interface SkyPosition {
  readonly ra: number;
  readonly dec: number;
}

export type ObjectState = 'pending' | 'crossmatched';

/** The outcome of searching one catalog for one object. The API has two further outcomes that are never stored. */
export type RecordedOutcome =
  | 'searched'
  | 'outside_footprint'
  | 'skipped_read_failure'
  | 'not_searched_invalid_position';

/** One broker's message about one object, normalised. */
export interface Delivery {
  readonly diaObjectId: bigint;
  /** null if the message's position is missing, not finite or out of range. */
  readonly position: SkyPosition | null;
  /** 0 to 1, or null if the message has none. */
  readonly reliability: number | null;
  /** The 1σ error of the position (see `circularErrorMas`), four digits; absent where the message has none. */
  readonly positionErrorMas?: number;
  readonly eventTimeUs: number;
  /** The name of the broker, or of the survey whose table the delivery comes from. */
  readonly broker: string;
}

export interface CatalogRelease {
  readonly name: string;
  readonly release: string;
  /** Present only if sources are compared at their positions at the time of the event. */
  readonly proper_motion?: true;
  /** Present only for a catalog with a radius of its own: see `CatalogRadius`. */
  readonly radius_arcsec?: number;
  /** See `radiusColumnText`. */
  readonly radius_column?: string;
}

export interface ReliabilityCut {
  readonly broker: string;
  readonly min_reliability: number | null;
  readonly enforced_by: 'broker' | 'service';
  readonly status: 'declared' | 'not_declared' | 'service_setting';
  /** YYYY-MM-DD */
  readonly as_of: string | null;
}

/** The settings of a crossmatch, with the field names of the API. */
export interface ProvenanceSet {
  readonly crossmatch_radius_arcsec: number | null;
  readonly catalogs: readonly CatalogRelease[];
  readonly reliability_cuts: readonly ReliabilityCut[];
}

/** One crossmatch of one object. The record of the highest version is the current one. */
export interface CrossmatchRecord {
  readonly matchVersion: number;
  readonly crossmatchedAtUs: number;
  /** Ordinal in the database `provenance_sets`. */
  readonly provenanceSet: number;
  /** Sorted ascending. */
  readonly brokersAtCrossmatch: readonly string[];
  /** In the order of the service's catalogs. */
  readonly catalogOutcomes: readonly (readonly [catalogName: string, outcome: RecordedOutcome])[];
}

/** A matched source, without the values that only detail level `full` shows. */
export interface MatchSummary {
  readonly matchVersion: number;
  readonly catalogName: string;
  /** A 64-bit integer as a decimal string, or a string that satisfies `isTextId`. */
  readonly catalogSourceId: string;
  readonly separationArcsec: number;
  /**
   * The separation at the time of the object's event; present only if the source has moved since the catalog's epoch.
   */
  readonly separationAtEpochArcsec?: number;
  /** Absent from imported matches without them. */
  readonly statistics?: MatchStatistics;
}

/**
 * The rest of a match: the source's own position, degrees, and its payload (keys lowercased; 64-bit integers are
 * bigints).
 */
export interface MatchSource {
  readonly ra: number | null;
  readonly dec: number | null;
  readonly payload: Readonly<Record<string, unknown>> | null;
}

/**
 * A source whose bytes are known except for the ordinal of its payload's keys. Threads that cannot write make such
 * sources.
 */
export interface PackedSource {
  readonly keys: readonly string[];
  /** See `packSource`. */
  readonly packed: Uint8Array;
}

export interface TnsAssociation {
  readonly checked: boolean;
  readonly snapshotEpochUs: number | null;
  readonly objid: number | null;
  readonly name: string | null;
  readonly namePrefix: string | null;
  readonly classification: string | null;
  readonly redshift: number | null;
  readonly separationArcsec: number | null;
}

/** One object of the TNS registry. */
export interface TnsRecord {
  /** 0 to 2^53 - 1. */
  readonly objid: number;
  /** Without its prefix, in the registry's case: `2026abc`. */
  readonly name: string;
  readonly namePrefix: string | null;
  /** Degrees. */
  readonly ra: number;
  readonly dec: number;
  readonly classification: string | null;
  readonly redshift: number | null;
  /** When the registry made its entry, microseconds since 1970; undefined if its file does not say that. */
  readonly createdUs?: number;
}

/** Its values are those of its first delivery. */
export interface StoredObject extends Omit<Delivery, 'broker'> {
  readonly ingestTimeUs: number;
  readonly state: ObjectState;
  /** Every broker that delivered it so far, sorted ascending. */
  readonly brokers: readonly string[];
  /** Ascending by version. */
  readonly records: readonly CrossmatchRecord[];
  /** Every version; `sources` of the same object is parallel to it. */
  readonly matches: readonly MatchSummary[];
  readonly tns: TnsAssociation | null;
}

/** The changes of one commit; ids in the order of the change. */
export interface JournalEntry {
  readonly sequence: number;
  readonly stored: readonly bigint[];
  readonly delivered: readonly bigint[];
  readonly crossmatched: readonly bigint[];
  readonly removed: readonly bigint[];
}

/**
 * When the deliveries of a commit were stored, and whose they are. Only the first delivery of each object by each broker
 * counts. Unknown for imports.
 */
export interface DeliverySource {
  readonly timeUs: number;
  /** One broker for all objects; or one for each object in `stored`, then for each in `delivered`. */
  readonly brokers: string | readonly string[];
}

/** An object that was removed, with its position and ingest time, which nothing else keeps together. */
export type RemovedObject = Pick<StoredObject, 'diaObjectId' | 'position' | 'ingestTimeUs'>;

/** The removal of objects by one commit. */
export interface Removal {
  readonly timeUs: number;
  readonly reason: string;
  /** The journal entry of the removal before this one; 0 if there is none. */
  readonly previous: number;
  readonly objects: readonly RemovedObject[];
}

/** The version that stands for the first storing of an object, in a list of changes with versions of crossmatches. */
export const STORED_VERSION = 0;
/** Stands for the removal of an object in the same place. */
export const REMOVED_VERSION = -1;

/** The crossmatches that one commit recorded. */
export interface RecordedCrossmatches {
  readonly sequence: number;
  /** In the order of recording. */
  readonly ids: readonly bigint[];
  /** The match version of each; undefined if the journal does not record them; see `CrossmatchVersions`. */
  readonly versions: readonly (number | undefined)[] | undefined;
  /** Whether they came by an import. */
  readonly isImport: boolean;
  /** The objects that the entry removed. */
  readonly removed: readonly RemovedObject[];
}

/**
 * The journal's record of the crossmatches of a commit: the version of each object, or one number if all have the same
 * version; null for an import; undefined if the commit recorded none.
 */
export type CrossmatchVersions = number | readonly number[] | null | undefined;

/** The position up to which the matches are published to a topic. */
export interface PublishedPosition {
  /** The matches of every journal entry up to this one are published. */
  readonly sequence: number;
  /** The number of crossmatched objects at the start of the next entry that are also published. */
  readonly objects: number;
  /** Messages that the brokers have acknowledged since the publication to this topic began. */
  readonly messages: number;
}

/** The outcome of one object's crossmatch, ready to be stored. */
export interface CrossmatchResult {
  readonly diaObjectId: bigint;
  readonly catalogOutcomes: readonly (readonly [catalogName: string, outcome: RecordedOutcome])[];
  readonly matches: readonly (Omit<MatchSummary, 'matchVersion'> & { readonly source: MatchSource | PackedSource })[];
  /** Missing if the registry was not searched; no association is stored then. */
  readonly tns?: TnsAssociation;
}
