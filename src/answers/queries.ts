/** The queries into which operations parse requests. Each query is answered with the body of a response. */

import type { Info, Serialization, TableWriter } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import type { AreaPlace } from '@nearsky/sky-index';
import type { AreaResponse, DetailLevel, ListedStatus, ResponseMode, TimeField } from '../contract/enums.ts';
import type { AnswerFormat } from '../contract/formats.ts';
import type { RecentPosition } from '../store/recent.ts';
import type { ObjectTable } from '../tables/object_table.ts';
import type { TnsName } from '../tns/names.ts';
import type { ReadArea } from '../vo/areas.ts';
import type { Verbosity } from '../vo/cone_tables.ts';
import type { MocFormat } from '../vo/moc.ts';
import type { OfArchive } from './cursor.ts';

/** Filters by name, at least one, in the order of the request. Values are numbers, except for `catalog`. */
export type FilterValues = readonly (readonly [name: string, value: number | string])[];

/** A circle on the sky: ICRS degrees; the radius is inclusive. */
export interface Circle {
  readonly ra: number;
  readonly dec: number;
  readonly radiusArcsec: number;
}

interface Asked {
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
  /** The kind as JSON text: a string, or `null`. */
  readonly sentKind: string;
  readonly error: { readonly message: string; readonly param: string };
}

export type LookupInput = IdInput | PositionInput | TnsInput | InvalidInput;

/** The state of the archive from which an answer is made. */
export interface State {
  /**
   * A journal entry: the answer is made from the state after it. Until the query begins, undefined stands for the newest
   * one; then it stands for an answer that may be from several states.
   */
  at: number | undefined;
  /** Whether the request names the entry. Otherwise the query is answered without a state if it has no such entry. */
  readonly isRequired: boolean;
}

/** A lookup, with one result per input, in the order of the inputs. */
export interface LookupQuery extends Asked {
  readonly kind: 'lookup';
  /** Undefined if an input is a name: the registry has no earlier states. */
  readonly state?: State | undefined;
  readonly inputs: readonly LookupInput[];
  readonly detail: DetailLevel;
  readonly filters: FilterValues | null;
  /** The maximum number of objects that one position or name may list, at least 1. */
  readonly maxObjectsPerInput: number;
  /** The maximum number of objects in all results. Objects requested by id count towards it, but are always listed. */
  readonly maxObjects: number;
}

/** Counts for the same inputs. The limits on listed objects do not apply. */
export interface CountQuery extends Asked, Pick<LookupQuery, 'state' | 'inputs' | 'filters'> {
  readonly kind: 'count';
}

/** A page of a walk. */
interface Page<Place> {
  readonly detail: DetailLevel;
  /** At least 1. */
  readonly pageSize: number;
  /** Objects ingested later are not part of the walk. */
  readonly asOfUs: number;
  /** The last place of the previous page; null for the first page. */
  readonly after: (Place & OfArchive) | null;
}

/** A page of the objects within a circle. */
export interface ConeQuery extends Asked, Sent, Circle, Page<RecentPosition> {
  readonly kind: 'cone';
  readonly state?: State | undefined;
  readonly filters: FilterValues | null;
}

interface TimeWindow {
  readonly timeField: TimeField;
  /** Inclusive. */
  readonly startUs: number;
  /** Exclusive. */
  readonly endUs: number;
}

/** A page of the objects in a time window that have matches. */
export interface RecentQuery extends Asked, TimeWindow, Page<RecentPosition> {
  readonly kind: 'recent';
  /** The window as the answer shows it. */
  readonly window: { readonly start: string; readonly end: string };
}

/** The selection of objects for a page: those that meet the filters, have the status, and whose time lies in the window. */
interface Selected extends TimeWindow {
  readonly state?: State | undefined;
  readonly filters: FilterValues | null;
  readonly status: ListedStatus;
  /** The window as the answer shows it, with null for an open end. */
  readonly window: { readonly start: string | null; readonly end: string | null };
}

/** A page of the objects in an area, or their number. */
export interface AreaQuery extends Asked, Selected, Page<AreaPlace> {
  readonly kind: 'area';
  readonly response: AreaResponse;
  /** A string, or an area that was read from a string or a file. */
  readonly area: Uint8Array | ReadArea;
  /** The credible level of a probability map. Other areas have the default. */
  readonly level: number;
  /** Identifies `area` and `level`, also in cursors. Equal areas have equal digests. */
  readonly digest: string;
  /** The table to which the page is written, if all pages form a single table. */
  readonly whole?: WholeTable;
}

/** One page of the objects by time, the latest first; or their number. */
export interface ObjectsQuery extends Asked, Selected, Page<RecentPosition> {
  readonly kind: 'objects';
  readonly response: ResponseMode;
}

/** A cone search of the Virtual Observatory. The answer is a VOTable. */
export interface VoConeQuery extends Asked, Circle {
  readonly kind: 'voCone';
  /** One of `coneTargets`. */
  readonly target: string;
  readonly verbosity: Verbosity;
  /** The maximum number of rows. 0 requests the columns only, and so does a radius of 0. */
  readonly maxRecords: number;
  readonly serialization: Serialization;
  /** Strings in the answer that accompany the table. */
  readonly infos: readonly Info[];
  /** Scheme and host of this service. */
  readonly base: string;
}

/** The links of objects. The answer is a VOTable. */
export interface VoLinksQuery extends Asked {
  readonly kind: 'voLinks';
  /** The identifiers as sent, and as ids if they are valid. */
  readonly ids: readonly { readonly sent: string; readonly diaObjectId: bigint | undefined }[];
  /** Whether more identifiers were sent. */
  readonly isCut: boolean;
  readonly serialization: Serialization;
  /** Scheme and host of this service. */
  readonly base: string;
}

/** The objects that are recorded with a source of a catalog. */
export interface SourceQuery extends Asked {
  readonly kind: 'source';
  readonly catalogName: string;
  /** As in `MatchSummary`. */
  readonly catalogSourceId: string;
  /** The maximum number of listed objects, at least 1. */
  readonly limit: number;
}

/** A coverage map. The answer is empty if the catalog is not registered. */
export interface MocQuery extends Asked {
  readonly kind: 'moc';
  /** One of `coneTargets`. */
  readonly target: string;
  readonly encoding: MocFormat;
}

/** Every query is answered with the body of a response. */
export type Query =
  | LookupQuery
  | CountQuery
  | ConeQuery
  | RecentQuery
  | AreaQuery
  | ObjectsQuery
  | VoConeQuery
  | VoLinksQuery
  | MocQuery
  | SourceQuery;

/** The part of a query that decides the kind of its answer. */
export interface QueryNamed {
  readonly kind: Query['kind'];
  readonly response?: string;
}

/** Whether the answer consists of counts, which cannot be a table. */
export function isCount(query: QueryNamed): boolean {
  return query.kind === 'count' || query.response === 'count';
}

/** A table to which the pages of a walk are written in turn. */
export class WholeTable {
  /** The part that is not sent yet. */
  readonly out = new ByteSink();
  /** The columns and the writer, from the first page on. Catalogs that are added later do not change the columns. */
  begun: { readonly table: ObjectTable; readonly writer: TableWriter } | undefined;
  /** The number of written rows. If it has grown, a failed page cannot be retried. */
  rows = 0;
  /** The area of the walk, read only once. */
  area: ReadArea | undefined;
}
