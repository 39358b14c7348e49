/** A task that failed for a reason of the pool: its thread died or hung, or the pool is closed. */
export class PoolError extends Error {
  override name = 'PoolError';
}
