/** Tables that are brought up to date with what has changed, beside tables that are made anew. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CATALOGS } from '../../src/contract/catalogs.ts';
import { tapFormat } from '../../src/contract/tap.ts';
import { openStore } from '../../src/store/store.ts';
import type { StoredObject } from '../../src/store/types.ts';
import { Writer } from '../../src/store/writer.ts';
import { Engine } from '../../src/tap/engine.ts';
import { isInstalled } from '../../src/tap/tap.ts';
import { fillSky } from '../hats_export/support.ts';
import { delivery, match, NOW_US, PROVENANCE, searched, withDirectory } from '../http/support.ts';
import { duckdbObstacle, needs } from '../needs.ts';

const test = suite('tap: changes');
const obstacle = duckdbObstacle(isInstalled());

const OBJECTS = 300;
/** Four that are new, and three of each kind. */
const CHANGED = 13;
const TABLES = ['objects', 'matches', 'crossmatches', 'tns', 'gaia_dr3_matches'];

/** The rows of every table, from an engine of their own, and the objects whose rows were changed since all were made. */
async function answers(dataDir: string) {
  const limits = { memoryMib: 512, threads: 1, refreshSeconds: 3600 };
  const engine = await Engine.open({ dataDir, ...limits });
  const rows = new Map<string, string[]>();
  let number = 0;
  const asked = async (query: string) => {
    const begun = await engine.begin(++number, {
      query,
      maxRecords: 100_000,
      format: tapFormat('csv')!,
      seconds: 60,
    });
    if (begun.outcome !== 'begun') throw new Error(JSON.stringify(begun));
    const parts = [begun.part];
    for (let part = begun.isWhole ? null : await engine.part(number); part; part = await engine.part(number))
      parts.push(part);
    return Buffer.concat(parts).toString().trimEnd().split('\n').slice(1).sort();
  };
  try {
    for (const table of TABLES) {
      const all = await asked(`SELECT diaObjectId AS id, t.* FROM ${table} AS t`);
      rows.set(table, all);
      for (const row of [...all.slice(0, 3), ...all.slice(-3)]) {
        const id = row.split(',', 1)[0]!;
        const alike = all.filter(each => each.startsWith(`${id},`));
        const query = `SELECT diaObjectId AS id, t.* FROM ${table} AS t WHERE diaObjectId = ${id}`;
        assert.equal(await asked(query), alike, query);
      }
    }
  } finally {
    engine.close();
  }
  return { rows, ...(await stored(dataDir)) };
}

async function stored(dataDir: string): Promise<{ changed: number; indexed: string[] }> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create(join(dataDir, 'tap', `${process.pid}`, 'archive.duckdb'));
  const connection = await instance.connect();
  try {
    const rows = async (sql: string) => (await connection.runAndReadAll(sql)).getRows();
    const indexed = await rows("SELECT table_name FROM duckdb_indexes() WHERE expressions LIKE '%diaObjectId%'");
    return {
      changed: Number((await rows('SELECT changed FROM stored'))[0]![0]),
      indexed: indexed.map(([name]) => `${name}`),
    };
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** What can happen to objects, three of each; none is removed, and no position changes. */
async function change(writer: Writer, objects: readonly StoredObject[]): Promise<void> {
  const crossmatched = objects.filter(({ state }) => state === 'crossmatched').slice(0, 3);
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
}

needs(test, obstacle)('what has changed since an export is found as in an export of everything', () =>
  withDirectory(async dataDir => {
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    await fillSky(writer, OBJECTS);
    const before = await answers(dataDir);
    assert.is(before.changed, 0);
    const snapshot = store.snapshot();
    const objects: StoredObject[] = [];
    for (const { object } of snapshot.objects()) objects.push(store.getObject(object.diaObjectId)!);
    snapshot.close();
    await change(writer, objects);
    const changed = await answers(dataDir);
    assert.is(changed.changed, CHANGED);
    for (const table of TABLES) assert.ok(changed.indexed.includes(table), table);
    rmSync(join(dataDir, 'tap'), { recursive: true });
    const whole = await answers(dataDir);
    assert.is(whole.changed, 0);
    for (const table of TABLES) assert.equal(changed.rows.get(table), whole.rows.get(table), table);
    assert.is(changed.rows.get('objects')!.length, OBJECTS + 4);
    for (const table of ['objects', 'matches', 'crossmatches', 'gaia_dr3_matches'])
      assert.ok(changed.rows.get(table)!.filter(row => !before.rows.get(table)!.includes(row)).length >= 3, table);
    await store.close();
  }),
);

test.run();
