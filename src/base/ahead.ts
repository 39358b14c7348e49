/**
 * What `work` makes of each item, in their order, up to `limit` of them under way at once. Where the items end with an error, it is
 * thrown after what the items before it came to.
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

/** Resolves with nothing when the promise is settled. */
function settled(promise: Promise<unknown>): Promise<undefined> {
  return promise.then(
    () => undefined,
    () => undefined,
  );
}

/** The promise, which is awaited later: until then its failure is not unhandled. */
export function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
