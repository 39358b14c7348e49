/** Messages of a broker are acknowledged only when they are on disk. A server in this process stands for Pub/Sub. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BrokerConsumer } from '../../../src/capabilities/consume/broker_consumer.ts';
import { feedOf } from '../../../src/capabilities/consume/feeds.ts';
import { Ingester } from '../../../src/capabilities/ingest/ingester.ts';
import { RejectLog } from '../../../src/capabilities/ingest/rejects.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { configOf, eventually } from '../../core/http/support.ts';
import { withDirectory } from '../../directory.ts';
import { alertOf, PubSubServer, SUBSCRIPTION } from './pubsub_server.ts';

const test = suite('consume/broker_consumer');

const FIRST_ID = 9_100_000_000_000_000_001n;

interface Consumed {
  readonly server: PubSubServer;
  readonly dataDir: string;
  readonly ids: () => bigint[];
  readonly rejects: RejectLog;
  readonly logged: readonly Readonly<Record<string, unknown>>[];
  readonly consumer: BrokerConsumer;
}

const consuming = (ackDeadlineMs: number, use: (consumed: Consumed) => Promise<void>) =>
  withDirectory(async dataDir => {
    const server = await PubSubServer.start({ ackDeadlineMs });
    const config = configOf(dataDir, { PITTGOOGLE_SUBSCRIPTION: SUBSCRIPTION });
    const store = openStore(dataDir, 'write');
    const rejects = new RejectLog(config, 'pittgoogle');
    const logged: Record<string, unknown>[] = [];
    const log = (event: string, fields = {}) => void logged.push({ event, ...fields });
    const feed = feedOf('pittgoogle', config, { PUBSUB_EMULATOR_HOST: new URL(server.url).host }, log);
    const ingester = new Ingester(new Writer(store), rejects);
    const consumer = new BrokerConsumer({ broker: 'pittgoogle', feed, ingester, log });
    const stop = new AbortController();
    const ended = consumer.run(stop.signal);
    const ids = () => [...store.objects()].map(({ diaObjectId }) => diaObjectId);
    try {
      await use({ server, dataDir, ids, rejects, logged, consumer });
    } finally {
      stop.abort();
      await ended;
      rejects.close();
      await store.close();
      await server.close();
    }
  });

test('messages are stored, or kept with the reason, and then acknowledged', () =>
  consuming(60_000, async ({ server, ids, rejects, logged, consumer }) => {
    const sent = server.publish([alertOf(FIRST_ID), { data: new Uint8Array(0) }, alertOf(FIRST_ID + 1n)]);
    await eventually('all are acknowledged', async () => server.acknowledged.size === sent.length || undefined);
    assert.equal(ids(), [FIRST_ID, FIRST_ID + 1n]);
    assert.match(readFileSync(rejects.path!, 'utf8'), 'the message is empty');
    assert.equal(
      logged.map(({ event }) => event),
      ['consume_connected'],
    );
    assert.equal(consumer.state, { connected: true, missingTopics: [], failures: 0 });
  }));

test('nothing of a batch is acknowledged before all of it is on disk', () =>
  consuming(50, async ({ server, dataDir, ids, logged, consumer }) => {
    // Where the rejects are to go, so that they can't be kept.
    writeFileSync(join(dataDir, 'rejected'), '');
    server.publish([alertOf(FIRST_ID), { data: Buffer.from('no alert') }, alertOf(FIRST_ID + 1n)]);
    await eventually('it has come again', async () => server.deliveries >= 6 || undefined);
    assert.is(server.acknowledged.size, 0);
    rmSync(join(dataDir, 'rejected'));
    await eventually('all are acknowledged', async () => server.acknowledged.size === 3 || undefined);
    assert.equal(ids(), [FIRST_ID, FIRST_ID + 1n]);
    const failures = logged.filter(({ event }) => event === 'consume_failed');
    assert.match(`${failures[0]?.error}`, /Cannot keep the rejected messages/);
    assert.is(consumer.state.failures, failures.length);
  }));

test.run();
