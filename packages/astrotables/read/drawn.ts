/**
 * Reads tables that are drawn for people: with a rule below the header, as Markdown, RST, psql, STILTS (`text`) and
 * astropy (`fixed_width_two_line`, `rst`, `pprint`) write them, or with bars around every cell (`fixed_width`).
 */
import type { Column } from '../columns.ts';
import { type InputTable, numberOf, TableError, type TableLimits } from './input_table.ts';
import { afterHeader, type CellsOfLine, LineRows, linesOf, rowsTable, typesOf } from './text_rows.ts';
import { wordsOf } from './words.ts';

/** The text of a missing value in tables of these writers. */
const MISSING = ['', '--', 'null', 'NULL'];
/** The lines after the rows of psql and astropy. */
const FOOTER = /^\((?:\d+ rows?)\)$|^Length = \d+ rows$/;
/** The lines that may precede a box are the title and the parameters that STILTS writes. */
const MAX_LINES = 100;

/** The texts of a line's cells; undefined if the line does not have the form. */
type Cut = (line: string) => readonly string[] | undefined;

interface Head {
  readonly names: readonly string[];
  readonly units: readonly string[] | undefined;
  readonly cut: Cut;
  /** The offset of the rows. */
  readonly end: number;
}

/**
 * @param areTyped whether columns of numbers become numeric; otherwise every cell is the original text
 * @returns undefined if the first lines are not drawn
 * @throws TableError
 */
export function openDrawn(bytes: Uint8Array, limits: TableLimits, areTyped: boolean): InputTable | undefined {
  const head = headOf(bytes);
  if (!head) return undefined;
  const { names, units, cut, end } = head;
  const cells: CellsOfLine = (line, wanted, row) => {
    const texts = cut(line);
    if (!texts)
      throw new TableError(
        `its row ${row}, ${line.trim().slice(0, 40)}, does not fit the ${names.length} columns of its header${afterHeader(line)}`,
      );
    if (texts.every(text => text === '...'))
      throw new TableError(`its row ${row} stands for rows that were left out: write all of them`);
    return wanted.map(place => (MISSING.includes(texts[place]!) ? null : texts[place]!));
  };
  const isOther = (line: string) =>
    isRule(line) || FOOTER.test(line) || (line.startsWith('#') && wordsOf(line).length === 1);
  const lines = new LineRows(bytes.subarray(end), names, isOther, cells, limits);
  const types = areTyped ? typesOf(lines).map(({ type }) => type) : names.map(() => 'text' as const);
  const columns = names.map((name, i): Column => {
    const unit = units?.[i];
    return { name, type: types[i]!, ...(unit && { unit }), description: '' };
  });
  return rowsTable(lines, columns, (text, { type }) => (type === 'int64' ? BigInt(text) : numberOf(text)));
}

/** A rule below the header or around it, or bars around every name; a line of units may precede a rule without bars. */
function headOf(bytes: Uint8Array): Head | undefined {
  const lines = linesOf(bytes, MAX_LINES);
  const at = lines.findIndex(({ text }) => isRule(text));
  const headBefore = (header: number, end: number, rule?: string, units?: string): Head | undefined => {
    const { text } = lines[header]!;
    const cut = cutOf(text, rule);
    const names = cut?.(text);
    if (!names || names.length < 2 || names.every(name => name === '')) return undefined;
    const ofUnits = units === undefined ? undefined : cut!(units);
    return units !== undefined && !ofUnits ? undefined : { names, units: ofUnits, cut: cut!, end: lines[end]!.end };
  };
  const rule = lines[at]?.text;
  if (rule !== undefined && isRule(lines[at + 2]?.text ?? '') && (at === 0 || rule.trim().startsWith('+')))
    return headBefore(at + 1, at + 2, lines[at + 2]!.text);
  if (at === 1) return headBefore(0, 1, rule);
  if (at === 2 && delimiterOf(rule!) === undefined) return headBefore(0, 2, rule, lines[1]!.text);
  return lines.length > 0 && lines.every(({ text }) => /^\s*\|.*\|\s*$| \| /.test(text)) ? headBefore(0, 0) : undefined;
}

/** Dashes or equals signs below each name; Markdown adds colons. One or two dashes may be the mark of a missing value. */
function isRule(line: string): boolean {
  if (!/^[\s|+,;:=-]+$/.test(line)) return false;
  const delimiter = delimiterOf(line);
  const parts = delimiter === undefined ? runsOf(line).map(([run]) => run) : partsOf(line, delimiter);
  const areParts = parts.length > 1 && parts.every(part => /^:?(?:-+|=+):?$/.test(part.trim()));
  return areParts && (delimiter === undefined || delimiter === '|' ? /[-=]{2}|^\s*\||:/ : /[-=]{3}/).test(line);
}

const DELIMITERS = [',', ';', '\t'];

/** The delimiter of a rule; undefined if it has blanks. */
function delimiterOf(rule: string): string | undefined {
  return /[|+]/.test(rule) ? '|' : DELIMITERS.find(delimiter => rule.includes(delimiter));
}

function runsOf(rule: string): RegExpExecArray[] {
  return [...rule.matchAll(/[^\s]+/g)];
}

/** The parts between delimiters, without the bars at both ends. In Markdown, a bar of a cell is written as `\|`. */
function partsOf(line: string, delimiter: string): string[] {
  if (delimiter !== '|') return line.split(delimiter);
  const isOfRule = /^[\s|+:=-]+$/.test(line);
  const inner = line
    .trim()
    .replace(/^[|+]/, '')
    .replace(/(?<!\\)[|+]$/, '');
  return inner.split(isOfRule ? /[|+]/ : /(?<!\\)\|/).map(part => part.replaceAll('\\|', '|'));
}

/** How the lines of a table are cut, by its header and its rule. */
function cutOf(header: string, rule: string | undefined): Cut | undefined {
  const delimiter = rule === undefined ? '|' : delimiterOf(rule);
  if (delimiter === undefined) return cutByRuns(runsOf(rule!).map(({ index, 0: run }) => [index, index + run.length]));
  const { length } = partsOf(rule ?? header, delimiter);
  const bars = [...header.matchAll(/\|/g)].map(({ index }) => index);
  return line => {
    const parts = partsOf(line, delimiter);
    if (parts.length === length) return parts.map(part => part.trim());
    // A cell with a bar in it.
    if (delimiter !== '|' || !bars.every(bar => line[bar] === '|')) return undefined;
    const cuts = [...(bars[0] === header.search(/\S/) ? [] : [-1]), ...bars];
    const cells = cuts.map((bar, i) => line.slice(bar + 1, cuts[i + 1]).trim());
    return cells.length > length && cells.at(-1) === '' ? cells.slice(0, -1) : cells;
  };
}

/** Cells below the runs of a rule. A cell of the last column may be longer. Words may also be cells of any length. */
function cutByRuns(runs: readonly (readonly [start: number, end: number])[]): Cut {
  return line => {
    const isBlank = (from: number, to: number) => line.slice(from, to).trim() === '';
    const isAligned = runs.every(([start], i) => isBlank(runs[i - 1]?.[1] ?? 0, start));
    if (isAligned)
      return runs.map(([start, end], i) => line.slice(start, i + 1 < runs.length ? end : undefined).trim());
    const words = wordsOf(line);
    return words.length === runs.length ? words.map(word => word ?? '') : undefined;
  };
}
