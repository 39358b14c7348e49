/** The files of a HATS catalog: Parquet, coverage maps, properties, the list of partitions. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenFile } from '@nearsky/astrotables/files';
import { ReadFailure } from '@nearsky/astrotables/files';
import { openParquet } from '@nearsky/astrotables/parquet';
import { CatalogError, openHats, parseProperties } from '@nearsky/hats';
import { openHealpixMap } from '@nearsky/hats/skymap';
import { orRefused, type Target } from '../target.ts';

/** A file in memory, which holds readers to what they may ask for. */
function fileOf(bytes: Uint8Array): OpenFile {
  return {
    name: 'input',
    byteLength: bytes.length,
    read: async (start, end) => {
      if (!(start >= 0 && end >= start && end <= bytes.length))
        throw new ReadFailure(`Cannot read input: it has ${bytes.length} bytes, and ${start} to ${end} are wanted`);
      return new Uint8Array(bytes.subarray(start, end)).buffer;
    },
    close: () => {},
  };
}

/** A file that states more rows than this is not read here, because no file that small can hold them. */
const MAX_ROWS = 100_000;

const parquet: Target = {
  name: 'parquet',
  isText: false,
  inputs: 2500,
  start: async () => ({
    run: async input => {
      const file = await orRefused(() => openParquet(fileOf(input)), ReadFailure);
      if (!file) return;
      file.rowGroupPaths();
      if (!(file.rows >= 0)) throw new Error(`the file has ${file.rows} rows`);
      for (const [column, kind] of file.columns) {
        for (const [group, { rowStart, rowEnd }] of file.rowGroups.entries()) {
          file.bounds(group, column);
          file.integerBounds(group, column);
          if (!(rowEnd - rowStart <= MAX_ROWS)) continue;
          if (kind === 'double' || kind === 'float') {
            const numbers = await orRefused(() => file.readNumbers(column, group), ReadFailure);
            if (numbers && numbers.length !== rowEnd - rowStart)
              throw new Error(`${numbers.length} numbers for ${rowEnd - rowStart} rows`);
          }
        }
        if (!(file.rows <= MAX_ROWS)) continue;
        const rows = Array.from({ length: Math.ceil(file.rows / 3) }, (_, i) => 3 * i);
        const values = await orRefused(() => file.readValues(column, rows), ReadFailure);
        if (values && (values.length !== rows.length || values.includes(undefined)))
          throw new Error('a row has no value');
        if (values && kind === 'integer64' && values.some(value => value !== null && typeof value !== 'bigint'))
          throw new Error(
            `a 64-bit integer is a ${typeof values.find(value => value !== null && typeof value !== 'bigint')}`,
          );
      }
    },
  }),
};

const fitsMap: Target = {
  name: 'fits_map',
  isText: false,
  inputs: 4000,
  start: async () => ({
    run: async input => {
      const map = await orRefused(() => openHealpixMap(fileOf(input)), CatalogError, ReadFailure);
      if (!map) return;
      const visit = (ipix: number) => {
        if (!(Number.isInteger(ipix) && ipix >= 0 && ipix < 12 * 4 ** map.order))
          throw new Error(`pixel ${ipix} of order ${map.order}`);
      };
      await orRefused(() => map.forEachCovered(visit), CatalogError, ReadFailure);
    },
  }),
};

const properties: Target = {
  name: 'properties',
  isText: true,
  inputs: 4000,
  start: async () => ({
    run: input => {
      for (const [key, value] of parseProperties(input.toString()))
        if (key === '' || typeof value !== 'string') throw new Error(`${JSON.stringify(key)} is ${value}`);
    },
  }),
};

const partitionInfo: Target = {
  name: 'partition_info',
  isText: true,
  inputs: 1500,
  start: async () => {
    const directory = mkdtempSync(join(tmpdir(), 'nearsky-fuzz-'));
    writeFileSync(join(directory, 'hats.properties'), 'dataproduct_type=object\n');
    return {
      run: async input => {
        writeFileSync(join(directory, 'partition_info.csv'), input);
        const table = await orRefused(() => openHats(directory), CatalogError, ReadFailure);
        for (const { order, ipix } of table?.partitions ?? [])
          if (!(Number.isInteger(ipix) && ipix >= 0 && ipix < 12 * 4 ** order && order <= 13))
            throw new Error(`partition ${order}/${ipix}`);
      },
      close: async () => rmSync(directory, { recursive: true }),
    };
  },
};

export const targets: readonly Target[] = [parquet, fitsMap, properties, partitionInfo];
