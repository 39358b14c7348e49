/**
 * The columns of a catalog: the union of the columns of its files. A type is widened where no value is lost; a column
 * whose types have no common type is named.
 *
 * | files have | column |
 * |---|---|
 * | int32, uint32, int64, uint64, decimals without a fraction | int64, if every value is one |
 * | float16, float32 | float32 |
 * | any of these, float64, decimals with a fraction | float64, if every integer is at most 2^53 |
 * | one type, and null or no column in other files | that type |
 */
import { ReadFailure } from '@nearsky/astrotables/files';
import type { ColumnKind, ParquetFile } from '@nearsky/astrotables/parquet';
import {
  CatalogError,
  type CatalogFiles,
  isRemote,
  type Partition,
  REMOTE_CONCURRENCY,
  withParquet,
} from '@nearsky/hats';
import { eachConcurrently } from '../../core/base/concurrency.ts';
import type { CatalogColumn } from '../../core/contract/catalog.ts';

/** The columns of a file, or of a catalog. */
export interface Schema {
  /** The path or address, for messages. */
  readonly name: string;
  readonly columns: ReadonlyMap<string, ColumnKind>;
}

/** Files that have a column with the same kind of values. */
export interface Variant {
  readonly kind: ColumnKind;
  /** The type in the words of the first such file, and the name of that file, for messages. */
  readonly statedType: string;
  readonly name: string;
  readonly files: number;
}

export interface CatalogSchema extends Schema {
  /** The number of files that were read. */
  readonly files: number;
  /** The variants of each column, in the order of the files; a column is of kind `other` if its variants have no common kind. */
  readonly variants: ReadonlyMap<string, readonly Variant[]>;
  /** The files that have a column with a kind, by their index among all files. */
  filesWith(column: string, kinds: ReadonlySet<ColumnKind>): number[];
}

const INTEGERS: ReadonlySet<ColumnKind> = new Set([
  'integer32',
  'unsigned32',
  'integer64',
  'unsigned64',
  'integer decimal',
]);
const SINGLE: ReadonlySet<ColumnKind> = new Set(['float16', 'float']);
const NUMBERS: ReadonlySet<ColumnKind> = new Set([...INTEGERS, ...SINGLE, 'double', 'decimal']);

const isInteger = (kind: ColumnKind) => INTEGERS.has(kind);

/** The narrowest kind that has the values of both; undefined if there is none. */
export function joined(one: ColumnKind, other: ColumnKind): ColumnKind | undefined {
  if (one === other || other === 'null') return one;
  if (one === 'null') return other;
  const both = (kinds: ReadonlySet<ColumnKind>) => kinds.has(one) && kinds.has(other);
  if (both(INTEGERS)) return 'integer64';
  if (both(SINGLE)) return 'float';
  return both(NUMBERS) ? 'double' : undefined;
}

/** The widest kind that a column of a catalog can have if only some of its files were read. */
function widest(kind: ColumnKind): ColumnKind {
  if (INTEGERS.has(kind)) return 'integer64';
  return NUMBERS.has(kind) ? 'double' : kind;
}

/** The names that are spelled like a name, or differ just in case. */
const alike = (names: Iterable<string>, name: string) =>
  [...names].filter(each => each.toLowerCase() === name.toLowerCase());

interface FileSchema {
  /** Files with these columns, by their index. */
  readonly files: number[];
  /** The first of them, and its name. */
  first: number;
  name: string;
  readonly columns: ReadonlyMap<string, ColumnKind>;
  readonly statedTypes: ReadonlyMap<string, string>;
}

/** Collects the columns of files. Nearly all files of a catalog have the same columns, which are stored once. */
export class SchemaUnion {
  readonly #schemas = new Map<string, FileSchema>();

  /** @param index the index of the file among all files */
  add(file: ParquetFile, index: number): void {
    const columns = new Map([...file.columns, ...file.nestedColumns.map(name => [name, 'other'] as const)]);
    const statedTypes = new Map(Array.from(columns.keys(), name => [name, file.statedType(name)]));
    const key = JSON.stringify([[...columns], [...statedTypes.values()]]);
    const known = this.#schemas.get(key);
    if (!known) this.#schemas.set(key, { files: [index], first: index, name: file.name, columns, statedTypes });
    else {
      if (index < known.first) Object.assign(known, { first: index, name: file.name });
      known.files.push(index);
    }
  }

  /**
   * @param name the catalog's location
   * @param common the columns in the catalog's own metadata
   * @param isSample whether other files of the catalog were not read
   */
  end(name: string, common: Schema['columns'], isSample: boolean): CatalogSchema {
    const schemas = [...this.#schemas.values()].sort((a, b) => a.first - b.first);
    const variants = new Map<string, Variant[]>();
    const spelled = new Map<FileSchema, Map<string, string>>();
    for (const schema of schemas) {
      const names = new Map<string, string>();
      spelled.set(schema, names);
      for (const [column, kind] of schema.columns) {
        const [same, ...more] = variants.has(column) ? [] : alike(variants.keys(), column);
        const own = same === undefined || more.length > 0 || schema.columns.has(same) ? column : same;
        names.set(own, column);
        const known = variants.get(own) ?? [];
        const variant = known.find(each => each.kind === kind);
        if (variant) known[known.indexOf(variant)] = { ...variant, files: variant.files + schema.files.length };
        else {
          const statedType = schema.statedTypes.get(column)!;
          known.push({ kind, statedType, name: schema.name, files: schema.files.length });
        }
        variants.set(own, known);
      }
    }
    const columns = new Map(
      Array.from(variants, ([column, all]) => {
        const kinds = all.map(({ kind }) => kind);
        const kind = kinds.reduce<ColumnKind | undefined>((sum, each) => sum && joined(sum, each), 'null') ?? 'other';
        const stated = common.get(column) ?? 'null';
        if (!isSample) return [column, kind === 'null' ? stated : kind] as const;
        return [column, widest(joined(kind, stated) ?? kind)] as const;
      }),
    );
    // A file that was not read may have them.
    for (const [column, kind] of isSample ? common : [])
      if (alike(columns.keys(), column).length === 0) columns.set(column, widest(kind));
    const filesWith = (column: string, kinds: ReadonlySet<ColumnKind>) =>
      schemas.flatMap(schema => {
        const kind = schema.columns.get(spelled.get(schema)!.get(column) ?? '');
        return kind && kinds.has(kind) ? schema.files : [];
      });
    return { name, columns, variants, filesWith, files: schemas.reduce((sum, { files }) => sum + files.length, 0) };
  }
}

/**
 * Reads the columns of some of a catalog's files. Files that cannot be read are left out.
 * @param names the names of all files
 */
export async function readSchema(
  files: CatalogFiles,
  names: readonly string[],
  indexes: readonly number[],
  onFile: (filesDone: number) => void,
): Promise<SchemaUnion> {
  const union = new SchemaUnion();
  let done = 0;
  await eachConcurrently(indexes, isRemote(files.location) ? REMOTE_CONCURRENCY : 1, async index => {
    try {
      await withParquet(files, names[index]!, file => union.add(file, index));
    } catch (error) {
      if (!(error instanceof ReadFailure || error instanceof CatalogError)) throw error;
    }
    onFile(++done);
  });
  return union;
}

/** Which kinds have values that a type may not have, and which of their values it has. */
interface Limit {
  readonly kinds: ReadonlySet<ColumnKind>;
  readonly fits: (value: number | bigint) => boolean;
  /** Decimals of up to so many digits need no check. */
  readonly digits: number;
  readonly why: (others: readonly Variant[]) => string;
}

const isInt64 = (value: bigint) => BigInt.asIntN(64, value) === value;
const isExact = (value: bigint) => value >= -(2n ** 53n) && value <= 2n ** 53n;

const INTEGERS_AS_INT64: Limit = {
  kinds: new Set(['unsigned64', 'integer decimal']),
  fits: value => typeof value === 'number' || isInt64(value),
  digits: 18,
  why: () => 'integers must be less than 2^63',
};
const INTEGERS_AS_DOUBLE: Limit = {
  kinds: new Set(['integer64', 'unsigned64', 'integer decimal']),
  fits: value => typeof value === 'number' || isExact(value),
  digits: 15,
  why: others => `integers beyond 2^53 have no place beside ${others.map(({ kind, name }) => `${kind} in ${name}`)[0]}`,
};
const NUMBERS_AS_INT64: Limit = {
  kinds: new Set([...SINGLE, 'double', 'decimal', ...INTEGERS_AS_INT64.kinds]),
  fits: value => (typeof value === 'bigint' ? isInt64(value) : Number.isNaN(value) || Number.isSafeInteger(value)),
  digits: 0,
  why: () => 'its type must be an integer, according to the description',
};

/** A definition may state a double for integers, whose values are then the nearest doubles. */
function limitOf(kind: ColumnKind, type: CatalogColumn['type']): Limit | undefined {
  if (type === 'int64') return isInteger(kind) ? INTEGERS_AS_INT64 : NUMBERS_AS_INT64;
  return type === 'float64' && kind === 'double' ? INTEGERS_AS_DOUBLE : undefined;
}

/**
 * Checks that the values of a column in every file are values of its type, by statistics or, without them, by reading.
 * @returns the error if some value would be lost
 */
export async function lossIn(
  files: CatalogFiles,
  partitions: readonly Partition[],
  schema: CatalogSchema,
  column: string,
  type: CatalogColumn['type'],
): Promise<CatalogError | undefined> {
  const limit = limitOf(schema.columns.get(column)!, type);
  const checked = limit ? schema.filesWith(column, limit.kinds) : [];
  const names = partitions.flatMap(partition => partition.files);
  const isFar = isRemote(files.location);
  let found: CatalogError | undefined;
  await eachConcurrently(checked, isFar ? REMOTE_CONCURRENCY : 1, async index => {
    if (found) return;
    await withParquet(files, names[index]!, async file => {
      const own = alike(file.columns.keys(), column).find((each, _, all) => all.length === 1 || each === column)!;
      if (file.decimalDigits(own) <= limit!.digits) return;
      for (const rowGroup of file.rowGroups.keys()) {
        const value = await firstBeyond(file, own, rowGroup, limit!, isFar);
        if (value === undefined) continue;
        const others = schema.variants.get(column)!.filter(({ kind }) => !isInteger(kind) && kind !== 'null');
        const why = limit!.why(others);
        found ??= new CatalogError(
          `Cannot use ${file.name} because column ${own} has the value ${value}: ${why}. ${REMEDY}`,
        );
        return;
      }
    });
  });
  return found;
}

/** The first value of a row group that a type has not. Another host is not asked for all values of a column of floats. */
async function firstBeyond(file: ParquetFile, column: string, rowGroup: number, { fits }: Limit, isFar: boolean) {
  const integers = file.integerBounds(rowGroup, column);
  if (integers) return [integers.min, integers.max].find(value => !fits(value));
  const bounds = isInteger(file.columns.get(column)!) ? undefined : file.bounds(rowGroup, column);
  if (bounds && !(fits(bounds.min) && fits(bounds.max))) return fits(bounds.min) ? bounds.max : bounds.min;
  if (bounds && isFar) return undefined;
  for (const { values } of await file.pages(column, rowGroup)) {
    const value = Array.from(values as ArrayLike<number | bigint>).find(each => !fits(each));
    if (value !== undefined) return value;
  }
  return undefined;
}

const REMEDY = 'Write the catalog with one type, or list its other columns in a description';

/** The error about a column whose types have no common type. */
export function noCommonKind(schema: CatalogSchema, column: string): CatalogError {
  const [one, other] = schema.variants.get(column)!.filter(({ kind }) => kind !== 'null');
  return new CatalogError(
    `Cannot add ${schema.name} because column ${column} has types that have no common type: ${one!.kind} in ${one!.name}, ${other!.kind} in ${other!.name}. ${REMEDY}`,
  );
}
