import * as assert from 'uvu/assert';
import { TABLE_FORMATS } from '../../../src/core/contract/formats.ts';
import { everyJob, expectStatus, inWorld, test } from '../../core/contract/occurring.ts';

test('tables that are crossmatched, at once and as jobs', () =>
  inWorld(60, {}, async app => {
    await everyJob(app, '/vo/jobs', ['/api/crossmatch?x=y', '/api/crossmatch?x=y']);
    for (const { name } of TABLE_FORMATS)
      assert.is((await app.post(`/api/crossmatch?format=${name}`, 'ra,dec\n150,2\n')).status, 200, name);
    const hours = Array.from({ length: 12 }, (_, i) => `${2 * i},${5 * i}\n`).join('');
    for (const search of ['', '?ra_unit=deg', '?ra_unit=h'])
      assert.is((await app.post(`/api/crossmatch${search}`, `ra,dec\n${hours}`)).status, 200);
    assert.is((await app.post('/api/crossmatch', 'x\n1\n')).status, 400);
    await expectStatus(app, 405, '/api/crossmatch');
    await app.app.close();
    assert.is((await app.post('/api/crossmatch', 'ra,dec\n150,2\n')).status, 503);
  }));
