/**
 * kill -9 of `consume`, `crossmatch`, `tns refresh` and `serve`, together on one directory, at random moments: of one of them, or of all at
 * once. After each, no acknowledged data are lost or duplicated, and the
 * result equals that of an undisturbed run.
 * TEST_KILLS sets how many times (2).
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { whyNoKafka } from '../capabilities/consume/kafka_server.ts';
import { everyNth, type RangeServer, serveFiles } from '../core/catalogs/range_server.ts';
import { needs } from '../needs.ts';
import { offset, type Place } from '../oracle/skies.ts';
import { Asker, namesOf } from './asker.ts';
import { type Dump, readDump } from './dump.ts';
import { catalogRows, type Expected, Sky } from './expected.ts';
import { type Command, Kept } from './kept.ts';
import { assertJournalKept, assertOneOf, kills, type Registry, random } from './kill_support.ts';
import { brokersOf, Consumption, idOf, LiveBrokers } from './live_brokers.ts';
import { CATALOGS, eventually, nearsky, sample, start, startServer, withDirectory } from './support.ts';
import { Transients } from './transients.ts';

const test = suite('e2e/kill_together');
const real = needs(test, whyNoKafka);

const OBJECTS = 120 + 12 * kills;
const LONGEST_PAUSE_MS = 2000;

const SETTINGS = {
  TNS_SNAPSHOT_MAX_AGE_SECONDS: '31536000',
  CROSSMATCH_BATCH_MAX_SIZE: '20',
  CROSSMATCH_BATCH_MAX_WAIT_SECONDS: '0',
  NEARSKY_WORKERS: '1',
};

/**
 * An object's data that do not depend on the order of events: its crossmatch and further brokers, or the crossmatch and
 * a registry.
 */
interface Settled {
  readonly brokers: readonly string[];
  readonly tns: Record<string, unknown> | null;
  readonly rest: string;
}

function settled(text: string): Settled {
  const { brokers, tns, records, ...rest } = JSON.parse(text);
  const plain = records.map(({ brokersAtCrossmatch, ...record }: Record<string, unknown>) => {
    for (const broker of brokersAtCrossmatch as string[]) assert.ok(brokers.includes(broker));
    return record;
  });
  return { brokers, tns, rest: JSON.stringify({ ...rest, records: plain }) };
}

/** Checks that all earlier values still exist, unchanged or further advanced. */
function assertKept(seen: Dump, now: Dump): void {
  for (const [id, text] of seen.objects) {
    assert.ok(now.objects.has(id), `${id} is missing`);
    const [before, after] = [settled(text), settled(now.objects.get(id)!)];
    for (const broker of before.brokers) assert.ok(after.brokers.includes(broker), `${id} is without ${broker}`);
    if (seen.pending.has(id)) continue;
    assert.equal([after.rest, after.tns], [before.rest, before.tns]);
  }
  assertJournalKept(seen, now);
}

/** A sky of objects around the sample's sources, the catalogs over HTTP, the brokers and the TNS. */
interface World {
  readonly directory: string;
  readonly places: readonly Place[];
  readonly expected: readonly Expected[];
  readonly catalogs: RangeServer;
  readonly brokers: LiveBrokers;
  readonly transients: Transients;
}

async function withWorld(use: (world: World) => Promise<void>): Promise<void> {
  await withDirectory(async directory => {
    const rows = (await Promise.all(CATALOGS.map(name => catalogRows(name)))).flat();
    const placeOf = (row: Record<string, unknown>) =>
      ({ ra: row.ra ?? row.RA ?? row.raj2000, dec: row.dec ?? row.DEC ?? row.dej2000 }) as Place;
    const places = Array.from({ length: OBJECTS }, () =>
      offset(placeOf(rows[Math.floor(rows.length * random())]!), 1.5 * random(), 7 * random()),
    );
    const sky = await Sky.read();
    const expected = places.map(place => sky.crossmatch(place));
    const catalogs = await serveFiles(join(sample, 'catalogs'));
    catalogs.fault = everyNth(10, ['drop', 'truncate', 'error']);
    const transients = await Transients.start(directory, places);
    const brokers = await LiveBrokers.start(directory, places);
    try {
      await use({ directory, places, expected, catalogs, brokers, transients });
    } finally {
      await brokers.stop();
      await transients.server.close();
      await catalogs.close();
    }
  });
}

/** A directory that knows the catalogs and the former registry. */
async function prepare(data: string, { catalogs, transients }: World): Promise<void> {
  for (const name of CATALOGS) await nearsky('catalog', 'add', name, `${catalogs.url}/${name}`, '--data', data);
  await nearsky('tns', 'load', transients.file, '--data', data);
}

/** All processes that run on one directory. */
class Night {
  readonly data: string;
  readonly #world: World;
  readonly #consumption: Consumption;
  readonly #asker: Asker;
  readonly #kept: readonly Kept[];
  /** The state of the registry, once a command has said so and until the next one begins. */
  #registry: Registry | undefined;
  #url: string | undefined;
  #seen: Dump;

  constructor(world: World, consumption: Consumption, seen: Dump) {
    this.#world = world;
    this.#consumption = consumption;
    this.data = consumption.data;
    this.#seen = seen;
    const of = ['--data', this.data];
    this.#kept = [
      new Kept(() => this.#serve()),
      new Kept(() => ({ args: consumption.args, variables: { ...SETTINGS, ...consumption.variables } })),
      new Kept(() => ({ args: ['crossmatch', '--batch', '20', ...of], variables: SETTINGS, onDone: () => {} })),
      new Kept(() => this.#refresh()),
    ];
    this.#asker = new Asker(world.places, world.expected, world.transients, () => this.#url);
  }

  #serve(): Command {
    this.#url = undefined;
    const crossmatch = random() < 0.5 ? [] : ['--no-crossmatch'];
    return {
      args: ['serve', '--port', '0', '--data', this.data, ...crossmatch],
      variables: SETTINGS,
      onOutput: text => {
        this.#url = /listening on (http:\/\/\S+)/.exec(text)?.[1] ?? this.#url;
      },
    };
  }

  /** To the newer registry, and back to the former one. */
  #next: 'refresh' | 'load' = 'refresh';

  #refresh(): Command {
    const { transients } = this.#world;
    this.#registry = undefined;
    const onDone = (registry: Registry, next: 'refresh' | 'load') => () => {
      this.#registry = registry;
      this.#next = next;
    };
    if (this.#next === 'load')
      return {
        args: ['tns', 'load', transients.file, '--data', this.data],
        variables: SETTINGS,
        onDone: onDone(transients.former, 'refresh'),
      };
    return {
      args: ['tns', 'refresh', '--data', this.data],
      variables: { ...SETTINGS, ...transients.variables },
      onDone: onDone(transients.newer, 'load'),
    };
  }

  /** Something is stored, and the service answers. */
  async isUnderWay(): Promise<void> {
    await eventually('it is under way', async () => {
      await this.#check();
      return (this.#seen.objects.size > 0 && this.#asker.answers > 0) || undefined;
    });
  }

  /** Kills one of the processes, or all of them. Returns how many were running. */
  async kill(): Promise<number> {
    await sleep(LONGEST_PAUSE_MS * random());
    const victims = random() < 0.2 ? this.#kept : [this.#kept[Math.floor(4 * random())]!];
    const killed = await Promise.all(victims.map(victim => victim.kill()));
    await this.#check();
    for (const victim of victims) victim.release();
    return killed.filter(was => was).length;
  }

  async #check(): Promise<void> {
    for (const { failure } of [...this.#kept, this.#asker]) if (failure) throw failure;
    const ranks = new Map(this.#asker.ranks);
    const registry = this.#registry;
    const { former, newer } = this.#world.transients;
    const stored = await assertOneOf(this.data, former, newer);
    if (registry && registry === this.#registry) assert.is(stored.epochUs, registry.epochUs);
    const now = await this.#consumption.assertAcknowledgedIsThere();
    assertKept(this.#seen, now);
    for (const [object, rank] of ranks) {
      if (rank > 0) assert.ok(now.objects.has(idOf(object)), `${idOf(object)} was found, and is missing`);
      if (rank > 1) assert.not.ok(now.pending.has(idOf(object)), `${idOf(object)} was crossmatched, and is pending`);
    }
    this.#seen = now;
  }

  /** Whatever has happened. */
  abandon(): void {
    for (const kept of this.#kept) kept.abandon();
    this.#asker.abandon();
  }

  /** Lets everything come to its end. */
  async finish(): Promise<void> {
    await eventually('every message is acknowledged', async () => {
      await this.#check();
      return (await this.#consumption.isDone()) || undefined;
    });
    await this.#asker.stop();
    assert.ok(this.#asker.answers > 0);
    await Promise.all(this.#kept.map(kept => kept.stop()));
    await this.#check();
    this.#registry = undefined;
    await settle(this.data, this.#world);
    await this.#check();
  }
}

/** Crossmatches the pending objects, and brings the registry up to date. */
async function settle(data: string, { transients }: World): Promise<void> {
  const { code, stderr } = await start(['crossmatch', '--data', data], SETTINGS).finished;
  assert.is(code, 0, stderr);
  const refreshed = await start(['tns', 'refresh', '--data', data], { ...SETTINGS, ...transients.variables }).finished;
  assert.is(refreshed.code, 0, refreshed.stderr);
  await assertOneOf(data, transients.newer);
  assert.is((await nearsky('stats', '--data', data)).claimed, 0);
}

/** Compares the final data with the files, by scans, and with the undisturbed run. */
async function assertEnd(data: string, undisturbed: string, { places, expected, transients }: World): Promise<void> {
  const [end, whole] = [await readDump(data), await readDump(undisturbed)];
  assert.is(end.pending.size, 0);
  assert.equal([...end.objects.keys()], [...whole.objects.keys()]);
  for (const [object, place] of places.entries()) {
    const [ours, theirs] = [end, whole].map(({ objects }) => settled(objects.get(idOf(object))!)) as [Settled, Settled];
    assert.equal([ours.rest, ours.brokers], [theirs.rest, theirs.brokers]);
    assert.equal(ours.brokers, brokersOf(object));
    const { records, matches } = JSON.parse(ours.rest);
    assert.is(records.length, 1);
    assert.equal(Object.fromEntries(records[0].catalogOutcomes), expected[object]!.outcomes);
    assert.equal(
      matches.map(({ catalogName, catalogSourceId }: Record<string, string>) => `${catalogName} ${catalogSourceId}`),
      namesOf(expected[object]!.matches),
    );
    const { checked, snapshotEpochUs, objid, separationArcsec } = ours.tns as Record<string, number>;
    assert.is(checked, true);
    assert.equal({ objid, separationArcsec }, transients.nearest(snapshotEpochUs!, place));
  }
}

const ORDERED = /^(ingest_time|crossmatched_at|brokers_at_crossmatch|tns.*)$/;

/** A service's answers on every object, by its id and around its place, but for values that depend on the order of events. */
async function answersOf(data: string, places: readonly Place[]): Promise<unknown[]> {
  const server = await startServer(['serve', '--no-crossmatch', '--port', '0', '--data', data], SETTINGS);
  const ask = async (inputs: readonly unknown[]) => {
    const { statusCode, body } = await request(`${server.url}/api/lookup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ inputs, detail: 'full', radius_arcsec: 2 }),
    });
    const { results } = JSON.parse(await body.text(), (key, value) => (ORDERED.test(key) ? undefined : value));
    assert.is(statusCode, 200);
    for (const { objects } of results)
      objects.sort((a: { diaObjectId_str: string }, b: typeof a) => (a.diaObjectId_str < b.diaObjectId_str ? -1 : 1));
    return results;
  };
  const answers: unknown[] = [];
  for (let from = 0; from < places.length; from += 100) {
    const some = places.slice(from, from + 100);
    answers.push(...(await ask(some.map((_, i) => ({ kind: 'id', diaObjectId: idOf(from + i) })))));
    answers.push(...(await ask(some.map(place => ({ kind: 'position', ...place })))));
  }
  assert.is((await server.stop()).code, 0);
  return answers;
}

/** Kills the processes this many times while they work through all messages. */
async function killOften(night: Night, consumption: Consumption): Promise<void> {
  await consumption.send(1 / (kills + 1));
  await night.isUnderWay();
  for (let killed = 0; killed < kills; ) {
    await consumption.send(Math.min(1, (killed + 2) / (kills + 1)));
    killed += await night.kill();
  }
  await consumption.send();
  await night.finish();
}

real(`consume, crossmatch, refresh and serve together, killed ${kills} times`, () =>
  withWorld(async world => {
    const { directory, brokers, places } = world;
    const consumption = await Consumption.start(brokers, directory, 'disturbed');
    await prepare(consumption.data, world);
    const calm = await Consumption.start(brokers, directory, 'undisturbed');
    cpSync(consumption.data, calm.data, { recursive: true });
    const night = new Night(world, consumption, await readDump(consumption.data));
    try {
      await killOften(night, consumption);
      await calm.send();
      await calm.finish();
      await settle(calm.data, world);
      await assertEnd(consumption.data, calm.data, world);
      const [ours, theirs] = [await answersOf(consumption.data, places), await answersOf(calm.data, places)];
      for (const [i, answer] of ours.entries()) assert.equal(answer, theirs[i]);
    } finally {
      night.abandon();
      await consumption.close();
      await calm.close();
    }
  }),
);

test.run();
