/**
 * Nodes as processes, over Kafka itself, that are killed at random moments, as is the server: all come to the same
 * archive, the one that the log makes. NEARSKY_KILLS=100 kills so many times.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openKafkaLog } from '../../src/cluster/kafka_log.ts';
import { Node } from '../../src/cluster/node.ts';
import { recordHash } from '../../src/store/logged_changes.ts';
import { openStore } from '../../src/store/store.ts';
import { KafkaServer, whyNoKafka } from '../consume/kafka_server.ts';
import { eventually } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { seededRandom } from '../oracle/skies.ts';
import { dump } from '../store/random_changes.ts';
import { startScript } from '../store/support.ts';

const test = suite('cluster/nodes');
const real = needs(test, whyNoKafka);
const NODES = 3;
const KILLS = Number(process.env.NEARSKY_KILLS ?? 3);
/** The server is killed once in so many times. */
const SERVER_EVERY = 3;
const TOPIC = 'log';

const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
let kafka: KafkaServer;
let started = 0;
const running = new Set<ReturnType<typeof startScript>>();
test.before(async () => {
  if (!whyNoKafka) kafka = await KafkaServer.start(join(directory, 'kafka'));
});
test.after(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  await kafka?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const dataOf = (node: number) => join(directory, `node-${node}`);

function start(node: number) {
  const script = new URL('./node_process.ts', import.meta.url);
  const process = startScript(script, [dataOf(node), kafka.server, TOPIC, `${++started}`], { stdin: 'pipe' });
  running.add(process);
  return process;
}

/** Has the node been told of so many more outcomes. */
const isTold = (node: ReturnType<typeof startScript>, more: number) => {
  const before = node.output().length;
  return eventually('a node goes on', async () => {
    if (node.child.exitCode !== null) throw new Error(`a node ended with ${node.child.exitCode}`);
    return node.output().length >= before + 65 * more || undefined;
  });
};

async function withStore<T>(at: string, body: (store: ReturnType<typeof openStore>) => Promise<T>): Promise<T> {
  const store = openStore(at, 'write');
  try {
    return await body(store);
  } finally {
    await store.close();
  }
}

real(
  'nodes that are killed come to the archive that the log makes, and nothing that was acknowledged is lost',
  async () => {
    await kafka.createTopic(TOPIC);
    const random = seededRandom(1);
    const nodes = Array.from({ length: NODES }, (_, i) => start(i));
    const told: string[] = [];
    for (let kill = 1; kill <= KILLS; kill++) {
      await Promise.all(nodes.map(node => isTold(node, 2)));
      await sleep(random() * 100);
      if (kill % SERVER_EVERY === 0) {
        await kafka.stop();
        await kafka.startAgain();
      } else {
        const at = Math.floor(random() * NODES);
        nodes[at]!.child.kill('SIGKILL');
        told.push((await nodes[at]!.ended).output);
        nodes[at] = start(at);
      }
    }
    await Promise.all(nodes.map(node => isTold(node, 2)));
    for (const { child } of nodes) child.stdin!.end();
    for (const { ended } of nodes) {
      const { code, output } = await ended;
      assert.is(code, 0);
      told.push(output);
    }

    const log = await openKafkaLog({ servers: [kafka.server], topic: TOPIC, tls: false, log: () => {} });
    const hashes = new Set<string>();
    for (let from = 0, end = 1; from < end; ) {
      const read = await log.read(from);
      for (const { record } of read.entries) hashes.add(recordHash(record));
      from += read.entries.length;
      ({ end } = read);
    }
    const acknowledged = told.flatMap(output => output.match(/^[0-9a-f]{64}$/gm) ?? []);
    assert.ok(acknowledged.length > 10 * NODES);
    assert.equal(
      acknowledged.filter(hash => !hashes.has(hash)),
      [],
    );
    const dumpOf = (at: string) =>
      withStore(at, async store => {
        const node = new Node(store, log);
        while ((await node.step()) > 0);
        return dump(store);
      });
    const expected = await dumpOf(join(directory, 'alone'));
    for (let i = 0; i < NODES; i++) assert.equal(await dumpOf(dataOf(i)), expected);
    await log.close();
  },
);

test.run();
