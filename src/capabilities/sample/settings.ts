import { about, ownSettings } from '../../core/config/config.ts';
import { integer, number } from '../../core/config/values.ts';

export const sampleSettings = ownSettings({
  title: 'Limits and links of the API',
  settings: {
    SAMPLES_MAX: about('Maximum number of kept samples. 0 disables keeping.', integer(1000, 0, 10_000)),
    SAMPLES_MAX_PER_CLIENT: about(
      'Maximum number of kept samples per client address. A client gets the same share of the disk space.',
      integer(100, 1, 10_000),
    ),
    SAMPLES_MAX_MIB: about('Disk space for all kept samples together, MiB.', integer(1024, 1, 1_048_576)),
    SAMPLES_DAYS: about('How long a sample is kept.', number(90, 0.001, 3650)),
  },
});
