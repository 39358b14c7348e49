import { about, ownSettings } from '../../core/config/config.ts';
import { optional, type SettingKind, text, withDefault } from '../../core/config/values.ts';
import { textual } from '../../core/contract/kind.ts';

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

/**
 * An address of sky images, without user or password. Its host must be literal, so that a content security policy can
 * name it.
 */
export function skyImageTemplate(): SettingKind<string> {
  const placeholders = ['{ra}', '{dec}', '{fov}'];
  const parse = (text: string) => {
    const url = placeholders.every(each => text.includes(each)) ? URL.parse(text) : null;
    const isPlain = url && /^https?:$/.test(url.protocol) && /^[\w.:[\]-]+$/.test(url.host) && url.username === '';
    return isPlain ? text : undefined;
  };
  return withDefault(
    textual(`an http or https address with ${placeholders.join(', ')} in its path or query`, parse),
    '',
  );
}
