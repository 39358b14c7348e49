/** The effects of the settings. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { delivery, NOW_US, withApp } from '../../core/http/support.ts';

const test = suite('vo/settings');

test('the maximum radius', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest([delivery(1n)], NOW_US);
    },
    async app => {
      const cone = async (radius: number) => (await app.get(`/vo/scs?RA=150&DEC=2&SR=${radius}`)).text;
      assert.match(await cone(0.25), '<TR>');
      assert.match(await cone(0.26), /name="Error"[^>]*0\.25/);
    },
    { VO_MAX_RADIUS_DEG: '0.25' },
  ));

test.run();
