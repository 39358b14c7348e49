/**
 * The script of the page that crossmatches a table: its first rows, the progress, and the answer as a table, a plot and
 * files.
 */
import { fileDrop, fileName, formatButtons, save } from './files.js';
import { count, counted, payloadText } from './format.js';
import { ApiError, ask, BROKEN_OFF, byId, exact, html, pageData, show, showError } from './page.js';
import { histogram } from './plot.js';
import { resultTable } from './result_table.js';
import { root } from './root.js';
import { answered, beginJob, followJob, removeJob, showRows } from './table_job.js';

/** @typedef {Record<string, unknown>} Row */

/** A larger table is sent only once, as a job, so its first rows are not shown in advance. */
const MAX_BYTES_AT_ONCE = 32 * 2 ** 20;
/** The first rows are taken from this many bytes of a text file. */
const PREVIEW_BYTES = 65_536;
/** The first byte of a gzipped file. */
const GZIP = 0x1f;
const PREVIEW_ROWS = 5;
const SHOWN_ROWS = 500;
const EXAMPLE_ROWS = 200;

/** @type {Record<string, string>} */
const WORDS = {
  matched: 'matched',
  no_match: 'with nothing there',
  outside_footprint: 'not searched: outside the footprint',
  skipped_read_failure: 'not searched: the catalog could not be read',
  invalid_position: 'without a valid position',
};

const form = /** @type {HTMLFormElement} */ (byId('crossmatch'));
const button = /** @type {HTMLButtonElement} */ (byId('run'));
const stop = byId('stop');
const said = byId('said');
const preview = byId('preview');
const results = byId('results');
/** @type {File | undefined} */
let file;
let working = new AbortController();

form.hidden = false;
form.addEventListener('submit', event => {
  event.preventDefault();
  void run();
});
for (const input of form.querySelectorAll('input[list], select[name="ra_unit"]'))
  input.addEventListener('change', () => void showFirstRows());
stop.addEventListener('click', () => working.abort());
byId('example').addEventListener('click', () => void takeExample());
fileDrop(byId('drop'), /** @type {HTMLInputElement} */ (byId('file')), take);

/** @param {File} chosen */
function take(chosen) {
  file = chosen;
  byId('chosen').textContent = `${chosen.name}, ${sizeText(chosen.size)}`;
  button.disabled = false;
  show(results);
  show(said, '');
  void showFirstRows();
}

/** @param {number} bytes */
function sizeText(bytes) {
  return bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

async function takeExample() {
  try {
    const { objects } = await ask(
      `${root}/api/objects?detail=position&status=coincident_sources&page_size=${EXAMPLE_ROWS}`,
    );
    const lines = objects.map((/** @type {any} */ { diaObjectId_str: id, ra, dec }) => `${id},${ra},${dec}`);
    const against = form.elements.namedItem('against');
    const [first] = pageData.catalogs;
    if (against instanceof HTMLSelectElement && first) against.value = first.name;
    take(new File([`id,ra,dec\n${lines.join('\n')}\n`], 'example.csv'));
  } catch (error) {
    showError(preview, error, () => void takeExample());
  }
}

/** The chosen parameters, without empty ones. */
function chosen() {
  const entries = [...new FormData(form)].map(([name, value]) => [name, `${value}`.trim()]);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

/** Lets the service read the first rows, to find out which columns it uses for the position. */
async function showFirstRows() {
  const own = file;
  const part = own && (await firstPart(own));
  if (own !== file) return;
  if (!part)
    return show(
      preview,
      html`<p class="hint">A table of this size is sent once only: its first rows come with the answer.</p>`,
    );
  const { ra, dec, frame, ra_unit } = chosen();
  const stopping = new AbortController();
  try {
    const named = { ...(ra && { ra }), ...(dec && { dec }), ...(frame && { frame }), ...(ra_unit && { ra_unit }) };
    const asked = { format: 'ndjson', radius_arcsec: '0.001', ...named };
    const response = await send(part, asked, stopping.signal);
    /** @type {Row[]} */
    const rows = [];
    await eachLine(response, line => rows.push(JSON.parse(line, exact)) < PREVIEW_ROWS);
    if (own !== file) return;
    const columns = Object.keys(rows[0] ?? {}).filter(
      name => !/^nearsky_(?:status|diaObjectId|ra|dec|separation_arcsec)(?:_\d+)?$/.test(name),
    );
    offer(columns);
    const taken = (response.headers.get('X-Position-Columns') ?? '').split(' ').map(decodeURIComponent);
    const doubt = response.headers.get('X-Position-Warning');
    const invalid = rows.filter(row => row[columnOf(row, 'nearsky_status')] === 'invalid_position').length;
    const names = [...new Set(taken)].map((name, i) => html`${i > 0 && ' and '}<code>${name}</code>`);
    const [inFrame = ''] = (response.headers.get('X-Position-Frame') ?? '').split(';');
    const warning = `${invalid} of the first ${rows.length} rows have no valid position there.`;
    show(
      preview,
      html`
        <p>The position is in ${names}. <span class="hint">${inFrame}</span></p>
        ${doubt !== null && html`<p class="notice">${doubt}</p>`}
        ${invalid > 0 && html`<p class="notice">${warning}</p>`}
        ${tableOf(columns, rows)}`,
    );
  } catch (error) {
    if (own !== file) return;
    if (error instanceof ApiError) offer(/its columns are (.*)$/s.exec(error.message)?.[1]?.split(', ') ?? []);
    showError(preview, error, () => void showFirstRows());
  } finally {
    stopping.abort();
  }
}

/**
 * The file, or its first lines if it is a long text; undefined if it is too long to be sent twice.
 * @param {File} whole
 */
async function firstPart(whole) {
  const head = new Uint8Array(await whole.slice(0, PREVIEW_BYTES).arrayBuffer());
  // Only text can be cut; VOTables, FITS, Parquet, Arrow and gzip cannot.
  const isText =
    head[0] !== GZIP &&
    head.every(byte => byte >= 9) &&
    !/^(?:\s*<|SIMPLE {2}=|PAR1|ARROW1)/.test(new TextDecoder().decode(head.slice(0, 512)));
  const end = head.lastIndexOf(10) + 1;
  if (isText && end > 0) return whole.slice(0, end);
  return whole.size <= MAX_BYTES_AT_ONCE ? whole : undefined;
}

/** @param {string[]} columns */
function offer(columns) {
  const options = columns.map(name => html`<option value=${name}></option>`);
  show(byId('columns'), options);
}

/** @param {string[]} columns @param {Row[]} rows */
function tableOf(columns, rows) {
  const isNumber = (/** @type {string} */ name) =>
    rows.some(row => typeof row[name] === 'number' || typeof row[name] === 'bigint');
  const shown = columns.map(name => ({ name, isNumber: isNumber(name) }));
  return resultTable(
    shown,
    rows.map(row => columns.map(name => (row[name] === null ? '' : payloadText(row[name])))),
  );
}

/**
 * The service's column with this name. The service appends a number if the table itself has such a column.
 * @param {Row} row
 * @param {string} name
 */
function columnOf(row, name) {
  const numbered = new RegExp(`^${name}(?:_\\d+)?$`);
  return Object.keys(row).findLast(each => numbered.test(each)) ?? name;
}

/** Names of columns that tell one row from another. */
const LABEL = /^(?:.*name|label|object|designation|.*id)$/i;

/**
 * The columns of an answer: the status, the separations, and all as they are shown, with what decides first.
 * @param {Row} row @param {string | undefined} against
 */
function matchedColumns(row, against) {
  const catalogs = against === 'all' ? pageData.catalogs.map(({ name }) => name) : [];
  const parts = [['nearsky', `${against}`], ...catalogs.map(name => [`nearsky_${name}`, name])];
  const named = parts.map(([prefix, catalog]) =>
    [`${prefix}_status`, `${prefix}_separation_arcsec`, `${catalog}_verdict`, `${prefix}_chance_probability`]
      .map(name => columnOf(row, name))
      .filter(name => name in row),
  );
  const names = Object.keys(row);
  const status = columnOf(row, 'nearsky_status');
  const own = names.slice(0, names.indexOf(status));
  const label = own.find(name => LABEL.test(name)) ?? own[0] ?? status;
  const separations = parts.map(([prefix]) => columnOf(row, `${prefix}_separation_arcsec`)).filter(name => name in row);
  return { status, separations, shown: [...new Set([label, ...named.flat(), ...own, ...names])] };
}

async function run() {
  if (!file) return;
  working.abort();
  const own = (working = new AbortController());
  const parameters = chosen();
  stop.hidden = false;
  results.setAttribute('aria-busy', 'true');
  try {
    const response = await matched(file, { ...parameters, format: 'ndjson' }, own.signal);
    const total = Number(response.headers.get('X-Row-Count'));
    /** @type {Row[]} */
    const rows = [];
    /** @type {number[]} */
    const separations = [];
    /** @type {Map<string, number>} */
    const statuses = new Map();
    /** @type {ReturnType<typeof matchedColumns> | undefined} */
    let columns;
    let matches = 0;
    let done = 0;
    let toldMs = performance.now();
    await eachLine(response, line => {
      const row = /** @type {Row} */ (JSON.parse(line));
      columns ??= matchedColumns(row, parameters.against);
      const status = `${row[columns.status]}`;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 'matched') {
        for (const name of columns.separations) if (row[name] !== null) separations.push(Number(row[name]));
        matches++;
        if (rows.length < SHOWN_ROWS) rows.push(JSON.parse(line, exact));
      }
      done++;
      if (performance.now() - toldMs < 300) return true;
      toldMs = performance.now();
      showRows(said, done, total);
      return true;
    });
    if (own !== working) return;
    const words = [...statuses].map(([status, rows]) => `${count(rows)} ${WORDS[status] ?? status}`);
    const entry = response.headers.get('X-Journal-Entry');
    const from = entry === null ? '' : ` From journal entry ${entry}.`;
    show(said, `${counted(total, 'row')}: ${words.join(', ') || 'none matched'}.${from}`);
    showAnswer({ rows, matches, separations, columns: columns?.shown ?? [] }, parameters);
  } catch (error) {
    if (own !== working) return;
    show(said, own.signal.aborted ? 'Stopped' : '');
    if (own.signal.aborted) show(results);
    else showError(results, error, run);
  } finally {
    if (own === working) stop.hidden = true;
  }
}

/** The radius of a search that names none. @param {string | undefined} against */
function ownRadius(against) {
  const asked = pageData.catalogs.filter(({ name }) => against === 'all' || against === name);
  return Math.max(1, ...asked.map(({ radiusArcsec = 0 }) => radiusArcsec));
}

/**
 * @param {{ rows: Row[], matches: number, separations: number[], columns: string[] }} answer the first matched rows, and the
 * number of all @param {Record<string, string>} parameters
 */
function showAnswer({ rows, matches, separations, columns }, parameters) {
  const matched = () => html`
    <h2>${rows.length < matches ? `The first ${rows.length} matched rows` : 'The matched rows'}</h2>
    ${tableOf(columns, rows)}
    <section class="plotted">
      <h2>Separations</h2>
      ${histogram('separation (arcsec)', separations, Number(parameters.radius_arcsec ?? ownRadius(parameters.against)))}
    </section>`;
  show(
    results,
    html`
      <p class="downloads">Download: ${formatButtons(format => void download(parameters, format), [{ name: 'fits', title: 'FITS' }])}</p>
      ${rows.length > 0 && matched()}`,
  );
}

/** @param {Record<string, string>} parameters @param {string} format */
async function download(parameters, format) {
  if (!file) return;
  show(said, 'Crossmatching for the file …');
  try {
    const response = await matched(file, { ...parameters, format }, working.signal);
    save(await response.blob(), fileName('crossmatch', format));
    show(said, 'Saved.');
  } catch (error) {
    show(said, error instanceof ApiError ? error.message : BROKEN_OFF);
  }
}

/**
 * The answer for a whole table: directly, or from a job if that would take too long.
 * @param {File} table @param {Record<string, string>} parameters @param {AbortSignal} signal
 */
async function matched(table, parameters, signal) {
  show(said, `Sending ${sizeText(table.size)} …`);
  if (table.size > MAX_BYTES_AT_ONCE) return asJob(table, parameters, signal);
  try {
    return await send(table, parameters, signal);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'query_too_expensive') return asJob(table, parameters, signal);
    throw error;
  }
}

/** @param {File} table @param {Record<string, string>} parameters @param {AbortSignal} signal */
async function asJob(table, parameters, signal) {
  const job = await beginJob(pathOf(parameters), { method: 'POST', body: table, signal });
  try {
    return await followJob(job, { said, does: 'crossmatch the table', signal });
  } finally {
    removeJob(job);
  }
}

/** @param {Blob} body @param {Record<string, string>} parameters @param {AbortSignal} signal */
const send = (body, parameters, signal) => answered(pathOf(parameters), { method: 'POST', body, signal });

/** @param {Record<string, string>} parameters */
const pathOf = parameters => `${root}/api/crossmatch?${new URLSearchParams(parameters)}`;

/**
 * Calls `take` with each line of an answer, until it returns false.
 * @param {Response} response @param {(line: string) => boolean} take
 */
async function eachLine({ body }, take) {
  if (!body) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read().catch(() => {
      throw new ApiError(BROKEN_OFF, true);
    });
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    if (!lines.every(take)) return void reader.cancel();
  }
}
