/**
 * Yields the results of `work` for each item in the order of the items, with up to `limit` items in progress at once.
 * An error of one item is thrown after the results of the earlier items.
 */
export async function* ahead<T, U>(
  items: AsyncIterator<T>,
  work: (item: T) => Promise<U>,
  limit: number,
): AsyncGenerator<U> {
  const read = () =>
    items.next().then(
      result => ({ result }),
      (error: unknown) => ({ error }),
    );
  const underWay: Promise<U>[] = [];
  let reading = read();
  let end: Awaited<typeof reading> | undefined;
  while (!end || underWay.length > 0) {
    const isFull = underWay.length >= limit;
    const next = end || isFull ? undefined : await Promise.race([reading, ...underWay.slice(0, 1).map(settled)]);
    if (!next) {
      yield await underWay.shift()!;
    } else if ('error' in next || next.result.done) {
      end = next;
    } else {
      underWay.push(quiet(work(next.result.value)));
      reading = read();
    }
  }
  if ('error' in end) throw end.error;
}

/** Resolves with undefined as soon as the promise settles, whether it fulfils or rejects. */
function settled(promise: Promise<unknown>): Promise<undefined> {
  return promise.then(
    () => undefined,
    () => undefined,
  );
}

/** Marks a promise that is awaited later, so that a rejection before then does not count as unhandled. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
