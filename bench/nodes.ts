/**
 * Nodes that share a log, over three Kafka servers: the time from an alert to an answer of each node, the replay of a
 * log, a node from a backup, and the CPU time of a request, compared with a service without a log.
 */
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Producer } from '@platformatic/kafka';
import { Agent, request } from 'undici';
import { newTopic } from '../src/core/cluster/kafka_settings.ts';
import { Member } from '../src/core/cluster/member.ts';
import { openStore, type Store } from '../src/core/store/store.ts';
import { Writer } from '../src/core/store/writer.ts';
import { KafkaServer, whyNoKafka } from '../test/capabilities/consume/kafka_server.ts';
import { type Running, type Server, send, start, startServer } from '../test/e2e/support.ts';
import { logOf } from '../test/e2e/three_nodes.ts';
import { seededRandom } from '../test/oracle/skies.ts';
import { fill } from './filled_store.ts';
import { type Alert, alertsAnywhere } from './ingest.ts';
import { load } from './load.ts';
import { cpuMsOf, withDirectory } from './processes.ts';
import { median, type Options, quantile, type Report, type Workload } from './report.ts';

const NODES = 3;
const SERVERS = 3;
const ALERTS_A_SECOND = 2000;
const SENT_EVERY_MS = 20;
/** One alert in this many is looked for. */
const LOOKED_FOR = 100;
const LOOK_MS = 10;
const SOURCE = 'alerts';
const LOG = 'log';
const REPLAYED = 100_000;
const MOST_SEEDED = 1_000_000;
const REQUESTED = 200_000;
const REQUESTS = 100_000;
const CONNECTIONS = 8;
const LOAD_SECONDS = 3;
const WARM_SECONDS = 6;
const STREAM_WARM_SECONDS = 10;
/** After a start, the tables for queries are made. */
const SETTLE_MS = 15_000;
const IDLE_MS = 10_000;

type Kafka = readonly KafkaServer[];
type Rows = readonly (readonly string[])[];
type Note = (text: string) => void;

interface Part {
  readonly rows: Rows;
  readonly json: Readonly<Record<string, number>>;
}

const variablesOf = (kafka: Kafka, topic: string) => ({ ...logOf(kafka, topic), NEARSKY_WORKERS: '1' });

async function serve(data: string, variables: Record<string, string>, ...options: string[]): Promise<Server> {
  const server = await startServer(['serve', '--data', data, '--port', '0', ...options], variables);
  for (;;) {
    const { statusCode, body } = await request(`${server.url}/readyz`);
    await body.dump();
    if (statusCode === 200) return server;
    await sleep(20);
  }
}

async function stop(...processes: readonly Running[]): Promise<void> {
  for (const { child } of processes) send(child, 'SIGTERM');
  await Promise.all(processes.map(({ finished }) => finished));
}

interface Sent extends Alert {
  readonly sentMs: number;
}

/** Looks for the alerts at one node, one after another. Returns the time that each took. */
async function lookFor(url: string, sent: readonly Sent[], isOver: () => boolean): Promise<number[]> {
  const agent = new Agent();
  const took: number[] = [];
  for (let next = 0; next < sent.length || !isOver(); ) {
    const alert = sent[next];
    if (alert) {
      const { ra, dec, id, sentMs } = alert;
      const address = `${url}/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=1&detail=ids`;
      const { body } = await request(address, { dispatcher: agent });
      if ((await body.text()).includes(`"${id}"`)) {
        took.push(performance.now() - sentMs);
        next++;
        continue;
      }
    }
    await sleep(LOOK_MS);
  }
  await agent.close();
  return took;
}

/** From a broker's stream, through the log, to the index of each node. */
async function searchable(kafka: Kafka, directory: string, seconds: number): Promise<Part> {
  const variables = variablesOf(kafka, LOG);
  await kafka[0]!.createTopic(LOG, 1, newTopic(SERVERS).settings);
  await kafka[0]!.createTopic(SOURCE, 4);
  const servers: Server[] = [];
  for (let node = 0; node < NODES; node++) servers.push(await serve(join(directory, `node-${node}`), variables));
  const consume = start(['consume', 'lasair', '--data', join(directory, 'node-0')], {
    ...variables,
    LASAIR_KAFKA_SERVERS: kafka.map(({ server }) => server).join(','),
    LASAIR_TOPICS: SOURCE,
    LASAIR_GROUP_ID: 'bench',
    CONSUME_BATCH_SECONDS: '0.05',
  });
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({
    clientId: 'bench',
    bootstrapBrokers: kafka.map(({ server }) => server),
    idempotent: true,
  });
  const alerts = alertsAnywhere(10_000_000, 1);
  const sent: Sent[] = [];
  let count = 0;
  const sendSome = async (some: number) => {
    const sentMs = performance.now();
    const messages = Array.from({ length: some }, () => {
      const alert = alerts.next().value as Alert;
      if (count++ % LOOKED_FOR === 0) sent.push({ ...alert, sentMs });
      const { id, ra, dec } = alert;
      const text = `{"diaObjectId": ${id}, "ra": ${ra}, "decl": ${dec}, "latestR": 0.9, "firstDiaSourceMjdTai": 61105.25}`;
      return { topic: SOURCE, partition: count % 4, value: Buffer.from(text) };
    });
    await producer.send({ messages });
  };
  /** @returns alerts a second */
  const sendFor = async (seconds: number) => {
    const began = performance.now();
    const perSend = (ALERTS_A_SECOND * SENT_EVERY_MS) / 1000;
    const inFlight: Promise<void>[] = [];
    while (performance.now() - began < 1000 * seconds) {
      inFlight.push(sendSome(perSend));
      await sleep(Math.max(0, began + inFlight.length * SENT_EVERY_MS - performance.now()));
    }
    await Promise.all(inFlight);
    return (inFlight.length * perSend) / ((performance.now() - began) / 1000);
  };
  // Waits until everything is connected, the tables for queries exist, and the hot paths are compiled.
  await sleep(SETTLE_MS);
  await sendFor(STREAM_WARM_SECONDS);
  const warm = sent.splice(0);
  await Promise.all(servers.map(({ url }) => lookFor(url, warm, () => true)));
  let isOver = false;
  const pids = [...servers, consume].map(({ child }) => child.pid!);
  const cpuBefore = pids.map(cpuMsOf);
  const looking = servers.map(({ url }) => lookFor(url, sent, () => isOver));
  const rate = await sendFor(seconds);
  isOver = true;
  const times = await Promise.all(looking);
  const cpu = pids.map((pid, i) => (cpuMsOf(pid) - cpuBefore[i]!) / (10 * seconds));
  await stop(consume, ...servers);
  await producer.close(true);
  // An alert counts as searchable on every node when the last node has it.
  const last = sent.map((_, i) => Math.max(...times.map(each => each[i]!)));
  const p = (q: number) => Math.round(quantile(last, q));
  return {
    rows: [
      ['alert to searchable on every node, p50', `${p(0.5)} ms`, `${Math.round(rate)} alerts a second`],
      ['alert to searchable on every node, p99', `${p(0.99)} ms`, `of ${last.length}, at most ${p(1)} ms`],
      [
        'CPU of a node that crossmatches, of the others, of consume',
        `${cpu.map(share => `${Math.round(share)}%`).join(', ')}`,
        'of a core',
      ],
    ],
    json: { rate, p50_ms: p(0.5), p99_ms: p(0.99), max_ms: p(1) },
  };
}

/** Replays a log of crossmatched objects into an empty archive. */
async function replay(kafka: Kafka, directory: string, runs: number): Promise<Part> {
  const topic = 'replay';
  await kafka[0]!.createTopic(topic, 1, newTopic(SERVERS).settings);
  const follow = async (data: string, use: (store: Store, member: Member) => Promise<void>) => {
    const store = openStore(data, 'write');
    const servers = kafka.map(({ server }) => server);
    const member = new Member({ store, topic: { servers, topic, tls: false }, log: () => {} });
    await member.caughtUp;
    await use(store, member);
    await member.close();
    await store.close();
  };
  await follow(join(directory, 'first'), (store, member) => fill(store, 1, REPLAYED, new Writer(store, member)));
  const rates: number[] = [];
  const cpus: number[] = [];
  for (let run = 0; run < runs; run++) {
    const [beganMs, cpu] = [performance.now(), process.cpuUsage()];
    await follow(join(directory, `replay-${run}`), async () => {
      rates.push((1000 * REPLAYED) / (performance.now() - beganMs));
      const { user, system } = process.cpuUsage(cpu);
      cpus.push((1e6 * REPLAYED) / (user + system));
    });
  }
  const [rate, perCpuSecond] = [median(rates), median(cpus)];
  return {
    rows: [['replay, crossmatched objects a second', rate.toFixed(0), `${perCpuSecond.toFixed(0)} a second of CPU`]],
    json: { replay_per_s: rate, replay_per_cpu_s: perCpuSecond },
  };
}

/** Starts a node from the backup of another one, until it is ready. */
async function seed(kafka: Kafka, directory: string, objects: number, note: Note): Promise<Part> {
  const topic = 'seed';
  await kafka[0]!.createTopic(topic, 1, newTopic(SERVERS).settings);
  const [data, copy] = [join(directory, 'data'), join(directory, 'copy')];
  const store = openStore(data, 'write');
  note(`storing ${objects} objects`);
  await fill(store, 1, objects);
  await store.close();
  const variables = variablesOf(kafka, topic);
  const command = async (...args: string[]) => {
    const { code, stderr } = await start([...args, '--data', data], variables).finished;
    if (code !== 0) throw new Error(stderr);
  };
  await command('node', 'begin');
  const first = await serve(data, variables, '--no-crossmatch');
  const beganMs = performance.now();
  await command('backup', copy);
  const copiedMs = performance.now();
  const second = await serve(copy, variables, '--no-crossmatch');
  const readyMs = performance.now();
  await stop(first, second);
  const [backup, ready] = [(copiedMs - beganMs) / 1000, (readyMs - copiedMs) / 1000];
  return {
    rows: [
      [
        `a node of ${objects} objects from a backup`,
        `${(backup + ready).toFixed(1)} s`,
        `backup ${backup.toFixed(1)} s, until ready ${ready.toFixed(1)} s`,
      ],
    ],
    json: { seeded_s: backup + ready },
  };
}

/** The CPU time of a request to a node, in turns with a service without a log over the same archive. */
async function requests(kafka: Kafka, directory: string, runs: number): Promise<Part> {
  const topic = 'requests';
  await kafka[0]!.createTopic(topic, 1, newTopic(SERVERS).settings);
  const [filled, alone, shared] = ['filled', 'alone', 'shared'].map(name => join(directory, name)) as [
    string,
    string,
    string,
  ];
  const store = openStore(filled, 'write');
  await fill(store, 1, REQUESTED);
  const objects = [...store.objects()];
  await store.close();
  // Both archives are copies, so they differ only in the log.
  for (const copy of [alone, shared]) cpSync(filled, copy, { recursive: true });
  const variables = variablesOf(kafka, topic);
  const { code, stderr } = await start(['node', 'begin', '--data', shared], variables).finished;
  if (code !== 0) throw new Error(stderr);
  const sides = [
    await serve(alone, { NEARSKY_WORKERS: '1' }, '--no-crossmatch'),
    await serve(shared, variables, '--no-crossmatch'),
  ];
  const random = seededRandom(1);
  await sleep(SETTLE_MS);
  const idleBefore = sides.map(({ child }) => cpuMsOf(child.pid!));
  await sleep(IDLE_MS);
  const idle = sides.map(({ child }, i) => (cpuMsOf(child.pid!) - idleBefore[i]!) / (IDLE_MS / 1000));
  const [aloneIdle, nodeIdle] = idle.map(ms => `${ms.toFixed(1)} ms`);
  const rows: string[][] = [['CPU of a node without requests, a second', nodeIdle!, `${aloneIdle} by itself`]];
  const json: Record<string, number> = {};
  for (const [name, lineOf] of [
    ['get_object', ({ diaObjectId }) => `GET /api/objects/${diaObjectId}`],
    ['cone 1"', ({ position }) => `GET /api/cone?ra=${position!.ra}&dec=${position!.dec}&radius_arcsec=1`],
  ] as [string, (object: (typeof objects)[number]) => string][]) {
    const file = join(directory, 'requests.txt');
    const lines = Array.from({ length: REQUESTS }, () => lineOf(objects[Math.floor(objects.length * random())]!));
    writeFileSync(file, lines.join('\n'));
    const cpuUs: number[][] = [[], []];
    for (const { url } of sides) await load({ url, file, connections: CONNECTIONS, seconds: WARM_SECONDS });
    for (let run = 0; run < runs; run++) {
      // Each side goes first in every second pass.
      for (const i of run % 2 === 0 ? [0, 1] : [1, 0]) {
        const { url, child } = sides[i]!;
        const before = cpuMsOf(child.pid!);
        const { requests: count } = await load({ url, file, connections: CONNECTIONS, seconds: LOAD_SECONDS });
        cpuUs[i]!.push((1000 * (cpuMsOf(child.pid!) - before)) / count);
      }
    }
    const [single, node] = cpuUs.map(median) as [number, number];
    const ratios = median(cpuUs[1]!.map((us, run) => us / cpuUs[0]![run]!));
    rows.push([
      `CPU of a ${name} of a node`,
      `${node.toFixed(1)} µs`,
      `${single.toFixed(1)} µs by itself, ${ratios.toFixed(3)} of it`,
    ]);
    json[name] = ratios;
  }
  await stop(...sides);
  return { rows, json };
}

async function run({ runs, seconds, points }: Options, note: Note): Promise<Report> {
  if (whyNoKafka) throw new Error(whyNoKafka);
  return withDirectory(async directory => {
    const kafka = await KafkaServer.startCluster(join(directory, 'kafka'), SERVERS);
    const parts: Part[] = [];
    try {
      note(`${ALERTS_A_SECOND} alerts a second for ${seconds} s`);
      parts.push(await searchable(kafka, join(directory, 'searchable'), seconds));
      note(`replay of ${REPLAYED} objects`);
      parts.push(await replay(kafka, join(directory, 'replay'), runs));
      note('requests');
      parts.push(await requests(kafka, join(directory, 'requests'), runs));
      note('a node from a backup');
      parts.push(await seed(kafka, join(directory, 'seed'), Math.min(points, MOST_SEEDED), note));
    } finally {
      await Promise.all(kafka.map(server => server.stop()));
    }
    return {
      header: ['nodes', '', ''],
      rows: parts.flatMap(({ rows }) => rows),
      json: Object.assign({}, ...parts.map(({ json }) => json)),
    };
  });
}

export const nodes: Workload = {
  name: 'nodes',
  summary: 'nodes that share a log: alert to answer on every node, replay, a node from a backup, CPU of a request',
  onlyByName: true,
  run,
};
