/** The task `importLines`, which makes objects from the lines of an export. */

import { Piscina } from 'piscina';
import { memoized } from '../../core/base/memoized.ts';
import { fromEventLoop } from '../../core/base/runtime.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { threadData } from '../../core/pool/thread_data.ts';
import { currentStore } from '../../core/store/thread_store.ts';
import { type PackedPieces, packPieces } from './pieces.ts';
import { prepareLines } from './prepare.ts';
import { StoredOrdinals } from './stored_ordinals.ts';

/**
 * Prepares the objects of a block, so that they only need a commit. Needs a pool with the data directory of the import.
 */
export interface ImportLinesTask extends Task<PackedPieces> {
  readonly module: 'src/capabilities/transfer/import_lines';
  readonly kind: 'importLines';
  /** This property and the following ones form a `LineBlock`. */
  readonly bytes: ArrayBuffer;
  readonly firstLine: number;
  readonly missingBytes: number;
}

const ordinalsOf = memoized((_: object) => new StoredOrdinals(currentStore));

export const tasks: Tasks<ImportLinesTask> = { importLines: run };

function run({ bytes, ...place }: ImportLinesTask): PackedPieces | Promise<PackedPieces> {
  return fromEventLoop(() => {
    const ordinals = ordinalsOf(threadData());
    ordinals.begin();
    const packed = packPieces(prepareLines({ bytes: new Uint8Array(bytes), ...place }, ordinals));
    // The buffers are transferred, not copied.
    const transferred = { [Piscina.transferableSymbol]: [packed.rows, packed.values], [Piscina.valueSymbol]: packed };
    return Piscina.move(transferred as never) as unknown as PackedPieces;
  });
}
