/**
 * Many readers of the stream of matches at once: some read on, some slowly, some break off and come again, some never read, some vanish.
 * Each that reads gets every match once, in order. NEARSKY_READERS sets how many there are (20), for 40 s then. Prints the memory of the
 * service, and the times of small cones, without and with the readers.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../src/store/store.ts';
import { Writer } from '../../src/store/writer.ts';
import { EventReader } from '../http/event_reader.ts';
import { startScript } from '../store/support.ts';
import { addObjects, allExpected } from '../stream/support.ts';
import { random } from './kill_support.ts';
import { eventually, type Server, startServer, withDirectory } from './support.ts';

const test = suite('e2e/stream_readers');

const READERS = Number(process.env.NEARSKY_READERS ?? 20);
const SECONDS = process.env.NEARSKY_READERS ? 40 : 5;
const OBJECTS_A_COMMIT = 10;
const KINDS = ['steady', 'steady', 'slow', 'resuming', 'dead', 'vanishing'] as const;
const PATH = '/api/stream/matches?from=beginning';

/** A digest of the texts so far, so that many readers need little memory. */
class Reader {
  readonly #kind: (typeof KINDS)[number];
  readonly #address: string;
  readonly #hash = createHash('sha1');
  #isStopping = false;
  /** Ends the present connection. Under Deno 2.9 the signal of a request often does not end the reading of its answer. */
  #disconnect = () => {};
  #lastId: string | undefined;
  count = 0;
  connections = 0;
  readonly ended: Promise<void>;

  constructor(kind: (typeof KINDS)[number], address: string) {
    this.#kind = kind;
    this.#address = address;
    this.ended = this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      const ends = new AbortController();
      // Set before anything is awaited: `stop` ends a connection that is only being made, too.
      this.#disconnect = () => ends.abort();
      this.connections++;
      try {
        const headers: Record<string, string> = this.#lastId === undefined ? {} : { 'Last-Event-ID': this.#lastId };
        const response = await fetch(this.#address, { headers, signal: ends.signal });
        assert.is(response.status, 200);
        const events = new EventReader();
        const body = response.body!.getReader();
        this.#disconnect = () => void body.cancel().catch(() => {});
        if (this.#isStopping) this.#disconnect();
        if (this.#kind === 'resuming') setTimeout(() => body.cancel().catch(() => {}), 500 + 3000 * random());
        for (let { done, value } = await body.read(); !done; { done, value } = await body.read()) {
          events.take(value!);
          for (const text of events.texts) this.#hash.update(text);
          this.count += events.events.splice(0).length;
          this.#lastId = events.lastId || this.#lastId;
          if (this.#kind === 'slow') await sleep(200 * random());
        }
      } catch (error) {
        // A connection may break, as when this process has stood still for so long that it is given up.
        if (error instanceof assert.Assertion) throw error;
      }
      await sleep(100 * random());
    }
  }

  async stop(): Promise<string> {
    this.#isStopping = true;
    this.#disconnect();
    await this.ended;
    return this.#hash.digest('hex');
  }
}

/** A client that asks and never reads; one that vanishes is gone soon, without a word. */
function unread(url: string, vanishes: boolean): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.pause();
  socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\n\r\n`);
  if (vanishes) setTimeout(() => socket.resetAndDestroy(), 1000 + 4000 * random());
  return socket;
}

/** The times of small cones while `work` runs, in the words of a table. */
async function timed(server: Server, work: () => Promise<void>): Promise<string> {
  const { child, ended } = startScript(new URL('cone_times.ts', import.meta.url), [server.url], { stdin: 'pipe' });
  await work();
  child.stdin!.write('\n');
  const { output } = await ended;
  const times = (JSON.parse(output) as number[]).sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(share * (times.length - 1))]!.toFixed(1);
  return `p50 ${at(0.5)}, p99 ${at(0.99)} ms of ${times.length}`;
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
    const record = async () => {
      const endMs = performance.now() + 1000 * SECONDS;
      while (performance.now() < endMs) {
        await addObjects(writer, objects, (objects += OBJECTS_A_COMMIT));
        await sleep(100);
      }
    };
    try {
      const before = [await timed(server, record), memoryMib(server)] as const;
      const kinds = Array.from({ length: READERS }, (_, i) => KINDS[i % KINDS.length]!);
      const reading = kinds
        .filter(kind => kind !== 'dead' && kind !== 'vanishing')
        .map(kind => new Reader(kind, `${server.url}${PATH}`));
      const sockets = kinds
        .filter(kind => kind === 'dead' || kind === 'vanishing')
        .map(kind => unread(server.url, kind === 'vanishing'));
      const during = [await timed(server, record), memoryMib(server)] as const;
      const all = allExpected(store);
      const expected = createHash('sha1').update(all.join('')).digest('hex');
      await eventually(
        'all have all',
        async () => reading.every(({ count }) => count >= all.length) || undefined,
        300_000,
      );
      for (const reader of reading) {
        assert.is(await reader.stop(), expected);
        assert.is(reader.count, all.length);
      }
      for (const socket of sockets) socket.destroy();
      await eventually('none is left', async () => {
        const metrics = await (await fetch(`${server.url}/metrics`)).text();
        return /^nearsky_streams 0$/m.test(metrics) || undefined;
      });
      const connections = reading.reduce((sum, each) => sum + each.connections, 0);
      console.log(`${READERS} readers, ${connections} connections, ${all.length} matches`);
      console.log(`without readers: cones ${before[0]}; ${before[1].toFixed(0)} MiB`);
      console.log(
        `with them: cones ${during[0]}; ${during[1].toFixed(0)} MiB; at the end ${memoryMib(server).toFixed(0)} MiB`,
      );
    } finally {
      await store.close();
      await server.stop();
    }
  }));

test.run();
