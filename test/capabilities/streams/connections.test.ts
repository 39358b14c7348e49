/** The stream of matches over sockets: framing, clients that do not read or are gone, the end of the service. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EventReader } from '../../core/http/event_reader.ts';
import { delivery, eventually, startApp, type TestApp, type World } from '../../core/http/support.ts';
import { Client, parseAnswer, type Serving, withServer } from '../../core/server/support.ts';
import { provenance } from '../../core/store/support.ts';
import { addObjects, allExpected, crossmatch, FIRST_ID } from './support.ts';

const PATH = '/api/stream/matches';
const GET = [`GET ${PATH}?from=beginning HTTP/1.1`, 'Host: x'];
const OBJECTS = 100;

interface Context {
  readonly app: TestApp;
  readonly expected: readonly string[];
  close(): Promise<void>;
}

const test = suite<Context>('streams/connections');

test.before(async context => {
  const { app, world, close } = await startApp(async ({ writer }) => void (await addObjects(writer, 0, OBJECTS)));
  Object.assign(context, { app, expected: allExpected(world.store), close });
});

test.after(({ close }) => close());

/** Matches an object of which hold so much that the system has no room for all between the two ends. */
const MUCH = 4;
const LONG = 'x'.repeat(40_000);

async function fillMuch({ writer }: World): Promise<void> {
  const ids = Array.from({ length: OBJECTS }, (_, i) => FIRST_ID + BigInt(i));
  await writer.ingest(
    ids.map(id => delivery(id)),
    1,
  );
  const results = ids.map(id => {
    const { matches, ...others } = crossmatch(id, MUCH);
    return {
      ...others,
      matches: matches.map(match => ({ ...match, source: { ...match.source, payload: { long: LONG } } })),
    };
  });
  await writer.recordCrossmatches(results, provenance, 1);
}

const streams = ({ app }: Pick<Context, 'app'>) => app.app.metrics.get('streams');

const none = (context: Pick<Context, 'app'>) =>
  eventually('no client is left', async () => streams(context) === 0 || undefined);

/** The text of chunks, up to the last one that is whole. */
function unchunked(body: string): string {
  let [text, at] = ['', 0];
  for (;;) {
    const end = body.indexOf('\r\n', at);
    const size = end < 0 ? 0 : Number.parseInt(body.slice(at, end), 16);
    if (!(size > 0) || body.length < end + 2 + size + 2) return text;
    text += body.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}

function eventsOf(text: string): EventReader {
  const reader = new EventReader();
  reader.take(Buffer.from(text, 'latin1'));
  return reader;
}

const last = (context: Context) => context.expected.at(-1)!;

test('HTTP/1.1 gets chunks, HTTP/1.0 the events as they are, until it goes', async context => {
  await withServer(context.app.app.answer, async ({ port }) => {
    for (const version of ['1.1', '1.0']) {
      const client = await Client.connected(port);
      client.send(
        `GET ${PATH}?from=beginning HTTP/${version}`,
        'Host: x',
        'Accept: text/html',
        'Accept-Encoding: gzip',
      );
      const { status, headers, body } = parseAnswer(await client.until(received => received.includes(last(context))));
      assert.is(status, 200);
      assert.is(headers.get('content-type'), 'text/event-stream');
      assert.is(headers.get('connection'), 'close');
      assert.is(headers.get('content-length'), undefined);
      assert.is(headers.get('transfer-encoding'), version === '1.1' ? 'chunked' : undefined);
      await client.until(received => received.endsWith(version === '1.1' ? '\n\n\r\n' : '\n\n'));
      const { body: whole } = parseAnswer(client.received);
      assert.ok(whole.length >= body.length);
      assert.equal(eventsOf(version === '1.1' ? unchunked(whole) : whole).texts, context.expected, version);
      client.socket.destroy();
      await none(context);
    }
  });
});

test('a client that ends its side of the connection is gone at once [Stream of matches]', async context => {
  await withServer(context.app.app.answer, async ({ port }) => {
    const client = await Client.connected(port);
    client.send(...GET);
    await client.until(received => received.includes(last(context)));
    assert.is(streams(context), 1);
    client.socket.end();
    await client.ended;
    await none(context);
  });
});

test('a client that does not read is ended, and goes on where it was [Stream of matches]', async () => {
  const { app, world, close } = await startApp(fillMuch);
  const all = allExpected(world.store);
  const body = async ({ port, server }: Serving) => {
    const client = await Client.connected(port);
    client.socket.pause();
    client.send(...GET);
    await eventually('it is ended', async () => server.connections.evicted === 1 || undefined);
    await none({ app });
    client.socket.resume();
    await client.ended;
    const first = eventsOf(unchunked(parseAnswer(client.received).body));
    const events = Number(/^nearsky_stream_events_total (\d+)$/m.exec((await app.get('/metrics')).text)![1]);
    assert.ok(events < all.length, `${events} were written: most wait for their turn, not for the client`);
    const address = `http://127.0.0.1:${port}${PATH}`;
    const next = EventReader.of(await fetch(address, { headers: { 'Last-Event-ID': first.lastId } }));
    await next.until('all others', ({ events }) => first.events.length + events.length === all.length);
    const digest = (texts: readonly string[]) => texts.map(text => text.replaceAll(/x+/g, '')).join('\n');
    assert.is(digest([...first.texts, ...next.texts]), digest(all));
    app.app.stop();
  };
  await withServer(app.app.answer, body, { readGraceMs: 300, minReadRate: 1_000_000 });
  await close();
});

test('clients that vanish leave nothing behind', async context => {
  await withServer(context.app.app.answer, async ({ port, server }) => {
    const clients = await Promise.all(Array.from({ length: 50 }, () => Client.connected(port)));
    for (const client of clients) client.send(...GET);
    await eventually('all read', async () => clients.every(({ received }) => received.includes('data: ')) || undefined);
    for (const client of clients) client.socket.resetAndDestroy();
    await none(context);
    await eventually('no request is open', async () => server.connections.open === 0 || undefined);
  });
});

test('requests behind a stream are not answered: it has no end [Time budget]', async context => {
  await withServer(context.app.app.answer, async ({ port }) => {
    const client = await Client.connected(port);
    client.send(...GET, '', ...GET).send('GET /healthz HTTP/1.1', 'Host: x');
    await client.until(received => received.includes(last(context)));
    assert.not.match(client.received, '"status": "ok"');
    assert.is(streams(context), 1, 'the second stream has not begun');
    client.socket.destroy();
    await none(context);
  });
});

test('the end of the service ends the streams, read or not [Stream of matches]', async () => {
  const { app, close } = await startApp(fillMuch);

  await withServer(app.app.answer, async ({ port, server }) => {
    const [reading, idle] = [await Client.connected(port), await Client.connected(port)];
    idle.socket.pause();
    for (const client of [reading, idle]) client.send(...GET);
    await reading.until(received => received.includes('data: '));
    await eventually('both are there', async () => app.app.metrics.get('streams') === 2 || undefined);
    app.app.stop();
    // A drain that waited for these clients would take an hour.
    await server.close(3_600_000);
    idle.socket.resume();
    await Promise.all([reading.ended, idle.ended]);
  });
  await close();
});

test.run();
