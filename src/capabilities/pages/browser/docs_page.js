/** Searches the documents in the browser. The index is loaded when the search is first used. */
import { byId, html, show } from './page.js';

/** @typedef {{ address: string, title: string, heading: string, text: string }} Section */

const MAX_SHOWN = 20;
const EXCERPT = 160;

const form = byId('docs-search');
const field = /** @type {HTMLInputElement} */ (byId('docs-query'));
const results = byId('docs-results');

/** @type {Promise<Section[]> | undefined} */
let index;

form.hidden = false;
form.addEventListener('submit', event => event.preventDefault());
field.addEventListener('focus', () => void load().catch(() => {}));
field.addEventListener('input', () => void search());

function load() {
  index ??= fetch(form.dataset.index ?? '').then(response => {
    if (!response.ok) throw new Error(`The service answered ${response.status}`);
    return response.json();
  });
  index.catch(() => {
    // The next attempt loads it again.
    index = undefined;
  });
  return index;
}

async function search() {
  const query = field.value;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return show(results);
  try {
    const found = bestOf(await load(), words);
    // The text may have changed while the index was loaded.
    if (query === field.value) showFound(found, words);
  } catch {
    show(results, html`<p class="notice error">The search index cannot be loaded.</p>`);
  }
}

/**
 * The sections that have every word, those with the words in their titles first.
 * @param {Section[]} sections @param {string[]} words
 */
function bestOf(sections, words) {
  return sections
    .map(section => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ section }) => section);
}

/** @param {Section} section @param {string[]} words */
function scoreOf({ title, heading, text }, words) {
  const [titles, headings, texts] = [title, heading, text].map(each => each.toLowerCase());
  let score = 0;
  for (const word of words) {
    const inHeading = headings?.includes(word) ? 20 : 0;
    const inTitle = titles?.includes(word) ? (heading === '' ? 30 : 5) : 0;
    const times = Math.min((texts?.split(word).length ?? 1) - 1, 9);
    if (inHeading + inTitle + times === 0) return 0;
    score += inHeading + inTitle + times;
  }
  return score;
}

/** @param {Section[]} found @param {string[]} words */
function showFound(found, words) {
  const count = found.length === 1 ? '1 section' : `${found.length} sections`;
  const item = (/** @type {Section} */ { address, title, heading, text }) => html`
    <li>
      <a href=${address}>${heading === '' ? title : `${title}: ${heading}`}</a>
      <p class="hint">${excerptOf(text, words)}</p>
    </li>`;
  show(
    results,
    html`
      <p class="hint">${found.length > MAX_SHOWN ? `${count}, the best ${MAX_SHOWN} of them:` : count}</p>
      <ul>${found.slice(0, MAX_SHOWN).map(item)}</ul>`,
  );
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
