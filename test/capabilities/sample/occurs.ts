import * as assert from 'uvu/assert';
import { MATCH_FORMATS, TABLE_FORMATS } from '../../../src/core/contract/formats.ts';
import { EVERYTHING, everyJob, expectStatus, inSources, inWorld, test } from '../../core/contract/occurring.ts';

test('reports on samples, at once and as jobs', async () => {
  await inWorld(60, {}, async app => {
    assert.is((await app.post('/api/sample', { inputs: EVERYTHING })).status, 200);
    await everyJob(app, '/vo/samples', ['/api/sample?format=json&x=y', '/api/sample?format=csv&x=y']);
    for (const { name } of MATCH_FORMATS)
      assert.is((await app.post(`/api/sample?format=${name}`, 'ra,dec\n150,2\n', 'text/csv')).status, 200, name);
  });
  await inSources(async (app, since) => {
    const place = { kind: 'position', ra: 150, dec: 2 };
    const sample = { inputs: [place, { ...place, dec: 2.002 }] };
    assert.is((await app.post('/api/sample', { inputs: [{ kind: 'id', diaObjectId: 1 }] })).status, 200);
    for (const { name } of TABLE_FORMATS)
      assert.is((await app.post(`/api/sample?format=${name}`, sample)).status, 200, name);
    const { body: changed } = await app.post('/api/sample', { inputs: [place, { ...place, label: 'a' }], since });
    assert.is(changed.changes.length, 2);
    assert.is((await app.post('/api/sample', sample)).status, 200);
    assert.is((await app.post('/api/sample', {})).status, 400);
    await expectStatus(app, 405, '/api/sample');
  });
});
