/** HEAD on every path that GET has, except the operations of the specification (docs/contract.md, Routes). */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { API } from '../../capabilities.ts';
import { REQUESTS } from '../../e2e/requests.ts';
import { withApp } from './support.ts';

const test = suite('http/head');

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

test.run();
