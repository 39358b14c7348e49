/** Recent crossmatches, page by page. The address holds the chosen filters. */

import { follow, offerFeed } from './following.js';
import { count, counted, degrees, time } from './format.js';
import { ask, badge, byId, html, moment, moreButton, pageData, show, showError, showLoading } from './page.js';
import {
  downloads,
  hasSource,
  judgedSource,
  nearestFirst,
  sorted,
  transientText,
  wholeObjects,
} from './result_list.js';
import { root } from './root.js';

const PAGE_SIZE = Math.min(50, pageData.maxRecentPage);
/**
 * The number of rows that should remain after filtering; and the maximum number of objects that are loaded
 * automatically to reach it.
 */
const ENOUGH = 20;
const MOST_UNASKED = 500;
const place = byId('recent');
const form = /** @type {HTMLFormElement} */ (byId('window'));
const fresh = byId('fresh');
/** How many matches have been recorded since the listing was loaded, by catalog. @type {Map<string, number>} */
const recorded = new Map();
/** The minimum time between two updates of the displayed number. */
const CALM_MS = 2000;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let saysFresh;
/** Only the answer to the latest choice is shown. */
let asked = 0;
/** @type {{ page: any, objects: any[], path: string } | undefined} the objects of this page and of the ones before */
let loaded;

choose(new URLSearchParams(location.search));
addEventListener('popstate', () => {
  const { hours, time_field } = choices();
  form.reset();
  choose(new URLSearchParams(location.search));
  const now = choices();
  redraw(now.hours !== hours || now.time_field !== time_field);
});
form.addEventListener('change', event => {
  const name = /** @type {HTMLInputElement} */ (event.target).name;
  remember();
  redraw(['hours', 'time_field'].includes(name));
});
form.addEventListener('submit', event => event.preventDefault());
void load();
follow(({ catalog_name }) => {
  recorded.set(catalog_name, (recorded.get(catalog_name) ?? 0) + 1);
  saysFresh ??= setTimeout(sayFresh, CALM_MS);
});

/** Shows the objects for the current choice. @param {boolean} isOther whether other objects must be loaded */
function redraw(isOther) {
  const { catalog } = choices();
  offerFeed(`${root}/feeds/matches${catalog ? `?catalog=${catalog}` : ''}`);
  if (!loaded || isOther) return void load();
  sayFresh();
  draw();
  void fill();
}

/** Shows the number of new matches, with a button that lists them. */
function sayFresh() {
  clearTimeout(saysFresh);
  saysFresh = undefined;
  const { catalog } = choices();
  const counts = catalog ? [recorded.get(catalog) ?? 0] : [...recorded.values()];
  const sum = counts.reduce((a, b) => a + b, 0);
  const list = async () => {
    await load();
    place.focus();
  };
  const says = `${counted(sum, 'new match', 'new matches')}: show`;
  show(fresh, sum > 0 && html`<button type="button" @click=${list}>${says}</button>`);
}

/** Fills the form from the parameters of an address. @param {URLSearchParams} parameters */
function choose(parameters) {
  for (const [name, value] of parameters) {
    const field = form.elements.namedItem(name);
    if (field instanceof RadioNodeList) {
      if ([...field].some(each => /** @type {HTMLInputElement} */ (each).value === value)) field.value = value;
    } else if (field instanceof HTMLSelectElement) {
      if ([...field.options].some(option => option.value === value)) field.value = value;
    } else if (field instanceof HTMLInputElement && field.type === 'checkbox') field.checked = value === field.value;
  }
}

function choices() {
  const chosen = new FormData(form);
  return Object.fromEntries([...chosen].map(([name, value]) => [name, `${value}`]));
}

function remember() {
  const query = new URLSearchParams(Object.entries(choices()).filter(([, value]) => value !== ''));
  history.pushState(null, '', `?${query}`);
}

async function load() {
  const mine = ++asked;
  const { hours, time_field } = choices();
  const end = new Date();
  const start = new Date(end.getTime() - Number(hours) * 3_600_000);
  const query = `${new URLSearchParams({
    start: start.toISOString(),
    end: end.toISOString(),
    time_field: `${time_field}`,
  })}`;
  loaded = undefined;
  recorded.clear();
  sayFresh();
  showLoading(place, 'Loading');
  try {
    const page = await ask(`${root}/api/recent-crossmatches?${query}&page_size=${PAGE_SIZE}&detail=ids`);
    const objects = await wholeObjects(page.objects);
    if (mine !== asked) return;
    loaded = { page, objects, path: `${root}/api/recent-crossmatches?${query}&detail=full` };
    draw();
    void fill();
  } catch (error) {
    if (mine === asked) showError(place, error, load);
  }
}

/**
 * The loaded objects that match the chosen filters, in the chosen order.
 * @param {any[]} objects
 */
function chosenOf(objects) {
  const { catalog, sort, named } = choices();
  const found = objects.filter(object => (!catalog || hasSource(object, catalog)) && (!named || object.tns?.name));
  return sorted(found, `${sort}`);
}

function draw() {
  if (!loaded) return;
  const { page, objects, path } = loaded;
  const { start, end } = page.window;
  const isAll = page.next_cursor === null;
  if (objects.length === 0) {
    const text = `No crossmatch with a source from ${time(start)} to ${time(end)}. A longer time may have some.`;
    show(place, html`<div class="notice"><p>${text}</p></div>`);
    return;
  }
  const shown = chosenOf(objects);
  const { catalog, sort, named, time_field } = choices();
  const whole = isAll
    ? `All ${count(objects.length)} crossmatches`
    : `The newest ${count(objects.length)} crossmatches; there are older ones.`;
  const part = catalog || named ? ` ${count(shown.length)} of them match your choices.` : '';
  const partial =
    !isAll && (part !== '' || sort !== 'time') ? ' Filters and sorting apply to the loaded rows only.' : '';
  const most = pageData.maxRecentPage;
  show(
    place,
    html`
      <p class="hint">${whole}${isAll ? ' from ' : ' From '}${moment(start)} to ${moment(end)}.${part}${partial}</p>
      ${shown.length > 0 && table(shown, time_field === 'event_time' ? 'event_time' : 'ingest_time')}
      ${!isAll && moreButton(next)}
      ${downloads(`${path}&page_size=${most}`, isAll ? 'Download' : `Download the first ${most}`)}`,
  );
}

async function next() {
  if (await loadMore()) draw();
}

/** Loads more objects, up to a limit, if the filters leave hardly any of the loaded ones. */
async function fill() {
  const { catalog, named } = choices();
  while (
    (catalog || named) &&
    loaded &&
    loaded.page.next_cursor !== null &&
    loaded.objects.length < MOST_UNASKED &&
    chosenOf(loaded.objects).length < ENOUGH
  ) {
    if (!(await loadMore())) return;
    draw();
  }
}

/** Loads the next page. Resolves to true if the page arrived and is still needed. */
async function loadMore() {
  const before = loaded;
  if (!before) return false;
  const mine = asked;
  try {
    const query = `cursor=${encodeURIComponent(before.page.next_cursor)}&page_size=${PAGE_SIZE}`;
    const page = await ask(`${root}/api/recent-crossmatches?${query}`);
    const objects = await wholeObjects(page.objects);
    if (mine !== asked || loaded !== before) return false;
    loaded = { ...before, page: { ...page, window: before.page.window }, objects: [...before.objects, ...objects] };
    return true;
  } catch (error) {
    if (mine === asked) showError(place, error, draw);
    return false;
  }
}

/** @param {any[]} objects @param {'ingest_time' | 'event_time'} field */
function table(objects, field) {
  const isEvent = field === 'event_time';
  const heads = [
    isEvent ? 'Time of the alert' : 'Arrived',
    'Object',
    'Position',
    'Sources, nearest first',
    'TNS',
    'Reliability',
  ];
  return html`
    <div class="scroll">
      <table class="recent stacked">
        <thead><tr>${heads.map(head => html`<th scope="col">${head}</th>`)}</tr></thead>
        <tbody>${objects.map(object => row(object, field, heads))}</tbody>
      </table>
    </div>`;
}

/** @param {any} object @param {'ingest_time' | 'event_time'} field @param {string[]} heads */
function row(object, field, heads) {
  const { diaObjectId_str: id, status, tns, reliability } = object;
  const at = object[field];
  const cells = [
    time(at),
    [html`<a class="id" href="${root}/objects/${id}">${id}</a>`, status !== 'coincident_sources' && badge(status)],
    html`<span class="place">${object.ra === null ? '–' : degrees(object.ra, object.dec)}</span>`,
    nearestFirst(object).map(judgedSource),
    transientText(tns) ?? '–',
    reliability?.toFixed(3) ?? '–',
  ];
  return html`<tr>${cells.map(
    (cell, i) => html`<td data-head=${heads[i]} class=${cell === '–' && 'none'}>${cell}</td>`,
  )}</tr>`;
}
