import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { REPORT_FORMATS } from '../../../src/capabilities/sample/report_formats.ts';
import { MATCH_FORMATS, TABLE_FORMATS } from '../../../src/core/contract/formats.ts';
import { EVERYTHING, everyJob, expectStatus, inSources, inWorld, test } from '../../core/contract/occurring.ts';
import { TestApp } from '../../core/http/support.ts';
import { addRadiusCatalog } from '../crossmatch/own_radii.ts';
import { inWorld as inCatalogs } from '../crossmatch/world.ts';

test('reports on samples, at once and as jobs', async () => {
  await inWorld(60, {}, async app => {
    assert.is((await app.post('/api/sample', { inputs: EVERYTHING })).status, 200);
    for (const [search, body, type] of [
      ['?x=y', { title: 'a', inputs: [{ kind: 'id', diaObjectId: 101 }] }, 'application/json'],
      ['?x=y&title=b', 'ra,dec\n150,2\n', 'text/csv'],
    ] as const) {
      const { body: kept } = await app.post(`/api/samples${search}`, body, type);
      const path = `/api/samples/${kept.id}`;
      assert.is((await app.get(path)).status, 200);
      for (const { name } of [...TABLE_FORMATS, ...REPORT_FORMATS])
        assert.is((await app.get(`${path}?x=y&format=${name}`)).status, 200, name);
      if (type === 'text/csv') {
        assert.is((await app.get(`${path}?format=fits`)).status, 200);
        const made = await app.get(`${path}?x=y`, { headers: { Prefer: 'respond-async' } });
        assert.is(made.status, 202);
      } else assert.is((await app.get(`${path}?format=msgpack`)).status, 200);
      assert.is((await app.get(`${path}?at=x`)).status, 400);
      assert.is((await app.get(`${path}/input?x=y`)).status, 200);
      assert.is((await app.get(path, { method: 'DELETE' })).status, 204);
      for (const method of ['GET', 'DELETE']) assert.is((await app.get(path, { method })).status, 404);
      assert.is((await app.get(`${path}/input`)).status, 404);
    }
    assert.is((await app.post('/api/samples', {})).status, 400);
    const hours = Array.from({ length: 12 }, (_, i) => `${2 * i},${5 * i}\n`).join('');
    for (const search of ['', '?ra_unit=deg', '?ra_unit=h'])
      assert.is((await app.post(`/api/sample${search}`, `ra,dec\n${hours}`, 'text/csv')).status, 200);
    await everyJob(app, '/vo/samples', ['/api/sample?format=json&x=y', '/api/sample?format=csv&x=y']);
    for (const { name } of [...MATCH_FORMATS, ...REPORT_FORMATS])
      assert.is((await app.post(`/api/sample?format=${name}`, 'ra,dec\n150,2\n', 'text/csv')).status, 200, name);
  });
  await inSources(async (app, since) => {
    const place = { kind: 'position', ra: 150, dec: 2 };
    const sample = { inputs: [place, { ...place, dec: 2.002 }] };
    assert.is((await app.post('/api/sample', { inputs: [{ kind: 'id', diaObjectId: 1 }] })).status, 200);
    for (const { name } of [...TABLE_FORMATS, ...REPORT_FORMATS])
      assert.is((await app.post(`/api/sample?format=${name}`, sample)).status, 200, name);
    const { body: changed } = await app.post('/api/sample', { inputs: [place, { ...place, label: 'a' }], since });
    assert.is(changed.changes.length, 2);
    assert.is((await app.post('/api/sample', sample)).status, 200);
    assert.is((await app.post('/api/sample', {})).status, 400);
    await expectStatus(app, 405, '/api/sample', '/api/samples');
  });
  await inCatalogs(async world => {
    await addRadiusCatalog(world, 'xray');
    const app = await new TestApp(join(world.directory, 'data')).ready();
    const inputs = [{ kind: 'position', ra: 150, dec: 2 }];
    assert.is((await app.post('/api/sample', { inputs, catalogs: ['xray'] })).status, 200);
    await app.app.close();
  });
});
