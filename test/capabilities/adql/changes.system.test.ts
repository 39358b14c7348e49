/** Tables that are updated with changes, compared with tables that are made anew. */

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DuckDBConnection } from '@duckdb/node-api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BESIDE_FILE } from '../../../src/capabilities/adql/beside.ts';
import { Engine } from '../../../src/capabilities/adql/engine.ts';
import { CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { FILE_NAME } from '../../../src/core/store/data_files.ts';
import { journalState } from '../../../src/core/store/positions.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import type { StoredObject } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { delivery, eventually, match, NOW_US, PROVENANCE, searched, withDirectory } from '../../core/http/support.ts';
import { fillSky } from '../../core/store/filled_sky.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { runtimeArgs } from '../../runtime.ts';
import { answerOf, closed, partsOf } from './support.ts';

const test = suite('tap: changes');
const script = new URL('follow_process.ts', import.meta.url);
const obstacle = duckdbObstacle();

/** So many that changes twice are still too few for the tables to be put in order. */
const OBJECTS = 400;
/** Four that are new, three of each kind, one with new statistics, and four that are removed. */
const CHANGED = 19;
/** Four new ones, and all but three of the removed ones: one of these is stored anew. */
const AFTER = OBJECTS + 4 - 3;
const TABLES = [
  'objects',
  'matches',
  'crossmatches',
  'older_crossmatches',
  'reliability_cuts',
  'tns',
  'gaia_dr3_matches',
];

async function asked(engine: Engine, query: string): Promise<string[]> {
  return (await answerOf(engine, query)).trimEnd().split('\n').slice(1).sort();
}

const allOf = (table: string) => `SELECT diaObjectId AS id, t.* FROM ${table} AS t`;

/** The rows of every table, from an engine of their own, and the objects whose rows were changed since all were made. */
async function answers(dataDir: string) {
  const limits = { memoryMib: 512, threads: 1, refreshSeconds: 0.1, mergeAfter: 0, earlierStates: 0 };
  const engine = await Engine.open({ dataDir, ...limits });
  const rows = new Map<string, string[]>();
  try {
    for (const table of TABLES) {
      const all = await asked(engine, allOf(table));
      rows.set(table, all);
      for (const row of [...all.slice(0, 3), ...all.slice(-3)]) {
        const id = row.split(',', 1)[0]!;
        const alike = all.filter(each => each.startsWith(`${id},`));
        const query = `${allOf(table)} WHERE diaObjectId = ${id}`;
        assert.equal(await asked(engine, query), alike, query);
      }
    }
  } finally {
    await closed(engine);
  }
  return { rows, ...(await stored(dataDir)) };
}

const engineDirectory = (dataDir: string) => join(dataDir, 'tap', `${process.pid}`);

/** The files of editions, without the tables that all of them share. */
const generationsIn = (directory: string) =>
  readdirSync(directory).filter(name => name.endsWith('.duckdb') && name !== BESIDE_FILE);

/** Reads or changes the stored tables. */
async function inTables<T>(dataDir: string, work: (connection: DuckDBConnection) => Promise<T>): Promise<T> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const directory = engineDirectory(dataDir);
  const files = generationsIn(directory);
  assert.is(files.length, 1);
  const instance = await DuckDBInstance.create(join(directory, files[0]!));
  const connection = await instance.connect();
  try {
    return await work(connection);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

function stored(dataDir: string): Promise<{ changed: number; indexed: string[] }> {
  return inTables(dataDir, async connection => {
    const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRows();
    const indexed = await rows("SELECT table_name FROM duckdb_indexes() WHERE expressions LIKE '%diaObjectId%'");
    return {
      changed: Number((await rows('SELECT changed FROM stored'))[0]![0]),
      indexed: indexed.map(([name]) => `${name}`),
    };
  });
}

function allIn(store: Store): StoredObject[] {
  const snapshot = store.snapshot();
  try {
    return Array.from(snapshot.objects(), ({ diaObjectId }) => store.getObject(diaObjectId)!);
  } finally {
    snapshot.close();
  }
}

/** What can happen to objects. Only one that is removed and stored anew has another position. */
async function change(writer: Writer, objects: readonly StoredObject[]): Promise<void> {
  const crossmatched = objects.filter(({ state }) => state === 'crossmatched').slice(-3);
  const pending = objects.filter(({ state }) => state === 'pending').slice(0, 3);
  const aside = objects.filter(({ position }) => !position).slice(0, 3);
  const fresh = [1n, 2n, 3n].map(id => delivery(id, { position: { ra: 359.99999, dec: Number(id) } }));
  const again = [...crossmatched, ...aside].map(({ diaObjectId, position }) =>
    delivery(diaObjectId, { position, broker: 'alerce' }),
  );
  await writer.ingest([...fresh, delivery(4n, { position: null }), ...again], NOW_US);
  const result = (diaObjectId: bigint, ...ids: readonly string[]) => ({
    diaObjectId,
    catalogOutcomes: searched(...CATALOGS.map(({ name }) => name)),
    matches: ids.map(id => match('gaia_dr3', id)),
  });
  const first = [result(1n, '7', '8'), result(4n, '9'), ...pending.map(each => result(each.diaObjectId, '10'))];
  await writer.recordCrossmatches(first, PROVENANCE, NOW_US + 1);
  const other = { ...PROVENANCE, crossmatch_radius_arcsec: 2 };
  const second = crossmatched.map((each, i) => result(each.diaObjectId, ...[`${900 + i}`].slice(i % 2)));
  assert.is((await writer.recordCrossmatches(second, other, NOW_US + 2, true)).recorded, 3);
  const { diaObjectId, matches } = objects.find(
    ({ state, matches }) => state === 'crossmatched' && matches.some(each => !each.statistics),
  )!;
  const statistics = { version: 1, sourceDensity: 1.5, sourcesWithinRadius: 1, secondSeparationArcsec: null };
  const known = matches.map(({ catalogName, catalogSourceId }) => ({ catalogName, catalogSourceId, statistics }));
  assert.is((await writer.commit({ kind: 'fill_statistics', found: [{ diaObjectId, matches: known }] })).recorded, 1);
  const wrong = [
    ...objects.filter(({ state, matches }) => state === 'crossmatched' && matches.length > 0).slice(10, 13),
    ...objects.filter(({ state, position }) => state === 'pending' && position).slice(3, 4),
  ].map(each => each.diaObjectId);
  assert.equal(await writer.remove(wrong, 'wrong'), { removed: 4, kept: 0 });
  const shared = objects
    .filter(({ brokers, diaObjectId }) => brokers.length > 1 && !wrong.includes(diaObjectId))
    .slice(-2, -1)
    .map(each => each.diaObjectId);
  assert.equal(await writer.remove(shared, 'wrong', 'pittgoogle'), { removed: 0, kept: shared.length });
  await writer.ingest([delivery(wrong[0]!, { position: { ra: 77, dec: -77 } })], NOW_US + 3);
}

needs(test, obstacle)('what has changed since an export is found as in an export of everything', () =>
  withDirectory(async dataDir => {
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    await fillSky(writer, OBJECTS);
    const before = await answers(dataDir);
    assert.is(before.changed, 0);
    await change(writer, allIn(store));
    const changed = await answers(dataDir);
    assert.is(changed.changed, CHANGED);
    assert.equal(changed.indexed.sort(), ['matches', 'objects']);
    rmSync(join(dataDir, 'tap'), { recursive: true });
    const whole = await answers(dataDir);
    assert.is(whole.changed, 0);
    for (const table of TABLES) assert.equal(changed.rows.get(table), whole.rows.get(table), table);
    assert.is(changed.rows.get('objects')!.length, AFTER);
    for (const table of ['objects', 'matches', 'crossmatches', 'gaia_dr3_matches'])
      assert.ok(changed.rows.get(table)!.filter(row => !before.rows.get(table)!.includes(row)).length >= 3, table);
    await store.close();
  }),
);

needs(test, obstacle)('rows that the tables have already are not doubled, whatever entry the tables name', () =>
  withDirectory(async dataDir => {
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    await fillSky(writer, OBJECTS);
    await answers(dataDir);
    const sequence = store.lastSequence();
    await change(writer, allIn(store));
    const before = await answers(dataDir);
    // As after a commit that was stored, but reported as failed.
    await inTables(dataDir, async connection => {
      await connection.run(`UPDATE stored SET sequence = ${sequence}, mark = '${store.journalMark(sequence)}'`);
    });
    const after = await answers(dataDir);
    assert.is(after.changed, before.changed + CHANGED);
    for (const table of TABLES) assert.equal(after.rows.get(table), before.rows.get(table), table);
    await store.close();
  }),
);

needs(test, obstacle)(
  'tables of another history are not taken, though the file and the number of entries are the same',
  () =>
    withDirectory(async dataDir => {
      const changed = async (what: (writer: Writer, store: Store) => Promise<unknown>) => {
        const store = openStore(dataDir, 'write');
        await what(new Writer(store), store);
        const { sequence } = journalState(store.databases);
        await store.close();
        return sequence;
      };
      // In a process of its own: the file is replaced by another when nobody has it open.
      const follow = () => {
        const { status, stderr } = spawnSync(process.execPath, [...runtimeArgs, fileURLToPath(script), dataDir]);
        assert.is(status, 0, `${stderr}`);
      };
      await changed(writer => fillSky(writer, OBJECTS));
      follow();
      const database = join(dataDir, FILE_NAME);
      const backup = readFileSync(database);
      const ours = await changed((writer, store) => change(writer, allIn(store)));
      follow();
      // Into the same file, as `cp` does.
      writeFileSync(database, backup);
      const theirs = await changed(async (writer, store) => {
        for (let id = 1n; store.lastSequence() < ours; id++) await writer.ingest([delivery(id)], NOW_US);
      });
      assert.is(theirs, ours);
      const { rows } = await answers(dataDir);
      rmSync(join(dataDir, 'tap'), { recursive: true });
      const whole = await answers(dataDir);
      for (const table of TABLES) assert.equal(rows.get(table), whole.rows.get(table), table);
    }),
);

/** More rows than the engine prepares before their reader requests them. */
const MANY = 6000;

needs(test, obstacle)('a query reads the tables as they were, while others are put in order and take their place', () =>
  withDirectory(async dataDir => {
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    await fillSky(writer, MANY);
    // So little memory that not all rows are sorted at once.
    const options = { dataDir, memoryMib: 80, threads: 2, refreshSeconds: 0.1, mergeAfter: 0, earlierStates: 0 };
    const engine = await Engine.open(options);
    try {
      const before = await asked(engine, allOf('objects'));
      const reading = partsOf(engine, allOf('objects'));
      const read = [(await reading.next()).value as Uint8Array];
      const ids = before.slice(0, MANY / 4).map(row => BigInt(row.split(',', 1)[0]!));
      const snapshot = store.snapshot();
      const positions = new Map<bigint, StoredObject['position']>();
      for (const { diaObjectId, position } of snapshot.objects()) positions.set(diaObjectId, position);
      snapshot.close();
      const again = ids.map(id => delivery(id, { position: positions.get(id)!, broker: 'pittgoogle' }));
      await writer.ingest(again, NOW_US + 1);
      await eventually('the changes', async () =>
        engine.contents!.sequence === store.lastSequence() ? true : undefined,
      );
      await eventually('the merge', async () => (engine.contents!.changed === 0 ? true : undefined));
      const after = await asked(engine, allOf('objects'));
      assert.ok(after.filter(row => row.includes('pittgoogle')).length >= ids.length);
      for await (const part of reading) read.push(part);
      const text = Buffer.concat(read).toString();
      assert.equal(text.trimEnd().split('\n').slice(1).sort(), before);
      const files = () => generationsIn(engineDirectory(dataDir));
      await eventually('the end of the older tables', async () => (files().length === 1 ? true : undefined));
      const kept = new Map<string, string[]>();
      for (const table of TABLES) kept.set(table, await asked(engine, allOf(table)));
      await closed(engine);
      rmSync(join(dataDir, 'tap'), { recursive: true });
      const whole = await answers(dataDir);
      for (const table of TABLES) assert.equal(kept.get(table), whole.rows.get(table), table);
    } finally {
      engine.close();
      await store.close();
    }
  }),
);

test.run();
