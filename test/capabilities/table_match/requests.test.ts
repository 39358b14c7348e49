/** Requests with a table: formats, the order of checks, positions, and the settings of jobs. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertOrder } from '../../core/http/order.ts';
import { delivery, NOW_US, type Running, startApp, type TestApp, type World } from '../../core/http/support.ts';

const test = suite<{ running: Running }>('table_match/requests');

const fill = async ({ writer }: World) => {
  await writer.ingest([delivery(1n)], NOW_US);
};

test.before(async context => {
  context.running = await startApp(fill, { JOBS_SECONDS: '77', JOBS_HOURS: '0.5', JOBS_MAX_PER_CLIENT: '1' });
});

test.after(({ running }) => running.close());

const TABLE = 'ra,dec\n150,2\n';

test('a table that is no JSON answers whatever is accepted [P15; Crossmatch of a table]', async ({
  running: { app },
}) => {
  for (const Accept of ['application/xml', 'application/json']) {
    const { status, headers } = await app.get('/api/crossmatch', { method: 'POST', body: TABLE, headers: { Accept } });
    assert.equal([status, headers.get('Vary')], [200, 'Accept, Accept-Encoding']);
    assert.match(headers.get('Content-Type')!, 'text/csv');
  }
});

test('the order of checks [Crossmatch of a table]', async ({ running: { app } }) => {
  await assertOrder(app, '/api/crossmatch', 'id,dec\n1,2\n', [
    ['against', 'x'],
    ['radius_arcsec', 'x'],
    ['find', 'x'],
    ['rows', 'x'],
    ['format', 'x'],
    ['frame', 'x'],
    ['ra', 'x'],
  ]);
});

test('any finite right ascension is taken modulo 360 [Crossmatch of a table]', async ({ running: { app } }) => {
  const values = [150, -210, -570, 510, 36_150];
  const { text } = await app.post('/api/crossmatch', `ra,dec\n${values.map(ra => `${ra},2\n`).join('')}`, null);
  assert.is([...text.matchAll(/,matched,1,150,2,/g)].length, values.length, text);
  const none = await app.post('/api/crossmatch', 'ra,dec\nnan,2\ninf,2\n150,91\n', null);
  assert.is([...none.text.matchAll(/,invalid_position,/g)].length, 3, none.text);
});

const beginJob = (app: TestApp, headers = {}, body = 'ra,dec\n150,2\n') =>
  app.get('/api/crossmatch', {
    method: 'POST',
    body,
    headers: { Prefer: 'respond-async', 'Content-Type': 'text/csv', ...headers },
  });

test('how long a job may take and is kept [Crossmatch of a table]', async ({ running: { app } }) => {
  const { headers } = await beginJob(app);
  const { text } = await app.get(new URL(headers.get('Location')!).pathname);
  const timeOf = (name: string) => Date.parse(new RegExp(`<uws:${name}>([^<]+)<`).exec(text)![1]!);
  assert.match(text, '<uws:executionDuration>77<');
  assert.is(Math.round((timeOf('destruction') - timeOf('creationTime')) / 1000), 1800);
  assert.is((await beginJob(app)).status, 503, 'the client has as many as one may have');
});

test('a job begins where there is room for its table', async () => {
  const { app, close } = await startApp(fill, { JOBS_MAX_MIB: '1', API_MAX_TABLE_MIB: '64' });
  const large = await beginJob(app, {}, `ra,dec\n${'150,2\n'.repeat(200_000)}`);
  const small = await beginJob(app);
  await close();
  assert.equal([large.status, small.status], [503, 202], large.text + small.text);
});

test.run();
