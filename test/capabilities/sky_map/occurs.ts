import * as assert from 'uvu/assert';
import { CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { registrationOf } from '../../core/catalogs/registration.ts';
import { expectStatus, inWorld, test } from '../../core/contract/occurring.ts';
import { withoutDatabase } from '../../core/contract/support.ts';
import { withApp } from '../../core/http/support.ts';

const MAP = '/api/sky-map';

test('the map of the objects, and its errors', async () => {
  await inWorld(60, {}, async app => {
    await expectStatus(app, 200, MAP);
    await expectStatus(app, 400, `${MAP}?layer=stars`, `${MAP}?at=1`);
    assert.is((await app.get(MAP, { method: 'DELETE' })).status, 405);
  });
  await withoutDatabase({}, async ask => assert.is((await ask(MAP)).status, 503));
});

test('the coverage of every catalog', () =>
  withApp(
    async ({ writer }) => {
      for (const definition of CATALOGS)
        await writer.commit({ kind: 'register_catalog', registration: registrationOf(definition) });
    },
    app => expectStatus(app, 200, `${MAP}?layer=coverage&resolution=0`),
  ));
