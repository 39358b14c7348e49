/** What the service reports about queries if it can answer none, and if it can. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite('tap/without_engine');

test('a service without an engine says so, and promises nothing', async () => {
  const running = await startApp(async () => {}, { TAP_MAX_QUERIES: '0' });
  try {
    const of = async (path: string) => (await running.app.get(path)).text;
    assert.match(
      await of('/vo/tap/availability'),
      /<vosi:available>false<.*<vosi:note>queries in ADQL are switched off/s,
    );
    assert.match(await of('/vo/availability'), '<vosi:available>true<');
    for (const path of ['/vo/tap/capabilities', '/vo/tap', '/vo/capabilities', '/vo/record'])
      assert.not.match(await of(path), 'TableAccess', path);
    const { status, headers, text } = await running.app.get('/vo/tap/sync?LANG=ADQL&QUERY=SELECT+ra+FROM+objects');
    assert.equal([status, headers.get('Retry-After'), text.includes('try again')], [503, null, false], text);
    assert.match(text, 'switched off');
  } finally {
    await running.close();
  }
});

needs(test, duckdbObstacle())(
  'TAP is in the capabilities of all services, and its address is for people and clients',
  async () => {
    const running = await startApp(async () => {});
    try {
      for (const path of ['/vo/tap/capabilities', '/vo/tap', '/vo/capabilities', '/vo/record'])
        assert.match((await running.app.get(path)).text, /xsi:type="tr:TableAccess"/, path);
      const { text } = await running.app.get('/vo/tap/capabilities');
      assert.match(text, '<feature><form>MEDIAN(x DOUBLE) -&gt; DOUBLE</form><description>');
      assert.match(text, /<form>BOX<\/form><description>/);
      const page = await running.app.get('/vo/tap', { headers: { Accept: 'text/html,*/*' }, redirect: 'manual' });
      assert.equal([page.status, page.headers.get('Location')], [303, '/query']);
    } finally {
      await running.close();
    }
  },
);

test.run();
