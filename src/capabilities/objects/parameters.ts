import { memoized } from '../../core/base/memoized.ts';
import type { Config } from '../../core/config/config.ts';
import { defaultConePageSize } from '../../core/config/described_limits.ts';
import * as kinds from '../../core/documents/kinds.ts';
import {
  AT,
  centre,
  cursor,
  DETAIL,
  DIA_OBJECT_ID,
  FORMAT,
  FORMAT_AND_FILTERS,
  type Parameters,
  pageSize,
  RA_UNIT,
} from '../../core/documents/parameters.ts';

export const LOOKUP_PARAMETERS = { format: FORMAT, ra_unit: RA_UNIT } satisfies Parameters;

export const OBJECT_PARAMETERS = {
  diaObjectId: DIA_OBJECT_ID,
  detail: DETAIL,
  ...FORMAT_AND_FILTERS,
  at: AT,
} satisfies Parameters;

export const coneParameters = memoized((config: Config) => {
  const unlessCursor = 'Required without `cursor`.';
  return {
    ...centre(`the position. ${unlessCursor}`, 'read'),
    radius_arcsec: {
      kind: kinds.radiusKind(config),
      description: `Radius of the search, inclusive. ${unlessCursor}`,
      required: 'read',
    },
    detail: DETAIL,
    page_size: pageSize(defaultConePageSize(config), config.API_MAX_OBJECTS_PER_REQUEST),
    cursor: cursor(
      'The `next_cursor` of the previous page. It fixes `ra`, `dec`, `radius_arcsec`, `detail` and `as_of`, but not the filters, ' +
        'which must be given on every page. Not allowed with `response=count`.',
    ),
    ...FORMAT_AND_FILTERS,
    at: AT,
  } satisfies Parameters;
});
