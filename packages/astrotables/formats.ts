/** The formats in which tables are written: names, media types and file name extensions. */
import type { BeginTable, TableWriter } from './write/table_writer.ts';

export type { BeginTable, TableWriter };

export interface Format {
  readonly name: string;
  /** The name in menus. */
  readonly title: string;
  readonly meaning: string;
  readonly mediaType: string;
  /** Parameters of the media type in the header `Content-Type`. */
  readonly parameters?: string;
  /** Other media types that clients may use for the format. */
  readonly synonyms?: readonly string[];
  /** File name extensions in lower case. New files get the first one. */
  readonly extensions: readonly [string, ...string[]];
}

/**
 * The formats in which rows can be written before all of them exist. Their media types are registered with IANA, except
 * VOTable's, which the IVOA defines.
 */
export const ROW_FORMATS = [
  {
    name: 'csv',
    title: 'CSV',
    meaning:
      'comma-separated values in UTF-8 after a line of column names; null is empty (two quotes in a single column), lines end with a line feed',
    mediaType: 'text/csv',
    parameters: '; charset=utf-8; header=present',
    extensions: ['csv'],
  },
  {
    name: 'tsv',
    title: 'TSV',
    meaning: 'the same as CSV, with tabs instead of commas',
    mediaType: 'text/tab-separated-values',
    parameters: '; charset=utf-8',
    extensions: ['tsv'],
  },
  {
    name: 'ecsv',
    title: 'ECSV',
    meaning: 'CSV after comments with the types, units and descriptions of its columns, as astropy reads it',
    mediaType: 'text/x-ecsv',
    parameters: '; charset=utf-8',
    extensions: ['ecsv'],
  },
  {
    name: 'json',
    title: 'JSON',
    meaning: 'one JSON document: the columns, facts about the table, and an array per row',
    mediaType: 'application/json',
    extensions: ['json'],
  },
  {
    name: 'ndjson',
    title: 'NDJSON',
    meaning: 'a flat JSON object per row, one per line; NaN and infinities become null',
    mediaType: 'application/x-ndjson',
    extensions: ['ndjson', 'jsonl'],
  },
  {
    name: 'votable',
    title: 'VOTable',
    meaning: 'VOTable 1.4, for TOPCAT, astropy and other clients of the Virtual Observatory',
    mediaType: 'application/x-votable+xml',
    synonyms: ['text/xml'],
    extensions: ['vot', 'votable', 'xml'],
  },
  {
    name: 'parquet',
    title: 'Parquet',
    meaning: 'Apache Parquet',
    mediaType: 'application/vnd.apache.parquet',
    synonyms: ['application/x-parquet'],
    extensions: ['parquet', 'parq'],
  },
  {
    name: 'arrow',
    title: 'Arrow',
    meaning: 'the Apache Arrow stream format',
    mediaType: 'application/vnd.apache.arrow.stream',
    extensions: ['arrows', 'arrow'],
  },
] as const satisfies readonly Format[];

/** The name of a format in which rows can be written before all of them exist. */
export type TableFormat = (typeof ROW_FORMATS)[number]['name'];

/** The header of FITS contains the number of rows, so all of them must exist first: `beginFits`. */
export const FITS_FORMAT = {
  name: 'fits',
  title: 'FITS',
  meaning: 'a FITS binary table; non-ASCII characters become question marks',
  mediaType: 'application/fits',
  extensions: ['fits', 'fit'],
} as const satisfies Format;
