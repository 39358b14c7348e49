/** Lists in the fragment of the address: no server sees it, and the link works elsewhere. */

/** Characters. Browsers take more, but other programs that pass links on do not. */
const MAX_FRAGMENT = 60_000;

/**
 * The fragment for a list; undefined if it is too long.
 * @param {string} key @param {string} list
 */
export function fragmentFor(key, list) {
  const fragment = `#${key}=${encodeURIComponent(list)}`;
  return fragment.length <= MAX_FRAGMENT ? fragment : undefined;
}

/** Returns the list in the address; undefined if the address has none. @param {string} key */
export function listInFragment(key) {
  if (!location.hash.startsWith(`#${key}=`)) return undefined;
  try {
    return decodeURIComponent(location.hash.slice(key.length + 2));
  } catch {
    return undefined;
  }
}
