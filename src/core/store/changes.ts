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

/** The fields of each kind of change. */
interface Changes {
  /** `unstored`: the messages that came with the deliveries and are not stored, for the counts of the night. */
  deliver: { readonly deliveries: readonly Delivery[]; readonly unstored?: UnstoredMessages };
  crossmatch: {
    readonly results: readonly CrossmatchResult[];
    readonly provenance: ProvenanceSet;
    /** See `Writer.recordCrossmatches`; undefined means false. */
    readonly isAgain?: boolean;
  };
  /** Adds statistics to matches of current crossmatches that have none; nothing else of the objects changes. */
  fill_statistics: { readonly found: readonly FoundStatistics[] };
  /**
   * Objects that are not stored are skipped. With a broker, only its delivery is removed from an object that another
   * broker delivered, too; objects that it did not deliver are skipped.
   */
  remove: { readonly ids: readonly bigint[]; readonly reason: string; readonly broker?: string };
  import: { readonly entries: readonly (ImportItem | PreparedObject)[] };
  /** Registers a catalog under its name; an earlier one of that name is replaced. */
  register_catalog: { readonly registration: CatalogRegistration };
  /** Removes the registration of a catalog. The results of earlier crossmatches stay. */
  remove_catalog: { readonly name: string };
  /**
   * Stores the position up to which matches are published to a topic. The outcome is false, and nothing is stored, if
   * another node has the lease. `owner` holds the lease to publish to the topic; undefined without a shared log.
   */
  published: { readonly topic: string; readonly position: PublishedPosition; readonly owner?: string | undefined };
  /** Takes the lease of a duty from any former owner, for the elected candidate. */
  take_lease: { readonly name: string; readonly owner: string };
  /** The first change of a log that continues an existing archive: the state of that archive's journal. */
  begin_log: { readonly sequence: number; readonly digest: string };
  /** Shares the settings that all nodes must have; `isReplacing`: whether they replace the settings in the log. */
  share_settings: { readonly settings: SharedSettings; readonly isReplacing: boolean };
  /** Reports a node by its host and data directory, and the highest level that it reads. */
  report_node: { readonly node: string; readonly level: number };
  /** Raises the level of the log (`src/core/store/level.ts`); one that is not higher changes nothing. */
  level: { readonly level: number };
  /** Begins to load a snapshot of the TNS registry, beside the published one. The outcome is its number. */
  begin_registry: object;
  /** Adds objects to a load. `conflict`: the load has another object with that objid, which stays. */
  stage_registry: { readonly load: number; readonly records: readonly TnsRecord[] };
  /** Adds objects to an unpublished load, or replaces those with their objids. */
  change_staged_registry: { readonly load: number; readonly records: readonly TnsRecord[] };
  /** Publishes a load. Refused if a load that began later has been published. */
  publish_registry: {
    readonly snapshot: Omit<RegistrySnapshot, 'revision'>;
    /** The snapshot that must be the current one (null: none); undefined if any may be replaced. */
    readonly base: RegistrySnapshot | null | undefined;
  };
  /** Adds objects to the published snapshot, or replaces those with their objids. Refused if it is no longer `base`. */
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

/** Completes "Cannot …" for each kind of change. */
const DOING: Readonly<Record<ChangeKind, string>> = {
  deliver: 'store the messages',
  crossmatch: 'record the crossmatches',
  fill_statistics: 'record the statistics',
  remove: 'remove the objects',
  import: 'store the lines',
  register_catalog: 'register the catalog',
  remove_catalog: 'remove the catalog',
  published: 'store the position of the publication',
  take_lease: 'take the lease',
  begin_log: 'begin the log',
  share_settings: 'share the settings',
  report_node: 'report this node',
  level: 'raise the level of the log',
  begin_registry: 'load the registry',
  stage_registry: 'load the registry',
  change_staged_registry: 'load the registry',
  publish_registry: 'load the registry',
  change_registry: 'change the registry',
  remove_registry_loads: 'remove a former registry',
};

/** A change as in `DOING`, and the number of entries that it may change; 0 if it only abandons unfinished work. */
export const aboutChange = (change: UntimedChange) => ({ doing: DOING[change.kind], entries: entriesOf(change) });

function entriesOf(change: UntimedChange): number {
  switch (change.kind) {
    case 'deliver':
      return change.deliveries.length;
    case 'crossmatch':
      return change.results.length;
    case 'fill_statistics':
      return change.found.length;
    case 'remove':
      return change.ids.length;
    case 'import':
      return change.entries.length;
    case 'register_catalog':
      return 1 + Math.ceil(change.registration.coverage.ranges.length / 4096);
    case 'stage_registry':
    case 'change_staged_registry':
    case 'change_registry':
      return change.records.length;
    case 'remove_registry_loads':
      return 0;
    default:
      return 1;
  }
}
