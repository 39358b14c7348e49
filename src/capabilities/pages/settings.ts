import { about, ownSettings } from '../../core/config/config.ts';
import { optional, skyImageTemplate, text } from '../../core/config/values.ts';

export const pageSettings = ownSettings({
  title: 'Limits and links of the API',
  settings: {
    PAGES_NOTICE: about('Text at the head of every page.', optional(text(''))),
    SURVEY_IMAGE_URL_TEMPLATE: about(
      'The address of images that pages show under the finder of an object when a reader asks for one. {ra}, {dec} and {fov} stand for degrees, north is up, east to the left; the host must allow other origins (CORS). Without a template pages load nothing from other hosts.',
      optional(skyImageTemplate()),
    ),
  },
});
