/**
 * The form of a catalog's definition: `catalogs/schema.json`, as a type. The project describes some catalogs itself, each
 * in a file of `catalogs/`; the definitions of all others come with their registrations.
 */

import type { IdType } from './source_ids.ts';
import { ruleKeys, type VerdictRule } from './verdict.js';

/** A type that files may have instead of a column's `float64` or `int64`. */
export type NarrowType = 'float32' | 'int32';

/** A column that is stored with each match. */
export interface CatalogColumn {
  /** The name in the catalog's own case. Payload keys are in lower case. */
  readonly name: string;
  readonly type: 'float64' | 'int64' | 'boolean' | 'text';
  /** The unit in the spelling of VOUnits 1.0; undefined if there is none. */
  readonly unit?: string;
  /** UCD1+; undefined if the catalog has none. */
  readonly ucd?: string;
  readonly description: string;
}

/** A property of a catalog's sources that requests can filter by a minimum and a maximum. */
export interface FilterableProperty {
  /** A column in the catalog's own case, or the name of a quotient. */
  readonly name: string;
  /** The unit in words, as `/api/describe` shows it. */
  readonly unit: string;
  /** The property's description; undefined if the column's own applies. */
  readonly description?: string;
  /** The payload keys of the numerator and the denominator, if the property is a quotient; undefined for a column. */
  readonly quotientOf?: { readonly numerator: string; readonly denominator: string };
}

/**
 * A magnitude: the band's letter, and the payload keys of its value and its error, or of its value and its flux's
 * signal-to-noise ratio.
 */
type Band = { readonly letter: string; readonly magnitude: string } & (
  | { readonly error: string }
  | { readonly fluxOverError: string }
);

/** The magnitudes of a source as the pages show them. */
export interface Photometry {
  readonly system: string;
  /** The letter of the band that sources are compared in. */
  readonly main: string;
  /** From blue to red. */
  readonly bands: readonly Band[];
  /** Pairs of letters whose difference is shown. */
  readonly colours: readonly (readonly [blue: string, red: string])[];
}

/**
 * A line about a source on the pages, made from the payload keys that it names (src/capabilities/pages/browser/payload.js draws each
 * kind).
 */
export type Highlight = { readonly label: string; readonly title?: string } & (
  | {
      readonly kind: 'value';
      readonly value: string;
      readonly error: string;
      /** A value below this minimum stands for a missing value. */
      readonly min: number;
      readonly digits: number;
    }
  | { readonly kind: 'parallax'; readonly value: string; readonly error: string; readonly none: string }
  | {
      readonly kind: 'motion';
      readonly east: string;
      readonly north: string;
      readonly errors: readonly [string, string];
    }
  | { readonly kind: 'probabilities'; readonly of: readonly (readonly [word: string, key: string])[] }
  /** The word for each code, counted from 0. */
  | { readonly kind: 'code'; readonly value: string; readonly words: readonly string[] }
  /**
   * A score that is high for stars. `starFrom` is the lowest score of a star, `galaxyTo` the highest of a galaxy, both
   * inclusive.
   */
  | { readonly kind: 'starness'; readonly value: string; readonly starFrom: number; readonly galaxyTo: number }
  | {
      readonly kind: 'notes';
      readonly of: readonly {
        readonly before: string;
        readonly value: string;
        readonly digits: number;
        /** `, poor` is appended to values above this limit. */
        readonly poorAbove?: number;
      }[];
    }
  /** Shown if at least one flag is not 0. The names of these flags are added if the line has several flags. */
  | { readonly kind: 'flags'; readonly of: readonly string[] }
);

/** The stored columns that describe how a source moves. */
interface CatalogMotionColumns {
  /** The Julian year of all positions. */
  readonly epoch: number;
  /** Proper motion in right ascension, times cos(dec), mas a year. */
  readonly pmra: string;
  /** Proper motion in declination, mas a year. */
  readonly pmdec: string;
  /** mas. */
  readonly parallax?: string;
  /** km/s, positive for a source that recedes. */
  readonly radialVelocity?: string;
}

/** The radius within which an object matches a source of the catalog, inclusive. */
export interface CatalogRadius {
  /** The radius of every source or, with a column, the largest: above 0, up to MAX_CROSSMATCH_RADIUS_ARCSEC. */
  readonly arcsec: number;
  /** The stored column of each source's own radius, such as its size or the error of its position. */
  readonly column?: string;
  /** The own radius is this many times the value of the column; default 1. */
  readonly factor?: number;
}

/** One catalog of the service: all facts that hold for every copy of it. */
export interface CatalogDefinition {
  /** Lower case letters, digits and underscores, with a letter first. */
  readonly name: string;
  readonly release: string;
  /** The name in the catalog's own case, like the other column names here. */
  readonly idColumn: string;
  /** The type of the ids; undefined for `int64`. */
  readonly idType?: IdType;
  readonly raColumn: string;
  readonly decColumn: string;
  /** HEALPix order at which the footprint is kept. */
  readonly footprintOrder: number;
  /** Stored with each match, in the order of the contract (docs/contract.md). */
  readonly columns: readonly CatalogColumn[];
  /** The filterable properties, in documented order. */
  readonly filterable: readonly FilterableProperty[];
  /**
   * Set if an integer id begins with the NESTED pixel of its position: the pixel's order, and the number of bits after
   * it.
   */
  readonly idPixel?: { readonly order: number; readonly bits: number };
  /** How the ids differ from another catalog's ids that look the same. */
  readonly idRemark?: string;
  /** The column of the epoch of positions, and its value; undefined if positions have no epoch. */
  readonly epoch?: { readonly column: string; readonly value: string };
  /** The columns of proper motions; undefined if the catalog has none. */
  readonly motion?: CatalogMotionColumns;
  /** The columns of the 1σ errors of positions, both in mas, arcsec or deg; `ra` times cos(dec). */
  readonly positionErrors?: { readonly ra: string; readonly dec: string };
  /** Undefined for a catalog that is searched within CROSSMATCH_RADIUS_ARCSEC. */
  readonly radius?: CatalogRadius;
  /** The pages by the catalog's makers that describe it; undefined if none are known. */
  readonly reference?: {
    readonly home: string;
    readonly paper: string;
    readonly paperUrl: string;
    /** The lines of a BibTeX entry. */
    readonly bibtex?: readonly string[];
  };
  /** The payload keys that the chat connector shows. */
  readonly chatKeys: readonly string[];
  /** The polygon that marks a source in plots: x to the right and y down, -6 to 6. */
  readonly marker: readonly (readonly [x: number, y: number])[];
  readonly colour: { readonly light: string; readonly dark: string };
  readonly photometry: Photometry;
  readonly highlights: readonly Highlight[];
  /** Say what a source is; none for a catalog that cannot say it. */
  readonly verdicts?: readonly VerdictRule[];
}

/** The names of a catalog's payload columns, in the catalog's own case. */
export function columnNames({ columns }: Pick<CatalogDefinition, 'columns'>): string[] {
  return columns.map(({ name }) => name);
}

/** The columns of a catalog's proper motions; empty if it has none. */
export function motionColumns({ motion }: Pick<CatalogDefinition, 'motion'>): string[] {
  return [motion?.pmra, motion?.pmdec, motion?.parallax, motion?.radialVelocity].filter(name => name !== undefined);
}

/** The own radius of sources as text: the column, or a multiple of it; undefined if all sources have the same radius. */
export function radiusColumnText({ column, factor = 1 }: CatalogRadius): string | undefined {
  return factor === 1 ? column : `${factor}*${column}`;
}

/** Every column name or payload key that a definition uses outside its list of columns, with the part that uses it. */
export function catalogKeys(definition: CatalogDefinition): { readonly part: string; readonly key: string }[] {
  const { filterable, chatKeys, photometry, highlights, epoch, positionErrors, verdicts = [], radius } = definition;
  const motion = motionColumns(definition);
  const of = (part: string, keys: readonly string[]) => keys.map(key => ({ part, key }));
  return [
    ...of('epoch', epoch ? [epoch.column] : []),
    ...of('motion', motion),
    ...of('positionErrors', Object.values(positionErrors ?? {})),
    ...of('radius', radius?.column === undefined ? [] : [radius.column]),
    ...of(
      'filterable',
      filterable.flatMap(({ name, quotientOf }) => (quotientOf ? Object.values(quotientOf) : [name])),
    ),
    ...of('chatKeys', chatKeys),
    ...of('photometry', photometry.bands.flatMap(bandKeys)),
    ...of('highlights', highlights.flatMap(highlightKeys)),
    ...of('verdicts', verdicts.flatMap(ruleKeys)),
  ];
}

const bandKeys = (band: Band) => [band.magnitude, 'error' in band ? band.error : band.fluxOverError];

function highlightKeys(line: Highlight): readonly string[] {
  switch (line.kind) {
    case 'value':
    case 'parallax':
      return [line.value, line.error];
    case 'motion':
      return [line.east, line.north, ...line.errors];
    case 'probabilities':
      return line.of.map(([, key]) => key);
    case 'code':
    case 'starness':
      return [line.value];
    case 'notes':
      return line.of.map(({ value }) => value);
    case 'flags':
      return line.of;
  }
}
