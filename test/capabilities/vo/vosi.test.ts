/** The services' descriptions of themselves. `clients.test.ts` checks them against the schemas. */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coneTable, coneTargets } from '../../../src/capabilities/vo/cone_tables.ts';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { FACTS } from '../../core/facts.ts';
import { type Running, startApp } from '../../core/http/support.ts';

const test = suite<{ running: Running }>('vo/vosi');

test.before(async context => {
  context.running = await startApp(async () => {}, { VO_MAX_RADIUS_DEG: '0.25', VO_MAX_RECORDS: '77' });
});

test.after(({ running }) => running.close());

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, value]) => value);

test('capabilities: every cone search, and queries, with the addresses and the limits that hold', async ({
  running: { app },
}) => {
  const { text, headers } = await app.get('/vo/capabilities', {
    headers: { Host: 'sky.example:81', 'X-Forwarded-Proto': 'https' },
  });
  assert.is(headers.get('Content-Type'), 'text/xml');
  assert.equal(all(text, /<accessURL use="base">([^<]*)</g), [
    'https://sky.example:81/vo/scs?',
    ...coneTargets(PROJECT_CATALOGS)
      .slice(1)
      .map(name => `https://sky.example:81/vo/scs/${name}?`),
    ...FACTS.flatMap(({ vosi = [] }) => vosi).map(path => `https://sky.example:81${path}`),
  ]);
  assert.equal(new Set(all(text, /<maxSR>([^<]*)</g)), new Set(['0.25']));
  assert.equal(new Set(all(text, /<maxRecords>([^<]*)</g)), new Set(['77']));
  for (const name of ['capabilities', 'availability', 'tables-1.1'])
    assert.match(text, `<capability standardID="ivo://ivoa.net/std/VOSI#${name}">`);
  const limit = await app.get('/vo/scs?RA=1&DEC=1&SR=0.25');
  assert.not.match(limit.text, /Error/);
  assert.match((await app.get('/vo/scs?RA=1&DEC=1&SR=0.2500001')).text, /Error/);
});

test('availability: whether queries can be answered', async ({ running: { app } }) => {
  const { text, headers, status } = await app.get('/vo/availability');
  assert.equal([status, headers.get('Content-Type')], [200, 'text/xml']);
  assert.match(text, /<vosi:available>true<\/vosi:available>\n<vosi:upSince>\d{4}-\d\d-\d\dT[\d:.]+Z<\/vosi:upSince>/);
});

test('a service that stops is not available, and says why', async () => {
  const { app, close } = await startApp(async () => {});
  app.app.stop();
  const { text } = await app.get('/vo/availability');
  assert.match(text, /<vosi:available>false<\/vosi:available>[\s\S]*<vosi:note>The service is stopping<\/vosi:note>/);
  await close();
});

test('tables: every column of every cone search; one table by its name', async ({ running: { app } }) => {
  const { text } = await app.get('/vo/tables');
  assert.equal(
    all(text, /<name>(nearsky\.\w+)</g),
    coneTargets(PROJECT_CATALOGS).map(target => `nearsky.${target}`),
  );
  const brief = await app.get('/vo/tables?detail=min');
  assert.not.match(brief.text, '<column>');
  assert.equal(all(brief.text, /<name>(nearsky\.\w+)</g).length, coneTargets(PROJECT_CATALOGS).length);
  for (const target of coneTargets(PROJECT_CATALOGS)) {
    const { text: table, status } = await app.get(`/vo/tables/nearsky.${target}`);
    assert.is(status, 200);
    const columns = coneTable(target, 3, PROJECT_CATALOGS).columns.map(({ name }) => name);
    assert.equal(all(table, /<column><name>([^<]*)</g), columns);
    assert.match(text, all(table, /(<column>.*)/g).join('\n'));
  }
  for (const name of ['objects', 'nearsky.nope', 'nearsky.objects.'])
    assert.is((await app.get(`/vo/tables/${name}`)).status, 404);
});

test.run();
