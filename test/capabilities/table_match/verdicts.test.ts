/** What a catalog says of the sources that a table's rows match. */
import { join } from 'node:path';
import { openTable } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MATCH_FORMATS } from '../../../src/core/contract/formats.ts';
import { TestApp } from '../../core/http/support.ts';
import { addJudged } from '../crossmatch/judged.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('table_match/verdicts');

test('each matched row has the verdict of the catalog, in every format [Crossmatch of a table]', () =>
  inWorld(async world => {
    const sources = await addJudged(world);
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      const places = [...sources, { ra: 31, dec: -20, verdict: null }];
      const table = `ra,dec\n${places.map(({ ra, dec }) => `${ra},${dec}\n`).join('')}`;
      for (const find of ['nearest', 'all'])
        for (const { name } of MATCH_FORMATS) {
          const path = `/api/crossmatch?against=des_y6_gold&radius_arcsec=1&find=${find}&format=${name}`;
          const request = new Request(`http://localhost${path}`, { method: 'POST', body: table });
          const answer = await app.app.fetch(request);
          assert.is(answer.status, 200, name);
          const read = await openTable(
            new Uint8Array(await answer.arrayBuffer()),
            { maxRows: 99, maxBytes: 1e7 },
            true,
          );
          const verdict = read.columns.findIndex(column => column.name === 'des_y6_gold_verdict');
          assert.is(verdict, read.columns.length - 1);
          const cells: unknown[] = [];
          for await (const block of read.blocks([verdict])) cells.push(...Array.from(block.cells[0]!));
          assert.equal(
            cells.map(cell => cell || null),
            places.map(place => place.verdict),
            name,
          );
        }
      const own = await app.post(
        '/api/crossmatch?against=des_y6_gold&radius_arcsec=1',
        `ra,dec,des_y6_gold_verdict\n${sources[0]!.ra},-20,mine\n`,
        'text/csv',
      );
      const [names, cells] = own.text.split('\n').map(line => line.split(','));
      assert.equal([names![2], cells![2]], ['des_y6_gold_verdict', 'mine']);
      assert.match(names!.at(-1)!, /^des_y6_gold_verdict_?\d$/);
      assert.is(cells!.at(-1), 'star');
      const objects = await app.post('/api/crossmatch', table, 'text/csv');
      assert.not.match(objects.text.split('\n')[0]!, 'verdict');
    } finally {
      await app.app.close();
    }
  }));

test.run();
