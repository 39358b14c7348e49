/** The script of the page that reports on a sample: the list or the table, and the report with its summary first. */

import { LIKE_HOURS } from '../../../core/contract/hours.js';
import { tableOfList } from '../../objects/search_text.js';
import { fileDrop, fileName, save, saveButtons } from './files.js';
import { offerFeed } from './following.js';
import { arcsec, count, counted } from './format.js';
import { listOfEntry, rememberList } from './fragment.js';
import {
  ApiError,
  asJson,
  ask,
  BROKEN_OFF,
  byId,
  copyButton,
  html,
  mark,
  pageData,
  part,
  releaseOf,
  show,
  showError,
} from './page.js';
import { percentText } from './payload.js';
import { resultTable } from './result_table.js';
import { root } from './root.js';
import { answered, beginJob, followJob, removeJob } from './table_job.js';

const KEPT = `${root}/api/samples`;
const JOBS = `${root}/vo/samples`;
const MAX_INPUTS = 1000;
/** A larger table is sent only once, as a job. */
const MAX_BYTES_AT_ONCE = 32 * 2 ** 20;
/** The page reads only both ends of a larger report: the first rows and the summary. */
const MAX_WHOLE_BYTES = 64 * 2 ** 20;
const END_BYTES = 4 * 2 ** 20;
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
/** The unit of the right ascensions of a table. */
let raUnit = '';
let asking = new AbortController();
const STOPPED = 'stopped by the user';

form.hidden = false;
form.addEventListener('submit', event => {
  event.preventDefault();
  void run();
});
stop.addEventListener('click', () => asking.abort(STOPPED));
addEventListener('popstate', showEntry);
byId('example').addEventListener('click', () => void takeExample());
list.addEventListener('input', () => choose(undefined));
fileDrop(byId('drop'), /** @type {HTMLInputElement} */ (byId('file')), chosen => {
  list.value = '';
  choose(chosen);
});

showEntry();

/**
 * Where a report comes from: a table, a kept sample, or a job whose table is no longer here.
 * @typedef {{ table?: string | File, kept?: { id: string, title: string, expires: Date }, job?: string }} Source
 */

/** Shows the kept sample, the job or the list in the address. */
function showEntry() {
  asking.abort();
  stop.hidden = true;
  show(said, '');
  show(results);
  const [kept, job] = ['kept', 'job'].map(name => new URLSearchParams(location.search).get(name) ?? '');
  if (kept) void report(signal => keptReport(kept, signal));
  else if (job) void report(signal => jobReport(`${JOBS}/${encodeURIComponent(job)}`, {}, signal));
  else takeFragment();
}

/** Reports on the list in the address. */
function takeFragment() {
  const linked = listOfEntry();
  if (linked === undefined) return;
  list.value = linked;
  choose(undefined);
  void run();
}

/** @param {File | undefined} chosen */
function choose(chosen) {
  file = chosen;
  raUnit = '';
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
  if (!file) rememberList(text);
  else if (location.search + location.hash !== '') history.pushState(null, '', location.pathname);
  await report(signal => tableReport(table, signal));
}

/** Shows a report. @param {(signal: AbortSignal) => Promise<{ source: Source, answer: Response }>} request */
async function report(request) {
  asking.abort();
  const own = (asking = new AbortController());
  show(said, 'Asking …');
  stop.hidden = false;
  results.setAttribute('aria-busy', 'true');
  try {
    const { source, answer } = await request(own.signal);
    const whole = await answer.blob();
    const shown = await reportOf(whole);
    if (own !== asking) return;
    show(said, `${counted(shown.count, 'row')}, from journal entry ${shown.journal_entry}.`);
    showReport(shown, whole, source, answer.headers.get('X-Position-Warning') !== null);
  } catch (error) {
    if (own !== asking) return;
    show(said, own.signal.aborted ? 'Stopped' : '');
    if (own.signal.aborted) show(results);
    else showError(results, error, () => void report(request));
  } finally {
    if (own === asking) stop.hidden = true;
  }
}

/** At once, or as a job whose address Back returns to. @param {string | File} table @param {AbortSignal} signal */
async function tableReport(table, signal) {
  const source = { table };
  try {
    if (!(table instanceof File && table.size > MAX_BYTES_AT_ONCE))
      return { source, answer: await answered(pathOf('json'), { ...post(table), signal }) };
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'query_too_expensive')) throw error;
  }
  const job = await beginJob(pathOf('json'), { ...post(table), signal });
  history.replaceState(null, '', `?job=${job.split('/').at(-1)}`);
  return jobReport(job, source, signal);
}

/**
 * The job stays, so that its address shows its report for as long as the service keeps it. Stop removes it.
 * @param {string} job @param {Source} source @param {AbortSignal} signal
 */
async function jobReport(job, source, signal) {
  signal.addEventListener('abort', () => signal.reason === STOPPED && removeJob(job));
  return { source: { ...source, job }, answer: await followJob(job, { said, does: 'report on the table', signal }) };
}

/** @param {string} id @param {AbortSignal} signal */
async function keptReport(id, signal) {
  const answer = await keptAnswer(id, 'json', signal);
  const { headers } = await answered(`${KEPT}/${encodeURIComponent(id)}/input`, { method: 'HEAD', signal });
  const title = decodeURIComponent(headers.get('X-Sample-Title') ?? '');
  return { source: { kept: { id, title, expires: new Date(headers.get('Sunset') ?? '') } }, answer };
}

/** @param {string} id @param {string} format @param {AbortSignal} signal */
async function keptAnswer(id, format, signal) {
  const path = `${KEPT}/${encodeURIComponent(id)}?format=${format}`;
  try {
    return await answered(path, { signal });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'query_too_expensive')) throw error;
  }
  return resultOf(await beginJob(path, { signal }), signal);
}

/** The answer of a job, which is removed then. @param {string} job @param {AbortSignal} signal */
async function resultOf(job, signal) {
  try {
    return await followJob(job, { said, does: 'report on the table', signal });
  } finally {
    removeJob(job);
  }
}

/** A report as a file. @param {Source} source @param {string} format */
async function download({ table, kept }, format) {
  const { signal } = asking;
  if (kept) return keptAnswer(kept.id, format, signal);
  const init = { ...post(table ?? ''), signal };
  try {
    if (!(table instanceof File && table.size > MAX_BYTES_AT_ONCE)) return await answered(pathOf(format), init);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'query_too_expensive')) throw error;
  }
  return resultOf(await beginJob(pathOf(format), init), signal);
}

/** The report, with the first rows alone if it is very long. @param {Blob} whole */
async function reportOf(whole) {
  if (whole.size <= MAX_WHOLE_BYTES) return JSON.parse(await whole.text());
  const [start, end] = await Promise.all([whole.slice(0, END_BYTES).text(), whole.slice(-END_BYTES).text()]);
  // A text has no quotation mark without a backslash, so these are between members and rows.
  const at = start.indexOf('"rows": [') + '"rows": ['.length;
  const some = start
    .slice(at)
    .split(/, (?=\{"label": )/)
    .slice(0, -1);
  const tail = end.slice(end.lastIndexOf('], "summary": '));
  return JSON.parse(`${start.slice(0, at)}${some.join(', ')}${tail}`);
}

/** @param {string} format */
function pathOf(format) {
  return `${root}/api/sample?format=${format}${raUnit && `&ra_unit=${raUnit}`}`;
}

/** @param {string | File} table */
function post(table) {
  return { method: 'POST', body: table, headers: { 'Content-Type': 'application/octet-stream' } };
}

/** @param {any} report @param {Blob} whole @param {Source} source @param {boolean} isDoubtful whether the positions look like hours */
function showReport(report, whole, source, isDoubtful) {
  const { summary, methods, bibtex, rows, count: all } = report;
  const json = () => save(new Blob([whole], { type: 'application/json' }), fileName('sample', 'json'));
  const isHere = source.table !== undefined || source.kept !== undefined;
  offerFeed(source.kept ? `${root}/feeds/samples/${source.kept.id}` : undefined);
  show(
    results,
    html`
      ${source.kept ? keptNotice(source.kept) : source.table !== undefined && keepForm(source.table)}
      ${isDoubtful && hoursNotice(source)}
      <h2>Summary</h2>
      ${summaryOf(summary)}
      <h2>Rows</h2>
      <p class="downloads"><button type="button" class="link" @click=${json}>The whole report as JSON</button></p>
      ${isHere && saveButtons('sample', format => download(source, format), FOR_READERS)}
      ${rows.length < all && html`<p class="hint">The first ${count(rows.length)} of ${count(all)} rows.</p>`}
      ${resultTable(COLUMNS, rows.flatMap(rowsOf))}
      <h2>Methods ${copyButton(methods, 'the paragraph')}</h2>
      <p>${methods}</p>
      <h2>BibTeX ${copyButton(bibtex, 'BibTeX')}</h2>
      <pre tabindex="0" aria-label="BibTeX"><code>${bibtex}</code></pre>`,
  );
}

/** What to do with right ascensions that look like hours. @param {Source} source */
function hoursNotice({ table }) {
  const again = () => {
    // The list in degrees is its own link.
    const inDegrees = file ? undefined : tableOfList(list.value.trim(), 'h');
    if (inDegrees !== undefined) list.value = inDegrees;
    else raUnit = 'h';
    void run();
  };
  return html`
    <p class="notice">${LIKE_HOURS.split(':')[0]}.
      ${table !== undefined && html`<button type="button" class="small" @click=${again}>Read them as hours</button>`}</p>`;
}

/** @param {string | File} table */
function keepForm(table) {
  const usual = table instanceof File ? table.name : `My list of ${new Date().toISOString().slice(0, 10)}`;
  return part('', (told, tell) => {
    const keep = async (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const title = `${new FormData(/** @type {HTMLFormElement} */ (event.target)).get('title')}`.trim();
      tell('Keeping …');
      try {
        const { id } = await (await answered(...keptRequest(title, table))).json();
        history.pushState(null, '', `?kept=${id}`);
        showEntry();
      } catch (error) {
        tell(error instanceof ApiError ? error.message : BROKEN_OFF);
      }
    };
    return html`
      <form class="actions" @submit=${keep}>
        <label class="pick">Title <input type="text" name="title" required maxlength="200" value=${usual} autocomplete="off"></label>
        <button type="submit">Keep this list</button> <span class="hint" role="status">${told}</span>
      </form>`;
  });
}

/** A list in JSON can be compared with earlier states. @param {string} title @param {string | File} table @returns {[string, RequestInit]} */
function keptRequest(title, table) {
  const inputs = table instanceof File ? undefined : inputsOf(table);
  if (inputs && inputs.length <= MAX_INPUTS) return [KEPT, asJson({ title, inputs })];
  return [`${KEPT}?title=${encodeURIComponent(title)}${raUnit && `&ra_unit=${raUnit}`}`, post(table)];
}

/** The inputs in the table of a pasted list; undefined for another table. @param {string} table */
function inputsOf(table) {
  const [head, ...lines] = table.trimEnd().split('\n');
  const rows = lines.map(line => /^(\d*),(?:"((?:[^"]|"")*)")?,([-\d.e]*),([-\d.e]*)$/.exec(line));
  if (head !== 'diaObjectId,name,ra,dec' || !rows.every(row => row !== null)) return undefined;
  return rows.map(([, id, quoted, ra, dec]) => {
    const name = quoted?.replaceAll('""', '"');
    if (id) return { kind: 'id', diaObjectId: id, label: name };
    return ra ? { kind: 'position', ra: Number(ra), dec: Number(dec), label: name } : { kind: 'tns', name };
  });
}

/** @param {NonNullable<Source['kept']>} kept */
function keptNotice({ id, title, expires }) {
  const link = new URL(`?kept=${id}`, location.href).href;
  return part('', (told, tell) => {
    const remove = async () => {
      try {
        await answered(`${KEPT}/${encodeURIComponent(id)}`, { method: 'DELETE' });
        history.pushState(null, '', location.pathname);
        showEntry();
        show(said, 'Deleted.');
      } catch (error) {
        tell(error instanceof ApiError ? error.message : BROKEN_OFF);
      }
    };
    return html`
      <p id="kept">Kept as <strong>${title}</strong> until ${expires.toISOString().slice(0, 10)}. Everyone who has <a href=${link}>the link</a>
        ${copyButton(link, 'the link')} can read and delete it. <button type="button" class="small" @click=${remove}>Delete</button>
        <span class="hint" role="status">${told}</span></p>`;
  });
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
