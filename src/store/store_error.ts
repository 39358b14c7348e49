import { messageOf } from '../base/error_text.ts';

/** The store cannot be opened, read or written; the message gives the reason and the remedy. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** The data directory has the format of an older release. Only a command that writes upgrades it. */
export class OlderFormat extends StoreError {
  override name = 'OlderFormat';
  readonly format: number;

  constructor(format: number, message: string) {
    super(message);
    this.format = format;
  }
}

/** A change that no longer fits the stored data. No part of it is stored. */
export class RefusedChange extends StoreError {
  override name = 'RefusedChange';
}

/** An error of LMDB or the file system, as a StoreError. LMDB reports a full disk as code 5, "Input/output error". */
export function storeError(doing: string, error: unknown): StoreError {
  const why = messageOf(error);
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  const full = code === 5 || code === 28 || code === 'ENOSPC' || code === 'EIO';
  const mend = full
    ? 'free some space on that disk, or move the data directory'
    : 'check that the directory can be read and written';
  return new StoreError(`Cannot ${doing} because ${full ? `the disk is full or failing (${why})` : why}: ${mend}`, {
    cause: error,
  });
}
