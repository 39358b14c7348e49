/** Objects as a list of links. */
import { arcsec, counted, degrees, TABLE_FORMATS, time } from './format.js';
import { badge, catalogOf, h, mark, pageData, releaseOf, show } from './page.js';
import { magnitudeText, mainMagnitude } from './payload.js';

/** @param {any[]} objects of the API, at the level `matches` or `full` @param {string} label */
export function objectList(objects, label) {
  return h('ul', { class: 'objects', 'aria-label': label }, objects.map(objectItem));
}

/** @param {any} object @param {string} catalog */
export function hasSource({ matches }, catalog) {
  return (matches ?? []).some((/** @type {any} */ { catalog_name }) => catalog_name === catalog);
}

/** Values by which objects are sorted, ascending; those without one come last. @type {Record<string, (object: any) => number>} */
const ORDERS = {
  separation: object => nearestFirst(object).map(nearness)[0] ?? Number.POSITIVE_INFINITY,
  magnitude: object => {
    const [nearest] = nearestFirst(object);
    const magnitude = mainMagnitude(catalogOf(nearest?.catalog_name), nearest?.catalog_payload)?.magnitude;
    return magnitude ?? Number.POSITIVE_INFINITY;
  },
  event: ({ event_time }) => (event_time ? -Date.parse(event_time) : Number.POSITIVE_INFINITY),
};

/**
 * Sorts objects by an order; an unknown order leaves them unchanged.
 * @param {any[]} objects @param {string} order
 */
export function sorted(objects, order) {
  const value = ORDERS[order];
  // The difference of two infinities is not a number.
  return value ? objects.toSorted((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0)) : objects;
}

/**
 * Objects as a list, with a choice of catalog and order above it if there are several.
 * @param {any[]} objects at the level `full` @param {string} label @param {boolean} isPart whether there are more
 */
export function sortableList(objects, label, isPart) {
  const list = h('div', {}, objectList(objects, label));
  if (objects.length < 2) return list;
  const select = (/** @type {string} */ text, /** @type {string[][]} */ options) => {
    const box = h(
      'select',
      { change: () => draw() },
      options.map(([value, name = '']) => h('option', { value }, name)),
    );
    return { box, label: h('label', { class: 'pick' }, `${text} `, box) };
  };
  const withCounts = pageData.catalogs
    .map(({ name, release }) => ({ name, release, count: objects.filter(object => hasSource(object, name)).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, release, count }) => [name, `${release} (${count})`]);
  const catalog = select('Source in', [['', `any catalog, or none (${objects.length})`], ...withCounts]);
  const order = select('Sort by', [
    ['', 'as listed'],
    ['separation', 'separation of the nearest source'],
    ['magnitude', 'magnitude of the nearest source'],
    ['event', 'time of the alert, newest first'],
  ]);
  const draw = () => {
    const name = catalog.box.value;
    const chosen = name === '' ? objects : objects.filter(object => hasSource(object, name));
    show(list, objectList(sorted(chosen, order.box.value), label));
  };
  const part = isPart && h('span', { class: 'hint' }, 'Filters and sorting apply to loaded rows only.');
  return [h('p', { class: 'actions' }, catalog.label, ' ', order.label, ' ', part), list];
}

/** The sources of an object, nearest first. @param {any} object @returns {any[]} */
export function nearestFirst({ matches }) {
  return (matches ?? []).toSorted((/** @type {any} */ a, /** @type {any} */ b) => nearness(a) - nearness(b));
}

/**
 * The registry's record of the transient in a few words.
 * @param {any} tns
 */
export function transientText(tns) {
  if (!tns?.name) return undefined;
  const redshift = tns.redshift === null ? '' : `, z = ${tns.redshift}`;
  return `${tns.name_prefix ?? ''} ${tns.name}${tns.classification ? `, ${tns.classification}` : ''}${redshift}`.trim();
}

/** @param {any} object */
function objectItem(object) {
  const id = object.diaObjectId_str;
  const transient = transientText(object.tns);
  const sources = nearestFirst(object);
  return h(
    'li',
    {},
    h('a', { class: 'id', href: `/objects/${id}` }, id),
    object.status !== undefined && badge(object.status),
    object.separation_arcsec !== undefined &&
      h('span', { class: 'separation' }, arcsec(object.separation_arcsec), h('span', { class: 'unit' }, ' away')),
    object.credible_level !== undefined &&
      h(
        'span',
        { class: 'separation' },
        `${(100 * object.credible_level).toFixed(1)} %`,
        h('span', { class: 'unit' }, ' level'),
      ),
    object.ra !== undefined &&
      h('span', { class: 'place' }, object.ra === null ? 'no valid position' : degrees(object.ra, object.dec)),
    object.event_time && h('span', { class: 'when', title: 'Time of the alert' }, time(object.event_time)),
    transient !== undefined && h('strong', { class: 'transient' }, transient),
    sources.length > 0 && h('span', { class: 'sources' }, sources.map(source)),
  );
}

/**
 * The separation in arcsec by which sources are compared: at the time of the event, if a proper motion was applied.
 * @param {any} match
 * @returns {number}
 */
export function nearness({ separation_arcsec, separation_at_epoch_arcsec }) {
  return separation_at_epoch_arcsec ?? separation_arcsec;
}

/**
 * A source in a row: its catalog, separation and magnitude.
 * @param {any} match
 */
export function source({ catalog_name: name, catalog_payload: payload, ...separations }) {
  const magnitude = magnitudeText(catalogOf(name), payload);
  return h(
    'span',
    { class: 'source' },
    mark(name),
    `${releaseOf(name)} ${arcsec(nearness(separations))}`,
    magnitude !== undefined && h('span', { class: 'unit' }, `, ${magnitude}`),
  );
}

/** @param {number} shown @param {number} total */
export function countLine(shown, total) {
  return shown < total ? `${counted(shown, 'object')} of ${counted(total, 'object')}` : counted(total, 'object');
}

/**
 * Links to the same results as files.
 * @param {string} path of the API, without a format
 * @param {string} [what]
 */
export function downloads(path, what = 'Download') {
  return h(
    'p',
    { class: 'downloads' },
    `${what}: `,
    TABLE_FORMATS.map(([format, name]) => [h('a', { href: `${path}&format=${format}`, download: '' }, name), ' ']),
    h('a', { href: path }, 'JSON'),
  );
}
