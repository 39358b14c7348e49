/** Circles and polygons of the sky as text, and their outlines on the map. */
import { positionOf, separationDegrees, vectorOf } from './projection.js';

/** @typedef {import('./projection.js').Position} Position */

const RADIANS = Math.PI / 180;
/** The number of points of a circle, and of an edge. */
const POINTS = 72;
const EDGE_POINTS = 16;

/** @param {Position} middle @param {Position} edge */
export function circleText(middle, edge) {
  const radius = Math.max(0.0001, separationDegrees(middle, edge));
  return `CIRCLE ${placeText(middle)} ${Number(radius.toPrecision(4))}`;
}

/** @param {Position[]} corners */
export function polygonText(corners) {
  return `POLYGON ${corners.map(placeText).join(' ')}`;
}

/** @param {Position} position */
const placeText = ({ ra, dec }) => `${ra.toFixed(4)} ${dec.toFixed(4)}`;

/**
 * The outline of a circle or a polygon; empty for any other text, and for other frames than ICRS.
 * @param {string} text in the spelling of DALI, ADQL or STC-S
 * @returns {Position[]}
 */
export function outlineOf(text) {
  const [, name = '', rest = ''] = /^\s*(circle|polygon)\b(.*)$/is.exec(text) ?? [];
  const plain = rest.replace(/\bICRS\b/i, ' ');
  // An exponent has the only other letter of the numbers.
  if (/[a-df-z]/i.test(plain)) return [];
  const numbers = (plain.match(/[-+]?[\d.]+(?:e[-+]?\d+)?/gi) ?? []).map(Number);
  if (numbers.some(Number.isNaN)) return [];
  const [ra = 0, dec = 0, radius = 0] = numbers;
  if (name.toLowerCase() === 'circle') return numbers.length === 3 ? around({ ra, dec }, radius) : [];
  /** @type {Position[]} */
  const corners = [];
  for (let i = 0; i + 1 < numbers.length; i += 2) corners.push({ ra: numbers[i] ?? 0, dec: numbers[i + 1] ?? 0 });
  return corners.flatMap((corner, i) => edge(corner, corners[(i + 1) % corners.length] ?? corner));
}

/**
 * Points on a circle; the last one repeats the first.
 * @param {Position} middle @param {number} radius degrees
 */
function around({ ra, dec }, radius) {
  const [x, y, z] = vectorOf(ra, dec);
  const east = vectorOf(ra + 90, 0);
  const north = vectorOf(ra, dec + 90);
  const [near, far] = [Math.cos(radius * RADIANS), Math.sin(radius * RADIANS)];
  return Array.from({ length: POINTS + 1 }, (_, i) => {
    const [up, aside] = [far * Math.cos((2 * Math.PI * i) / POINTS), far * Math.sin((2 * Math.PI * i) / POINTS)];
    return positionOf([
      near * x + up * north[0] + aside * east[0],
      near * y + up * north[1] + aside * east[1],
      near * z + up * north[2] + aside * east[2],
    ]);
  });
}

/** Points of a great circle from one position to another, both included. @param {Position} from @param {Position} to */
function edge(from, to) {
  const [a, b] = [vectorOf(from.ra, from.dec), vectorOf(to.ra, to.dec)];
  const angle = separationDegrees(from, to) * RADIANS;
  return Array.from({ length: EDGE_POINTS + 1 }, (_, i) => {
    const t = i / EDGE_POINTS;
    const [p, q] = angle < 1e-9 ? [1 - t, t] : [Math.sin((1 - t) * angle), Math.sin(t * angle)];
    return positionOf([p * a[0] + q * b[0], p * a[1] + q * b[1], p * a[2] + q * b[2]]);
  });
}
