/**
 * Prints images/calibration.svg: the first table of calibration in statistics.md, as a plot.
 *
 *   node docs/calibration_plot.ts >docs/images/calibration.svg
 */
import { readFileSync } from 'node:fs';

const [WIDTH, HEIGHT] = [760, 400];
const [LEFT, TOP, RIGHT, BOTTOM] = [64, 16, 470, 344];
/** The largest departure that is drawn. */
const MAX_PERCENT = 20;
const FIRST_X = 0.008;
/** Okabe and Ito: to be told apart by every eye. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];
const OBJECTS = 50_000;

interface Calibration {
  readonly x: readonly number[];
  readonly fields: readonly { readonly name: string; readonly fractions: readonly number[] }[];
}

function readTable(): Calibration {
  const page = readFileSync(new URL('statistics.md', import.meta.url), 'utf8');
  const [head, , ...rows] = page.slice(page.indexOf('| x |')).split('\n\n')[0]!.trim().split('\n');
  const cells = (row: string) =>
    row
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim());
  return {
    x: cells(head!).slice(1).map(Number),
    fields: rows.map(row => {
      const [name = '', ...fractions] = cells(row);
      return { name, fractions: fractions.map(Number) };
    }),
  };
}

const xOf = (x: number) => LEFT + ((RIGHT - LEFT) * Math.log(x / FIRST_X)) / Math.log(1 / FIRST_X);
const yOf = (percent: number) => TOP + ((BOTTOM - TOP) * (MAX_PERCENT - percent)) / (2 * MAX_PERCENT);
const point = (x: number, percent: number) => `${xOf(x).toFixed(1)} ${yOf(percent).toFixed(1)}`;
const text = (x: number, y: number, value: string, more = '') => `<text x="${x}" y="${y}"${more}>${value}</text>`;

/** The departure that the test allows, percent: 5, and three times the Poisson error. */
const allowed = (x: number) => 5 + 300 * Math.sqrt((1 - x) / (x * OBJECTS));

/** All of the file. */
export function calibrationPlot(): string {
  const { x, fields } = readTable();
  const band = Array.from({ length: 60 }, (_, i) => FIRST_X ** (1 - i / 59));
  const edges = [
    ...band.map(at => point(at, Math.min(MAX_PERCENT, allowed(at)))),
    ...band.toReversed().map(at => point(at, Math.max(-MAX_PERCENT, -allowed(at)))),
  ];
  const percents = [-20, -10, 0, 10, 20];
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="13">`,
    '<title>The fraction of displaced objects with p ≤ x, beside x</title>',
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<path d="M${edges.join('L')}Z" fill="#e6e6e6"/>`,
    ...percents.map(percent => `<path d="M${LEFT} ${yOf(percent)}H${RIGHT}" stroke="${percent ? '#ccc' : '#333'}"/>`),
    ...percents.map(percent =>
      text(LEFT - 8, yOf(percent) + 4, `${percent > 0 ? '+' : ''}${percent}%`.replace('-', '−'), ' text-anchor="end"'),
    ),
    ...[0.01, 0.03, 0.1, 0.3, 1].map(at =>
      text(Number(xOf(at).toFixed(1)), BOTTOM + 20, `${at}`, ' text-anchor="middle"'),
    ),
    text((LEFT + RIGHT) / 2, BOTTOM + 42, 'x', ' text-anchor="middle" font-style="italic"'),
    ...fields.flatMap(({ name, fractions }, i) => {
      const colour = COLOURS[i % COLOURS.length]!;
      const points = fractions.map((fraction, at) => point(x[at]!, 100 * (fraction / x[at]! - 1)));
      const y = TOP + 24 + 24 * i;
      return [
        `<path d="M${points.join('L')}" fill="none" stroke="${colour}" stroke-width="1.6"/>`,
        ...points.map(at => `<circle cx="${at.replace(' ', '" cy="')}" r="2.5" fill="${colour}"/>`),
        `<path d="M${RIGHT + 14} ${y - 4}h18" stroke="${colour}" stroke-width="1.6"/>`,
        text(RIGHT + 38, y, name.replace(/,.*/, '')),
      ];
    }),
    `<rect x="${RIGHT + 14}" y="${TOP + 24 * fields.length + 14}" width="18" height="10" fill="#e6e6e6"/>`,
    text(RIGHT + 38, TOP + 24 * fields.length + 24, 'allowed for 50,000 objects'),
    '</svg>',
  ].join('\n')}\n`;
}

if (import.meta.main) process.stdout.write(calibrationPlot());
