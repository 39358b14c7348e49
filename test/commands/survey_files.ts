/** Parquet files with the columns of a survey's objects. */
import { writeFileSync } from 'node:fs';
import { parquetWriteBuffer } from 'hyparquet-writer';

export const COLUMNS = ['--id', 'objectId', '--ra', 'coord_ra', '--dec', 'coord_dec'];

export interface Column {
  readonly name: string;
  readonly type: 'INT64' | 'DOUBLE' | 'FLOAT' | 'STRING';
  readonly data: readonly unknown[];
}

export function tableOf(ids: readonly unknown[], ra: readonly unknown[], dec: readonly unknown[]): Column[] {
  return [
    { name: 'objectId', type: 'INT64', data: ids },
    { name: 'coord_ra', type: 'DOUBLE', data: ra },
    { name: 'coord_dec', type: 'DOUBLE', data: dec },
    { name: 'refExtendedness', type: 'FLOAT', data: ra.map(() => 0.5) },
  ];
}

export function writeParquet(path: string, columns: readonly Column[], rowGroupSize = 4): void {
  const columnData = columns.map(column => ({ ...column, data: [...column.data], nullable: true }));
  writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize })));
}
