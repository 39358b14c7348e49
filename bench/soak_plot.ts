/** A plot of a soak: panels above each other over one axis of time, as SVG. */

export interface Line {
  readonly label: string;
  /** Time in minutes, value; NaN leaves a gap. */
  readonly points: readonly (readonly [minute: number, value: number])[];
}

export interface Panel {
  readonly title: string;
  readonly lines: readonly Line[];
}

const WIDTH = 960;
const PANEL_HEIGHT = 150;
const MARGIN = { left: 70, right: 160, top: 26, bottom: 18 };
const COLOURS = ['#0b5fa5', '#c1440e', '#2e7d32', '#7b1fa2', '#555555', '#b8860b', '#00838f'];

/**
 * @param marks the minutes at which something was done to the service, each drawn as a grey line through all panels
 */
export function plot(title: string, panels: readonly Panel[], marks: readonly number[]): string {
  const end = Math.max(1e-9, ...panels.flatMap(({ lines }) => lines.flatMap(({ points }) => points.map(([x]) => x))));
  const x = (minute: number) => MARGIN.left + (minute / end) * (WIDTH - MARGIN.left - MARGIN.right);
  const height = 40 + panels.length * (PANEL_HEIGHT + MARGIN.top + MARGIN.bottom);
  const body = panels.map((panel, i) =>
    panelOf(panel, 40 + i * (PANEL_HEIGHT + MARGIN.top + MARGIN.bottom), x, end, marks),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${height}" fill="white"/>`,
    text(MARGIN.left, 22, title, 'font-size="15"'),
    ...body,
    '</svg>\n',
  ].join('\n');
}

function panelOf(
  { title, lines }: Panel,
  offset: number,
  x: (minute: number) => number,
  end: number,
  marks: readonly number[],
): string {
  const top = offset + MARGIN.top;
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value)).filter(Number.isFinite);
  const max = roundUp(Math.max(1e-9, ...values));
  const y = (value: number) => top + PANEL_HEIGHT * (1 - value / max);
  const right = x(end);
  const parts = [text(MARGIN.left, top - 8, title, 'font-weight="bold"')];
  for (const share of [0, 0.5, 1]) {
    const at = y(share * max).toFixed(1);
    parts.push(`<path d="M${MARGIN.left} ${at}H${right}" stroke="#ddd"/>`);
    parts.push(text(MARGIN.left - 6, Number(at) + 4, `${+(share * max).toPrecision(3)}`, 'text-anchor="end"'));
  }
  for (const mark of marks)
    parts.push(`<path d="M${x(mark).toFixed(1)} ${top}v${PANEL_HEIGHT}" stroke="#bbb" stroke-dasharray="3 3"/>`);
  for (let tick = 0; tick <= 6; tick++) {
    const minute = (end * tick) / 6;
    parts.push(
      text(
        x(minute),
        top + PANEL_HEIGHT + 14,
        `${+minute.toPrecision(3)}${tick === 6 ? ' min' : ''}`,
        'text-anchor="middle"',
      ),
    );
  }
  lines.forEach(({ label, points }, i) => {
    const colour = COLOURS[i % COLOURS.length]!;
    parts.push(`<path d="${pathOf(points, x, y)}" fill="none" stroke="${colour}" stroke-width="1.4"/>`);
    parts.push(text(right + 10, top + 12 + 15 * i, label, `fill="${colour}"`));
  });
  return parts.join('\n');
}

function pathOf(points: Line['points'], x: (minute: number) => number, y: (value: number) => number): string {
  let isOpen = false;
  return points
    .map(([minute, value]) => {
      if (!Number.isFinite(value)) {
        isOpen = false;
        return '';
      }
      const command = isOpen ? 'L' : 'M';
      isOpen = true;
      return `${command}${x(minute).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
}

/** The next of 1, 2, 5, 10, 20, … */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find(step => step * power >= value) ?? 10);
}

function text(x: number, y: number, content: string, attributes = ''): string {
  const escaped = content.replace(/[&<]/g, c => (c === '&' ? '&amp;' : '&lt;'));
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${attributes}>${escaped}</text>`;
}
