/**
 * Three nodes, three Kafka servers and HAProxy, under alerts, crossmatches, registries and queries, while processes of
 * every kind are killed. CAMPAIGN_KILLS sets how many of each kind (0: none runs), and CAMPAIGN_MINUTES after how many
 * minutes it comes to an end in any case; it prints how many there were.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { separationArcsec } from '@nearsky/sky-index';
import { Agent, request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compare } from '../../src/core/base/compare.ts';
import { parseTime } from '../../src/core/base/parse_time.ts';
import { openStore } from '../../src/core/store/store.ts';
import { dumpOf } from '../core/store/random_changes.ts';
import { eventually, sample, withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { offset, type Place } from '../oracle/skies.ts';
import { readDump } from './dump.ts';
import { catalogRows } from './expected.ts';
import { type Command, Kept } from './kept.ts';
import { assertOneOf, random } from './kill_support.ts';
import { idOf, textOf } from './live_brokers.ts';
import { ThreeNodes, whyNoNodes } from './three_nodes.ts';
import { Transients } from './transients.ts';

const KILLS = Number(process.env.CAMPAIGN_KILLS ?? 0);
const MINUTES = Number(process.env.CAMPAIGN_MINUTES ?? Number.POSITIVE_INFINITY);

const test = suite('e2e/nodes_killed');
const real = needs(test, whyNoNodes ?? (KILLS > 0 ? undefined : 'it takes minutes: set CAMPAIGN_KILLS'));

/** The kinds of processes that are killed, one at a time; the last word is for two different ones at once. */
const KINDS = ['node', 'applier', 'crossmatcher', 'broker', 'two'] as const;
type Kind = (typeof KINDS)[number];
/** One kill in this many is of two processes. */
const TWO_EVERY = 5;

const OBJECTS = 40_000;
const CENTRES = 12;
const FIELD_ARCSEC = 20;
const ASKED_ARCSEC = 25;
const FILE_OBJECTS = 10;
const LIVE_OBJECTS = 5;
const SOURCE_TOPIC = 'lasair';
const PARTITIONS = 2;
/** After a node is ready HAProxy needs its next check to know that. */
const SEEN_MS = 1500;
const ASKERS = 3;
/** The error of a registry that came while the service refreshed it. */
const REPLACED = /another load has replaced it meanwhile/;

const SETTINGS = {
  NEARSKY_WORKERS: '1',
  CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0',
  TNS_SNAPSHOT_MAX_AGE_SECONDS: '31536000',
  KAFKA_SESSION_TIMEOUT_SECONDS: '3',
  CONSUME_BATCH_MESSAGES: '20',
  CONSUME_BATCH_SECONDS: '0.05',
};

const sorted = (ids: readonly string[]) => [...ids].sort().join();
const pick = <T>(values: readonly T[]): T => values[Math.floor(values.length * random())]!;

/** Fields of objects around sources of the sample, every third object beside its source. */
async function somePlaces(): Promise<{ centres: readonly Place[]; places: readonly Place[] }> {
  const rows = (await catalogRows('gaia_dr3')) as unknown as Place[];
  const centres = Array.from({ length: CENTRES }, (_, i) => rows[Math.floor((i * rows.length) / CENTRES)]!);
  const places = Array.from({ length: OBJECTS }, (_, i) =>
    offset(centres[i % CENTRES]!, (i % 3 === 0 ? 0.7 : FIELD_ARCSEC) * random(), 7 * random()),
  );
  return { centres, places };
}

interface Walk {
  readonly centre: Place;
  readonly asOfUs: number;
  readonly ids: readonly string[];
  readonly pages: number;
}

interface Reply {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Clients of the balancer, which may be refused while `mayRefuse` is true. As ours do, they ask once more where an answer breaks off. */
class Clients {
  readonly walks: Walk[] = [];
  /** The matches that were said of an object. */
  readonly matches = new Map<string, string>();
  answers = 0;
  refused = 0;
  brokenOff = 0;
  mayRefuse = false;
  /** Describes the last kill: its victim, and how long ago it was. */
  killed = () => '';
  failure: unknown;
  #isStopping = false;
  readonly #url: string;
  readonly #centres: readonly Place[];
  readonly #known: () => number;
  readonly #agent = new Agent();
  readonly #ended: Promise<unknown>;

  /** @param known the number of objects that were sent */
  constructor(url: string, centres: readonly Place[], known: () => number) {
    this.#url = url;
    this.#centres = centres;
    this.#known = known;
    this.#ended = Promise.all(Array.from({ length: ASKERS }, () => this.#run())).catch(error => {
      this.failure = error;
    });
  }

  async #run(): Promise<void> {
    const questions = [() => this.#object(), () => this.#lookup(), () => this.#walk()];
    while (!this.#isStopping) {
      await pick(questions)();
      await sleep(40 * random());
    }
  }

  /** Returns the answer. Retries while it is refused and `mayRefuse` is true. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any key of an answer and fails where it is not there
  async #ask(path: string, body?: unknown): Promise<any> {
    for (;;) {
      const mayRefuse = this.mayRefuse;
      const { statusCode, headers, text } = await this.#send(path, body);
      if (statusCode === 200) {
        this.answers++;
        return JSON.parse(text);
      }
      assert.is(statusCode, 503, `${path}: ${text}`);
      assert.ok(headers['retry-after'], `${path}: ${text}`);
      assert.ok(mayRefuse || this.mayRefuse, `${path} was refused although one process at most was killed: ${text}`);
      this.refused++;
      await sleep(500);
    }
  }

  async #send(path: string, body: unknown, isSecond = false): Promise<Reply> {
    const options = body !== undefined && {
      method: 'POST' as const,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    };
    let got: string | undefined;
    try {
      const answer = await request(`${this.#url}${path}`, { dispatcher: this.#agent, ...(options || {}) });
      got = `${answer.statusCode} ${JSON.stringify(answer.headers)}`;
      return { statusCode: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    } catch (error) {
      if (got === undefined || isSecond)
        throw new Error(`${path}: of the answer came ${got ?? 'nothing'}; ${this.killed()}`, { cause: error });
      this.brokenOff++;
      return this.#send(path, body, true);
    }
  }

  #noteMatches(object: { diaObjectId_str: string; status: string; matches: { catalog_source_id: string }[] }): void {
    if (object.status === 'crossmatch_pending' || object.status === 'not_in_service') return;
    const matches = sorted(object.matches.map(({ catalog_source_id }) => catalog_source_id));
    const before = this.matches.get(object.diaObjectId_str);
    assert.ok(before === undefined || before === matches, `${object.diaObjectId_str}: ${before}, then ${matches}`);
    this.matches.set(object.diaObjectId_str, matches);
  }

  async #object(): Promise<void> {
    const id = idOf(Math.floor(this.#known() * random()));
    const { results } = await this.#ask(`/api/objects/${id}?detail=matches`);
    for (const object of results[0].objects) if (object.matches) this.#noteMatches(object);
  }

  async #lookup(): Promise<void> {
    const inputs = Array.from({ length: 20 }, () => ({
      kind: 'id',
      diaObjectId: idOf(Math.floor(this.#known() * random())),
    }));
    const { results } = await this.#ask('/api/lookup', { inputs, detail: 'matches' });
    assert.is(results.length, inputs.length);
    for (const { objects } of results) for (const object of objects) if (object.matches) this.#noteMatches(object);
  }

  async #walk(): Promise<void> {
    const centre = pick(this.#centres);
    const size = pick([10, 40, 200]);
    const ids: string[] = [];
    let next = `/api/cone?ra=${centre.ra}&dec=${centre.dec}&radius_arcsec=${ASKED_ARCSEC}&detail=ids&page_size=${size}`;
    for (let pages = 1; ; pages++) {
      const page = await this.#ask(next);
      for (const { diaObjectId_str } of page.results[0].objects) ids.push(diaObjectId_str);
      if (page.next_cursor === null || this.#isStopping) {
        if (page.next_cursor === null) this.walks.push({ centre, asOfUs: parseTime(page.as_of)!, ids, pages });
        return;
      }
      next = `/api/cone?cursor=${page.next_cursor}&page_size=${size}`;
    }
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#ended;
    await this.#agent.close();
    if (this.failure) throw this.failure;
  }
}

class Campaign {
  readonly done: Record<Kind, number> = { node: 0, applier: 0, crossmatcher: 0, broker: 0, two: 0 };
  readonly #nodes: ThreeNodes;
  readonly #directory: string;
  readonly #places: readonly Place[];
  readonly #transients: Transients;
  readonly #clients: Clients;
  readonly #consume: Kept;
  readonly #ingest: Kept;
  readonly #crossmatch: Kept;
  readonly #registry: Kept;
  /**
   * Objects by number: objects below these numbers were sent to the broker's stream (even numbers), or put into a file
   * (odd ones).
   */
  #live = 0;
  #inFiles = 0;
  #files = 0;
  #isFeeding = true;
  #brokerAwayUntilMs = 0;
  readonly #feeding: Promise<void>;
  failure: unknown;

  constructor(
    nodes: ThreeNodes,
    directory: string,
    { centres, places }: Awaited<ReturnType<typeof somePlaces>>,
    transients: Transients,
  ) {
    this.#nodes = nodes;
    this.#directory = directory;
    this.#places = places;
    this.#transients = transients;
    this.#clients = new Clients(nodes.url, centres, () => Math.max(1, this.#live));
    this.#consume = new Kept(() => this.#command(['consume', 'lasair'], { variables: this.consumption }));
    this.#ingest = new Kept(() => this.#ingestFile());
    this.#crossmatch = new Kept(() =>
      this.#command(['crossmatch', '--batch', '20'], { onDone: () => {}, pauseMs: 2000 }),
    );
    this.#registry = new Kept(() => this.#nextRegistry());
    this.#feeding = this.#feed().catch(error => {
      this.failure = error;
    });
  }

  get consumption(): Record<string, string> {
    return {
      LASAIR_KAFKA_SERVERS: this.#nodes.kafka.map(({ server }) => server).join(','),
      LASAIR_TOPICS: SOURCE_TOPIC,
      LASAIR_GROUP_ID: 'campaign',
    };
  }

  /** On any node. */
  #command(args: readonly string[], more: Partial<Command> = {}): Command {
    const data = this.#nodes.dataOf(pick(this.#nodes.all));
    // While a server of Kafka is away, a command may fail, and is run again.
    const mayFail = (stderr: string) => performance.now() < this.#brokerAwayUntilMs || REPLACED.test(stderr);
    return {
      args: [...args, '--data', data, '--json'],
      mayFail,
      ...more,
      variables: { ...this.#nodes.settings, ...more.variables },
    };
  }

  /** A file that is ingested again until that is acknowledged. */
  #ingestFile(): Command {
    const file = join(this.#directory, `antares-${this.#files}.ndjson`);
    const objects = Array.from({ length: FILE_OBJECTS }, (_, i) => this.#files * FILE_OBJECTS + i);
    this.#inFiles = (this.#files + 1) * FILE_OBJECTS;
    writeFileSync(file, objects.map(object => textOf('antares', object, this.#places[object]!)).join('\n'));
    const onDone = () => {
      this.#files++;
    };
    return this.#command(['ingest', '--broker', 'antares', file], { onDone, pauseMs: 3000 });
  }

  #isNewer = false;

  #nextRegistry(): Command {
    const { file, variables } = this.#transients;
    const onDone = () => {
      this.#isNewer = !this.#isNewer;
    };
    return this.#isNewer
      ? this.#command(['tns', 'load', file], { onDone, pauseMs: 5000 })
      : this.#command(['tns', 'refresh'], { variables, onDone, pauseMs: 5000 });
  }

  /** Sends messages to the broker's stream all the time. */
  async #feed(): Promise<void> {
    while (this.#isFeeding) {
      const values = Array.from({ length: LIVE_OBJECTS }, (_, i) =>
        Buffer.from(textOf('lasair', this.#live + i, this.#places[this.#live + i]!)),
      );
      try {
        await this.#nodes.kafka[0]!.send(SOURCE_TOPIC, values, { partitions: PARTITIONS });
        this.#live += LIVE_OBJECTS;
      } catch (error) {
        if (performance.now() > this.#brokerAwayUntilMs) throw error;
      }
      await sleep(400);
    }
  }

  check(): void {
    const { failure } = this;
    assert.equal(this.#nodes.stopped, []);
    for (const part of [this.#consume, this.#ingest, this.#crossmatch, this.#registry, this.#clients, { failure }])
      if (part.failure) throw part.failure;
  }

  /** Kills this many of each kind, in turns. */
  async run(kills: number, untilMs: number): Promise<void> {
    for (let round = 0; round < kills && performance.now() < untilMs; round++)
      for (const kind of KINDS) {
        if (kind === 'two' && round % TWO_EVERY !== TWO_EVERY - 1) continue;
        await sleep(1000 * random());
        await this.#kill(kind);
        this.done[kind]++;
        this.check();
      }
  }

  async #kill(kind: Kind): Promise<void> {
    const { all, kafka } = this.#nodes;
    switch (kind) {
      case 'node':
        return this.#killNode(pick(all));
      case 'applier':
        return this.#killKept(pick([this.#consume, this.#ingest]));
      case 'crossmatcher':
        return this.#killKept(this.#crossmatch);
      case 'broker':
        return this.#killBroker(pick(kafka.map((_, i) => i)));
      case 'two': {
        const processes = [
          ...all.map(node => () => this.#killNode(node)),
          ...kafka.map((_, i) => () => this.#killBroker(i)),
          () => this.#killKept(this.#consume),
          () => this.#killKept(this.#crossmatch),
        ];
        const first = Math.floor(processes.length * random());
        const second = (first + 1 + Math.floor((processes.length - 1) * random())) % processes.length;
        this.#clients.mayRefuse = true;
        await Promise.all([processes[first]!(), processes[second]!()]);
        this.#clients.mayRefuse = false;
      }
    }
  }

  #note(victim: string): void {
    const sinceMs = performance.now();
    this.#clients.killed = () => `${victim} was killed ${Math.round(performance.now() - sinceMs)} ms ago`;
  }

  async #killNode(node: number): Promise<void> {
    this.#note(`node ${node}`);
    await this.#nodes.kill(node);
    await sleep(500 * random());
    await this.#nodes.serve(node);
    await sleep(SEEN_MS);
  }

  async #killKept(victim: Kept): Promise<void> {
    await eventually('it runs', async () => {
      this.check();
      return (await victim.kill()) || undefined;
    });
    victim.release();
  }

  async #killBroker(at: number): Promise<void> {
    const server = this.#nodes.kafka[at]!;
    this.#brokerAwayUntilMs = Number.POSITIVE_INFINITY;
    this.#note(`broker ${at}`);
    await server.stop();
    await sleep(5000 * random());
    await server.startAgain();
    await eventually(
      'all servers are in step',
      async () => ((await this.#inStep('nearsky')) && (await this.#inStep(SOURCE_TOPIC)) ? true : undefined),
      120_000,
    );
    // A command that began earlier may report it later.
    this.#brokerAwayUntilMs = performance.now() + 30_000;
  }

  async #inStep(topic: string): Promise<boolean> {
    const { kafka } = this.#nodes;
    return (await kafka[0]!.inSync(topic).catch(() => 0)) === kafka.length;
  }

  /** Lets everything come to its end, and compares. */
  async finish(): Promise<void> {
    this.#isFeeding = false;
    await this.#feeding;
    await eventually(
      'every message is acknowledged',
      async () => {
        this.check();
        const committed = await this.#nodes.kafka[0]!.committed('campaign', SOURCE_TOPIC, PARTITIONS);
        const ends = await this.#nodes.kafka[0]!.ends(SOURCE_TOPIC, PARTITIONS);
        return committed.every((offset, i) => offset === ends[i]) || undefined;
      },
      120_000,
    );
    for (const kept of [this.#ingest, this.#registry, this.#crossmatch, this.#consume]) await kept.stop();
    await this.#clients.stop();
    this.check();
    await this.#settle();
    await this.#nodes.stopServing();
    const nothing = join(this.#directory, 'nothing');
    writeFileSync(nothing, '');
    // While one ended the others went on.
    for (const node of this.#nodes.all) await this.#nodes.command(node, 'import', nothing);
    await this.#compare();
  }

  /** Waits until each node has everything, and nothing is pending. */
  async #settle(): Promise<void> {
    await eventually(
      'all nodes have the same, crossmatched',
      async () => {
        const texts = await Promise.all(
          this.#nodes.all.map(async node => (await request(`${this.#nodes.urlOf(node)}/metrics`)).body.text()),
        );
        const value = (text: string, name: string) => new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
        const positions = new Set(texts.map(text => value(text, 'nearsky_log_position')));
        return (
          (positions.size === 1 && texts.every(text => value(text, 'nearsky_objects_pending') === '0')) || undefined
        );
      },
      120_000,
    );
  }

  async #compare(): Promise<void> {
    const [first, ...others] = await Promise.all(this.#nodes.all.map(node => dumpOf(this.#nodes.dataOf(node))));
    for (const other of others) {
      const at = other.findIndex((line, i) => line !== first![i]);
      assert.is(at, -1, `${first![at]} and ${other[at]}`);
      assert.is(other.length, first!.length);
    }
    const data = this.#nodes.dataOf(0);
    const { objects, pending } = await readDump(data);
    assert.is(pending.size, 0);
    for (let object = 0; object < Math.max(this.#live, this.#files * FILE_OBJECTS); object++) {
      const stored = objects.get(idOf(object));
      assert.ok(stored, `${idOf(object)} was acknowledged, and is lost`);
      const { brokers, records } = JSON.parse(stored);
      assert.is(records.length, 1);
      if (object < this.#live) assert.ok(brokers.includes('lasair'));
      if (object < this.#files * FILE_OBJECTS) assert.ok(brokers.includes('antares'));
    }
    assert.ok(objects.size <= Math.max(this.#live + LIVE_OBJECTS, this.#inFiles));
    await assertOneOf(data, this.#transients.former, this.#transients.newer);
    await this.#compareAnswers(data);
  }

  async #compareAnswers(data: string): Promise<void> {
    const { walks, matches } = this.#clients;
    const store = openStore(data, 'read');
    const objects = [...store.objects()];
    await store.close();
    for (const { centre, asOfUs, ids, pages } of walks) {
      const expected = objects
        .filter(({ ingestTimeUs }) => ingestTimeUs <= asOfUs)
        .filter(
          ({ position }) =>
            position && separationArcsec(centre.ra, centre.dec, position.ra, position.dec) <= ASKED_ARCSEC,
        )
        .sort((a, b) => a.ingestTimeUs - b.ingestTimeUs || compare(a.diaObjectId, b.diaObjectId));
      const whole = expected.map(({ diaObjectId }) => `${diaObjectId}`);
      // A first page shows what the node's index has; a further one waits for the rest.
      assert.equal(ids, pages > 1 ? whole : whole.slice(0, ids.length));
    }
    const stored = new Map(objects.map(object => [`${object.diaObjectId}`, object]));
    for (const [id, said] of matches)
      assert.is(said, sorted(stored.get(id)!.matches.map(({ catalogSourceId }) => catalogSourceId)));
  }

  get summary(): string {
    const { answers, refused, brokenOff, walks } = this.#clients;
    const kills = KINDS.map(kind => `${kind} ${this.done[kind]}`).join(', ');
    return `killed: ${kills}; ${this.#live} objects by stream, ${this.#files} files, ${answers} answers, ${refused} refused, ${brokenOff} broken off, ${walks.length} walks`;
  }

  abandon(): void {
    this.#isFeeding = false;
    for (const kept of [this.#ingest, this.#registry, this.#crossmatch, this.#consume]) kept.abandon();
    this.#clients.stop().catch(() => {});
  }
}

real('whatever is killed, the nodes make the same archive, and clients hear nothing of it', () =>
  withDirectory(async directory => {
    const sky = await somePlaces();
    const transients = await Transients.start(directory, sky.places);
    mkdirSync(join(directory, 'nodes'));
    const nodes = await ThreeNodes.start(join(directory, 'nodes'), { ...SETTINGS, ...transients.variables });
    let campaign: Campaign | undefined;
    try {
      await nodes.kafka[0]!.createTopic(SOURCE_TOPIC, PARTITIONS, { 'min.insync.replicas': '2' });
      await nodes.command(0, 'catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'));
      await nodes.command(1, 'tns', 'load', transients.file);
      campaign = new Campaign(nodes, directory, sky, transients);
      await campaign.run(KILLS, performance.now() + 60_000 * MINUTES);
      await campaign.finish();
    } finally {
      if (campaign) console.log(campaign.summary, ...nodes.stopped);
      campaign?.abandon();
      await nodes.stop();
      await transients.server.close();
    }
  }),
);

test.run();
