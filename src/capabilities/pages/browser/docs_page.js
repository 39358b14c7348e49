/** Searches the documents in the browser. The index is loaded when the search is first used. */
import { searchOf } from './docs_search.js';
import { byId, html, show } from './page.js';

const MAX_SHOWN = 20;
const EXCERPT = 160;

const form = byId('docs-search');
const field = /** @type {HTMLInputElement} */ (byId('docs-query'));
const results = byId('docs-results');

/** @type {Promise<ReturnType<typeof searchOf>> | undefined} */
let index;

form.hidden = false;
form.addEventListener('submit', event => event.preventDefault());
field.addEventListener('focus', () => void load().catch(() => {}));
field.addEventListener('input', () => void search());

function load() {
  index ??= fetch(form.dataset.index ?? '').then(async response => {
    if (!response.ok) throw new Error(`The service answered ${response.status}`);
    return searchOf(await response.json());
  });
  index.catch(() => {
    // The next attempt loads it again.
    index = undefined;
  });
  return index;
}

async function search() {
  const query = field.value;
  if (query.trim() === '') return show(results);
  try {
    const found = (await load())(query);
    // The text may have changed while the index was loaded.
    if (query === field.value) showFound(found);
  } catch {
    show(results, html`<p class="notice error">The search index cannot be loaded.</p>`);
  }
}

/** @param {import('./docs_search.js').Found[]} found */
function showFound(found) {
  const count = found.length === 1 ? '1 section' : `${found.length} sections`;
  show(
    results,
    html`
      <p class="hint">${found.length > MAX_SHOWN ? `${count}, the best ${MAX_SHOWN} of them:` : count}</p>
      <ul>${found.slice(0, MAX_SHOWN).map(item)}</ul>`,
  );
}

/** @param {import('./docs_search.js').Found} found */
function item({ section: { address, title, heading, text }, words }) {
  return html`
    <li>
      <a href=${address}>${heading === '' ? title : `${title}: ${heading}`}</a>
      <p class="hint">${excerptOf(text, words)}</p>
    </li>`;
}

/** The text around the first of the words. @param {string} text @param {string[]} words */
function excerptOf(text, words) {
  const lower = text.toLowerCase();
  const places = words.map(word => lower.indexOf(word)).filter(place => place >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - EXCERPT / 3);
  const start = places.length === 0 || from < 20 ? 0 : text.indexOf(' ', from) + 1;
  const end = start + EXCERPT;
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`;
}
