import { messageOf } from '../base/error_text.ts';

/** The store cannot be opened, read or written; the message gives the reason and the remedy. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** A stored value, or a page of values, is damaged or missing, or was moved to another key. */
export class DamagedValue extends StoreError {
  override name = 'DamagedValue';
  /** The name of the value or page. */
  readonly what: string;

  constructor(
    what: string,
    message = `Cannot read ${what} because its bytes have changed since they were stored`,
    options?: ErrorOptions,
  ) {
    super(`${message}: run \`nearsky check\`, then restore a backup`, options);
    this.what = what;
  }
}

/** MDB_CORRUPTED and MDB_PAGE_NOTFOUND. */
const DAMAGED_CODES: readonly unknown[] = [-30796, -30797];

/** The damage that an error of this program or of LMDB reports; undefined if it reports none. */
export function damageOf(error: unknown): DamagedValue | undefined {
  if (error instanceof DamagedValue) return error;
  if (!(error instanceof Error && 'code' in error && DAMAGED_CODES.includes(error.code))) return undefined;
  const message = `Cannot read a page of the database because of ${error.message}`;
  return new DamagedValue('a page of the database', message, { cause: error });
}

/** A change that no longer fits the stored data. No part of it is stored. */
export class RefusedChange extends StoreError {
  override name = 'RefusedChange';
}

/** The log refused a change, because the clock of this machine is too far ahead of the log's servers. */
export class ClockAhead extends StoreError {
  override name = 'ClockAhead';
}

/** An error of LMDB or the file system, as a StoreError. LMDB reports a full disk as code 5, "Input/output error". */
export function storeError(doing: string, error: unknown): StoreError {
  const damage = damageOf(error);
  if (damage) return damage;
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
