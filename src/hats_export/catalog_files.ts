/**
 * The files of a HATS catalog beside its partitions: properties, the list of partitions, the schema, the map of the
 * sky.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fitsHeader, wholeBlocks } from '@nearsky/astrotables/fits';
import type { CatalogColumn } from './columns.ts';
import { parquetFile } from './parquet_file.ts';
import { MARGIN_ARCSEC } from './partitions.ts';

export interface WrittenPartition {
  readonly order: number;
  readonly ipix: number;
  readonly rows: number;
  readonly bytes: number;
}

/** A catalog whose partitions are written. */
export interface WrittenCatalog {
  readonly name: string;
  /** If it is a margin, the catalog that it belongs to. */
  readonly marginOf?: string;
  readonly columns: readonly CatalogColumn[];
  readonly partitions: readonly WrittenPartition[];
  /** The number of rows in each pixel of the map; undefined for a margin. */
  readonly map?: { readonly order: number; readonly counts: Uint32Array };
  /** The row limit per partition of the export. */
  readonly maxRows: number;
}

/** The values that all properties files of an export contain. */
export interface ExportFacts {
  /** For example `nearsky 0.16.2`. */
  readonly builder: string;
  readonly created: Date;
  /** The last journal entry in the export. */
  readonly sequence: number;
  /** Only objects that changed after this journal entry are exported; undefined for an export of everything. */
  readonly since: number | undefined;
}

export function writeCatalogFiles(directory: string, catalog: WrittenCatalog, facts: ExportFacts): void {
  const { partitions, map } = catalog;
  const put = (name: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content, { flush: true });
  };
  const properties = propertiesText('HATS catalog', propertiesOf(catalog, facts));
  put('hats.properties', properties);
  put('properties', properties);
  const pixels = partitions.map(({ order, ipix }) => `${order},${ipix}\n`);
  put('partition_info.csv', `Norder,Npix\n${pixels.join('')}`);
  put(
    'dataset/_common_metadata',
    parquetFile(catalog.columns, () => undefined, 0),
  );
  if (map) put('point_map.fits', pointMap(map.order, map.counts));
}

/** The properties of a collection: a catalog, and its margin if it has one. */
export function writeCollectionFile(directory: string, name: string, margin: string | undefined): void {
  const properties = {
    obs_collection: name,
    hats_primary_table_url: name,
    ...(margin && { all_margins: margin, default_margin: margin }),
  };
  writeFileSync(join(directory, 'collection.properties'), propertiesText('HATS collection', properties), {
    flush: true,
  });
}

function propertiesOf(catalog: WrittenCatalog, facts: ExportFacts): Record<string, string | number> {
  const { name, marginOf, partitions, maxRows } = catalog;
  const sum = (of: (partition: WrittenPartition) => number) => partitions.reduce((total, each) => total + of(each), 0);
  const created = facts.created.toISOString().replace(/\.\d+Z$/, 'UTC');
  const sky = sum(({ order }) => 1 / (12 * 4 ** order));
  return {
    obs_collection: name,
    dataproduct_type: marginOf ? 'margin' : 'object',
    hats_nrows: sum(({ rows }) => rows),
    hats_col_ra: 'ra',
    hats_col_dec: 'dec',
    hats_col_healpix: '_healpix_29',
    hats_col_healpix_order: 29,
    hats_npix_suffix: '.parquet',
    ...(marginOf && { hats_primary_table_url: marginOf, hats_margin_threshold: MARGIN_ARCSEC }),
    hats_order: Math.max(0, ...partitions.map(({ order }) => order)),
    hats_max_rows: maxRows,
    hats_estsize: Math.ceil(sum(({ bytes }) => bytes) / 1024),
    moc_sky_fraction: Number(sky.toPrecision(5)),
    hats_builder: facts.builder,
    hats_creation_date: created,
    hats_release_date: '2024-09-18',
    hats_version: 'v0.1',
    nearsky_journal_entry: facts.sequence,
    ...(facts.since !== undefined && { nearsky_since_journal_entry: facts.since }),
  };
}

function propertiesText(head: string, properties: Readonly<Record<string, string | number>>): string {
  return `#${head}\n${Object.entries(properties)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')}`;
}

/** Rows of the table of a map, in the layout of astropy's and healpy's writers. */
const MAP_REPEAT = 1024;

/** A HEALPix map as FITS: a binary table of 64-bit integers, NESTED. */
function pointMap(order: number, counts: Uint32Array): Uint8Array {
  const repeat = Math.min(MAP_REPEAT, counts.length);
  const table = {
    XTENSION: 'BINTABLE',
    BITPIX: 8,
    NAXIS: 2,
    NAXIS1: 8 * repeat,
    NAXIS2: counts.length / repeat,
    PCOUNT: 0,
    GCOUNT: 1,
    TFIELDS: 1,
    TTYPE1: 'PIXEL_COUNT',
    TFORM1: `${repeat}K`,
    PIXTYPE: 'HEALPIX',
    ORDERING: 'NESTED',
    COORDSYS: 'C',
    NSIDE: 2 ** order,
    FIRSTPIX: 0,
    LASTPIX: counts.length - 1,
    INDXSCHM: 'IMPLICIT',
    OBJECT: 'FULLSKY',
  };
  const data = new DataView(new ArrayBuffer(wholeBlocks(8 * counts.length)));
  for (let pixel = 0; pixel < counts.length; pixel++) data.setBigInt64(8 * pixel, BigInt(counts[pixel]!));
  const header = fitsHeader({ SIMPLE: true, BITPIX: 8, NAXIS: 0, EXTEND: true }) + fitsHeader(table);
  return Buffer.concat([Buffer.from(header, 'latin1'), new Uint8Array(data.buffer)]);
}
