/** The switch of the theme, on every page. */
import { byId, h, show } from './page.js';

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
    // The theme then holds for this page only.
  }
  label();
  document.dispatchEvent(new Event('themechange'));
});
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () =>
  document.dispatchEvent(new Event('themechange')),
);
label();

function current() {
  return document.documentElement.dataset.theme ?? 'system';
}

function label() {
  const [sign, word] = WORDS[/** @type {keyof typeof WORDS} */ (current())];
  const more = h('span', { class: 'unseen' }, ' theme, change it');
  show(button, h('span', { 'aria-hidden': 'true' }, `${sign} `), word, more);
}
