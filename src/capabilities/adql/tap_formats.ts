/**
 * ADQL queries over TAP: their languages, formats (values of RESPONSEFORMAT, with their media types) and
 * examples.
 */
import { FITS_FORMAT, ROW_FORMATS, type TableFormat } from '@nearsky/astrotables/formats';
import type { Named } from '../../core/contract/enums.ts';
import { contentType, matchFormat } from '../../core/contract/formats.ts';

export const LANGUAGES = [
  { name: 'ADQL', meaning: 'ADQL 2.1' },
  { name: 'ADQL-2.0', meaning: 'the same' },
  { name: 'ADQL-2.1', meaning: 'the same' },
] as const satisfies readonly Named[];

const VOTABLE_TYPE = matchFormat('votable').mediaType;

export interface TapFormat {
  readonly writer: Exclude<TableFormat, 'votable'> | 'fits' | 'tabledata' | 'binary2';
  readonly mediaType: string;
}

/** The formats with one form. */
const TABLES: Readonly<Record<string, TapFormat>> = Object.fromEntries(
  [...ROW_FORMATS, FITS_FORMAT]
    .filter(format => format.name !== 'votable')
    .map(format => [format.name, { writer: format.name, mediaType: contentType(format) }]),
);

/** In the order of menus and documents. */
const NAMED: Readonly<Record<string, TapFormat>> = {
  votable: { writer: 'tabledata', mediaType: VOTABLE_TYPE },
  'votable/td': { writer: 'tabledata', mediaType: `${VOTABLE_TYPE};serialization=TABLEDATA` },
  'votable/b2': { writer: 'binary2', mediaType: `${VOTABLE_TYPE};serialization=BINARY2` },
  csv: TABLES.csv!,
  tsv: TABLES.tsv!,
  fits: TABLES.fits!,
  ...TABLES,
};

/** Media types that clients may use for a format, in lower case and without blanks. */
const TYPES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(NAMED).map(([name, { mediaType }]) => [mediaType.toLowerCase().replaceAll(' ', ''), name]),
  ),
  'text/xml': 'votable',
  'application/xml': 'votable',
  'text/csv': 'csv',
  'text/csv;header=present': 'csv',
  'text/tab-separated-values': 'tsv',
};

export const TAP_FORMATS = Object.entries(NAMED).map(([name, { mediaType }]) => ({ name, mediaType }));

/**
 * The format that a string names; undefined if it names no format. An unencoded plus sign in a query string was decoded
 * to a blank.
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

/** Example queries that return rows from the sample. */
export const EXAMPLES = [
  [
    'statuses',
    'Number of objects by status',
    'SELECT status, COUNT(*) AS n FROM nearsky.objects GROUP BY status ORDER BY n DESC',
  ],
  [
    'cone',
    'The objects around a position, nearest first',
    "SELECT TOP 100 diaObjectId, ra, dec, status, DISTANCE(POINT('ICRS', ra, dec), POINT('ICRS', 61.6223, -49.2951)) * 3600 AS separation_arcsec\nFROM nearsky.objects\n" +
      "WHERE 1 = CONTAINS(POINT('ICRS', ra, dec), CIRCLE('ICRS', 61.6223, -49.2951, 0.1))\nORDER BY separation_arcsec",
  ],
  [
    'matches',
    'The nearest sources of each catalog, with the status of their objects',
    'SELECT TOP 100 m.catalog_name, m.catalog_source_id, m.separation_arcsec, o.diaObjectId, o.status\nFROM nearsky.matches AS m\n' +
      'JOIN nearsky.objects AS o USING (diaObjectId)\nWHERE m.separation_arcsec < 0.3\nORDER BY separation_arcsec',
  ],
  [
    'outcomes',
    'Outcomes of crossmatches, by catalog',
    'SELECT catalog_name, outcome, COUNT(*) AS n FROM nearsky.crossmatches\nGROUP BY catalog_name, outcome ORDER BY catalog_name, n DESC',
  ],
  [
    'colours',
    'Colours and magnitudes of the sources in Gaia',
    'SELECT diaObjectId, phot_bp_mean_mag - phot_rp_mean_mag AS bp_rp, phot_g_mean_mag\nFROM nearsky.gaia_dr3_matches\nWHERE phot_bp_mean_mag IS NOT NULL',
  ],
  [
    'none',
    'Objects without a source in Gaia, where Gaia was searched',
    'SELECT diaObjectId, ra, dec FROM nearsky.objects\nWHERE gaia_dr3_matches = 0',
  ],
] as const;
