import * as assert from 'uvu/assert';
import { expectStatus, ids, inWorld, test } from '../../core/contract/occurring.ts';
import { withoutDatabase } from '../../core/contract/support.ts';

test('feeds', async () => {
  await inWorld(60, { PUBLISH_IMPORTED: 'yes' }, async app => {
    const { body: kept } = await app.post('/api/samples', { title: 'a', inputs: ids });
    for (const path of ['/feeds/matches', '/feeds/objects', `/feeds/samples/${kept.id}`]) {
      const { status, headers } = await app.get(`${path}?x=y`);
      assert.is(status, 200);
      assert.is((await app.get(`${path}?x=y`, { headers: { 'If-None-Match': headers.get('ETag')! } })).status, 304);
      assert.is((await app.get(path, { method: 'DELETE' })).status, 405);
      await expectStatus(app, 400, `${path}?limit=0`, `${path}?until=x`);
    }
    await expectStatus(app, 404, `/feeds/samples/${'0'.repeat(32)}`);
  });
  await withoutDatabase({}, async ask => {
    for (const path of ['/feeds/matches', '/feeds/objects']) assert.is((await ask(path)).status, 503);
  });
});
