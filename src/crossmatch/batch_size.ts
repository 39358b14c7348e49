/** What an object takes in memory, about, from its claim to its commit: itself, its place in the plans, its matches. */
const BYTES_PER_OBJECT = 2200;
/** The rest is for the catalogs' columns, the pages of the database, and whatever else the machine does. */
const MEMORY_SHARE = 1 / 8;
const MIN_DEFAULT = 10_000;
/** Claiming that many holds the write lock for some tenths of a second. */
export const MAX_BATCH_SIZE = 250_000;

/**
 * How many objects are claimed together and share the reading of a partition: each file is read once a batch, so that as many as the
 * memory holds are best.
 * @param availableBytes of memory, what the system would give this process
 * @returns 10,000 to MAX_BATCH_SIZE
 */
export function defaultBatchSize(availableBytes: number): number {
  const size = Math.floor((availableBytes * MEMORY_SHARE) / BYTES_PER_OBJECT);
  return Math.min(MAX_BATCH_SIZE, Math.max(MIN_DEFAULT, size));
}
