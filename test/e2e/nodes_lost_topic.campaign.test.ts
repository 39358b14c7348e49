/** The topic of the log is lost: the nodes append nothing to the new one, and the cure that they print works as it is printed. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CURE } from '../../src/core/cluster/record_log.ts';
import { openStore } from '../../src/core/store/store.ts';
import { freePorts, KafkaServer, whyNoKafka } from '../capabilities/consume/kafka_server.ts';
import { dump } from '../core/store/random_changes.ts';
import { needs } from '../needs.ts';
import { eventually, type Finished, type Server, sample, start, startServer, withDirectory } from './support.ts';

const test = suite('e2e/nodes_lost_topic');
const real = needs(test, whyNoKafka);
const kafka = KafkaServer.of(test);
const TOPIC = 'archive';
const NODES = [0, 1, 2] as const;
/** The commands of the cure, in its order. */
const COMMANDS = [...CURE.matchAll(/`nearsky (node \w+)`/g)].map(([, command]) => command!.split(' '));

async function statusOf(url: string): Promise<number> {
  const { statusCode, body } = await request(`${url}/readyz`);
  await body.dump();
  return statusCode;
}

real('every node stops, status tells which one holds most, begin takes no other, and the rest start from it', () =>
  withDirectory(async directory => {
    const ports = await freePorts(NODES.length);
    const addresses = ports.map(port => `http://127.0.0.1:${port}`);
    const settings: Record<string, string> = {
      NEARSKY_LOG: `kafka://${kafka.server}/${TOPIC}`,
      NEARSKY_LOG_TLS: 'no',
      NEARSKY_WORKERS: '1',
      NEARSKY_NODES: addresses.join(','),
    };
    const dataOf = (node: number) => join(directory, `node-${node}`);
    const run = (node: number, ...args: string[]): Promise<Finished> =>
      start([...args, '--data', dataOf(node), '--json'], settings).finished;
    const done = async (node: number, ...args: string[]) => {
      const { code, stdout, stderr } = await run(node, ...args);
      assert.is(code, 0, stderr);
      return JSON.parse(stdout);
    };
    const serve = (node: number) =>
      startServer(['serve', '--data', dataOf(node), '--port', `${ports[node]}`], settings);
    const isNow = (server: Server, status: number) =>
      eventually(`it answers ${status}`, async () => (await statusOf(server.url)) === status || undefined);

    await kafka.createTopic(TOPIC);
    const servers = await Promise.all(NODES.map(serve));
    for (const server of servers) await isNow(server, 200);
    await done(0, 'ingest', '--broker', 'antares', join(sample, 'alerts/antares.ndjson'));
    await eventually('all have it', async () => (await done(2, 'node', 'status')).holds_most.length === 4 || undefined);
    assert.is((await servers[2]!.stop()).code, 0);
    // Node 2 misses this.
    await done(1, 'ingest', '--broker', 'lasair', join(sample, 'alerts/lasair.ndjson'));
    await eventually('two have it', async () => (await done(0, 'node', 'status')).holds_most.length === 3 || undefined);
    await kafka.deleteTopic(TOPIC);
    await eventually('the topic is there again', () =>
      kafka.createTopic(TOPIC).then(
        () => true,
        () => undefined,
      ),
    );
    servers[2] = await serve(2);
    for (const server of servers) await isNow(server, 503);
    const refused = await run(1, 'ingest', '--broker', 'lasair', join(sample, 'alerts/lasair-late.ndjson'));
    assert.is(refused.code, 1);
    assert.ok(refused.stderr.includes(CURE), refused.stderr);
    assert.equal(await kafka.ends(TOPIC), [0n], 'nothing is appended to the new topic');

    const [status, leave, begin] = COMMANDS;
    assert.equal(COMMANDS, [
      ['node', 'status'],
      ['node', 'leave'],
      ['node', 'begin'],
    ]);
    await kafka.stop();
    const { holds_most, others, stopped } = await done(2, ...status!);
    assert.equal(holds_most, addresses.slice(0, 2), 'without Kafka, too');
    assert.match(stopped, /recreated|it is \S+, but this node followed/);
    assert.ok(others[0].journal_sequence > others[2].journal_sequence);
    assert.equal((await done(0, ...status!)).holds_most, ['this directory', ...addresses.slice(0, 2)]);
    await kafka.startAgain();

    // A node that has less.
    assert.is((await servers[2]!.stop()).code, 0);
    await done(2, ...leave!);
    const { code, stderr } = await run(2, ...begin!);
    assert.is(code, 1);
    assert.match(stderr, `the node at ${addresses[0]} has ${others[0].journal_sequence}: begin there`);
    assert.equal(await kafka.ends(TOPIC), [0n]);

    assert.is((await servers[0]!.stop()).code, 0);
    await done(0, ...leave!);
    await done(0, ...begin!);
    assert.is((await servers[1]!.stop()).code, 0);
    for (const node of [1, 2]) {
      rmSync(dataOf(node), { recursive: true });
      await done(0, 'backup', dataOf(node));
    }
    const again = await Promise.all(NODES.map(serve));
    for (const server of again) await isNow(server, 200);
    await done(2, 'ingest', '--broker', 'lasair', join(sample, 'alerts/lasair-late.ndjson'));
    await eventually('all have it', async () => (await done(0, ...status!)).holds_most.length === 4 || undefined);
    for (const server of again) assert.is((await server.stop()).code, 0);
    const nothing = join(directory, 'nothing');
    writeFileSync(nothing, '');
    for (const node of NODES) await done(node, 'import', nothing);
    const dumps = NODES.map(async node => {
      const store = openStore(dataOf(node), 'read');
      const all = dump(store);
      await store.close();
      return all;
    });
    const [first, ...rest] = await Promise.all(dumps);
    for (const other of rest) assert.equal(other, first);
  }),
);

test.run();
