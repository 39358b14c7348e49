/** The parameters of a report. All but `format` are for lists in tables. */

import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import { MATCH_FORMATS } from '../../core/contract/formats.ts';
import { named } from '../../core/contract/kind.ts';
import * as kinds from '../../core/documents/kinds.ts';
import { ANY_TEXT } from '../../core/documents/kinds.ts';
import type { Parameters } from '../../core/documents/parameters.ts';
import { DEFAULT_BRIGHT_ARCSEC, DEFAULT_BRIGHT_MAG } from './limits.ts';
import { BRIGHT_ARCSEC, BRIGHT_MAG } from './parse_sample.ts';

export const SAMPLE_JOBS_PATH = '/vo/samples';

const FORMATS = [
  { name: 'json', meaning: 'the report in full' },
  { name: 'msgpack', meaning: 'the same in MessagePack, for inputs in JSON' },
  ...MATCH_FORMATS,
] as const;

const column = (of: string) => ({
  kind: ANY_TEXT,
  description: `Of a table: the column of ${of}. By default it is found by its name.`,
});

export const sampleParameters = memoized((config: Config) => {
  return {
    format: {
      kind: named(FORMATS),
      description:
        'The format of the report; by default the one that `Accept` prefers. A table has the rows, and the summary in its metadata. `fits` is for lists in tables.',
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
    Prefer: {
      kind: ANY_TEXT,
      place: 'header',
      description: 'With `respond-async` a table becomes a job, and the answer has its address.',
    },
  } satisfies Parameters;
});
