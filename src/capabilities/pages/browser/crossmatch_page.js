/**
 * The script of the page that crossmatches a list or a table: its first rows, the progress, and the answer as a table, a
 * plot and files.
 */
import { entriesOfList, inputOf } from '../../objects/search_text.js';
import { fileDrop, fileName, formatButtons, save } from './files.js';
import { count, counted, payloadText } from './format.js';
import { listOfEntry, rememberList } from './fragment.js';
import { ApiError, asJson, ask, BROKEN_OFF, byId, exact, html, pageData, show, showError } from './page.js';
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
/** The lines without a position that are listed. */
const SHOWN_LINES = 20;

/** @type {Record<string, string>} */
const WORDS = {
  matched: 'matched',
  no_match: 'with nothing there',
  outside_footprint: 'not searched: outside the footprint',
  skipped_read_failure: 'not searched: the catalog could not be read',
  invalid_position: 'without a valid position',
};

const form = /** @type {HTMLFormElement} */ (byId('crossmatch'));
const list = /** @type {HTMLTextAreaElement} */ (byId('list'));
const stop = byId('stop');
const said = byId('said');
const preview = byId('preview');
const results = byId('results');
/**
 * The table to be sent: a file, or what was made of a pasted text. `isList` if it was a list; `refused` are its lines
 * without a position.
 * @typedef {{ file: File, text?: string, isList?: boolean, refused?: { typed: string, reason: string }[] }} Table
 */
/** @type {Table | undefined} */
let table;
/** What the first rows of the table have told. @type {import('./page.js').Child} */
let noted;
/** Whether the answer is shown, or is coming, instead of the first rows. */
let isAsked = false;
let working = new AbortController();

form.hidden = false;
form.addEventListener('submit', event => {
  event.preventDefault();
  void run();
});
for (const input of form.querySelectorAll('input[list], select[name="ra_unit"]'))
  input.addEventListener('change', () => void (table?.isList ? takeText() : showFirstRows()));
list.addEventListener('change', () => void takeText());
addEventListener('popstate', showEntry);
stop.addEventListener('click', () => working.abort());
byId('example').addEventListener('click', () => void takeExample());
fileDrop(byId('drop'), /** @type {HTMLInputElement} */ (byId('file')), chosen => {
  list.value = '';
  take({ file: chosen });
});
showEntry();

/** Shows the choices and the list in the address, and matches the list. */
function showEntry() {
  working.abort();
  form.reset();
  for (const [name, value] of new URLSearchParams(location.search)) {
    const control = form.elements.namedItem(name);
    if (control instanceof HTMLSelectElement || control instanceof HTMLInputElement) control.value = value;
  }
  list.value = listOfEntry() ?? '';
  take(undefined);
  if (list.value !== '') void run();
}

/** @param {Table | undefined} next */
function take(next) {
  table = next;
  noted = undefined;
  isAsked = false;
  const isFile = next && next.text === undefined;
  byId('chosen').textContent = isFile
    ? `${next.file.name}, ${sizeText(next.file.size)}`
    : 'Or choose a table, or drop it here';
  show(results);
  show(said, '');
  if (next) void showFirstRows();
  else show(preview);
}

/** Makes a table of the pasted text. */
async function takeText() {
  const text = list.value.trim();
  if (text === '') return table?.text === undefined || take(undefined);
  try {
    const made = await tableOfText(text);
    if (text === list.value.trim()) take(made);
  } catch (error) {
    take(undefined);
    showError(preview, error, () => void takeText());
  }
}

/** Ids and names get the positions that the service knows. @param {string} text @returns {Promise<Table>} */
async function tableOfText(text) {
  const entries = entriesOfList(text, chosen().ra_unit === 'h' ? 'h' : undefined);
  if (!entries) return { text, file: new File([text], 'list.txt') };
  const lookedUp = entries.filter(({ search: { kind } }) => kind === 'id' || kind === 'tns');
  const inputs = lookedUp.map(({ search }) => inputOf(search));
  const request = { inputs, detail: 'position', radius_arcsec: pageData.crossmatchRadiusArcsec };
  const results = inputs.length === 0 ? [] : (await ask(`${root}/api/lookup`, asJson(request))).results;
  const resultOf = new Map(lookedUp.map((entry, i) => [entry, results[i]]));
  const refused = [];
  const rows = [];
  for (const entry of entries) {
    const { typed, label, search } = entry;
    const result = resultOf.get(entry);
    const place = search.kind === 'position' ? search : (result?.tns ?? result?.objects?.[0]);
    const isPlace = typeof place?.ra === 'number';
    const reason =
      search.kind === 'unclear' ? search.reason : (pageData.statuses[result?.status]?.word ?? 'No position');
    if (!isPlace) refused.push({ typed, reason });
    rows.push(`"${(label ?? typed).replaceAll('"', '""')}",${isPlace ? `${place.ra},${place.dec}` : ','}`);
  }
  return { text, isList: true, refused, file: new File([`label,ra,dec\n${rows.join('\n')}\n`], 'list.csv') };
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
    list.value = `id,ra,dec\n${lines.join('\n')}`;
    await takeText();
  } catch (error) {
    showError(preview, error, () => void takeExample());
  }
}

/** The chosen parameters, without empty ones. @returns {Record<string, string>} */
function chosen() {
  const entries = [...new FormData(form)].map(([name, value]) => [name, `${value}`.trim()]);
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

/** The parameters of a request. The table of a list has degrees, and names its columns. */
function parameters() {
  const all = chosen();
  if (table?.isList) for (const name of ['ra', 'dec', 'ra_unit']) delete all[name];
  return all;
}

/** Lets the service read the first rows, to find out which columns it uses for the position. */
async function showFirstRows() {
  const own = table;
  const part = own && (await firstPart(own.file));
  if (own !== table) return;
  if (!part)
    return show(
      preview,
      html`<p class="hint">A table of this size is sent once only: its first rows come with the answer.</p>`,
    );
  const { ra, dec, frame, ra_unit } = parameters();
  const stopping = new AbortController();
  try {
    const named = { ...(ra && { ra }), ...(dec && { dec }), ...(frame && { frame }), ...(ra_unit && { ra_unit }) };
    const asked = { format: 'ndjson', radius_arcsec: '0.001', ...named };
    const response = await send(part, asked, stopping.signal);
    /** @type {Row[]} */
    const rows = [];
    await eachLine(response, line => rows.push(JSON.parse(line, exact)) < PREVIEW_ROWS);
    if (own !== table) return;
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
    noted = html`
        ${refusedLines(own.refused ?? [])}
        ${!own.isList && html`<p>The position is in ${names}. <span class="hint">${inFrame}</span></p>`}
        ${doubt !== null && html`<p class="notice">${doubt}</p>`}
        ${invalid > 0 && !own.isList && html`<p class="notice">${warning}</p>`}`;
    show(preview, [noted, !isAsked && tableOf(columns, rows)]);
  } catch (error) {
    if (own !== table) return;
    if (error instanceof ApiError) offer(/its columns are (.*)$/s.exec(error.message)?.[1]?.split(', ') ?? []);
    showError(preview, error, () => void showFirstRows());
  } finally {
    stopping.abort();
  }
}

/** @param {{ typed: string, reason: string }[]} refused */
function refusedLines(refused) {
  if (refused.length === 0) return false;
  const more = refused.length - SHOWN_LINES;
  return html`
    <div class="notice error">
      ${refused.slice(0, SHOWN_LINES).map(({ typed, reason }) => html`<p><code>${typed.slice(0, 200)}</code>: ${reason}</p>`)}
      ${more > 0 && html`<p>${counted(more, 'further line')} without a position</p>`}
    </div>`;
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
  if (list.value.trim() !== (table?.text ?? '')) await takeText();
  const sent = table;
  if (!sent) {
    if (list.value.trim() !== '') return;
    show(said, 'Paste a list, or choose a table.');
    return list.focus();
  }
  if (sent.text !== undefined) rememberList(sent.text, `?${new URLSearchParams(chosen())}`);
  isAsked = true;
  if (noted !== undefined) show(preview, noted);
  working.abort();
  const own = (working = new AbortController());
  const asked = parameters();
  stop.hidden = false;
  results.setAttribute('aria-busy', 'true');
  try {
    const response = await matched(sent.file, { ...asked, format: 'ndjson' }, own.signal);
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
      columns ??= matchedColumns(row, asked.against);
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
    showAnswer({ rows, matches, separations, columns: columns?.shown ?? [] }, asked);
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
  if (!table) return;
  show(said, 'Matching for the file …');
  try {
    const response = await matched(table.file, { ...parameters, format }, working.signal);
    save(await response.blob(), fileName('crossmatch', format));
    show(said, 'Saved.');
  } catch (error) {
    show(said, error instanceof ApiError ? error.message : BROKEN_OFF);
  }
}

/**
 * The answer for a whole table: directly, or from a job if that would take too long.
 * @param {File} body @param {Record<string, string>} parameters @param {AbortSignal} signal
 */
async function matched(body, parameters, signal) {
  show(said, `Sending ${sizeText(body.size)} …`);
  if (body.size > MAX_BYTES_AT_ONCE) return asJob(body, parameters, signal);
  try {
    return await send(body, parameters, signal);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'query_too_expensive') return asJob(body, parameters, signal);
    throw error;
  }
}

/** @param {File} body @param {Record<string, string>} parameters @param {AbortSignal} signal */
async function asJob(body, parameters, signal) {
  const job = await beginJob(pathOf(parameters), { method: 'POST', body, signal });
  try {
    return await followJob(job, { said, does: 'match the table', signal });
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
