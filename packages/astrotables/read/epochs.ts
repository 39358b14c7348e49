/** Reads the times at which positions were observed, as Julian years. */
import type { Cell, Column } from '../columns.ts';
import { columnNamed, type InputTable, namesIn, numberOf, TableError } from './input_table.ts';

const JD_J2000 = 2_451_545;
const MJD_ZERO = 2_400_000.5;
const UNIX_ZERO_JD = 2_440_587.5;
const DAYS_OF_JULIAN_YEAR = 365.25;
const DAY_MS = 86_400_000;

const yearOfJd = (jd: number) => 2000 + (jd - JD_J2000) / DAYS_OF_JULIAN_YEAR;
const yearOfMs = (ms: number) => yearOfJd(UNIX_ZERO_JD + ms / DAY_MS);

/** The years that an epoch may have. In this range, the three kinds of numbers have no value in common. */
const YEARS = { min: 1800, max: 2200 };
const KINDS = {
  'Julian years': (value: number) => value,
  'Julian dates': yearOfJd,
  'modified Julian dates': (value: number) => yearOfJd(value + MJD_ZERO),
} as const;
type Kind = keyof typeof KINDS;

const isEpoch = (year: number) => year >= YEARS.min && year <= YEARS.max;
const kindOf = (value: number) =>
  (Object.keys(KINDS) as Kind[]).find(
    kind => isEpoch(KINDS[kind](value)) && (kind !== 'modified Julian dates' || value > YEARS.max),
  );

const ISO = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** The Julian year that a text states: `2016.0`, `J2016.0`, `2026-03-01`; NaN for any other text. */
function yearOf(text: string): number {
  if (ISO.test(text))
    return yearOfMs(
      Date.parse(/T|\s/.test(text) && !/Z|[+-]\d\d:?\d\d$/.test(text) ? `${text.replace(' ', 'T')}Z` : text),
    );
  const year = numberOf(text.replace(/^j/i, ''));
  return isEpoch(year) ? year : Number.NaN;
}

/**
 * The epochs of a table's positions, Julian years; NaN for a row without one. The differences between time scales are
 * too small to matter.
 * @param named an epoch for all rows, or the name of a column: of Julian years, of Julian dates, of modified Julian
 * dates, or of times in ISO 8601
 * @throws TableError if the column is missing, or its values, unit and name do not agree
 */
export async function readEpochs(table: InputTable, named: string): Promise<Float64Array> {
  const same = yearOf(named.trim());
  if (!Number.isNaN(same)) return new Float64Array(table.rows).fill(same);
  const [name = named] = namesIn(named);
  if (!Number.isNaN(numberOf(name)))
    throw new TableError(
      `epoch= must be a Julian year from ${YEARS.min} to ${YEARS.max}, a date or a column (got ${named})`,
      'epoch',
    );
  const place = columnNamed(table.columns, name, 'epoch');
  const column = table.columns[place]!;
  const years = new Float64Array(table.rows);
  let kind = statedKind(column);
  let row = 0;
  const yearIn = (cell: Cell): number => {
    if (cell === null || typeof cell === 'boolean') return Number.NaN;
    if (column.type === 'time') return yearOfMs(Number(cell) / 1000);
    const text = typeof cell === 'string' ? cell.trim() : '';
    if (ISO.test(text) || /^j/i.test(text)) return yearOf(text);
    const value = typeof cell === 'string' ? numberOf(text) : Number(cell);
    if (Number.isNaN(value) && (text === '' || /^nan$/i.test(text))) return value;
    const found = kindOf(value);
    kind ??= found;
    if (found !== undefined && found === kind) return KINDS[found](value);
    throw new TableError(
      `row ${row + 1} of its column ${column.name.slice(0, 64)} has the epoch ${`${cell}`.slice(0, 40)}, which is not among ${kind ?? Object.keys(KINDS).join(', ')} from ${YEARS.min} to ${YEARS.max}`,
      'epoch',
    );
  };
  for await (const block of table.blocks([place]))
    for (let i = 0; i < block.rows; i++, row++) years[row] = yearIn(block.cells[0]![i]!);
  return years;
}

/** The kind of numbers that the unit or the name of a column states. */
function statedKind({ name, unit = '' }: Column): Kind | undefined {
  const days = /(?:^|[^a-z])(m)?jd(?:$|[^a-z])/i.exec(name);
  const byName = days ? (days[1] ? 'modified Julian dates' : 'Julian dates') : undefined;
  const isYears = /^(?:a|yr|years?|jyear|julianyear)$/i.test(unit.trim());
  if (byName !== undefined && isYears)
    throw new TableError(
      `the unit of its column ${name.slice(0, 64)} is ${unit.slice(0, 64)}, but its name says ${byName}`,
      'epoch',
    );
  return isYears ? 'Julian years' : byName;
}
