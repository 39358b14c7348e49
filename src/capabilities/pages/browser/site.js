/** The theme switch and the link to the content, on every page. */
import { byId, html, show } from './page.js';

const ORDER = ['system', 'light', 'dark'];
const WORDS = { system: ['◐', 'Auto'], light: ['☀', 'Light'], dark: ['☾', 'Dark'] };

const button = byId('theme');
button.hidden = false;
button.addEventListener('click', () => {
  const next = ORDER[(ORDER.indexOf(current()) + 1) % ORDER.length] ?? 'system';
  if (next === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem('theme', next);
  } catch {
    // The theme then applies to this page only.
  }
  label();
  document.dispatchEvent(new Event('themechange'));
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
  document.dispatchEvent(new Event('themechange')),
);
label();

// The address keeps its fragment, which may have a list.
document.querySelector('.skip')?.addEventListener('click', event => {
  event.preventDefault();
  const content = byId('content');
  content.tabIndex = -1;
  content.focus();
});

function current() {
  return document.documentElement.dataset.theme ?? 'system';
}

function label() {
  const [sign, word] = WORDS[/** @type {keyof typeof WORDS} */ (current())];
  show(
    button,
    html`<span aria-hidden="true">${sign} </span><span class="word">${word}</span><span class="unseen"> theme, change it</span>`,
  );
}
