/** Removes old objects while the service runs. */

import type { OnDuty } from '../../core/background/beside_writer.ts';
import { type Work, workUntilClosed } from '../../core/background/duty.ts';
import { messageOf } from '../../core/base/error_text.ts';
import type { Log } from '../../core/base/log.ts';
import { repeat } from '../../core/base/timeout.ts';
import { nowUs } from '../../core/base/times.ts';
import type { Tasks } from '../../core/pool/pool.ts';
import { latestListedIngest, oldestIds } from '../../core/store/recent.ts';
import type { Store } from '../../core/store/store.ts';
import type { Writer } from '../../core/store/writer.ts';
import { REMOVED_AT_ONCE, removeUnclaimed } from './remove_objects.ts';

const DAY_US = 86_400_000_000;
/** The pause after a commit: at most 1000 objects are removed per second. */
const COMMIT_MS = 1000;
/** The pause if nothing is to be removed, or after a failure. */
const IDLE_MS = 60_000;

/**
 * Removes objects that were first stored more than `days` before the newest object. So a service that receives nothing
 * keeps what it has, even if its clock is wrong. Times in the future, which an import may contain, do not count.
 */
export function beginRetention(store: Store, writer: Writer, days: number, log: Log): Work {
  const reason = `first stored more than ${days} days before the newest object (NEARSKY_RETENTION_DAYS)`;
  let [total, isLeft] = [0, false];
  const step = async (signal: AbortSignal) => {
    isLeft = false;
    store.resetRead();
    const newestUs = latestListedIngest(store.databases, nowUs()) ?? 0;
    const ids = oldestIds(store.databases, { endUs: newestUs - days * DAY_US, limit: REMOVED_AT_ONCE });
    total += (await removeUnclaimed(writer, ids, { reason }, signal)).removed;
    isLeft = ids.length === REMOVED_AT_ONCE;
    if (isLeft || total === 0) return;
    log('old_objects_removed', { objects: total });
    total = 0;
  };
  const pauseMs = () => (isLeft ? COMMIT_MS : IDLE_MS);
  const failed = (error: unknown) => log('retention_failed', { error: messageOf(error) });
  return workUntilClosed(signal => repeat(signal, pauseMs, () => step(signal), failed));
}

export const tasks: Tasks<OnDuty> = {
  duty: ({ store, writer, config, log }) => beginRetention(store, writer, config.NEARSKY_RETENTION_DAYS!, log),
};
