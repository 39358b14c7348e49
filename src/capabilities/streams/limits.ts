import { MAX_FOLLOWED_POSITIONS, MAX_FOLLOWED_RADIUS_ARCSEC } from '../../core/contract/limits.ts';
import type { DescribedLimits } from '../../core/documents/limits.ts';
import { closed, count, maxRadius } from '../../core/documents/openapi/schema.ts';

export const limits: DescribedLimits = {
  rank: 60,
  schemas: {
    streams: closed('Limits of the streams that follow an area.', {
      max_areas: count('Streams that follow an area.'),
      max_positions: count('Positions of a table.'),
      max_radius_arcsec: maxRadius,
    }),
  },
  of: ({ NEARSKY_MAX_STREAM_AREAS }) => ({
    streams: {
      max_areas: NEARSKY_MAX_STREAM_AREAS,
      max_positions: MAX_FOLLOWED_POSITIONS,
      max_radius_arcsec: MAX_FOLLOWED_RADIUS_ARCSEC,
    },
  }),
};
