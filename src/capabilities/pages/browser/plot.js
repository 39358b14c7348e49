/** Plots of numbers: a scatter plot, or a histogram. */
import { counted, fixed } from './format.js';
import { html, svg } from './page.js';

/**
 * @typedef {{ title: string, values: number[], isReversed?: boolean }} Axis `title` includes the unit
 * @typedef {{ low: number, high: number, at: (value: number) => number }} Scale `at` returns the coordinate in the
 * drawing
 */

const WIDTH = 480;
const HEIGHT = 340;
const LEFT = 62;
const BOTTOM = HEIGHT - 44;
const RIGHT = WIDTH - 10;
const TOP = 10;
const TICKS = 6;
const MAX_INTERVALS = 40;

/**
 * Draws a point for each pair of values that are both finite.
 * @param {Axis} x
 * @param {Axis} y
 * @param {number} [marked] the index of a pair that gets a ring
 */
export function scatterPlot(x, y, marked) {
  const pairs = x.values.flatMap((value, i) => (Number.isFinite(value + (y.values[i] ?? Number.NaN)) ? [i] : []));
  const [across, up] = [scaleOf(x, pairs, LEFT, RIGHT), scaleOf(y, pairs, BOTTOM, TOP)];
  const points = pairs.map(i => `M${at(across, x.values[i])} ${at(up, y.values[i])}h0`).join('');
  const label = `${counted(pairs.length, 'point')}: ${y.title} against ${x.title}, ${rangeText(across)} by ${rangeText(up)}`;
  const ring =
    marked !== undefined &&
    pairs.includes(marked) &&
    svg`<circle class="marked" cx=${at(across, x.values[marked])} cy=${at(up, y.values[marked])} r="7" />`;
  return drawing(label, x, across, y, up, svg`<path class="points" d=${points} />${ring}`);
}

/**
 * A histogram with equal intervals from 0.
 * @param {string} title
 * @param {number[]} values from 0 to `most`
 * @param {number} most
 */
export function histogram(title, values, most) {
  const intervals = Math.max(8, Math.min(MAX_INTERVALS, Math.round(2 * Math.sqrt(values.length))));
  const counts = Array.from({ length: intervals }, () => 0);
  for (const value of values) {
    const interval = Math.min(intervals - 1, Math.floor((value / most) * intervals));
    counts[interval] = (counts[interval] ?? 0) + 1;
  }
  const across = linear(0, most, LEFT, RIGHT);
  const up = linear(0, Math.max(1, ...counts) * 1.05, BOTTOM, TOP);
  const bars = counts.map((count, i) => {
    const [from, to] = [across.at((i / intervals) * most), across.at(((i + 1) / intervals) * most)];
    return count > 0 && `M${fixedPoint(from)} ${BOTTOM}V${at(up, count)}H${fixedPoint(to)}V${BOTTOM}Z`;
  });
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const label = `Histogram of ${counted(values.length, 'value')}: ${title}, median ${median.toPrecision(3)}`;
  const marks = svg`<path class="bars" d=${bars.filter(Boolean).join('')} />`;
  return drawing(label, { title, values }, across, { title: 'number', values: counts }, up, marks);
}

/** @param {string} label @param {Axis} x @param {Scale} across @param {Axis} y @param {Scale} up @param {import('./page.js').Child} marks */
function drawing(label, x, across, y, up, marks) {
  const middle = (TOP + BOTTOM) / 2;
  const column = (/** @type {number} */ tick) => {
    const place = at(across, tick);
    return svg`<path class="grid" d="M${place} ${TOP}V${BOTTOM}" />
    <text x=${place} y=${BOTTOM + 16} text-anchor="middle">${tickText(tick)}</text>`;
  };
  const line = (/** @type {number} */ tick) => {
    const place = at(up, tick);
    return svg`<path class="grid" d="M${LEFT} ${place}H${RIGHT}" />
    <text x=${LEFT - 6} y=${Number(place) + 4} text-anchor="end">${tickText(tick)}</text>`;
  };
  return html`<svg class="plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label=${label}>
    ${ticksOf(across).map(column)}
    ${ticksOf(up).map(line)}
    <rect class="frame" x=${LEFT} y=${TOP} width=${RIGHT - LEFT} height=${BOTTOM - TOP} />
    ${marks}
    <text x=${(LEFT + RIGHT) / 2} y=${HEIGHT - 8} text-anchor="middle">${x.title}</text>
    <text x="14" y=${middle} text-anchor="middle" transform="rotate(-90 14 ${middle})">${y.title}</text>
  </svg>`;
}

/**
 * A scale for some of an axis's values, with a margin.
 * @param {Axis} axis @param {number[]} members @param {number} from @param {number} to
 */
function scaleOf({ values, isReversed }, members, from, to) {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const i of members) {
    const value = values[i] ?? 0;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (members.length === 0) [low, high] = [0, 1];
  const margin = (high - low) * 0.04 || Math.abs(low) * 0.05 || 1;
  return isReversed ? linear(low - margin, high + margin, to, from) : linear(low - margin, high + margin, from, to);
}

/** @param {number} low @param {number} high @param {number} from @param {number} to @returns {Scale} */
function linear(low, high, from, to) {
  return { low, high, at: value => from + ((value - low) / (high - low)) * (to - from) };
}

/** Round values within a scale. @param {Scale} scale */
function ticksOf({ low, high }) {
  const least = (high - low) / TICKS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find(each => each * power >= least) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: TICKS + 1 }, (_, i) => (first + i) * step).filter(tick => tick <= high);
}

/** @param {number} tick */
function tickText(tick) {
  const rounded = Number(tick.toPrecision(6));
  const size = Math.abs(rounded);
  if (size >= 1e6 || (size > 0 && size < 1e-4)) return rounded.toExponential(2).replace('-', '−');
  return fixed(rounded, `${rounded}`.split('.')[1]?.length ?? 0);
}

/** @param {Scale} scale */
const rangeText = ({ low, high }) =>
  `${tickText(Number(low.toPrecision(4)))} to ${tickText(Number(high.toPrecision(4)))}`;

/** @param {Scale} scale @param {number | undefined} value */
const at = (scale, value) => fixedPoint(scale.at(value ?? 0));

/** @param {number} place */
const fixedPoint = place => place.toFixed(1);
