import * as assert from 'uvu/assert';
import { expectStatus, inWorld, test } from '../../core/contract/occurring.ts';
import { withoutDatabase } from '../../core/contract/support.ts';

const STREAM = '/api/stream/matches';
const OBJECT_STREAM = '/api/stream/objects';

test('errors of streams', async () => {
  await inWorld(60, {}, async app => {
    await expectStatus(app, 400, `${STREAM}?from=x`, `${OBJECT_STREAM}?from=x`);
    for (const path of [STREAM, OBJECT_STREAM])
      assert.is((await app.post(path, 'CIRCLE 1 2', 'text/plain')).status, 400);
    assert.is((await app.get(STREAM, { method: 'DELETE' })).status, 405);
  });
  await withoutDatabase({}, async ask => assert.is((await ask(STREAM)).status, 503));
});
