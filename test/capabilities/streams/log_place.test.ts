/** Streams of nodes that share a log. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readEvents } from '../../core/http/event_reader.ts';
import { deliver, withNodes } from '../../core/http/serving_nodes.ts';

const test = suite('streams/log_place');

test('a stream resumed at a node that is behind waits for the entry of its id, or is refused [Stream of matches]', () =>
  withNodes(async ([ahead, behind], log) => {
    for (const id of [1n, 2n, 3n]) deliver(log, id);
    for (const node of [ahead, ahead, ahead, behind]) await node.step();
    const { lastId } = await readEvents(ahead.app, '/api/stream/objects?from=beginning', 3);
    const resumed = { headers: { 'Last-Event-ID': lastId } };
    const refused = await behind.app.get('/api/stream/objects', resumed);
    assert.is(refused.status, 503, refused.text);
    assert.ok(refused.headers.get('Retry-After'));
    const waiting = readEvents(behind.app, '/api/stream/objects', 1, resumed);
    await behind.step();
    await behind.step();
    deliver(log, 4n);
    await behind.step();
    assert.match((await waiting).texts[0]!, '"diaObjectId":4,');
  }));

test.run();
