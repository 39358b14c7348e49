/**
 * Compares the stored values with their checksums, and their keys with each other, in the background, so that a node
 * with a damaged disk is replaced before a query meets the damage. This does not check pages that the system has in
 * memory.
 */
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { pause } from '../base/timeout.ts';
import { DATABASE_NAMES } from '../store/databases.ts';
import type { Store } from '../store/store.ts';
import { type DamagedValue, damageOf } from '../store/store_error.ts';
import { inOrder, type Range, type Table } from '../store/table.ts';
import { type Work, workUntilClosed } from './duty.ts';

/** The bytes of a piece, and the pause after it: at most 5 MiB a second. */
const PIECE_BYTES = 2 ** 20;
const PIECE_MS = 200;
const PASS_MS = 3_600_000;
/** The maximum wait for the log. It may be unreachable, or have many records. */
const WAIT_MS = 600_000;

interface ScrubOptions {
  /** Called once. */
  readonly onDamage: (damage: DamagedValue) => void;
  /** Called after each check of the whole database that found no damage. */
  readonly onWhole?: () => Promise<void>;
  readonly log: Log;
  /** The check begins when this resolves, or after `waitMs`; never if it rejects. By default it begins at once. */
  readonly begins?: Promise<unknown>;
  readonly waitMs?: number;
  /** The pause after a piece. */
  readonly pieceMs?: number;
}

export function beginScrub(
  store: Store,
  { onDamage, onWhole, log, begins = Promise.resolve(), waitMs = WAIT_MS, pieceMs = PIECE_MS }: ScrubOptions,
): Work {
  const pass = async (signal: AbortSignal) => {
    for (const name of DATABASE_NAMES) {
      // Some values of `meta` have no checksum.
      if (name === 'meta') continue;
      for (let range: Range | undefined = {}; range && !signal.aborted; await pause(pieceMs, signal)) {
        store.resetRead();
        range = scrubPiece(store.databases[name], range);
      }
    }
  };
  const run = async (signal: AbortSignal) => {
    await Promise.race([begins, pause(waitMs, signal)]);
    for (; !signal.aborted; await pause(PASS_MS, signal)) {
      try {
        await pass(signal);
        if (!signal.aborted) await onWhole?.();
      } catch (error) {
        const damage = damageOf(error);
        if (damage) return onDamage(damage);
        log('disk_check_failed', { error: messageOf(error) });
      }
    }
  };
  // If `begins` rejects, the node has stopped.
  return workUntilClosed(signal => run(signal).catch(() => {}));
}

/**
 * @returns where the next piece begins; undefined after the last one
 * @throws DamagedValue
 */
function scrubPiece(table: Table, range: Range): Range | undefined {
  let bytes = 0;
  for (const { key, value } of inOrder(table.getRange(range), table.name)) {
    bytes += key.length + value.length;
    if (bytes > PIECE_BYTES) return { start: Buffer.concat([key, Buffer.of(0)]) };
  }
  return undefined;
}
