/** Which matches are published, in which order, and from which position; the brokers are simulated. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { StoreLedger } from '../../../src/capabilities/publish/ledger.ts';
import type { PublicationOptions } from '../../../src/capabilities/publish/publication.ts';
import { readPublished } from '../../../src/core/store/meta.ts';
import type { Store } from '../../../src/core/store/store.ts';
import type { Writer } from '../../../src/core/store/writer.ts';
import { follow, MemoryLog } from '../../core/cluster/memory_log.ts';
import { startScript } from '../../core/store/script.ts';
import { delivery, provenance, withStore } from '../../core/store/support.ts';
import { eventually } from '../../directory.ts';
import { addObjects, allExpected, crossmatch, FIRST_ID } from '../streams/support.ts';
import { FakeSink, publicationOf, TOPIC } from './support.ts';

const test = suite('publish/publication');

/** Runs a publication until `isDone`, and ends it. */
async function publish(
  [store, writer, sink]: [Store, Writer, FakeSink],
  isDone: () => boolean,
  options: Partial<PublicationOptions> = {},
): Promise<void> {
  const stop = new AbortController();
  const running = publicationOf(store, writer, sink, options).run(stop.signal);
  await eventually('the messages are sent', async () => isDone() || undefined);
  stop.abort();
  await running;
}

test('every match once, in the order of the journal; the next publication goes on where this one ended', () =>
  withStore(async (store, writer) => {
    const sink = new FakeSink();
    await addObjects(writer, 0, 50);
    await publish([store, writer, sink], () => sink.sent.length >= 100);
    assert.equal(sink.sent, allExpected(store));
    assert.equal(readPublished(store.databases).get(TOPIC), { sequence: 2, objects: 0, messages: 100 });
    await addObjects(writer, 50, 60);
    await publish([store, writer, sink], () => sink.sent.length >= 120);
    assert.equal(sink.sent, allExpected(store));
    assert.equal(readPublished(store.databases).get(TOPIC), { sequence: 4, objects: 0, messages: 120 });
  }));

test('what is recorded while it runs; a second crossmatch is published as what it found', () =>
  withStore(async (store, writer) => {
    const sink = new FakeSink();
    await writer.ingest([delivery(FIRST_ID)], 1_772_010_265_000_000);
    const stop = new AbortController();
    const running = publicationOf(store, writer, sink).run(stop.signal);
    await writer.recordCrossmatches([crossmatch(FIRST_ID, 1, 'des_y6_gold')], provenance, 1);
    await eventually('the first is sent', async () => sink.sent.length >= 1 || undefined);
    await writer.recordCrossmatches([crossmatch(FIRST_ID, 3)], provenance, 2);
    await eventually('the second is sent', async () => sink.sent.length >= 4 || undefined);
    stop.abort();
    await running;
    assert.equal(sink.sent, allExpected(store));
    assert.match(sink.sent[0]!, '"partial":true');
    assert.match(sink.sent[1]!, '"partial":false');
  }));

test('both crossmatches of an object, each with its own matches, by a publication that begins after them', () =>
  withStore(async (store, writer) => {
    const sink = new FakeSink();
    const ids = [FIRST_ID, FIRST_ID + 1n];
    await writer.ingest(
      ids.map(id => delivery(id)),
      1,
    );
    await writer.recordCrossmatches([crossmatch(ids[0]!, 1, 'des_y6_gold')], provenance, 1);
    await writer.recordCrossmatches([crossmatch(ids[0]!, 2), crossmatch(ids[1]!, 1)], provenance, 1);
    await publish([store, writer, sink], () => sink.sent.length >= 4);
    assert.is(sink.sent.length, 4);
    assert.equal(
      sink.sent.map(text => JSON.parse(text).partial),
      [true, false, false, false],
    );
  }));

test('batches are bounded, and the position may lie within a commit', () =>
  withStore(async (store, writer) => {
    const sizes: number[] = [];
    const sink = new FakeSink();
    const stop = new AbortController();
    const connect = async () => ({
      send: async (messages: Parameters<FakeSink['send']>[0]) => {
        sizes.push(messages.reduce((bytes, { value }) => bytes + value.length, 0));
        await sink.send(messages);
        stop.abort();
      },
      close: async () => {},
    });
    await addObjects(writer, 0, 4000);
    await publicationOf(store, writer, sink, { connect }).run(stop.signal);
    const { sequence, objects, messages } = readPublished(store.databases).get(TOPIC)!;
    assert.equal([sequence, messages], [1, sink.sent.length], 'within entry 2');
    assert.ok(objects > 0 && objects < 4000);
    await publish([store, writer, sink], () => sink.sent.length >= 8000, { connect });
    assert.equal(sink.sent, allExpected(store));
    assert.ok(Math.max(...sizes) < 2 ** 20, 'no batch is larger than a broker takes');
  }));

test('a batch of short messages, with their keys and headers, is no larger than a broker takes', () =>
  withStore(async (store, writer) => {
    const sink = new FakeSink();
    const counts: number[] = [];
    const connect = async () => ({
      send: async (messages: Parameters<FakeSink['send']>[0]) => {
        counts.push(messages.length);
        await sink.send(messages);
      },
      close: async () => {},
    });
    await addObjects(writer, 0, 4000);
    const value = Buffer.alloc(234, ' ');
    const messages = (diaObjectId: bigint) => [
      { diaObjectId, matchVersion: 1, catalogName: 'gaia_dr3', ingestTimeUs: 1, position: null, value },
    ];
    const isDone = () => sink.sent.length >= 4000;
    await publish([store, writer, sink], isDone, { connect, matches: { messages } });
    // A record of Kafka with a key of 19 digits, and three headers, one of them a user name of 32 characters.
    const bytes = 9 + 19 + 1 + (5 + 16) + (9 + 32) + (9 + 4) + value.length;
    assert.ok(Math.max(...counts) * bytes < 2 ** 20, `${Math.max(...counts)} messages`);
  }));

test('up to 10,000 messages are sent before a position is stored, so a kill repeats no more', () =>
  withStore(async (store, writer) => {
    const sink = new FakeSink();
    await addObjects(writer, 0, 7000);
    const { promise: mayStore, resolve } = Promise.withResolvers<void>();
    const ledger = new StoreLedger(store, writer, TOPIC);
    const storeNow = ledger.store.bind(ledger);
    ledger.store = async position => {
      if (position.messages > 0) await mayStore;
      return storeNow(position);
    };
    const isAll = () => {
      if (sink.sent.length > 5000) resolve();
      if (readPublished(store.databases).get(TOPIC)?.messages === 0) assert.ok(sink.sent.length <= 10_000);
      return sink.sent.length >= 14_000;
    };
    await publish([store, writer, sink], isAll, { ledger });
    assert.equal(sink.sent, allExpected(store));
  }));

test('a broker that fails gets all of it in the end, some again, in order', () =>
  withStore(async (store, writer) => {
    const sink = new FakeSink();
    const events: string[] = [];
    sink.failures = 2;
    await addObjects(writer, 0, 40);
    await publish([store, writer, sink], () => new Set(sink.sent).size >= 80 && sink.failures === 0, {
      log: event => events.push(event),
    });
    const all = allExpected(store);
    assert.equal([...new Set(sink.sent)], all, 'the first of each is in order');
    assert.is(sink.sent.length, 80 + 2 * 40);
    assert.is(sink.connections, 3, 'a new connection after each failure');
    assert.equal(
      events.filter(event => event === 'publish_failed'),
      ['publish_failed', 'publish_failed'],
    );
    assert.equal(readPublished(store.databases).get(TOPIC), { sequence: 2, objects: 0, messages: 80 });
  }));

test('a broker that has never taken a message: the position of the topic is its beginning, so its lag is known', () =>
  withStore(async (store, writer) => {
    const sink = new FakeSink();
    sink.failures = Number.POSITIVE_INFINITY;
    await addObjects(writer, 0, 5);
    await publish([store, writer, sink], () => sink.connections > 0);
    assert.equal(readPublished(store.databases).get(TOPIC), { sequence: 0, objects: 0, messages: 0 });
  }));

test('what an import brought is published only when asked for [Stream of matches]', () =>
  withStore(async (store, writer) => {
    await addObjects(writer, 0, 10);
    const { objects } = { objects: [...store.objects()] };
    await withStore(async (other, otherWriter) => {
      const entries = objects.flatMap(object => {
        const { diaObjectId, records, matches, tns: _, ...fields } = object;
        const sources = store.getSources(diaObjectId);
        return [
          { kind: 'object' as const, diaObjectId, object: fields },
          ...records.map(record => ({ kind: 'crossmatch_record' as const, diaObjectId, record, provenance })),
          ...matches.map((match, i) => ({ kind: 'match' as const, diaObjectId, match, source: sources[i]! })),
        ];
      });
      await otherWriter.import(entries);
      await addObjects(otherWriter, 10, 15);
      const sink = new FakeSink();
      await publish([other, otherWriter, sink], () => sink.sent.length >= 10);
      const ids = (texts: string[]) => new Set(texts.map(text => /"diaObjectId":(\d+)/.exec(text)![1]!));
      assert.equal([...ids(sink.sent)].at(0), `${FIRST_ID + 11n}`);
      assert.is(sink.sent.length, 10);
      const imported = new FakeSink();
      await publish([other, otherWriter, imported], () => imported.sent.length >= 30, { from: 0, imported: true });
      assert.equal(imported.sent, allExpected(other));
    });
  }));

test('from now, from the beginning, from an entry', () =>
  withStore(async (store, writer) => {
    await addObjects(writer, 0, 10);
    await addObjects(writer, 10, 20);
    const began = async (from: number | 'now', wanted: number) => {
      const sink = new FakeSink();
      await publish([store, writer, sink], () => sink.sent.length >= wanted, { from });
      return sink.sent;
    };
    const all = allExpected(store);
    assert.equal(await began('now', 0), []);
    assert.is(readPublished(store.databases).get(TOPIC)!.sequence, 4);
    assert.equal(await began(2, 20), all.slice(20));
    assert.equal(await began(0, 40), all);
  }));

test('two never publish at once: the second takes over when the first is killed', () =>
  withStore(async (store, writer, directory) => {
    await addObjects(writer, 0, 10);
    const other = startScript(new URL('publish_process.ts', import.meta.url), [directory]);
    await eventually('the other has its turn', async () => other.output().includes('taken') || undefined);
    const sink = new FakeSink();
    const events: string[] = [];
    const stop = new AbortController();
    const running = publicationOf(store, writer, sink, { log: event => events.push(event) }).run(stop.signal);
    await eventually('this one waits', async () => events.includes('publish_waits') || undefined);
    assert.equal(sink.sent, []);
    other.child.kill('SIGKILL');
    await other.ended;
    await eventually('this one publishes', async () => sink.sent.length >= 20 || undefined);
    assert.is(await new StoreLedger(store, writer, TOPIC).begin(), undefined, 'nor does another one in this process');
    stop.abort();
    await running;
    const next = new StoreLedger(store, writer, TOPIC);
    assert.equal(await next.begin(), { sequence: 2, objects: 0, messages: 20 });
    await next.end();
  }));

test('of two nodes of a log one publishes; when it stands still the other goes on, and it does not disturb when it is back', () =>
  withStore(first =>
    withStore(async second => {
      const log = new MemoryLog();
      const stop = new AbortController();
      const nodes = [first, second].map(store => {
        const node = follow(store, log);
        const sink = new FakeSink();
        const running = publicationOf(store, node.writer, sink).run(stop.signal);
        return { ...node, store, sink, running };
      });
      const sent = () => nodes.map(({ sink }) => sink.sent.length);
      await addObjects(nodes[0]!.writer, 0, 10);
      await eventually('one publishes', async () => sent().includes(20) || undefined);
      assert.equal(sent().toSorted(), [0, 20]);
      const [busy, other] = sent()[0] === 20 ? nodes : nodes.toReversed();
      await eventually('both know how far it has come', async () => {
        for (const { store } of nodes) store.resetRead();
        return nodes.every(({ store }) => readPublished(store.databases).get(TOPIC)?.messages === 20) || undefined;
      });
      busy!.stall(true);
      await addObjects(other!.writer, 10, 20);
      await eventually('the other one goes on', async () => other!.sink.sent.length >= 20 || undefined);
      busy!.stall(false);
      await addObjects(busy!.writer, 20, 30);
      await eventually('the other one still does', async () => other!.sink.sent.length >= 40 || undefined);
      const [before, after] = [busy!.sink.sent, other!.sink.sent];
      assert.equal([...before, ...after], allExpected(first));
      stop.abort();
      await Promise.all(nodes.map(({ running }) => running));
      await Promise.all(nodes.map(({ end }) => end()));
    }),
  ));

test.run();
