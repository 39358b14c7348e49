/** Finds the columns that a definition names in a copy of the catalog, and checks their types. */

import type { Column } from '@nearsky/astrotables';
import type { ColumnKind, ParquetFile } from '@nearsky/astrotables/parquet';
import { CatalogError } from '@nearsky/hats';
import { type CatalogColumn, columnNames, motionColumns, type NarrowType } from '../../core/contract/catalog.ts';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { isTextId, type SourceId } from '../../core/contract/source_ids.ts';
import type { CatalogColumns, PayloadColumn } from '../../core/store/catalog_registration.ts';
import { payloadCell } from './payload_columns.ts';
import { type CatalogSchema, joined, noCommonKind, type Schema, type Variant } from './schema.ts';

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
const NUMBER_KINDS: readonly ColumnKind[] = [
  'integer32',
  'unsigned32',
  'integer64',
  'unsigned64',
  'integer decimal',
  'decimal',
  'float16',
  'float',
  'double',
];
const PAYLOAD_KINDS: readonly ColumnKind[] = ['boolean', ...NUMBER_KINDS, 'string', 'null'];

/** The kinds of columns whose values fit into a type that is narrower than the definition's. */
const NARROW_TYPES: Readonly<Partial<Record<ColumnKind, NarrowType>>> = {
  float16: 'float32',
  float: 'float32',
  integer32: 'int32',
};
const WIDE_TYPES: Readonly<Record<NarrowType, CatalogColumn['type']>> = { float32: 'float64', int32: 'int64' };

/** The narrower types of payload columns in a copy of the catalog, by key. */
export function narrowTypes(
  { columns }: Pick<CatalogDefinition, 'columns'>,
  { payload }: CatalogColumns,
): Record<string, NarrowType> {
  const narrow = columns.flatMap(({ type }, i) => {
    const { key, kind } = payload[i]!;
    const narrowType = kind && NARROW_TYPES[kind];
    return narrowType && WIDE_TYPES[narrowType] === type ? [[key, narrowType] as const] : [];
  });
  return Object.fromEntries(narrow);
}

export interface ColumnOptions {
  /** Treat payload columns that are missing from all files as null, instead of refusing the catalog. */
  readonly allowMissing?: boolean;
}

/**
 * The columns of a definition in the spelling of the first file that has them: the exact name if the files have it, else
 * the only name that differs just in case.
 * @throws CatalogError if an id, position or (unless allowed) payload column is missing, ambiguous, or of a type that
 * cannot be stored
 */
export function resolveColumns(
  schema: CatalogSchema,
  definition: CatalogDefinition,
  options: ColumnOptions = {},
): CatalogColumns {
  const need = (column: string) => {
    const found = findColumn(schema, column);
    if (found === undefined)
      throw new CatalogError(`Cannot use ${schema.name} as ${definition.name} because it has no column ${column}`);
    return found;
  };
  const payload = columnNames(definition).map((name): PayloadColumn => {
    const column = findColumn(schema, name) ?? null;
    const key = name.toLowerCase();
    return column === null ? { key, column } : { key, column, ...usedKinds(schema, column, PAYLOAD_KINDS) };
  });
  for (const name of motionColumns(definition)) {
    const column = findColumn(schema, name);
    if (column !== undefined) usedKinds(schema, column, MOTION_KINDS);
  }
  const missing = columnNames(definition).filter((_, index) => payload[index]!.column === null);
  const hasTextIds = definition.idType === 'text';
  const id = need(definition.idColumn);
  for (const variant of schema.variants.get(id) ?? []) checkVariant(variant, id, hasTextIds ? TEXT_ID_KINDS : ID_KINDS);
  const [ra, dec] = [need(definition.raColumn), need(definition.decColumn)];
  const isSingle = [ra, dec]
    .map(column => usedKinds(schema, column, POSITION_KINDS))
    .some(({ kind, kinds = [kind] }) => kinds.includes('float'));
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
      `Cannot use ${schema.name} as ${definition.name} because it lacks ${missing.length} payload columns: ${missing.join(', ')}. ` +
        'With --allow-missing-columns they are null',
    );
  }
  return columns;
}

/**
 * The kinds of a column in all files.
 * @throws CatalogError if they have no common kind, or it is none of `allowed`
 */
function usedKinds(
  schema: CatalogSchema,
  column: string,
  allowed: readonly ColumnKind[],
): Omit<PayloadColumn, 'key' | 'column' | 'kind'> & { readonly kind: ColumnKind } {
  const variants = schema.variants.get(column) ?? [];
  const kind = schema.columns.get(column)!;
  const wrong = variants.find(each => !PAYLOAD_KINDS.includes(each.kind)) ?? variants[0];
  if (kind === 'other' && wrong && PAYLOAD_KINDS.includes(wrong.kind)) throw noCommonKind(schema, column);
  if (!allowed.includes(kind) && wrong) checkVariant(wrong, column, allowed);
  return { kind, ...differencesIn(schema, column) };
}

/** How files differ in a column: its kinds if it has several, and the number of files that have no values of it. */
export function differencesIn(schema: CatalogSchema, column: string): Pick<PayloadColumn, 'kinds' | 'filesWithout'> {
  const typed = (schema.variants.get(column) ?? []).filter(({ kind }) => kind !== 'null');
  const kinds = [...new Set(typed.map(({ kind }) => kind))];
  const filesWith = typed.reduce((sum, { files }) => sum + files, 0);
  const filesWithout = filesWith > 0 ? schema.files - filesWith : 0;
  return { ...(kinds.length > 1 && { kinds }), ...(filesWithout > 0 && { filesWithout }) };
}

/**
 * The registered columns as one file of the catalog spells them. A payload column that the file lacks is null.
 * @throws CatalogError if the file has no id or position, or other types than the catalog had when it was added
 */
export function columnsIn(file: Schema, columns: CatalogColumns): CatalogColumns {
  const found = (column: string, kinds: readonly ColumnKind[]) => {
    const own = findColumn(file, column) ?? column;
    checkKind(file, own, kinds);
    return own;
  };
  return {
    ...columns,
    id: found(columns.id, columns.hasTextIds ? TEXT_ID_KINDS : ID_KINDS),
    ra: found(columns.ra, NUMBER_KINDS),
    dec: found(columns.dec, NUMBER_KINDS),
    payload: columns.payload.map(payload => {
      const column = payload.column === null ? undefined : findColumn(file, payload.column);
      if (column === undefined) return { ...payload, column: null };
      checkKind(file, column, PAYLOAD_KINDS);
      const kind = file.columns.get(column)!;
      if (payload.kind && joined(payload.kind, kind) !== payload.kind)
        throw new CatalogError(
          `Cannot use ${file.name} because column ${column} is ${kind}, and was ${payload.kind} when the catalog was added: add the catalog again`,
        );
      return { ...payload, column };
    }),
  };
}

/**
 * The column of that name in the file's spelling: the exact name if the file has it, else the only name that differs
 * just in case.
 * @throws CatalogError if several names differ just in case
 */
export function findColumn(file: Schema, name: string): string | undefined {
  if (file.columns.has(name)) return name;
  const alike = [...file.columns.keys()].filter(column => column.toLowerCase() === name.toLowerCase());
  if (alike.length > 1) {
    throw new CatalogError(
      `Cannot choose column ${name} of ${file.name} because it has ${alike.length} that differ in case: ${alike.join(', ')}`,
    );
  }
  return alike[0];
}

function checkVariant({ name, kind, statedType }: Variant, column: string, kinds: readonly ColumnKind[]): void {
  checkKind({ name, columns: new Map([[column, kind]]), statedType: () => statedType }, column, kinds);
}

function checkKind(
  file: Schema & { statedType?(column: string): string },
  column: string,
  kinds: readonly ColumnKind[],
): void {
  const kind = file.columns.get(column);
  if (kind === undefined)
    throw new CatalogError(
      `Cannot use ${file.name} because it has no column ${column}, which the catalog had when it was added: add the catalog again, or restore the file`,
    );
  if (!kinds.includes(kind)) {
    throw new CatalogError(
      `Cannot use ${file.name} because column ${column} must be of type ${kinds.join(' or ')}: current type is ${kind === 'other' ? (file.statedType?.(column) ?? kind) : kind}`,
    );
  }
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

/**
 * The cell of a file's value in a column of its definition. Not every file and value is read when a catalog is added, and
 * files may change after it.
 * @param stored the column in the file's spelling
 * @throws CatalogError if the type has no such value
 */
export function cellIn(file: Pick<ParquetFile, 'name'>, stored: string, column: Pick<Column, 'type'>, value: unknown) {
  const cell = payloadCell(column, value);
  if (cell !== undefined) return cell;
  throw new CatalogError(
    `Cannot use ${file.name} because column ${stored} has the value ${value}, and its type is ${column.type} since the catalog was added: add the catalog again`,
  );
}

const DECIMAL = /^-?\d+$/;

/**
 * Converts a value of the file to a catalog source id; undefined for null, and for a string that cannot be an id.
 * @throws CatalogError if the catalog has integer ids, and the value is text that is not a decimal 64-bit integer
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
