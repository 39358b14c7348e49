import type { DescribedLimits } from '../../core/documents/limits.ts';
import { closed, count, maxRadius } from '../../core/documents/openapi/schema.ts';

/** The maximum number of inputs of a request. */
export const MAX_SAMPLE_ROWS = 1000;
/** The maximum number of characters of a label. */
export const MAX_LABEL = 200;
/** The maximum radius for bright stars, arcsec, inclusive. */
export const MAX_BRIGHT_ARCSEC = 60;
export const DEFAULT_BRIGHT_ARCSEC = 20;
export const DEFAULT_BRIGHT_MAG = 15;
/** Objects as near as this are one place: Rubin makes several objects of some transients. */
export const SAME_PLACE_ARCSEC = 1.5;

export const limits: DescribedLimits = {
  rank: 75,
  schemas: {
    samples: closed('Limits of a report on a sample.', {
      max_rows: count('Inputs of a request.'),
      max_label_characters: count('Characters of a label.'),
      max_bright_radius_arcsec: maxRadius,
    }),
  },
  of: () => ({
    samples: {
      max_rows: MAX_SAMPLE_ROWS,
      max_label_characters: MAX_LABEL,
      max_bright_radius_arcsec: MAX_BRIGHT_ARCSEC,
    },
  }),
};
