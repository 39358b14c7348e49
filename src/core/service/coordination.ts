/** The parts that exist once per process, as the serving threads see them. */

import type { Budget } from '../base/budget.ts';
import type { Channel } from '../base/channel.ts';
import type { SharedState } from '../base/shared_state.ts';
import type { PublishedGeneration } from '../generations/tasks.ts';

export interface Coordination {
  readonly state: SharedState;
  /** The generation that answers queries from now on; undefined while there is none. */
  readonly generation: PublishedGeneration | undefined;
  /** Called after each change of `generation`. */
  onGeneration: () => void;
  /** Drops the index that a generation came from, because it does not belong to this database, and builds a new one. */
  discard(generation: number): void;
  /** @throws Unavailable at the latest when the budget is spent */
  ask<Asked, Answer>(channel: Channel<Asked, Answer>, asked: Asked, budget: Budget): Promise<Answer>;
  /** Releases a slot that an answer on the channel has named. */
  release(channel: Channel<never, unknown>, slot: number): void;
}
