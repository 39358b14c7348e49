/**
 * One Rubin night, end to end: a Kafka broker, `consume`, `serve` with crossmatch and publication, and clients. First
 * visits at the survey's rate, then a whole night as fast as the service reads it.
 */
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readPublished } from '../src/core/store/meta.ts';
import { countPending } from '../src/core/store/object_tables.ts';
import { openStore, type Store } from '../src/core/store/store.ts';
import { KafkaServer, whyNoKafka } from '../test/capabilities/consume/kafka_server.ts';
import { cpuMsOf, idOf, Program, runToEnd, startListening, treeCpuMs, withDirectory } from './processes.ts';
import type { Options, Report, Workload } from './report.ts';
import type { FeedOptions, LatencyFigures } from './rubin_feed.ts';
import { NEW_EVERY, type RubinSky, rubinSky, Transients } from './rubin_sky.ts';
import { AskingClients } from './soak_clients.ts';

export interface RubinOptions {
  /** Alerts of one visit. */
  readonly alerts: number;
  /** How long visits come at the survey's rate. */
  readonly minutes: number;
  /** Messages of the night that comes as fast as it is read. */
  readonly messages: number;
  /** Sources of each catalog. */
  readonly rows: number;
  /** The directory that keeps the catalogs; undefined for one that is removed. */
  readonly catalogs: string | undefined;
  /** The delay of each answer of a host that has the catalogs; undefined if they are local. */
  readonly remoteMs: number | undefined;
}

export const SMALL = { alerts: 2000, minutes: 1, messages: 50_000, rows: 200_000 };
export const FULL = { alerts: 10_000, minutes: 10, messages: 10_000_000, rows: 20_000_000 };

const VISIT_MS = 39_000;
const [TOPIC, MATCHES, GROUP] = ['alerts', 'matches', 'night'];
const PARTITIONS = 4;
const SAMPLE_MS = 2000;
/** An object may be requested only if it was stored this many samples ago. */
const KNOWN_SAMPLES = 5;
/** The maximum number of messages by which the reading of one partition lags behind another. */
const SKEW = 200_000;
const CLIENTS = 8;
const REQUESTS_A_SECOND = 20;
const MIB = 2 ** 20;
const JAVA_AND_BENCH = ['broker', 'feed', 'clients'] as const;
type Part = 'consume' | 'serve' | (typeof JAVA_AND_BENCH)[number];

interface Sample {
  readonly second: number;
  /** Messages that the service has not read, objects that are pending, and journal entries that are not published. */
  readonly unread: number;
  readonly pending: number;
  readonly unpublished: number;
}

interface Phase {
  readonly messages: number;
  readonly seconds: number;
  readonly cpuSeconds: Readonly<Record<Part, number>>;
  readonly published: LatencyFigures;
  readonly streamed: LatencyFigures;
  readonly clients: ReturnType<AskingClients['takeLatencies']>;
  readonly samples: readonly Sample[];
}

class Night {
  readonly #options: RubinOptions;
  readonly #directory: string;
  readonly #sky: RubinSky;
  readonly #kafka: KafkaServer;
  readonly #note: (text: string) => void;
  readonly #store: Store;
  readonly #consume: Program;
  readonly #serve: Program;
  readonly #url: string;
  readonly #clients: AskingClients;
  /** The numbers of objects that were stored at the last samples. */
  readonly #stored: number[] = [];
  readonly #host: Program | undefined;
  #asking: Promise<void> | undefined;
  #visits = 0;
  #sent = 0;
  peakMib = { consume: 0, serve: 0 };

  private constructor(
    options: RubinOptions,
    directory: string,
    sky: RubinSky,
    kafka: KafkaServer,
    note: (text: string) => void,
    programs: { consume: Program; serve: Program; url: string; host: Program | undefined },
  ) {
    [this.#options, this.#directory, this.#sky] = [options, directory, sky];
    [this.#kafka, this.#note] = [kafka, note];
    [this.#consume, this.#serve, this.#url] = [programs.consume, programs.serve, programs.url];
    this.#host = programs.host;
    this.#store = openStore(join(directory, 'data'), 'read');
    const transients = new Transients(sky.positionsFile, options.rows, this.#newPerVisit);
    const object = (number: number) => ({ id: idOf(number), ...transients.place(number) });
    const target = () => ({ url: this.#url, isUp: true, known: this.#stored.at(-KNOWN_SAMPLES) ?? 0 });
    this.#clients = new AskingClients({ object }, target, 1);
  }

  static async start(
    options: RubinOptions,
    directory: string,
    sky: RubinSky,
    kafka: KafkaServer,
    note: (text: string) => void,
  ): Promise<Night> {
    await kafka.createTopic(TOPIC!, PARTITIONS, { 'segment.bytes': `${32 * MIB}`, 'file.delete.delay.ms': '1000' });
    await kafka.createTopic(MATCHES!, PARTITIONS, {
      'segment.bytes': `${32 * MIB}`,
      'retention.bytes': `${256 * MIB}`,
    });
    const data = join(directory, 'data');
    const root = dirname([...sky.catalogs.values()][0]!);
    const host =
      options.remoteMs === undefined
        ? undefined
        : await startListening('./file_server.ts', [root, '0', `${options.remoteMs}`]);
    for (const [name, path] of sky.catalogs) {
      note(`adding ${name}`);
      await runToEnd('../src/main.ts', [
        'catalog',
        'add',
        name,
        host ? `${host.url}/${name}` : path,
        '--data',
        data,
        '--json',
      ]);
    }
    const settings = {
      LASAIR_KAFKA_SERVERS: kafka.server,
      LASAIR_TOPICS: TOPIC,
      LASAIR_GROUP_ID: GROUP,
      PUBLISH_KAFKA_SERVERS: kafka.server,
      PUBLISH_TOPIC: MATCHES,
      PUBLISH_KAFKA_TLS: 'no',
    };
    // The program replaces `env`, so that it is the process that is measured.
    const runtime = {
      file: 'env',
      args: [...Object.entries(settings).map(([name, value]) => `${name}=${value}`), process.execPath],
    };
    const serveArgs = ['serve', '--data', data, '--port', '0'];
    const { program: serve, url } = await startListening('../src/main.ts', serveArgs, runtime);
    const consume = new Program('../src/main.ts', ['consume', 'lasair', '--data', data], runtime);
    return new Night(options, directory, sky, kafka, note, { consume, serve, url, host: host?.program });
  }

  get #newPerVisit(): number {
    return Math.ceil(this.#options.alerts / NEW_EVERY);
  }

  ask(): void {
    this.#asking = this.#clients.run(CLIENTS, REQUESTS_A_SECOND);
  }

  /** @param periodMs between visits; 0 for as fast as they are read */
  async phase(visits: number, periodMs: number): Promise<Phase> {
    const feed = this.#startFeed(visits, periodMs);
    const programs: Readonly<Record<Part, () => number>> = {
      consume: () => cpuMsOf(this.#consume.process.pid!),
      serve: () => treeCpuMs(this.#serve.process.pid!),
      broker: () => cpuMsOf(this.#kafka.pid!),
      feed: () => cpuMsOf(feed.process.pid!),
      clients: () => process.cpuUsage().user / 1000 + process.cpuUsage().system / 1000,
    };
    const cpu = () => Object.entries(programs).map(([name, of]) => [name, of() / 1000] as const);
    let ended = false;
    const [before, already] = [this.#sent, await this.#read()];
    const following = (async () => {
      while (!ended) {
        const { value, done } = await feed.lines.next();
        if (done) throw new Error('the feed ended before it had sent all alerts');
        const { sent, ended: all } = JSON.parse(value) as { sent?: number; ended?: number };
        this.#sent = before + (sent ?? all ?? 0);
        ended = all !== undefined;
      }
    })();
    this.#clients.takeLatencies();
    const began = new Map(cpu());
    const beganMs = performance.now();
    const samples: Sample[] = [];
    for (;;) {
      const isEnded = ended;
      const sample = await this.#sample((performance.now() - beganMs) / 1000);
      samples.push(sample);
      if (isEnded && sample.unread + sample.pending + sample.unpublished === 0) break;
      if (samples.length % 15 === 0)
        this.#note(`sent ${this.#sent - before}, unread ${sample.unread}, pending ${sample.pending}`);
      await Promise.race([sleep(SAMPLE_MS), following.then(() => sleep(SAMPLE_MS))]);
    }
    const seconds = (performance.now() - beganMs) / 1000;
    const cpuSeconds = Object.fromEntries(cpu().map(([name, end]) => [name, end - began.get(name)!]));
    // The last messages are read by then.
    await sleep(1000);
    feed.process.kill('SIGTERM');
    const figures = JSON.parse((await feed.lines.next()).value!);
    const messages = (await this.#read()) - already;
    this.#visits += visits;
    const clients = this.#clients.takeLatencies();
    return { messages, seconds, cpuSeconds: cpuSeconds as Phase['cpuSeconds'], ...figures, clients, samples };
  }

  #startFeed(visits: number, periodMs: number): Program {
    const options: FeedOptions = {
      server: this.#kafka.server,
      topic: TOPIC!,
      partitions: PARTITIONS,
      group: GROUP!,
      matches: MATCHES!,
      stream: `${this.#url}/api/stream/matches`,
      positionsFile: this.#sky.positionsFile,
      rows: this.#options.rows,
      firstVisit: this.#visits,
      visits,
      alertsPerVisit: this.#options.alerts,
      periodMs,
    };
    const file = join(this.#directory, `feed-${this.#visits}.json`);
    writeFileSync(file, JSON.stringify(options));
    return new Program('./rubin_feed.ts', [file]);
  }

  async #read(): Promise<number> {
    const offsets = await this.#kafka.committed(GROUP!, TOPIC!, PARTITIONS);
    return offsets.reduce((sum, offset) => sum + Math.max(0, Number(offset)), 0);
  }

  async #sample(second: number): Promise<Sample> {
    const read = await this.#read();
    const store = this.#store;
    store.resetRead();
    const visits = Math.max(0, Math.floor((read - (read > SKEW ? SKEW : 0)) / this.#options.alerts) - 1);
    this.#stored.push(visits * this.#newPerVisit);
    for (const name of ['consume', 'serve'] as const) {
      const bytes = name === 'consume' ? this.#consume.ownBytes : this.#serve.ownBytes;
      this.peakMib[name] = Math.max(this.peakMib[name], bytes / MIB);
    }
    return {
      second: Math.round(second),
      unread: this.#sent - read,
      pending: countPending(store.databases),
      unpublished: store.lastSequence() - (readPublished(store.databases).get(MATCHES!)?.sequence ?? 0),
    };
  }

  get faults(): readonly string[] {
    return this.#clients.faults;
  }

  async stop(): Promise<void> {
    this.#clients.stop();
    await this.#asking;
    await this.#store.close();
    for (const program of [this.#consume, this.#serve, this.#host]) await program?.stop();
  }
}

const bytesBelow = (directory: string): number =>
  readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(directory, entry.name);
    return sum + (entry.isDirectory() ? bytesBelow(path) : statSync(path).size);
  }, 0);

async function run({ rubin }: Options, note: (text: string) => void): Promise<Report> {
  if (whyNoKafka) throw new Error(whyNoKafka);
  return await withDirectory(async directory => {
    const sky = await rubinSky(rubin.catalogs ?? directory, rubin.rows, note);
    const kafka = await KafkaServer.start(join(directory, 'kafka'));
    try {
      const night = await Night.start(rubin, directory, sky, kafka, note);
      night.ask();
      const load = loadavg()[0]!;
      note(`${rubin.minutes} minutes of ${rubin.alerts} alerts each ${VISIT_MS / 1000} s`);
      const rate = await night.phase(Math.ceil((rubin.minutes * 60_000) / VISIT_MS), VISIT_MS);
      note(`a night of ${rubin.messages} alerts`);
      const whole = await night.phase(Math.ceil(rubin.messages / rubin.alerts), 0);
      const diskMib = bytesBelow(join(directory, 'data')) / MIB;
      await night.stop();
      return report(rubin, rate, whole, { load: (load + loadavg()[0]!) / 2, diskMib, night });
    } finally {
      await kafka.stop();
    }
  });
}

function report(
  options: RubinOptions,
  rate: Phase,
  whole: Phase,
  { load, diskMib, night }: { load: number; diskMib: number; night: Night },
): Report {
  const phases = [rate, whole];
  const each = (name: string, of: (phase: Phase) => string) => [name, ...phases.map(of)];
  const most = (key: keyof Sample) => (phase: Phase) => `${Math.max(...phase.samples.map(sample => sample[key]))}`;
  const latency = (of: (phase: Phase) => LatencyFigures) => (phase: Phase) =>
    `${of(phase).p50}, ${of(phase).p99}, ${of(phase).max}`;
  const ours = ({ cpuSeconds }: Phase) => cpuSeconds.consume + cpuSeconds.serve;
  const us = (seconds: number, { messages }: Phase) => ((1e6 * seconds) / messages).toFixed(1);
  const names = Object.keys({ ...rate.clients.byName, ...whole.clients.byName }).sort();
  const rows = [
    each('messages', ({ messages }) => `${messages}`),
    each('seconds', ({ seconds }) => seconds.toFixed(0)),
    each('messages a second', ({ messages, seconds }) => (messages / seconds).toFixed(0)),
    each(
      'message to published match, ms: p50, p99, max',
      latency(({ published }) => published),
    ),
    each(
      'message to event of the stream, ms: p50, p99, max',
      latency(({ streamed }) => streamed),
    ),
    each('published matches', ({ published }) => `${published.count}`),
    each('most unread messages', most('unread')),
    each('most pending objects', most('pending')),
    each('CPU of a message, µs: consume and serve', phase => us(ours(phase), phase)),
    each('the same: consume', phase => us(phase.cpuSeconds.consume, phase)),
    each('the same: serve', phase => us(phase.cpuSeconds.serve, phase)),
    ...JAVA_AND_BENCH.map(part => each(`the same: ${part}`, phase => us(phase.cpuSeconds[part], phase))),
    ...names.map(name =>
      each(`${name}, ms: p50, p99`, ({ clients: { byName } }) => {
        const found = byName[name];
        return found ? `${found.p50.toFixed(1)}, ${found.p99.toFixed(1)}` : '';
      }),
    ),
    ['peak memory, MiB: consume, serve', '', `${night.peakMib.consume.toFixed(0)}, ${night.peakMib.serve.toFixed(0)}`],
    ['data directory, MiB', '', diskMib.toFixed(0)],
    ['load average', '', load.toFixed(1)],
  ];
  return {
    header: ['Rubin night', 'at the rate', 'as fast as it goes'],
    rows,
    json: { options, load, diskMib, peakMib: night.peakMib, rate, whole },
    faults: night.faults,
  };
}

export const rubinNight: Workload = {
  name: 'rubin_night',
  summary:
    'a Rubin night: Kafka, consume, crossmatch with four catalogs, publish; --full, --alerts, --minutes, --messages, --rows',
  onlyByName: true,
  run,
};
