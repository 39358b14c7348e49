import { memoized } from '../../core/base/memoized.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { MATCH_FORMATS } from '../../core/contract/formats.ts';
import { named } from '../../core/contract/kind.ts';
import {
  againstNames,
  DEFAULT_MATCH_RADIUS_ARCSEC,
  FINDS,
  MAX_MATCH_RADIUS_ARCSEC,
  ROWS_KEPT,
} from '../../core/contract/table_match.ts';
import * as kinds from '../../core/documents/kinds.ts';
import { AT, type Parameters, RA_UNIT } from '../../core/documents/parameters.ts';

export const tableParameters = memoized((catalogs: Catalogs) => {
  const column = (of: string) => ({
    kind: kinds.ANY_TEXT,
    description: `The column of ${of}. By default it is found by its UCD or its name.`,
  });
  return {
    against: {
      kind: named(againstNames(catalogs)),
      description: 'What to match with: the objects, a catalog, or all registered catalogs.',
      default: 'objects',
    },
    radius_arcsec: {
      kind: kinds.upTo(MAX_MATCH_RADIUS_ARCSEC, 'arcsec'),
      description: `Radius of the search, inclusive. By default ${DEFAULT_MATCH_RADIUS_ARCSEC}, or the own radius of an added catalog.`,
    },
    find: { kind: named(FINDS), description: 'The matches that a row gets.', default: 'nearest' },
    rows: { kind: named(ROWS_KEPT), description: 'The rows of the answer.', default: 'all' },
    format: {
      kind: named(MATCH_FORMATS),
      description:
        'The format of the answer. By default the format that `Accept` names, or else that of the table (VOTable for FITS).',
    },
    ra: column('right ascensions: degrees, or sexagesimal hours; of whole positions where `dec` is not given'),
    dec: column('declinations'),
    columns: {
      kind: kinds.ANY_TEXT,
      description:
        'The columns of the table that are copied to the answer, separated by commas; put a name with a comma in quotes. By default all.',
    },
    ra_unit: RA_UNIT,
    frame: {
      kind: kinds.ANY_TEXT,
      description:
        'The frame of the positions: `ICRS`, `FK5 J1975` or `FK4 B1950` (of any equinox), `galactic`. By default the frame that the table or the names of its columns declare, or else ICRS.',
    },
    error_arcsec: {
      kind: kinds.POSITION_ERRORS,
      description:
        'The 1σ error of the positions along each axis, for the probabilities of matches with a catalog: a number of arcsec for all rows, the name of a column, or the names of two (right ascension, with the factor cos(dec); declination), separated by a comma. Columns may have another unit of angles. Without it, the errors are unknown.',
    },
    epoch: {
      kind: kinds.ANY_TEXT,
      description:
        'The time at which the positions were observed, to compare sources with a proper motion where they were then: a Julian year (`2026.3`), a date (`2026-04-20`) for all rows, or the name of a column (Julian years, Julian or modified Julian dates, or times in ISO 8601). Rows without an epoch, and all rows without this parameter, are compared with the positions in the catalog.',
    },
    at: {
      ...AT,
      description: `${AT.description.split(' A cursor')[0]} Only with the objects: catalogs have no history.`,
    },
    Prefer: {
      kind: kinds.ANY_TEXT,
      place: 'header',
      description: 'With `respond-async` the request becomes a job, and the answer has its address.',
    },
  } satisfies Parameters;
});
