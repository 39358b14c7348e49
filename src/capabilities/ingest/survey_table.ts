/** Reads a survey's table of objects, in Parquet files or as a HATS catalog: one id and one position per row. */

import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describeParquet, findPositions, type NamedColumns, positionReader, TableError } from '@nearsky/astrotables';
import type { Frame } from '@nearsky/astrotables/frames';
import { type ColumnKind, openParquet, type ParquetFile } from '@nearsky/astrotables/parquet';
import { CatalogError, catalogFiles, isHats, isRemote, openHats, openLocalFile } from '@nearsky/hats';
import { PARQUET_NAME, partitionFile } from '@nearsky/hats/layout';
import { wrapRa } from '@nearsky/sky-index';
import { isStoredId, STORED_IDS } from '../../core/contract/limits.ts';
import { findColumn } from '../catalogs/columns.ts';
import { REMOTE_READING } from '../catalogs/remote_options.ts';
import { noOutcomes, type Outcomes } from './ingester.ts';
import { parsePosition } from './normalise.ts';
import { rejectOf } from './rejects.ts';

/** The names of the table's columns. */
interface TableColumns {
  readonly id: string;
  readonly ra: string;
  readonly dec: string;
}

/** Converts the coordinates of a position to degrees in ICRS. */
export type ToIcrs = (ra: number, dec: number) => readonly [ra: number, dec: number];

/** Opens one of the table's files. */
type TableFile = () => Promise<ParquetFile>;

const ID_KINDS: readonly ColumnKind[] = ['integer64', 'unsigned64', 'integer32', 'unsigned32'];
/** `float` is not accepted, because 32-bit right ascensions have steps of up to 0.11 arcsec. */
const POSITION_KINDS: readonly ColumnKind[] = ['double'];
/** A path through a folder such as `_temporary`, which holds no data. */
const HIDDEN = /(?:^|[\\/])[_.]/;
/** The number of rows per commit. */
const BATCH_ROWS = 20_000;

/**
 * The files of the table at a path: a Parquet file, a HATS catalog or collection, or a directory with Parquet files in
 * it.
 * @throws CatalogError if the path is none of these
 */
export async function tableFiles(location: string): Promise<TableFile[]> {
  if (!isRemote(location)) {
    const found = statSync(location, { throwIfNoEntry: false });
    if (!found) throw new CatalogError(`Cannot read ${location} because there is no such file or directory`);
    if (found.isFile()) return [() => openParquet(openLocalFile(location))];
  }
  const files = await catalogFiles(location, { remote: REMOTE_READING });
  if (await isHats(files)) {
    const table = await openHats(location, { remote: REMOTE_READING });
    const empty = table.partitions.find(({ files }) => files.length === 0);
    if (empty)
      throw new CatalogError(`Cannot read ${location} because its partition ${partitionFile(empty, '/')} has no files`);
    return table.partitions.flatMap(partition =>
      partition.files.map(name => async () => openParquet(await table.files.open(name))),
    );
  }
  const names = readdirSync(location, { recursive: true, encoding: 'utf8' });
  const parquet = names.filter(name => PARQUET_NAME.test(basename(name)) && !HIDDEN.test(name)).sort();
  if (parquet.length === 0) {
    throw new CatalogError(
      `Cannot read ${location} as a table because it is not a HATS catalog and holds no .parquet file`,
    );
  }
  return parquet.map(name => () => openParquet(openLocalFile(join(location, name))));
}

/**
 * Reads the rows of a file in batches, as deliveries in the order of their ids. A row without an id is rejected; a
 * missing or invalid position is null.
 * @param toIcrsOf returns the function that converts the positions of a file to ICRS; called after its columns were
 * found
 * @param origin the name under which deliveries are recorded
 * @throws CatalogError if a column is missing or of an unusable type; ReadFailure if the file is damaged
 */
export async function* readTable(
  file: ParquetFile,
  columns: TableColumns,
  toIcrsOf: (file: ParquetFile) => Promise<ToIcrs>,
  origin: string,
  eventTimeUs: number,
): AsyncGenerator<Outcomes> {
  const id = need(file, columns.id, ID_KINDS);
  const [ra, dec] = [need(file, columns.ra, POSITION_KINDS), need(file, columns.dec, POSITION_KINDS)];
  const convert = await toIcrsOf(file);
  for (const [group, { rowStart, rowEnd }] of file.rowGroups.entries()) {
    const [ras, decs] = [await file.readNumbers(ra, group), await file.readNumbers(dec, group)];
    for (let from = rowStart; from < rowEnd; from += BATCH_ROWS) {
      const rows = Uint32Array.from({ length: Math.min(BATCH_ROWS, rowEnd - from) }, (_, i) => from + i);
      const ids = await file.readValues(id, rows);
      const outcomes = noOutcomes();
      outcomes.read = rows.length;
      for (const [i, row] of rows.entries()) {
        const diaObjectId = idOf(ids[i]);
        if (diaObjectId === undefined) {
          const reason = `${columns.id} must be ${STORED_IDS}: current value is ${ids[i]}`;
          outcomes.rejects.push(rejectOf({ file: file.name, line: row + 1 }, reason, `${ids[i]}`));
          continue;
        }
        const [icrsRa, icrsDec] = convert(ras[row - rowStart]!, decs[row - rowStart]!);
        const position = parsePosition(wrapRa(icrsRa), icrsDec);
        outcomes.deliveries.push({ diaObjectId, position, reliability: null, eventTimeUs, broker: origin });
      }
      yield outcomes;
    }
  }
}

function idOf(value: unknown): bigint | undefined {
  const id = typeof value === 'number' ? BigInt(value) : value;
  return typeof id === 'bigint' && isStoredId(id) ? id : undefined;
}

function need(file: ParquetFile, name: string, kinds: readonly ColumnKind[]): string {
  const column = findColumn(file, name);
  if (column === undefined) {
    const all = [...file.columns.keys()].join(', ');
    throw new CatalogError(`Cannot read ${file.name} because it has no column ${name}: it has ${all}`);
  }
  const kind = file.columns.get(column)!;
  if (kinds.includes(kind)) return column;
  throw new CatalogError(
    `Cannot use column ${column} of ${file.name} because its type is ${kind}: it must be ${kinds.join(' or ')}`,
  );
}

/**
 * The frame of a file's positions, as `findPositions` finds it, and the function that converts them to ICRS.
 * @throws CatalogError if their frame or unit cannot be converted
 */
export async function declaredPositions(
  file: ParquetFile,
  named: NamedColumns,
): Promise<{ readonly frame: Frame; readonly toIcrs: ToIcrs }> {
  try {
    const table = await describeParquet(file);
    const found = findPositions(table, named);
    return { frame: found.frame, toIcrs: positionReader(table, found) };
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    throw new CatalogError(`Cannot read ${file.name} because ${error.message}`);
  }
}
