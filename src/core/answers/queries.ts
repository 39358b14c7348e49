/**
 * The queries into which operations parse requests. Each query is answered with the body of a response. A query that only
 * one capability uses is in its folder.
 */

import { ByteSink } from '@nearsky/astrotables/bytes';
import type { Table } from '@nearsky/astrotables/columns';
import type { TableWriter } from '@nearsky/astrotables/formats';
import type { DetailLevel, TimeField } from '../contract/enums.ts';
import type { AnswerFormat } from '../contract/formats.ts';
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
  /** Set if the answer has results of inputs: of one, or of many, each of which has rows of its own in a table. */
  readonly resultsOf?: 'one' | 'many';
}

/** Writes the answer to a query in a format other than JSON. */
export type AnswerWriter = (query: Query, context: QueryContext) => Steps;

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

export interface Sent {
  /** The input as it was sent: JSON text. */
  readonly sent: string;
}

/** The state of the archive that a query asks for. */
export interface State {
  /** The state after this journal entry; undefined for the newest state. */
  readonly at: number | undefined;
  /** Whether the request names the entry. Otherwise the query is answered without a state if it has no such entry. */
  readonly isRequired: boolean;
}

/** The newest state, or that of an earlier query of the same answer. It is several states if there is no history. */
export const stateOfAnswer = (earlier?: QueryAnswer): State => ({ at: earlier?.entry, isRequired: false });

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

export interface TimeWindow {
  readonly timeField: TimeField;
  /** Inclusive. */
  readonly startUs: number;
  /** Exclusive. */
  readonly endUs: number;
}

/** Whether the answer consists of counts, which cannot be a table. */
export function isCount({ kind, response }: Pick<Query, 'kind' | 'response'>): boolean {
  return kind.isCount === true || response === 'count';
}

/** A table to which the pages of a walk are written in turn. */
export class WholeTable {
  /** The part that is not sent yet. */
  readonly out = new ByteSink();
  /** The columns and the writer, from the first page on. Catalogs that are added later do not change the columns. */
  begun: { readonly table: Table; readonly writer: TableWriter } | undefined;
  /** The number of written rows. If it has grown, a failed page cannot be retried. */
  rows = 0;
}
