/** The end of a server whose clients misbehave. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startServer, withDirectory } from './support.ts';

const test = suite('e2e/stop');

test('a client that sends half a body gets its answer, and the server still ends when it is told to', () =>
  withDirectory(async directory => {
    const server = await startServer(['serve', '--data', directory, '--port', '0'], {
      API_REQUEST_BUDGET_SECONDS: '0.2',
    });
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      'POST /api/lookup HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{',
    );
    const [answer] = await once(socket, 'data');
    assert.match(`${answer}`, /^HTTP\/1.1 400/);
    socket.destroy();
    const { code, stderr } = await server.stop();
    assert.is(code, 0, stderr);
  }));

test.run();
