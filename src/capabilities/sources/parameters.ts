/** The parameters of both operations on sources. */
import { memoized } from '../../core/base/memoized.ts';
import type { Catalogs } from '../../core/contract/catalogs.ts';
import { named } from '../../core/contract/kind.ts';
import { DEFAULT_SOURCES_LIMIT, MAX_SOURCES_RADIUS_ARCSEC, SOURCES_LIMIT_RANGE } from '../../core/contract/limits.ts';
import * as kinds from '../../core/documents/kinds.ts';
import { catalogNames, centre, FORMAT, type Parameters } from '../../core/documents/parameters.ts';

const sourcesLimit = (description: string) => ({
  kind: kinds.digits({ ...SOURCES_LIMIT_RANGE, unit: 'count' }),
  description,
  default: DEFAULT_SOURCES_LIMIT,
});

export const sourcesParameters = memoized((catalogs: Catalogs) => {
  return {
    ...centre('the position.', 'always'),
    radius_arcsec: {
      kind: kinds.upTo(MAX_SOURCES_RADIUS_ARCSEC, 'arcsec'),
      description: 'Radius of the search, inclusive.',
      required: 'always',
    },
    error_arcsec: {
      kind: kinds.POSITION_ERROR_ARCSEC,
      description:
        'The 1σ error of the position along each axis, for the probabilities of the sources. Without it, the error is unknown.',
    },
    catalog: { kind: named(catalogNames(catalogs)), description: 'The catalog to search; every one by default.' },
    limit: sourcesLimit('Maximum number of listed sources; `count` includes all.'),
    format: FORMAT,
  } satisfies Parameters;
});

export const sourceParameters = memoized((catalogs: Catalogs) => {
  const someText = catalogs.all.some(({ idType }) => idType === 'text');
  return {
    catalog: { kind: named(catalogNames(catalogs)), place: 'path', description: 'The catalog.' },
    catalog_source_id: {
      kind: kinds.SOURCE_ID[someText ? 'text' : 'int64'],
      place: 'path',
      description: `The id of the source: a 64-bit integer${someText ? ' or, for a catalog with text ids, a text' : ''}.`,
    },
    limit: sourcesLimit('Maximum number of listed objects.'),
    format: FORMAT,
  } satisfies Parameters;
});
