/** How VOTables of queries refer to the links of objects. */
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { type Running, startApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { linkedColumn } from '../vo/linked_column.ts';

const test = suite<{ running: Running }>('adql/links');
const noEngine = duckdbObstacle();

test.before(async context => {
  context.running = await startApp(world => storeObjects(world, trueObjects(50)));
});

test.after(({ running }) => running.close());

async function query({ app }: Running, adql: string): Promise<string> {
  const path = `/vo/tap/sync?${new URLSearchParams({ LANG: 'ADQL', QUERY: adql })}`;
  for (;;) {
    const { status, text } = await app.get(path, { headers: { Host: 'sky.example' } });
    if (status === 200) return text;
    assert.is(status, 503, text);
    await sleep(200);
  }
}

needs(test, noEngine)(
  'VOTables of queries refer to the links by their first column of objects',
  async ({ running }) => {
    for (const [adql, column] of [
      [
        'SELECT o.diaObjectId AS o, m.diaObjectId AS m FROM objects AS o LEFT JOIN matches AS m USING (diaObjectId)',
        'o',
      ],
      ['SELECT ra, diaObjectId FROM nearsky.crossmatches', 'diaObjectId'],
      ['SELECT status, MIN(diaObjectId) AS least FROM objects GROUP BY status', 'least'],
      ['SELECT n.id FROM (SELECT diaObjectId AS id FROM objects) AS n', 'id'],
      ['SELECT ra, diaObjectId + 1 AS n, COUNT(diaObjectId) AS c FROM objects GROUP BY ra, diaObjectId', undefined],
      ['SELECT catalog_source_id FROM matches', undefined],
    ] as const)
      assert.is(linkedColumn(await query(running, adql)), column, adql);
  },
);

test.run();
