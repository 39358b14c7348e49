/**
 * Many readers of the stream of matches at once (stream_clients.ts): each that reads gets every match once, in order. NEARSKY_READERS sets
 * how many there are (20), for 40 s then, and they run only where nobody else wants the processor (`chrt --idle`), because readers are on
 * other machines in life. Prints the memory and the processor time of the service, and the times of small cones, without and with the
 * readers.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../src/store/store.ts';
import { Writer } from '../../src/store/writer.ts';
import { startScript } from '../store/script.ts';
import { addObjects, allExpected } from '../stream/support.ts';
import { eventually, type Server, startServer, withDirectory } from './support.ts';

const test = suite('e2e/stream_readers');

const READERS = Number(process.env.NEARSKY_READERS ?? 20);
const SECONDS = process.env.NEARSKY_READERS ? 40 : 5;
const OBJECTS_A_COMMIT = 10;
const UNDER = process.env.NEARSKY_READERS ? ['chrt', '--idle', '0'] : [];
const CLIENTS = new URL('stream_clients.ts', import.meta.url);
const PATH = '/api/stream/matches?from=beginning';

/** The times of small cones while `work` runs, and what the service takes, in words. */
async function measured(server: Server, work: () => Promise<void>): Promise<string> {
  const { child, ended } = startScript(new URL('cone_times.ts', import.meta.url), [server.url], { stdin: 'pipe' });
  const [beganMs, cpuMs] = [performance.now(), processorMs(server)];
  await work();
  const cores = (processorMs(server) - cpuMs) / (performance.now() - beganMs);
  child.stdin!.write('\n');
  const { output } = await ended;
  const times = (JSON.parse(output) as number[]).sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * (times.length - 1))]!.toFixed(1);
  const cones = `cones p50 ${at(0.5)}, p99 ${at(0.99)} ms of ${times.length}`;
  return `${cones}; ${cores.toFixed(2)} cores, ${memoryMib(server).toFixed(0)} MiB`;
}

/** The processor time of the service so far; NaN if it cannot be read. */
function processorMs({ child }: Server): number {
  try {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    // Hundredths of a second, of the user and of the system.
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return Number.NaN;
  }
}

function memoryMib({ child }: Server): number {
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

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
      const before = await measured(server, record);
      clients = startScript(CLIENTS, [`${server.url}${PATH}`, `${READERS}`], { stdin: 'pipe', under: UNDER });
      const during = await measured(server, record);
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
