/** What there is one of in a process, as a thread that serves sees it. */
import type { SkyMapAnswer, SkyMapTask } from '../workers/sky_map.ts';
import type { PublishedGeneration } from '../workers/tasks.ts';
import type { Admission, Caller } from './mcp/limiter.ts';
import type { Budget } from './query/budget.ts';
import type { SharedState } from './shared_state.ts';

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
