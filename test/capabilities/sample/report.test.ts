/** POST /api/sample, against scans of all rows, and the expected coincidences against displaced positions. */
import { join } from 'node:path';
import { openTable } from '@nearsky/astrotables';
import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TABLE_FORMATS } from '../../../src/core/contract/formats.ts';
import { type Json, TestApp } from '../../core/http/support.ts';
import { offset, seededRandom } from '../../oracle/skies.ts';
import { inWorld, type World } from '../crossmatch/world.ts';
import { addSources, type Source } from './world.ts';

const test = suite('sample/report');

async function withApp(world: World, use: (app: TestApp) => Promise<void>): Promise<void> {
  // A busy machine must not fail the test.
  const app = await new TestApp(join(world.directory, 'data')).ready();
  try {
    await use(app);
  } finally {
    await app.app.close();
  }
}

async function report(app: TestApp, inputs: readonly unknown[], more: object = {}): Promise<Json> {
  const { status, body, text } = await app.post('/api/sample', { inputs, ...more });
  assert.is(status, 200, text);
  return body;
}

const at = ({ ra, dec }: { readonly ra: number; readonly dec: number }, more: object = {}) => ({
  kind: 'position',
  ra,
  dec,
  ...more,
});

/** Sources at random places of a square of `width` degrees, `perArcmin2` of them per square arcmin. */
function field(
  width: number,
  west: number,
  south: number,
  perArcmin2: number,
  random: () => number,
  first: bigint,
): Source[] {
  const count = Math.round((width * 60) ** 2 * perArcmin2);
  return Array.from({ length: count }, (_, i) => ({
    // Near the equator, equal steps of right ascension are nearly equal areas.
    ra: west + width * random(),
    dec: south + width * random(),
    id: first + BigInt(i),
    payload: { phot_g_mean_mag: 15.5 + 5 * random(), classprob_dsc_combmod_star: random() < 0.5 ? 0.9 : 0.1 },
  }));
}

const separation = (
  a: { readonly ra: number; readonly dec: number },
  b: { readonly ra: number; readonly dec: number },
) => separationArcsec(a.ra, a.dec, b.ra, b.dec);

test('nearest sources, verdicts, bright stars and places against a scan [Sample]', () =>
  inWorld(async world => {
    const random = seededRandom(63);
    const faint = field(0.25, 40, -0.1, 8, random, 5_000_000_000_000_000_000n);
    const bright = Array.from(
      { length: 40 },
      (_, i): Source => ({
        ra: 40 + 0.25 * random(),
        dec: -0.1 + 0.25 * random(),
        id: 6_000_000_000_000_000_000n + BigInt(i),
        payload: { phot_g_mean_mag: 9 + 5.9 * random(), ...(i % 4 === 0 && { classprob_dsc_combmod_galaxy: 0.9 }) },
      }),
    );
    const gaia = [...faint, ...bright];
    await addSources(world, 'gaia_dr3', gaia, { rowGroupSize: 300 });
    const places = Array.from({ length: 300 }, (_, i) => {
      const near = gaia[Math.floor(random() * gaia.length)]!;
      return i % 2 === 0
        ? offset(near, 1.4 * random(), 7 * random())
        : { ra: 40 + 0.25 * random(), dec: -0.1 + 0.25 * random() };
    });
    const objects = places
      .slice(0, 100)
      .flatMap((place, i) => (i % 10 === 0 ? [place, offset(place, 1.2, 3)] : [place]));
    const ids = await world.ingest(objects);
    await world.crossmatch();
    await withApp(world, async app => {
      const answer = await report(app, [
        ...ids.map(diaObjectId => ({ kind: 'id', diaObjectId })),
        ...places.map(place => at(place)),
      ]);
      assert.is(answer.count, ids.length + places.length);
      const positions = [...objects, ...places];
      let [stars, brights, sames, misses] = [0, 0, 0, 0];
      answer.rows.forEach((row: Json, i: number) => {
        const cell = row.catalogs.gaia_dr3;
        // A position's row is that of the nearest object, if there is one within the radius of matches.
        const object = i < ids.length ? i : nearestOf(objects, positions[i]!);
        const place = object === undefined ? positions[i]! : objects[object]!;
        assert.is(row.diaObjectId_str, object === undefined ? null : `${ids[object]}`);
        const near = gaia
          .map(source => ({ source, arcsec: separation(place, source) }))
          .sort((a, b) => a.arcsec - b.arcsec);
        const [first] = near;
        const isMatch = first!.arcsec <= 1;
        assert.is(cell.outcome, isMatch ? 'coincident_source' : 'no_coincident_source', `${i}`);
        assert.is(cell.catalog_source_id, isMatch ? `${first!.source.id}` : null);
        if (isMatch) {
          const { classprob_dsc_combmod_star: star = null, classprob_dsc_combmod_galaxy: galaxy } =
            first!.source.payload;
          const expected = galaxy ? 'galaxy' : (star as number) >= 0.5 ? 'star' : 'unclear';
          assert.is(cell.verdict, expected);
          if (expected === 'star') stars++;
          assert.ok(Math.abs(cell.separation_arcsec - first!.arcsec) < 1e-6);
          const chance = 1 - Math.exp((-Math.PI * cell.source_density * first!.arcsec ** 2) / 3600);
          assert.ok(Math.abs(cell.chance_probability - chance) <= 0.006 * chance);
        } else {
          misses++;
          // 95% of magnitudes that are uniform from 15.5 to 20.5, in a hundred rows.
          assert.ok(Math.abs(cell.depth_mag - 20.25) < 0.45, `${cell.depth_mag}`);
          assert.ok(cell.depth_rows >= 40 && cell.depth_rows <= 100);
        }
        assert.ok(cell.source_density > 2 && cell.source_density < 32, `${cell.source_density}`);
        const wanted = near
          .filter(
            ({ source: { payload }, arcsec }) =>
              arcsec <= 20 && (payload.phot_g_mean_mag as number) < 15 && !payload.classprob_dsc_combmod_galaxy,
          )
          .map(({ source }) => `${source.id}`);
        assert.equal(
          row.bright_stars.map((star: Json) => star.catalog_source_id),
          wanted,
        );
        if (wanted.length > 0) brights++;
        assert.is(
          row.flags.some((flag: string) => flag.startsWith('bright star')),
          wanted.length > 0,
        );
        const same = objects
          .flatMap((other, k) => (k !== object && separation(place, other) <= 1.5 ? [`${ids[k]}`] : []))
          .sort();
        assert.equal([...row.same_place].sort(), same);
        if (same.length > 0) sames++;
      });
      assert.ok(stars > 20 && brights > 5 && sames >= 20 && misses > 100, `${[stars, brights, sames, misses]}`);
      const { summary } = answer;
      const cells = answer.rows.map((row: Json) => row.catalogs.gaia_dr3);
      const { gaia_dr3: counted } = summary.catalogs;
      assert.is(counted.searched, cells.length);
      assert.is(counted.coincident, cells.filter((cell: Json) => cell.outcome === 'coincident_source').length);
      for (const verdict of ['star', 'galaxy', 'quasar', 'unclear'])
        assert.is(counted.verdicts[verdict], cells.filter((cell: Json) => cell.verdict === verdict).length, verdict);
      const expected = cells.reduce(
        (sum: number, { source_density: rho }: Json) => sum + 1 - Math.exp((-Math.PI * rho) / 3600),
        0,
      );
      assert.ok(Math.abs(counted.expected_by_chance - expected) < 1e-4);
      const bins = summary.galactic_latitude;
      assert.is(
        bins.reduce((sum: number, { rows }: Json) => sum + rows, 0),
        cells.length,
      );
      for (const { from, to, contaminated } of bins) {
        const inside = answer.rows.filter(({ galactic_latitude: b }: Json) => Math.abs(b) >= from && Math.abs(b) < to);
        const on = inside.filter(({ catalogs }: Json) =>
          Object.values<Json>(catalogs).some(({ verdict }) => ['star', 'quasar'].includes(verdict)),
        );
        assert.is(contaminated.with_star_or_quasar, on.length);
        assert.is(
          contaminated.fraction,
          inside.length === 0 ? null : Number((on.length / inside.length).toPrecision(6)),
        );
      }
      assert.is(summary.contaminated.with_star, counted.verdicts.star);
      assert.is(summary.with_bright_star, brights);
      assert.ok(summary.duplicates.groups.length >= 90);
      assert.match(answer.methods, /Gaia DR3: \d+ positions searched/);
      assert.match(answer.bibtex, /10\.1051\/0004-6361\/202243940/);
    });
  }));

function nearestOf(
  objects: readonly { readonly ra: number; readonly dec: number }[],
  place: { readonly ra: number; readonly dec: number },
) {
  const near = objects
    .map((object, i) => ({ i, arcsec: separation(object, place) }))
    .filter(({ arcsec }) => arcsec <= 1);
  return near.sort((a, b) => a.arcsec - b.arcsec)[0]?.i;
}

const DISPLACEMENTS = Number(process.env.TEST_DISPLACEMENTS ?? 250);

test(`the expected coincidences are those of ${DISPLACEMENTS} random displacements of the sample`, () =>
  inWorld(async world => {
    const random = seededRandom(8);
    // A dense half, and a sparse one.
    const dense = field(0.4, 100, -0.2, 20, random, 1n << 60n);
    const sparse = field(0.4, 100.4, -0.2, 4, random, 1n << 61n);
    const sources = [...dense, ...sparse];
    await addSources(world, 'gaia_dr3', sources, { rowGroupSize: 2000 });
    // Half of the sample lies exactly on sources, which must not change what chance explains.
    const sample = Array.from({ length: 400 }, (_, i) =>
      i % 2 === 0
        ? offset(sources[Math.floor(random() * sources.length)]!, 0.2 * random(), 7 * random())
        : { ra: 100.02 + 0.76 * random(), dec: -0.18 + 0.36 * random() },
    );
    const bucket = (ra: number, dec: number) => `${Math.floor(ra * 600)} ${Math.floor(dec * 600)}`;
    const cells = Map.groupBy(sources, ({ ra, dec }) => bucket(ra, dec));
    const isCoincident = (place: { readonly ra: number; readonly dec: number }) =>
      [-1, 0, 1].some(i =>
        [-1, 0, 1].some(k =>
          (cells.get(bucket(place.ra + i / 600, place.dec + k / 600)) ?? []).some(
            source => separation(place, source) <= 1,
          ),
        ),
      );
    let coincident = 0;
    for (let i = 0; i < DISPLACEMENTS; i++)
      for (const place of sample)
        if (isCoincident(offset(place, 5 + 25 * random(), 2 * Math.PI * random()))) coincident++;
    const mean = coincident / DISPLACEMENTS;
    await withApp(world, async app => {
      const { summary, rows } = await report(
        app,
        sample.map(place => at(place)),
      );
      const { expected_by_chance, expected_interval, coincident: found, without_density } = summary.catalogs.gaia_dr3;
      // The mean of the displacements has an error of 2%, and the mean density of the rows one of 2%.
      assert.ok(
        Math.abs(expected_by_chance / mean - 1) < 0.06,
        `${expected_by_chance} expected, ${mean} by displacement`,
      );
      assert.ok(expected_interval[0] < mean && mean < expected_interval[1]);
      assert.is(without_density, 0);
      assert.ok(found >= 200);
      // What the sum over the matches alone would be, of which the contract warns.
      const sum = rows.reduce((all: number, row: Json) => all + (row.catalogs.gaia_dr3.chance_probability ?? 0), 0);
      assert.ok(sum < mean / 2);
    });
  }));

test('statuses, labels, outcomes, duplicates and contradictions [Sample]', () =>
  inWorld(async world => {
    const source = (id: bigint, place: { readonly ra: number; readonly dec: number }, payload: object): Source => ({
      ...place,
      id,
      payload: { ...payload },
    });
    const [star, both, pending] = [
      { ra: 10, dec: 5 },
      { ra: 10.01, dec: 5 },
      { ra: 10.02, dec: 5 },
    ];
    await addSources(world, 'gaia_dr3', [
      source(11n, star, { classprob_dsc_combmod_star: 0.99 }),
      source(12n, both, { classprob_dsc_combmod_star: 0.99 }),
      source(13n, pending, { classprob_dsc_combmod_quasar: 0.99 }),
    ]);
    await addSources(world, 'des_y6_gold', [source(21n, both, { ext_mash: 4n })]);
    const [first, second, invalid] = await world.ingest([star, both, null]);
    await world.crossmatch();
    const [late] = await world.ingest([pending], 99n);
    await withApp(world, async app => {
      const answer = await report(app, [
        { kind: 'id', diaObjectId: first, label: 'SN one' },
        { kind: 'id', diaObjectId: `${second}` },
        { kind: 'id', diaObjectId: late },
        { kind: 'id', diaObjectId: 5 },
        { kind: 'id', diaObjectId: invalid },
        at(offset(star, 0.5, 1), { label: 'by position' }),
        at({ ra: 200, dec: -40 }),
        { kind: 'tns', name: 'SN2099aaa' },
        { kind: 'position', ra: 400, dec: 0 },
        at(star, { label: 5 }),
      ]);
      const rows = answer.rows;
      assert.equal(
        rows.map((row: Json) => row.label),
        ['SN one', `${second}`, '99', '5', `${invalid}`, 'by position', null, '2099aaa', null, null],
      );
      assert.equal(
        rows.map((row: Json) => row.status),
        [
          'coincident_sources',
          'coincident_sources',
          'crossmatch_pending',
          'not_in_service',
          'not_searched',
          'coincident_sources',
          'no_rubin_object',
          'resolver_unavailable',
          'invalid_input',
          'invalid_input',
        ],
      );
      const gaia = rows.map((row: Json) => row.catalogs.gaia_dr3);
      assert.equal(
        gaia.map((cell: Json) => cell.outcome),
        [
          'coincident_source',
          'coincident_source',
          'coincident_source',
          'no_position',
          'no_position',
          'coincident_source',
          'outside_footprint',
          'no_position',
          'no_position',
          'no_position',
        ],
      );
      assert.equal(
        gaia.slice(0, 3).map((cell: Json) => cell.from),
        ['archive', 'archive', 'catalog'],
      );
      assert.equal(
        gaia.slice(0, 3).map((cell: Json) => cell.verdict),
        ['star', 'star', 'quasar'],
      );
      assert.equal(Object.keys(rows[0].catalogs), ['gaia_dr3', 'des_y6_gold']);
      assert.ok(
        rows[1].flags.some(
          (flag: string) => flag === 'catalogs contradict each other: gaia_dr3 says star, des_y6_gold says galaxy',
        ),
      );
      assert.ok(rows[2].flags.some((flag: string) => flag.startsWith('not crossmatched yet')));
      assert.ok(rows[9].flags.some((flag: string) => /label must be/.test(flag)));
      assert.equal(answer.summary.duplicates, { rows: 2, groups: [[0, 5]] });
      assert.is(answer.summary.statuses.invalid_input, 2);
      assert.equal([answer.summary.contaminated.with_star, answer.summary.contaminated.with_quasar], [3, 1]);
      assert.ok(answer.journal_entry >= 1);
      const one = await report(app, [{ kind: 'id', diaObjectId: first }], {
        catalogs: ['skymapper_dr4', 'des_y6_gold'],
      });
      assert.equal(Object.keys(one.rows[0].catalogs), ['des_y6_gold', 'skymapper_dr4']);
      assert.is(one.rows[0].catalogs.skymapper_dr4.outcome, 'not_registered');
    });
  }));

test('what is refused [Sample; Errors]', () =>
  inWorld(async world => {
    await withApp(world, async app => {
      const input = at({ ra: 1, dec: 1 });
      for (const [body, param] of [
        [[], 'body'],
        [{}, 'inputs'],
        [{ inputs: [] }, 'inputs'],
        [{ inputs: Array.from({ length: 1001 }, () => input) }, 'inputs'],
        [{ inputs: [input], detail: 'full' }, 'detail'],
        [{ inputs: [input], catalogs: ['nothing'] }, 'catalogs'],
        [{ inputs: [input], catalogs: [] }, 'catalogs'],
        [{ inputs: [input], bright_mag: 26 }, 'bright_mag'],
        [{ inputs: [input], bright_radius_arcsec: 0 }, 'bright_radius_arcsec'],
        [{ inputs: [input], radius_arcsec: 61 }, 'radius_arcsec'],
        [{ inputs: [input], at: -1 }, 'at'],
        [{ inputs: [input, { kind: 'tns', name: 'SN2099aaa' }], at: 1 }, 'at'],
      ] as const) {
        const { status, body: answer } = await app.post('/api/sample', body);
        assert.equal([status, answer.code, answer.param], [400, 'invalid_parameter', param]);
      }
    });
  }));

test('in every format of tables', () =>
  inWorld(async world => {
    const star = { ra: 10, dec: 5 };
    await addSources(world, 'gaia_dr3', [{ ...star, id: 11n, payload: { classprob_dsc_combmod_star: 0.99 } }]);
    const ids = await world.ingest([star]);
    await world.crossmatch();
    await withApp(world, async app => {
      const body = JSON.stringify({
        inputs: [{ kind: 'id', diaObjectId: `${ids[0]}` }, at({ ra: 3, dec: 3 }, { label: 'a, "b"' })],
      });
      const headers = { 'Content-Type': 'application/json' };
      for (const { name } of TABLE_FORMATS) {
        const answer = await app.app.fetch(
          new Request(`http://nearsky.test/api/sample?format=${name}`, { method: 'POST', body, headers }),
        );
        assert.is(answer.status, 200, name);
        const table = await openTable(new Uint8Array(await answer.arrayBuffer()), { maxRows: 10, maxBytes: 1e6 }, true);
        assert.is(table.rows, 2, name);
        const names = table.columns.map(column => column.name);
        for (const wanted of ['label', 'diaObjectId', 'gaia_dr3_verdict', 'gaia_dr3_depth_mag', 'flags'])
          assert.ok(names.includes(wanted), `${name}: ${wanted}`);
      }
    });
  }));

test('an earlier state, byte for byte [Sample]', () =>
  inWorld(async world => {
    const star = { ra: 10, dec: 5 };
    await addSources(world, 'gaia_dr3', [{ ...star, id: 11n, payload: { classprob_dsc_combmod_star: 0.99 } }]);
    await world.writer.keepHistory(true);
    const [first] = await world.ingest([star]);
    await world.crossmatch();
    const inputs = [{ kind: 'id', diaObjectId: `${first}` }, at(star), { kind: 'id', diaObjectId: '77' }];
    await withApp(world, async app => {
      const before = await app.post('/api/sample', { inputs });
      await world.ingest([offset(star, 1, 2)], 77n);
      await world.writer.remove([first!], 'a test');
      let now = before;
      for (let i = 0; i < 200 && now.body.journal_entry < before.body.journal_entry + 2; i++) {
        await new Promise(resolve => setTimeout(resolve, 50));
        now = await app.post('/api/sample', { inputs });
      }
      assert.equal(
        now.body.rows.map((row: Json) => row.status),
        ['not_in_service', 'crossmatch_pending', 'crossmatch_pending'],
      );
      const since = await app.post('/api/sample', { inputs, since: before.body.journal_entry });
      assert.equal(
        since.body.changes.map(({ index, changes }: Json) => [index, changes]),
        [
          [0, [`removed or no longer the nearest: object ${first}`]],
          [
            1,
            [
              `removed or no longer the nearest: object ${first}`,
              'stored or now the nearest: object 77, crossmatch_pending',
            ],
          ],
          [2, ['stored or now the nearest: object 77, crossmatch_pending']],
        ],
      );
      await world.crossmatch();
      const middle = since.body.journal_entry;
      let later = since;
      for (let i = 0; i < 200 && later.body.journal_entry === middle; i++) {
        await new Promise(resolve => setTimeout(resolve, 50));
        later = await app.post('/api/sample', { inputs: [...inputs, at({ ra: 1, dec: 1 })], since: middle });
      }
      const crossmatched = [
        'crossmatched: crossmatch_pending before, coincident_sources now',
        'gaia_dr3: not crossmatched before, source 11 (star) now',
      ];
      assert.equal(
        later.body.changes.map(({ index, changes }: Json) => [index, changes]),
        [
          [1, crossmatched],
          [2, crossmatched],
        ],
      );
      assert.equal((await app.post('/api/sample', { inputs, since: later.body.journal_entry })).body.changes, []);
      const refused = await app.post('/api/sample', { inputs, since: 10_000 });
      assert.equal([refused.status, refused.body.param], [400, 'since']);
      const again = await app.post('/api/sample', { inputs, at: before.body.journal_entry });
      assert.is(again.text, before.text);
      assert.is(again.headers.get('X-Journal-Entry'), `${before.body.journal_entry}`);
    });
  }));

test.run();
