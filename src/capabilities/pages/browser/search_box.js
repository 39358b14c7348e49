/**
 * The large search box: Enter searches, and the box grows with its lines. A long list is in the fragment of the address,
 * which no server sees, so the link works elsewhere; a very long one is passed in the browser's storage.
 */
import { fragmentFor } from './fragment.js';
import { byId } from './page.js';
import { root } from './root.js';

/** Some servers reject longer addresses. */
const MAX_ADDRESS = 2000;
const MAX_ROWS = 12;
/** Each list has a key of its own, so that Back shows the list before. @param {string | number | null} list */
export const listKey = list => `nearsky-list-${list}`;

const box = /** @type {HTMLTextAreaElement} */ (byId('q-large'));
const form = /** @type {HTMLFormElement} */ (box.form);

box.addEventListener('input', fit);
box.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
form.addEventListener('submit', event => {
  if (box.value.length <= MAX_ADDRESS) return;
  event.preventDefault();
  const radius = new FormData(form).get('radius');
  const fragment = fragmentFor('q', box.value);
  if (fragment !== undefined) return location.assign(`${root}/search?radius=${radius}${fragment}`);
  const list = Date.now();
  try {
    sessionStorage.setItem(listKey(list), box.value);
  } catch {
    // The results page reports the missing list.
  }
  location.assign(`${root}/search?list=${list}&radius=${radius}`);
});

/** Sets as many rows as there are lines. */
export function fit() {
  box.rows = Math.min(MAX_ROWS, box.value.split('\n').length);
}
