/** HEAD on the paths of streams, and counts (docs/contract.md, Routes; Query strings). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EventReader } from '../../core/http/event_reader.ts';
import { crossmatched, delivery, match, NOW_US, searched, withApp } from '../../core/http/support.ts';
import { exchange, withServer } from '../../core/server/support.ts';

const test = suite('streams/requests');
const CLOSE = ['Host: x', 'Connection: close'];
const STREAMS = ['/api/stream/matches', '/api/stream/objects?area=CIRCLE%200%200%201'];

test('HEAD opens no stream [Routes]', () =>
  withApp(
    async () => {},
    async app => {
      await withServer(app.app.answer, async ({ port }) => {
        // More than the maximum number of streams.
        for (let i = 0; i < 3; i++) {
          for (const path of STREAMS) {
            const { status, headers } = await app.get(path, { method: 'HEAD' });
            assert.equal([status, headers.get('Content-Type')], [200, 'text/event-stream'], path);
            const received = await exchange(
              port,
              `HEAD ${path} HTTP/1.1`,
              'Host: x',
              '',
              'HEAD /healthz HTTP/1.1',
              ...CLOSE,
            );
            const [stream, next, rest] = received.split('\r\n\r\n');
            assert.match(stream!, /^HTTP\/1\.1 200 OK\r\n/);
            assert.not.match(stream!, /content-length|transfer-encoding/i);
            assert.match(next!, /^HTTP\/1\.1 200 OK\r\n/, 'the connection stays usable');
            assert.is(rest, '');
          }
        }
        assert.is(app.app.metrics.get('streams'), 0);
      });
    },
    { NEARSKY_MAX_STREAMS: '2' },
  ));

test('a stream refuses counts by name [Query strings]', () =>
  withApp(
    async () => {},
    async app => {
      const { status, body } = await app.get('/api/stream/matches?response=count');
      assert.equal([status, body.code, body.param], [400, 'unsupported_parameter', 'response']);
    },
  ));

test('an empty Last-Event-ID is none [Stream of matches]', () =>
  withApp(
    async world => {
      await world.writer.ingest([delivery(1n), delivery(2n)], NOW_US);
      for (const id of [1n, 2n]) await crossmatched(world, id, searched('gaia_dr3'), [match('gaia_dr3', `${id}`)]);
    },
    async app => {
      const headers = { 'Last-Event-ID': '' };
      const stop = new AbortController();
      const request = new Request('http://nearsky.test/api/stream/matches?from=beginning', {
        headers,
        signal: stop.signal,
      });
      const response = await app.app.fetch(request);
      assert.is(response.status, 200);
      const reader = response.body!.getReader();
      const events = new EventReader();
      while (events.events.length < 2) events.take((await reader.read()).value!);
      await reader.cancel();
      assert.match(events.texts.join(), '"diaObjectId":1,');
    },
  ));

test.run();
