/** The tools that list objects in an area and the latest ones, with structured content (docs/contract.md, Connector). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nowUs } from '../../../src/core/base/times.ts';
import { ARCHIVE_MCP_TOOLS } from '../../../src/core/contract/mcp_tools.ts';
import { newAjv } from '../../core/contract/validate.ts';
import { crossmatched, delivery, type Json, match, NOW_US, searched, startApp } from '../../core/http/support.ts';
import { Connection, changedMeanwhile, UNLIMITED, withConnector } from '../connector/support.ts';
import { CENTRE, CROWD_SIZE, fill, RICH } from '../connector/world.ts';

const test = suite('mcp/listings');
const [AREA, RECENT] = ARCHIVE_MCP_TOOLS.map(({ name }) => name) as [string, string];
const WIDE = 9_007_199_254_740_993n;

const { app, close } = await startApp(
  async world => {
    await fill(world);
    // These objects came in within the last hour; the others at the tests' own time, which is long ago.
    for (const [i, id] of [70n, 71n].entries()) {
      await world.writer.ingest([delivery(id, { position: { ra: 200, dec: 5 + i } })], nowUs() - 60e6 * (i + 1));
      const payload = { phot_g_mean_mag: WIDE, é: 'ü' };
      await crossmatched(world, id, searched('gaia_dr3'), i ? [] : [match('gaia_dr3', '5', { payload })]);
    }
  },
  { ...UNLIMITED, MCP_API_BASE_URL: 'https://sky.example/' },
);
const connection = new Connection(app, '/mcp/archive');
test.after(close);

async function call(name: string, args: object): Promise<Json> {
  const { body } = await connection.request('tools/call', { name, arguments: args });
  const { content, structuredContent, isError } = body.result;
  const answer = JSON.parse(content[0].text);
  if (isError) {
    assert.is(structuredContent, undefined);
    return answer.error;
  }
  assert.equal(structuredContent, answer);
  const { tools } = (await connection.request('tools/list')).body.result;
  const validate = newAjv().compile(tools.find((tool: Json) => tool.name === name).outputSchema);
  assert.ok(validate(structuredContent), JSON.stringify(validate.errors));
  return answer;
}

test('an area: how many objects it has, and the first of them, with a command for all [Connector]', async () => {
  const answer = await call(AREA, { area: `CIRCLE ${CENTRE.ra} ${CENTRE.dec} 1` });
  assert.equal([answer.objects_total, answer.objects_returned, answer.truncated], [CROWD_SIZE, 20, true]);
  assert.equal(answer.truncation.reasons, ['chat_object_limit']);
  const [, path, area] = /'https:\/\/sky.example(.*?)' --data '(.*)'$/.exec(answer.truncation.full_results.curl)!;
  const { status, body } = await app.post(path!, area!, null);
  assert.equal([status, body.count], [200, CROWD_SIZE]);
  const rich = await call(AREA, { area: '29/0-3458764513820540927' });
  assert.ok(rich.objects_total > CROWD_SIZE);
  const one = await call(AREA, { area: 'POLYGON 149.9 1.9 150.1 1.9 150.1 2.1 149.9 2.1' });
  assert.equal(
    one.objects.map((object: Json) => [object.diaObjectId, object.coincident_sources.length]),
    [[`${RICH}`, 3]],
  );
  assert.equal(Object.keys(one.status_meanings), ['coincident_sources']);
  assert.equal((await call(AREA, { area: 'CIRCLE 0 90 0.01' })).objects, []);
});

test('an area: with a history, the number and the objects are of one state [Connector]', () =>
  withConnector(
    async ({ writer }) => {
      await writer.keepHistory(true);
      await writer.ingest(
        Array.from({ length: 25 }, (_, i) => delivery(BigInt(i))),
        NOW_US,
      );
    },
    async ({ app }, { writer }) => {
      const archive = new Connection(app, '/mcp/archive');
      const { answer } = await changedMeanwhile(
        () => writer.remove([3n, 4n, 5n, 6n, 7n, 8n], 'wrong'),
        () => archive.call(AREA, { area: 'CIRCLE 150 2 1' }),
      );
      assert.equal([answer.objects_total, answer.objects_returned, answer.truncated], [25, 20, true]);
    },
  ));

test('an area: the number of objects is that of the list, if all are listed', () =>
  withConnector(
    async ({ writer }) => void (await writer.ingest([delivery(1n), delivery(2n)], NOW_US)),
    async ({ app }, { writer }) => {
      const archive = new Connection(app, '/mcp/archive');
      const { answer } = await changedMeanwhile(
        () => writer.remove([1n], 'wrong'),
        () => archive.call(AREA, { area: 'CIRCLE 150 2 1' }),
      );
      assert.equal([answer.objects_total, answer.objects_returned, answer.truncated], [1, 1, false]);
    },
  ));

test('the latest objects with sources, newest first, of one catalog or any [Connector]', async () => {
  const answer = await call(RECENT, { hours: 1 });
  assert.equal([answer.objects.map((object: Json) => object.diaObjectId), answer.truncated], [['70'], false]);
  assert.equal((await call(RECENT, { hours: 1, catalog: 'gaia_dr3' })).objects, answer.objects);
  assert.equal((await call(RECENT, { catalog: 'des_y6_gold' })).objects, []);
  assert.equal((await call(RECENT, { hours: null, catalog: null, status: null })).objects, answer.objects);
  const { text } = await connection.request('tools/call', { name: RECENT, arguments: {} });
  assert.is(text.split(`${WIDE}`).length, 3, 'all digits, as text and structured');
});

test('the latest objects of another status, or of any', async () => {
  const idsOf = async (args: object) =>
    (await call(RECENT, { hours: 1, ...args })).objects.map((object: Json) => object.diaObjectId);
  assert.equal(await idsOf({ status: 'any' }), ['70', '71']);
  assert.equal(await idsOf({ status: 'no_coincident_source' }), ['71']);
  assert.equal(await idsOf({ status: 'crossmatch_pending' }), []);
});

test('arguments that are none are errors of the call [Connector]', async () => {
  for (const [name, args, says] of [
    [AREA, {}, /area must be a text.*nothing/],
    [AREA, { area: 5 }, /area must be a text/],
    [AREA, { area: 'x'.repeat(2001) }, /2001 characters/],
    [AREA, { area: 'ELLIPSE 1 2 3 4' }, /must be CIRCLE, POLYGON/],
    [AREA, { area: '' }, /empty/],
    [RECENT, { hours: 0 }, /hours must be/],
    [RECENT, { hours: 169 }, /at most 168/],
    [RECENT, { hours: '1' }, /hours must be/],
    [RECENT, { status: 'not_in_service' }, /status must be one of any, /],
    [RECENT, { catalog: 'usno' }, /catalog must be one of gaia_dr3/],
    // Without an error, the answer would list objects of all catalogs.
    [RECENT, { hours: 1, catalogs: 'usno' }, /^Cannot take catalogs because this tool has only hours, status, catalog/],
    [AREA, { area: 'CIRCLE 1 2 3', ['x'.repeat(65)]: 1 }, /^Cannot take an argument whose name has 65 characters/],
  ] as const) {
    const { code, message } = await call(name, args);
    assert.is(code, 'invalid_arguments', message);
    assert.match(message, says);
  }
});

test.run();
