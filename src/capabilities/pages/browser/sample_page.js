/** The script of the page that reports on a sample: the list or the table, and the report with its summary first. */

import { tableOfList } from '../../../core/cli/search_text.js';
import { fileDrop, fileName, save, saveButtons } from './files.js';
import { arcsec, count, counted } from './format.js';
import { fragmentFor, listInFragment } from './fragment.js';
import { ask, byId, copyButton, html, mark, pageData, releaseOf, show, showError } from './page.js';
import { percentText } from './payload.js';
import { resultTable } from './result_table.js';
import { root } from './root.js';

const PATH = `${root}/api/sample?format=`;
const EXAMPLE_ROWS = 200;
const FOR_READERS = [
  { name: 'latex', title: 'LaTeX' },
  { name: 'html', title: 'One page' },
];
const COLUMNS = [
  { name: 'label' },
  { name: 'diaObjectId' },
  { name: 'status' },
  { name: 'catalog' },
  { name: 'outcome' },
  { name: 'separation', isNumber: true },
  { name: 'verdict', description: 'What the catalog says of its source, and why' },
  { name: 'by chance', isNumber: true, description: 'Probability that an unrelated source lies as close' },
  { name: 'flags' },
];

const form = byId('sample');
const list = /** @type {HTMLTextAreaElement} */ (byId('list'));
const stop = byId('stop');
const said = byId('said');
const results = byId('results');
/** @type {File | undefined} */
let file;
let asking = new AbortController();

form.hidden = false;
form.addEventListener('submit', event => {
  event.preventDefault();
  void run();
});
stop.addEventListener('click', () => asking.abort());
byId('example').addEventListener('click', () => void takeExample());
list.addEventListener('input', () => choose(undefined));
addEventListener('popstate', takeFragment);
fileDrop(byId('drop'), /** @type {HTMLInputElement} */ (byId('file')), chosen => {
  list.value = '';
  choose(chosen);
});

takeFragment();

/** Reports on the list in the address. */
function takeFragment() {
  const linked = listInFragment('list');
  if (linked === undefined || linked === list.value.trim()) return;
  list.value = linked;
  choose(undefined);
  void run();
}

/** @param {File | undefined} chosen */
function choose(chosen) {
  file = chosen;
  byId('chosen').textContent = chosen?.name ?? 'Or choose a table, or drop it here';
}

async function takeExample() {
  try {
    const { objects } = await ask(`${root}/api/objects?detail=ids&page_size=${EXAMPLE_ROWS}`);
    list.value = objects.map((/** @type {any} */ { diaObjectId_str: id }) => id).join('\n');
    choose(undefined);
  } catch (error) {
    showError(results, error, () => void takeExample());
  }
}

async function run() {
  const text = list.value.trim();
  const table = file ?? tableOfList(text) ?? text;
  if (table === '') {
    show(said, 'Paste a list, or choose a table.');
    return list.focus();
  }
  const fragment = file ? undefined : fragmentFor('list', text);
  if (fragment !== undefined && fragment !== location.hash) history.pushState(null, '', fragment);
  asking.abort();
  const own = (asking = new AbortController());
  show(said, 'Asking …');
  stop.hidden = false;
  results.setAttribute('aria-busy', 'true');
  try {
    const report = await ask(`${PATH}json`, { ...post(table), signal: own.signal });
    if (own !== asking) return;
    show(said, `${counted(report.count, 'row')}, from journal entry ${report.journal_entry}.`);
    showReport(report, table);
  } catch (error) {
    if (own !== asking) return;
    show(said, own.signal.aborted ? 'Stopped' : '');
    if (own.signal.aborted) show(results);
    else showError(results, error, () => void run());
  } finally {
    if (own === asking) stop.hidden = true;
  }
}

/** @param {string | File} table */
function post(table) {
  return { method: 'POST', body: table, headers: { 'Content-Type': 'application/octet-stream' } };
}

/** @param {any} report @param {string | File} table */
function showReport(report, table) {
  const { summary, methods, bibtex } = report;
  const json = () => save(new Blob([JSON.stringify(report)], { type: 'application/json' }), fileName('sample', 'json'));
  show(
    results,
    html`
      <h2>Summary</h2>
      ${summaryOf(summary)}
      <h2>Rows</h2>
      <p class="downloads"><button type="button" class="link" @click=${json}>The whole report as JSON</button></p>
      ${saveButtons('sample', format => fetch(PATH + format, post(table)), FOR_READERS)}
      ${resultTable(COLUMNS, report.rows.flatMap(rowsOf))}
      <h2>Methods ${copyButton(methods, 'the paragraph')}</h2>
      <p>${methods}</p>
      <h2>BibTeX ${copyButton(bibtex, 'BibTeX')}</h2>
      <pre tabindex="0" aria-label="BibTeX"><code>${bibtex}</code></pre>`,
  );
}

/** @param {any} summary */
function summaryOf({ inputs, statuses, catalogs, contaminated, with_bright_star, with_same_place, duplicates }) {
  const words = Object.entries(statuses).map(
    ([status, number]) => `${count(number)} ${statusWord(status).replace(/^./, first => first.toLowerCase())}`,
  );
  const { searched, with_star_or_quasar, fraction, interval } = contaminated;
  const percent = (/** @type {number} */ value) => `${(100 * value).toFixed(1)} %`;
  const share =
    fraction !== null &&
    html`<li><strong>${count(with_star_or_quasar)} of ${count(searched)} (${percent(fraction)})</strong> lie on a star or a quasar of some
      catalog; the 95% interval is ${interval.map(percent).join(' to ')}.</li>`;
  return html`
    <ul>
      <li>${counted(inputs, 'input')}: ${words.join(', ')}.</li>
      ${share}
      <li>${count(with_bright_star)} near a bright star, ${count(with_same_place)} with further objects at the same place,
        ${counted(duplicates.rows, 'row')} of the same object as another row.</li>
    </ul>
    <div class="scroll" tabindex="0" role="group" aria-label="Summary by catalog">
      <table>
        <thead><tr>${['Catalog', 'Searched', 'Outside', 'Not read', 'With a source', 'By chance', '95%', 'Star', 'Galaxy', 'Quasar', 'Unclear'].map((name, i) => html`<th scope="col" class=${i > 0 && 'number'}>${name}</th>`)}</tr></thead>
        <tbody>${Object.entries(catalogs).map(catalogRow)}</tbody>
      </table>
    </div>
    <p class="hint">By chance: how many of the searched positions have an unrelated source as close as that.</p>`;
}

/** @param {[string, any]} catalog */
function catalogRow([name, { searched, outside_footprint, skipped_read_failure, coincident, verdicts, ...chance }]) {
  const { star, galaxy, quasar, unclear } = verdicts;
  const cells = [
    ...[searched, outside_footprint, skipped_read_failure, coincident].map(count),
    Number(chance.expected_by_chance.toPrecision(3)),
    chance.expected_interval.join(' to '),
    ...[star, galaxy, quasar, unclear].map(count),
  ];
  return html`<tr><th scope="row">${mark(name)}${releaseOf(name)}</th>${cells.map(cell => html`<td class="number">${cell}</td>`)}</tr>`;
}

/** A row for each source of an input; one if it has none. @param {any} row */
function rowsOf({ label, diaObjectId_str, status, catalogs, flags }) {
  // Without a label of its own, an id is its label.
  const head = [label === diaObjectId_str ? '' : (label ?? ''), diaObjectId_str ?? '', statusWord(status)];
  /** @type {[string, any][]} */
  const cells = Object.entries(catalogs);
  const found = cells.filter(([, cell]) => cell.catalog_source_id !== null);
  const last = flags.join('; ');
  if (found.length === 0) {
    const outcomes = [...new Set(cells.map(([, cell]) => cell.outcome.replaceAll('_', ' ')))];
    return [[...head, '', outcomes.join('; '), '', '', '', last]];
  }
  return found.map(([name, { outcome, separation_arcsec, verdict, verdict_reason, chance_probability: chance }]) => [
    ...head,
    releaseOf(name),
    outcome.replaceAll('_', ' '),
    arcsec(separation_arcsec),
    `${verdict}: ${verdict_reason}`,
    chance === null ? '' : percentText(chance),
    last,
  ]);
}

/** @param {string} status */
const statusWord = status => pageData.statuses[status]?.word ?? status.replaceAll('_', ' ');
