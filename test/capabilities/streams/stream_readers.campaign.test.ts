/**
 * Many readers of the stream of matches at once (stream_clients.ts): each that reads gets every match once, in order. TEST_READERS sets
 * how many there are (20), for 40 s then, and they run only where nobody else wants the processor (`chrt --idle`), because readers are on
 * other machines in life. Prints the memory and the processor time of the service, and the times of small cones, without and with the
 * readers.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { startScript } from '../../core/store/script.ts';
import { coneTimes, memoryMib } from '../../e2e/measured.ts';
import { eventually, startServer, withDirectory } from '../../e2e/support.ts';
import { addObjects, allExpected } from './support.ts';

const test = suite('streams/stream_readers');

const READERS = Number(process.env.TEST_READERS ?? 20);
const SECONDS = process.env.TEST_READERS ? 40 : 5;
const OBJECTS_A_COMMIT = 10;
const UNDER = process.env.TEST_READERS ? ['chrt', '--idle', '0'] : [];
const CLIENTS = new URL('stream_clients.ts', import.meta.url);
const PATH = '/api/stream/matches?from=beginning';

test(`${READERS} readers of several kinds: whole and in order, each that reads`, () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    const store = openStore(data, 'write');
    const writer = new Writer(store);
    await addObjects(writer, 0, 100);
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch'], {
      NEARSKY_WORKERS: '2',
    });
    let objects = 100;
    let clients: ReturnType<typeof startScript> | undefined;
    const record = async () => {
      const endMs = performance.now() + 1000 * SECONDS;
      while (performance.now() < endMs) {
        await addObjects(writer, objects, (objects += OBJECTS_A_COMMIT));
        await sleep(100);
      }
    };
    try {
      const before = await coneTimes(server, record);
      clients = startScript(CLIENTS, [`${server.url}${PATH}`, `${READERS}`], { stdin: 'pipe', under: UNDER });
      const during = await coneTimes(server, record);
      const all = allExpected(store);
      clients.child.stdin!.end(`${all.length}\n`);
      const { code, output } = await clients.ended;
      assert.is(code, 0);
      const { digests, counts, connections } = JSON.parse(output);
      assert.equal(counts, [all.length]);
      assert.equal(digests, [createHash('sha1').update(all.join('')).digest('hex')]);
      await eventually('none is left', async () => {
        const metrics = await (await fetch(`${server.url}/metrics`)).text();
        return /^nearsky_streams 0$/m.test(metrics) || undefined;
      });
      console.log(`${READERS} readers, ${connections} connections, ${all.length} matches`);
      console.log(`without readers: ${before}`);
      console.log(`with them: ${during}; at the end ${memoryMib(server).toFixed(0)} MiB`);
    } finally {
      clients?.child.kill();
      await store.close();
      await server.stop();
    }
  }));

test.run();
