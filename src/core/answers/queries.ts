/**
 * The queries into which operations parse requests. Each query is answered with the body of a response. A query that only
 * one capability uses is in its folder.
 */

import { ByteSink } from '@nearsky/astrotables/bytes';
import type { TableWriter } from '@nearsky/astrotables/formats';
import type { DetailLevel, ListedStatus, TimeField } from '../contract/enums.ts';
import type { AnswerFormat } from '../contract/formats.ts';
import type { TnsName } from '../contract/tns_names.ts';
import type { RecentPosition } from '../store/recent.ts';
import type { ObjectTable } from '../tables/object_table.ts';
import type { QueryAnswer } from './body.ts';
import type { QueryContext, Steps } from './context.ts';
import type { OfArchive } from './cursor.ts';
import type { ObjectList } from './object_writer.ts';

/** Filters by name, at least one, in the order of the request. Values are numbers, except for `catalog`. */
export type FilterValues = readonly (readonly [name: string, value: number | string])[];

/** A circle on the sky: ICRS degrees; the radius is inclusive. */
export interface Circle {
  readonly ra: number;
  readonly dec: number;
  readonly radiusArcsec: number;
}

/** A kind of query, with its answer. */
export interface QueryKind<Q> {
  /** Its name in the log and in the names of files. */
  readonly name: string;
  /** Writes the answer: JSON, or the only format of this kind. */
  answer(query: Q, context: QueryContext): Steps;
  /**
   * Writes everything except the objects, which go to a list: the table of an answer in a table format.
   * @param listOf makes the list; `hasLevels`: whether its objects have a credible level
   */
  list?(query: Q, context: QueryContext, listOf: (hasLevels?: boolean) => ObjectList): Steps;
  /** The approximate number of objects that a query may have to read. */
  objects(query: Q): number;
  /** The approximate number of objects in the answer; by default as many as are read. */
  listed?(query: Q): number;
  /** Whether the index must cover the state of a query; by default not. */
  searchesIndex?(query: Q): boolean;
  /** Set if the answer consists of counts. */
  readonly isCount?: true;
  /** Set if objects that do not meet the filters are listed, too, and marked. */
  readonly marksFiltered?: true;
}

/** Makes a kind of query, which the log shows as its name only. */
export function queryKind<Q>(kind: QueryKind<Q>): QueryKind<Q> {
  return Object.defineProperty({ ...kind }, 'toJSON', { value: () => kind.name });
}

/** The members that all queries may have. */
export interface Query {
  // biome-ignore lint/suspicious/noExplicitAny: a query of any kind is answered by its own kind
  readonly kind: QueryKind<any>;
  readonly format?: Exclude<AnswerFormat, 'json'> | undefined;
  readonly state?: State | undefined;
  readonly detail?: DetailLevel;
  readonly filters?: FilterValues | null;
  readonly response?: string;
  readonly asOfUs?: number;
  readonly after?: OfArchive | null;
  /** The table to which the page is written, if all pages form a single table. */
  readonly whole?: WholeTable;
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

/** The state of the archive that a query asks for. */
export interface State {
  /** The state after this journal entry; undefined for the newest state. */
  readonly at: number | undefined;
  /** Whether the request names the entry. Otherwise the query is answered without a state if it has no such entry. */
  readonly isRequired: boolean;
}

/** The newest state, or that of an earlier query of the same answer. It is several states if there is no history. */
export const stateOfAnswer = (earlier?: QueryAnswer): State => ({ at: earlier?.entry, isRequired: false });

/** A lookup, with one result per input, in the order of the inputs. */
export interface LookupQuery extends Query {
  readonly kind: QueryKind<LookupQuery>;
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
export interface CountQuery extends Query {
  readonly kind: QueryKind<CountQuery>;
  readonly inputs: readonly LookupInput[];
  readonly filters: FilterValues | null;
}

/** A page of a walk. */
export interface Page<Place> {
  readonly detail: DetailLevel;
  /** At least 1. */
  readonly pageSize: number;
  /** Objects ingested later are not part of the walk. */
  readonly asOfUs: number;
  /** The last place of the previous page; null for the first page. */
  readonly after: (Place & OfArchive) | null;
}

/** A page of the objects within a circle. */
export interface ConeQuery extends Query, Sent, Circle, Page<RecentPosition> {
  readonly kind: QueryKind<ConeQuery>;
  readonly after: (RecentPosition & OfArchive) | null;
  readonly detail: DetailLevel;
  readonly asOfUs: number;
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
export interface RecentQuery extends Query, TimeWindow, Page<RecentPosition> {
  readonly kind: QueryKind<RecentQuery>;
  readonly after: (RecentPosition & OfArchive) | null;
  readonly detail: DetailLevel;
  readonly asOfUs: number;
  /** The window as the answer shows it. */
  readonly window: { readonly start: string; readonly end: string };
}

/** Selects the objects that meet the filters, have the status, and whose time lies in the window. */
export interface Selected extends TimeWindow {
  readonly filters: FilterValues | null;
  readonly status: ListedStatus;
  /** The window as the answer shows it, with null for an open end. */
  readonly window: { readonly start: string | null; readonly end: string | null };
}

/** A page of a selection, or the number of its objects (`response` is then `count`). */
export interface SelectionQuery<Place = unknown> extends Query, Selected, Page<Place> {
  readonly response: string;
  readonly detail: DetailLevel;
  readonly asOfUs: number;
  readonly after: (Place & OfArchive) | null;
  readonly filters: FilterValues | null;
}

/** The cost of a selection, for its admission: it may have to examine many more objects than it lists. */
export const WEIGHT_OF_SELECTION = {
  objects: (query: SelectionQuery) => (query.filters || isCount(query) ? Number.POSITIVE_INFINITY : query.pageSize),
  listed: (query: SelectionQuery) => query.pageSize,
};

/** The approximate number of objects that a position or a name finds. */
export const OBJECTS_PER_POSITION = 20;

/** Whether the answer consists of counts, which cannot be a table. */
export function isCount({ kind, response }: Pick<Query, 'kind' | 'response'>): boolean {
  return kind.isCount === true || response === 'count';
}

/** A table to which the pages of a walk are written in turn. */
export class WholeTable {
  /** The part that is not sent yet. */
  readonly out = new ByteSink();
  /** The columns and the writer, from the first page on. Catalogs that are added later do not change the columns. */
  begun: { readonly table: ObjectTable; readonly writer: TableWriter } | undefined;
  /** The number of written rows. If it has grown, a failed page cannot be retried. */
  rows = 0;
}
