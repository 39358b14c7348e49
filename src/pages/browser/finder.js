/** The finder plot: the surroundings of an object in arcsec, north up and east to the left. */

import { catalogOf, h, releaseOf, svg } from './page.js';
import { offsetsArcsec } from './projection.js';

/**
 * @typedef {{ ra: number, dec: number, name: string, catalog?: string, href?: string, isFurther?: boolean }} Mark
 *   a catalog's source, one that no crossmatch records being a further one; or another object
 */

const SIZE = 320;
const MIDDLE = SIZE / 2;
const MARGIN = 14;
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30];

/**
 * @param {{ ra: number, dec: number }} centre
 * @param {Mark[]} marks
 * @param {number} radiusArcsec of the crossmatch
 * @param {number} halfWidthArcsec from the middle to the edge
 * @param {boolean} [isSearched] whether any catalog was searched in the crossmatch; the circle is hatched where none was
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
  return svg(
    'svg',
    {
      viewBox: `0 0 ${SIZE} ${SIZE}`,
      class: 'finder',
      // The role `img` would hide the links.
      role: shown.some(({ href }) => href !== undefined) ? 'group' : 'img',
      'aria-label': `Finder plot. ${names.join('; ') || 'Nothing else in view'}`,
    },
    grid(scale, halfWidthArcsec),
    svg('circle', { class: 'radius', cx: MIDDLE, cy: MIDDLE, r: radiusArcsec * scale }),
    isSearched ? [] : [hatch(), svg('circle', { ...HATCHED, cx: MIDDLE, cy: MIDDLE, r: radiusArcsec * scale })],
    shown.map(point => drawn(point)),
    svg('path', { class: 'target', d: `M${MIDDLE - 9} ${MIDDLE}h6m6 0h6M${MIDDLE} ${MIDDLE - 9}v6m0 6v6` }),
    compass(),
  );
}

const HATCHED = { class: 'hatched', fill: 'url(#hatch)' };

/** The pattern that fills hatched circles. */
function hatch() {
  const tile = { id: 'hatch', width: 7, height: 7, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' };
  return svg('pattern', tile, svg('path', { class: 'hatch', d: 'M0 0v7' }));
}

/** @param {number} scale pixels per arcsec @param {number} halfWidth arcsec */
function grid(scale, halfWidth) {
  const step = STEPS.find(each => halfWidth / each <= 5) ?? 60;
  const lines = [];
  for (let at = step; at <= halfWidth; at += step) {
    for (const sign of [1, -1]) {
      const offset = MIDDLE + sign * at * scale;
      lines.push(
        svg('path', { class: 'grid', d: `M${offset} ${MARGIN}V${SIZE - MARGIN}M${MARGIN} ${offset}H${SIZE - MARGIN}` }),
      );
    }
  }
  const bar = step * scale;
  const scaleBar = svg('path', { class: 'bar', d: `M${MARGIN + 4} ${SIZE - MARGIN - 6}h${bar}m0 -3v6m${-bar} 0v-6` });
  const label = svg('text', { class: 'tick', x: MARGIN + 8 + bar, y: SIZE - MARGIN - 2 }, `${step}″`);
  const frame = svg('rect', {
    class: 'frame',
    x: MARGIN,
    y: MARGIN,
    width: SIZE - 2 * MARGIN,
    height: SIZE - 2 * MARGIN,
    rx: 4,
  });
  return [...lines, frame, scaleBar, label];
}

function compass() {
  const [x, y] = [SIZE - MARGIN - 12, SIZE - MARGIN - 12];
  return [
    svg('path', { class: 'bar', d: `M${x} ${y}v-22m-3 4l3 -4l3 4M${x} ${y}h-22m4 -3l-4 3l4 3` }),
    svg('text', { class: 'tick', x: x - 4, y: y - 27 }, 'N'),
    svg('text', { class: 'tick', x: x - 35, y: y + 4 }, 'E'),
  ];
}

/** Other objects, and sources of a catalog that has no marker. */
const DOT = 'M-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0';

/** @param {Mark & { x: number, y: number }} point */
function drawn({ x, y, name, catalog, href, isFurther = false }) {
  const shape = (catalog === undefined ? undefined : catalogOf(catalog)?.marker) ?? DOT;
  const path = svg(
    'path',
    {
      class: `point ${catalog ?? 'object'}${isFurther ? ' further' : ''}`,
      d: shape,
      transform: `translate(${x.toFixed(2)} ${y.toFixed(2)})`,
    },
    svg('title', {}, name),
  );
  return href === undefined ? path : svg('a', { href, 'aria-label': name }, path);
}

/**
 * @param {string[]} catalogs names of those in the plot
 * @param {boolean} hasOthers whether other objects are in it
 * @param {{ middle?: string, hatched?: string | undefined }} [words] what stands in the middle; why the circle is hatched
 */
export function finderKey(catalogs, hasOthers, { middle = 'this object', hatched: why } = {}) {
  const small = (/** @type {string} */ name, /** @type {string} */ d) =>
    svg(
      'svg',
      { viewBox: '-8 -8 16 16', class: 'key', 'aria-hidden': 'true' },
      svg('path', { class: `point ${name}`, d }),
    );
  return h(
    'ul',
    { class: 'keys' },
    h(
      'li',
      {},
      svg(
        'svg',
        { viewBox: '-8 -8 16 16', class: 'key', 'aria-hidden': 'true' },
        svg('path', { class: 'target', d: 'M-7 0h4m6 0h4M0-7v4m0 6v4' }),
      ),
      middle,
    ),
    catalogs.map(name => h('li', {}, small(name, catalogOf(name)?.marker ?? DOT), releaseOf(name))),
    hasOthers && h('li', {}, small('object', DOT), middle === 'this object' ? 'other objects' : 'objects'),
    why !== undefined &&
      h(
        'li',
        {},
        svg(
          'svg',
          { viewBox: '-8 -8 16 16', class: 'key', 'aria-hidden': 'true' },
          svg('circle', { ...HATCHED, r: 7 }),
        ),
        why,
      ),
  );
}
