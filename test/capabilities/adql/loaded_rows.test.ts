/** The rows of changed objects, as the engine's statements read them. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { changedRows } from '../../../src/capabilities/adql/changed_rows.ts';
import { fileRows, loadRows } from '../../../src/capabilities/adql/loaded_rows.ts';
import { CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { delivery, match, NOW_US, PROVENANCE, searched, withDirectory } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite('tap: loaded rows');
const [CATALOG] = CATALOGS.map(({ name }) => name) as [string];

needs(test, duckdbObstacle())('rows in memory are those in files', () =>
  withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const writer = new Writer(store);
    const ids = [1n, 2n, 3n, 4n, 5n];
    await writer.ingest(
      ids.map(id => delivery(id, { position: id === 3n ? null : { ra: Number(id), dec: 2 } })),
      NOW_US,
    );
    const results = ids.slice(0, 4).map(diaObjectId => ({
      diaObjectId,
      catalogOutcomes: searched(CATALOG),
      matches: diaObjectId === 1n ? [] : [match(CATALOG, `${diaObjectId}7`)],
    }));
    await writer.recordCrossmatches(results, PROVENANCE, NOW_US, false);
    const { DuckDBInstance } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const snapshot = store.snapshot();
    // Its name must not be taken for a value of the column.
    const files = join(directory, 'ra=7');
    mkdirSync(files);
    try {
      const changed = new Set(ids);
      const changes = { changed, added: changed, removed: new Set<bigint>() };
      for await (const batch of changedRows(store, snapshot, changes, CATALOGS)) {
        assert.is(batch.areReplaced, false);
        assert.is(batch.areCrossmatched, true);
        for (const [source, count] of [
          ['objects', 5],
          ['matches', 3],
        ] as const) {
          // Times in files have a time zone.
          const read = async () => {
            const result = await connection.runAndReadAll(`FROM temp.main.exported_${source}`);
            return JSON.stringify(result.getRowsJson()).replaceAll('+00"', '"');
          };
          await loadRows(connection, source, batch[source]);
          const inMemory = await read();
          assert.is(JSON.parse(inMemory).length, count);
          await fileRows(connection, source, batch[source], join(files, `${source}.parquet`));
          assert.is(await read(), inMemory);
        }
      }
    } finally {
      snapshot.close();
      connection.closeSync();
      instance.closeSync();
      await store.close();
    }
  }),
);

test.run();
