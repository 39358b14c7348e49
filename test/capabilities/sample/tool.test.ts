/** The connector's tool that reports on a sample: the summary and the rows of the API, as much of them as fits. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newAjv } from '../../core/contract/validate.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { offset, seededRandom } from '../../oracle/skies.ts';
import { Connection, UNLIMITED } from '../connector/support.ts';
import { inWorld, type World } from '../crossmatch/world.ts';
import { addSources } from './world.ts';

const test = suite('sample/tool');
const TOOL = 'report_on_rubin_sample';

/** Objects of which every second one lies on a star. */
async function withObjects(
  use: (archive: Connection, app: TestApp, ids: readonly bigint[], world: World) => Promise<void>,
): Promise<void> {
  await inWorld(async world => {
    const random = seededRandom(63);
    const places = Array.from({ length: 300 }, () => ({ ra: 40 + 0.2 * random(), dec: -0.1 + 0.2 * random() }));
    await addSources(
      world,
      'gaia_dr3',
      places.flatMap((place, i) =>
        i % 2 === 0
          ? [{ ...offset(place, 0.3, i), id: BigInt(i + 1), payload: { classprob_dsc_combmod_star: 0.99 } }]
          : [],
      ),
    );
    const ids = await world.ingest(places);
    await world.crossmatch();
    const settings = { ...UNLIMITED, MCP_API_BASE_URL: 'https://sky.example' };
    const app = await new TestApp(join(world.directory, 'data'), settings).ready();
    try {
      await use(new Connection(app, '/mcp/archive'), app, ids, world);
    } finally {
      await app.app.close();
    }
  });
}

test('the summary first, then the rows with a source; the whole report by a command [Connector]', () =>
  withObjects(async (archive, app, ids) => {
    const inputs = [`${ids[1]}`, ` ${ids[0]} `, 'SN 2099aaa', { ra_deg: 40.1, dec_deg: 89, label: 'far\u200b off' }, 5];
    const { body } = await archive.request('tools/call', { name: TOOL, arguments: { inputs } });
    const { isError, content } = body.result;
    const answer: Json = body.result.structuredContent;
    assert.is(isError, false, content[0].text);
    assert.equal(JSON.parse(content[0].text), answer);
    const listed = (await archive.request('tools/list')).body.result.tools.find((each: Json) => each.name === TOOL);
    const validate = newAjv().compile(listed.outputSchema);
    assert.equal([validate(answer) as boolean, validate.errors], [true, null]);
    assert.ok(newAjv().compile(listed.inputSchema)({ inputs: inputs.slice(0, 4) }));
    assert.equal(
      answer.rows.map(({ index, label, status }: Json) => [index, label, status]),
      [
        [1, `${ids[0]}`, 'coincident_sources'],
        [3, 'far\ufffd off', 'no_rubin_object'],
        [4, null, 'invalid_input'],
        [0, `${ids[1]}`, 'no_coincident_source'],
        [2, '2099aaa', 'resolver_unavailable'],
      ],
    );
    const [first, far, , none] = answer.rows;
    assert.equal([first.sources[0].verdict, first.sources[0].catalog], ['star', 'gaia_dr3']);
    assert.equal([far.outside_footprint, none.no_coincident_source], [['gaia_dr3'], ['gaia_dr3']]);
    // The command has the whole report, of which the tool shows a part.
    const { curl } = answer.full_results;
    const words = execFileSync('sh', ['-c', curl.replace('curl', `printf '%s\\n'`)])
      .toString()
      .trimEnd()
      .split('\n');
    assert.is(words[1], 'https://sky.example/api/sample');
    const report = (await app.post('/api/sample', words.at(-1)!)).body;
    const { galactic_latitude: _, duplicates, ...summary } = report.summary;
    assert.equal(answer.summary, { ...summary, rows_of_the_same_object: duplicates.rows });
    assert.equal([answer.methods, answer.rows_total], [report.methods, 5]);
    const [cell] = answer.rows[0].sources;
    assert.is(report.rows[1].catalogs.gaia_dr3.verdict_reason, cell.verdict_reason);
  }));

test('a thousand inputs are summarised, and as many rows are shown as fit [Connector]', () =>
  withObjects(async (archive, app, ids) => {
    const inputs = Array.from({ length: 1000 }, (_, i) => `${ids[i % ids.length]}`);
    const { isError, answer, text } = await archive.call(TOOL, { inputs, catalogs: ['gaia_dr3'] });
    assert.is(isError, false, text);
    assert.ok(text.length <= 30_000 && text.length > 25_000, `${text.length}`);
    assert.equal([answer.rows_total, answer.truncated, answer.summary.inputs], [1000, true, 1000]);
    assert.is(answer.rows.length, answer.rows_returned);
    const whole = inputs.map(diaObjectId => ({ kind: 'id', diaObjectId }));
    const { summary } = (await app.post('/api/sample', { inputs: whole, catalogs: ['gaia_dr3'] })).body;
    assert.equal(answer.summary.catalogs, summary.catalogs);
    assert.ok(summary.catalogs.gaia_dr3.verdicts.star >= 500);
    assert.ok(answer.rows.every((row: Json) => row.sources.length === 1));
    assert.match(answer.full_results.curl, /@inputs\.json$/);
    for (const [args, message] of [
      [{}, /inputs must be/],
      [{ inputs: [] }, /inputs must be/],
      [{ inputs: [...inputs, '1'] }, /inputs must be.*1001/],
      [{ inputs, catalogs: ['usno'] }, /catalogs must be/],
      [{ inputs, radius: 1 }, /has only inputs, catalogs/],
    ] as const) {
      const refused = await archive.call(TOOL, args);
      assert.equal([refused.isError, refused.answer.error.code], [true, 'invalid_arguments']);
      assert.match(refused.answer.error.message, message);
    }
  }));

test.run();
