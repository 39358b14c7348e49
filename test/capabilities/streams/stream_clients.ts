/**
 * Many readers of the stream of matches: some read steadily, some slowly, some disconnect and return, some never read,
 * some vanish. When the input ends with the number of matches, waits until each that reads has so many, and prints the
 * digests of what they have read. Usage: stream_clients.ts ADDRESS READERS
 */
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { EventReader } from '../../core/http/event_reader.ts';
import { eventually } from '../../directory.ts';
import { random } from '../../e2e/kill_support.ts';

const KINDS = ['steady', 'steady', 'slow', 'resuming', 'dead', 'vanishing'] as const;

/** A digest of the texts so far, so that many readers need little memory. */
class Reader {
  readonly #kind: (typeof KINDS)[number];
  readonly #address: string;
  readonly #hash = createHash('sha1');
  #isStopping = false;
  /** Ends the present connection. */
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
        const { statusCode, body } = await request(this.#address, { headers, signal: ends.signal });
        if (statusCode !== 200) throw new RangeError(`status ${statusCode}`);
        const events = new EventReader();
        this.#disconnect = () => body.destroy();
        if (this.#isStopping) this.#disconnect();
        if (this.#kind === 'resuming') setTimeout(() => body.destroy(), 500 + 3000 * random());
        for await (const chunk of body) {
          events.take(chunk);
          for (const text of events.texts) this.#hash.update(text);
          this.count += events.events.splice(0).length;
          this.#lastId = events.lastId || this.#lastId;
          if (this.#kind === 'slow') await sleep(200 * random());
        }
      } catch (error) {
        // A connection may break, for example if this process stood still for too long.
        if (error instanceof RangeError) throw error;
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

/** A client that sends requests but never reads; a vanishing client soon ends its connection without notice. */
function unread(address: string, vanishes: boolean): Socket {
  const { hostname, port, pathname, search } = new URL(address);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.pause();
  socket.write(`GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
  if (vanishes) setTimeout(() => socket.resetAndDestroy(), 1000 + 4000 * random());
  return socket;
}

const [address = '', readers] = process.argv.slice(2);
const kinds = Array.from({ length: Number(readers) }, (_, i) => KINDS[i % KINDS.length]!);
const reading = kinds.filter(kind => kind !== 'dead' && kind !== 'vanishing').map(kind => new Reader(kind, address));
for (const kind of kinds) if (kind === 'dead' || kind === 'vanishing') unread(address, kind === 'vanishing');
const count = Number((await text(process.stdin)) || process.exit(1));
await eventually('all have all', async () => reading.every(each => each.count >= count) || undefined, 300_000);
const digests = new Set(await Promise.all(reading.map(each => each.stop())));
const counts = new Set(reading.map(each => each.count));
const connections = reading.reduce((sum, each) => sum + each.connections, 0);
console.log(JSON.stringify({ digests: [...digests], counts: [...counts], connections }));
process.exit();
