/** The typed queries that operations parse requests into, and that are answered with the body of a response. */
import type { AreaPlace } from '@nearsky/sky-index';
import type { AreaResponse, DetailLevel, ResponseMode, TimeField } from '../contract/enums.ts';
import type { AnswerFormat } from '../contract/formats.ts';
import type { RecentPosition } from '../store/recent.ts';
import type { Info, Serialization } from '../tables/votable.ts';
import type { TnsName } from '../tns/names.ts';
import type { ReadArea } from '../vo/areas.ts';
import type { Verbosity } from '../vo/cone_tables.ts';
import type { MocFormat } from '../vo/moc.ts';
import type { OfArchive } from './cursor.ts';
import type { WholeTable } from './whole_table.ts';

/** Filters by name, in the order of the request, at least one; values are numbers but for `catalog`. */
export type FilterValues = readonly (readonly [name: string, value: number | string])[];

/** A circle on the sky: ICRS degrees, and a radius that is inclusive. */
export interface Circle {
  readonly ra: number;
  readonly dec: number;
  readonly radiusArcsec: number;
}

interface Asked {
  /** The format of the answer, where that is not JSON. */
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
  /** The most objects that all results may list together. Objects asked for by id count, and are always listed. */
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
  readonly after: (RecentPosition & OfArchive) | null;
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
  readonly after: (RecentPosition & OfArchive) | null;
}

/** The objects that a page lists: those that meet the filters, and whose time lies in the window. */
interface Selected {
  readonly filters: FilterValues | null;
  readonly timeField: TimeField;
  /** Inclusive. */
  readonly startUs: number;
  /** Exclusive. */
  readonly endUs: number;
  readonly detail: DetailLevel;
  /** The window as the answer states it; null for an end that is open. */
  readonly window: { readonly start: string | null; readonly end: string | null };
  /** At least 1. */
  readonly pageSize: number;
  /** Objects ingested later are not part of the walk. */
  readonly asOfUs: number;
}

/** One page of the objects in an area, or how many there are. */
export interface AreaQuery extends Asked, Selected {
  readonly kind: 'area';
  readonly response: AreaResponse;
  /** A text, or what was read from it or from a file. */
  readonly area: Uint8Array | ReadArea;
  /** The share of a map of probability; its default for other areas. */
  readonly level: number;
  /** Names `area` and `level`, in cursors, too: equal ones have equal names. */
  readonly digest: string;
  /** The last place of the page before, or null on the first page. */
  readonly after: (AreaPlace & OfArchive) | null;
  /** The table that the page is written to, where all pages become one. */
  readonly whole?: WholeTable;
}

/** One page of the objects with matches by time, the latest first, or how many there are. */
export interface ObjectsQuery extends Asked, Selected {
  readonly kind: 'objects';
  readonly response: ResponseMode;
  /** The last object of the page before, or null on the first page. */
  readonly after: (RecentPosition & OfArchive) | null;
}

/** A cone search of the Virtual Observatory: a VOTable. */
export interface VoConeQuery extends Asked, Circle {
  readonly kind: 'voCone';
  /** One of `coneTargets`. */
  readonly target: string;
  readonly verbosity: Verbosity;
  /** Rows at most; 0 for the columns alone, as is a radius of 0. */
  readonly maxRecords: number;
  readonly serialization: Serialization;
  /** The statements of the answer beside the table. */
  readonly infos: readonly Info[];
}

/** The objects that are recorded with a source of a catalog. */
export interface SourceQuery extends Asked {
  readonly kind: 'source';
  readonly catalogName: string;
  /** As `MatchSummary` has it. */
  readonly catalogSourceId: string;
  /** The most objects that are listed, at least 1. */
  readonly limit: number;
}

/** A coverage map; the answer is empty where the catalog is not registered. */
export interface MocQuery extends Asked {
  readonly kind: 'moc';
  /** One of `coneTargets`. */
  readonly target: string;
  readonly encoding: MocFormat;
}

/** The answer to each is the body of a response. */
export type Query =
  | LookupQuery
  | CountQuery
  | ConeQuery
  | RecentQuery
  | AreaQuery
  | ObjectsQuery
  | VoConeQuery
  | MocQuery
  | SourceQuery;

/** As much of a query as says what its answer is. */
export interface QueryNamed {
  readonly kind: Query['kind'];
  readonly response?: string;
}

/** Whether the answer is counts, which are no table. */
export function isCount(query: QueryNamed): boolean {
  return query.kind === 'count' || query.response === 'count';
}
