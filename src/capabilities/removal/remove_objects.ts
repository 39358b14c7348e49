/** Removes objects while no process of this machine crossmatches them. */
import { pause } from '../../core/base/timeout.ts';
import type { RemovedCounts } from '../../core/store/changes.ts';
import type { Writer } from '../../core/store/writer.ts';

/** Objects per commit. A commit takes tens of milliseconds, in which no other process can write. */
export const REMOVED_AT_ONCE = 1000;
/** The interval between attempts to get objects that another process is crossmatching. */
const RETRY_MS = 250;

/**
 * Removes objects when no process of this machine is crossmatching them. Otherwise its result could be recorded for an
 * object that was stored anew meanwhile.
 * @param signal ends the wait for other processes; the objects that they crossmatch are not removed then
 * @param of the reason, and the broker if only its deliveries are removed
 */
export async function removeUnclaimed(
  writer: Writer,
  ids: readonly bigint[],
  of: { readonly reason: string; readonly broker?: string | undefined },
  signal: AbortSignal,
): Promise<RemovedCounts> {
  let [removed, kept] = [0, 0];
  for (let left = ids; left.length > 0 && !signal.aborted; ) {
    const claim = await writer.claim(left, true);
    try {
      if (claim.ids.length > 0) {
        const counts = await writer.remove(claim.ids, of.reason, of.broker);
        removed += counts.removed;
        kept += counts.kept;
      }
    } finally {
      await writer.dropClaim(claim);
    }
    left = claim.busy;
    if (left.length > 0) await pause(RETRY_MS, signal);
  }
  return { removed, kept };
}
