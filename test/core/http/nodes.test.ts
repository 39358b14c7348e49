/** A node that follows a log answers: while it is behind the log, and once it has stopped. */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CONE_CURSOR, decodeCursor, encodeCursor } from '../../../src/core/answers/cursor.ts';
import { parseTime } from '../../../src/core/base/parse_time.ts';
import { steadyMs } from '../../../src/core/base/runtime.ts';
import { nowUs } from '../../../src/core/base/times.ts';
import { sharedSettings } from '../../../src/core/cluster/shared_settings.ts';
import { FACTS } from '../facts.ts';
import { LAST_US, OBJECTS, withNode } from './following_node.ts';
import { configOf, coordinatorOf, delivery, eventually, NOW_US, TestApp } from './support.ts';

const test = suite('http/nodes');
const OF_OBJECTS = FACTS.flatMap(({ ofObjects = [] }) => ofObjects);
const CONE = '/api/cone?ra=150&dec=2&radius_arcsec=5';

test('a walk from the state after an entry waits at a node that does not have the entry yet [The state after an entry]', () =>
  withNode(async (node, _, { writer }) => {
    await writer.keepHistory(true);
    const { body, headers } = await node.get(`${CONE}&page_size=2`);
    assert.is(headers.get('X-Journal-Entry'), `${OBJECTS}`);
    const cursor = { ...decodeCursor(CONE_CURSOR, body.next_cursor), at: OBJECTS + 1 };
    const next = `${CONE}&page_size=2&cursor=${encodeCursor(CONE_CURSOR, cursor)}`;
    const refused = await node.get(next);
    assert.equal([refused.status, refused.body.code], [503, 'service_unavailable'], refused.text);
    const waiting = node.get(next);
    await writer.ingest([delivery(9n)], LAST_US + 1);
    const answer = await waiting;
    assert.equal([answer.status, answer.headers.get('X-Journal-Entry')], [200, `${OBJECTS + 1}`]);
  }));

test('a walk that goes on at a node that is behind waits for it, and is whole', () =>
  withNode(async (node, state) => {
    state.logTimeUs = LAST_US + 1;
    const first = await node.get(`${CONE}&page_size=2`);
    assert.is(parseTime(first.body.as_of), LAST_US + 1);
    const next = `${CONE}&page_size=2&cursor=${first.body.next_cursor}`;
    state.logTimeUs = LAST_US;
    const refused = await node.get(next);
    assert.is(refused.status, 503, refused.text);
    assert.ok(refused.headers.get('Retry-After'));
    assert.match(refused.body.message, /this node is behind the node that sent the previous page/);
    const waiting = node.get(next);
    state.logTimeUs = LAST_US + 1;
    assert.is((await waiting).status, 200);
  }));

test('as_of is the time of the log, and never before an object that the node has, whatever its clock says', () =>
  withNode(async (node, state, { writer }) => {
    const asked = async () => {
      const { body } = await node.get(CONE);
      return [parseTime(body.as_of), body.results[0].objects.length];
    };
    state.logTimeUs = LAST_US + 2;
    assert.equal(await asked(), [LAST_US + 2, OBJECTS]);
    state.logTimeUs = NOW_US + 2;
    assert.equal(await asked(), [LAST_US, OBJECTS], 'another process of the directory has applied more');
    const aheadUs = nowUs() + 270e6;
    await writer.ingest([delivery(9n)], aheadUs);
    state.logTimeUs = aheadUs;
    await eventually('the object is found', async () => (await asked())[1] === OBJECTS + 1 || undefined);
    assert.equal(await asked(), [aheadUs, OBJECTS + 1]);
  }));

test('a node that lags is not ready, and answers; one that stopped answers nothing', () =>
  withNode(async (node, state) => {
    assert.is((await node.get('/readyz')).status, 200);
    state.logFollowedMs = steadyMs() - 21_000;
    const behind = await node.get('/readyz');
    assert.is(behind.status, 503);
    assert.match(behind.text, /this node is behind the log of the nodes/);
    assert.is((await node.get(CONE)).status, 200);
    state.hasCaughtUp = false;
    assert.match((await node.get('/readyz')).text, /this node has not caught up with the log of the nodes/);
    [state.logFollowedMs, state.hasCaughtUp] = [steadyMs(), true];
    state.isStopped = true;
    for (const path of ['/readyz', CONE, '/api/objects/1', ...OF_OBJECTS]) {
      const { status, text } = await node.get(path);
      assert.is(status, 503, path);
      assert.match(
        text,
        /this node has stopped because its archive differs, or may differ, from the log of the nodes/,
        path,
      );
    }
    [state.isOutdated, state.logLevel] = [true, 3];
    assert.match(
      (await node.get('/readyz')).text,
      /this node has stopped because the log of the nodes has level 3, which this release cannot read: install a newer nearsky/,
    );
    assert.is((await node.get('/healthz')).status, 200);
  }));

test('while the log is away a node that may be stale stays ready, and says how stale its answers are [Headers]', () =>
  withNode(async (node, state, { directory }) => {
    const settings = { NEARSKY_STALE_READS: 'yes', NEARSKY_LOG_MAX_LAG_SECONDS: '20' };
    const coordinator = coordinatorOf(configOf(directory));
    const stale = await new TestApp(directory, settings, coordinator).ready();
    const states = [state, coordinator.state];
    const seen = async (app: TestApp) => {
      const { status, headers, body } = await app.get('/readyz');
      const lag = headers.get('X-Log-Lag-Seconds');
      const cone = await app.get(CONE);
      assert.equal([cone.status, cone.body.results[0].objects.length], [200, OBJECTS]);
      assert.is(cone.headers.get('X-Log-Lag-Seconds') !== null, lag !== null);
      return [status, body.status, lag !== null && Number(lag) >= 21];
    };
    const set = (lagMs: number, isLogAway: boolean, hasCaughtUp = true) => {
      for (const each of states) {
        [each.logFollowedMs, each.logTimeUs] = [steadyMs() - lagMs, LAST_US];
        [each.isLogAway, each.hasCaughtUp] = [isLogAway, hasCaughtUp];
      }
    };
    try {
      set(0, false);
      assert.equal(
        [await seen(stale), await seen(node)],
        [
          [200, 'ready', false],
          [200, 'ready', false],
        ],
      );
      set(21_000, true);
      assert.equal(
        [await seen(stale), await seen(node)],
        [
          [200, 'stale', true],
          [503, undefined, true],
        ],
      );
      set(21_000, true, false);
      assert.equal((await seen(stale)).slice(0, 2), [200, 'stale'], 'it has started since the log is away');
      set(21_000, false);
      assert.equal((await seen(stale)).slice(0, 2), [503, undefined], 'it will soon have caught up');
    } finally {
      await stale.app.close();
      await coordinator.close();
    }
  }));

test('a node with another setting than the log is not ready, and names it; it answers', () =>
  withNode(async (node, _, { writer, directory }) => {
    const own = sharedSettings(configOf(directory));
    assert.is(own.CROSSMATCH_RADIUS_ARCSEC, '1');
    for (const [name, value] of Object.entries(own)) {
      await writer.commit({ kind: 'share_settings', settings: { ...own, [name]: 'another' }, isReplacing: true });
      const { status, text } = await node.get('/readyz');
      assert.is(status, 503, name);
      assert.ok(text.includes(`because ${name} is ${value} here, but another in the log of the nodes: `), text);
      assert.is((await node.get(CONE)).status, 200);
    }
    // A setting of another release.
    const { TNS_MATCH_RADIUS_ARCSEC: _older, ...others } = own;
    await writer.commit({ kind: 'share_settings', settings: { ...others, NEWER: '1' }, isReplacing: true });
    assert.is((await node.get('/readyz')).status, 200);
    await writer.commit({
      kind: 'share_settings',
      settings: { ...own, CROSSMATCH_RADIUS_ARCSEC: '2' },
      isReplacing: false,
    });
    assert.is((await node.get('/readyz')).status, 200, 'the first ones count');
  }));

test.run();
