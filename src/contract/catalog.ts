/**
 * The form of a catalog's definition: `catalogs/schema.json`, as a type. The project describes some catalogs itself, each
 * in a file of `catalogs/`; the definitions of all others come with their registrations.
 */

import type { IdType } from './source_ids.ts';

/** A column that is stored with each match. */
export interface CatalogColumn {
  /** The name in the catalog's own case. Payloads have it in lower case. */
  readonly name: string;
  readonly type: 'float64' | 'int64' | 'boolean' | 'text';
  /** The unit in the spelling of VOUnits 1.0; undefined where there is none. */
  readonly unit?: string;
  /** UCD1+; undefined where the catalog has none. */
  readonly ucd?: string;
  readonly description: string;
}

/** A property of a catalog's sources that requests can filter by a minimum and a maximum. */
export interface FilterableProperty {
  /** A column in the catalog's own case, or the name of a quotient. */
  readonly name: string;
  /** The unit in words, as `/api/describe` shows it. */
  readonly unit: string;
  /** The property's description; undefined where the column's own applies. */
  readonly description?: string;
  /** The payload keys whose quotient the property is; undefined for a column. */
  readonly quotientOf?: { readonly numerator: string; readonly denominator: string };
}

/** A magnitude: the band's letter, and the payload keys of its value and its error, or of the flux over its error. */
export type Band = { readonly letter: string; readonly magnitude: string } & (
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
 * A line about a source on the pages, made of the payload keys that it names (src/pages/browser/payload.js draws each
 * kind).
 */
export type Highlight = { readonly label: string; readonly title?: string } & (
  | {
      readonly kind: 'value';
      readonly value: string;
      readonly error: string;
      /** A smaller value means that there is none. */
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
  /** A number that is high for stars: the lowest value for a star and the highest for a galaxy, both inclusive. */
  | { readonly kind: 'starness'; readonly value: string; readonly starFrom: number; readonly galaxyTo: number }
  | {
      readonly kind: 'notes';
      readonly of: readonly {
        readonly before: string;
        readonly value: string;
        readonly digits: number;
        /** The limit above which `, poor` follows the value. */
        readonly poorAbove?: number;
      }[];
    }
  /** Shown where one of the flags is not 0, with their names where there are several. */
  | { readonly kind: 'flags'; readonly of: readonly string[] }
);

/** The columns, of those that are stored with each match, that say how a source moves. */
export interface CatalogMotionColumns {
  /** The Julian year that all positions are at. */
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

/** One catalog of the service: every fact that is the same for all copies of it. */
export interface CatalogDefinition {
  /** Lower case letters, digits and underscores, with a letter first. */
  readonly name: string;
  readonly release: string;
  /** The name in the catalog's own case, like the other names of columns here. */
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
  /** The difference between the ids and another catalog's that look the same. */
  readonly idRemark?: string;
  /** The column of the epoch that positions are at, and its value; undefined where positions have no epoch. */
  readonly epoch?: { readonly column: string; readonly value: string };
  /** The columns of proper motions; undefined where the catalog has none. */
  readonly motion?: CatalogMotionColumns;
  /** The pages of the catalog's makers that describe it; undefined where none are known. */
  readonly reference?: { readonly home: string; readonly paper: string; readonly paperUrl: string };
  /** The payload keys that a chat shows. */
  readonly chatKeys: readonly string[];
  /** The polygon that stands for a source in plots: x to the right and y down, -6 to 6. */
  readonly marker: readonly (readonly [x: number, y: number])[];
  readonly colour: { readonly light: string; readonly dark: string };
  readonly photometry: Photometry;
  readonly highlights: readonly Highlight[];
}

/** The names of a catalog's payload columns, in the catalog's own case. */
export function columnNames({ columns }: Pick<CatalogDefinition, 'columns'>): string[] {
  return columns.map(({ name }) => name);
}

/** The columns of a catalog's proper motions; none where it has no proper motions. */
export function motionColumns({ motion }: Pick<CatalogDefinition, 'motion'>): string[] {
  return [motion?.pmra, motion?.pmdec, motion?.parallax, motion?.radialVelocity].filter(name => name !== undefined);
}

/** Every name of a column or payload key in a definition, beside the list of its columns, with the part that has it. */
export function catalogKeys(definition: CatalogDefinition): { readonly part: string; readonly key: string }[] {
  const { filterable, chatKeys, photometry, highlights, epoch } = definition;
  const motion = motionColumns(definition);
  const of = (part: string, keys: readonly string[]) => keys.map(key => ({ part, key }));
  return [
    ...of('epoch', epoch ? [epoch.column] : []),
    ...of('motion', motion),
    ...of(
      'filterable',
      filterable.flatMap(({ name, quotientOf }) => (quotientOf ? Object.values(quotientOf) : [name])),
    ),
    ...of('chatKeys', chatKeys),
    ...of('photometry', photometry.bands.flatMap(bandKeys)),
    ...of('highlights', highlights.flatMap(highlightKeys)),
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
