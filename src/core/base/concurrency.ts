/**
 * Runs `work` on every item, in order, with a limited number of calls in progress at once.
 * @throws the first failure, after all running calls have ended; no item is started after a failure
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
