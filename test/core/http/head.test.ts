/** HEAD on every path that GET has, except the operations of the specification (docs/contract.md, Routes). */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { API } from '../../capabilities.ts';
import { REQUESTS } from '../../e2e/requests.ts';
import { exchange, withServer } from '../server/support.ts';
import { withApp } from './support.ts';

const test = suite('http/head');
const CLOSE = ['Host: x', 'Connection: close'];
const STREAMS = ['/api/stream/matches', '/api/stream/objects?area=CIRCLE%200%200%201'];

const SPECIFIED = API.operations
  .filter(({ isSpecified, path }) => isSpecified && path !== '/api/task/')
  .map(({ path }) => new RegExp(`^${path.replace(/:\w+/, '[^/?]+')}(?:\\?|$)`));

test('HEAD is answered like GET, without a body, but the operations of the specification do not have it [Routes]', () =>
  withApp(
    async () => {},
    async app => {
      for (const { path, body } of REQUESTS) {
        if (body !== undefined) continue;
        const [head, got] = [await app.get(path, { method: 'HEAD' }), await app.get(path)];
        if (SPECIFIED.some(pattern => pattern.test(path))) {
          assert.equal([head.status, head.text, head.headers.get('Allow')], [405, '', 'GET'], path);
          continue;
        }
        assert.equal([head.status, head.text], [got.status, ''], path);
        const named = ({ headers }: typeof got) => [...headers].filter(([name]) => name !== 'x-request-id');
        assert.equal(named(head), named(got), path);
      }
      const { status, headers } = await app.get('/api/lookup', { method: 'HEAD' });
      assert.equal([status, headers.get('Allow')], [405, 'POST']);
    },
  ));

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

test.run();
