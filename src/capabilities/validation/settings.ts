import { about, ownSettings } from '../../core/config/config.ts';
import { integer, optional } from '../../core/config/values.ts';

export const validationSettings = ownSettings({
  title: 'Service',
  settings: {
    NEARSKY_VALIDATION_HOURS: about(
      'Hours after which `serve` makes the validation (`/api/validation`) again. Making it reads the catalogs at up to 7000 positions all over the sky, which takes long with remote catalogs. With null only `nearsky validate` makes it.',
      optional(integer(24, 1, 168)),
    ),
  },
});
