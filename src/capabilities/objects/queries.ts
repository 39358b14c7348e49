/** The queries for objects by id, position or name: lookups, their counts, and cones. */

import type { OfArchive } from '../../core/answers/cursor.ts';
import type { Circle, FilterValues, Page, Query, QueryKind, Sent, State } from '../../core/answers/queries.ts';
import type { DetailLevel } from '../../core/contract/enums.ts';
import type { TnsName } from '../../core/contract/tns_names.ts';
import type { RecentPosition } from '../../core/store/recent.ts';

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

/** A page of the objects within a circle. */
export interface ConeQuery extends Query, Sent, Circle, Page<RecentPosition> {
  readonly kind: QueryKind<ConeQuery>;
  readonly after: (RecentPosition & OfArchive) | null;
  readonly detail: DetailLevel;
  readonly asOfUs: number;
  readonly filters: FilterValues | null;
}

/** The approximate number of objects that a position or a name finds. */
export const OBJECTS_PER_POSITION = 20;
