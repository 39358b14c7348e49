/** Files of a remote catalog that are read at once: enough to fill the time that a host takes to answer. */
export const REMOTE_CONCURRENCY = 8;

/**
 * Does `work` for every item, so many at once, beginning in their order.
 * @throws the first failure, when nothing is under way any more; no item is begun after it
 */
export async function eachConcurrently<T>(
  items: readonly T[],
  limit: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const loop = async () => {
    try {
      while (next < items.length) {
        const index = next++;
        await work(items[index]!, index);
      }
    } catch (error) {
      next = items.length;
      throw error;
    }
  };
  const results = await Promise.allSettled(Array.from({ length: limit }, loop));
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
