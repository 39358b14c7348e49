/** What the tasks have in common that read a sent table, or write the answer to one. */
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type InputTable,
  openQuickTable,
  openTable,
  type PositionParam,
  TableError,
  type TableLimits,
} from '@nearsky/astrotables';
import { isOutOfMemory } from '@nearsky/astrotables/bytes';
import { fullDisk, isFullDisk, requireSpareBytes } from '../../core/base/disk.ts';
import { Unavailable } from '../../core/base/refusal.ts';
import { PoolError } from '../../core/pool/pool_error.ts';

export interface TableInput {
  readonly limits: TableLimits;
  /** A table beyond these bounds is refused as too large, and tried again without them in another slot. */
  readonly quick?: TableLimits;
  /** The table, or the path of its file. */
  readonly input: Uint8Array | string;
}

/** Why there is no answer. */
export type TableRefusal =
  /** The message completes "Cannot ... the table because ...". */
  | { readonly outcome: 'refused'; readonly message: string; readonly param: PositionParam | undefined }
  /** The service cannot answer now. The message completes "Cannot answer because ...". */
  | { readonly outcome: 'unavailable'; readonly message: string };

export const TOO_LARGE: TableRefusal & { readonly outcome: 'refused' } = {
  outcome: 'refused',
  message: 'it takes more memory than is allowed for a table: send it in parts',
  param: undefined,
};

/**
 * @param areTyped as for `openTable`
 * @throws TableError
 */
export async function openSent({ input, limits, quick }: TableInput, areTyped: boolean): Promise<InputTable> {
  const bytes = typeof input === 'string' ? readFileSync(input) : input;
  const table = await (quick ? openQuickTable(bytes, limits, areTyped, quick) : openTable(bytes, limits, areTyped));
  if (!table) throw new TableError(TOO_LARGE.message);
  return table;
}

/** @throws the error, if the table did not cause it */
export function refusalOf(error: unknown): TableRefusal {
  if (error instanceof TableError) return { outcome: 'refused', message: error.message, param: error.param };
  if (error instanceof Unavailable) return { outcome: 'unavailable', message: error.message };
  if (isFullDisk(error)) return { outcome: 'unavailable', message: fullDisk().message };
  if (isOutOfMemory(error) || error instanceof PoolError) return TOO_LARGE;
  throw error;
}

export interface TableOutput {
  /** The path for the answer. */
  readonly output: string;
  readonly maxOutputBytes: number;
  /** Whether the answer must survive a restart of the service. */
  readonly isKept: boolean;
}

/** The file of an answer. The first write creates it. */
export class AnswerFile {
  readonly #to: TableOutput;
  #file: number | undefined;
  #bytes = 0;

  constructor(to: TableOutput) {
    this.#to = to;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** @throws Unavailable if there is no space for the answer */
  write(part: Uint8Array): void {
    const { output, maxOutputBytes } = this.#to;
    this.#bytes += part.length;
    if (this.#bytes > maxOutputBytes)
      throw new Unavailable(`the answer has more than ${maxOutputBytes} bytes, for which there is no disk space`);
    requireSpareBytes(dirname(output), part.length);
    writeFileSync((this.#file ??= openSync(output, 'w', 0o600)), part);
  }

  /** Makes the answer durable, if it is kept. */
  end(): void {
    if (this.#to.isKept) fsyncSync(this.#file!);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}
