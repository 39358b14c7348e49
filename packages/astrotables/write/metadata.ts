/** The metadata of a table as text, for formats that have no other place for units, UCDs and descriptions. */
import type { Column, ColumnType } from '../columns.ts';

/** Units, UCDs and descriptions by column name: JSON. */
export function describedColumns(columns: readonly Column[]): string {
  return JSON.stringify(
    Object.fromEntries(columns.map(({ name, unit, ucd, description }) => [name, { unit, ucd, description }])),
  );
}

interface PandasType {
  readonly pandas_type: string;
  readonly numpy_type: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/**
 * Integers and booleans have the pandas types that allow missing values. With NumPy types, missing values would turn
 * integers into floats, which round, and booleans into objects.
 */
const PANDAS_TYPES: Readonly<Record<ColumnType, PandasType>> = {
  int64: { pandas_type: 'int64', numpy_type: 'Int64' },
  int32: { pandas_type: 'int32', numpy_type: 'Int32' },
  float64: { pandas_type: 'float64', numpy_type: 'float64' },
  float32: { pandas_type: 'float32', numpy_type: 'float32' },
  boolean: { pandas_type: 'bool', numpy_type: 'boolean' },
  text: { pandas_type: 'unicode', numpy_type: 'object' },
  time: { pandas_type: 'datetimetz', numpy_type: 'datetime64[us]', metadata: { timezone: 'UTC' } },
};

/**
 * The types of a data frame, under the key that pandas reads ("pandas metadata specification"): JSON.
 * @param library the name of the program that writes them
 */
export function pandasColumns(columns: readonly Column[], library: string): string {
  return JSON.stringify({
    index_columns: [],
    column_indexes: [],
    columns: columns.map(({ name, type }) => ({ name, field_name: name, metadata: null, ...PANDAS_TYPES[type] })),
    creator: { library, version: '' },
    pandas_version: '1.0.0',
  });
}
