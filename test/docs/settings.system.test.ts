/** Settings of commands, as a user runs these. */
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { get, start, startServer, withDirectory } from '../e2e/support.ts';

const test = suite('docs/settings of commands');

test('a connection beyond the most takes the place of one that is idle', () =>
  withDirectory(async directory => {
    const most = { NEARSKY_MAX_CONNECTIONS: '2' };
    const server = await startServer(['serve', '--data', directory, '--port', '0', '--workers', '1'], most);
    const port = Number(new URL(server.url).port);
    const idle = [1, 2, 3].map(() => connect(port, '127.0.0.1'));
    const closed = idle.map(socket => new Promise<string>(resolve => socket.once('close', () => resolve('closed'))));
    assert.is(await Promise.race(closed), 'closed');
    for (const socket of idle) socket.destroy();
    assert.is((await server.stop()).code, 0);
  }));

test('the address to listen on', () =>
  withDirectory(async directory => {
    const server = await startServer(['serve', '--data', directory, '--port', '0'], { NEARSKY_HOST: '127.0.0.2' });
    assert.match(server.url, '//127.0.0.2:');
    assert.is((await get(`${server.url}/api/status`)).database, 'ok');
    assert.is((await server.stop()).code, 0);
  }));

test('an error that ends a command has its stack on request', async () => {
  const missing = ['stats', '--data', '/nowhere'];
  assert.not.match((await start(missing).finished).stderr, '\n    at ');
  assert.match((await start(missing, { NEARSKY_DEBUG: '1' }).finished).stderr, '\n    at ');
});

test.run();
