/** Reports on tables: the same rows as for inputs in JSON, in every format, at once and as a job. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openTable } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MATCH_FORMATS } from '../../../src/core/contract/formats.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { offset, seededRandom } from '../../oracle/skies.ts';
import { World } from '../crossmatch/world.ts';
import { addSources } from './world.ts';

const test = suite('sample/list');
const ROWS = Number(process.env.TEST_SAMPLE_ROWS ?? 2500);

/** Sources at random places, and objects near some of them. */
async function fill(world: World) {
  const random = seededRandom(2);
  const place = () => ({ ra: 359.9 + 0.2 * random(), dec: -0.1 + 0.2 * random() });
  const sources = Array.from({ length: 900 }, (_, i) => {
    const { ra, dec } = place();
    return {
      ra: ra % 360,
      dec,
      id: BigInt(i + 1),
      payload: { phot_g_mean_mag: 12 + 8 * random(), classprob_dsc_combmod_star: random() },
    };
  });
  await addSources(world, 'gaia_dr3', sources, { rowGroupSize: 100 });
  const places = Array.from({ length: ROWS }, (_, i) => {
    const { ra, dec } = i % 3 === 0 ? offset(sources[i % 900]!, 0.8 * random(), 7 * random()) : place();
    return { ra: ra % 360, dec };
  });
  const ids = await world.ingest(places.slice(0, 40));
  await world.crossmatch();
  return { ids, places };
}

let filled: { readonly app: TestApp } & Awaited<ReturnType<typeof fill>>;
let close = async () => {};

test.before(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  const world = new World(directory);
  const { ids, places } = await fill(world);
  const app = await new TestApp(join(directory, 'data')).ready();
  filled = { app, ids, places };
  close = async () => {
    await app.app.close();
    await world.store.close();
    rmSync(directory, { recursive: true, force: true });
  };
});

test.after(() => close());

const csv = (rows: readonly (readonly unknown[])[]) => rows.map(row => `${row.join()}\n`).join('');

test('a table of positions with labels, longer than a request in JSON, has the rows and the summary of its parts', async () => {
  const { app, places } = filled;
  const table = csv([['name', 'ra', 'dec'], ...places.map(({ ra, dec }, i) => [`SN ${i}`, ra, dec])]);
  const whole = await app.post('/api/sample?format=json', table, 'text/csv');
  assert.is(whole.status, 200, whole.text.slice(0, 500));
  const { rows, summary, count } = whole.body;
  assert.is(count, ROWS);
  const parts: Json[] = [];
  for (let from = 0; from < ROWS; from += 1000) {
    const inputs = places
      .slice(from, from + 1000)
      .map((place, i) => ({ kind: 'position', ...place, label: `SN ${from + i}` }));
    parts.push((await app.post('/api/sample', { inputs })).body);
  }
  assert.equal(
    rows,
    parts.flatMap(part => part.rows),
  );
  const gaia = summary.catalogs.gaia_dr3;
  for (const key of ['searched', 'coincident', 'outside_footprint'])
    assert.is(
      gaia[key],
      parts.reduce((sum, part) => sum + part.summary.catalogs.gaia_dr3[key], 0),
      key,
    );
  const expected = parts.reduce((sum, part) => sum + part.summary.catalogs.gaia_dr3.expected_by_chance, 0);
  assert.ok(Math.abs(gaia.expected_by_chance / expected - 1) < 1e-4);
  assert.ok(gaia.coincident > 0.3 * ROWS);
});

test('ids of 64 bits, names and frames in a table; what a row lacks', async () => {
  const { app, ids, places } = filled;
  const first = places[0]!;
  const table = csv([
    ['diaObjectId', 'label', 'ra', 'dec'],
    [ids[0], 'by id', '', ''],
    ['', 'by position', first.ra, first.dec],
    ['', 'SN 2099aaa', '', ''],
    ['', 'nothing', '', ''],
    ['99999999999999999999', 'too long', '', ''],
    ['', '', '', 95],
  ]);
  const { status, body, text } = await app.post('/api/sample?format=json', table, 'text/csv');
  assert.is(status, 200, text);
  assert.equal(
    body.rows.map((row: Json) => row.label),
    ['by id', 'by position', 'SN 2099aaa', 'nothing', 'too long', null],
  );
  assert.equal(
    body.rows.map((row: Json) => row.status === 'invalid_input'),
    [false, false, false, true, true, true],
  );
  assert.equal([body.rows[0].diaObjectId_str, body.rows[1].diaObjectId_str], [`${ids[0]}`, `${ids[0]}`]);
  assert.is(body.rows[2].status, 'resolver_unavailable');
  assert.equal(body.summary.duplicates, { rows: 2, groups: [[0, 1]] });
  // The galactic position of ICRS (0, 0), from astropy 5.2.
  const galactic = await app.post(
    '/api/sample?format=json',
    'glon,glat\n96.33728336969006,-60.188551946914465\n',
    'text/csv',
  );
  assert.ok(Math.abs(galactic.body.rows[0].dec) < 1e-5, galactic.text.slice(0, 300));
  for (const [search, sent, message] of [
    ['', 'a,b\n1,2\n', /position/],
    ['?id=nothing', 'ra,dec\n1,2\n', /no column nothing/],
    ['?bright_mag=99', 'ra,dec\n1,2\n', /bright_mag/],
    ['?catalogs=x', 'ra,dec\n1,2\n', /catalogs/],
    ['?format=msgpack', 'ra,dec\n1,2\n', /format/],
    ['', '', /empty/],
  ] as const) {
    const refused = await app.post(`/api/sample${search}`, sent, 'text/csv');
    assert.is(refused.status, 400);
    assert.match(refused.body.message, message);
  }
});

test('in every format, at once and as a job', async () => {
  const { app, ids, places } = filled;
  const sent = csv([
    ['diaObjectId', 'ra', 'dec'],
    [ids[1], 1, 2],
    ...places.slice(2000, 2020).map(({ ra, dec }) => ['', ra, dec]),
  ]);
  const json = (await app.post('/api/sample?format=json', sent, 'text/csv')).body;
  for (const { name } of MATCH_FORMATS) {
    const request = (prefer?: string) =>
      app.app.fetch(
        new Request(`http://nearsky.test/api/sample?format=${name}`, {
          method: 'POST',
          body: sent,
          headers: { 'Content-Type': 'text/csv', ...(prefer && { Prefer: prefer }) },
        }),
      );
    const answer = await request();
    const bytes = new Uint8Array(await answer.arrayBuffer());
    assert.is(answer.status, 200, `${name}: ${new TextDecoder().decode(bytes.subarray(0, 300))}`);
    const table = await openTable(bytes, { maxRows: 100, maxBytes: 1e6 }, true);
    assert.is(table.rows, 21, name);
    const columns = ['diaObjectId', 'gaia_dr3_source_id', 'gaia_dr3_verdict', 'gaia_dr3_source_density'].map(wanted =>
      table.columns.findIndex(column => column.name === wanted),
    );
    const cells: unknown[][] = [[], [], [], []];
    for await (const block of table.blocks(columns))
      for (const [i, column] of block.cells.entries()) cells[i]!.push(...Array.from(column));
    const found = json.rows.map((row: Json) => row.catalogs.gaia_dr3);
    assert.equal(
      cells[0]!.map(cell => (cell === null ? null : `${cell}`)),
      json.rows.map((row: Json) => row.diaObjectId_str),
      name,
    );
    const texts = (column: unknown[]) => column.map(cell => (cell === null || cell === '' ? null : `${cell}`));
    assert.equal(
      texts(cells[1]!),
      found.map((cell: Json) => cell.catalog_source_id),
      name,
    );
    assert.equal(
      texts(cells[2]!),
      found.map((cell: Json) => cell.verdict),
      name,
    );
    assert.equal(
      cells[3]!.map(Number),
      found.map((cell: Json) => cell.source_density),
      name,
    );
    if (name !== 'csv') continue;
    const made = await request('respond-async');
    assert.is(made.status, 202);
    const job = new URL(made.headers.get('Location')!).pathname;
    for (let phase = ''; phase !== 'COMPLETED'; await sleep(50)) {
      phase = (await app.get(`${job}/phase`)).text;
      assert.ok(!['ERROR', 'ABORTED'].includes(phase), phase);
    }
    const result = await app.get(`${job}/results/result`);
    assert.equal(Buffer.from(result.text), Buffer.from(bytes));
    assert.is((await app.get(job, { method: 'DELETE' })).status, 303);
  }
});

test.run();
