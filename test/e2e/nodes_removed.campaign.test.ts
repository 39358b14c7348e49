/**
 * Three nodes, three Kafka servers and HAProxy: wrong objects are removed in each of the three ways, while alerts arrive, walks go on, and nodes and
 * the removals themselves are killed. In the end every node, its tables in ADQL and its HATS export are those of a service that never had them.
 * TEST_REMOVED sets how many objects are removed (300). The large run: TEST_REMOVED=20000 npx node test/run.ts e2e/nodes_removed
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { separationArcsec } from '@nearsky/sky-index';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../src/core/store/store.ts';
import { readRows } from '../core/store/filled_sky.ts';
import { dump } from '../core/store/random_changes.ts';
import { eventually, sample, withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { offset, type Place } from '../oracle/skies.ts';
import { objectsIn } from './dump.ts';
import { catalogRows } from './expected.ts';
import { random } from './kill_support.ts';
import { idOf, textOf } from './live_brokers.ts';
import { nearsky, type Running, send, start } from './support.ts';
import { ThreeNodes, whyNoNodes } from './three_nodes.ts';

const test = suite('e2e/nodes_removed');
const real = needs(test, whyNoNodes);

const REMOVED = Number(process.env.TEST_REMOVED ?? 300);
/** The objects of each way, and as many that stay. */
const SHARE = Math.ceil(REMOVED / 3);
/** Removals by id are run in so many commands, so that kills hit many moments. */
const ID_FILES = 6;
/** Objects that arrive while others are removed, in files of their own. */
const LATER_FILES = 5;
const CENTRES = 12;
const FIELD_ARCSEC = 20;
const ASKED_ARCSEC = 25;
const ASKERS = 2;
const SETTINGS = { NEARSKY_WORKERS: '1', CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0', KAFKA_SESSION_TIMEOUT_SECONDS: '3' };

const pick = <T>(values: readonly T[]): T => values[Math.floor(values.length * random())]!;

/** What an object is, by its number. */
const KINDS = ['too_old', 'wrong_broker', 'wrong_delivery', 'wrong_file', 'stays'] as const;
type Kind = (typeof KINDS)[number];
const numbersOf = (...kinds: readonly Kind[]) =>
  kinds.flatMap(kind => Array.from({ length: SHARE }, (_, i) => KINDS.indexOf(kind) * SHARE + i));
const STAYS = numbersOf('stays', 'wrong_delivery');
const laterOf = (file: number) => Array.from({ length: 50 }, (_, i) => KINDS.length * SHARE + 50 * file + i);

/** Files of alerts, and the same commands for the nodes and for the service that never had the wrong objects. */
class Alerts {
  readonly places: readonly Place[];
  readonly centres: readonly Place[];
  readonly #directory: string;
  #files = 0;

  private constructor(directory: string, rows: readonly Place[]) {
    this.#directory = directory;
    this.centres = Array.from({ length: CENTRES }, (_, i) => rows[Math.floor((i * rows.length) / CENTRES)]!);
    const count = KINDS.length * SHARE + laterOf(0).length * LATER_FILES;
    this.places = Array.from({ length: count }, (_, i) =>
      offset(this.centres[i % CENTRES]!, (i % 3 === 0 ? 0.7 : FIELD_ARCSEC) * random(), 7 * random()),
    );
  }

  static async in(directory: string): Promise<Alerts> {
    return new Alerts(directory, (await catalogRows('gaia_dr3')) as unknown as Place[]);
  }

  write(text: string): string {
    const file = join(this.#directory, `file-${this.#files++}`);
    writeFileSync(file, text);
    return file;
  }

  /** The arguments of the command that ingests these objects. */
  ingest(broker: 'lasair' | 'antares', numbers: readonly number[]): string[] {
    const text = numbers.map(number => textOf(broker, number, this.places[number]!)).join('\n');
    return ['ingest', '--broker', broker, this.write(text)];
  }
}

/** Walks through cones that go on while objects are removed: each has every object that stays, once, and none that never was. */
class Walks {
  done = 0;
  #isStopping = false;
  readonly #ended: Promise<unknown>;
  failure: unknown;

  constructor(url: string, { centres, places }: Alerts) {
    const near = (centre: Place, numbers: readonly number[]) =>
      numbers.filter(
        number => separationArcsec(centre.ra, centre.dec, places[number]!.ra, places[number]!.dec) <= ASKED_ARCSEC,
      );
    const staying = centres.map(centre => near(centre, STAYS).map(idOf));
    const everything = centres.map(centre => new Set(near(centre, [...places.keys()]).map(idOf)));
    const run = async () => {
      while (!this.#isStopping) {
        const field = pick([...centres.keys()]);
        const ids = await walk(url, centres[field]!, pick([20, 100, 1000]));
        assert.is(new Set(ids).size, ids.length, 'an object came twice');
        const found = new Set(ids);
        for (const id of staying[field]!) assert.ok(found.has(id), `${id} stays, and a walk did not have it`);
        for (const id of ids) assert.ok(everything[field]!.has(id), `${id} is not in this field`);
        this.done++;
        await sleep(50 * random());
      }
    };
    this.#ended = Promise.all(Array.from({ length: ASKERS }, run)).catch(error => {
      this.failure = error;
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#ended;
  }
}

async function walk(url: string, { ra, dec }: Place, size: number): Promise<string[]> {
  const ids: string[] = [];
  let next = `/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=${ASKED_ARCSEC}&detail=ids&page_size=${size}`;
  for (;;) {
    const page = await ask(url + next);
    for (const { diaObjectId_str } of page.results[0].objects) ids.push(diaObjectId_str);
    if (page.next_cursor === null) return ids;
    next = `/api/cone?cursor=${page.next_cursor}&page_size=${size}`;
  }
}

/** As our clients do, asks again where an answer breaks off or names a time to wait. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads any key of an answer and fails where it is not there
async function ask(url: string): Promise<any> {
  for (let attempt = 0; ; attempt++) {
    const answer = await request(url)
      .then(async ({ statusCode, body }) => ({ statusCode, text: await body.text() }))
      .catch(error => ({ statusCode: 0, text: String(error) }));
    if (answer.statusCode === 200) return JSON.parse(answer.text);
    assert.ok((answer.statusCode === 0 || answer.statusCode === 503) && attempt < 20, `${url}: ${answer.text}`);
    await sleep(300);
  }
}

/** Removals that are killed and run again until each has ended. */
class Removals {
  readonly #nodes: ThreeNodes;
  #running: Running | undefined;
  kills = 0;
  /** How many objects and deliveries the commands said that they removed; those of killed commands are not among them. */
  readonly said: string[] = [];

  constructor(nodes: ThreeNodes) {
    this.#nodes = nodes;
  }

  async run(selection: readonly string[]): Promise<void> {
    for (;;) {
      const node = pick(this.#nodes.all);
      const args = ['remove', ...selection, '--yes', '--reason', 'wrong', '--data', this.#nodes.dataOf(node), '--json'];
      this.#running = start(args, this.#nodes.settings);
      const { code, signal, stdout, stderr } = await this.#running.finished;
      this.#running = undefined;
      if (signal === 'SIGKILL') continue;
      assert.is(code, 0, `nearsky ${args.join(' ')}: ${stderr}`);
      const { removed, deliveries_removed } = JSON.parse(stdout);
      this.said.push(
        deliveries_removed === undefined ? `${removed}` : `${removed} and ${deliveries_removed} deliveries`,
      );
      return;
    }
  }

  kill(): void {
    if (!this.#running) return;
    send(this.#running.child, 'SIGKILL');
    this.kills++;
  }
}

/** Everything about the objects of a directory but times, and the brokers that a crossmatch knew, which a removal does not change afterwards. */
async function objectsOf(data: string): Promise<string[]> {
  await using store = openStore(data, 'read');
  return [...objectsIn(store).values()].map(text => text.replace(/"brokersAtCrossmatch":\[[^\]]*\]/g, ''));
}

/** The ids in the files of a HATS export, ascending; each once. */
async function idsInHats(data: string, target: string, run: (args: string[]) => Promise<unknown>): Promise<string[]> {
  await run(['export', '--format', 'hats', target, '--data', data]);
  const rows = await readRows(target, 'objects/objects/dataset/Norder=*/**/*.parquet');
  return rows.map(({ diaObjectId }) => `${diaObjectId}`).sort();
}

async function idsInAdql(url: string): Promise<string[]> {
  const query = new URLSearchParams({
    LANG: 'ADQL',
    FORMAT: 'csv',
    MAXREC: '1000000',
    QUERY: 'SELECT diaObjectId FROM objects',
  });
  const { statusCode, body } = await request(`${url}/vo/tap/sync?${query}`);
  const text = await body.text();
  assert.is(statusCode, 200, text);
  return text.trim().split('\n').slice(1).sort();
}

real('what is removed from three nodes in three ways, under kills, was never there', () =>
  withDirectory(async directory => {
    const alerts = await Alerts.in(directory);
    const nodes = await ThreeNodes.start(join(directory, 'nodes'), SETTINGS);
    const removals = new Removals(nodes);
    let walks: Walks | undefined;
    let isRemoving = true;
    try {
      await nodes.command(0, 'catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'));
      await nodes.command(0, ...alerts.ingest('antares', numbersOf('too_old')));
      const cut = await later();
      await nodes.command(1, ...alerts.ingest('lasair', numbersOf('stays', 'wrong_file')));
      const half = numbersOf('wrong_delivery').filter(number => number % 2 === 0);
      const other = numbersOf('wrong_delivery').filter(number => number % 2 === 1);
      await nodes.command(1, ...alerts.ingest('lasair', half));
      const from = await later();
      await nodes.command(2, ...alerts.ingest('antares', numbersOf('wrong_broker', 'wrong_delivery')));
      const to = await later();
      await nodes.command(2, ...alerts.ingest('lasair', other));
      await eventually('each node has all', async () => {
        const counts = await Promise.all(nodes.all.map(async node => (await idsOn(nodes.urlOf(node))).length));
        return counts.every(count => count === KINDS.length * SHARE) || undefined;
      });

      walks = new Walks(nodes.url, alerts);
      const killing = (async () => {
        let kills = 0;
        for (; isRemoving || kills === 0; kills++) {
          await sleep(1500 * random());
          if (random() < 0.5) removals.kill();
          else {
            const node = pick(nodes.all);
            await nodes.kill(node);
            await nodes.serve(node);
          }
        }
        return kills;
      })();
      const feeding = (async () => {
        for (let file = 0; file < LATER_FILES; file++)
          await nodes.command(pick(nodes.all), ...alerts.ingest('lasair', laterOf(file)));
      })();
      const wrong = numbersOf('wrong_file');
      for (let file = 0; file < ID_FILES; file++) {
        const ids = wrong.filter((_, i) => i % ID_FILES === file).map(idOf);
        await removals.run(['--ids', alerts.write(ids.join('\n'))]);
      }
      await removals.run(['--first-seen-before', cut]);
      await removals.run(['--broker', 'antares', '--from', from, '--to', to]);
      isRemoving = false;
      const kills = await killing;
      await feeding;
      await walks.stop();
      if (walks.failure) throw walks.failure;
      assert.ok(walks.done > 0);
      assert.equal(nodes.stopped, []);
      console.log(
        `${kills} kills, ${removals.kills} of removals; ${walks.done} walks; removed: ${removals.said.join(', ')}`,
      );

      const staying = [...STAYS, ...Array.from({ length: LATER_FILES }, (_, file) => laterOf(file)).flat()];
      const expected = staying.map(idOf).sort();
      for (const node of nodes.all) {
        await eventually(`node ${node + 1} has what stays, in its index and in ADQL`, async () => {
          if ((await pendingOn(nodes.urlOf(node))) > 0) return undefined;
          const found = await Promise.all([idsOn(nodes.urlOf(node)), idsInAdql(nodes.urlOf(node))]);
          return found.every(ids => `${ids}` === `${expected}`) || undefined;
        });
        for (const centre of alerts.centres) {
          const ids = (await walk(nodes.urlOf(node), centre, 100)).sort();
          const near = (number: number) =>
            separationArcsec(centre.ra, centre.dec, alerts.places[number]!.ra, alerts.places[number]!.dec);
          assert.equal(
            ids,
            staying
              .filter(number => near(number) <= ASKED_ARCSEC)
              .map(idOf)
              .sort(),
          );
        }
      }
      await nodes.stopServing();
      const nothing = alerts.write('');
      for (const node of nodes.all) await nodes.command(node, 'import', nothing);
      const [first, ...others] = await Promise.all(
        nodes.all.map(async node => {
          await using store = openStore(nodes.dataOf(node), 'read');
          return dump(store);
        }),
      );
      for (const dumped of others) assert.equal(dumped, first);

      const never = join(directory, 'never');
      const inNever = async (args: readonly string[]) => nearsky(...args, '--data', never);
      await inNever(['catalog', 'add', 'gaia_dr3', join(sample, 'catalogs/gaia_dr3')]);
      await inNever(alerts.ingest('lasair', staying));
      await inNever(['crossmatch']);
      assert.equal(await objectsOf(nodes.dataOf(0)), await objectsOf(never));
      const onNode = ([name, ...args]: string[]) =>
        start([name!, ...args, '--json'], nodes.settings).finished.then(({ code, stderr }) =>
          assert.is(code, 0, stderr),
        );
      assert.equal(await idsInHats(nodes.dataOf(1), join(directory, 'hats'), onNode), expected);
      assert.equal(await idsInHats(never, join(directory, 'hats-never'), args => nearsky(...args)), expected);
    } finally {
      isRemoving = false;
      await walks?.stop();
      await nodes.stop();
    }
  }),
);

/** A time between what was stored before and what will be stored. */
async function later(): Promise<string> {
  await sleep(20);
  const time = new Date().toISOString();
  await sleep(20);
  return time;
}

/** The ids of all objects, by the listing. */
async function idsOn(url: string): Promise<string[]> {
  const ids: string[] = [];
  let next = '/api/objects?detail=ids&page_size=1000';
  for (;;) {
    const page = await ask(url + next);
    for (const { diaObjectId_str } of page.objects) ids.push(diaObjectId_str);
    if (page.next_cursor === null) return ids.sort();
    next = `/api/objects?cursor=${page.next_cursor}&page_size=1000`;
  }
}

async function pendingOn(url: string): Promise<number> {
  const { body } = await request(`${url}/metrics`);
  return Number(/^nearsky_objects_pending (\S+)$/m.exec(await body.text())?.[1] ?? Number.NaN);
}

test.run();
