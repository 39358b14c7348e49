/** `nearsky consume` as a user runs it. Kafka, and the three brokers at once, are in e2e/consume_kill. */
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BROKER_NAMES } from '../../../src/core/contract/brokers.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { eventually, type Running, root, send, start, withDirectory } from '../../e2e/support.ts';
import { alertOf, PubSubServer, SUBSCRIPTION } from './pubsub_server.ts';

const test = suite('consume/command');

const FIRST_ID = 9_100_000_000_000_000_001n;

function settings(server: PubSubServer): Record<string, string> {
  return { PITTGOOGLE_SUBSCRIPTION: SUBSCRIPTION, PUBSUB_EMULATOR_HOST: server.url.slice('http://'.length) };
}

/** Waits until everything is acknowledged, and ends the command as a service manager does. */
async function stopWhenDone({ child, finished }: Running, server: PubSubServer) {
  await eventually('everything is acknowledged', async () => server.waiting === 0 || undefined);
  send(child, 'SIGTERM');
  const { code, stdout, stderr } = await finished;
  assert.is(code, 0, stderr);
  const log = stderr
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>);
  return { result: JSON.parse(stdout), log, output: stdout + stderr };
}

test('what cannot be used is kept with the reason and stepped over; the rest is stored, then acknowledged', () =>
  withDirectory(async directory => {
    const server = await PubSubServer.start();
    const good = [0n, 1n, 2n].map(i => alertOf(FIRST_ID + i));
    const ids = server.publish([
      good[0]!,
      { data: Buffer.from('{"diaObject"') },
      { data: Buffer.from([0xff, 0xfe]) },
      { data: alertOf(FIRST_ID).data, attributes: { diaObject_diaObjectId: '5' } },
      { data: new Uint8Array(0) },
      good[1]!,
      good[0]!,
      alertOf(FIRST_ID + 9n, 0.1),
      { data: Buffer.from('{"diaObject": null, "diaSource": {}}') },
      good[2]!,
    ]);
    const data = join(directory, 'data');
    const running = start(['consume', 'pittgoogle', '--data', data, '--json'], settings(server));
    const { result, log } = await stopWhenDone(running, server);
    const { rejects_file: rejectsFile, ...counts } = result.pittgoogle;
    const none = { further_broker: 0, without_position: 0, without_event_time: 4, blank_lines: 0, failures: 0 };
    assert.equal(counts, { read: 10, stored: 3, duplicate: 1, below_cut: 1, skipped: 1, rejected: 4, ...none });
    const rejects = readFileSync(rejectsFile, 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    const origins = ids.slice(1, 5).map(message_id => ({ subscription: SUBSCRIPTION, message_id }));
    assert.equal(
      rejects.map(({ reason, ...rest }) => ({ ...rest, reason: reason.slice(0, 8) })),
      [
        { ...origins[0], reason: 'not JSON', message: '{"diaObject"' },
        { ...origins[1], reason: 'not UTF-', message_base64: '//4=' },
        { ...origins[2], reason: 'the attr', message: `${alertOf(FIRST_ID).data}` },
        { ...origins[3], reason: 'the mess', message: '' },
      ],
    );
    const store = openStore(data, 'read');
    assert.equal(
      [...store.objects()].map(({ diaObjectId }) => diaObjectId),
      [FIRST_ID, FIRST_ID + 1n, FIRST_ID + 2n],
    );
    await store.close();
    assert.equal(
      log.map(({ event }) => event),
      ['consume_connected', 'stopping', 'consumed'],
    );
    assert.is(log.at(-1)!.stored, 3);
    await server.close();
  }));

test('nothing of a batch is acknowledged before all of it is on disk', () =>
  withDirectory(async directory => {
    const server = await PubSubServer.start({ ackDeadlineMs: 50 });
    const data = join(directory, 'data');
    const running = start(['consume', 'pittgoogle', '--data', data, '--json'], settings(server));
    await eventually('the database is made', async () => existsSync(join(data, 'nearsky.mdb')) || undefined);
    // Where the rejects are to go, so that they can't be kept.
    writeFileSync(join(data, 'rejected'), '');
    server.publish([alertOf(FIRST_ID), { data: Buffer.from('no alert') }, alertOf(FIRST_ID + 1n)]);
    await eventually('the batch has come three times', async () => server.deliveries >= 9 || undefined);
    assert.is(server.acknowledged.size, 0);
    rmSync(join(data, 'rejected'));
    const { result, log } = await stopWhenDone(running, server);
    assert.is(server.acknowledged.size, 3);
    assert.equal([result.pittgoogle.rejected, result.pittgoogle.stored], [1, 2]);
    const store = openStore(data, 'read');
    assert.equal([...store.objects()].length, 2);
    await store.close();
    const failed = log.filter(({ event }) => event === 'consume_failed');
    assert.match(String(failed[0]?.error), /Cannot keep the rejected messages/);
    await server.close();
  }));

test('a broker that fails holds up no other, is tried again, and shows no credentials', () =>
  withDirectory(async directory => {
    let requests = 0;
    const server = await PubSubServer.start({ fault: () => (requests++ < 2 ? 503 : undefined) });
    server.publish([alertOf(FIRST_ID), alertOf(FIRST_ID + 1n)]);
    const variables = {
      ...settings(server),
      LASAIR_TOPICS: 'lasair_1mine',
      LASAIR_GROUP_ID: 'mine',
      LASAIR_KAFKA_SERVERS: '127.0.0.1:1',
      ANTARES_TOPICS: 'mine',
      ANTARES_GROUP_ID: 'mine',
      ANTARES_KAFKA_SERVERS: '127.0.0.1:1',
      ANTARES_API_KEY: 'the-key',
      ANTARES_API_SECRET: 'the-secret',
    };
    const args = ['consume', '--broker', 'lasair,antares', 'pittgoogle', 'lasair', '--data', join(directory, 'data')];
    const running = start([...args, '--json'], variables);
    const { result, log, output } = await stopWhenDone(running, server);
    assert.equal(Object.keys(result), ['lasair', 'antares', 'pittgoogle']);
    assert.equal([result.pittgoogle.stored, result.pittgoogle.failures], [2, 2]);
    const failed = log.filter(({ event }) => event === 'consume_failed');
    assert.match(String(failed.find(({ broker }) => broker === 'pittgoogle')?.error), /answered 503/);
    const ofPittgoogle = log.filter(({ broker, event }) => broker === 'pittgoogle' && event !== 'consumed');
    assert.equal(
      ofPittgoogle.map(({ event }) => event),
      ['consume_failed', 'consume_failed', 'consume_connected'],
      'connected once the service has answered',
    );
    assert.ok(failed.every(({ next_attempt_in_s: seconds }) => Number(seconds) > 0));
    assert.not.match(output, /the-secret|the-key/);
    await server.close();
  }));

test('a broker that answers no more: the command ends by itself before its unit kills it', () =>
  withDirectory(async directory => {
    const unit = readFileSync(join(root, 'deploy/nearsky.service'), 'utf8');
    const unitSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)![1]);
    let isAcknowledging = false;
    const broker = createServer((request, response) => {
      if (request.url!.endsWith(':acknowledge')) isAcknowledging = true;
      else response.end(JSON.stringify({ receivedMessages: [{ ackId: '1', message: { data: 'e30=' } }] }));
    }).listen(0, '127.0.0.1');
    await once(broker, 'listening');
    const variables = {
      PITTGOOGLE_SUBSCRIPTION: SUBSCRIPTION,
      PUBSUB_EMULATOR_HOST: `127.0.0.1:${(broker.address() as AddressInfo).port}`,
    };
    const running = start(['consume', 'pittgoogle', '--data', join(directory, 'data'), '--json'], variables);
    await eventually('it acknowledges', async () => isAcknowledging || undefined);
    const beganMs = performance.now();
    send(running.child, 'SIGTERM');
    const { code, stdout } = await running.finished;
    assert.equal([code, JSON.parse(stdout).pittgoogle.rejected], [0, 1]);
    assert.ok(performance.now() - beganMs < unitSeconds * 1000);
    broker.closeAllConnections();
    broker.close();
  }));

test('what is missing is status 2, and said before anything is made', () =>
  withDirectory(async directory => {
    const wrong: [string[], Record<string, string>, RegExp][] = [
      [[], {}, /no broker given/],
      [['ztf'], {}, new RegExp(`a broker must be one of ${BROKER_NAMES.join(', ')} \\(ztf was given\\)`)],
      [['lasair'], {}, /LASAIR_TOPICS is not set: set it to the topics/],
      [['lasair'], { LASAIR_TOPICS: 'a,b' }, /LASAIR_GROUP_ID is not set/],
      [['antares'], { ANTARES_TOPICS: 'a', ANTARES_GROUP_ID: 'g' }, /ANTARES_API_KEY is not set in the environment/],
      [['pittgoogle'], {}, /PITTGOOGLE_SUBSCRIPTION is not set: set it to your subscription/],
      [['pittgoogle'], { PITTGOOGLE_SUBSCRIPTION: 'mine' }, /must be a subscription as projects/],
      [['lasair'], { LASAIR_KAFKA_SERVERS: 'host' }, /each item a server as host:port/],
    ];
    for (const [args, variables, message] of wrong) {
      const data = join(directory, 'data');
      const { code, stderr } = await start(['consume', ...args, '--data', data], variables).finished;
      assert.equal([code, stderr.trimEnd().split('\n').length], [2, 1], stderr);
      assert.match(stderr, message);
    }
  }));

test.run();
