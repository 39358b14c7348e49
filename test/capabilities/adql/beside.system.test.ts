/** The registry, the journal and the catalogs as tables: they follow the archive, and a query of any of them is a join. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Engine } from '../../../src/capabilities/adql/engine.ts';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { readRegistrySnapshot } from '../../../src/core/store/registry.ts';
import { openStore } from '../../../src/core/store/store.ts';
import type { TnsRecord } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { delivery, NOW_US, PROVENANCE, searched } from '../../core/http/support.ts';
import { failure } from '../../core/store/support.ts';
import { eventually, withDirectory } from '../../directory.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { putOneSource } from './one_source.ts';
import { answerOf, closed } from './support.ts';

const test = suite('tap/beside');
const check = needs(test, duckdbObstacle());

const DAY_US = 86_400_000_000;
const iso = (timeUs: number) => new Date(timeUs / 1000).toISOString().slice(0, -1);
/** As in an answer: the last digits of NOW_US are 456. */
const shown = (timeUs: number) => `${iso(timeUs)}456Z`;
const place = (ra: number) => ({ position: { ra, dec: 2 } });
const record = (objid: number, ra: number, createdUs?: number): TnsRecord => ({
  ...{ objid, name: `2026a${objid}`, namePrefix: 'AT', ra, dec: 2, classification: null, redshift: 0.1 },
  ...(createdUs !== undefined && { createdUs }),
});

async function load(writer: Writer, records: readonly TnsRecord[], epochUs: number): Promise<void> {
  const load = await writer.commit({ kind: 'begin_registry' });
  for (let from = 0; from < records.length; from += 500)
    await writer.commit({ kind: 'stage_registry', load, records: records.slice(from, from + 500) });
  await publishLoad(writer, load, epochUs);
}

check('the registry, the journal and the catalogs follow the archive, also after a restart of the engine', () =>
  withDirectory(async directory => {
    const dataDir = join(directory, 'data');
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    await writer.keepHistory(true);
    await writer.ingest([delivery(1n, place(10)), delivery(2n, place(20))], NOW_US - 2 * DAY_US);
    const outcomes = { catalogOutcomes: searched('gaia_dr3'), matches: [] };
    await writer.recordCrossmatches([{ diaObjectId: 1n, ...outcomes }], PROVENANCE, NOW_US - DAY_US);
    await writer.ingest([delivery(1n, { ...place(10), broker: 'antares' }), delivery(3n, place(30))], NOW_US);
    const old = Array.from({ length: 2500 }, (_, i) => record(i + 1, 100 + i / 100));
    await load(writer, [...old, record(5000, 10, NOW_US - 40 * DAY_US)], NOW_US - DAY_US);
    const options = { memoryMib: 512, threads: 1, refreshSeconds: 0.1, mergeAfter: 0, earlierStates: 1, dataDir };
    let engine = await Engine.open(options);
    const ask = async (query: string, at?: number) => (await answerOf(engine, query, at)).trim().split('\n').slice(1);
    const becomes = (query: string, rows: readonly string[]) =>
      eventually(`${query} to have ${rows}`, async () => `${await ask(query)}` === `${rows}` || undefined);
    try {
      assert.equal(
        await ask('SELECT entry, "time", stored, delivered, crossmatched, removed FROM journal ORDER BY entry'),
        [
          `1,${shown(NOW_US - 2 * DAY_US)},2,0,0,0`,
          `2,${shown(NOW_US - DAY_US)},0,0,1,0`,
          `3,${shown(NOW_US)},1,1,0,0`,
        ],
      );
      assert.equal(await ask('SELECT COUNT(*), MIN(objid), MAX(objid) FROM registry'), ['2501,1,5000']);
      // The names that came since the last night, with objects that were crossmatched before.
      const since = `SELECT o.diaObjectId, r.name_prefix, r.name FROM objects AS o JOIN registry AS r
        ON DISTANCE(o.ra, o.dec, r.ra, r.dec) < 1.0 / 3600 WHERE r.created_at > '${iso(NOW_US - DAY_US)}' ORDER BY 1`;
      assert.equal(await ask(since), []);
      await writer.commit({
        kind: 'change_registry',
        base: readRegistrySnapshot(store.databases)!,
        records: [record(5001, 20, NOW_US), record(5002, 30, NOW_US)],
        epochUs: NOW_US,
      });
      await becomes(since, ['2,AT,2026a5001', '3,AT,2026a5002']);
      assert.equal(await ask('SELECT name FROM registry WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 2, 0.01))'), [
        '2026a5000',
      ]);
      assert.equal(await ask('SELECT DISTINCT snapshot_epoch FROM registry'), [shown(NOW_US)]);
      assert.equal(await ask('SELECT COUNT(*) FROM catalogs'), ['0']);
      await putOneSource({ directory, writer, store } as never, 'mine', 'mag');
      await becomes('SELECT catalog_name, "rows", partitions FROM catalogs WHERE footprint_area > 0', ['mine,1,1']);
      await writer.remove([3n], 'a test');
      await becomes('SELECT MAX(entry), SUM(removed) FROM journal', ['4,1']);
      const yesterday = `SELECT MAX(entry) FROM journal WHERE "time" < '${iso(NOW_US - DAY_US / 2)}'`;
      assert.equal(await ask(yesterday), ['2']);
      await eventually('the tables of an earlier entry', async () => {
        const rows = await ask('SELECT MAX(entry), COUNT(*) FROM journal', 2).catch(() => undefined);
        return `${rows}` === '2,2' || undefined;
      });
      await closed(engine);
      await writer.ingest([delivery(4n, place(40))], NOW_US + 2 * DAY_US);
      engine = await Engine.open(options);
      await becomes('SELECT COUNT(*), COUNT("time"), MAX(entry) FROM journal', ['5,5,5']);
      assert.equal(await ask('SELECT COUNT(*) FROM registry AS r, catalogs AS c, journal AS j WHERE j.entry = 1'), [
        '2503',
      ]);
    } finally {
      await closed(engine);
      await store.close();
    }
  }),
);

check('a registry that cannot be read is an error for queries of it, and for no others', () =>
  withDirectory(async directory => {
    const dataDir = join(directory, 'data');
    const store = openStore(dataDir, 'write');
    const writer = new Writer(store);
    await writer.ingest([delivery(1n)], NOW_US);
    await load(writer, [record(1, 10)], NOW_US);
    const { tns_objects } = store.databases;
    for (const key of [...tns_objects.getKeys({})]) await tns_objects.put(key, new Uint8Array([0xc1]));
    const options = { memoryMib: 512, threads: 1, refreshSeconds: 0.1, mergeAfter: 0, earlierStates: 0, dataDir };
    const engine = await Engine.open(options);
    try {
      assert.is(await answerOf(engine, 'SELECT COUNT(*) AS n FROM objects'), 'n\n1\n');
      const refused = await failure(() => answerOf(engine, 'SELECT COUNT(*) AS n FROM registry'));
      assert.match(refused.message, /nearsky\.registry is not made yet, or cannot be made/);
    } finally {
      await closed(engine);
      await store.close();
    }
  }),
);

test.run();
