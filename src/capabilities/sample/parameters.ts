/** The parameters of a report. All but `format` are for lists in tables. */

import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import { MATCH_FORMATS } from '../../core/contract/formats.ts';
import { named } from '../../core/contract/kind.ts';
import * as kinds from '../../core/documents/kinds.ts';
import { ANY_TEXT, JOURNAL_ENTRY } from '../../core/documents/kinds.ts';
import { type Parameter, type Parameters, RA_UNIT } from '../../core/documents/parameters.ts';
import { DEFAULT_BRIGHT_ARCSEC, DEFAULT_BRIGHT_MAG } from './limits.ts';
import { BRIGHT_ARCSEC, BRIGHT_MAG, TITLE } from './parse_sample.ts';
import { REPORT_FORMATS } from './report_formats.ts';

export const SAMPLE_JOBS_PATH = '/vo/samples';
export const KEPT_PATH = '/api/samples';

const FORMATS = [
  { name: 'json', meaning: 'the report in full' },
  { name: 'msgpack', meaning: 'the same in MessagePack, for inputs in JSON' },
  ...MATCH_FORMATS,
  ...REPORT_FORMATS,
] as const;

const column = (of: string) => ({
  kind: ANY_TEXT,
  description: `Of a table: the column of ${of}. By default it is found by its name.`,
});

const KEPT_ID: Parameter = {
  kind: ANY_TEXT,
  place: 'path',
  description: 'The id of the sample, from the answer that kept it.',
};

export const sampleParameters = memoized((config: Config) => {
  return {
    format: {
      kind: named(FORMATS),
      description:
        'The format of the report; by default the one that `Accept` prefers. A table has the rows, and the summary in its metadata. `fits` is for lists in tables, `msgpack` for inputs in JSON.',
      usual: 'json',
    },
    catalogs: { kind: ANY_TEXT, description: 'For a table: the catalogs to report on, separated by commas.' },
    radius_arcsec: {
      kind: kinds.radiusKind(config),
      description: 'For a table: as in the body of a request in JSON.',
    },
    bright_mag: { kind: BRIGHT_MAG, description: 'For a table: as in the body.', default: DEFAULT_BRIGHT_MAG },
    bright_radius_arcsec: {
      kind: BRIGHT_ARCSEC,
      description: 'For a table: as in the body.',
      default: DEFAULT_BRIGHT_ARCSEC,
    },
    id: column('diaObjectIds'),
    name: column('names and labels'),
    ra: column('right ascensions'),
    dec: column('declinations'),
    frame: {
      kind: ANY_TEXT,
      description: 'Of a table: the frame of the positions, as for `/api/crossmatch`.',
    },
    ra_unit: RA_UNIT,
    Prefer: {
      kind: ANY_TEXT,
      place: 'header',
      description: 'With `respond-async` a table becomes a job, and the answer has its address.',
    },
  } satisfies Parameters;
});

/** The parameters of a kept sample's report. */
export const keptParameters = memoized((config: Config) => {
  const { format, Prefer } = sampleParameters(config);
  return {
    id: KEPT_ID,
    format,
    at: {
      kind: JOURNAL_ENTRY,
      description: 'The report is from the state after this journal entry. Not for tables and names.',
    },
    since: {
      kind: JOURNAL_ENTRY,
      description:
        'An earlier journal entry: `changes` lists the rows that have changed since. Not for tables and names.',
    },
    Prefer,
  } satisfies Parameters;
});

export const keptId = { id: KEPT_ID } satisfies Parameters;

/** The parameters of a sample in a table that is kept. */
export const keepParameters = memoized((config: Config) => {
  const { format: _, Prefer: __, ...columns } = sampleParameters(config);
  return {
    title: { kind: TITLE, description: 'Of a table: the title of the sample. It is in the body of one in JSON.' },
    ...columns,
  } satisfies Parameters;
});
