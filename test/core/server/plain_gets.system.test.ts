/** The setting NEARSKY_PLAIN_GETS. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startServer, withDirectory } from '../../e2e/support.ts';
import { Client, OF_THE_MOMENT } from './support.ts';

const test = suite('server/plain_gets of serve');

test('with NEARSKY_PLAIN_GETS=no the answers are the same', () =>
  withDirectory(async directory => {
    const pipelined = async (setting: string) => {
      const server = await startServer(['serve', '--data', directory, '--port', '0'], { NEARSKY_PLAIN_GETS: setting });
      const client = new Client(Number(new URL(server.url).port));
      client.socket.write(
        'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      );
      await client.ended;
      client.socket.destroy();
      assert.is((await server.stop()).code, 0);
      return client.received.replace(OF_THE_MOMENT, '');
    };
    assert.is(await pipelined('yes'), await pipelined('no'));
  }));

test.run();
