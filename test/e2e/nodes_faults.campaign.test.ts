/**
 * Three nodes, three Kafka servers and HAProxy under clocks that jump, pauses, kills, cut networks, full and damaged
 * disks, and at last a deleted topic. A checker knows only what was acknowledged: the id, the position, and the end of
 * the log after that. It asks every operation of every node for such objects. No node whose position covers an object
 * may answer that there is none. CAMPAIGN_FAULTS sets how many faults there are (3), CAMPAIGN_MINUTES after how many
 * minutes it comes to an end in any case. It prints how often each outcome came.
 */
import { closeSync, cpSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../src/core/store/store.ts';
import { valuesOf } from '../core/store/lmdb_pages.ts';
import { dumpOf } from '../core/store/random_changes.ts';
import { eventually, sample, withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { offset, type Place } from '../oracle/skies.ts';
import { fillDisk } from '../small_disk.ts';
import { catalogRows } from './expected.ts';
import { random } from './kill_support.ts';
import { idOf } from './live_brokers.ts';
import { SeparateMachines, whyNoMachines } from './machines.ts';
import { ThreeNodes, whyNoNodes } from './three_nodes.ts';

const FAULTS = ['clock', 'pause', 'kill', 'cut log', 'cut all', 'broker', 'full disk', 'damaged disk'] as const;
type Fault = (typeof FAULTS)[number];
const COUNT = Number(process.env.CAMPAIGN_FAULTS ?? 3);
const MINUTES = Number(process.env.CAMPAIGN_MINUTES ?? Number.POSITIVE_INFINITY);
const PAUSE_SECONDS = 120;
/** How far ahead the first clocks are. Later ones are anywhere between the first two. */
const CLOCKS = [600, -600, -120] as const;
const CUT_SECONDS = 40;
const DISK = '512m';
const FILE_OBJECTS = 10;
const SETTLE_MS = 180_000;
/** Until a damaged value that is read in the background is noticed. */
const NOTICE_MS = 120_000;
/** The databases whose values are damaged: values of the others have no checksum. */
const DAMAGED = ['objects', 'sources', 'journal', 'positions', 'provenance_sets', 'payload_keys'] as const;
/** The log refuses what is further ahead. */
const AHEAD_SECONDS = 2;
/** Clients that wait for longer are only counted, because a busy machine must not fail the test. */
const PATIENCE_MS = 6000;

const test = suite('e2e/nodes_faults');
const obstacle = whyNoNodes ?? whyNoMachines();
const real = needs(test, obstacle);

const SETTINGS = {
  NEARSKY_WORKERS: '1',
  CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0',
  NEARSKY_STALE_READS: 'yes',
  // The registry is away, but a node has the duty to refresh it.
  TNS_BOT_ID: '1',
  TNS_BOT_NAME: 'nobody',
  TNS_BOT_API_KEY: 'none',
  TNS_OBJECTS_BASE_URL: 'http://127.0.0.1:1/',
};

const pick = <T>(values: readonly T[]): T => values[Math.floor(values.length * random())]!;

interface Acknowledged extends Place {
  readonly id: string;
  /** Of its first source, MJD (TAI). */
  readonly mjd: number;
  /** The end of the log after the acknowledgement. */
  readonly end: number;
}

/** The requests for an object, and the test whether an answer contains it. */
interface Operation {
  readonly path: (object: Acknowledged) => string;
  readonly body?: (object: Acknowledged) => unknown;
  readonly isFound: (text: string, object: Acknowledged) => boolean;
}

/** Whether the object is there, at its position where an answer has one. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads any key of an answer and fails where it is not there
const hasIt = (objects: any[], { id, ...object }: Acknowledged) =>
  objects.some(
    ({ diaObjectId_str, ra = object.ra, dec = object.dec }) =>
      diaObjectId_str === id && ra === object.ra && dec === object.dec,
  );
const inEach = (text: string, object: Acknowledged) =>
  // biome-ignore lint/suspicious/noExplicitAny: as above
  JSON.parse(text).results.every((one: any) => hasIt(one.objects, object));
const timeOf = ({ mjd }: Acknowledged, seconds: number) =>
  // TAI is 37 s ahead of UTC.
  new Date(Math.round((mjd - 40587) * 86_400) * 1000 - 37_000 + 1000 * seconds).toISOString();

const OPERATIONS: Readonly<Record<string, Operation>> = {
  object: { path: ({ id }) => `/api/objects/${id}?detail=full`, isFound: inEach },
  lookup: {
    path: () => '/api/lookup',
    body: ({ id, ra, dec }) => ({
      inputs: [
        { kind: 'id', diaObjectId: id },
        { kind: 'position', ra, dec, radius_arcsec: 1 },
      ],
    }),
    isFound: inEach,
  },
  cone: { path: ({ ra, dec }) => `/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=1&detail=ids`, isFound: inEach },
  area: {
    path: ({ ra, dec }) => `/api/area?detail=ids&area=${encodeURIComponent(`CIRCLE ${ra} ${dec} 0.0003`)}`,
    body: () => '',
    isFound: (text, object) => hasIt(JSON.parse(text).objects, object),
  },
  listing: {
    path: object =>
      `/api/objects?detail=ids&time_field=event_time&start=${timeOf(object, -4)}&end=${timeOf(object, 4)}`,
    isFound: (text, object) => hasIt(JSON.parse(text).objects, object),
  },
};

/** Outcomes with their counts. */
class Counts {
  readonly #counts = new Map<string, number>();

  add(outcome: string): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  of(outcome: string): number {
    return this.#counts.get(outcome) ?? 0;
  }

  toString(): string {
    return [...this.#counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([outcome, count]) => `\n  ${outcome}: ${count}`)
      .join('');
  }
}

interface Answer {
  readonly status: number;
  readonly position: number;
  readonly text: string;
  readonly ms: number;
}

async function ask(url: string, { path, body }: Operation, object: Acknowledged): Promise<Answer> {
  const startMs = performance.now();
  const sent = body?.(object);
  const post = sent !== undefined && {
    method: 'POST' as const,
    ...(sent !== '' && { body: JSON.stringify(sent), headers: { 'content-type': 'application/json' } }),
  };
  const signal = AbortSignal.timeout(20_000);
  const { statusCode, headers, body: answered } = await request(url + path(object), { signal, ...(post || {}) });
  // Headers that have come tell nothing of what follows: no balancer can repair such an answer.
  const text = await answered.text().catch(cause => {
    throw Object.assign(new Error('broken off', { cause }), { code: `${cause.code} after its start` });
  });
  const position = Number(headers['x-log-position'] ?? Number.NaN);
  return { status: statusCode, position, text, ms: performance.now() - startMs };
}

/** Status 0 stands for a node that closed the connection. */
async function get(url: string): Promise<{ status: number; text: string }> {
  try {
    const { statusCode, body } = await request(url);
    return { status: statusCode, text: await body.text() };
  } catch {
    return { status: 0, text: '' };
  }
}

const codeOf = (text: string) => /"code": ?"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 60);

class Campaign {
  readonly acknowledged: Acknowledged[] = [];
  /** Answers that denied an object that the node had. */
  readonly denied: string[] = [];
  readonly checks = new Counts();
  readonly clients = new Counts();
  readonly commands = new Counts();
  readonly faults = new Counts();
  /** After which fault another node took which duty, and how many seconds later. */
  readonly moves: string[] = [];
  /** Damaged values that were read but not noticed. */
  readonly unnoticed: string[] = [];
  /** Operations whose answers took too long, with their times. */
  readonly late: string[] = [];
  /** By the seconds that a clock was ahead, how often commands with it ended how. */
  readonly #clocked = new Map<number, Counts>();
  slowestMs = 0;
  /** How long this process stood still, which makes answers late. */
  readonly #delay = monitorEventLoopDelay();
  readonly #nodes: ThreeNodes;
  readonly #machines: SeparateMachines;
  readonly #directory: string;
  readonly #places: readonly Place[];
  readonly #clocks = [0, 0, 0];
  /** How many commands use the disk of each node. */
  readonly #using = [0, 0, 0];
  /** The node whose disk is damaged or replaced: no command may begin on it. */
  #reserved: number | undefined;
  #next = 0;
  #isOver = false;
  /** By duty, the fault of the node that has it. */
  readonly #troubled = new Map<string, { readonly name: Fault; readonly node: number; readonly atMs: number }>();
  #clockFaults = 0;
  readonly #loops: Promise<void>[];

  constructor(nodes: ThreeNodes, machines: SeparateMachines, directory: string, places: readonly Place[]) {
    [this.#nodes, this.#machines, this.#directory, this.#places] = [nodes, machines, directory, places];
    this.#delay.enable();
    nodes.onDuty = (duty, node) => this.#noteDuty(duty, node);
    this.#loops = [
      ...nodes.all.map(node => this.#repeat(20, () => this.#check(node))),
      ...[0, 1, 2].map(() => this.#repeat(50, () => this.#askBalancer())),
      ...[0, 1].map(() => this.#repeat(100, () => this.#ingest())),
    ];
  }

  async #repeat(pauseMs: number, what: () => Promise<void>): Promise<void> {
    while (!this.#isOver) {
      await what();
      await sleep(pauseMs);
    }
  }

  #noteDuty(duty: string, node: number): void {
    const { name, node: from, atMs } = this.#troubled.get(duty) ?? {};
    if (atMs === undefined || from === node) return;
    this.moves.push(`${name}, ${duty} ${((performance.now() - atMs) / 1000).toFixed(1)}`);
    this.#troubled.delete(duty);
  }

  /** Ingests a file on a node, by default on any, with its clock. */
  async #ingest(node = pick(this.#nodes.all.filter(each => each !== this.#reserved))): Promise<void> {
    const objects = Array.from({ length: FILE_OBJECTS }, () => {
      const number = this.#next++;
      const { ra, dec } = this.#places[number % this.#places.length]!;
      return { id: idOf(number), mjd: 60_000 + number / 8640, ra, dec };
    });
    const file = join(this.#directory, `alerts-${this.#next}.ndjson`);
    const line = ({ id, ra, dec, mjd }: (typeof objects)[number]) =>
      `{"diaObjectId": ${id}, "ra": ${ra}, "decl": ${dec}, "latestR": 0.9, "firstDiaSourceMjdTai": ${mjd}}`;
    writeFileSync(file, objects.map(line).join('\n'));
    this.#using[node]!++;
    const clock = this.#clocks[node]!;
    const ended = (outcome: string) => {
      this.commands.add(outcome);
      // If the clock was changed meanwhile, the result proves nothing.
      if (clock === 0 || clock !== this.#clocks[node]) return;
      const counts = this.#clocked.get(clock) ?? new Counts();
      this.#clocked.set(clock, counts);
      counts.add(outcome);
    };
    try {
      await this.#nodes.command(node, 'ingest', '--broker', 'lasair', file);
      const [end] = await this.#nodes.kafka[0]!.ends('nearsky').catch(() => this.#nodes.kafka[1]!.ends('nearsky'));
      this.acknowledged.push(...objects.map(object => ({ ...object, end: Number(end) })));
      ended('acknowledged');
    } catch (error) {
      const { message } = error as Error;
      ended(`${/"error": ?"([^"]{0,90})/.exec(message)?.[1] ?? message.slice(-160).trim().replace(/\d+/g, 'N')}`);
    } finally {
      this.#using[node]!--;
    }
  }

  async #check(node: number): Promise<void> {
    const recent = this.acknowledged.slice(random() < 0.5 ? -3 * FILE_OBJECTS : 0);
    if (recent.length === 0) return;
    const object = pick(recent);
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      if (this.#isOver) return;
      this.checks.add(await this.#outcome(node, name, operation, object));
    }
  }

  async #outcome(node: number, name: string, operation: Operation, object: Acknowledged): Promise<string> {
    let answer: Answer;
    try {
      answer = await ask(this.#nodes.urlOf(node), operation, object);
    } catch (error) {
      return `no answer (${(error as NodeJS.ErrnoException).code ?? (error as Error).name})`;
    }
    const { status, position, text } = answer;
    if (status === 200 && operation.isFound(text, object)) return `${name} found`;
    if (status !== 200 && status !== 404) return `${status} ${codeOf(text)}`;
    if (!(position >= object.end)) return `${name}: not yet applied`;
    this.denied.push(
      `node ${node + 1} at ${position}: ${name} of ${object.id} (${object.end}): ${status} ${text.slice(0, 300)}`,
    );
    return `${name} DENIED`;
  }

  async #askBalancer(): Promise<void> {
    if (this.acknowledged.length === 0) return;
    const startMs = performance.now();
    const [name, operation] = pick(Object.entries(OPERATIONS));
    try {
      const { status, text } = await ask(this.#nodes.url, operation, pick(this.acknowledged));
      this.clients.add(status === 200 ? '200' : `${status} ${codeOf(text)}`);
    } catch (error) {
      this.clients.add(`broken off (${(error as NodeJS.ErrnoException).code ?? (error as Error).name})`);
    }
    const ms = performance.now() - startMs;
    this.slowestMs = Math.max(this.slowestMs, ms);
    if (ms > PATIENCE_MS) this.late.push(`${name} after ${(ms / 1000).toFixed(1)} s`);
  }

  /** This many faults, of each kind in turn. */
  async run(count: number, untilMs: number): Promise<void> {
    await eventually('something is acknowledged', async () => this.acknowledged.length > 0 || undefined);
    const first = Math.floor(FAULTS.length * random());
    for (let i = 0; i < count && performance.now() < untilMs; i++) {
      const fault = FAULTS[(first + i) % FAULTS.length]!;
      // A node that has a duty is at fault in every second case.
      const { holders } = this.#nodes;
      const node = random() < 0.5 && holders.size > 0 ? pick([...holders.values()]) : pick(this.#nodes.all);
      if (/pause|kill|cut/.test(fault))
        for (const [duty, holder] of holders)
          if (holder === node) this.#troubled.set(duty, { name: fault, node, atMs: performance.now() });
      await this.#cause(fault, node, Math.min(PAUSE_SECONDS, 1 + (untilMs - performance.now()) / 1000));
      this.#troubled.clear();
      this.faults.add(fault);
      await sleep(4000 * random());
    }
  }

  async #cause(fault: Fault, node: number, mostSeconds: number): Promise<void> {
    const nodes = this.#nodes;
    const seconds = (most: number) => sleep(1000 * Math.exp(Math.log(Math.min(most, mostSeconds)) * random()));
    switch (fault) {
      case 'clock': {
        const [most, least] = CLOCKS;
        this.#clocks[node] = CLOCKS[this.#clockFaults++] ?? Math.round(least + (most - least) * random());
        // One node at least can append.
        if (this.#clocks.every(clock => clock > 1)) this.#clocks[(node + 1) % nodes.all.length] = 0;
        for (const [each, clock] of this.#clocks.entries()) this.#machines.setClock(each, clock);
        await seconds(15);
        // A command meets the wrong clock in any case.
        return this.#ingest(node);
      }
      case 'pause':
        nodes.signal(node, 'SIGSTOP');
        await seconds(PAUSE_SECONDS);
        nodes.signal(node, 'SIGCONT');
        return;
      case 'kill':
        await nodes.kill(node);
        await seconds(15);
        return nodes.serve(node);
      case 'cut log':
      case 'cut all': {
        const cables = fault === 'cut log' ? (['log'] as const) : (['log', 'clients'] as const);
        for (const cable of cables) this.#machines.cut(node, cable);
        await seconds(CUT_SECONDS);
        for (const cable of cables) this.#machines.cut(node, cable, false);
        return;
      }
      case 'broker': {
        const server = pick(nodes.kafka);
        await server.stop();
        await seconds(10);
        return server.startAgain();
      }
      case 'full disk': {
        const file = fillDisk(nodes.dataOf(node), Math.floor(2e6 * random()));
        await seconds(15);
        rmSync(file, { force: true });
        return;
      }
      case 'damaged disk':
        return this.#damage(node);
    }
  }

  /**
   * Changes a value of a stopped node: `nearsky check` names it, and so does the node before long, unless it has stored
   * the value anew. Then the disk is replaced.
   */
  async #damage(node: number): Promise<void> {
    const nodes = this.#nodes;
    await nodes.kill(node);
    await this.#keepCommandsFrom(node);
    const data = nodes.dataOf(node);
    const values = DAMAGED.map(database => ({ database, found: valuesOf(data, database) })).filter(
      ({ found }) => found.length > 0,
    );
    const { database, found } = pick(values);
    const { at, bytes } = pick(found);
    const file = openSync(join(data, 'nearsky.mdb'), 'r+');
    const damage = Buffer.alloc(bytes);
    readSync(file, damage, 0, bytes, at);
    writeSync(file, Buffer.from(damage.map(byte => byte ^ (1 + Math.floor(255 * random())))), 0, bytes, at);
    closeSync(file);
    const named = new RegExp(` of ${database}\\b.*bytes have changed`);
    const checked = await this.#checked(node);
    if (!named.test(checked)) this.unnoticed.push(`by check, ${bytes} bytes of ${database} at ${at}: ${checked}`);
    this.#reserved = undefined;
    const outcome = await nodes.listen(node).then(
      async () => {
        for (const untilMs = performance.now() + NOTICE_MS; performance.now() < untilMs; await sleep(500))
          if ((await get(`${nodes.urlOf(node)}/readyz`)).text.includes('has stopped')) return 'stopped';
        return 'not noticed';
      },
      ({ message }) => (named.test(message) ? 'did not start' : `did not start: ${message}`),
    );
    this.faults.add(`damaged disk, ${database}: ${outcome}`);
    await nodes.kill(node);
    if (!/^(stopped|did not start)$/.test(outcome) && named.test(await this.#checked(node)))
      this.unnoticed.push(`by the node, ${bytes} bytes of ${database} at ${at}`);
    await this.replace(node);
  }

  /** Until another node is reserved, or none, no command begins on the node. */
  #keepCommandsFrom(node: number): Promise<unknown> {
    this.#reserved = node;
    return eventually(
      `no command uses the disk of node ${node + 1}`,
      async () => this.#using[node] === 0 || undefined,
      SETTLE_MS,
    );
  }

  /** The faults that `nearsky check` finds on the disk of a node. */
  #checked(node: number): Promise<string> {
    return this.#nodes.command(node, 'check').then(
      () => 'none',
      ({ message }) => message,
    );
  }

  /** Gives a node an empty disk with a backup of another one. */
  async replace(node: number): Promise<void> {
    const nodes = this.#nodes;
    await nodes.kill(node);
    const data = nodes.dataOf(node);
    // A command that has opened the old disk would keep using it, and wait for changes that never reach it.
    await this.#keepCommandsFrom(node);
    this.#machines.unmount(data);
    this.#machines.mount(data, DISK);
    const seed = join(this.#directory, 'seed');
    await eventually('a backup is made', async () => {
      rmSync(seed, { recursive: true, force: true });
      return nodes.command((node + 1) % nodes.all.length, 'backup', seed).then(
        () => true,
        () => undefined,
      );
    });
    cpSync(seed, data, { recursive: true });
    this.#reserved = undefined;
    await nodes.serve(node);
  }

  /** Lets all nodes come to the same state; no clock is wrong any longer. */
  async settle(): Promise<void> {
    for (const node of this.#nodes.all) this.#machines.setClock(node, 0);
    this.#clocks.fill(0);
    await eventually(
      'every node is ready and has the same, crossmatched',
      async () => {
        const texts = await Promise.all(
          this.#nodes.all.map(async node => (await get(`${this.#nodes.urlOf(node)}/metrics`)).text),
        );
        const value = (text: string, name: string) => new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
        const positions = new Set(texts.map(text => value(text, 'nearsky_log_position')));
        const isDone = texts.every(text => value(text, 'nearsky_objects_pending') === '0');
        return (positions.size === 1 && isDone) || undefined;
      },
      SETTLE_MS,
    );
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  /** The tables of each node have all that was acknowledged. */
  async requireTables(): Promise<void> {
    const query = 'REQUEST=doQuery&LANG=ADQL&FORMAT=csv&QUERY=SELECT+*+FROM+nearsky.objects';
    for (const node of this.#nodes.all)
      await eventually(`the tables of node ${node + 1} have everything`, async () => {
        const { status, text } = await get(`${this.#nodes.urlOf(node)}/vo/tap/sync?${query}`);
        this.checks.add(`tables: ${status}`);
        return (status === 200 && this.acknowledged.every(({ id }) => text.includes(id))) || undefined;
      });
  }

  /** Nothing is appended to a topic that was deleted and made anew, and nodes go on to answer or say why not. */
  async loseTopic(): Promise<void> {
    const nodes = this.#nodes;
    await nodes.kafka[0]!.deleteTopic('nearsky');
    await sleep(3000);
    await nodes.kafka[0]!.createTopic('nearsky', 1, {});
    await eventually('every node has stopped', async () => {
      const ready = await Promise.all(nodes.all.map(async node => (await get(`${nodes.urlOf(node)}/readyz`)).status));
      return ready.every(status => status === 503) || undefined;
    });
    assert.equal(await nodes.kafka[0]!.ends('nearsky'), [0n]);
    const object = pick(this.acknowledged);
    for (const node of nodes.all)
      for (const [name, operation] of Object.entries(OPERATIONS))
        this.checks.add(`topic made anew: ${await this.#outcome(node, name, operation, object)}`);
  }

  get clocks(): string {
    const all = [...this.#clocked].sort(([a], [b]) => a - b);
    return all.map(([seconds, counts]) => `\n ${seconds}:${counts}`).join('');
  }

  /** No command whose clock is too far ahead was acknowledged, and commands met each of the first clocks. */
  requireClocks(): void {
    for (const [seconds, counts] of this.#clocked)
      if (seconds > AHEAD_SECONDS + 1) assert.is(counts.of('acknowledged'), 0, `acknowledged at ${seconds} s ahead`);
    for (const seconds of CLOCKS.slice(0, this.#clockFaults)) {
      const counts = this.#clocked.get(seconds);
      assert.ok(counts && (seconds > 0 || counts.of('acknowledged') > 0), `${seconds} s ahead: ${this.clocks}`);
    }
  }

  get summary(): string {
    return `faults:${this.faults}
files:${this.commands}
${this.acknowledged.length} objects acknowledged; answers of nodes:${this.checks}
answers of the balancer, the slowest after ${(this.slowestMs / 1000).toFixed(1)} s:${this.clients}
seconds until another node had a duty: ${this.moves.join('; ') || 'none moved'}
late: ${this.late.join(', ') || 'none'} (the checker stood still for up to ${(this.#delay.max / 1e9).toFixed(1)} s); damage that was not noticed: ${this.unnoticed.join(', ') || 'none'}
commands by the seconds that the clock was ahead: ${this.clocks}${this.denied.map(text => `\nDENIED ${text}`).join('')}`;
  }
}

real('no node denies what was acknowledged and it has applied, whatever happens to clocks, networks and disks', () =>
  withDirectory(async directory => {
    const rows = (await catalogRows('gaia_dr3')) as unknown as Place[];
    const places = Array.from({ length: 20_000 }, (_, i) =>
      offset(rows[i % rows.length]!, 30 * random(), 7 * random()),
    );
    const machines = new SeparateMachines(join(directory, 'machines'), 3);
    let nodes: ThreeNodes | undefined;
    let campaign: Campaign | undefined;
    const disks = [1, 2, 3].map(node => join(directory, `node-${node}`));
    try {
      for (const disk of disks) machines.mount(disk, DISK);
      nodes = await ThreeNodes.start(directory, SETTINGS, machines);
      await nodes.command(0, 'catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'));
      campaign = new Campaign(nodes, machines, directory, places);
      await campaign.run(COUNT, performance.now() + 60_000 * MINUTES);
      await campaign.settle();
      await campaign.stop();
      await campaign.settle();
      const dumps = await Promise.all(disks.map(dumpOf));
      for (const other of dumps) assert.equal(other, dumps[0]);
      const store = openStore(disks[0]!, 'read');
      for (const { id } of campaign.acknowledged) assert.ok(store.getObject(BigInt(id)), `${id} is lost`);
      await store.close();
      await campaign.requireTables();
      await campaign.loseTopic();
      assert.equal([campaign.denied, campaign.unnoticed], [[], []]);
      campaign.requireClocks();
    } finally {
      if (campaign) console.log(campaign.summary, ...(nodes?.stopped ?? []).map(text => `\n${text}`));
      await campaign?.stop();
      await nodes?.stop();
      machines.remove();
      for (const disk of disks) machines.unmount(disk);
    }
  }),
);

test.run();
