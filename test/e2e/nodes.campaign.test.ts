/**
 * Three nodes that share one log, as a user runs them: `serve` of each, commands beside them and alone, and kill -9 at
 * random. In the end all archives are the same, byte for byte. TEST_KILLS sets how many times is killed (1).
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { normaliserOf } from '../../src/capabilities/ingest/brokers.ts';
import { compare } from '../../src/core/base/compare.ts';
import { openKafkaLog } from '../../src/core/cluster/kafka_log.ts';
import type { BrokerName } from '../../src/core/contract/brokers.ts';
import { encodeChange } from '../../src/core/store/change_record.ts';
import { LEVEL } from '../../src/core/store/level.ts';
import { openStore } from '../../src/core/store/store.ts';
import { KafkaServer, whyNoKafka } from '../capabilities/consume/kafka_server.ts';
import { PubSubServer, SUBSCRIPTION } from '../capabilities/consume/pubsub_server.ts';
import { dumpOf } from '../core/store/random_changes.ts';
import { needs } from '../needs.ts';
import { seededRandom } from '../oracle/skies.ts';
import { eventually, get, type Server, sample, send, start, startServer } from './support.ts';

const test = suite('e2e/nodes');
const real = needs(test, whyNoKafka);
const NODES = 3;
const KILLS = Number(process.env.TEST_KILLS ?? 1);
/** One kill in this many is of the Kafka server. */
const SERVER_EVERY = 3;
const TOPIC = 'archive';

const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
const nothing = join(directory, 'nothing');
writeFileSync(nothing, '');
const dataOf = (node: number) => join(directory, `node-${node}`);
const kafka = KafkaServer.of(test);
let settings: Record<string, string>;
const nodes: Server[] = [];
test.before(async () => {
  if (whyNoKafka) return;
  await kafka.createTopic(TOPIC);
  settings = {
    NEARSKY_LOG: `kafka://${kafka.server}/${TOPIC}`,
    NEARSKY_LOG_TLS: 'no',
    NEARSKY_WORKERS: '1',
    CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0',
    TNS_SNAPSHOT_MAX_AGE_SECONDS: '31536000',
  };
});
test.after(async () => {
  for (const { child } of nodes) send(child, 'SIGKILL');
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
});

const serve = (node: number) => startServer(['serve', '--data', dataOf(node), '--port', '0'], settings);

/** Runs a command on the directory of a node. */
async function run(node: number, ...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await start([...args, '--data', dataOf(node), '--json'], settings).finished;
  if (code !== 0) throw new Error(`nearsky ${args.join(' ')} exited with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

const ingest = (node: number, broker: string, file: string) =>
  run(node, 'ingest', '--broker', broker, join(sample, 'alerts', file));

const isReady = async (node: number) => {
  const { statusCode, body } = await request(`${nodes[node]!.url}/readyz`);
  await body.dump();
  return statusCode === 200 || undefined;
};

/** Applies the rest of the log to a node, without a service. */
const catchUp = (node: number) => run(node, 'import', nothing);

async function requireEqual(...others: number[]): Promise<void> {
  const expected = await dumpOf(dataOf(0));
  assert.ok(expected.length > 100);
  for (const node of others) assert.equal(await dumpOf(dataOf(node)), expected);
}

/** The value of a metric of a node. */
async function metric(node: number, name: string): Promise<number> {
  const { body } = await request(`${nodes[node]!.url}/metrics`);
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await body.text())?.[1] ?? Number.NaN);
}

/** Waits until every node has everything, and nothing is pending. */
async function settled(): Promise<void> {
  await eventually('all nodes have the same, crossmatched', async () => {
    const all = await Promise.all(
      nodes.map(async (_, i) => [await metric(i, 'nearsky_objects_pending'), await metric(i, 'nearsky_log_position')]),
    );
    return all.every(([pending, position]) => pending === 0 && position === all[0]![1]) || undefined;
  });
}

/** The ids in the sample's messages. */
async function idsOf(...brokers: BrokerName[]): Promise<bigint[]> {
  const ids = new Set<bigint>();
  for (const broker of brokers) {
    const normalise = normaliserOf(broker, 0);
    for (const line of readFileSync(join(sample, `alerts/${broker}.ndjson`), 'utf8').split('\n')) {
      const normalised = line ? normalise(line, 0) : undefined;
      if (normalised?.kind === 'delivery') ids.add(normalised.delivery.diaObjectId);
    }
  }
  return [...ids].sort(compare);
}

real('three nodes make the same archive, whatever runs where, and is killed when', async () => {
  const random = seededRandom(Date.now());
  nodes.push(...(await Promise.all([0, 1, 2].map(serve))));
  for (const [i] of nodes.entries()) await eventually('a node is ready', () => isReady(i));
  await run(0, 'catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'));
  // Beside `serve` of the same node, whichever of the two applies it.
  const { stored, further_broker, duplicate } = await ingest(1, 'antares', 'antares.ndjson');
  assert.ok(Number(stored) > 10);
  assert.equal([further_broker, duplicate], [0, 0]);
  for (let kill = 0; kill < KILLS; kill++) {
    // A command that begins while the server is away fails.
    const ingesting = eventually('it is ingested', () =>
      ingest(kill % NODES, 'lasair', 'lasair.ndjson').catch(() => undefined),
    );
    await sleep(1500 * random());
    if (kill % SERVER_EVERY === SERVER_EVERY - 1) {
      await kafka.stop();
      await kafka.startAgain();
    } else {
      const at = Math.floor(random() * NODES);
      send(nodes[at]!.child, 'SIGKILL');
      await nodes[at]!.finished;
      nodes[at] = await serve(at);
    }
    await ingesting;
  }
  await settled();
  for (const node of nodes) assert.is((await node.stop()).code, 0);
  // While one ended the others went on.
  await Promise.all([0, 1, 2].map(catchUp));
  await requireEqual(1, 2);
  const store = openStore(dataOf(2), 'read');
  const ids = [...store.objects()].map(({ diaObjectId }) => diaObjectId);
  await store.close();
  assert.equal(ids, await idsOf('antares', ...(KILLS > 0 ? (['lasair'] as const) : [])));
});

real('a command without a running service is a node, too', async () => {
  const once = await ingest(0, 'pittgoogle', 'pittgoogle.ndjson');
  assert.ok(Number(once.stored) + Number(once.further_broker) > 0);
  const lines = join(directory, 'export.ndjson');
  await run(0, 'export', lines);
  const { types, rejected } = await run(1, 'import', lines);
  assert.is(rejected, 0);
  assert.is((types as { object: { imported: number } }).object.imported, 0);
  await run(2, 'tns', 'load', join(sample, 'tns/tns_public_objects.csv'), '--epoch', '2026-02-10T00:00:00Z');
  await run(1, 'crossmatch');
  const other = { ...settings, CROSSMATCH_RADIUS_ARCSEC: '2' };
  const differs = /CROSSMATCH_RADIUS_ARCSEC is 2 here, but 1 in the log of the nodes: set it to 1, or apply/;
  assert.match(await failure(2, ['import', nothing], other), differs);
  assert.is((await start(['node', 'settings', '--data', dataOf(2)], other).finished).code, 0);
  assert.match(await failure(0, ['import', nothing]), /_ARCSEC is 1 here, but 2 in the log/);
  await run(0, 'node', 'settings');
  await Promise.all([1, 2].map(catchUp));
  await requireEqual(1, 2);
});

/** `consume` of a node, and whether it has a connection to the broker. */
function consume(node: number, server: PubSubServer) {
  const variables = { PITTGOOGLE_SUBSCRIPTION: SUBSCRIPTION, PUBSUB_EMULATOR_HOST: server.url.slice('http://'.length) };
  const running = start(['consume', 'pittgoogle', '--data', dataOf(node)], { ...settings, ...variables });
  let log = '';
  running.child.stderr!.on('data', data => (log += data));
  return { ...running, isConsuming: () => log.includes('consume_connected') };
}

real('one node at a time consumes a broker; when it is killed another one does', async () => {
  const server = await PubSubServer.start();
  const first = 9_100_000_000_000_000_001n;
  const publish = (id: bigint) =>
    server.publish([
      {
        data: Buffer.from(
          `{"diaObject": {"diaObjectId": ${id}, "ra": 10.5, "dec": -20.25}, "diaSource": {"reliability": 1}}`,
        ),
        attributes: { diaObject_diaObjectId: `${id}` },
      },
    ]);
  const consumers = [0, 2].map(node => consume(node, server));
  const acknowledged = () => eventually('it is acknowledged', async () => server.waiting === 0 || undefined);
  publish(first);
  await acknowledged();
  const [busy, other] = consumers[0]!.isConsuming() ? consumers : consumers.toReversed();
  assert.not.ok(other!.isConsuming());
  send(busy!.child, 'SIGKILL');
  await busy!.finished;
  publish(first + 1n);
  await acknowledged();
  assert.ok(other!.isConsuming());
  send(other!.child, 'SIGTERM');
  assert.is((await other!.finished).code, 0);
  await server.close();
  await Promise.all([0, 1, 2].map(catchUp));
  await requireEqual(1, 2);
  const store = openStore(dataOf(1), 'read');
  assert.ok(store.getObject(first) && store.getObject(first + 1n));
  await store.close();
});

real('while Kafka is away a node answers with what it has, is not ready, and stores nothing', async () => {
  const away = { ...settings, NEARSKY_LOG: `kafka://127.0.0.1:1/${TOPIC}` };
  const [id] = await idsOf('pittgoogle');
  const node = await startServer(['serve', '--data', dataOf(1), '--port', '0'], away);
  nodes.push(node);
  const { ra, dec } = (await get(`${node.url}/api/objects/${id}`)).results[0].objects[0];
  const cone = await get(`${node.url}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=1`);
  assert.ok(cone.results[0].objects.some((object: { diaObjectId_str: string }) => object.diaObjectId_str === `${id}`));
  const { statusCode, body } = await request(`${node.url}/readyz`);
  assert.is(statusCode, 503);
  assert.match(await body.text(), /this node has not caught up with the log of the nodes/);
  assert.match(await failure(1, ['import', nothing], away), /Cannot read the log archive of 127.0.0.1:1 because/);
  assert.is((await node.stop()).code, 0);
});

/** The reason why a command fails. */
async function failure(node: number, args: string[], variables = settings): Promise<string> {
  const { code, stderr } = await start([...args, '--data', dataOf(node)], variables).finished;
  assert.is(code, 1, stderr);
  return stderr;
}

real('a single node becomes the first of several, and back', async () => {
  assert.match(await failure(0, ['serve', '--port', '0'], {}), /archive is made from one \(.*\): set NEARSKY_LOG/);
  await run(0, 'node', 'leave');
  assert.match(
    await failure(0, ['import', nothing]),
    /this node has an archive that was not made from it: start this node from a backup/,
  );
  settings.NEARSKY_LOG = `kafka://${kafka.server}/${TOPIC}-2`;
  await kafka.createTopic(`${TOPIC}-2`);
  const { applied, behind } = await run(0, 'node', 'begin');
  assert.equal([applied, behind], [1, 0]);
  // A new node lacks the archive that the log continues.
  for (const node of [1, 2]) rmSync(dataOf(node), { recursive: true });
  assert.match(
    await failure(1, ['import', nothing]),
    /the log continues an archive that this node does not have: start this node from a backup/,
  );
  await run(0, 'backup', dataOf(2));
  await ingest(2, 'lasair', 'lasair-late.ndjson');
  await catchUp(0);
  await requireEqual(2);
  const [first, second] = await Promise.all([0, 2].map(node => run(node, 'node', 'status')));
  assert.equal(first, second);
  assert.is(first!.behind, 0);
});

real('a node stops where a newer release has raised the level of the log above its own, and says so', async () => {
  const { applied, level, readable_level } = await run(2, 'node', 'status');
  assert.equal([level, readable_level], [LEVEL, LEVEL]);
  assert.is((await run(2, 'node', 'upgrade')).level, LEVEL);
  assert.is((await run(2, 'node', 'status')).applied, applied, 'there is nothing to raise');
  const node = await serve(2);
  const at = nodes.push(node) - 1;
  await eventually('it is ready', () => isReady(at));
  assert.equal([await metric(at, 'nearsky_log_level'), await metric(at, 'nearsky_log_level_readable')], [LEVEL, LEVEL]);
  // The next release would append these two records: one raises the level, the other continues.
  const log = await openKafkaLog({ servers: [kafka.server], topic: `${TOPIC}-2`, tls: false, log: () => {} });
  for (const change of [
    { kind: 'level', timeUs: 0, level: LEVEL + 1 } as const,
    { kind: 'remove_catalog', name: 'none', timeUs: 0 } as const,
  ])
    await log.append('newer/1', encodeChange(change)[0]!, change.timeUs);
  await log.close();
  await eventually('it has stopped', async () => (await metric(at, 'nearsky_node_stopped')) === 1 || undefined);
  assert.is(await metric(at, 'nearsky_log_level'), LEVEL + 1);
  for (const path of ['/readyz', '/api/objects/1']) {
    const { statusCode, body } = await request(node.url + path);
    assert.is(statusCode, 503);
    assert.match(
      await body.text(),
      new RegExp(`the log of the nodes has level ${LEVEL + 1}, which this release cannot read: install a`),
    );
  }
  const { code, stderr } = await node.stop();
  assert.is(code, 0);
  assert.match(stderr, /node_stopped/);
  const why = new RegExp(
    `the level of the log is ${LEVEL + 1} and this nearsky reads levels up to ${LEVEL}: install a newer`,
  );
  for (const text of [stderr, await failure(2, ['import', nothing]), await failure(0, ['import', nothing])])
    assert.match(text, why);
  assert.is((await run(2, 'node', 'status')).level, LEVEL);
});

test.run();
