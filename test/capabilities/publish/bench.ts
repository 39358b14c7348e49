/**
 * The stream of matches: messages per second to Kafka on this machine, and the time from a recorded crossmatch to a
 * message that can be read.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Consumer } from '@platformatic/kafka';
import { fill } from '../../../bench/filled_store.ts';
import { median, type Options, quantile, type Workload } from '../../../bench/report.ts';
import { readPublished } from '../../../src/core/store/meta.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { send, start } from '../../e2e/support.ts';
import { KafkaServer, whyNoKafka } from '../consume/kafka_server.ts';
import { addObjects } from '../streams/support.ts';

const OBJECTS = 60_000;
/** An object of `addObjects` has two matches on average. */
const OBJECTS_A_COMMIT = 50;
const MATCHES_A_COMMIT = 100;
const COMMITS_A_SECOND = 10;

async function run({ runs, seconds }: Options, note: (text: string) => void) {
  if (whyNoKafka) throw new Error(whyNoKafka);
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-bench-'));
  const kafka = await KafkaServer.start(join(directory, 'kafka'));
  try {
    const data = join(directory, 'data');
    const store = openStore(data, 'write');
    note(`storing ${OBJECTS} objects`);
    await fill(store, 1, OBJECTS);
    const rates: number[] = [];
    const cpus: number[] = [];
    let messages = 0;
    for (let pass = 0; pass <= runs; pass++) {
      note(`pass ${pass} of ${runs}${pass === 0 ? ', to warm up' : ''}`);
      const topic = `backlog-${pass}`;
      await kafka.createTopic(topic, 4);
      const began = { ms: 0, cpu: 0 };
      const command = startPublish(kafka, topic, data);
      while (!(readPublished(store.databases).get(topic)?.messages ?? 0)) await pause(store);
      // Measured from the first recorded batch on, so without the start of the process.
      const first = readPublished(store.databases).get(topic)!.messages;
      Object.assign(began, { ms: performance.now(), cpu: cpuSecondsOf(command.child.pid!) });
      while (readPublished(store.databases).get(topic)!.sequence < store.lastSequence()) await pause(store);
      const elapsed = (performance.now() - began.ms) / 1000;
      const cpu = cpuSecondsOf(command.child.pid!) - began.cpu;
      messages = readPublished(store.databases).get(topic)!.messages;
      send(command.child, 'SIGTERM');
      await command.finished;
      if (pass === 0) continue;
      rates.push((messages - first) / elapsed);
      cpus.push((messages - first) / cpu);
    }
    note(`${seconds} s of ${COMMITS_A_SECOND * MATCHES_A_COMMIT} matches a second`);
    const latencies = await latency(kafka, join(directory, 'live'), seconds);
    await store.close();
    return {
      header: ['stream', 'median', ''],
      rows: [
        ['messages a second, a backlog', `${Math.round(median(rates))}`, `of ${messages}`],
        ['messages a second of CPU', `${Math.round(median(cpus))}`, ''],
        ['recorded to readable, p50', `${Math.round(median(latencies))} ms`, `of ${latencies.length}`],
        ['recorded to readable, p99', `${Math.round(quantile(latencies, 0.99))} ms`, ''],
      ],
      json: { rate: median(rates), perCpuSecond: median(cpus), p99: quantile(latencies, 0.99) },
    };
  } finally {
    await kafka.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

function startPublish(kafka: KafkaServer, topic: string, data: string) {
  return start(['publish', '--data', data], {
    PUBLISH_KAFKA_SERVERS: kafka.server,
    PUBLISH_TOPIC: topic,
    PUBLISH_KAFKA_TLS: 'no',
  });
}

async function pause(store: ReturnType<typeof openStore>): Promise<void> {
  await sleep(5);
  store.resetRead();
}

/** Processor seconds of a process, all its threads. */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

/** Milliseconds from the end of the commit of a crossmatch to the arrival of each of its messages. */
async function latency(kafka: KafkaServer, data: string, seconds: number): Promise<number[]> {
  const topic = 'live';
  await kafka.createTopic(topic, 4);
  const store = openStore(data, 'write');
  const writer = new Writer(store);
  const command = startPublish(kafka, topic, data);
  const consumer = new Consumer({
    clientId: 'bench',
    groupId: 'bench',
    bootstrapBrokers: [kafka.server],
    maxWaitTime: 100,
  });
  const recordedMs = new Map<string, number>();
  const latencies: number[] = [];
  const stream = await consumer.consume({ topics: [topic], mode: 'earliest', autocommit: false });
  stream.on('data', ({ key }) => {
    const recorded = recordedMs.get(`${key}`);
    if (recorded !== undefined) latencies.push(performance.now() - recorded);
  });
  // The first seconds are the start of the process.
  await sleep(3000);
  const beganMs = performance.now();
  for (let commit = 0; commit < seconds * COMMITS_A_SECOND; commit++) {
    const from = OBJECTS_A_COMMIT * commit;
    const ids = await addObjects(writer, from, from + OBJECTS_A_COMMIT);
    const nowMs = performance.now();
    for (const id of ids) recordedMs.set(`${id}`, nowMs);
    await sleep(Math.max(0, beganMs + (1000 * (commit + 1)) / COMMITS_A_SECOND - performance.now()));
  }
  await sleep(2000);
  send(command.child, 'SIGTERM');
  await command.finished;
  await consumer.close(true);
  await store.close();
  return latencies;
}

export const workload: Workload = {
  name: 'stream',
  summary: 'each match as a message to Kafka: messages a second, and the time until one can be read',
  onlyByName: true,
  run,
};
