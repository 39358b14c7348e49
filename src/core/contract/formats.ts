/** The formats of answers: values of `format`, media types for `Accept`, and file name extensions. */
import { FITS_FORMAT, type Format, ROW_FORMATS } from '@nearsky/astrotables/formats';

/** The table formats. TAP alone has the other two. */
export const TABLE_FORMATS = ROW_FORMATS.filter(format => format.name !== 'tsv' && format.name !== 'json');

export type TableFormat = (typeof TABLE_FORMATS)[number]['name'];

/** The formats of a crossmatched table. All rows exist before it is sent, as FITS requires. */
export const MATCH_FORMATS = [...TABLE_FORMATS, FITS_FORMAT];

export type MatchFormat = (typeof MATCH_FORMATS)[number]['name'];

export function matchFormat(name: MatchFormat): Format {
  return MATCH_FORMATS.find(format => format.name === name)!;
}

/** The value of the header `Content-Type`. */
export function contentType({ mediaType, parameters = '' }: Format): string {
  return `${mediaType}${parameters}`;
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
] as const;

export type AnswerFormat = (typeof FORMATS)[number]['name'];
