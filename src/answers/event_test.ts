/** Tests events of the streams with filters and a status. */
import type { Catalogs } from '../contract/catalogs.ts';
import type { StoredStatus } from '../store/status.ts';
import type { MatchSource, StoredObject } from '../store/types.ts';
import type { MatchMessage } from '../stream/message.ts';
import { stateAt } from './object_messages.ts';
import { matchTest, objectTest } from './qualify.ts';
import type { FilterValues } from './queries.ts';

/** The events of a stream: matches, or changes of objects. */
export const EVENT_KINDS = ['matches', 'objects'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** An object, and the sources of its matches. */
export type WithSources = readonly [object: StoredObject, sources: readonly MatchSource[]];

export interface EventConditions {
  readonly filters: FilterValues | undefined;
  /** The status that the object must have after the change; never for matches. */
  readonly status: StoredStatus | undefined;
}

type EventTest = (event: Omit<MatchMessage, 'value'>, of: WithSources) => boolean;

/** @returns whether an event meets all conditions. An object meets filters of matches if one of its matches does */
export function eventTest(kind: EventKind, { filters, status }: EventConditions, catalogs: Catalogs): EventTest {
  const test = filters && matchTest(filters, catalogs);
  const objects = filters && objectTest(filters, catalogs);
  return ({ matchVersion, catalogName }, [object, sources]) => {
    const meets = (i: number) => test?.(object, object.matches[i]!, sources[i]) ?? true;
    if (kind === 'matches')
      return meets(
        object.matches.findIndex(match => match.matchVersion === matchVersion && match.catalogName === catalogName),
      );
    const state = stateAt(object, matchVersion);
    if (status && state.status !== status) return false;
    return objects?.needsMatch ? state.matches.some(meets) : (objects?.test(object) ?? true);
  };
}
