/** Every change of the archive, as plain data. `apply` makes it. */
import type { CatalogRegistration } from './catalog_registration.ts';
import type { ImportItem, PreparedObject } from './import.ts';
import type { MatchStatistics } from './match_statistics.ts';
import type { SharedSettings } from './meta.ts';
import type { UnstoredMessages } from './nights.ts';
import type { RegistrySnapshot } from './registry.ts';
import type { CrossmatchResult, Delivery, MatchSummary, ProvenanceSet, PublishedPosition, TnsRecord } from './types.ts';

/** The numbers of deliveries of one commit by outcome; the three add up to all deliveries. */
export interface IngestCounts {
  /** New objects. */
  readonly stored: number;
  /** Known objects, delivered by a further broker. */
  readonly delivered: number;
  /** Known objects, delivered again by the same broker. */
  readonly duplicate: number;
}

export interface RemovedCounts {
  /** Objects. */
  readonly removed: number;
  /** Objects that lost the delivery of a broker, and stay because another broker delivered them, too. */
  readonly kept: number;
}

/** The statistics of matches that an object has already. */
export interface FoundStatistics {
  readonly diaObjectId: bigint;
  readonly matches: readonly (Pick<MatchSummary, 'catalogName' | 'catalogSourceId'> & {
    readonly statistics: MatchStatistics;
  })[];
}

/** The fields of each kind of change; `Writer` describes the kinds. */
interface Changes {
  /** `unstored`: the messages that came with the deliveries and are not stored, for the counts of the night. */
  deliver: { readonly deliveries: readonly Delivery[]; readonly unstored?: UnstoredMessages };
  crossmatch: {
    readonly results: readonly CrossmatchResult[];
    readonly provenance: ProvenanceSet;
    /** See `Writer.recordCrossmatches`; undefined means false. */
    readonly isAgain?: boolean;
  };
  fill_statistics: { readonly found: readonly FoundStatistics[] };
  /**
   * Objects that are not stored are skipped. With a broker, only its delivery is removed from an object that another
   * broker delivered, too; objects that it did not deliver are skipped.
   */
  remove: { readonly ids: readonly bigint[]; readonly reason: string; readonly broker?: string };
  import: { readonly entries: readonly (ImportItem | PreparedObject)[] };
  register_catalog: { readonly registration: CatalogRegistration };
  remove_catalog: { readonly name: string };
  /** `owner` holds the lease to publish to the topic; undefined without a shared log. */
  published: { readonly topic: string; readonly position: PublishedPosition; readonly owner?: string };
  take_lease: { readonly name: string; readonly owner: string };
  /** The first change of a log that continues an existing archive: the state of that archive's journal. */
  begin_log: { readonly sequence: number; readonly digest: string };
  /** See `sharedSettings`; `isReplacing`: whether they replace the settings in the log. */
  share_settings: { readonly settings: SharedSettings; readonly isReplacing: boolean };
  /** Reports a node by its host and data directory, and the highest level that it reads. */
  report_node: { readonly node: string; readonly level: number };
  /** Raises the level of the log: see `src/core/store/level.ts`. */
  level: { readonly level: number };
  begin_registry: object;
  stage_registry: { readonly load: number; readonly records: readonly TnsRecord[] };
  change_staged_registry: { readonly load: number; readonly records: readonly TnsRecord[] };
  publish_registry: {
    readonly snapshot: Omit<RegistrySnapshot, 'revision'>;
    /** The snapshot that must be the current one (null: none); undefined if any may be replaced. */
    readonly base: RegistrySnapshot | null | undefined;
  };
  change_registry: {
    readonly base: RegistrySnapshot;
    readonly records: readonly TnsRecord[];
    readonly epochUs: number;
  };
  /** At most `limit` keys of the loads from `first` up to `end`, exclusive. */
  remove_registry_loads: { readonly first: number; readonly end: number; readonly limit: number };
}

/** A change without its time. */
export type UntimedChange = {
  readonly [K in keyof Changes]: { readonly kind: K } & Changes[K];
}[keyof Changes];
/** `timeUs` is the ingest time of new objects, and the time of crossmatches. */
export type Change = UntimedChange & { readonly timeUs: number };
export type ChangeKind = Change['kind'];
export type ChangeOf<K extends ChangeKind> = Extract<Change, { kind: K }>;
