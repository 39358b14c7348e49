/** The rows of a report as a `deluxetable*` of AASTeX 6 and 7. Labels are hostile: every text is escaped. */

import type { SampleCell } from './rows.ts';
import type { WholeReport } from './whole_report.ts';

/** Longer tables may break across pages. */
const ROWS_OF_A_PAGE = 40;
const COLUMNS_OF_A_CATALOG = 3;

const SPECIAL: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '{': '\\{',
  '}': '\\}',
  $: '\\$',
  '&': '\\&',
  '#': '\\#',
  _: '\\_',
  '%': '\\%',
  '^': '\\textasciicircum{}',
  '~': '\\textasciitilde{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  '`': '\\textasciigrave{}',
  // These would be ligatures, or an argument or star of the \\ that ends the row before.
  '"': "''",
  '-': '-{}',
  '[': '{[}',
  ']': '{]}',
  '*': '{*}',
  '°': '$^\\circ$',
  '±': '$\\pm$',
  '×': '$\\times$',
  '−': '$-$',
  µ: '$\\mu$',
  '′': '$^\\prime$',
  '″': '$^{\\prime\\prime}$',
  '’': "'",
  '–': '--',
  '—': '---',
  ß: '\\ss{}',
  æ: '\\ae{}',
  Æ: '\\AE{}',
  ø: '\\o{}',
  Ø: '\\O{}',
  ł: '\\l{}',
  Ł: '\\L{}',
};
/** By combining character. */
const ACCENTS: Readonly<Record<string, string>> = {
  '\u0300': '`',
  '\u0301': "'",
  '\u0302': '^',
  '\u0303': '~',
  '\u0304': '=',
  '\u0306': 'u',
  '\u0307': '.',
  '\u0308': '"',
  '\u030a': 'r',
  '\u030b': 'H',
  '\u030c': 'v',
  '\u0323': 'd',
  '\u0327': 'c',
  '\u0328': 'k',
};
const GREEK =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi o pi rho varsigma sigma tau upsilon phi chi psi omega'.split(
    ' ',
  );

/** LaTeX that prints the text, in ASCII and on one line. Characters outside of Western alphabets become `[U+4E2D]`. */
export function latexText(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\s+/g, ' ')
    .replace(
      /([A-Za-z])([\u0300-\u0328])|-(?=-)|[^ !'()+,./0-9:;=?@A-Za-z-]/gu,
      (found, letter?: string, accent?: string) => {
        if (letter !== undefined) return ACCENTS[accent!] ? `\\${ACCENTS[accent!]}{${letter}}` : letter;
        const code = found.codePointAt(0)!;
        const greek = GREEK[code - 0x3b1];
        if (greek !== undefined) return `$\\${greek === 'o' ? 'mathrm{o}' : greek}$`;
        return SPECIAL[found] ?? `{[}U+${code.toString(16).toUpperCase().padStart(4, '0')}{]}`;
      },
    );
}

export function* latexOf(report: WholeReport): Generator<string> {
  const { catalogs, count, provenance, journal_entry, radius_arcsec, date, methods, bibtex } = report;
  yield comment(
    `A report on ${count} transients by nearsky ${provenance.service_version}, for \\documentclass{aastex631} or {aastex701}.`,
  );
  yield comment(`${methods}\n\n${bibtex}`);
  if (count > ROWS_OF_A_PAGE) yield '\\startlongtable\n';
  yield `\\begin{deluxetable*}{llrr${'lrr'.repeat(catalogs.length)}}\n\\tabletypesize{\\scriptsize}\n`;
  yield '\\tablecaption{Catalog sources at the positions of the transients\\label{tab:nearsky-sample}}\n';
  const blank = Array.from({ length: 4 }, () => '\\colhead{}');
  const heads = [
    [...blank, ...catalogs.map(({ release }) => `\\multicolumn{${COLUMNS_OF_A_CATALOG}}{c}{${latexText(release)}}`)],
    [
      ...['Name', 'diaObjectId', 'R.A.', 'Decl.'].map(colhead),
      ...catalogs.flatMap(() => ['Source', 'Sep.', '$P$'].map(colhead)),
    ],
    [...['', '', '(deg)', '(deg)'].map(colhead), ...catalogs.flatMap(() => ['', '(arcsec)', ''].map(colhead))],
  ];
  yield `\\tablehead{\n${heads.map(line => line.join(' & ')).join(' \\\\\n')}\n}\n\\startdata\n`;
  for (let index = 0; index < count; index++) {
    const { label, diaObjectId_str, ra, dec, catalogs: cells } = report.row(index);
    const all = [
      label === null ? NO_DATA : latexText(label),
      diaObjectId_str ?? NO_DATA,
      decimal(ra, 7),
      decimal(dec, 7),
      ...catalogs.flatMap(({ name }) => cellsOf(cells[name]!)),
    ];
    // A table must not end with an empty row.
    yield `${index === 0 ? '' : ' \\\\\n'}${all.join(' & ')}`;
  }
  const releases = catalogs.map(({ release }) => latexText(release)).join(', ');
  const state = `journal entry ${journal_entry}${date === null ? '' : `, objects up to ${latexText(date)}`}`;
  yield `\n\\enddata\n\\tablecomments{Nearest sources of ${releases || 'no catalog'} within ${radius_arcsec} arcsec, found with nearsky ${latexText(provenance.service_version)} (${state}). `;
  yield "Source is what the catalog says of it, which classifies no transient; ``none'' means that the catalog was searched. $P$ is the probability that an unrelated source lies as close.}\n";
  yield '\\end{deluxetable*}\n';
}

const NO_DATA = '\\nodata';
const colhead = (text: string) => `\\colhead{${text}}`;

const OUTCOMES = {
  coincident_source: 'source',
  no_coincident_source: 'none',
  outside_footprint: 'outside',
  skipped_read_failure: 'not read',
  no_position: NO_DATA,
  not_registered: 'not registered',
} as const;

function cellsOf({ outcome, verdict, separation_arcsec, chance_probability: chance }: SampleCell): string[] {
  return [verdict ?? OUTCOMES[outcome], decimal(separation_arcsec, 3), power(chance)];
}

function decimal(value: number | null, digits: number): string {
  return value === null ? NO_DATA : value.toFixed(digits).replace('-', '$-$');
}

function power(value: number | null): string {
  if (value === null) return NO_DATA;
  if (value === 0 || value >= 0.01) return `${Number(value.toPrecision(2))}`;
  const [digits, exponent] = value.toExponential(1).split('e');
  return `$${digits}\\times10^{${Number(exponent)}}$`;
}

function comment(text: string): string {
  return `${text
    .split(/[\r\n\v\f\u0085\u2028\u2029]/)
    .map(line => `% ${line}`.trimEnd())
    .join('\n')}\n`;
}
