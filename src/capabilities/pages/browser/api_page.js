/** The script of the reference page: requests to try, and sections that the address can open. */
import { byId, html, show, showLoading } from './page.js';
import { root } from './root.js';

const MAX_SHOWN = 20_000;
const path = /** @type {HTMLInputElement} */ (byId('try-path'));
const answer = byId('try-answer');
const form = byId('try-form');

form.hidden = false;
form.addEventListener('submit', event => {
  event.preventDefault();
  void send();
});
for (const link of document.querySelectorAll('.tries a'))
  link.addEventListener('click', event => {
    event.preventDefault();
    path.value = link.textContent;
    void send();
  });

async function send() {
  showLoading(answer, 'Asking');
  const begin = performance.now();
  try {
    const address = new URL(path.value.replace(/^\//, ''), `${location.origin}${root}/`);
    if (address.origin !== location.origin) throw new Error('Requests go to this service only');
    const response = await fetch(address, { headers: { Accept: 'application/json' } });
    const text = await response.text();
    const took = Math.round(performance.now() - begin);
    const type = response.headers.get('Content-Type') ?? '';
    const shown = type.startsWith('application/json') ? indented(text) : text;
    const rest = html`<p class="hint">The rest is left out: open the address to see all of it.</p>`;
    show(
      answer,
      html`
        <p class="hint">${response.status} · ${took} ms · ${type} · ${text.length} characters</p>
        <pre tabindex="0"><code>${shown.slice(0, MAX_SHOWN)}</code></pre>
        ${shown.length > MAX_SHOWN && rest}`,
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : 'The service does not answer.';
    show(answer, html`<p class="notice error">${message}</p>`);
  }
}

/**
 * JSON with line breaks. Numbers stay unchanged, because a parser would lose digits of the ids.
 * @param {string} json
 */
function indented(json) {
  let depth = 0;
  let text = '';
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]|,\s*|:\s*|[^\s,:[\]{}"]+/g)) {
    const kind = token[0] ?? '';
    if (kind === '{' || kind === '[') text += `${token}\n${'  '.repeat(++depth)}`;
    else if (kind === '}' || kind === ']') text += `\n${'  '.repeat(--depth)}${token}`;
    else if (kind === ',') text += `,\n${'  '.repeat(depth)}`;
    else text += kind === ':' ? ': ' : token;
  }
  return text.replace(/([[{])\s+([\]}])/g, '$1$2');
}

const sections = /** @type {NodeListOf<HTMLDetailsElement>} */ (document.querySelectorAll('details.section'));
const openAll = byId('open-all');
openAll.hidden = false;
openAll.addEventListener('click', () => {
  for (const section of sections) section.open = true;
});
addEventListener('hashchange', openTarget);
openTarget();

/** The section that the address names. */
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const section = target?.closest('details');
  if (!section || !target) return;
  section.open = true;
  target.scrollIntoView();
}
