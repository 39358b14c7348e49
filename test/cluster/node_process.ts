/**
 * node_process.ts DATA SERVER TOPIC SEED: a node that follows a topic and submits random changes; prints the hash of each
 * record whose outcome it was told. Ends when its standard input does, and then has all that the log has.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openKafkaLog } from '../../src/cluster/kafka_log.ts';
import { LostPlace } from '../../src/cluster/log.ts';
import { Node } from '../../src/cluster/node.ts';
import { encodeChange } from '../../src/store/change_record.ts';
import { recordHash } from '../../src/store/logged_changes.ts';
import { openStore } from '../../src/store/store.ts';
import { seededRandom } from '../oracle/skies.ts';
import { RandomChanges } from '../store/random_changes.ts';

const [dataDir, server, topic, seed] = process.argv.slice(2);
const store = openStore(dataDir!, 'write');
const log = await openKafkaLog({ servers: [server!], topic: topic!, tls: false, log: () => {} });
const node = new Node(store, log);
const changes = new RandomChanges(seededRandom(Number(seed)));

let ends = false;
process.stdin.on('end', () => (ends = true)).resume();

/** The records that the log has beyond this node; undefined where it could not be asked. */
async function step(): Promise<number | undefined> {
  try {
    return await node.step();
  } catch (error) {
    if (error instanceof LostPlace) throw error;
    await sleep(50);
    return undefined;
  }
}

async function submit(): Promise<void> {
  while (!ends) {
    const change = changes.change();
    const [record] = encodeChange(change);
    const isTold = await node.submit(change).then(
      () => true,
      () => false,
    );
    if (isTold) process.stdout.write(`${recordHash(record!)}\n`);
  }
}

let isSubmitting = true;
const submitting = submit().finally(() => (isSubmitting = false));
while (isSubmitting || (await step()) !== 0) await step();
await submitting;
await log.close();
await store.close();
