/** Finds the columns that a definition names in a copy of the catalog, and checks their types. */

import type { ColumnKind, ParquetFile } from '@nearsky/astrotables/parquet';
import { CatalogError } from '@nearsky/hats';
import { type CatalogColumn, columnNames, motionColumns, type NarrowType } from '../contract/catalog.ts';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import { isTextId, type SourceId } from '../contract/source_ids.ts';
import type { CatalogColumns } from '../store/catalog_registration.ts';

const ID_KINDS: readonly ColumnKind[] = [
  'integer64',
  'unsigned64',
  'integer32',
  'unsigned32',
  'integer decimal',
  'string',
];
const TEXT_ID_KINDS: readonly ColumnKind[] = ['string'];
const POSITION_KINDS: readonly ColumnKind[] = ['double', 'float'];
/**
 * The distance between neighbouring float32 numbers from 256 to 512 (2^-15), as for right ascensions in that range,
 * arcsec.
 */
export const FLOAT32_STEP_ARCSEC = 3600 / 2 ** 15;
const MOTION_KINDS: readonly ColumnKind[] = ['float', 'double', 'null'];
const PAYLOAD_KINDS: readonly ColumnKind[] = [
  'boolean',
  'integer32',
  'unsigned32',
  'integer64',
  'unsigned64',
  'integer decimal',
  'decimal',
  'float16',
  'float',
  'double',
  'string',
  'null',
];

/** The kinds of columns whose values fit into a type that is narrower than the definition's. */
export const NARROW_TYPES: Readonly<Partial<Record<ColumnKind, NarrowType>>> = {
  float16: 'float32',
  float: 'float32',
  integer32: 'int32',
};
const WIDE_TYPES: Readonly<Record<NarrowType, CatalogColumn['type']>> = { float32: 'float64', int32: 'int64' };

/**
 * The narrower types of payload columns, by key.
 * @param kinds the kinds of each payload column in all files, by key
 */
export function narrowTypes(
  { columns }: Pick<CatalogDefinition, 'columns'>,
  kinds: ReadonlyMap<string, ReadonlySet<ColumnKind>>,
): Record<string, NarrowType> {
  const narrow = columns.flatMap(({ name, type }) => {
    const key = name.toLowerCase();
    const types = new Set([...(kinds.get(key) ?? [])].flatMap(kind => (kind === 'null' ? [] : NARROW_TYPES[kind])));
    const [only] = types;
    return types.size === 1 && only && WIDE_TYPES[only] === type ? [[key, only] as const] : [];
  });
  return Object.fromEntries(narrow);
}

export interface ColumnOptions {
  /** Treat payload columns that are missing from the files as null, instead of refusing the catalog. */
  readonly allowMissing?: boolean;
}

/**
 * The columns in the file's spelling: the exact name if the file has it, else the only name that differs just in case.
 * @throws CatalogError if an id, position or (unless allowed) payload column is missing, ambiguous, or of a type that
 * cannot be stored
 */
export function resolveColumns(
  file: ParquetFile,
  definition: CatalogDefinition,
  options: ColumnOptions = {},
): CatalogColumns {
  const need = (column: string, kinds: readonly ColumnKind[]) => {
    const found = findColumn(file, column);
    if (found === undefined)
      throw new CatalogError(`Cannot use ${file.name} as ${definition.name} because it has no column ${column}`);
    checkKind(file, found, kinds);
    return found;
  };
  const payload = columnNames(definition).map(name => {
    const column = findColumn(file, name) ?? null;
    if (column !== null) checkKind(file, column, PAYLOAD_KINDS);
    return { key: name.toLowerCase(), column };
  });
  for (const name of motionColumns(definition)) {
    const column = findColumn(file, name);
    if (column !== undefined) checkKind(file, column, MOTION_KINDS);
  }
  const missing = columnNames(definition).filter((_, index) => payload[index]!.column === null);
  const hasTextIds = definition.idType === 'text';
  const id = need(definition.idColumn, hasTextIds ? TEXT_ID_KINDS : ID_KINDS);
  const [ra, dec] = [need(definition.raColumn, POSITION_KINDS), need(definition.decColumn, POSITION_KINDS)];
  const isSingle = [ra, dec].some(column => file.columns.get(column) === 'float');
  const columns = {
    id,
    ...(hasTextIds && { hasTextIds }),
    ra,
    dec,
    payload,
    ...(isSingle && { hasSinglePositions: true }),
  };
  if (missing.length > 0 && !options.allowMissing) {
    throw new CatalogError(
      `Cannot use ${file.name} as ${definition.name} because it lacks ${missing.length} payload columns: ${missing.join(', ')}. ` +
        'With --allow-missing-columns they are null',
    );
  }
  return columns;
}

/**
 * Checks that another file of the same catalog has the registered columns, with types that fit.
 * @throws CatalogError if it does not
 */
export function checkColumns(file: ParquetFile, columns: CatalogColumns): void {
  checkKind(file, columns.id, columns.hasTextIds ? TEXT_ID_KINDS : ID_KINDS);
  checkKind(file, columns.ra, POSITION_KINDS);
  checkKind(file, columns.dec, POSITION_KINDS);
  for (const { column } of columns.payload) {
    if (column !== null) checkKind(file, column, PAYLOAD_KINDS);
  }
}

/**
 * The column of that name in the file's spelling: the exact name if the file has it, else the only name that differs
 * just in case.
 * @throws CatalogError if several names differ just in case
 */
export function findColumn(file: ParquetFile, name: string): string | undefined {
  if (file.columns.has(name)) return name;
  const alike = [...file.columns.keys()].filter(column => column.toLowerCase() === name.toLowerCase());
  if (alike.length > 1) {
    throw new CatalogError(
      `Cannot choose column ${name} of ${file.name} because it has ${alike.length} that differ in case: ${alike.join(', ')}`,
    );
  }
  return alike[0];
}

function checkKind(file: ParquetFile, column: string, kinds: readonly ColumnKind[]): void {
  const kind = file.columns.get(column);
  if (kind === undefined) throw missingColumn(file, column);
  if (!kinds.includes(kind)) {
    throw new CatalogError(
      `Cannot use ${file.name} because column ${column} must be of type ${kinds.join(' or ')}: current type is ${kind === 'other' ? file.storedType(column) : kind}`,
    );
  }
}

function missingColumn(file: ParquetFile, column: string): CatalogError {
  return new CatalogError(
    `Cannot use ${file.name} because it has no column ${column}, which the catalog had when it was added: add the catalog again, or restore the file`,
  );
}

/** The largest integer id: ids are signed 64-bit integers in every table and client. */
const MAX_ID = 2n ** 63n - 1n;

/**
 * Checks the ids of a row group by its statistics, if it has any.
 * @throws CatalogError if an id is beyond a signed 64-bit integer
 */
export function checkIds(file: ParquetFile, { id }: CatalogColumns, rowGroup: number): void {
  const largest = file.integerBounds(rowGroup, id)?.max ?? 0n;
  if (largest <= MAX_ID) return;
  throw new CatalogError(
    `Cannot use ${file.name} because column ${id} must hold integers up to ${MAX_ID}: the largest is ${largest}`,
  );
}

const DECIMAL = /^-?\d+$/;

/**
 * Converts a value of the file to a catalog source id; undefined for null, and for a string that cannot be an id.
 * @throws CatalogError if ids are integers, for a text that is not a decimal 64-bit integer
 */
export function sourceId(value: unknown, file: ParquetFile, columns: CatalogColumns): SourceId | undefined {
  if (value === null) return undefined;
  if (columns.hasTextIds) return typeof value === 'string' && isTextId(value) ? value : undefined;
  const id = typeof value === 'bigint' ? value : typeof value === 'number' ? BigInt(value) : integerOf(value);
  if (id !== undefined && BigInt.asIntN(64, id) === id) return id;
  throw new CatalogError(
    `Cannot use ${file.name} because column ${columns.id} must hold 64-bit integers (${String(value)} was found)`,
  );
}

function integerOf(value: unknown): bigint | undefined {
  return typeof value === 'string' && DECIMAL.test(value) ? BigInt(value) : undefined;
}
