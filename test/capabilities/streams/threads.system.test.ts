/** The areas that streams follow, when the thread that serves them dies. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../../core/http/support.ts';
import { DEATH, poison, withMortals } from '../../core/server/mortals.ts';
import { Client as Connection, parseAnswer } from '../../core/server/support.ts';

const test = suite('streams/threads');

/** Opens a stream that follows an area, over a connection of its own. */
async function follow(port: number) {
  const connection = new Connection(port);
  connection.send('GET /api/stream/matches?area=CIRCLE%201%202%203 HTTP/1.1', 'Host: x');
  const { status, headers } = parseAnswer(await connection.until(received => received.includes('\r\n\r\n')));
  return { status, thread: headers.get('x-request-id')!.split('-')[0], close: () => connection.socket.destroy() };
}

test('the areas that the streams of a thread follow are free when it dies', () =>
  withMortals(
    async (one, other, _, port) => {
      await eventually('a stream is on the thread of the one client', async () => {
        const { status, thread, close } = await follow(port);
        if (status === 200 && thread === one.thread) return true;
        close();
        return undefined;
      });
      const refused = await follow(port);
      assert.is(refused.status, 503);
      refused.close();
      await poison(one, other, DEATH);
      await eventually('another stream follows an area', async () => {
        const { status, close } = await follow(port);
        close();
        return status === 200 || undefined;
      });
    },
    undefined,
    // One for each client.
    { NEARSKY_MAX_STREAM_AREAS: '2' },
  ));

test.run();
