/** The parts that exist once per process, as the serving threads see them. */

import type { Budget } from '../base/budget.ts';
import type { SharedState } from '../base/shared_state.ts';
import type { PublishedGeneration } from '../generations/tasks.ts';
import type { Job } from '../jobs/job.ts';
import type { JobStep } from '../jobs/job_queue.ts';
import type { SkyMapAnswer } from '../sky_map/map_thread.ts';
import type { SkyMapAsked } from '../sky_map/sky_map.ts';
import type { SourcesAnswer } from '../sources/near_task.ts';
import type { SourcesAsked } from '../sources/nearby_sources.ts';
import type { TableWritten } from '../table_match/match_task.ts';
import type { TableAsked } from '../table_match/table_matches.ts';
import type { TapAnswer, TapStep } from '../tap/tap.ts';
import type { AreaAsked } from '../vo/area_reader.ts';
import type { AreaWritten } from '../vo/area_task.ts';
import type { AreaFollowed } from './area_slots.ts';
import type { Admission, Caller } from './limiter.ts';

/** The requests to these parts, with their answers. Structured clone copies both between threads. */
export interface Calls {
  /** Asks whether a tool call of the connector may start. A call that is admitted must be released. */
  readonly admit: { readonly asked: Caller; readonly answer: Admission };
  readonly skyMap: { readonly asked: SkyMapAsked; readonly answer: SkyMapAnswer };
  readonly sources: { readonly asked: SourcesAsked; readonly answer: SourcesAnswer };
  /** Null if the answer would exceed its budget. */
  readonly table: { readonly asked: TableAsked; readonly answer: TableWritten | null };
  /** Null if the answer would exceed its budget. */
  readonly area: { readonly asked: AreaAsked; readonly answer: AreaWritten | null };
  /** Takes a slot for an area that a stream follows; see `leaveArea`. @throws Unavailable if there is none */
  readonly followArea: { readonly asked: AreaFollowed; readonly answer: number };
  /** The current state of the job; null if no job has this id. */
  readonly jobs: { readonly asked: { readonly client: string; readonly step: JobStep }; readonly answer: Job | null };
  readonly tap: { readonly asked: TapStep; readonly answer: TapAnswer };
  readonly metrics: { readonly asked: null; readonly answer: string };
}

export type CallName = keyof Calls;

export interface Coordination {
  readonly state: SharedState;
  /** The generation that answers queries from now on; undefined while there is none. */
  readonly generation: PublishedGeneration | undefined;
  /** Called after each change of `generation`. */
  onGeneration: () => void;
  /** Drops the index that a generation came from, because it does not belong to this database, and builds a new one. */
  discard(generation: number): void;
  /** @throws Unavailable at the latest when the budget is spent */
  ask<N extends CallName>(name: N, asked: Calls[N]['asked'], budget: Budget): Promise<Calls[N]['answer']>;
  /** Releases the slot of a tool call that has ended. */
  free(slot: number): void;
  /** Releases the slot of an area whose stream has ended. */
  leaveArea(slot: number): void;
}
