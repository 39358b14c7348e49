/** Tests events of the streams with filters and a status. */

import type { FilterValues } from '../../core/answers/queries.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import type { StoredStatus } from '../../core/store/status.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';
import { type MatchSource, REMOVED_VERSION, type StoredObject } from '../../core/store/types.ts';
import { matchTest, objectTest } from '../objects/qualify.ts';
import type { MatchMessage } from './message.ts';
import { stateAt } from './object_messages.ts';

/** The events of a stream: matches, or changes of objects. */
export const EVENT_KINDS = ['matches', 'objects'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** An object, and the sources of its matches. */
export type WithSources = readonly [object: StoredObject, sources: readonly MatchSource[]];

/** The object's present state; undefined if it is not stored. */
export function withSources(store: StoreReader, diaObjectId: bigint): WithSources | undefined {
  const object = store.getObject(diaObjectId);
  return object && [object, store.getSources(diaObjectId)];
}

export interface EventConditions {
  readonly filters: FilterValues | undefined;
  /** The status that the object must have after the change; undefined for any status, and always for matches. */
  readonly status: StoredStatus | undefined;
}

/** `of` is undefined if the object is no longer stored. After a removal it may be another object with the same id. */
type EventTest = (event: Omit<MatchMessage, 'value'>, of: WithSources | undefined) => boolean;

/** @returns whether an event meets all conditions: never if its object was removed. An object meets filters of matches if one of its matches does */
export function eventTest(kind: EventKind, { filters, status }: EventConditions, catalogs: Catalogs): EventTest {
  const test = filters && matchTest(filters, catalogs);
  const objects = filters && objectTest(filters, catalogs);
  return ({ matchVersion, catalogName }, of) => {
    if (!of || matchVersion === REMOVED_VERSION) return false;
    const [object, sources] = of;
    const meets = (i: number) => test?.(object, object.matches[i]!, sources[i]) ?? true;
    if (kind === 'matches') {
      const at = object.matches.findIndex(
        match => match.matchVersion === matchVersion && match.catalogName === catalogName,
      );
      return at >= 0 && meets(at);
    }
    const state = stateAt(object, matchVersion);
    if (status && state.status !== status) return false;
    return objects?.needsMatch ? state.matches.some(meets) : (objects?.test(object) ?? true);
  };
}
