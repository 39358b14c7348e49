/** Makes the Arrow schema of a table: in Arrow's own format, and for Parquet files that Arrow readers open. */

import {
  Table as ArrowTable,
  Bool,
  type DataType,
  Field,
  Float32,
  Float64,
  Int32,
  Int64,
  Schema,
  TimestampMicrosecond,
  tableToIPC,
  Utf8,
} from 'apache-arrow';
import type { Column, ColumnType, Stored } from '../columns.ts';

export type { Stored };

export const ARROW_TYPES = {
  int64: new Int64(),
  int32: new Int32(),
  float64: new Float64(),
  float32: new Float32(),
  boolean: new Bool(),
  text: new Utf8(),
  time: new TimestampMicrosecond('UTC'),
} satisfies Readonly<Record<ColumnType, DataType>>;
/**
 * The number of bytes of a message (Arrow columnar format 1.5, "Encapsulated message format") before its metadata: a
 * marker, and the length.
 */
const MESSAGE_START = 8;

type SchemaColumn = Column & Pick<Stored, 'isRequired'>;

/** Every field is nullable unless its column is required, with its unit, UCD, description and frame as metadata. */
export function arrowSchema(columns: readonly SchemaColumn[], metadata: ReadonlyMap<string, string>): Schema {
  const fields = columns.map(({ name, type, unit, ucd, description, frame, isRequired }) => {
    const about = Object.entries({ unit, ucd, description, frame }).filter(
      (entry): entry is [string, string] => !!entry[1],
    );
    return new Field<DataType>(name, ARROW_TYPES[type], !isRequired, new Map(about));
  });
  return new Schema(fields, new Map(metadata));
}

/** The message with which a stream of this schema begins. */
export function schemaMessage(schema: Schema): Uint8Array {
  const stream = tableToIPC(new ArrowTable(schema), 'stream');
  const length = new DataView(stream.buffer, stream.byteOffset).getInt32(4, true);
  return stream.subarray(0, MESSAGE_START + length);
}

interface Entry {
  readonly key: string;
  readonly value: string;
}

/**
 * The entry of a Parquet file's metadata from which pyarrow, LSDB and others read the metadata of fields.
 * @param metadata the file's other entries, repeated in the schema because pyarrow reads only the schema's
 */
export function parquetSchemaEntry(columns: readonly SchemaColumn[], metadata: readonly Entry[] = []): Entry {
  const schema = arrowSchema(columns, new Map(metadata.map(({ key, value }) => [key, value])));
  return { key: 'ARROW:schema', value: Buffer.from(schemaMessage(schema)).toString('base64') };
}
