/**
 * Lists in the fragment of the address: no server sees it, and the link works elsewhere. The browser's history has a
 * list that is too long for that.
 */

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

/**
 * Adds a list, and the query of the address, to the history, unless they are the current entry.
 * @param {string} list @param {string} [query]
 */
export function rememberList(list, query = '') {
  const fragment = fragmentFor('list', list);
  if (query === location.search && list === listOfEntry()) return;
  history.pushState(fragment === undefined ? { list } : null, '', `${location.pathname}${query}${fragment ?? ''}`);
}

/** Returns the list of the current entry of the history, if it has one. @returns {string | undefined} */
export function listOfEntry() {
  return listInFragment('list') ?? history.state?.list;
}
