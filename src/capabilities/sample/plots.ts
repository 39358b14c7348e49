/** The plots of a report as SVG: text, for a page without scripts. */
import { escapeXml } from '@nearsky/astrotables';

/** Points of one catalog; `label` is text. */
export interface Series {
  readonly label: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** The number of colours in the style of the page. */
const COLOURS = 6;
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [560, 320, 64, 550, 10, 270];

/** A point for each separation and probability, with a logarithmic axis. */
export function chancePlot(series: readonly Series[], radiusArcsec: number): string {
  const chances = series.flatMap(({ points }) => points.map(([, chance]) => chance));
  const decades = chances.filter(chance => chance > 0).map(chance => Math.floor(Math.log10(chance)));
  const lowest = Math.max(-12, Math.min(-1, ...decades));
  const x = (separation: number) => LEFT + (Math.min(separation / radiusArcsec, 1) || 0) * (RIGHT - LEFT);
  const y = (chance: number) => TOP + Math.min(1, Math.log10(Math.max(chance, 10 ** lowest)) / lowest) * (BOTTOM - TOP);
  const step = Math.ceil(-lowest / 6);
  const across = [0, 0.25, 0.5, 0.75, 1].map(part => {
    const place = fixed(x(part * radiusArcsec));
    return `<path class="grid" d="M${place} ${TOP}V${BOTTOM}"/><text x="${place}" y="${BOTTOM + 18}" text-anchor="middle">${part * radiusArcsec}</text>`;
  });
  const up = Array.from({ length: Math.floor(-lowest / step) + 1 }, (_, i) => {
    const place = fixed(y(10 ** (-i * step)));
    return `<path class="grid" d="M${LEFT} ${place}H${RIGHT}"/><text x="${LEFT - 6}" y="${Number(place) + 4}" text-anchor="end">${i === 0 ? '1' : `1e${-i * step}`}</text>`;
  });
  const dots = series.map(({ points }, i) =>
    dotsOf(
      points.map(([separation, chance]) => [x(separation), y(chance)]),
      i,
    ),
  );
  const titles = axisTitles('separation (arcsec)', 'chance probability');
  const label = `${count(chances.length)} sources: separation from 0 to ${radiusArcsec} arcsec against chance probability from 1 down to 1e${lowest}, logarithmic`;
  return `${svg(label, HEIGHT, [...across, ...up, ...dots, titles].join(''))}${legend(series.map(({ label: each }) => each))}`;
}

/** The positions in Hammer's projection of the equatorial sky, with right ascension increasing to the left. */
export function skyPlot(places: readonly (readonly [ra: number, dec: number])[]): string {
  const [middle, height, scale] = [WIDTH / 2, 290, 95];
  const project = ([ra, dec]: readonly [number, number]): [number, number] => {
    const [l, b] = [((180 - ra) * Math.PI) / 180, (dec * Math.PI) / 180];
    const z = Math.sqrt(1 + Math.cos(b) * Math.cos(l / 2));
    return [
      middle + (scale * 2 * Math.SQRT2 * Math.cos(b) * Math.sin(l / 2)) / z,
      height / 2 - (scale * Math.SQRT2 * Math.sin(b)) / z,
    ];
  };
  const line = (from: number, to: number, at: (degrees: number) => readonly [number, number]) =>
    `<path class="grid" d="M${Array.from({ length: 37 }, (_, i) =>
      project(at(from + ((to - from) * i) / 36))
        .map(fixed)
        .join(' '),
    ).join('L')}"/>`;
  const meridians = [0, 60, 120, 180, 240, 300, 360].map(ra => line(-90, 90, dec => [ra, dec]));
  const parallels = [-60, -30, 0, 30, 60].map(dec => line(0, 360, ra => [ra, dec]));
  const hours = [
    ['24h', 360, 'start'],
    ['12h', 180, 'middle'],
    ['0h', 0, 'end'],
  ] as const;
  const words = hours.map(([text, ra, anchor]) => {
    const [x, y] = project([ra, 0]);
    return `<text x="${fixed(x)}" y="${fixed(y - 4)}" text-anchor="${anchor}">${text}</text>`;
  });
  const label = `${count(places.length)} positions on the sky, in right ascension and declination`;
  return svg(label, height, [...meridians, ...parallels, dotsOf(places.map(project), 0), ...words].join(''));
}

/** Bars by bin: all rows, and those with a source of each catalog. */
export function binPlot(
  bins: readonly { readonly label: string; readonly rows: number; readonly coincident: readonly number[] }[],
  labels: readonly string[],
): string {
  const most = Math.max(1, ...bins.map(({ rows }) => rows));
  const wide = (RIGHT - LEFT) / bins.length;
  const y = (rows: number) => BOTTOM - (rows / most) * (BOTTOM - TOP - 10);
  const groups = bins.map(({ label, rows, coincident }, bin) => {
    const bar = (0.8 * wide) / (coincident.length + 1);
    const bars = [rows, ...coincident].map((value, i) => {
      const x = LEFT + bin * wide + 0.1 * wide + i * bar;
      const colour = i === 0 ? 'all' : `c${(i - 1) % COLOURS}`;
      return `<rect class="bar ${colour}" x="${fixed(x)}" y="${fixed(y(value))}" width="${fixed(0.9 * bar)}" height="${fixed(BOTTOM - y(value))}"/>`;
    });
    return `${bars.join('')}<text x="${fixed(LEFT + (bin + 0.5) * wide)}" y="${BOTTOM + 18}" text-anchor="middle">${label}</text>`;
  });
  const up = [0, most / 2, most].map(
    rows =>
      `<path class="grid" d="M${LEFT} ${fixed(y(rows))}H${RIGHT}"/><text x="${LEFT - 6}" y="${fixed(y(rows) + 4)}" text-anchor="end">${Number(rows.toPrecision(3))}</text>`,
  );
  const label = `Rows by absolute galactic latitude: ${bins.map(bin => `${bin.label}: ${count(bin.rows)}`).join(', ')}`;
  const titles = axisTitles('absolute galactic latitude (deg)', 'rows');
  return `${svg(label, HEIGHT, [...up, ...groups, titles].join(''))}${legend(labels, 'all rows')}`;
}

function svg(label: string, height: number, content: string): string {
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escapeXml(label)}">${content}</svg>\n`;
}

function dotsOf(points: readonly (readonly [number, number])[], colour: number): string {
  return `<path class="dots c${colour % COLOURS}" d="${points.map(([x, y]) => `M${fixed(x)} ${fixed(y)}h0`).join('')}"/>`;
}

function axisTitles(x: string, y: string): string {
  const middle = (TOP + BOTTOM) / 2;
  return `<text x="${(LEFT + RIGHT) / 2}" y="${HEIGHT - 10}" text-anchor="middle">${x}</text><text transform="rotate(-90 14 ${middle})" x="14" y="${middle}" text-anchor="middle">${y}</text>`;
}

function legend(labels: readonly string[], first?: string): string {
  const items = [
    ...(first === undefined ? [] : [['all', first]]),
    ...labels.map((label, i) => [`c${i % COLOURS}`, label]),
  ];
  const shown = items.map(
    ([colour, label]) =>
      `<li><svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class="bar ${colour}" width="10" height="10"/></svg> ${escapeXml(label!)}</li>`,
  );
  return `<ul class="legend">${shown.join('')}</ul>\n`;
}

export const count = (rows: number) => rows.toLocaleString('en');
const fixed = (value: number) => value.toFixed(1);
