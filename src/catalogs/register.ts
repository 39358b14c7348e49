/** From a HATS directory to a registration that crossmatching can trust, and whether it still can. */

import { isRemote } from './address.ts';
import { type ColumnOptions, checkColumns, resolveColumns } from './columns.ts';
import { coverageFromMap, coverageFromRows, findCoverageMap, type RowProgress } from './coverage.ts';
import { CatalogError, ReadFailure, withStableFile } from './errors.ts';
import { type CatalogFiles, catalogFiles, type FilesOptions } from './files.ts';
import { type HatsTable, openHats } from './hats.ts';
import { inLanes, REMOTE_LANES } from './lanes.ts';
import { openParquet, type ParquetFile } from './parquet.ts';
import type { CatalogColumns, CatalogDefinition, CatalogRegistration } from './types.ts';

export interface RegisterOptions extends ColumnOptions, FilesOptions {
  readonly addedAtUs: number;
  /** Called while the files are looked for. */
  readonly onFile?: (filesDone: number, files: number) => void;
  /** Called while the footprint is built from the rows; not at all where the catalog has a map. */
  readonly onProgress?: (progress: RowProgress) => void;
}

/** Kinds of HATS table whose rows are sources with positions. */
const SOURCE_TABLES = new Set(['object', 'source']);
/** Names of missing files that a message lists. */
const LISTED = 3;

/**
 * Reads what a catalog's directory, local or remote, says, checks that all its files are there and have the columns, and finds its
 * footprint.
 * @throws CatalogError, or ReadFailure when a file of it cannot be read
 */
export async function registerCatalog(
  definition: CatalogDefinition,
  location: string,
  options: RegisterOptions,
): Promise<CatalogRegistration> {
  const table = await openHats(location, options);
  await checkTable(table, options.onFile);
  const columns = await withFile(table.files, table.partitions[0]!.files[0]!, sample =>
    resolveColumns(sample, definition, options),
  );
  checkPartitionedBy(table, columns);
  const map = await findCoverageMap(table);
  const coverage = map
    ? await coverageFromMap(table.files, map, definition.footprintOrder)
    : await coverageFromRows(table, columns, definition.footprintOrder, options.onProgress);
  const { properties, partitions } = table;
  const rows = Number(properties.get('hats_nrows') ?? Number.NaN);
  return {
    name: definition.name,
    location: table.files.location,
    addedAtUs: options.addedAtUs,
    partitions,
    columns,
    coverage,
    hats: {
      rows: Number.isInteger(rows) ? rows : null,
      builder: properties.get('hats_builder') ?? null,
      releaseDate: properties.get('hats_release_date') ?? null,
    },
  };
}

async function withFile<T>(files: CatalogFiles, name: string, use: (file: ParquetFile) => T): Promise<T> {
  return withStableFile(async () => {
    const file = await openParquet(await files.open(name));
    try {
      return use(file);
    } finally {
      file.close();
    }
  });
}

async function checkTable(
  { files, type, partitions }: HatsTable,
  onFile: RegisterOptions['onFile'] = () => {},
): Promise<void> {
  const { location } = files;
  if (!SOURCE_TABLES.has(type)) {
    throw new CatalogError(`Cannot add ${location} as it must be a table of sources: it is a HATS ${type} table`);
  }
  if (partitions.length === 0) throw new CatalogError(`Cannot add ${location} as it has no partitions`);
  const missing = partitions.flatMap(({ order, ipix, files }) =>
    files.length === 0 ? [`Norder=${order}/Npix=${ipix}/`] : [],
  );
  const names = partitions.flatMap(partition => partition.files);
  let done = 0;
  await inLanes(names, isRemote(location) ? REMOTE_LANES : 1, async name => {
    if (!(await files.has(name))) missing.push(name);
    onFile(++done, names.length);
  });
  if (missing.length > 0) {
    const more = missing.length > LISTED ? ` and ${missing.length - LISTED} more` : '';
    throw new CatalogError(
      `Cannot add ${location} as files of its partitions are missing: ${missing.sort().slice(0, LISTED).join(', ')}${more}. ` +
        'Copy them, or take their lines out of partition_info.csv',
    );
  }
}

/** A source is looked for in the partition of its position: rows that are partitioned by another would be missed without a word. */
function checkPartitionedBy({ files: { location }, properties }: HatsTable, columns: CatalogColumns): void {
  for (const [property, column] of [
    ['hats_col_ra', columns.ra],
    ['hats_col_dec', columns.dec],
  ] as const) {
    const stated = properties.get(property);
    if (stated === undefined || stated.toLowerCase() === column.toLowerCase()) continue;
    throw new CatalogError(
      `Cannot add ${location} as it must be partitioned by column ${column}: ${property} is ${stated}. Import it anew with that column`,
    );
  }
}

/** What looking at every file of a registered catalog found. */
export interface CatalogCheck {
  readonly files: number;
  readonly rows: number;
  /** One line for each file that cannot be used. */
  readonly problems: readonly string[];
}

/** Reads the footer of every file of a registered catalog; a file that cannot be used is a problem, not an error. */
export async function checkCatalog(
  { location, partitions, columns }: CatalogRegistration,
  options: FilesOptions = {},
  onProgress: (filesDone: number) => void = () => {},
): Promise<CatalogCheck> {
  const files = await catalogFiles(location, options);
  const names = partitions.flatMap(partition => partition.files);
  const problems: (readonly [index: number, problem: string])[] = [];
  let [rows, done] = [0, 0];
  await inLanes(names, isRemote(location) ? REMOTE_LANES : 1, async (name, index) => {
    try {
      await withFile(files, name, file => {
        rows += file.rows;
        checkColumns(file, columns);
      });
    } catch (error) {
      if (!(error instanceof ReadFailure || error instanceof CatalogError)) throw error;
      problems.push([index, error.message]);
    }
    onProgress(++done);
  });
  problems.sort(([a], [b]) => a - b);
  return { files: names.length, rows, problems: problems.map(([, problem]) => problem) };
}
