/** Removes objects while no process of this machine crossmatches them. */
import { pause } from '../base/timeout.ts';
import type { Writer } from './writer.ts';

/** Objects per commit. A commit takes some tens of milliseconds, in which no other process can write. */
export const REMOVED_AT_ONCE = 1000;
/** The interval between attempts to get objects that another process is crossmatching. */
const RETRY_MS = 250;

/**
 * Removes objects once no process of this machine crossmatches them: its result would be recorded for an object that is
 * stored anew meanwhile.
 * @param signal ends the wait for other processes; the objects that they crossmatch are not removed then
 * @returns the number of removed objects
 */
export async function removeUnclaimed(
  writer: Writer,
  ids: readonly bigint[],
  reason: string,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0;
  for (let left = ids; left.length > 0 && !signal.aborted; ) {
    const claim = await writer.claim(left, true);
    try {
      if (claim.ids.length > 0) removed += await writer.remove(claim.ids, reason);
    } finally {
      await writer.dropClaim(claim);
    }
    left = claim.busy;
    if (left.length > 0) await pause(RETRY_MS, signal);
  }
  return removed;
}
