/** The columns of the releases, as the sample's own files have them: their lists may not be passed on. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asyncBufferFromFile, parquetMetadataAsync } from 'hyparquet';
import type { Column } from './hats.ts';

const SAMPLE = fileURLToPath(new URL('../catalogs/', import.meta.url));
const CONVERTED = { INT_8: 'int8', INT_16: 'int16', UINT_8: 'uint8', UINT_64: 'uint64', UTF8: 'string' } as const;
const PLAIN = { BOOLEAN: 'bool', INT32: 'int32', INT64: 'int64', FLOAT: 'float', DOUBLE: 'double' } as const;

/** Names in the releases' own case, with Arrow's names of their types. @param catalog as in the API */
export async function releaseColumns(catalog: string): Promise<Column[]> {
  const dataset = join(SAMPLE, catalog, 'dataset');
  const [file] = readdirSync(dataset, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.parquet'))
    .sort();
  const { schema } = await parquetMetadataAsync(await asyncBufferFromFile(join(dataset, file!)));
  return schema.slice(1).map(({ name, type, converted_type }) => ({
    name,
    arrow: CONVERTED[converted_type as keyof typeof CONVERTED] ?? PLAIN[type as keyof typeof PLAIN],
  }));
}
