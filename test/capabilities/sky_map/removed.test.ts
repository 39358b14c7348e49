/** The map after objects are removed. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fillWith, ids, right, wrong } from '../../core/http/removed.ts';
import { eventually, withApp } from '../../core/http/support.ts';

const test = suite('sky_map/removed');

test('the map follows a removal', () =>
  withApp(fillWith(ids), async (app, { writer }) => {
    await writer.remove(wrong, 'wrong');
    const map = await eventually('the map has followed', async () => {
      const { status, body } = await app.get('/api/sky-map?resolution=1');
      return status === 200 && body.total === right.length ? body : undefined;
    });
    assert.is(map.by_status.crossmatch_pending[0], right.filter(id => id % 2n === 1n).length);
  }));

test.run();
