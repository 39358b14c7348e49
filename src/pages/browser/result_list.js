/** Objects as a list of links. */
import { arcsec, counted, degrees } from './format.js';
import { badge, h, mark, releaseOf } from './page.js';

/** @param {any[]} objects of the API, at the level `matches` @param {string} label */
export function objectList(objects, label) {
  return h('ul', { class: 'objects', 'aria-label': label }, objects.map(objectItem));
}

/** @param {any} object */
function objectItem(object) {
  const id = object.diaObjectId_str;
  return h(
    'li',
    {},
    h('a', { class: 'id', href: `/objects/${id}` }, id),
    object.status !== undefined && badge(object.status),
    object.separation_arcsec !== undefined &&
      h('span', { class: 'separation' }, arcsec(object.separation_arcsec), h('span', { class: 'unit' }, ' away')),
    object.ra !== undefined &&
      h('span', { class: 'place' }, object.ra === null ? 'no valid position' : degrees(object.ra, object.dec)),
    object.matches?.length > 0 &&
      h(
        'span',
        { class: 'sources' },
        object.matches.map((/** @type {any} */ match) =>
          h(
            'span',
            { class: 'source' },
            mark(match.catalog_name),
            `${releaseOf(match.catalog_name)} ${arcsec(match.separation_arcsec)}`,
          ),
        ),
      ),
  );
}

/** @param {number} shown @param {number} total */
export function countLine(shown, total) {
  return shown < total ? `${counted(shown, 'object')} of ${counted(total, 'object')}` : counted(total, 'object');
}
