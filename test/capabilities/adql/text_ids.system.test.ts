/** Queries in ADQL over a catalog whose ids are texts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

import { eventually, type TestApp } from '../../core/http/support.ts';
import { cellsOf, IDS, NAMED, withNames } from '../../core/http/text_ids.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite('tap/text ids');
const obstacle = duckdbObstacle();

/** The answer; while the engine cannot answer it is asked again. */
function ask(app: TestApp, query: string, format = 'csv'): Promise<Response> {
  const body = new URLSearchParams({ LANG: 'ADQL', QUERY: query, RESPONSEFORMAT: format }).toString();
  const sent = { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body };
  return eventually(query, async () => {
    const response = await app.app.fetch(new Request('http://nearsky.test/vo/tap/sync', sent));
    if (response.status === 503) return undefined;
    assert.is(response.status, 200, response.status === 200 ? '' : `${query}: ${await response.text()}`);
    return response;
  });
}

const linesOf = async (response: Response) => (await response.text()).trim().split(/\r?\n/).slice(1);

needs(test, obstacle)('the table of the catalog, the table of all matches, conditions and joins', () =>
  withNames(
    async ({ app, ids }) => {
      for (const format of ['csv', 'votable', 'votable/td', 'parquet']) {
        const own = await ask(
          app,
          'SELECT catalog_source_id FROM nearsky.quasars_matches ORDER BY diaObjectId',
          format,
        );
        assert.equal(await cellsOf(own, 'catalog_source_id'), IDS, format);
      }
      const all = 'SELECT catalog_source_id, catalog_source_name FROM matches ORDER BY diaObjectId';
      assert.equal(await cellsOf(await ask(app, all, 'parquet'), 'catalog_source_name'), IDS);
      assert.equal(
        await cellsOf(await ask(app, all, 'parquet'), 'catalog_source_id'),
        IDS.map(() => null),
      );
      for (const { at, id } of NAMED) {
        const literal = `'${id.replaceAll("'", "''")}'`;
        const found = await ask(
          app,
          `SELECT o.diaObjectId FROM quasars_matches AS n JOIN objects AS o USING (diaObjectId) WHERE n.catalog_source_id = ${literal}`,
        );
        assert.ok((await linesOf(found)).includes(`${ids[at]}`), id);
      }
      const types = await ask(
        app,
        "SELECT datatype FROM TAP_SCHEMA.columns WHERE column_name = 'catalog_source_id' AND table_name IN ('nearsky.quasars_matches', 'nearsky.gaia_dr3_matches') ORDER BY table_name",
      );
      assert.equal(await linesOf(types), ['long', 'unicodeChar']);
    },
    { TAP_QUERY_SECONDS: '30', TAP_MEMORY_MIB: '128' },
  ),
);

test.run();
