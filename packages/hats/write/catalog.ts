/**
 * Writes the files of a HATS catalog, except its partitions: properties, the list of partitions, the schema, the sky
 * map.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  COLLECTION_FILE,
  COMMON_METADATA_FILE,
  HEALPIX_COLUMN,
  HEALPIX_ORDER,
  INFO_FILE,
  PARTITION_SUFFIX,
  type Pixel,
  POINT_MAP_FILE,
  PROPERTIES_FILES,
} from '../layout.ts';
import { type Properties, propertiesText } from '../properties.ts';
import { skymapOf } from '../skymap.ts';
import { type HatsColumn, writeRows } from './rows.ts';

export interface WrittenPartition extends Pixel {
  readonly rows: number;
  readonly bytes: number;
}

/** A catalog whose partitions are already written. */
export interface WrittenCatalog {
  readonly name: string;
  /** For a margin: the catalog that it belongs to, and its width. */
  readonly marginOf?: { readonly name: string; readonly arcsec: number } | undefined;
  readonly columns: readonly HatsColumn[];
  /** The names of the position columns; positions are in degrees. */
  readonly ra: string;
  readonly dec: string;
  readonly partitions: readonly WrittenPartition[];
  /** The number of rows in each pixel of the map; undefined for a margin. */
  readonly map?: { readonly order: number; readonly counts: Uint32Array } | undefined;
  /** The row limit per partition. */
  readonly maxRows: number;
}

/** The values that all properties files of an export contain. */
export interface ExportFacts {
  /** The name of the program that writes. */
  readonly program: string;
  /** The program with its version. */
  readonly builder: string;
  readonly created: Date;
  /** The program's own properties. */
  readonly further?: Properties;
}

export function writeCatalogFiles(directory: string, catalog: WrittenCatalog, facts: ExportFacts): void {
  const { columns, partitions, map } = catalog;
  const put = (name: string, content: string | Uint8Array) => putFile(join(directory, name), content);
  const properties = propertiesText('HATS catalog', propertiesOf(catalog, facts));
  for (const name of PROPERTIES_FILES) put(name, properties);
  const pixels = partitions.map(({ order, ipix }) => `${order},${ipix}\n`);
  put(INFO_FILE, `Norder,Npix\n${pixels.join('')}`);
  writeRows(join(directory, COMMON_METADATA_FILE), {
    program: facts.program,
    columns,
    length: 0,
    valuesOf: () => undefined,
  });
  if (map) put(POINT_MAP_FILE, skymapOf(map.order, map.counts));
}

export function writeCollectionFile(directory: string, name: string, margin: string | undefined): void {
  const properties = {
    obs_collection: name,
    hats_primary_table_url: name,
    ...(margin && { all_margins: margin, default_margin: margin }),
  };
  putFile(join(directory, COLLECTION_FILE), propertiesText('HATS collection', properties));
}

function propertiesOf(catalog: WrittenCatalog, { builder, created, further }: ExportFacts): Properties {
  const { name, marginOf, ra, dec, partitions, maxRows } = catalog;
  const sum = (of: (partition: WrittenPartition) => number) => partitions.reduce((total, each) => total + of(each), 0);
  const sky = sum(({ order }) => 1 / (12 * 4 ** order));
  return {
    obs_collection: name,
    dataproduct_type: marginOf ? 'margin' : 'object',
    hats_nrows: sum(({ rows }) => rows),
    hats_col_ra: ra,
    hats_col_dec: dec,
    hats_col_healpix: HEALPIX_COLUMN,
    hats_col_healpix_order: HEALPIX_ORDER,
    hats_npix_suffix: PARTITION_SUFFIX,
    ...(marginOf && { hats_primary_table_url: marginOf.name, hats_margin_threshold: marginOf.arcsec }),
    hats_order: Math.max(0, ...partitions.map(({ order }) => order)),
    hats_max_rows: maxRows,
    hats_estsize: Math.ceil(sum(({ bytes }) => bytes) / 1024),
    moc_sky_fraction: Number(sky.toPrecision(5)),
    hats_builder: builder,
    hats_creation_date: created.toISOString().replace(/\.\d+Z$/, 'UTC'),
    hats_release_date: '2024-09-18',
    hats_version: 'v0.1',
    ...further,
  };
}

function putFile(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content, { flush: true });
}
