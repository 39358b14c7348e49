/** The tool that runs queries in ADQL, with structured content (docs/contract.md, Connector). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newAjv } from '../../core/contract/validate.ts';
import { type Json, startApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { Connection, UNLIMITED } from '../connector/support.ts';
import { fill, RICH } from '../connector/world.ts';

const TOOL = 'query_rubin_archive';
const test = suite('mcp/query');
const check = needs(test, duckdbObstacle());

const { app, close } = await startApp(fill, { ...UNLIMITED, MCP_API_BASE_URL: 'https://sky.example/' });
const connection = new Connection(app, '/mcp/archive');
test.after(close);

const describe = async (to = connection): Promise<Json> =>
  (await to.request('tools/list')).body.result.tools.find(({ name }: Json) => name === TOOL);

async function call(args: object): Promise<Json> {
  const { body } = await connection.request('tools/call', { name: TOOL, arguments: args });
  const { content, structuredContent, isError } = body.result;
  const answer = JSON.parse(content[0].text);
  if (isError) return answer.error;
  assert.equal(structuredContent, answer);
  const validate = newAjv().compile((await describe()).outputSchema);
  assert.ok(validate(structuredContent), JSON.stringify(validate.errors));
  return answer;
}

check(
  'rows by column, ids as texts with all their digits; the example of the description runs [Connector]',
  async () => {
    const { description } = await describe();
    assert.match(description, /nearsky\.objects \(.*\): .*diaObjectId, .*ra \[deg\]/);
    const example = /An example: (.*?) ORDER BY separation_arcsec\./.exec(description)![1]!;
    assert.equal((await call({ query: example })).truncated, false);
    const answer = await call({
      query: `SELECT diaObjectId, ra, status FROM nearsky.objects WHERE diaObjectId = ${RICH}`,
    });
    assert.equal([answer.rows_returned, answer.truncated, answer.rows[0].diaObjectId], [1, false, `${RICH}`]);
    assert.type(answer.rows[0].ra, 'number');
    const query = "SELECT column_name FROM TAP_SCHEMA.columns WHERE table_name = 'nearsky.gaia_dr3_matches'";
    const names = (await call({ query })).rows.map(({ column_name }: Json) => column_name);
    assert.ok(names.includes('phot_g_mean_mag'));
  },
);

check('more rows than fit are cut, with a command for all of them [Connector]', async () => {
  const query = "SELECT a.diaObjectId, 'it''s' AS t FROM nearsky.objects AS a, nearsky.objects AS b";
  const answer = await call({ query });
  assert.equal([answer.rows_returned, answer.truncated, answer.rows.length], [200, true, 200]);
  assert.is(
    answer.full_results,
    `curl -sS 'https://sky.example/vo/tap/sync' --data-urlencode 'LANG=ADQL' --data-urlencode 'FORMAT=csv' --data-urlencode 'QUERY=${query.replaceAll("'", String.raw`'\''`)}'`,
  );
  const { text } = await connection.request('tools/call', {
    name: TOOL,
    arguments: { query: `SELECT '${'x'.repeat(2000)}' AS wide FROM nearsky.objects` },
  });
  const { content } = JSON.parse(text).result;
  assert.ok(content[0].text.length <= 30_000, `${content[0].text.length}`);
  assert.is(JSON.parse(content[0].text).truncated, true);
});

check('what is no query is an error of the call, with its place', async () => {
  for (const [args, says] of [
    [{}, /query must be a query in ADQL/],
    [{ query: ' ' }, /query must be/],
    [{ query: 'x'.repeat(5001) }, /5001 characters/],
    [{ query: 'SELECT nothing FROM nearsky.objects' }, /^Line 1, column 8: /],
    [{ query: 'SELECT 1 AS n FROM nearsky.objects', max_rows: 1 }, /^Cannot take max_rows because .* only query/],
    [{ query: 'DROP TABLE nearsky.objects' }, /^Line 1, column 1: /],
  ] as const) {
    const { code, message } = await call(args);
    assert.is(code, 'invalid_arguments', message);
    assert.match(message, says);
  }
});

test('a service that cannot answer queries does not list the tool [Connector]', async () => {
  const without = await startApp(fill, { ...UNLIMITED, TAP_MAX_QUERIES: '0' });
  try {
    assert.is(await describe(new Connection(without.app, '/mcp/archive')), undefined);
  } finally {
    await without.close();
  }
});

test.run();
