import * as assert from 'uvu/assert';
import { LISTED_STATUSES } from '../../../src/core/contract/enums.ts';
import { expectStatus, inWorld, LEVELS, test } from '../../core/contract/occurring.ts';

const OBJECTS = '/api/objects';

test('the objects by time', () =>
  inWorld(60, {}, async app => {
    const window = 'start=2000-01-01&end=2100-01-01&time_field=event_time&reliability_min=0';
    for (const level of LEVELS) await expectStatus(app, 200, `${OBJECTS}?detail=${level}&${window}`);
    await expectStatus(app, 200, OBJECTS, `${OBJECTS}?page_size=1`);
    for (const { name } of LISTED_STATUSES)
      await expectStatus(app, 200, `${OBJECTS}?status=${name}`, `${OBJECTS}?response=count&status=${name}`);
    await expectStatus(app, 200, `${OBJECTS}?response=count`, `${OBJECTS}?response=count&${window}`);
    await expectStatus(app, 400, `${OBJECTS}?start=x`);
    assert.is((await app.get(OBJECTS, { method: 'DELETE' })).status, 405);
    await app.app.close();
    await expectStatus(app, 503, OBJECTS);
  }));
