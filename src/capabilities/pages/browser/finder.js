/** The finder plot: the surroundings of an object in arcsec, north up and east to the left. */

import { catalogOf, foundIn, html, releaseOf, svg } from './page.js';
import { offsetsArcsec } from './projection.js';
import { root } from './root.js';

/**
 * @typedef {{ ra: number, dec: number, name: string, catalog?: string, href?: string, isFurther?: boolean }} Mark
 *   a source of a catalog, or another object; `isFurther` if no crossmatch has recorded the source
 */

/** The mark of a catalog's source. @param {any} source @returns {Mark} */
export function sourceMark(source) {
  const { ra, dec, catalog_name: catalog, catalog_source_id } = source;
  return { ra, dec, catalog, name: `${foundIn(source)} ${catalog_source_id}` };
}

/** The mark of an object, which links to its page. @param {any} object @returns {Mark} */
export const objectMark = ({ ra, dec, diaObjectId_str: id }) => ({
  ra,
  dec,
  name: `object ${id}`,
  href: `${root}/objects/${id}`,
});

const SIZE = 320;
const MIDDLE = SIZE / 2;
const MARGIN = 14;
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30];

/**
 * @param {{ ra: number, dec: number }} centre
 * @param {Mark[]} marks
 * @param {number} radiusArcsec of the crossmatch
 * @param {number} halfWidthArcsec from the middle to the edge
 * @param {boolean} [isSearched] whether any catalog was searched in the crossmatch; the circle is hatched if none was
 */
export function finder(centre, marks, radiusArcsec, halfWidthArcsec, isSearched = true) {
  const scale = (MIDDLE - MARGIN) / halfWidthArcsec;
  const shown = marks.flatMap(mark => {
    const { east, north } = offsetsArcsec(centre, mark);
    const point = { ...mark, east, north, x: MIDDLE - east * scale, y: MIDDLE - north * scale };
    return Math.max(Math.abs(east), Math.abs(north)) <= halfWidthArcsec ? [point] : [];
  });
  const names = shown.map(
    ({ name, east, north }) => `${name} at ${east.toFixed(2)} arcsec east, ${north.toFixed(2)} arcsec north`,
  );
  // The role `img` would hide the links.
  const role = shown.some(({ href }) => href !== undefined) ? 'group' : 'img';
  const radius = radiusArcsec * scale;
  return html`<svg viewBox="0 0 ${SIZE} ${SIZE}" class="finder" role=${role}
    aria-label="Finder plot. ${names.join('; ') || 'Nothing else in view'}">
    ${grid(scale, halfWidthArcsec)}
    <circle class="radius" cx=${MIDDLE} cy=${MIDDLE} r=${radius} />
    ${!isSearched && svg`${HATCH}<circle class="hatched" fill="url(#hatch)" cx=${MIDDLE} cy=${MIDDLE} r=${radius} />`}
    ${shown.map(drawn)}
    <path class="target" d="M${MIDDLE - 9} ${MIDDLE}h6m6 0h6M${MIDDLE} ${MIDDLE - 9}v6m0 6v6" />
    ${COMPASS}
  </svg>`;
}

/** The pattern that fills hatched circles. */
const HATCH = svg`<pattern id="hatch" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <path class="hatch" d="M0 0v7" /></pattern>`;

/** @param {number} scale pixels per arcsec @param {number} halfWidth arcsec */
function grid(scale, halfWidth) {
  const step = STEPS.find(each => halfWidth / each <= 5) ?? 60;
  const lines = [];
  for (let at = step; at <= halfWidth; at += step) {
    for (const sign of [1, -1]) {
      const offset = MIDDLE + sign * at * scale;
      lines.push(`M${offset} ${MARGIN}V${SIZE - MARGIN}M${MARGIN} ${offset}H${SIZE - MARGIN}`);
    }
  }
  const bar = step * scale;
  const side = SIZE - 2 * MARGIN;
  return svg`${lines.map(line => svg`<path class="grid" d=${line} />`)}
    <rect class="frame" x=${MARGIN} y=${MARGIN} width=${side} height=${side} rx="4" />
    <path class="bar" d="M${MARGIN + 4} ${SIZE - MARGIN - 6}h${bar}m0 -3v6m${-bar} 0v-6" />
    <text class="tick" x=${MARGIN + 8 + bar} y=${SIZE - MARGIN - 2}>${step}″</text>`;
}

const CORNER = SIZE - MARGIN - 12;
const COMPASS = svg`<path class="bar" d="M${CORNER} ${CORNER}v-22m-3 4l3 -4l3 4M${CORNER} ${CORNER}h-22m4 -3l-4 3l4 3" />
    <text class="tick" x=${CORNER - 4} y=${CORNER - 27}>N</text>
    <text class="tick" x=${CORNER - 35} y=${CORNER + 4}>E</text>`;

/** Other objects, and sources of a catalog that has no marker. */
const DOT = 'M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0';

/** @param {Mark & { x: number, y: number }} point */
function drawn({ x, y, name, catalog, href, isFurther = false }) {
  const shape = (catalog === undefined ? undefined : catalogOf(catalog)?.marker) ?? DOT;
  const kind = `${catalog ?? 'object'}${isFurther ? ' further' : ''}`;
  const move = `translate(${x.toFixed(2)} ${y.toFixed(2)})`;
  const path = svg`<path class="point ${kind}" d=${shape} transform=${move}><title>${name}</title></path>`;
  return href === undefined ? path : svg`<a href=${href} aria-label=${name}>${path}</a>`;
}

/**
 * @param {string[]} catalogs names of the catalogs in the plot
 * @param {boolean} hasOthers whether other objects are in it
 * @param {{ middle?: string, hatched?: string | undefined }} [words] the label of the middle; the reason why the circle
 * is hatched
 */
export function finderKey(catalogs, hasOthers, { middle = 'this object', hatched: why } = {}) {
  const item = (/** @type {import('./page.js').Child} */ drawing, /** @type {string} */ says) =>
    html`<li><svg viewBox="-8 -8 16 16" class="key" aria-hidden="true">${drawing}</svg>${says}</li>`;
  const marker = (/** @type {string} */ kind, /** @type {string} */ d) => svg`<path class="point ${kind}" d=${d} />`;
  return html`<ul class="keys">
    ${item(svg`<path class="target" d="M-7 0h4m6 0h4M0-7v4m0 6v4" />`, middle)}
    ${catalogs.map(name => item(marker(name, catalogOf(name)?.marker ?? DOT), releaseOf(name)))}
    ${hasOthers && item(marker('object', DOT), middle === 'this object' ? 'other objects' : 'objects')}
    ${why !== undefined && item(svg`<circle class="hatched" fill="url(#hatch)" r="7" />`, why)}
  </ul>`;
}
