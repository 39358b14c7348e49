/** The fate of connections when the thread that serves them dies, runs out of memory, or hangs. */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isDeno } from '../../runtime.ts';
import { eventually } from '../http/support.ts';
import { Client, DEATH, GOOD, HANG, MEMORY, poison, withMortals } from './mortals.ts';

const test = suite('server/threads');

/** Whether a new connection has come to a thread that is none of these. */
async function newcomer(port: number, former: readonly string[]): Promise<true | undefined> {
  const client = new Client(port);
  const status = await client.get(GOOD);
  client.close();
  return (status === 200 && !former.includes(client.thread)) || undefined;
}

const ENDS = [
  ['dies', DEATH],
  ['runs out of memory', MEMORY],
  ['hangs', HANG],
] as const;
for (const [what, id] of ENDS.slice(0, isDeno ? 2 : 3)) {
  test(`a thread that ${what} ends its own connections only, and is replaced`, () =>
    withMortals(async (one, other, threads, port) => {
      const former = [one.thread, other.thread];
      await poison(one, other, id);
      await eventually('it is replaced', () => newcomer(port, former));
      assert.is(await other.get(GOOD), 200);
      assert.equal([other.thread, threads.watched.replaced], [former[1], 1]);
    }));
}

if (!isDeno) {
  test('a thread that hangs before it listens is replaced', () =>
    withMortals(async (one, other, threads, port) => {
      const former = [one.thread, other.thread];
      process.env.STUCK = '1';
      await poison(one, other, DEATH);
      await eventually('there is a first one', async () => threads.watched.replaced === 1 || undefined);
      // A thread has the environment of the moment in which it begins.
      await new Promise(resolve => setTimeout(resolve, 1000));
      delete process.env.STUCK;
      await eventually('there is a good one', () => newcomer(port, former));
      assert.is(threads.watched.replaced, 2);
    }));
}

if (isDeno) {
  test('a thread that hangs, and that Deno cannot end, is the end of the process, and the others answer until then', () => {
    let isUnending = false;
    return withMortals(
      async (one, other, threads) => {
        const poisoned = one.get(HANG);
        while (!isUnending) assert.is(await other.get(GOOD), 200);
        assert.is(threads.watched.replaced, 0);
        one.close();
        assert.is(await poisoned, undefined);
      },
      () => {
        isUnending = true;
      },
    );
  });
  // The thread would keep the process running forever.
  test.after(() => void setTimeout(() => process.exit(), 1000));
}

test.run();
