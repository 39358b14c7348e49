/**
 * The position table: one row for each object, in the order in which objects were stored; rows never change. The index
 * is built from this table and the removals in the journal, so neither a start nor a commit has to read objects. A row
 * counts unless its object was removed after it was stored.
 *
 * A row is 32 bytes, little-endian: id (int64), ra and dec (float64 degrees; NaN without a valid position), ingest time
 * (float64 µs since 1970). A value holds CHUNK_ROWS rows, except the last value, which may hold fewer; its key is its
 * ordinal.
 */
import { createHash } from 'node:crypto';
import type { Databases } from './databases.ts';
import { decodeTableState, EMPTY_TABLE, encodeKey, lastOrdinal, scratchKey, type TableState } from './records.ts';
import { DamagedValue } from './store_error.ts';
import type { StoredObject } from './types.ts';

/** The data of an object in the table. */
export type StoredPoint = Pick<StoredObject, 'diaObjectId' | 'position' | 'ingestTimeUs'>;

export const ROW_BYTES = 32;

/** The number of rows of a value, which fill four pages of LMDB. A small commit rewrites one value. */
const CHUNK_ROWS = 511;

/**
 * Stored rows as two views of the same bytes. Each row has four fields: the first is an int64, the others are float64.
 */
export interface PositionRows {
  readonly count: number;
  readonly ids: BigInt64Array;
  readonly fields: Float64Array;
}

/**
 * Appends objects to the table in their order, within the open transaction, and returns the table's new state. A digest
 * is the first 16 bytes of the SHA-256 of the previous digest and the rows of one commit, so only equal histories have
 * equal digests.
 * @throws DamagedValue
 */
export function appendPositions(
  { positions }: Databases,
  { rows, digest }: TableState,
  points: readonly StoredPoint[],
): TableState {
  if (points.length === 0) return { rows, digest };
  const added = encodeRows(points);
  const chunk = Math.floor(rows / CHUNK_ROWS);
  const held = rows % CHUNK_ROWS === 0 ? undefined : positions.get(encodeKey(BigInt(chunk)));
  // If the end of the journal is missing, its last entry names fewer rows.
  if ((held?.length ?? 0) !== (rows % CHUNK_ROWS) * ROW_BYTES)
    throw new DamagedValue('the end of the position table, or of the journal,');
  const bytes = held ? Buffer.concat([held, added]) : added;
  for (let at = 0, key = chunk; at < bytes.length; at += CHUNK_ROWS * ROW_BYTES, key++) {
    positions.put(encodeKey(BigInt(key)), bytes.subarray(at, at + CHUNK_ROWS * ROW_BYTES));
  }
  const hash = createHash('sha256').update(digest).update(added).digest();
  return { rows: rows + points.length, digest: hash.subarray(0, digest.length) };
}

/**
 * The state of the table after a journal entry; `sequence` 0 is the state before the first one.
 * @throws DamagedValue if the entry is missing
 */
export function tableAfter({ journal }: Databases, sequence: number, options?: object): TableState {
  if (sequence === 0) return EMPTY_TABLE;
  const bytes = journal.get(encodeKey(BigInt(sequence)), options);
  if (!bytes) throw new DamagedValue(`entry ${sequence} of the journal`);
  return decodeTableState(bytes);
}

/** The state of the table after a commit that removed objects: their rows stay, but the digest shows their removal. */
export function afterRemoval({ rows, digest }: TableState, ids: readonly bigint[]): TableState {
  const removed = new Uint8Array(BigInt64Array.from(ids).buffer);
  const hash = createHash('sha256').update(digest).update('removed').update(removed).digest();
  return { rows, digest: hash.subarray(0, digest.length) };
}

function encodeRows(points: readonly StoredPoint[]): Uint8Array {
  const bytes = new Uint8Array(points.length * ROW_BYTES);
  const view = new DataView(bytes.buffer);
  points.forEach(({ diaObjectId, position, ingestTimeUs }, i) => {
    const at = i * ROW_BYTES;
    view.setBigInt64(at, diaObjectId, true);
    view.setFloat64(at + 8, position?.ra ?? Number.NaN, true);
    view.setFloat64(at + 16, position?.dec ?? Number.NaN, true);
    view.setFloat64(at + 24, ingestTimeUs, true);
  });
  return bytes;
}

/**
 * The rows from `from` (inclusive) to `to` (exclusive).
 * @throws RangeError if the table does not have them
 */
export function readPositions({ positions }: Databases, from: number, to: number): PositionRows {
  const count = Math.max(0, to - from);
  const bytes = new Uint8Array(count * ROW_BYTES);
  for (let row = from; row < to; ) {
    const chunk = Math.floor(row / CHUNK_ROWS);
    const first = chunk * CHUNK_ROWS;
    const end = Math.min(to, first + CHUNK_ROWS);
    const held = positions.getFast(scratchKey(BigInt(chunk)));
    if (!held || held.length < (end - first) * ROW_BYTES)
      throw new RangeError(
        `Cannot read positions ${row} to ${end} because they are not stored: the database is damaged`,
      );
    bytes.set(held.subarray((row - first) * ROW_BYTES, (end - first) * ROW_BYTES), (row - from) * ROW_BYTES);
    row = end;
  }
  return { count, ids: new BigInt64Array(bytes.buffer), fields: new Float64Array(bytes.buffer) };
}

/** The newest entry of the journal, and a digest of all objects in the order of their ingest. */
export function journalState(databases: Databases): { sequence: number; digest: string } {
  const sequence = lastOrdinal(databases.journal);
  const { digest } = tableAfter(databases, sequence);
  return { sequence, digest: Buffer.from(digest).toString('hex') };
}
