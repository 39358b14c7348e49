/** The page of queries in ADQL: the editor, and the answer as a table and a plot. */
import { fileName } from './files.js';
import { count, counted } from './format.js';
import { ApiError, byId, html, part, show, showError } from './page.js';
import { scatterPlot } from './plot.js';
import { resultTable } from './result_table.js';
import { root } from './root.js';
import { sendTable } from './samp.js';
import { readVotable } from './votable.js';

/** @typedef {import('./votable.js').ResultTable} ResultTable */

const PATH = `${root}/vo/tap/sync`;
/** The maximum number of rows that the page requests. */
const MAX_ROWS = 2000;
/** Some servers refuse longer addresses. */
const MAX_ADDRESS = 8000;
/** The words by which the service's error shows that it has no tables yet. */
const PREPARING = /the tables are being made[^<]*/;

/** Shows what the page waits for, and for how long. */
class Clock {
  #begin = performance.now();
  #what = 'Asking';

  /** @param {Element} place */
  constructor(place) {
    this.place = place;
    this.timer = setInterval(() => this.#show(), 1000);
    this.#show();
  }

  /** @param {string} what */
  say(what) {
    this.#what = what;
    this.#show();
  }

  #show() {
    const seconds = Math.floor((performance.now() - this.#begin) / 1000);
    this.place.textContent = `${this.#what} … ${seconds < 1 ? '' : `${seconds} s`}`.trim();
  }

  stop() {
    clearInterval(this.timer);
  }
}

const form = byId('query');
const editor = /** @type {HTMLTextAreaElement} */ (byId('adql'));
const stop = byId('stop');
const said = byId('said');
const results = byId('results');
let asking = new AbortController();

form.addEventListener('submit', event => {
  event.preventDefault();
  begin(true);
});
editor.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  begin(true);
});
stop.addEventListener('click', () => asking.abort());
for (const link of document.querySelectorAll('.tries a'))
  link.addEventListener('click', event => {
    event.preventDefault();
    editor.value = new URL(link.getAttribute('href') ?? '', location.href).searchParams.get('q') ?? '';
    begin(false);
  });
for (const code of document.querySelectorAll('.schema .insert')) {
  const name = code.textContent ?? '';
  const button = () => html`<button type="button" class="link" @click=${() => insert(name)}>${name}</button>`;
  code.replaceWith(part(name, button));
}
const offered = editor.value;
addEventListener('popstate', showEntry);
showEntry();

/** Shows the query of the current history entry: the query in the address, or one that was too long for an address. */
function showEntry() {
  asking.abort();
  asking = new AbortController();
  stop.hidden = true;
  const query = history.state?.query ?? new URLSearchParams(location.search).get('q');
  editor.value = query ?? offered;
  if (query) return void run(false);
  show(results);
  said.textContent = 'Ctrl+Enter runs it, too.';
}

/** Runs the query in the editor. A different query becomes a new entry of the history. @param {boolean} isTyped */
function begin(isTyped) {
  const query = editor.value.trim();
  if (query === '') return;
  const long = `${root}/query?q=${encodeURIComponent(query)}`;
  const address = long.length > MAX_ADDRESS ? `${root}/query` : long;
  const isSame = query === (history.state?.query ?? new URLSearchParams(location.search).get('q'));
  if (isSame) history.replaceState({ query }, '', address);
  else history.pushState({ query }, '', address);
  void run(isTyped);
}

/** Puts a name where the cursor is. @param {string} name */
function insert(name) {
  editor.setRangeText(name, editor.selectionStart, editor.selectionEnd, 'end');
  editor.focus();
}

/** @param {boolean} isTyped whether to move the cursor to the place of an error */
async function run(isTyped) {
  const query = editor.value.trim();
  if (query === '') return;
  asking.abort();
  const own = (asking = new AbortController());
  const clock = new Clock(said);
  stop.hidden = false;
  results.setAttribute('aria-busy', 'true');
  const begin = performance.now();
  try {
    const body = new URLSearchParams(parametersOf(query, 'votable', MAX_ROWS));
    const table = readVotable(await answerOf(body, own.signal, clock));
    if (own !== asking) return;
    const took = Math.round(performance.now() - begin);
    const first = table.isCut ? 'The first ' : '';
    const [entry, asOf] = ['nearsky_journal_entry', 'nearsky_as_of'].map(table.info);
    said.textContent = `${first}${counted(table.rows.length, 'row')} in ${count(took)} ms, from journal entry ${entry} (as of ${asOf})`;
    showResult(query, table);
  } catch (error) {
    if (own !== asking) return;
    said.textContent = own.signal.aborted ? 'Stopped' : '';
    if (own.signal.aborted) show(results);
    else showFault(query, error, isTyped);
  } finally {
    clock.stop();
    if (own === asking) stop.hidden = true;
  }
}

/** @param {string} query @param {string} format @param {number} [most] */
function parametersOf(query, format, most) {
  return { LANG: 'ADQL', RESPONSEFORMAT: format, ...(most && { MAXREC: `${most}` }), QUERY: query };
}

/**
 * Returns the answer. The query is sent again while the service is making its tables, which happens before its first
 * query.
 * @param {URLSearchParams} body @param {AbortSignal} signal @param {Clock} clock
 */
async function answerOf(body, signal, clock) {
  try {
    for (;;) {
      const response = await fetch(PATH, { method: 'POST', body, signal });
      const text = await response.text();
      const [preparing] = (response.status === 503 && PREPARING.exec(text)) || [];
      if (preparing === undefined) return text;
      clock.say(`The first query waits: ${preparing}`);
      await pause(Number(response.headers.get('Retry-After') ?? 1), signal);
    }
  } catch {
    throw new ApiError('The service does not answer. Is the network there?', true);
  }
}

/** @param {number} seconds @param {AbortSignal} signal ends it with an error */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** @param {string} query @param {ResultTable} table */
function showResult(query, table) {
  const address = `${PATH}?${new URLSearchParams(parametersOf(query, 'votable'))}`;
  const files =
    address.length > MAX_ADDRESS
      ? html`<p class="hint">The query is too long for an address: a program can send it, and have all rows.</p>`
      : actions(query, address);
  show(results, [resultTable(table.fields, table.rows), files, plotOf(table)]);
}

/** @param {string} query @param {string} address of its whole answer */
function actions(query, address) {
  const formats = (form.dataset.formats ?? '').split(' ').map(format => {
    const href = `${PATH}?${new URLSearchParams(parametersOf(query, format))}`;
    return html`<a href=${href} download=${fileName('query', format)}>${format}</a> `;
  });
  return part('', (told, tell) => {
    const open = async () => {
      tell('The hub may ask you whether this page may connect.');
      try {
        const names = await sendTable(`${location.origin}${address}`, query.replace(/\s+/g, ' ').slice(0, 60));
        tell(`Sent to ${names.join(', ')}.`);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        tell(error.message);
      }
    };
    return html`
      <p class="downloads">All rows, at most ${count(Number(form.dataset.most))}: ${formats}<button
        type="button" class="small" @click=${open}>Open in TOPCAT</button><span
        class="hint" role="status">${told}</span></p>`;
  });
}

/** The plot of two columns, which can be chosen. @param {ResultTable} table */
function plotOf({ fields, rows }) {
  const numbers = fields.flatMap((field, i) => (field.isNumber ? [i] : []));
  const [first, second] = axesOf(fields, numbers);
  if (first === undefined || second === undefined || rows.length < 2) return null;
  return part({ x: first, y: second }, (axes, choose) => {
    const choice = (/** @type {'x' | 'y'} */ axis) => {
      const change = (/** @type {any} */ { target }) => choose({ ...axes, [axis]: Number(target.value) });
      const options = numbers.map(
        i => html`<option value=${i} ?selected=${i === axes[axis]}>${fields[i]?.name}</option>`,
      );
      return html`<select aria-label="The column of the ${axis} axis" @change=${change}>${options}</select>`;
    };
    return html`
      <section class="plotted">
        <h2>Plot</h2>
        <p class="pick">${choice('y')} against ${choice('x')}</p>
        <div>${scatterPlot(axisOf(axes.x), axisOf(axes.y))}</div>
      </section>`;
  });

  /** @param {number} i */
  function axisOf(i) {
    const { name = '', unit = '', ucd = '' } = fields[i] ?? {};
    return {
      title: unit ? `${name} (${unit})` : name,
      values: rows.map(row => (row[i] ? Number(row[i]) : Number.NaN)),
      // East is to the left, and bright is up.
      isReversed: unit === 'mag' || ucd.startsWith('pos.eq.ra'),
    };
  }
}

/**
 * The columns for the axes: the positions, if the rows have them, else the first two columns of numbers.
 * @param {import('./votable.js').Field[]} fields @param {number[]} numbers places of the columns of numbers
 */
function axesOf(fields, numbers) {
  const byUcd = (/** @type {string} */ start) => numbers.find(i => fields[i]?.ucd.startsWith(start));
  const [ra, dec] = [byUcd('pos.eq.ra'), byUcd('pos.eq.dec')];
  if (ra !== undefined && dec !== undefined) return [ra, dec];
  return numbers.filter(i => !fields[i]?.ucd.startsWith('meta'));
}

/**
 * Shows an error, and the place in the query where it is.
 * @param {string} query @param {unknown} error @param {boolean} isTyped
 */
function showFault(query, error, isTyped) {
  const [, line, column, message] =
    (error instanceof ApiError && /^Line (\d+), column (\d+): (.*)$/s.exec(error.message)) || [];
  const text = query.split(/\r\n|\r|\n/)[Number(line) - 1];
  if (message === undefined || text === undefined) return showError(results, error, () => void run(isTyped));
  const at = Number(column) - 1;
  const [word = ''] = /^(?:\w+|"[^"]*"?|.?)/.exec(text.slice(at)) ?? [];
  const end = at + word.length;
  show(
    results,
    html`
      <div class="notice error" role="alert"><p>Line ${line}, column ${column}: ${message}</p>
      <pre tabindex="0">${text.slice(0, at)}<mark>${word || ' '}</mark>${text.slice(end)}</pre></div>`,
  );
  if (!isTyped) return;
  const before = query.split('\n').slice(0, Number(line) - 1);
  const start = before.reduce((sum, each) => sum + each.length + 1, at) + editor.value.indexOf(query);
  editor.focus();
  editor.setSelectionRange(start, start + word.length);
}
