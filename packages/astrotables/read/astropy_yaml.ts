/**
 * Reads the YAML in which astropy describes the columns of a table: in the header of ECSV (its proposal APE 6), in the
 * comments of a FITS header, and in the metadata of Parquet.
 */
import { parseDocument, visit } from 'yaml';
import { framesOfKeywords } from './frame_keywords.ts';
import { type DeclaredFrame, TableError } from './input_table.ts';

/** A column, with the values as written in the file. */
export interface AstropyColumn {
  readonly datatype?: string;
  readonly subtype?: string;
  readonly unit?: string;
  readonly ucd?: string;
  readonly description?: string;
}

export interface AstropyHead {
  readonly delimiter?: string;
  /** The columns by name; `frames` is by name, too. */
  readonly columns: ReadonlyMap<string, AstropyColumn>;
  readonly frames: ReadonlyMap<string, DeclaredFrame>;
  /** The frames that keywords in the metadata of the table declare. */
  readonly declared: readonly DeclaredFrame[];
  /** For masked columns, the name of the boolean column that is true where a value is missing. */
  readonly masks: ReadonlyMap<string, string>;
}

const MAX_CHARACTERS = 1 << 20;
/** The library searches the document for each alias. astropy writes an alias for a unit that several columns share. */
const MAX_ALIASES = 4000;

/** @throws TableError if the text is not YAML, or exceeds a limit */
export function readAstropyYaml(yaml: string): AstropyHead {
  const head = parsed(yaml);
  const serialized = entries(at(at(head, 'meta'), '__serialized_columns__'));
  const unitOf = new Map(
    serialized.map(([name, mixin]) => [name, text(at(mixin, 'unit')) ?? text(at(at(mixin, 'unit'), 'unit'))]),
  );
  const columns = new Map<string, AstropyColumn>();
  const described = at(head, 'datatype');
  for (const column of Array.isArray(described) ? described : []) {
    const name = text(at(column, 'name'));
    if (name === undefined) continue;
    const of = (key: string) => text(at(column, key));
    const [unit, ucd] = [of('unit') ?? unitOf.get(name), of('ucd') ?? text(at(at(column, 'meta'), 'ucd'))];
    const [datatype, subtype, description] = [of('datatype'), of('subtype'), of('description')];
    columns.set(name, {
      ...(datatype && { datatype }),
      ...(subtype && { subtype }),
      ...(unit && { unit }),
      ...(ucd && { ucd }),
      ...(description && { description }),
    });
  }
  const delimiter = text(at(head, 'delimiter'));
  return {
    ...(delimiter && { delimiter }),
    columns,
    frames: framesOf(serialized),
    declared: framesOfKeywords(keywordsIn(at(head, 'meta'))),
    masks: masksOf(serialized),
  };
}

function parsed(yaml: string): unknown {
  if (yaml.length > MAX_CHARACTERS) throw new TableError(`its head has more than ${MAX_CHARACTERS} characters of YAML`);
  try {
    // With this schema every scalar is text, because a column may be named 1.0.
    const document = parseDocument(yaml, { schema: 'failsafe', logLevel: 'silent', uniqueKeys: false });
    if (document.errors[0]) throw document.errors[0];
    let aliases = 0;
    visit(document, {
      Alias() {
        if (++aliases > MAX_ALIASES) throw new Error(`there are more than ${MAX_ALIASES} aliases`);
      },
    });
    return document.toJS({ maxAliasCount: MAX_ALIASES });
  } catch (error) {
    throw new TableError(`its head is not readable YAML: ${(error as Error).message.split('\n')[0]!.slice(0, 200)}`);
  }
}

/** The value of a key in a mapping, an ordered mapping (`!!omap`) or a list of small mappings. */
function at(value: unknown, key: string): unknown {
  if (value instanceof Map) return value.get(key);
  if (Array.isArray(value))
    return at(
      value.find(each => at(each, key) !== undefined),
      key,
    );
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;
}

function entries(value: unknown): [string, unknown][] {
  if (value instanceof Map) return [...value];
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

/** The scalars of a table's metadata. Metadata that astropy read from an IPAC table has them in `keywords`. */
function keywordsIn(meta: unknown): [string, string][] {
  const own = Array.isArray(meta) ? meta.flatMap(entries) : entries(meta);
  const scalar = (value: unknown) => text(value) ?? text(at(value, 'value'));
  return own.flatMap(([name, value]): [string, string][] => {
    if (name === 'keywords') return keywordsIn(value);
    const found = scalar(value);
    return found === undefined ? [] : [[name, found]];
  });
}

/** The frames of the columns that hold the components of a SkyCoord. */
function framesOf(serialized: readonly [string, unknown][]): Map<string, DeclaredFrame> {
  const frames = new Map<string, DeclaredFrame>();
  for (const [, mixin] of serialized) {
    if (!text(at(mixin, '__class__'))?.endsWith('.SkyCoord')) continue;
    const frame = skyFrame(mixin);
    for (const part of partsOf(mixin)) {
      const name = text(at(part, 'name'));
      if (name !== undefined) frames.set(name, frame);
    }
  }
  return frames;
}

/** The columns with masks: a `MaskedColumn`, or masked values anywhere in a mixin. */
function masksOf(serialized: readonly [string, unknown][]): Map<string, string> {
  const masks = new Map<string, string>();
  for (const part of serialized.flatMap(([, mixin]) => partsOf(mixin))) {
    const [name, mask] = ['data', 'mask'].map(key => text(at(at(part, key), 'name')));
    if (name !== undefined && mask !== undefined) masks.set(name, mask);
  }
  return masks;
}

/** A column of masked values is the `data` of the `value` of a component of a SkyCoord. */
const MAX_PARTS_DEPTH = 4;

/** A mixin and the mappings within it. An alias may refer to a mapping around it. */
function partsOf(mixin: unknown, depth = MAX_PARTS_DEPTH): unknown[] {
  if (depth === 0) return [mixin];
  return [mixin, ...entries(mixin).flatMap(([, part]) => partsOf(part, depth - 1))];
}

/** Places of masked columns and of their masks in a list of names. */
export function maskPlaces({ masks }: AstropyHead, names: readonly string[]): Map<number, number> {
  const places = Array.from(masks, pair => pair.map(name => names.indexOf(name)) as [number, number]);
  return new Map(places.filter(pair => !pair.includes(-1)));
}

const DAYS_OF_JULIAN_YEAR = 365.25;
const JD_J2000 = 2_451_545;
/** The Julian date of B1900.0, and the length of the tropical year then (Lieske 1979, A&A 73, 282). */
const JD_B1900 = 2_415_020.31352;
const DAYS_OF_TROPICAL_YEAR = 365.242198781;

function skyFrame(mixin: unknown): DeclaredFrame {
  const name = text(at(mixin, 'frame')) ?? 'icrs';
  const times = ['equinox', 'obstime'].map(key => julianDate(at(mixin, key)));
  if (times.some(Number.isNaN)) return { name: `${name} with times that differ between rows` };
  const [equinox, obstime] = times;
  const julian = (date: number) => 2000 + (date - JD_J2000) / DAYS_OF_JULIAN_YEAR;
  const besselian = (date: number) => 1900 + (date - JD_B1900) / DAYS_OF_TROPICAL_YEAR;
  const isFk4 = name.toLowerCase() === 'fk4';
  const year = equinox === undefined ? undefined : (isFk4 ? besselian : julian)(equinox);
  return {
    name,
    ...(year !== undefined && { equinox: `${isFk4 ? 'B' : 'J'}${Number(year.toFixed(6))}` }),
    ...(isFk4 && obstime !== undefined && { obstime: julian(obstime) }),
  };
}

/**
 * A time of astropy as a Julian date. The differences between its time scales are too small to matter for an equinox.
 * NaN if it is not a time, or is a column.
 */
function julianDate(time: unknown): number | undefined {
  if (time === undefined) return undefined;
  return Number(text(at(time, 'jd1')) ?? Number.NaN) + Number(text(at(time, 'jd2')) ?? Number.NaN);
}
