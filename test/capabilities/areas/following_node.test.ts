/** The objects in an area, at a node that follows a log. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nowUs } from '../../../src/core/base/times.ts';
import { OBJECTS, withNode } from '../../core/http/following_node.ts';
import { delivery, eventually } from '../../core/http/support.ts';

const test = suite('areas/following_node');
const AREA = '{"type":"circle","ra":150,"dec":2,"radius_deg":0.001}';

test('an object whose ingest time is ahead of the clock is found; a node that has stopped answers nothing', () =>
  withNode(async (node, state, { writer }) => {
    const aheadUs = nowUs() + 270e6;
    await writer.ingest([delivery(9n)], aheadUs);
    state.logTimeUs = aheadUs;
    await eventually('the object is found', async () => {
      const area = await node.post('/api/area', 'CIRCLE ICRS 150 2 0.01', 'application/octet-stream');
      assert.is(area.status, 200, area.text);
      return area.body.count === OBJECTS + 1 || undefined;
    });
    state.isStopped = true;
    assert.is((await node.post('/api/area', AREA)).status, 503);
  }));

test.run();
