/** A service as a node that follows a log, over an archive with some objects. */
import { steadyMs } from '../../../src/core/base/runtime.ts';
import type { SharedState } from '../../../src/core/base/shared_state.ts';
import { configOf, coordinatorOf, delivery, NOW_US, TestApp, type World, withApp } from './support.ts';

export const OBJECTS = 6;
export const LAST_US = NOW_US + OBJECTS - 1;

/** An object a microsecond. */
async function fill({ writer }: World): Promise<void> {
  for (let i = 0; i < OBJECTS; i++) await writer.ingest([delivery(BigInt(i + 1))], NOW_US + i);
}

/** A second service over the archive, configured as a node of a log. */
export const withNode = (body: (node: TestApp, state: SharedState, world: World) => Promise<void>) =>
  withApp(fill, async (_, world) => {
    const coordinator = coordinatorOf(configOf(world.directory));
    const { state } = coordinator;
    [state.logFollowedMs, state.hasCaughtUp, state.logTimeUs] = [steadyMs(), true, LAST_US];
    const settings = { API_REQUEST_BUDGET_SECONDS: '1', NEARSKY_LOG_MAX_LAG_SECONDS: '20' };
    const node = await new TestApp(world.directory, settings, coordinator).ready();
    try {
      await body(node, state, world);
    } finally {
      await node.app.close();
      await coordinator.close();
    }
  });
