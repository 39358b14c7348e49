/** Makes a function of one object that caches the result for each object until the object is garbage-collected. */
export function memoized<K extends object, T>(make: (key: K) => T): (key: K) => T {
  const kept = new WeakMap<K, T>();
  return key => {
    if (!kept.has(key)) kept.set(key, make(key));
    return kept.get(key)!;
  };
}
