/**
 * A report as one page: it needs no script, and loads nothing. Its size is bounded, whatever the length of the list.
 * Labels and titles of catalogs are hostile: all texts are escaped, and the page's own policy forbids scripts.
 */
import { createHash } from 'node:crypto';
import { escapeXml } from '@nearsky/astrotables';
import { MAX_SHOWN_ROWS } from './limits.ts';
import { binPlot, chancePlot, count, skyPlot } from './plots.ts';
import type { SampleRow } from './rows.ts';
import type { WholeReport } from './whole_report.ts';

/** The maximum number of rows whose points are plotted: every n-th of a longer list. */
const MAX_PLOTTED_ROWS = 2000;
const MAX_CELL_CHARACTERS = 400;

const STYLE = `
:root { color-scheme: light dark; --text: #1b1f24; --back: #fff; --soft: #57606a; --line: #d0d7de; --c0: #0a58ca; --c1: #b02a37; --c2: #146c43; --c3: #8a4b08; --c4: #6f42c1; --c5: #0b7285; --all: #8c959f; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --back: #0d1117; --soft: #a0aab4; --line: #3d444d; --c0: #79b8ff; --c1: #ff8b94; --c2: #7ee2a8; --c3: #f0b072; --c4: #c9a7ff; --c5: #76d9e6; --all: #7d8590; } }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; color: var(--text); background: var(--back); font: 1rem/1.5 system-ui, sans-serif; }
h1, h2 { line-height: 1.25; } .hint { color: var(--soft); } pre { white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; font-size: .875rem; } th, td { border-bottom: 1px solid var(--line); padding: .25rem .6rem; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
thead th { white-space: nowrap; } tbody th { min-width: 7rem; } .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; } .plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1rem; } figure { margin: 0; } figcaption { font-weight: 600; }
svg text { fill: var(--text); font-size: 13px; } .grid { stroke: var(--line); fill: none; } .dots { fill: none; stroke-width: 5; stroke-linecap: round; stroke-opacity: .75; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; margin: 0; padding: 0; font-size: .875rem; } .key { width: .8em; height: .8em; }
${[0, 1, 2, 3, 4, 5].map(i => `.dots.c${i} { stroke: var(--c${i}); } .bar.c${i} { fill: var(--c${i}); }`).join(' ')} .bar.all { fill: var(--all); }
`;

const POLICY = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'; base-uri 'none'; form-action 'none'`;

/** The headers of the page, beside its type. The sandbox keeps it from acting as a page of the service. */
export const PAGE_HEADERS = { 'Content-Security-Policy': `${POLICY}; frame-ancestors 'none'; sandbox` };

export function* htmlOf(report: WholeReport): Generator<string> {
  const { count: rows, catalogs, provenance, journal_entry, radius_arcsec, date, methods, bibtex } = report;
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeXml(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Report on ${count(rows)} transients</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Report on ${count(rows)} transients</h1>
<p class="hint">By nearsky ${escapeXml(provenance.service_version)}, from journal entry ${journal_entry}${date === null ? '' : `, objects up to ${escapeXml(date)}`}. Sources within ${radius_arcsec}″ count${catalogs.some(({ radius }) => radius) ? ', of some catalogs within a radius of their own' : ''}.</p>
`;
  yield* summaryOf(report);
  yield `<h2>Methods</h2>\n<p>${escapeXml(methods)}</p>\n<h2>BibTeX</h2>\n<pre>${escapeXml(bibtex)}</pre>\n`;
  yield* plotsOf(report);
  yield* rowsOf(report);
  yield '</main>\n</body>\n</html>\n';
}

function* summaryOf({ summary, catalogs }: WholeReport): Generator<string> {
  const { inputs, statuses, contaminated, with_bright_star, with_same_place, duplicates } = summary;
  const { fraction, interval, searched, with_star_or_quasar } = contaminated;
  const words = Object.entries(statuses).map(([status, number]) => `${count(number)} ${escapeXml(worded(status))}`);
  yield `<h2>Summary</h2>\n<ul>\n<li>${count(inputs)} inputs: ${words.join(', ')}.</li>\n`;
  if (fraction !== null)
    yield `<li><strong>${count(with_star_or_quasar)} of ${count(searched)} (${percent(fraction)})</strong> lie on a star or a quasar of some catalog; the 95% interval is ${interval!.map(percent).join(' to ')}.</li>\n`;
  yield `<li>${count(with_bright_star)} near a bright star, ${count(with_same_place)} with further objects at the same place, ${count(duplicates.rows)} rows of the same object as another row.</li>\n</ul>\n`;
  yield* table(
    'Summary by catalog',
    [
      'Catalog',
      ...numbers(
        'Searched',
        'Outside',
        'Not read',
        'With a source',
        'By chance',
        '95%',
        'Star',
        'Galaxy',
        'Quasar',
        'Unclear',
      ),
    ],
    catalogs.map(({ name, release }) => {
      const { verdicts, ...of } = summary.catalogs[name]!;
      const counts = [of.searched, of.outside_footprint, of.skipped_read_failure, of.coincident].map(count);
      const { star, galaxy, quasar, unclear } = verdicts;
      const chance = [`${Number(of.expected_by_chance.toPrecision(3))}`, of.expected_interval.join(' to ')];
      const within = of.radius_arcsec === undefined ? '' : `, within ${of.radius_column ?? `${of.radius_arcsec}″`}`;
      return [`${release}${within}`, ...counts, ...chance, ...[star, galaxy, quasar, unclear].map(count)];
    }),
  );
  yield '<p class="hint">By chance: how many of the searched positions have an unrelated source as close as that. A verdict is what a catalog says of its source: it classifies no transient, and names no host.</p>\n';
}

function* plotsOf(report: WholeReport): Generator<string> {
  const { count: rows, catalogs, radius_arcsec, summary } = report;
  const step = Math.ceil(rows / MAX_PLOTTED_ROWS) || 1;
  const places: [number, number][] = [];
  const series = catalogs.map(({ release }) => ({ label: release, points: [] as [number, number][] }));
  for (let index = 0; index < rows; index += step) {
    const { ra, dec, catalogs: cells } = report.row(index);
    if (ra !== null && dec !== null) places.push([ra, dec]);
    catalogs.forEach(({ name }, i) => {
      const { separation_arcsec: separation, chance_probability: chance } = cells[name]!;
      if (separation !== null && chance !== null) series[i]!.points.push([separation, chance]);
    });
  }
  const bins = summary.galactic_latitude.map(({ from, to, rows: all, catalogs: of }) => ({
    label: `${from} to ${to}`,
    rows: all,
    coincident: catalogs.map(({ name }) => of[name]!.coincident),
  }));
  const part = step === 1 ? '' : ` One row in ${count(step)} is plotted.`;
  yield `<h2>Plots</h2>\n<div class="plots">\n`;
  const largest = Math.max(radius_arcsec, ...catalogs.map(({ radius }) => radius?.arcsec ?? 0));
  yield figure(`Separation against the probability of a chance coincidence.${part}`, chancePlot(series, largest));
  yield figure(`Positions on the sky.${part}`, skyPlot(places));
  const labels = catalogs.map(({ release }) => `with a source of ${release}`);
  yield figure('Rows by galactic latitude.', binPlot(bins, labels));
  yield '</div>\n';
}

const figure = (caption: string, plot: string) => `<figure>\n<figcaption>${caption}</figcaption>\n${plot}</figure>\n`;

function* rowsOf(report: WholeReport): Generator<string> {
  const { count: rows, catalogs } = report;
  const shown = Math.min(rows, MAX_SHOWN_ROWS);
  yield '<h2>Rows</h2>\n';
  if (shown < rows)
    yield `<p><strong>The first ${count(shown)} of ${count(rows)} rows.</strong> The other formats, such as CSV and JSON, have all of them.</p>\n`;
  const heads = [
    'Label',
    ...numbers('diaObjectId', 'RA', 'Dec'),
    'Status',
    ...catalogs.map(({ release }) => release),
    'Flags',
  ];
  yield* table('Rows', heads, cellsOf());

  function* cellsOf() {
    for (let index = 0; index < shown; index++) {
      const row = report.row(index);
      yield [
        row.label ?? '',
        row.diaObjectId_str ?? '',
        row.ra?.toFixed(6) ?? '',
        row.dec?.toFixed(6) ?? '',
        worded(row.status),
        ...catalogs.map(({ name }) => cellText(row.catalogs[name]!)),
        row.flags.join('; '),
      ];
    }
  }
}

function cellText({
  outcome,
  verdict,
  separation_arcsec,
  chance_probability: chance,
}: SampleRow['catalogs'][string]): string {
  if (separation_arcsec === null) return worded(outcome);
  return `${verdict}, ${separation_arcsec.toFixed(3)}″${chance === null ? '' : `, by chance ${chance.toPrecision(2)}`}`;
}

interface NumberHead {
  readonly number: string;
}

const numbers = (...names: readonly string[]): NumberHead[] => names.map(number => ({ number }));

/** @param rows cells of text. The first one is the head of its row */
function* table(
  label: string,
  heads: readonly (string | NumberHead)[],
  rows: Iterable<readonly string[]>,
): Generator<string> {
  const classes = heads.map(head => (typeof head === 'string' ? '' : ' class="number"'));
  const names = heads.map(
    (head, i) => `<th scope="col"${classes[i]}>${escapeXml(typeof head === 'string' ? head : head.number)}</th>`,
  );
  yield `<div class="scroll" tabindex="0" role="group" aria-label="${label}">\n<table>\n<thead><tr>${names.join('')}</tr></thead>\n<tbody>\n`;
  for (const row of rows) {
    const cells = row.map((text, i) => {
      const shown = escapeXml(text.length > MAX_CELL_CHARACTERS ? `${text.slice(0, MAX_CELL_CHARACTERS)} …` : text);
      return i === 0 ? `<th scope="row">${shown}</th>` : `<td${classes[i]}>${shown}</td>`;
    });
    yield `<tr>${cells.join('')}</tr>\n`;
  }
  yield '</tbody>\n</table>\n</div>\n';
}

const worded = (name: string) => name.replaceAll('_', ' ');
const percent = (value: number) => `${(100 * value).toFixed(1)}%`;
