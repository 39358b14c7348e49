/** The effects of the settings. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { delivery, NOW_US, withApp } from '../../core/http/support.ts';

const test = suite('vo/settings');

test('the maximum radius, and who publishes the service', () =>
  withApp(
    async ({ writer }) => {
      await writer.ingest([delivery(1n)], NOW_US);
    },
    async app => {
      const cone = async (radius: number) => (await app.get(`/vo/scs?RA=150&DEC=2&SR=${radius}`)).text;
      assert.match(await cone(0.25), '<TR>');
      assert.match(await cone(0.26), /name="Error"[^>]*0\.25/);
      assert.match((await app.get('/vo/record')).text, '<email>astronomer@nearsky.example</email>');
    },
    {
      VO_MAX_RADIUS_DEG: '0.25',
      VO_IDENTIFIER: 'ivo://nearsky.example/service',
      VO_CONTACT_EMAIL: 'astronomer@nearsky.example',
    },
  ));

test.run();
