/**
 * What the pool's threads can be asked to do, as plain data: everything here crosses a thread boundary by structured clone.
 * One member of `Task` and one line of `Results` a kind.
 */
import type { Generation } from '../../index/mod.ts';
import type { PublishTask } from '../background/publisher_thread.ts';
import type { WriteTask } from '../background/writer_thread.ts';
import type { DetailLevel, TimeField } from '../contract/enums.ts';
import type { AnswerFormat } from '../contract/formats.ts';
import type { JoinAnswer, JoinTask } from '../crossmatch/join.ts';
import type { MatchAnswer, MatchTask } from '../crossmatch/match_file.ts';
import type { NormaliseAnswer, NormaliseTask } from '../ingest/normalise_lines.ts';
import type { ServeTask } from '../server/server_thread.ts';
import type { FollowSkyTask, SkyMapAnswer, SkyMapTask, SkyProgress } from '../sky_map/map_thread.ts';
import type { Counters } from '../store/counters.ts';
import type { RecentPosition } from '../store/recent.ts';
import type { RegistrySnapshot } from '../store/registry.ts';
import type { ProvenanceSet, PublishedPosition } from '../store/types.ts';
import type { Info, Serialization } from '../tables/votable.ts';
import type { TnsName } from '../tns/names.ts';
import type { ImportLinesTask } from '../transfer/import_lines.ts';
import type { PackedPieces } from '../transfer/pieces.ts';
import type { ConeTarget, Verbosity } from '../vo/cone_tables.ts';
import type { MocFormat } from '../vo/moc.ts';

export interface ServiceProvenance extends ProvenanceSet {
  readonly service_version: string | null;
  readonly contract_version: string;
}

/** What answers say about the service as it is configured; given to each thread when it starts. */
export interface ServiceFacts {
  /** The `provenance` block of every answer; keys as on the wire. */
  readonly provenance: ServiceProvenance;
  /** The release from which provenance is recorded with each crossmatch. */
  readonly recordingRelease: string;
  /** `{name}` stands for the bare designation. */
  readonly tnsUrlTemplate: string;
  /** How old a registry snapshot may be to resolve names, seconds, inclusive. */
  readonly tnsSnapshotMaxAgeSeconds: number;
}

/** Filters by name, in the order of the request, at least one; values are numbers but for `catalog`. */
export type FilterValues = readonly (readonly [name: string, value: number | string])[];

/** A circle on the sky: ICRS degrees, and a radius that is inclusive. */
export interface Circle {
  readonly ra: number;
  readonly dec: number;
  readonly radiusArcsec: number;
}

interface Asked {
  /** How to answer, where that is not JSON. */
  readonly format?: Exclude<AnswerFormat, 'json'> | undefined;
}

interface Sent {
  /** The input as it was sent: JSON text. */
  readonly sent: string;
}

export interface IdInput extends Sent {
  readonly kind: 'id';
  readonly diaObjectId: bigint;
}

export interface PositionInput extends Sent, Circle {
  readonly kind: 'position';
}

export interface TnsInput extends Sent, TnsName {
  readonly kind: 'tns';
  readonly radiusArcsec: number;
}

export interface InvalidInput extends Sent {
  readonly kind: 'invalid';
  /** JSON text of the kind that it names: a string, or `null`. */
  readonly sentKind: string;
  readonly error: { readonly message: string; readonly param: string };
}

export type LookupInput = IdInput | PositionInput | TnsInput | InvalidInput;

/** One result an input, in their order. */
export interface LookupQuery extends Asked {
  readonly kind: 'lookup';
  readonly inputs: readonly LookupInput[];
  readonly detail: DetailLevel;
  readonly filters: FilterValues | null;
  /** Objects that the result of one position or name may list, at least 1. */
  readonly maxObjectsPerInput: number;
  /** Objects that all results may list together; those of ids count and are always listed. */
  readonly maxObjects: number;
}

/** Counts over the same inputs, without limits on listing. */
export interface CountQuery extends Asked {
  readonly kind: 'count';
  readonly inputs: readonly LookupInput[];
  readonly filters: FilterValues | null;
}

/** One page of the objects within a circle. */
export interface ConeQuery extends Asked, Sent, Circle {
  readonly kind: 'cone';
  readonly detail: DetailLevel;
  readonly filters: FilterValues | null;
  /** At least 1. */
  readonly pageSize: number;
  /** Objects ingested later are not part of the walk. */
  readonly asOfUs: number;
  /** The last object of the page before, or null on the first page. */
  readonly after: RecentPosition | null;
}

/** One page of the objects in a window that have matches. */
export interface RecentQuery extends Asked {
  readonly kind: 'recent';
  readonly timeField: TimeField;
  /** Inclusive. */
  readonly startUs: number;
  /** Exclusive. */
  readonly endUs: number;
  /** The window as the answer states it. */
  readonly window: { readonly start: string; readonly end: string };
  readonly detail: DetailLevel;
  /** At least 1. */
  readonly pageSize: number;
  /** Objects ingested later are not part of the walk. */
  readonly asOfUs: number;
  /** The last object of the page before, or null on the first page. */
  readonly after: RecentPosition | null;
}

/** A cone search of the Virtual Observatory: a VOTable. */
export interface VoConeQuery extends Asked, Circle {
  readonly kind: 'voCone';
  readonly target: ConeTarget;
  readonly verbosity: Verbosity;
  /** Rows at most; 0 for the columns alone, as is a radius of 0. */
  readonly maxRecords: number;
  readonly serialization: Serialization;
  /** What the answer says beside the table. */
  readonly infos: readonly Info[];
}

/** A coverage map; the answer is empty where the catalog is not registered. */
export interface MocQuery extends Asked {
  readonly kind: 'moc';
  readonly target: ConeTarget;
  readonly encoding: MocFormat;
}

/** The answer to each is the body of a response. */
export type Query = LookupQuery | CountQuery | ConeQuery | RecentQuery | VoConeQuery | MocQuery;

/** A generation with a number that no other of the same publisher has: two generations may answer for the same sequence number. */
export interface PublishedGeneration extends Generation {
  readonly number: number;
  /** How many bytes of arenas its publisher has replaced so far: who held an earlier generation may let go of so many more. */
  readonly replacedBytes: number;
}

/** What whoever watches the service wants to know of the database. */
export interface MetricsTask {
  readonly kind: 'metrics';
}

export interface MetricsAnswer {
  /** The epoch of the TNS registry's snapshot, microseconds since 1970, however old; null when there is none. */
  readonly tnsSnapshotEpochUs: number | null;
  /** The latest ingest time of any object, microseconds since 1970; null when there is none. */
  readonly latestIngestTimeUs: number | null;
  readonly lastSequence: number;
  readonly objects: number;
  readonly pending: number;
  /** How far the matches are published, by topic. */
  readonly published: ReadonlyMap<string, PublishedPosition>;
  readonly counters: Counters;
}

/** Builds one arena of the objects that were stored after the first `rows`, and of the points of `absorb`. */
export interface TailTask {
  readonly kind: 'tail';
  /** Of the position table; 0 for an index of the whole database. */
  readonly rows: number;
  /** Leaves out rows whose object the database has lost. It reads every object, so it is for an index that follows a stale one. */
  readonly checked: boolean;
  readonly absorb: readonly SharedArrayBuffer[];
}

export interface BuiltArena {
  readonly buffer: SharedArrayBuffer;
  /** How many points it has. */
  readonly length: number;
}

export interface TailAnswer extends IndexedExtent {
  /** Undefined when there is no new object that can be indexed; `absorb` then stays as it is. */
  readonly arena: BuiltArena | undefined;
}

/** Makes one arena of several. */
export interface MergeTask {
  readonly kind: 'merge';
  readonly arenas: readonly SharedArrayBuffer[];
}

/** How far an index reaches. */
export interface IndexedExtent {
  /** It answers for the journal up to here, inclusive. */
  readonly sequence: number;
  /** As many rows had the position table then. */
  readonly rows: number;
}

/** Writes a generation to DATA/index, replacing what is there in one step. */
export interface SaveIndexTask extends IndexedExtent {
  readonly kind: 'saveIndex';
  readonly arenas: readonly SharedArrayBuffer[];
}

/** Reads the generation in DATA/index; undefined when there is none, it is damaged, or it is not of this database. */
export interface OpenIndexTask {
  readonly kind: 'openIndex';
}

/** The arenas of an index. */
export interface BuiltIndex extends IndexedExtent {
  readonly arenas: readonly BuiltArena[];
}

/** Builds an arena of the published TNS registry. Needs a pool with a data directory. */
export interface RegistryTask {
  readonly kind: 'registry';
}

export interface RegistryIndex {
  readonly snapshot: RegistrySnapshot;
  /** Its ids are objids. */
  readonly arena: SharedArrayBuffer;
}

export type Task =
  | ServeTask
  | WriteTask
  | PublishTask
  | MatchTask
  | NormaliseTask
  | ImportLinesTask
  | JoinTask
  | MetricsTask
  | TailTask
  | MergeTask
  | SaveIndexTask
  | OpenIndexTask
  | RegistryTask
  | FollowSkyTask
  | SkyMapTask;

export interface Results {
  serve: undefined;
  write: undefined;
  publish: undefined;
  match: MatchAnswer;
  normalise: NormaliseAnswer;
  importLines: PackedPieces;
  join: JoinAnswer;
  metrics: MetricsAnswer;
  tail: TailAnswer;
  merge: BuiltArena;
  saveIndex: undefined;
  openIndex: BuiltIndex | undefined;
  /** Undefined when nothing is published. */
  registry: RegistryIndex | undefined;
  followSky: SkyProgress;
  skyMap: SkyMapAnswer | undefined;
}

export type ResultOf<T extends Task> = Results[T['kind']];
