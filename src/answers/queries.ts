/** The typed queries into which operations parse requests. The answer to each query is the body of a response. */

import type { Info, Serialization, TableWriter } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import type { AreaPlace } from '@nearsky/sky-index';
import type { AreaResponse, DetailLevel, ResponseMode, TimeField } from '../contract/enums.ts';
import type { AnswerFormat } from '../contract/formats.ts';
import type { RecentPosition } from '../store/recent.ts';
import type { ObjectTable } from '../tables/object_table.ts';
import type { TnsName } from '../tns/names.ts';
import type { ReadArea } from '../vo/areas.ts';
import type { Verbosity } from '../vo/cone_tables.ts';
import type { MocFormat } from '../vo/moc.ts';
import type { OfArchive } from './cursor.ts';

/** Filters by name, in the order of the request, at least one. Values are numbers, except for `catalog`. */
export type FilterValues = readonly (readonly [name: string, value: number | string])[];

/** A circle on the sky: ICRS degrees, and an inclusive radius. */
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

/** A lookup: one result per input, in the order of the inputs. */
export interface LookupQuery extends Asked {
  readonly kind: 'lookup';
  readonly inputs: readonly LookupInput[];
  readonly detail: DetailLevel;
  readonly filters: FilterValues | null;
  /** Objects that the result of one position or name may list, at least 1. */
  readonly maxObjectsPerInput: number;
  /** The maximum number of objects in all results together. Objects requested by id count, but are always listed. */
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
  /** The last object of the previous page, or null for the first page. */
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
  /** The window in the form of the answer. */
  readonly window: { readonly start: string; readonly end: string };
  readonly detail: DetailLevel;
  /** At least 1. */
  readonly pageSize: number;
  /** Objects ingested later are not part of the walk. */
  readonly asOfUs: number;
  /** The last object of the previous page, or null for the first page. */
  readonly after: (RecentPosition & OfArchive) | null;
}

/** The selection of objects for a page: those that meet the filters, and whose time lies in the window. */
interface Selected {
  readonly filters: FilterValues | null;
  readonly timeField: TimeField;
  /** Inclusive. */
  readonly startUs: number;
  /** Exclusive. */
  readonly endUs: number;
  readonly detail: DetailLevel;
  /** The window in the form of the answer; null for an open end. */
  readonly window: { readonly start: string | null; readonly end: string | null };
  /** At least 1. */
  readonly pageSize: number;
  /** Objects ingested later are not part of the walk. */
  readonly asOfUs: number;
}

/** One page of the objects in an area, or their number. */
export interface AreaQuery extends Asked, Selected {
  readonly kind: 'area';
  readonly response: AreaResponse;
  /** A text, or the result of reading a text or a file. */
  readonly area: Uint8Array | ReadArea;
  /** The credible level for a probability map; other areas have the default. */
  readonly level: number;
  /** Identifies `area` and `level`, also in cursors: equal areas have equal digests. */
  readonly digest: string;
  /** The last position of the previous page, or null for the first page. */
  readonly after: (AreaPlace & OfArchive) | null;
  /** The table to which the page is written, if all pages form one table. */
  readonly whole?: WholeTable;
}

/** One page of the objects with matches, by time, the latest first; or their number. */
export interface ObjectsQuery extends Asked, Selected {
  readonly kind: 'objects';
  readonly response: ResponseMode;
  /** The last object of the previous page, or null for the first page. */
  readonly after: (RecentPosition & OfArchive) | null;
}

/** A cone search of the Virtual Observatory: a VOTable. */
export interface VoConeQuery extends Asked, Circle {
  readonly kind: 'voCone';
  /** One of `coneTargets`. */
  readonly target: string;
  readonly verbosity: Verbosity;
  /** Maximum number of rows. 0, or a radius of 0, requests the columns only. */
  readonly maxRecords: number;
  readonly serialization: Serialization;
  /** Statements of the answer beside the table. */
  readonly infos: readonly Info[];
}

/** The objects recorded with a source of a catalog. */
export interface SourceQuery extends Asked {
  readonly kind: 'source';
  readonly catalogName: string;
  /** In the form of `MatchSummary`. */
  readonly catalogSourceId: string;
  /** The maximum number of objects that are listed, at least 1. */
  readonly limit: number;
}

/** A coverage map; the answer is empty if the catalog is not registered. */
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
  | MocQuery
  | SourceQuery;

/** The part of a query that determines the kind of its answer. */
export interface QueryNamed {
  readonly kind: Query['kind'];
  readonly response?: string;
}

/** Whether the answer consists of counts, which cannot be a table. */
export function isCount(query: QueryNamed): boolean {
  return query.kind === 'count' || query.response === 'count';
}

/** A table to which the pages of a walk are written, one after another. */
export class WholeTable {
  /** The part that is not sent yet. */
  readonly out = new ByteSink();
  /** The columns and the writer, from the first page on. A catalog that is added later does not change the columns. */
  begun: { readonly table: ObjectTable; readonly writer: TableWriter } | undefined;
  /** The number of written rows. A page of which a row was written cannot be written again. */
  rows = 0;
  /** The area of the walk, read once. */
  area: ReadArea | undefined;
}
