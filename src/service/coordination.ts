/** What there is one of in a process, as a thread that serves sees it. */
import type { PublishedGeneration } from '../answers/queries.ts';
import type { Budget } from '../base/budget.ts';
import type { SharedState } from '../base/shared_state.ts';
import type { SkyMapAnswer, SkyMapTask } from '../sky_map/map_thread.ts';
import type { Admission, Caller } from './limiter.ts';

/** What is asked of the map of the sky. */
export type SkyMapQuery = Omit<SkyMapTask, 'kind'>;

export interface Coordination {
  readonly state: SharedState;
  /** What queries are answered from now; undefined while there is none. */
  readonly generation: PublishedGeneration | undefined;
  /** Drops the index that a generation came from, because it is not of this database; the index is built anew. */
  discard(generation: number): void;
  /** Admits a tool call of the connector, or refuses it. */
  admit(caller: Caller): Promise<Admission>;
  /** @throws ApiError `service_unavailable` */
  skyMap(query: SkyMapQuery, budget: Budget): Promise<SkyMapAnswer>;
  /** The text of `/metrics`. */
  metrics(): Promise<string>;
}
