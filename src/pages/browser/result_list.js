/** Objects as a list of links. */
import { arcsec, counted, degrees, TABLE_FORMATS, time } from './format.js';
import { badge, catalogOf, h, mark, releaseOf } from './page.js';
import { magnitudeText } from './payload.js';

/** @param {any[]} objects of the API, at the level `matches` or `full` @param {string} label */
export function objectList(objects, label) {
  return h('ul', { class: 'objects', 'aria-label': label }, objects.map(objectItem));
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
 * The separation in arcsec by which a source was chosen: at the time of the event, where a proper motion was applied.
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
