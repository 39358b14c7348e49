import * as assert from 'uvu/assert';
import { LISTED_STATUSES } from '../../../src/core/contract/enums.ts';
import { inWorld, LEVELS, test } from '../../core/contract/occurring.ts';
import { writeUniqFits } from '../../core/http/uniq_fits.ts';

test('areas of every kind', () =>
  inWorld(60, {}, async app => {
    const area = async (query: string, body: string | Uint8Array, status = 200) => {
      const answer = await app.post(`/api/area?${query}`, body, null);
      assert.is(answer.status, status, `${query}: ${answer.text.slice(0, 300)}`);
      return answer.body;
    };
    const cells = Array.from({ length: 12 }, (_, cell) => cell);
    const map = writeUniqFits({ cells, order: 0, density: cells.map(() => 1) });
    const window = 'start=2000-01-01&end=2100-01-01';
    for (const level of LEVELS) await area(`detail=${level}&${window}&time_field=event_time&level=1`, map);
    for (const kind of ['CIRCLE 150 2 1', 'POLYGON 149 1 151 1 150 3', 'BOX 150 2 2 2', 'RANGE 149 151 1 3', '0/0-11'])
      for (const query of ['catalog=gaia_dr3', 'response=count', 'response=outline']) await area(query, kind);
    const { next_cursor } = await area('page_size=1', '0/0-11');
    await area(`cursor=${next_cursor}`, '0/0-11');
    await area(`response=count&level=1&${window}&time_field=event_time&reliability_min=0`, map);
    await area('response=table&detail=ids', '0/0-11');
    await area('response=outline', '3/5');
    const uneven = writeUniqFits({ cells, order: 0, density: cells.map(cell => 12 - cell) });
    await area('response=outline&level=0.99', uneven);
    await area('', 'nothing', 400);
    assert.is((await app.get('/api/area', { method: 'DELETE' })).status, 405);
    for (const { name } of LISTED_STATUSES) {
      for (const response of ['objects', 'count']) await area(`response=${response}&status=${name}`, '0/0-11');
    }
    await app.app.close();
    await area('', '0/0-11', 503);
  }));
