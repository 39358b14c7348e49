/**
 * Registers a HATS directory after checks, so that crossmatching can rely on the registration; and repeats the checks
 * later.
 */

import { ReadFailure } from '@nearsky/astrotables/files';
import {
  CatalogError,
  catalogFiles,
  columnTexts,
  type FilesOptions,
  type HatsTable,
  hasOptional,
  isRemote,
  openHats,
  REMOTE_CONCURRENCY,
  withParquet,
} from '@nearsky/hats';
import { COMMON_METADATA_FILE } from '@nearsky/hats/layout';
import { findSkymap } from '@nearsky/hats/skymap';
import { eachConcurrently } from '../../core/base/concurrency.ts';
import { type CatalogDefinition, catalogDefinition } from '../../core/contract/catalogs.ts';
import { TEXT_ID } from '../../core/contract/source_ids.ts';
import type {
  CatalogColumns,
  CatalogRegistration,
  PayloadColumn,
  RowCounts,
} from '../../core/store/catalog_registration.ts';
import { type ColumnOptions, columnsIn, differencesIn, findColumn, narrowTypes, resolveColumns } from './columns.ts';
import { type ChosenFootprint, coverageFromMap, coverageFromRows, orderOf } from './coverage.ts';
import { defineCatalog, leftOutColumns, type UndefinedCatalog } from './definition.ts';
import { PixelSet } from './pixel_set.ts';
import { checkSomeRows, sampledFiles } from './row_pixels.ts';
import { type CatalogSchema, lossIn, readSchema } from './schema.ts';
import { checkSomeIds, type Survey, type SurveyOptions, type SurveyProgress, surveyCatalog } from './survey.ts';

export interface RegisterOptions extends ColumnOptions, FilesOptions {
  readonly addedAtUs: number;
  /** Replaces the release of the definition. */
  readonly release?: string | undefined;
  /**
   * `files`: checks that the files exist. `footers`: also that they can be used. `rows`: also counts the rows with a
   * position. Default: `rows` for a local catalog, `footers` for a remote one. A catalog without a coverage map always
   * gets `rows`, because its footprint is built from them.
   */
  readonly depth?: 'files' | SurveyOptions['depth'];
  /** The footprint, if an operator states it. */
  readonly footprint?: ChosenFootprint | undefined;
  /** Stores the positions of the rows that are read. */
  readonly positions?: SurveyOptions['positions'];
  /** Called during the survey of the files. */
  readonly onProgress?: (progress: SurveyProgress) => void;
}

/** Kinds of HATS table whose rows are sources with positions. */
const SOURCE_TABLES = new Set(['object', 'source']);
/** The number of missing files that a message names. */
const LISTED = 3;

/**
 * Reads the properties of a catalog, local or remote, checks that all files exist and have the columns, and finds the
 * footprint.
 * @param catalog the definition, or a catalog that is to be defined by its description and its own statements
 * @throws CatalogError, or ReadFailure when a file of the catalog cannot be read
 */
export async function registerCatalog(
  catalog: CatalogDefinition | UndefinedCatalog,
  location: string,
  options: RegisterOptions,
): Promise<CatalogRegistration> {
  const table = await openHats(location, options);
  checkTable(table);
  const map = await findSkymap(table);
  const depth = map ? (options.depth ?? usualDepth(table.files.location)) : 'rows';
  if (depth === 'files') await lookForFiles(table, options.onProgress);
  const first = await firstFile(table);
  const { definition, columns, leftOut } = await withParquet(table.files, first, async sample => {
    const schema = await catalogSchema(table, first, depth, options.onProgress);
    const texts = await columnTexts(table, sample);
    const definition = 'columns' in catalog ? catalog : defineCatalog(catalog, table, schema, texts);
    const columns = resolveColumns(schema, definition, options);
    const loss = await lossOf(table, schema, definition, columns);
    if (loss) throw loss;
    if (depth === 'files' && sample.rowGroups.length > 0) await checkSomeIds(sample, columnsIn(sample, columns), 0);
    return { definition, columns, leftOut: leftOutColumns(schema, definition) };
  });
  checkPartitionedBy(table, columns);
  if (depth === 'files') await checkSomeFiles(table, columns);
  const ours = catalogDefinition(definition.name);
  // For catalogs that the project describes, the order in the definition suits their density.
  const footprint = { order: definition.footprintOrder, isDense: ours !== undefined, chosen: options.footprint };
  const pixels = new PixelSet(map ? 0 : orderOf(footprint));
  const survey = depth === 'files' ? undefined : await usableFiles(table, columns, { ...options, depth, pixels });
  const narrow = narrowTypes(definition, columns);
  const coverage = map ? await coverageFromMap(table, map, footprint) : coverageFromRows(pixels, footprint);
  const { properties, partitions } = table;
  const rows = Number(properties.get('hats_nrows') ?? Number.NaN);
  const { name, release: described } = definition;
  const { release = described } = options;
  return {
    name,
    ...(ours ? release !== ours.release && { release } : { definition: { ...definition, release } }),
    location: table.files.location,
    addedAtUs: options.addedAtUs,
    partitions,
    columns,
    ...(Object.keys(narrow).length > 0 && { narrowTypes: narrow }),
    ...(leftOut && { leftOut }),
    coverage,
    counted: survey?.rows ?? null,
    hats: {
      rows: Number.isInteger(rows) ? rows : null,
      builder: properties.get('hats_builder') ?? null,
      releaseDate: properties.get('hats_release_date') ?? null,
    },
  };
}

/** The columns of all files, or at depth `files` those of some files and of the catalog's own metadata. */
async function catalogSchema(
  { files, partitions }: HatsTable,
  first: string,
  depth: RegisterOptions['depth'],
  onProgress: RegisterOptions['onProgress'] = () => {},
): Promise<CatalogSchema> {
  const hasCommon = await hasOptional(files, COMMON_METADATA_FILE);
  const common = hasCommon && (await withParquet(files, COMMON_METADATA_FILE, ({ columns }) => columns));
  const names = partitions.flatMap(partition => partition.files);
  const isSample = depth === 'files';
  const read = isSample ? new Set([names.indexOf(first), ...sampledFiles(names.length)]) : names.keys();
  const onFile = (filesDone: number) => onProgress({ files: names.length, filesDone, rows: 0 });
  const union = await readSchema(files, names, [...read], onFile);
  return union.end(files.location, common || new Map(), isSample);
}

/** The error about the first column whose type has not all values of the files. */
async function lossOf(
  { files, partitions }: Pick<HatsTable, 'files' | 'partitions'>,
  schema: CatalogSchema,
  { columns: described }: Pick<CatalogDefinition, 'columns'>,
  { payload }: CatalogColumns,
): Promise<CatalogError | undefined> {
  for (const [i, { column }] of payload.entries()) {
    const own = column === null ? undefined : findColumn(schema, column);
    const loss = own === undefined ? undefined : await lossIn(files, partitions, schema, own, described[i]!.type);
    if (loss) return loss;
  }
  return undefined;
}

function checkTable({ files: { location }, type, partitions }: HatsTable): void {
  if (!SOURCE_TABLES.has(type))
    throw new CatalogError(`Cannot add ${location} because it must be a table of sources: it is a HATS ${type} table`);
  if (partitions.length === 0) throw new CatalogError(`Cannot add ${location} because it has no partitions`);
  const empty = partitions.filter(({ files }) => files.length === 0);
  if (empty.length > 0)
    throw missingFiles(
      location,
      empty.map(({ order, ipix }) => `Norder=${order}/Npix=${ipix}/`),
    );
}

/** Returns an existing file of the first few partitions; if none exists, the first file, which cannot be opened then. */
async function firstFile({ files, partitions }: HatsTable): Promise<string> {
  for (const { files: names } of partitions.slice(0, LISTED)) if (await files.has(names[0]!)) return names[0]!;
  return partitions[0]!.files[0]!;
}

async function lookForFiles(
  { files, partitions }: HatsTable,
  onProgress: RegisterOptions['onProgress'] = () => {},
): Promise<void> {
  const names = partitions.flatMap(partition => partition.files);
  const missing: string[] = [];
  let filesDone = 0;
  await eachConcurrently(names, isRemote(files.location) ? REMOTE_CONCURRENCY : 1, async name => {
    if (!(await files.has(name))) missing.push(name);
    onProgress({ files: names.length, filesDone: ++filesDone, rows: 0 });
  });
  if (missing.length > 0) throw missingFiles(files.location, missing);
}

/** Compares some rows of some files with their pixels. Files that cannot be read are left to `catalog check`. @throws CatalogError */
async function checkSomeFiles({ files, partitions }: HatsTable, columns: CatalogColumns): Promise<void> {
  const all = partitions.flatMap(partition => partition.files.map(name => ({ name, partition })));
  const sampled = Array.from(sampledFiles(all.length), index => all[index]!);
  await eachConcurrently(sampled, isRemote(files.location) ? REMOTE_CONCURRENCY : 1, ({ name, partition }) =>
    withParquet(files, name, async file => {
      await checkSomeRows(file, partition, columnsIn(file, columns));
    }).catch(error => {
      if (!(error instanceof ReadFailure)) throw error;
    }),
  );
}

/** @throws CatalogError if some file cannot be used, or ReadFailure if the only problem is reading */
async function usableFiles(
  { files, partitions }: HatsTable,
  columns: CatalogColumns,
  options: SurveyOptions,
): Promise<Survey> {
  const survey = await surveyCatalog(files, partitions, columns, options);
  const { rows, missing, problems } = survey;
  if (missing.length > 0) throw missingFiles(files.location, missing);
  if (problems.length === 0) {
    if (rows.rows > 0 && rows.withoutId === rows.rows) throw withoutIds(files.location, columns.id, rows);
    return survey;
  }
  const Kind = problems.every(problem => problem instanceof ReadFailure) ? ReadFailure : CatalogError;
  const more = problems.length > LISTED ? `, and ${problems.length - LISTED} more files` : '';
  throw new Kind(
    problems
      .slice(0, LISTED)
      .map(({ message }) => message)
      .join('; ') + more,
  );
}

function withoutIds(location: string, column: string, { refusedIds }: RowCounts): CatalogError {
  const found = refusedIds ? `: a text has to be ${TEXT_ID} (${refusedIds.first} was found)` : '';
  return new CatalogError(`Cannot add ${location} because no row has an id in its column ${column}${found}`);
}

function missingFiles(location: string, missing: readonly string[]): CatalogError {
  const more = missing.length > LISTED ? ` and ${missing.length - LISTED} more` : '';
  return new CatalogError(
    `Cannot add ${location} because files of its partitions are missing: ${[...missing].sort().slice(0, LISTED).join(', ')}${more}. ` +
      'Copy them, or take their lines out of partition_info.csv: then the footprint ends where they would begin',
  );
}

/**
 * Searches look for a source in the partition of its position. Rows that are partitioned by another position would be
 * missed silently.
 */
function checkPartitionedBy({ files: { location }, properties }: HatsTable, columns: CatalogColumns): void {
  for (const [property, column] of [
    ['hats_col_ra', columns.ra],
    ['hats_col_dec', columns.dec],
  ] as const) {
    const stated = properties.get(property);
    if (stated === undefined || stated.toLowerCase() === column.toLowerCase()) continue;
    throw new CatalogError(
      `Cannot add ${location} because it must be partitioned by column ${column}: ${property} is ${stated}. Import it anew with that column`,
    );
  }
}

export interface CatalogCheck extends RowCounts, Pick<CatalogRegistration, 'leftOut'> {
  readonly files: number;
  /** One line for each file that cannot be used, then one for each column that is not as it was. */
  readonly problems: readonly string[];
  /** The payload columns in which files differ; undefined if there are none. */
  readonly differing?: readonly PayloadColumn[];
}

/**
 * Checks every file of a registered catalog. A file that cannot be used is a problem, not an error.
 * @throws CatalogError as `surveyCatalog` does
 */
export async function checkCatalog(
  { name, definition, location, partitions, columns }: CatalogRegistration,
  options: FilesOptions & Partial<SurveyOptions> = {},
): Promise<CatalogCheck> {
  const depth = options.depth ?? usualDepth(location);
  const files = await catalogFiles(location, options);
  const found = await surveyCatalog(files, partitions, columns, { ...options, depth });
  const { schema } = found;
  const described = (catalogDefinition(name) ?? definition)!;
  const problems = found.problems.map(({ message }) => message);
  const differing = columns.payload.flatMap(({ key, column }): PayloadColumn[] => {
    if (column === null || schema.files === 0) return [];
    const own = findColumn(schema, column);
    const differences = own === undefined ? {} : differencesIn(schema, own);
    if (own === undefined)
      problems.push(
        `No file has column ${column}, which the catalog had when it was added: add the catalog again, or restore its files`,
      );
    return Object.keys(differences).length > 0 ? [{ key, column, ...differences }] : [];
  });
  const loss = await lossOf({ files, partitions }, schema, described, columns);
  if (loss) problems.push(loss.message);
  const leftOut = leftOutColumns(schema, described);
  return {
    files: found.files,
    ...found.rows,
    problems,
    ...(leftOut && { leftOut }),
    ...(differing.length > 0 && { differing }),
  };
}

/** Reading the positions takes seconds to minutes for a local catalog, and perhaps days for a remote one. */
function usualDepth(location: string): SurveyOptions['depth'] {
  return isRemote(location) ? 'footers' : 'rows';
}
