/**
 * The memory of an object from its claim to its commit, approximately: the object, its place in the plans, and its
 * matches.
 */
const BYTES_PER_OBJECT = 2200;
/** The rest of the memory is left for the catalogs' columns, the pages of the database, and other programs. */
const MEMORY_SHARE = 1 / 8;
const MIN_DEFAULT = 10_000;
/** Claiming this many objects holds the write lock for tenths of a second. */
export const MAX_BATCH_SIZE = 250_000;

/**
 * The number of objects that are claimed together. Each file is read once per batch, so the largest batch that fits in
 * memory is best.
 * @param availableBytes the memory that the system would give this process
 * @returns 10,000 to MAX_BATCH_SIZE
 */
export function defaultBatchSize(availableBytes: number): number {
  const size = Math.floor((availableBytes * MEMORY_SHARE) / BYTES_PER_OBJECT);
  return Math.min(MAX_BATCH_SIZE, Math.max(MIN_DEFAULT, size));
}
