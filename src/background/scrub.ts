/**
 * Compares the stored values with their checksums in the background, so that a node with a damaged disk is replaced
 * before a query meets the damage. This does not check pages that the system has in memory.
 */
import { pause } from '../base/timeout.ts';
import { DATABASE_NAMES } from '../store/databases.ts';
import type { Store } from '../store/store.ts';
import { keyText, type Range, type Table } from '../store/table.ts';
import { type Work, workUntilClosed } from './duty.ts';

/** The bytes of a piece, and the pause after it: at most 5 MiB a second. */
const PIECE_BYTES = 2 ** 20;
const PIECE_MS = 200;
const PASS_MS = 3_600_000;

/**
 * @param onDamage called once, with the name of the damaged value
 * @param pieceMs the pause after a piece
 */
export function beginScrub(store: Store, onDamage: (what: string) => void, pieceMs = PIECE_MS): Work {
  const run = async (signal: AbortSignal) => {
    for (; !signal.aborted; await pause(PASS_MS, signal)) {
      for (const name of DATABASE_NAMES) {
        const table = store.databases[name];
        // Some values of `meta` have no checksum.
        if (!table.isSealed || name === 'meta') continue;
        for (let range: Range | undefined = {}; range && !signal.aborted; await pause(pieceMs, signal)) {
          store.resetRead();
          const piece = scrubPiece(table, range);
          if (piece.damaged !== undefined) return onDamage(piece.damaged);
          range = piece.next && { start: piece.next };
        }
      }
    }
  };
  return workUntilClosed(signal => run(signal).catch(error => onDamage(`${error}`)));
}

/** @returns the key with which the next piece begins, if there is one; the name of a value that is damaged */
function scrubPiece(table: Table, range: Range): { readonly next?: Uint8Array; readonly damaged?: string } {
  let bytes = 0;
  for (const { key, value } of table.scan(range)) {
    if (!value) return { damaged: `${keyText(key)} of ${table.name}` };
    bytes += key.length + value.length;
    if (bytes > PIECE_BYTES) return { next: Buffer.concat([key, Buffer.of(0)]) };
  }
  return {};
}
