/** From a HATS directory to a registration that crossmatching can trust, and whether it still can. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type ColumnOptions, checkColumns, resolveColumns } from './columns.ts';
import { coverageFromMap, coverageFromRows, findCoverageMap, type RowProgress } from './coverage.ts';
import { CatalogError, ReadFailure } from './errors.ts';
import { type HatsTable, openHats } from './hats.ts';
import { openParquet } from './parquet.ts';
import type { CatalogColumns, CatalogDefinition, CatalogRegistration } from './types.ts';

export interface RegisterOptions extends ColumnOptions {
  readonly addedAtUs: number;
  /** Called while the footprint is built from the rows; not at all where the catalog has a map. */
  readonly onProgress?: (progress: RowProgress) => void;
}

/** Kinds of HATS table whose rows are sources with positions. */
const SOURCE_TABLES = new Set(['object', 'source']);
/** Names of missing files that a message lists. */
const LISTED = 3;

/**
 * Reads what a catalog's directory says, checks that all its files are there and have the columns, and finds its
 * footprint.
 * @throws CatalogError, or ReadFailure when a file of it cannot be read
 */
export async function registerCatalog(
  definition: CatalogDefinition,
  location: string,
  options: RegisterOptions,
): Promise<CatalogRegistration> {
  const table = await openHats(location);
  checkTable(table);
  const sample = await openParquet(join(table.location, table.partitions[0]!.files[0]!));
  let columns: CatalogRegistration['columns'];
  try {
    columns = resolveColumns(sample, definition, options);
  } finally {
    sample.close();
  }
  checkPartitionedBy(table, columns);
  const map = findCoverageMap(table.location);
  const coverage = map
    ? coverageFromMap(map, definition.footprintOrder)
    : await coverageFromRows(table, columns, definition.footprintOrder, options.onProgress);
  const { properties, partitions } = table;
  const rows = Number(properties.get('hats_nrows') ?? Number.NaN);
  return {
    name: definition.name,
    location: table.location,
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

function checkTable({ location, type, partitions }: HatsTable): void {
  if (!SOURCE_TABLES.has(type)) {
    throw new CatalogError(`Cannot add ${location} as it must be a table of sources: it is a HATS ${type} table`);
  }
  if (partitions.length === 0) throw new CatalogError(`Cannot add ${location} as it has no partitions`);
  const missing = partitions.flatMap(({ order, ipix, files }) =>
    files.length === 0 ? [`Norder=${order}/Npix=${ipix}/`] : files.filter(file => !existsSync(join(location, file))),
  );
  if (missing.length > 0) {
    const more = missing.length > LISTED ? ` and ${missing.length - LISTED} more` : '';
    throw new CatalogError(
      `Cannot add ${location} as files of its partitions are missing: ${missing.slice(0, LISTED).join(', ')}${more}. ` +
        'Copy them, or take their lines out of partition_info.csv',
    );
  }
}

/** A source is looked for in the partition of its position: rows that are partitioned by another would be missed without a word. */
function checkPartitionedBy({ location, properties }: HatsTable, columns: CatalogColumns): void {
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
  registration: CatalogRegistration,
  onProgress: (filesDone: number) => void = () => {},
): Promise<CatalogCheck> {
  const paths = registration.partitions.flatMap(({ files }) => files.map(file => join(registration.location, file)));
  const problems: string[] = [];
  let rows = 0;
  for (const [filesDone, path] of paths.entries()) {
    try {
      const file = await openParquet(path);
      rows += file.rows;
      try {
        checkColumns(file, registration.columns);
      } finally {
        file.close();
      }
    } catch (error) {
      if (!(error instanceof ReadFailure || error instanceof CatalogError)) throw error;
      problems.push(error.message);
    }
    onProgress(filesDone + 1);
  }
  return { files: paths.length, rows, problems };
}
