/** The formats of answers: values of `format`, media types for `Accept`, and file name extensions. */

interface Format {
  readonly name: string;
  /** For a table format: its name in menus. */
  readonly title?: string;
  readonly meaning: string;
  readonly mediaType: string;
  /** Other media types that clients may use for the format. */
  readonly synonyms?: readonly string[];
  /** File name extensions in lower case. The first one is used for files that the service creates. */
  readonly extensions?: readonly [string, ...string[]];
}

/** The table formats. Their media types are registered with IANA, except VOTable's, which the IVOA defines. */
export const TABLE_FORMATS = [
  {
    name: 'csv',
    title: 'CSV',
    meaning: 'comma-separated values in UTF-8 after a line of column names; null is empty, lines end with a line feed',
    mediaType: 'text/csv',
    extensions: ['csv'],
  },
  {
    name: 'ndjson',
    title: 'NDJSON',
    meaning: 'a JSON object a line: a row, flat; NaN and infinities are null',
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

export type TableFormat = (typeof TABLE_FORMATS)[number]['name'];

/** The formats of a crossmatched table. All rows exist before it is sent, as FITS requires. */
export const MATCH_FORMATS = [
  ...TABLE_FORMATS,
  {
    name: 'fits',
    title: 'FITS',
    meaning: 'a FITS binary table; what is not ASCII becomes a question mark',
    mediaType: 'application/fits',
    extensions: ['fits', 'fit'],
  },
] as const satisfies readonly Format[];

export type MatchFormat = (typeof MATCH_FORMATS)[number]['name'];

export function matchFormat(name: MatchFormat) {
  return MATCH_FORMATS.find(format => format.name === name)!;
}

export const FORMATS = [
  { name: 'json', meaning: 'the answer in full', mediaType: 'application/json' },
  {
    name: 'msgpack',
    meaning: 'the same in MessagePack',
    mediaType: 'application/msgpack',
    synonyms: ['application/vnd.msgpack'],
  },
  ...TABLE_FORMATS,
] as const satisfies readonly Format[];

export type AnswerFormat = (typeof FORMATS)[number]['name'];
