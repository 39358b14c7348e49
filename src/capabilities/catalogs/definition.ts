/**
 * Defines a catalog that the project does not describe: from a description if the operator gives one, and from the
 * catalog's own metadata for the rest.
 */

import type { ColumnKind } from '@nearsky/astrotables/parquet';
import { CatalogError, type FieldText, type HatsTable } from '@nearsky/hats';
import type { CatalogColumn, CatalogDefinition, FilterableProperty } from '../../core/contract/catalog.ts';
import { catalogKeys } from '../../core/contract/catalog.ts';
import { catalogDefinition } from '../../core/contract/catalogs.ts';
import * as enums from '../../core/contract/enums.ts';
import { GENERIC_FILTERS } from '../../core/contract/filters.ts';
import { OBJECT_FIELDS } from '../../core/contract/object_fields.ts';
import { ERROR_UNITS_MAS, RADIUS_UNITS_ARCSEC } from '../../core/contract/position_errors.ts';
import { findColumn } from './columns.ts';
import type { CatalogSchema, Schema } from './schema.ts';

/** A description as read from a file: `src/core/contract/catalogs/schema.json`. */
export type CatalogDescription = Partial<Omit<CatalogDefinition, 'columns' | 'filterable'>> & {
  readonly columns?: readonly (Pick<CatalogColumn, 'name'> & Partial<CatalogColumn>)[];
  readonly filterable?: readonly (Pick<FilterableProperty, 'name'> & Partial<FilterableProperty>)[];
};

/** A catalog without a definition yet. */
export interface UndefinedCatalog {
  readonly name: string;
  /** The id column. A catalog cannot be added if neither this nor the description names it. */
  readonly idColumn: string | undefined;
  readonly description: CatalogDescription;
}

const TYPES: Readonly<Partial<Record<ColumnKind, CatalogColumn['type']>>> = {
  boolean: 'boolean',
  integer32: 'int64',
  unsigned32: 'int64',
  integer64: 'int64',
  unsigned64: 'int64',
  'integer decimal': 'int64',
  decimal: 'float64',
  float16: 'float64',
  float: 'float64',
  double: 'float64',
  string: 'text',
};

const MAS_A_YEAR = { name: 'mas a year', spelling: /^mas(\/(yr|a)|[.*]?(yr|a)(\*\*|\^)?\(?-1\)?)$/ };
/** Units of motions, in the spellings of VOUnits, astropy and the CDS, without white space. */
const MOTION_UNITS = {
  pmra: MAS_A_YEAR,
  pmdec: MAS_A_YEAR,
  parallax: { name: 'mas', spelling: /^mas$/ },
  radialVelocity: { name: 'km/s', spelling: /^km(\/s|[.*]?s(\*\*|\^)?\(?-1\)?)$/ },
};

const WORDS = Object.values(enums).flatMap(value =>
  Array.isArray(value) ? (value as readonly { readonly name?: unknown }[]).map(({ name }) => name) : [],
);

/** Reserved words: of the contract, of addresses, of JavaScript and of the pages' style. */
const RESERVED_CATALOG_NAMES: ReadonlySet<unknown> = new Set([
  ...WORDS,
  ...Object.keys(OBJECT_FIELDS),
  ...GENERIC_FILTERS.map(({ name }) => name),
  'objects',
  'constructor',
  'mark',
  'point',
  'further',
  'object',
  'crossmatch',
  'matches',
  'tns',
  // Reserved schemas of queries in ADQL.
  'nearsky',
  'tap_schema',
  'tap_upload',
]);

/** Columns that importers add. */
const BOOKKEEPING = /^(_healpix_\d+|_hipscat_index|Norder|Dir|Npix|__.*)$/;
const FILTERABLE_NAME = /^[A-Za-z]\w{0,63}$/;
const MAX_COLUMNS = 1000;
/** Without a description, the first columns, up to this number, can be filtered by, and are shown in chats. */
const DEFAULT_FILTERS = 16;
const DEFAULT_CHAT_KEYS = 5;
const DEFAULT_FOOTPRINT_ORDER = 8;

const MARKERS: CatalogDefinition['marker'][] = [
  [
    [-6, 0],
    [-3, -5],
    [3, -5],
    [6, 0],
    [3, 5],
    [-3, 5],
  ],
  [
    [0, -6],
    [6, -1],
    [4, 6],
    [-4, 6],
    [-6, -1],
  ],
  [
    [-6, -2],
    [-2, -6],
    [2, -6],
    [6, -2],
    [6, 2],
    [2, 6],
    [-2, 6],
    [-6, 2],
  ],
  [
    [-2, -6],
    [2, -6],
    [2, -2],
    [6, -2],
    [6, 2],
    [2, 2],
    [2, 6],
    [-2, 6],
    [-2, 2],
    [-6, 2],
    [-6, -2],
    [-2, -2],
  ],
  [
    [-6, -4],
    [6, -4],
    [6, 4],
    [-6, 4],
  ],
];
const COLOURS: CatalogDefinition['colour'][] = [
  { light: '#8a5a00', dark: '#e8c15a' },
  { light: '#006d77', dark: '#66d1dc' },
  { light: '#a3203f', dark: '#ff8fa6' },
  { light: '#4c5f00', dark: '#c0d65a' },
  { light: '#5a3fb0', dark: '#b9a6ff' },
  { light: '#7a4632', dark: '#dfab94' },
  { light: '#35607f', dark: '#9ec6e4' },
];

/**
 * @param schema the columns of all files
 * @param texts the metadata of columns, by name
 * @throws CatalogError if the name is not allowed, or the description does not fit the catalog
 */
export function defineCatalog(
  { name, idColumn: givenId, description }: UndefinedCatalog,
  table: HatsTable,
  schema: CatalogSchema,
  texts: ReadonlyMap<string, FieldText>,
): CatalogDefinition {
  const { files, properties } = table;
  checkName(name, description);
  const idColumn = givenId ?? description.idColumn;
  if (idColumn === undefined)
    throw new CatalogError(`Cannot add ${files.location} because its id column is unknown: give --id COLUMN`);
  if (description.idColumn !== undefined && description.idColumn !== idColumn)
    throw new CatalogError(
      `Cannot add ${files.location} because its idColumn is ${description.idColumn} in the description and ${idColumn} in --id: name one`,
    );
  const foundId = findColumn(schema, idColumn);
  const isText = foundId !== undefined && schema.columns.get(foundId) === 'string';
  const idType = description.idType ?? (isText ? 'text' : 'int64');
  const [raColumn, decColumn] = (['ra', 'dec'] as const).map(
    each => description[`${each}Column`] ?? properties.get(`hats_col_${each}`) ?? findColumn(schema, each),
  );
  if (raColumn === undefined || decColumn === undefined)
    throw new CatalogError(
      `Cannot add ${files.location} because its properties do not name the columns of its positions: give raColumn and decColumn in a description`,
    );
  const release = description.release ?? titleOf(properties) ?? name;
  const given =
    description.columns ??
    [...schema.columns.keys()].filter(each => isPayload(each, schema, idColumn)).map(each => ({ name: each }));
  const columns = given.map(column => completed(column, schema, texts));
  const place = [...name].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 100_003, 7);
  const isPosition = (column: string) =>
    [raColumn, decColumn].some(each => each.toLowerCase() === column.toLowerCase());
  const others = columns.filter(column => !isPosition(column.name));
  const definition: CatalogDefinition = {
    footprintOrder: DEFAULT_FOOTPRINT_ORDER,
    chatKeys: others.slice(0, DEFAULT_CHAT_KEYS).map(column => column.name.toLowerCase()),
    marker: MARKERS[place % MARKERS.length]!,
    colour: COLOURS[place % COLOURS.length]!,
    photometry: { system: '', main: '', bands: [], colours: [] },
    highlights: [],
    ...description,
    name,
    release,
    idColumn,
    ...(idType === 'text' && { idType }),
    raColumn,
    decColumn,
    columns,
    filterable: (description.filterable ?? others.filter(canBeFiltered).slice(0, DEFAULT_FILTERS)).map(
      ({ name: property, unit, ...rest }) => {
        const known = columns.find(column => column.name.toLowerCase() === property.toLowerCase());
        return { ...rest, name: known?.name ?? property, unit: unit ?? known?.unit ?? 'not stated' };
      },
    ),
  };
  checkDefinition(definition, files.location);
  return definition;
}

function checkName(name: string, description: CatalogDescription): void {
  const cannot = (why: string) => new CatalogError(`Cannot name a catalog ${JSON.stringify(name)} because ${why}`);
  if (!/^[a-z][a-z0-9_]{0,47}$/.test(name))
    throw cannot('a name has at most 48 lower case letters, digits and underscores, with a letter first');
  if (catalogDefinition(name))
    throw cannot('nearsky describes a catalog of that name itself: leave out --id and --description');
  if (RESERVED_CATALOG_NAMES.has(name))
    throw cannot('the word has another meaning in the API: add the release, for example');
  if (description.name !== undefined && description.name !== name)
    throw cannot(
      `its description names the catalog ${description.name}: give that name, or leave the name out of the description`,
    );
}

function titleOf(properties: ReadonlyMap<string, string>): string | undefined {
  const title = properties.get('obs_title') ?? properties.get('obs_collection');
  return (
    title
      ?.replace(/[\p{Cc}\s]+/gu, ' ')
      .trim()
      .slice(0, 300) || undefined
  );
}

/**
 * The types of columns that no definition can have, by name: of times, lists, structures, bytes, or without any value;
 * undefined if there are none.
 */
export function leftOutColumns(
  { columns, variants }: CatalogSchema,
  { columns: defined }: Pick<CatalogDefinition, 'columns'>,
): Record<string, string> | undefined {
  const isDefined = new Set(defined.map(({ name }) => name.toLowerCase()));
  const found = [...columns].flatMap(([column, kind]) => {
    const of = variants.get(column) ?? [];
    const isOther = [kind, ...of.map(variant => variant.kind)].every(each => TYPES[each] === undefined);
    if (!isOther || BOOKKEEPING.test(column) || isDefined.has(column.toLowerCase())) return [];
    const first = of.find(variant => variant.kind !== 'null') ?? of[0];
    const stated = kind === 'other' ? (first?.statedType ?? kind) : kind;
    return [[column, stated.startsWith('time in') ? 'timestamp' : stated] as const];
  });
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}

/** A column with types that have no common type is refused later, unless it has no type that can be stored. */
function isPayload(column: string, { columns, variants }: CatalogSchema, idColumn: string): boolean {
  const kinds = [columns.get(column)!, ...(variants.get(column) ?? []).map(({ kind }) => kind)];
  return (
    kinds.some(kind => TYPES[kind] !== undefined) &&
    !BOOKKEEPING.test(column) &&
    column.toLowerCase() !== idColumn.toLowerCase()
  );
}

/**
 * Completes a column with everything that its description leaves out. Columns that the file lacks are checked later.
 */
function completed(
  column: NonNullable<CatalogDescription['columns']>[number],
  file: Schema,
  texts: ReadonlyMap<string, FieldText>,
): CatalogColumn {
  const { name } = column;
  const found = findColumn(file, name);
  const kind = found === undefined ? undefined : file.columns.get(found);
  const fits = kind === undefined ? undefined : TYPES[kind];
  const isNumber = (type: string | undefined) => type === 'float64' || type === 'int64';
  if (column.type && fits && column.type !== fits && !(isNumber(column.type) && isNumber(fits)))
    throw new CatalogError(
      `Cannot use ${file.name} because the type of column ${name} is ${column.type} in the description, but ${kind} in the file`,
    );
  const { unit, ucd, description = `Column ${name}` } = { ...texts.get(found ?? name), ...column };
  return {
    name,
    type: column.type ?? fits ?? 'float64',
    ...(unit && { unit }),
    ...(ucd && { ucd }),
    description,
  };
}

function canBeFiltered({ name, type }: CatalogColumn): boolean {
  const isNumber = type === 'float64' || type === 'int64';
  return isNumber && FILTERABLE_NAME.test(name);
}

/** @throws CatalogError if the parts of a definition do not fit together */
export function checkDefinition(definition: CatalogDefinition, location: string): void {
  const cannot = (why: string) => new CatalogError(`Cannot add ${location} because ${why}`);
  const { columns, filterable, photometry } = definition;
  if (columns.length > MAX_COLUMNS)
    throw cannot(
      `it has ${columns.length} columns, and at most ${MAX_COLUMNS} can be stored: list some in a description`,
    );
  const keys = new Map<string, CatalogColumn>();
  for (const column of columns) {
    const key = column.name.toLowerCase();
    const other = keys.get(key);
    if (other)
      throw cannot(
        `its columns ${other.name} and ${column.name} would have one key, ${key}: list only one in a description`,
      );
    keys.set(key, column);
  }
  for (const { part, key } of catalogKeys(definition))
    if (!keys.has(key.toLowerCase()))
      throw cannot(`${part} of its description names ${key}, which is not one of its columns`);
  for (const { name, quotientOf } of filterable)
    for (const key of quotientOf ? [quotientOf.numerator, quotientOf.denominator] : [name]) {
      const { type } = keys.get(key.toLowerCase())!;
      if (type === 'text' || type === 'boolean')
        throw cannot(
          `filterable of its description names ${key}, whose type is ${type} and not a number: leave it out`,
        );
    }
  for (const [part, unit] of Object.entries(MOTION_UNITS)) {
    const name = definition.motion?.[part as keyof typeof MOTION_UNITS];
    const stated = name === undefined ? undefined : keys.get(name.toLowerCase())!.unit;
    if (stated !== undefined && !unit.spelling.test(stated.replace(/\s/g, '')))
      throw cannot(
        `motion of its description names ${name}, whose unit is ${stated}: it must be ${unit.name}, so leave motion out`,
      );
  }
  checkErrors(definition, keys, cannot);
  checkRadius(definition, keys, cannot);
  const properties = filterable.map(({ name }) => name.toLowerCase());
  const twice = properties.find((name, at) => properties.indexOf(name) < at);
  if (twice !== undefined) throw cannot(`filterable of its description names ${twice} twice`);
  const letters = photometry.bands.map(({ letter }) => letter);
  const unknown = [photometry.main, ...photometry.colours.flat()].find(letter => !letters.includes(letter));
  if (letters.length > 0 && unknown !== undefined)
    throw cannot(`photometry of its description names the band ${unknown}, which is not one of ${letters.join(', ')}`);
}

function checkRadius(
  { radius }: CatalogDefinition,
  columns: ReadonlyMap<string, CatalogColumn>,
  cannot: (why: string) => CatalogError,
): void {
  if (radius?.column === undefined) return;
  const { type, unit } = columns.get(radius.column.toLowerCase())!;
  const isNumber = type === 'float64' || type === 'int64';
  if (!isNumber || unit === undefined || !Object.hasOwn(RADIUS_UNITS_ARCSEC, unit))
    throw cannot(
      `its radius is in column ${radius.column}, which must be a number in ${Object.keys(RADIUS_UNITS_ARCSEC).join(', ')}: it is ${type} in ${unit ?? 'no unit; state the unit in a description'}`,
    );
}

function checkErrors(
  { positionErrors }: CatalogDefinition,
  columns: ReadonlyMap<string, CatalogColumn>,
  cannot: (why: string) => CatalogError,
): void {
  if (!positionErrors) return;
  const units = Object.values(positionErrors).map(name => {
    const { type, unit } = columns.get(name.toLowerCase())!;
    if ((type === 'float64' || type === 'int64') && unit !== undefined && Object.hasOwn(ERROR_UNITS_MAS, unit))
      return unit;
    throw cannot(
      `positionErrors of its description names ${name}, which must be a number in ${Object.keys(ERROR_UNITS_MAS).join(', ')}: it is ${type} in ${unit ?? 'no unit'}`,
    );
  });
  if (units[0] !== units[1]) throw cannot('positionErrors of its description names columns with different units');
}
