/** HEAD on the paths of streams, and counts (docs/contract.md, Routes; Query strings). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withApp } from '../../core/http/support.ts';
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

test.run();
