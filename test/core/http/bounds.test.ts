/** Every limit at its value and one beyond it, and every filter at its bound and 1e-9 beside it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PROJECT_CATALOGS } from '../../../src/core/contract/catalogs.ts';
import {
  type Answer,
  crossmatched,
  delivery,
  type Json,
  loadRegistry,
  match,
  NOW_US,
  type Running,
  searched,
  startApp,
} from './support.ts';

const test = suite<{ running: Running }>('http/bounds');

const OBJECT_ID = 7n;
/** Two places: with as many objects as a result lists, and with one more. */
const FULL = { ra: 10, dec: 20 };
const OVER = { ra: 30, dec: -20 };
const LISTED = 100;

/** The stored values of the properties that filters limit, by catalog. */
const VALUES: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  gaia_dr3: {
    parallax: 3.125,
    parallax_error: 0.25,
    pmra: -5.5,
    pmdec: 7.75,
    ruwe: 1.0625,
    classprob_dsc_combmod_star: 0.875,
    classprob_dsc_combmod_galaxy: 0.0625,
    classprob_dsc_combmod_quasar: 0.015625,
  },
  des_y6_gold: { dnf_z: 0.375, dnf_zsigma: 0.03125, ext_mash: 4 },
  delve_dr3_gold: { dnf_z: 0.4375, dnf_zsigma: 0.046875, ext_mash: 3 },
};
const GENERIC: Readonly<Record<string, number>> = { separation_arcsec: 0.25, reliability: 0.75 };

test.before(async context => {
  const near = (place: typeof FULL, n: number, first: bigint) =>
    Array.from({ length: n }, (_, i) => delivery(first + BigInt(i), { position: place }));
  context.running = await startApp(async world => {
    await world.writer.ingest([delivery(OBJECT_ID, { reliability: GENERIC.reliability! })], NOW_US);
    await world.writer.ingest([...near(FULL, LISTED, 1000n), ...near(OVER, LISTED + 1, 2000n)], NOW_US);
    const sources = Object.entries(VALUES).map(([catalog, payload]) => match(catalog, '1', { payload }));
    await crossmatched(world, OBJECT_ID, searched(...Object.keys(VALUES)), sources);
    await loadRegistry(world, Date.now() * 1000, [
      { name: '2026ful', ...FULL },
      { name: '2026ovr', ...OVER },
    ]);
  });
});

test.after(({ running }) => running.close());

test('every filter at its bound, and 1e-9 on either side, in a query and in a body [Filters and counts]', async ({
  running: { app },
}) => {
  let tried = 0;
  for (const [name, { kind, bound, catalog, field, derivedFrom }] of PROJECT_CATALOGS.filters) {
    // `test/core/contract/suite/filters.ts` tries the statistics.
    if (bound === null || kind === 'worth') continue;
    const payload = VALUES[catalog ?? ''] ?? GENERIC;
    const value = derivedFrom
      ? payload[derivedFrom.numerator]! / payload[derivedFrom.denominator]!
      : payload[field ?? name.replace(/_(?:min|max)$/, '')]!;
    assert.type(value, 'number', name);
    for (const by of [0, 1e-9, -1e-9]) {
      const meets = bound === 'min' ? by <= 0 : by >= 0;
      const filters = { [name]: value + by };
      const query = await app.result(`/api/objects/${OBJECT_ID}?${new URLSearchParams({ [name]: `${value + by}` })}`);
      const body = (await app.lookup([{ kind: 'id', diaObjectId: OBJECT_ID }], { filters })).results[0];
      assert.equal([query.qualifies, body.qualifies], [meets, meets], `${name} ${value} ${by}`);
      tried++;
    }
  }
  assert.is(tried, 3 * (30 + 3));
});

const code = ({ status, body }: Answer) => (status === 200 ? 'ok' : `${body.param}`);

test('every limit of a query string: at it, and beyond it', async ({ running: { app } }) => {
  const cone = (ra: string, dec: string, radius: string) => `/api/cone?ra=${ra}&dec=${dec}&radius_arcsec=${radius}`;
  const window = (end: string) => `/api/recent-crossmatches?start=2026-09-01T00:00:00&end=${end}`;
  const name = (characters: number) => `/api/tns/2026ful${'%20'.repeat(characters - 7)}`;
  const cases: readonly (readonly [allowed: string, refused: string, param: string])[] = [
    [cone('0', '0', '1'), cone('-1e-9', '0', '1'), 'ra'],
    [cone('360', '0', '1'), cone('360.000000001', '0', '1'), 'ra'],
    [cone('1', '-90', '1'), cone('1', '-90.000000001', '1'), 'dec'],
    [cone('1', '90', '1'), cone('1', '90.000000001', '1'), 'dec'],
    [cone('1', '1', '60'), cone('1', '1', '60.000000001'), 'radius_arcsec'],
    [cone('1', '1', '1e-9'), cone('1', '1', '0'), 'radius_arcsec'],
    ['/api/tns/2026ful?radius_arcsec=60', '/api/tns/2026ful?radius_arcsec=60.000000001', 'radius_arcsec'],
    ['/api/tns/2026ful?radius_arcsec=1e-9', '/api/tns/2026ful?radius_arcsec=0', 'radius_arcsec'],
    [name(64), name(65), 'name'],
    ['/api/objects/9223372036854775807', '/api/objects/9223372036854775808', 'diaObjectId'],
    [`${cone('1', '1', '1')}&page_size=1`, `${cone('1', '1', '1')}&page_size=0`, 'page_size'],
    ['/api/recent-crossmatches?page_size=1', '/api/recent-crossmatches?page_size=0', 'page_size'],
    [window('2026-09-08T00:00:00'), window('2026-09-08T00:00:00.000001'), 'start'],
    [window('2026-09-01T00:00:00'), window('2026-08-31T23:59:59.999999'), 'start'],
    ['/api/objects/7?separation_arcsec_max=0', '/api/objects/7?separation_arcsec_max=-1e-9', 'separation_arcsec_max'],
  ];
  for (const [allowed, refused, param] of cases)
    assert.equal([code(await app.get(allowed)), code(await app.get(refused))], ['ok', param], refused);
  const pageSize = async (path: string) => (await app.get(path)).body.page_size;
  for (const [path, most] of [
    [cone('1', '1', '1'), 2000],
    ['/api/recent-crossmatches?x=', 10_000],
  ] as const)
    for (const size of [most - 1, most, most + 1])
      assert.is(await pageSize(`${path}&page_size=${size}`), Math.min(size, most), path);
  const tooLong = async (n: number) => (await app.get(`/api/cone?cursor=${'a'.repeat(n)}`)).body.message;
  assert.not.match(await tooLong(1024), /longer/);
  assert.match(await tooLong(1025), /longer than 1024/);
});

test('every limit of a lookup: at it, and beyond it [Lookup]', async ({ running: { app } }) => {
  const id = { kind: 'id', diaObjectId: OBJECT_ID };
  const position = { kind: 'position', ra: 200, dec: 0, radius_arcsec: 1 };
  const named = { kind: 'tns', name: '2026zzz' };
  const many = (n: number, input: object) => Array<object>(n).fill(input);
  const post = async (inputs: readonly object[]) => code(await app.post('/api/lookup', { inputs, detail: 'ids' }));
  for (const [kept, one] of [
    [many(1000, id), id],
    [many(200, position), position],
    [many(200, named), named],
    [[...many(100, position), ...many(100, named)], named],
  ] as const)
    assert.equal([await post(kept), await post([...kept, one])], ['ok', 'inputs']);
  assert.is(await post([...many(1000, id), ...many(200, position)]), 'ok', 'the two limits are independent');

  const status = async (radius: number) =>
    (await app.lookup([{ ...position, radius_arcsec: radius }])).results[0].status;
  for (const [radius, expected] of [
    [60, 'no_rubin_object'],
    [60 + 1e-9, 'invalid_input'],
    [1e-9, 'no_rubin_object'],
    [0, 'invalid_input'],
  ] as const)
    assert.is(await status(radius), expected, `${radius}`);

  const bytes = 2_621_440;
  const body = JSON.stringify({ inputs: [{ kind: 'id', diaObjectId: 7 }] });
  const padded = async (length: number) => code(await app.post('/api/lookup', body + ' '.repeat(length - body.length)));
  assert.equal([await padded(bytes), await padded(bytes + 1)], ['ok', 'body']);
});

test('every limit of a listing: at it, and beyond it [Lookup]', async ({ running: { app } }) => {
  const at = (place: typeof FULL) => ({ kind: 'position', ...place, radius_arcsec: 1 });
  const shown = ({ objects, total, truncated, truncation }: Json) => [objects.length, total, truncated, truncation];
  const inputs = [at(FULL), at(OVER), { kind: 'tns', name: '2026ful' }, { kind: 'tns', name: '2026ovr' }];
  const { results } = await app.lookup(inputs, { detail: 'ids' });
  const [full, over] = [
    [LISTED, LISTED, false, null],
    [LISTED, LISTED + 1, true, 'per_input_limit'],
  ];
  assert.equal(results.map(shown), [full, over, full, over]);
  for (const [name, expected] of [
    ['2026ful', full],
    ['2026ovr', over],
  ] as const)
    assert.equal(shown(await app.result(`/api/tns/${name}?detail=ids`)), expected, name);
  // 2,000 objects a request.
  const lookedUp = await app.lookup(Array(21).fill(at(FULL)), { detail: 'ids' });
  assert.equal([lookedUp.truncated, shown(lookedUp.results[19])], [true, full]);
  assert.equal(shown(lookedUp.results[20]), [0, LISTED, true, 'per_request_limit']);
  assert.is((await app.lookup(Array(20).fill(at(FULL)), { detail: 'ids' })).truncated, false);
  // Counts have no such limits.
  const { counts } = await app.lookup(Array(21).fill(at(OVER)), { response: 'count' });
  assert.equal([counts.inputs.total, counts.objects.total], [21, LISTED + 1]);
});

test.run();
