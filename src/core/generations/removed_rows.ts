/** Finds the rows of a generation that are void, because their objects were removed since. */
import type { BesideObjects } from '../store/store_reader.ts';
import type { PublishedGeneration } from './tasks.ts';

/** A row of the index: the object's id, and the number of the arena. */
export interface IndexedRow {
  readonly id: bigint;
  readonly arena: number;
}

/** A test whether the object of a row was removed since the row was indexed; undefined if none was. */
export function removedRows(
  store: BesideObjects,
  { purgedTo }: Pick<PublishedGeneration, 'purgedTo'>,
): ((row: IndexedRow) => boolean) | undefined {
  const removed = store.removedAfter(Math.min(...purgedTo));
  if (removed.size === 0) return undefined;
  return ({ id, arena }) => (removed.get(id)?.sequence ?? 0) > purgedTo[arena]!;
}
