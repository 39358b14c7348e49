/** The page of the results: what was typed, how it was understood, and what the API has to it. */
import { degrees, sexagesimalDec, sexagesimalRa, time } from './format.js';
import { ask, badge, byId, facts, h, prose, show, showError, showLoading } from './page.js';
import { countLine, objectList } from './result_list.js';
import { parseSearchText } from './search_text.js';

const PAGE_SIZE = 100;
const results = byId('results');
const parameters = new URLSearchParams(location.search);
const typed = parameters.get('q') ?? '';
const input = /** @type {HTMLInputElement} */ (byId('q-large'));
const radius = /** @type {HTMLSelectElement} */ (byId('radius'));
input.value = typed;
if ([...radius.options].some(option => option.value === parameters.get('radius')))
  radius.value = parameters.get('radius') ?? '';

const search = parseSearchText(typed);
if (typed.trim() === '') {
  show(results, h('p', { class: 'hint' }, 'Type an id, a TNS name or a position.'));
  input.focus();
} else void run();

async function run() {
  document.title = `${typed} · nearsky`;
  try {
    if (search.kind === 'unclear') show(results, notice(search.reason));
    else if (search.kind !== 'id' && !isRadius(search.radiusArcsec))
      show(results, notice(`A radius is above 0 and at most ${facts.maxRadiusArcsec}″: it is ${search.radiusArcsec}″`));
    else if (search.kind === 'id') await showId(search.id);
    else if (search.kind === 'tns') await showName(search.name, search.radiusArcsec);
    else await showPosition(search, search.radiusArcsec ?? Number(radius.value));
  } catch (error) {
    showError(results, error, run);
  }
}

/** Whether it can be searched; undefined is the one that is chosen beside the box. @param {number | undefined} arcsec */
function isRadius(arcsec) {
  return arcsec === undefined || (arcsec > 0 && arcsec <= facts.maxRadiusArcsec);
}

/** @param {...import('./page.js').Child} children */
function notice(...children) {
  return h('div', { class: 'notice' }, h('p', {}, ...children));
}

/** @param {string} status */
function explained(status) {
  return h(
    'div',
    { class: 'notice' },
    h('p', {}, badge(status)),
    h('p', {}, prose(facts.statuses[status]?.meaning ?? '')),
  );
}

/** @param {string} id */
async function showId(id) {
  showLoading(results, `Looking up ${id}`);
  const [result] = (await ask(`/api/objects/${id}`)).results;
  if (result.status !== 'not_in_service') location.replace(`/objects/${id}`);
  else
    show(results, explained(result.status), h('p', { class: 'hint' }, `The id ${id}. `, prose(facts.caveats[1] ?? '')));
}

/** @param {string} name @param {number | undefined} radiusArcsec */
async function showName(name, radiusArcsec) {
  showLoading(results, `Looking up ${name}`);
  const query = radiusArcsec === undefined ? '' : `?radius_arcsec=${radiusArcsec}`;
  const [result] = (await ask(`/api/tns/${encodeURIComponent(name)}${query}`)).results;
  if (result.status !== 'objects_found' && !result.tns) return show(results, explained(result.status));
  const { tns } = result;
  const facts = [
    `${tns.name_prefix ?? ''} ${tns.name}`.trim(),
    tns.classification,
    tns.redshift !== null && `z = ${tns.redshift}`,
    degrees(tns.ra, tns.dec),
  ].filter(Boolean);
  const heading = h('h2', {}, 'In the registry');
  const record = h(
    'p',
    {},
    h('a', { href: tns.url, rel: 'noopener noreferrer' }, facts.join(' · ')),
    ` (snapshot of ${time(result.tns_snapshot_epoch)})`,
  );
  show(results, heading, record, found(result, result.objects, `within ${result.normalized.radius_arcsec}″ of it`));
}

/** @param {{ ra: number, dec: number }} position @param {number} radiusArcsec */
async function showPosition({ ra, dec }, radiusArcsec) {
  const place = h(
    'p',
    { class: 'understood' },
    h('strong', {}, `${sexagesimalRa(ra)} ${sexagesimalDec(dec)}`),
    h('span', { class: 'place' }, `${degrees(ra, dec)} within ${radiusArcsec}″`),
    h('a', { href: `/?ra=${ra}&dec=${dec}` }, 'on the map'),
  );
  const list = h('div', {});
  show(results, place, list);
  showLoading(list, 'Searching');
  const first = await ask(
    `/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=${radiusArcsec}&page_size=${PAGE_SIZE}&detail=matches`,
  );
  const objects = [...first.results[0].objects];
  showPage(list, first, objects);
}

/** @param {Element} list @param {any} page @param {any[]} objects those of this page and of the ones before */
function showPage(list, page, objects) {
  const [result] = page.results;
  const byDistance = objects.toSorted((a, b) => a.separation_arcsec - b.separation_arcsec);
  const more = h('button', { type: 'button', click: () => void next() }, 'Show more');
  show(list, found(result, byDistance, 'nearest first'), page.next_cursor !== null && more);
  const next = async () => {
    more.disabled = true;
    try {
      const following = await ask(`/api/cone?cursor=${encodeURIComponent(page.next_cursor)}&page_size=${PAGE_SIZE}`);
      showPage(list, following, [...objects, ...following.results[0].objects]);
    } catch (error) {
      showError(list, error, () => showPage(list, page, objects));
    }
  };
}

/** @param {any} result @param {any[]} objects @param {string} how */
function found(result, objects, how) {
  if (objects.length === 0) return explained(result.status);
  const line = countLine(objects.length, result.total);
  return h(
    'section',
    {},
    h('h2', { class: 'count' }, line),
    h(
      'p',
      { class: 'hint' },
      result.truncated ? `The first ${objects.length}; ask for a smaller radius for the rest.` : how,
    ),
    objectList(objects, line),
  );
}
