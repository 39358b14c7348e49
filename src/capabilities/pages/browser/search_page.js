/** The script of the results page: the typed text, its interpretation, and the answer of the API. */

import { LIKE_HOURS } from '../../../core/contract/hours.js';
import { inHours, inputOf, listLooksLikeHours, parseSearchList } from '../../objects/search_text.js';
import { saveButtons } from './files.js';
import { finder, finderKey, objectMark, sourceMark } from './finder.js';
import { counted, degrees, sexagesimalDec, sexagesimalRa, time } from './format.js';
import { listInFragment } from './fragment.js';
import { showSources } from './near_sources.js';
import {
  asJson,
  ask,
  badge,
  byId,
  html,
  moreButton,
  pageData,
  prose,
  releaseOf,
  show,
  showError,
  showLoading,
} from './page.js';
import { countLine, downloads, nearestFirst, objectList, sortableList, wholeObjects } from './result_list.js';
import { root } from './root.js';
import { fit, listKey } from './search_box.js';

/** @typedef {import('../../objects/search_text.js').SearchText} SearchText */

const PAGE_SIZE = 50;
const results = byId('results');
const parameters = new URLSearchParams(location.search);
const typed = listInFragment('q') ?? (parameters.has('list') ? handedOver() : (parameters.get('q') ?? ''));
// Another list at the same address otherwise.
addEventListener('hashchange', () => location.reload());
const input = /** @type {HTMLTextAreaElement} */ (byId('q-large'));
const radiusBox = /** @type {HTMLSelectElement} */ (byId('radius'));
input.value = typed;
fit();
chooseRadius(Number(parameters.get('radius') ?? radiusBox.value));

const isHours = parameters.get('ra_unit') === 'h';
const read = parseSearchList(typed, pageData.catalogs);
const entries = isHours ? inHours(read) : read;
const [first] = entries;
if (typed.trim() === '') {
  const hint = html`<p class="hint">Type an id, a TNS name, a position or a source of a catalog, or paste a list of them.</p>`;
  const missing =
    'This browser tab does not have the list: it is from another tab, or too long to be kept. Paste it again, or a part of it.';
  show(results, parameters.has('list') ? notice(missing) : hint);
  input.focus();
} else void run();

function handedOver() {
  try {
    return sessionStorage.getItem(listKey(parameters.get('list'))) ?? '';
  } catch {
    return '';
  }
}

/**
 * Shows a radius in the box, even if the box does not offer it.
 * @param {number} arcsec
 */
function chooseRadius(arcsec) {
  if (!isRadius(arcsec)) return;
  if (![...radiusBox.options].some(option => Number(option.value) === arcsec))
    radiusBox.append(new Option(`${arcsec}″`, `${arcsec}`));
  radiusBox.value = `${arcsec}`;
}

async function run() {
  document.title = `${typed.split('\n')[0]?.slice(0, 60)} · nearsky`;
  try {
    if (entries.length > 1 || !first) await showMany();
    else await showOne(first);
  } catch (error) {
    showError(results, error, run);
  }
}

/** @param {import('../../objects/search_text.js').Entry} entry */
async function showOne({ search, label }) {
  if (search.kind === 'unclear') return show(results, notice(search.reason));
  if (search.kind === 'id') return showId(search.id);
  if (search.kind === 'source') return showSource(search);
  const radius = search.radiusArcsec ?? Number(radiusBox.value);
  if (!isRadius(radius)) return show(results, notice(radiusReason(radius)));
  chooseRadius(radius);
  if (search.kind === 'tns') return showName(search.name, radius);
  return showPosition(search, radius, label);
}

/**
 * Whether searches allow this radius.
 * @param {number} arcsec
 */
function isRadius(arcsec) {
  return arcsec > 0 && arcsec <= pageData.maxRadiusArcsec;
}

/** @param {number} arcsec */
function radiusReason(arcsec) {
  return `A radius is above 0 and at most ${pageData.maxRadiusArcsec}″: it is ${arcsec}″`;
}

/** @param {import('./page.js').Child} text */
function notice(text) {
  return html`<div class="notice"><p>${text}</p></div>`;
}

/** @param {string} status @param {import('./page.js').Child} [more] */
function explained(status, more) {
  return html`
    <div class="notice">
      <p>${badge(status)}</p>
      <p>${prose(pageData.statuses[status]?.meaning ?? '')}${more}</p>
    </div>`;
}

/** @param {string} id */
async function showId(id) {
  showLoading(results, `Looking up ${id}`);
  const [result] = (await ask(`${root}/api/objects/${id}`)).results;
  if (result.status !== 'not_in_service') return location.replace(`${root}/objects/${id}`);
  const named = pageData.catalogs.filter(({ idType }) => idType !== 'text');
  const found = (await Promise.all(named.map(({ name }) => objectsOf({ catalog: name, id })))).flat();
  show(
    results,
    html`
      ${explained(result.status)}
      ${found}
      <p class="hint">The id ${id}. ${prose(pageData.caveats[1] ?? '')}</p>
      <p><a href="${root}/objects/${id}">Where else to look for it</a></p>`,
  );
}

/**
 * The objects with a source of a catalog, under a heading; nothing if there is none.
 * @param {{ catalog: string, id: string }} source
 */
async function objectsOf({ catalog, id }) {
  const { count, objects: listed } = await ask(`${root}/api/sources/${catalog}/${encodeURIComponent(id)}`);
  if (count === 0) return [];
  const objects = await wholeObjects(listed);
  const title = `${counted(count, 'object')} with the source ${releaseOf(catalog)} ${id}`;
  const cut = listed.length < count && html`<p class="hint">The first ${listed.length}.</p>`;
  return [html`<h2 class="count">${title}</h2>${cut}${objectList(objects, title)}`];
}

/** @param {{ catalog: string, id: string }} source */
async function showSource(source) {
  const name = `${releaseOf(source.catalog)} ${source.id}`;
  showLoading(results, `Looking up ${name}`);
  const found = await objectsOf(source);
  const none = `No Rubin object here has ${name} as a coincident source. Only recorded matches can be found by a source id: search by position to find others.`;
  show(results, found.length > 0 ? found : notice(none));
}

/** @param {any} result for a name: the registry's entry and its epoch */
function registryRecord({ tns, tns_snapshot_epoch: epoch }) {
  const said = [
    `${tns.name_prefix ?? ''} ${tns.name}`.trim(),
    tns.classification,
    tns.redshift !== null && `z = ${tns.redshift}`,
    degrees(tns.ra, tns.dec),
  ].filter(Boolean);
  return html`
    <p><a href=${tns.url} rel="noopener noreferrer">${said.join(' · ')}</a> (snapshot of ${time(epoch)})</p>`;
}

/** @param {string} name @param {number} radiusArcsec */
async function showName(name, radiusArcsec) {
  showLoading(results, `Looking up ${name}`);
  const path = `${root}/api/tns/${encodeURIComponent(name)}?radius_arcsec=${radiusArcsec}&detail=full`;
  const [result] = (await ask(path)).results;
  if (!result.tns) {
    const epoch = result.tns_snapshot_epoch;
    return show(results, explained(result.status, epoch ? ` The snapshot of TNS is of ${time(epoch)}.` : ''));
  }
  const place = { ra: result.tns.ra, dec: result.tns.dec };
  const objects = result.objects ?? [];
  const list = found(result, objects, `within ${radiusArcsec}″ of it`, path);
  show(
    results,
    html`
      <h2>In TNS</h2>
      ${registryRecord(result)}
      ${withPlot(list, place, objects, radiusArcsec)}
      ${sourcesAt(place, radiusArcsec)}`,
  );
}

/**
 * A part of the page that fills itself with the catalogs' own sources.
 * @param {{ ra: number, dec: number }} position @param {number} radiusArcsec
 */
function sourcesAt(position, radiusArcsec) {
  const place = document.createElement('div');
  void showSources(place, position, radiusArcsec);
  return place;
}

/** @param {{ ra: number, dec: number }} position @param {number} radiusArcsec @param {string} [label] */
async function showPosition({ ra, dec }, radiusArcsec, label) {
  const list = document.createElement('div');
  show(
    results,
    html`
      <p class="understood">
        ${label !== undefined && html`<strong>${label}</strong>`}
        <strong>${sexagesimalRa(ra)} ${sexagesimalDec(dec)}</strong>
        <span class="place">${degrees(ra, dec)} within ${radiusArcsec}″</span>
        <a href="${root}/?ra=${ra}&dec=${dec}">on the map</a>
      </p>
      ${list}
      ${sourcesAt({ ra, dec }, radiusArcsec)}`,
  );
  showLoading(list, 'Searching');
  const path = `${root}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=${radiusArcsec}&detail=full`;
  const page = await ask(`${path}&page_size=${PAGE_SIZE}`);
  showPage(list, page, [...page.results[0].objects], { ra, dec, radiusArcsec, path });
}

/**
 * @param {Element} list @param {any} page @param {any[]} objects of this page and the pages before
 * @param {{ ra: number, dec: number, radiusArcsec: number, path: string }} cone
 */
function showPage(list, page, objects, cone) {
  const [result] = page.results;
  const byDistance = objects.toSorted((a, b) => a.separation_arcsec - b.separation_arcsec);
  const next = async () => {
    try {
      const following = await ask(
        `${root}/api/cone?cursor=${encodeURIComponent(page.next_cursor)}&page_size=${PAGE_SIZE}`,
      );
      showPage(list, following, [...objects, ...following.results[0].objects], cone);
    } catch (error) {
      showError(list, error, () => showPage(list, page, objects, cone));
    }
  };
  const whole = found(result, byDistance, 'nearest first', `${cone.path}&page_size=${pageData.maxObjects}`);
  const more = page.next_cursor !== null && moreButton(next);
  show(list, withPlot([whole, more], cone, objects, cone.radiusArcsec));
}

/**
 * A list, with the plot of the field beside it if there is something to draw.
 * @param {import('./page.js').Child} list
 * @param {{ ra: number, dec: number }} centre
 * @param {any[]} objects
 * @param {number} radiusArcsec
 */
function withPlot(list, centre, objects, radiusArcsec) {
  if (objects.length === 0) return list;
  return html`<div class="with-plot"><div>${list}</div>${plotOf(centre, objects, radiusArcsec)}</div>`;
}

/**
 * The plot of the searched field.
 * @param {{ ra: number, dec: number }} centre
 * @param {any[]} objects
 * @param {number} radiusArcsec
 */
function plotOf(centre, objects, radiusArcsec) {
  const placed = objects.filter(({ ra }) => ra !== null);
  const sources = placed.flatMap(object =>
    nearestFirst(object)
      .filter(({ ra }) => typeof ra === 'number')
      .map(sourceMark),
  );
  const catalogs = [...new Set(sources.map(({ catalog }) => `${catalog}`))];
  return html`
    <section class="plot-of">
      <h2>The field</h2>
      ${finder(centre, [...sources, ...placed.map(objectMark)], radiusArcsec, 1.1 * radiusArcsec)}
      ${finderKey(catalogs, true, { middle: 'the middle of the search' })}
      <p class="hint">The circle is what was searched, ${radiusArcsec}″.</p>
    </section>`;
}

/** @param {any} result @param {any[]} objects @param {string} how @param {string} path of the API */
function found(result, objects, how, path) {
  if (objects.length === 0) return explained(result.status);
  const line = countLine(objects.length, result.total);
  const cut = `The first ${objects.length}; choose a smaller radius to see the rest.`;
  const inFile = result.truncated ? objects.length : Math.min(result.total, pageData.maxObjects);
  return html`
    <section>
      <h2 class="count">${line}</h2>
      <p class="hint">${result.truncated ? cut : how}</p>
      ${sortableList(objects, line, objects.length < result.total)}
      ${downloads(path, inFile < result.total ? `Download the first ${inFile}` : 'Download')}
    </section>`;
}

/** Shows the results of a list: looks up all valid entries in one request. */
async function showMany() {
  const asked = entries.filter(({ search }) => search.kind !== 'unclear');
  const unclear = entries.filter(({ search }) => search.kind === 'unclear');
  const ids = asked.filter(({ search }) => search.kind === 'id').length;
  for (const [what, count, most] of /** @type {const} */ ([
    ['ids', ids, pageData.maxIds],
    ['positions and names', asked.length - ids, pageData.maxPositions],
  ]))
    if (count > most)
      return show(
        results,
        notice(
          html`A list has at most ${most} ${what}: this one has ${count}.
            <a href="${root}/consuming">The client takes longer ones.</a>`,
        ),
      );
  if (asked.length === 0) return show(results, unclearList(unclear));
  showLoading(results, `Looking up ${counted(asked.length, 'entry', 'entries')}`);
  const radius = Number(radiusBox.value);
  const request = {
    inputs: asked.map(({ search }) => inputOf(search)),
    radius_arcsec: radius,
    detail: 'full',
  };
  const answer = await ask(`${root}/api/lookup`, asJson(request));
  const held = answer.results.filter(
    (/** @type {any} */ { objects, total, status }) => (total ?? objects?.length) > 0 && status !== 'not_in_service',
  );
  const having = (/** @type {string} */ one) =>
    answer.results.filter((/** @type {any} */ { status }) => status === one).length;
  const [failed, invalid] = [having('resolver_unavailable'), having('invalid_input')];
  const objects = new Set(
    held.flatMap((/** @type {any} */ result) => result.objects.map((/** @type {any} */ each) => each.diaObjectId_str)),
  );
  const said = [
    `${counted(held.length, 'entry', 'entries')} found something, ${asked.length - held.length - failed - invalid} nothing`,
    failed > 0 && `, ${failed} could not be looked up now`,
    unclear.length + invalid > 0 && `, ${unclear.length + invalid} could not be understood`,
    `. Around positions and names: ${radius}″, unless an entry has its own radius.`,
    answer.truncated && ' There were more objects than one answer lists: some are left out.',
  ];
  show(
    results,
    html`
      <h2 class="count">${counted(objects.size, 'object')} for ${counted(entries.length, 'entry', 'entries')}</h2>
      <p class="hint">${said}</p>
      ${!isHours && listLooksLikeHours(entries) && hoursNotice()}
      ${unclear.length > 0 && unclearList(unclear)}
      ${saveButtons('lookup', format => fetch(`${root}/api/lookup?format=${format}`, asJson(request)))}
      ${asked.map(({ typed, label }, i) => entrySection(label ?? typed, answer.results[i]))}`,
  );
}

/** What to do with right ascensions that look like hours. */
function hoursNotice() {
  const query = new URLSearchParams(parameters);
  query.set('ra_unit', 'h');
  return html`
    <p class="notice">${LIKE_HOURS.split(':')[0]}.
      <a href="?${query}${location.hash}">Read them as hours</a></p>`;
}

/** @param {{ typed: string, search: SearchText }[]} unclear */
function unclearList(unclear) {
  const line = (/** @type {{ typed: string, search: SearchText }} */ { typed: text, search }) =>
    html`<p><code>${text.slice(0, 200)}</code>: ${search.kind === 'unclear' && search.reason}</p>`;
  return html`<div class="notice error">${unclear.map(line)}</div>`;
}

/**
 * The result of one entry.
 * @param {string} text as it was typed
 * @param {any} result
 */
function entrySection(text, { status, objects, total, truncated, tns, error, normalized }) {
  const listed = status === 'not_in_service' ? [] : (objects ?? []);
  const hint = (/** @type {string} */ says) => html`<span class="hint"> ${says}</span>`;
  const place = tns ?? (normalized?.kind === 'position' ? normalized : undefined);
  const there = `${root}/search?q=${place?.ra}+${place?.dec}&radius=${normalized?.radius_arcsec}`;
  const why = html`
    <p>${badge(status)}${error?.message && hint(error.message)}
      ${place && html`<a href=${there}>What the catalogs have there</a>`}</p>`;
  return html`
    <section class="entry">
      <h3>${text}${place && hint(degrees(place.ra, place.dec))}</h3>
      ${truncated && html`<p class="hint">The first ${listed.length} of ${counted(total, 'object')}.</p>`}
      ${listed.length > 0 ? objectList(listed, text) : why}
    </section>`;
}
