import type { Config } from '../../core/config/config.ts';
import type { DescribedLimits } from '../../core/documents/limits.ts';
import { bytes, closed, count, maxRadius, number } from '../../core/documents/openapi/schema.ts';
import { sampleSettings } from './settings.ts';

/** The maximum number of inputs of a request. */
export const MAX_SAMPLE_ROWS = 1000;
/** The maximum number of rows of a kept table that is followed. */
export const MAX_FOLLOWED_ROWS = 10_000;
/** The maximum number of characters of a label. */
export const MAX_LABEL = 200;
/** The maximum number of characters of a kept sample's title. */
export const MAX_TITLE = 200;
/** The maximum number of rows in a report as a page. */
export const MAX_SHOWN_ROWS = 1000;
/** The maximum radius for bright stars, arcsec, inclusive. */
export const MAX_BRIGHT_ARCSEC = 60;
export const DEFAULT_BRIGHT_ARCSEC = 20;
export const DEFAULT_BRIGHT_MAG = 15;
/** Objects as near as this are one place: Rubin makes several objects of some transients. */
export const SAME_PLACE_ARCSEC = 1.5;

function keptLimits(config: Config) {
  const { SAMPLES_MAX, SAMPLES_MAX_PER_CLIENT, SAMPLES_MAX_MIB, SAMPLES_DAYS } = sampleSettings.of(config);
  return {
    max_kept: SAMPLES_MAX,
    max_kept_per_client: Math.min(SAMPLES_MAX, SAMPLES_MAX_PER_CLIENT),
    max_kept_bytes: SAMPLES_MAX_MIB * 2 ** 20,
    kept_days: SAMPLES_DAYS,
  };
}

export const limits: DescribedLimits = {
  rank: 75,
  schemas: {
    samples: closed('Limits of a report on a sample.', {
      max_rows: count('Inputs of a request.'),
      max_label_characters: count('Characters of a label.'),
      max_kept: count('Kept samples of all clients.'),
      max_kept_per_client: count('Kept samples of a client.'),
      max_kept_bytes: bytes('Bytes of all kept samples.'),
      kept_days: number('d', 'How long a sample is kept.', { exclusiveMinimum: 0 }),
      max_bright_radius_arcsec: maxRadius,
    }),
  },
  of: config => ({
    samples: {
      max_rows: MAX_SAMPLE_ROWS,
      max_label_characters: MAX_LABEL,
      ...keptLimits(config),
      max_bright_radius_arcsec: MAX_BRIGHT_ARCSEC,
    },
  }),
};
