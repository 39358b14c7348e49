/**
 * The large search box: Enter searches, the box grows with its lines, and text that is too long for an address is
 * passed in the browser's storage.
 */
import { byId } from './page.js';

/** Some servers reject longer addresses. */
const MAX_ADDRESS = 2000;
const MAX_ROWS = 12;
export const LIST_KEY = 'nearsky-list';

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
  try {
    sessionStorage.setItem(LIST_KEY, box.value);
  } catch {
    // The results page reports the missing list.
  }
  const radius = new FormData(form).get('radius');
  location.assign(`/search?list=${Date.now()}&radius=${radius}`);
});

/** Sets as many rows as there are lines. */
export function fit() {
  box.rows = Math.min(MAX_ROWS, box.value.split('\n').length);
}
