import { DEFAULT_SOURCES_LIMIT, MAX_SOURCES_RADIUS_ARCSEC, SOURCES_LIMIT_RANGE } from '../../core/contract/limits.ts';
import type { DescribedLimits } from '../../core/documents/limits.ts';
import { closed, count, maxRadius } from '../../core/documents/openapi/schema.ts';

export const limits: DescribedLimits = {
  rank: 70,
  schemas: {
    sources: closed('Limits of a search for catalog sources.', {
      max_radius_arcsec: maxRadius,
      default_limit: count('Default number of listed sources.'),
      max_limit: count('Maximum number of listed sources.'),
    }),
  },
  of: () => ({
    sources: {
      max_radius_arcsec: MAX_SOURCES_RADIUS_ARCSEC,
      default_limit: DEFAULT_SOURCES_LIMIT,
      max_limit: SOURCES_LIMIT_RANGE.max,
    },
  }),
};
