/** The formats of answers: values of RESPONSEFORMAT, with their media types. */

import { VOTABLE_TYPE } from '@nearsky/astrotables';
import { MATCH_FORMATS, type MatchFormat } from '../contract/formats.ts';

export interface TapFormat {
  readonly writer: Exclude<MatchFormat, 'votable'> | 'tabledata' | 'binary2' | 'tsv' | 'json';
  readonly mediaType: string;
}

/** The formats that TAP shares with other answers. */
const SHARED: Readonly<Record<string, TapFormat>> = Object.fromEntries(
  MATCH_FORMATS.filter(({ name }) => name !== 'votable' && name !== 'csv').map(({ name, mediaType }) => [
    name,
    { writer: name as Exclude<MatchFormat, 'votable'>, mediaType },
  ]),
);

/** In the order of menus and documents. */
const NAMED: Readonly<Record<string, TapFormat>> = {
  votable: { writer: 'tabledata', mediaType: VOTABLE_TYPE },
  'votable/td': { writer: 'tabledata', mediaType: `${VOTABLE_TYPE};serialization=TABLEDATA` },
  'votable/b2': { writer: 'binary2', mediaType: `${VOTABLE_TYPE};serialization=BINARY2` },
  csv: { writer: 'csv', mediaType: 'text/csv; charset=utf-8; header=present' },
  tsv: { writer: 'tsv', mediaType: 'text/tab-separated-values' },
  fits: SHARED.fits!,
  json: { writer: 'json', mediaType: 'application/json' },
  ...SHARED,
};

/** Media types with which clients may request a format, in lower case and without blanks. */
const TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(NAMED).map(([name, { mediaType }]) => [mediaType.toLowerCase().replaceAll(' ', ''), name]),
  ),
  'text/xml': 'votable',
  'application/xml': 'votable',
  'text/csv': 'csv',
  'text/csv;header=present': 'csv',
};

/** The names of the formats, with their media types. */
export const TAP_FORMATS = Object.entries(NAMED).map(([name, { mediaType }]) => ({ name, mediaType }));

/**
 * The format that a text names; undefined if it names none. In a query string, an unencoded plus has become a blank.
 */
export function tapFormat(text: string): TapFormat | undefined {
  const asked = text
    .toLowerCase()
    .trim()
    .replaceAll('"', '')
    .replaceAll(/\s*;\s*/g, ';')
    .replaceAll(' ', '+');
  const name = Object.hasOwn(TYPES, asked) ? TYPES[asked]! : asked;
  const format = Object.hasOwn(NAMED, name) ? NAMED[name] : undefined;
  return format && name !== asked && asked.includes('xml') && !asked.includes(';')
    ? { ...format, mediaType: asked }
    : format;
}
