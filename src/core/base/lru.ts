/** Sets a key as the last one of a map, and removes the first key if the map has more than `most` keys. */
export function setRecent<K, V>(map: Map<K, V>, key: K, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}
