import * as assert from 'uvu/assert';
import { hasKeys, INVALID, section } from './check.ts';
import type { Json, Service } from './service.ts';
import { CROWD_SIZE, IDS, NAMES, PLACES, UNKNOWN_ID } from './world.ts';

const OBJECT = `/api/objects/${IDS.matched}`;

const GAIA =
  'parallax parallax_error pmra pmdec ruwe classprob_dsc_combmod_star classprob_dsc_combmod_galaxy ' +
  'classprob_dsc_combmod_quasar parallax_over_error';
const bounds = (catalog: string, fields: string) =>
  fields.split(' ').flatMap(field => [`${catalog}.${field}_min`, `${catalog}.${field}_max`]);

/** Name, kind, bound, unit, and whether a source must meet it; in documented order. */
export const GENERIC_FILTERS = [
  ['catalog', 'catalog', null, null, true],
  ['separation_arcsec_max', 'separation', 'max', 'arcsec', true],
  ['reliability_min', 'reliability', 'min', 'probability', false],
  ['reliability_max', 'reliability', 'max', 'probability', false],
  ['chance_probability_max', 'worth', 'max', 'probability', true],
  ['normalized_separation_max', 'worth', 'max', 'dimensionless', true],
  ['match_probability_min', 'worth', 'min', 'probability', true],
  ['any_match_probability_min', 'worth', 'min', 'probability', true],
] as const;

/** The filters of the specification are these and the first four generic ones. */

export const FILTER_NAMES = [
  ...GENERIC_FILTERS.map(([name]) => name),
  ...bounds('gaia_dr3', GAIA),
  ...bounds('des_y6_gold', 'dnf_z dnf_zsigma ext_mash'),
  ...bounds('delve_dr3_gold', 'dnf_z dnf_zsigma ext_mash'),
];

const values = section('Filters and counts: filters', {
  'every name, in a query and in a body; what is sent is echoed in its order': async service => {
    assert.is(FILTER_NAMES.length, 34 + 4);
    for (const name of FILTER_NAMES) {
      const value = name === 'catalog' ? 'gaia_dr3' : 0.5;
      assert.equal((await service.ok(OBJECT, { [name]: value })).filters, { [name]: value });
      const body = await service.lookup([{ kind: 'id', diaObjectId: IDS.matched }], { filters: { [name]: value } });
      hasKeys(body, 'provenance detail count provenance_sets truncated results filters');
      assert.equal(body.filters, { [name]: value });
    }
    const { filters } = await service.ok(OBJECT, 'reliability_max=1e0&gaia_dr3.ruwe_max=%202&catalog=gaia_dr3');
    assert.equal(Object.entries(filters), [
      ['reliability_max', 1],
      ['gaia_dr3.ruwe_max', 2],
      ['catalog', 'gaia_dr3'],
    ]);
  },
  'unknown names are refused; names are case-sensitive': async service => {
    for (const name of [
      'skymapper_dr4.class_star_min',
      'gaia_dr3.ruwe',
      'gaia_dr3.RUWE_min',
      'des_y6_gold.ruwe_min',
      'x_max',
    ])
      assert.equal(await service.refused(OBJECT, { [name]: '1' }), [INVALID, name]);
    const inputs = [{ kind: 'id', diaObjectId: 1 }];
    for (const name of [
      'x',
      'Catalog',
      'separation_arcsec_min',
      'gaia_dr3.chance_probability_max',
      'chance_probability_min',
    ])
      assert.equal(await service.lookupRefused({ inputs, filters: { [name]: 1 } }), [INVALID, name]);
  },
  'a catalog is one of the four names; all else is a finite number, of a body a JSON number': async service => {
    for (const catalog of ['gaia', 'GAIA_DR3', '7', 'gaia_dr3,des_y6_gold'])
      assert.equal(await service.refused(OBJECT, { catalog }), [INVALID, 'catalog']);
    const inputs = [{ kind: 'id', diaObjectId: 1 }];
    for (const value of ['"1"', 'true', 'null', '[1]', '{}', '1e999'])
      for (const name of ['reliability_min', 'gaia_dr3.ruwe_max', 'separation_arcsec_max'])
        assert.equal(await service.lookupRefused(`{"inputs": [], "filters": {"${name}": ${value}}}`), [INVALID, name]);
    for (const catalog of [null, 7, ['gaia_dr3'], true])
      assert.equal(await service.lookupRefused({ inputs, filters: { catalog } }), [INVALID, 'catalog']);
    for (const filters of [[], 'x', 7, true])
      assert.equal(await service.lookupRefused({ inputs, filters }), [INVALID, 'filters']);
  },
  'a separation is at least 0; no other value is out of range': async service => {
    assert.equal(await service.refused(OBJECT, 'separation_arcsec_max=-0.1'), [INVALID, 'separation_arcsec_max']);
    await service.ok(OBJECT, 'separation_arcsec_max=0&reliability_min=7&reliability_max=-7');
    await service.ok(OBJECT, 'gaia_dr3.ruwe_min=5&gaia_dr3.ruwe_max=-5');
  },
  'the first bad one in the order of the request is named': async service => {
    assert.equal(await service.refused(OBJECT, 'reliability_min=x&catalog=x&y.z=1'), [INVALID, 'reliability_min']);
    assert.equal(await service.refused(OBJECT, 'y.z=1&catalog=x'), [INVALID, 'y.z']);
  },
  'filters of several catalogs: all that name one, grouped in the order in which catalogs occur': async service => {
    const span = 'filters_span_catalogs';
    const query =
      'des_y6_gold.dnf_z_min=1&reliability_min=0&catalog=gaia_dr3&des_y6_gold.dnf_z_max=2&separation_arcsec_max=1';
    const params = ['des_y6_gold.dnf_z_min', 'des_y6_gold.dnf_z_max', 'catalog'];
    for (const path of [OBJECT, '/api/tns/2026abc']) assert.equal(await service.refused(path, query), [span, params]);
    for (const path of [OBJECT, '/api/tns/2026abc', '/api/cone']) {
      const at = 'ra=1&dec=1&radius_arcsec=1';
      const both = `${at}&catalog=gaia_dr3&catalog=des_y6_gold`;
      assert.equal(await service.refused(path, both), [span, ['catalog']], path);
      assert.equal(await service.refused(path, `${both}&catalog=gaia_dr3`), [span, ['catalog']], path);
      const mixed = `${both}&gaia_dr3.ruwe_min=1`;
      assert.equal(await service.refused(path, mixed), [span, ['catalog', 'gaia_dr3.ruwe_min']], path);
      assert.equal(await service.refused(path, `${at}&catalog=x&catalog=gaia_dr3`), [INVALID, 'catalog'], path);
      assert.equal((await service.ok(path, `${at}&catalog=gaia_dr3&catalog=gaia_dr3`)).filters, {
        catalog: 'gaia_dr3',
      });
    }
    assert.equal(await service.refused('/api/cone', `${query}&ra=1&dec=1&radius_arcsec=1`), [span, params]);
    const filters = { 'gaia_dr3.ruwe_min': 1, 'delve_dr3_gold.dnf_z_min': 1, 'gaia_dr3.ruwe_max': 1 };
    assert.equal(await service.lookupRefused({ inputs: [], filters }), [
      span,
      ['gaia_dr3.ruwe_min', 'gaia_dr3.ruwe_max', 'delve_dr3_gold.dnf_z_min'],
    ]);
    assert.equal(await service.refused(OBJECT, 'catalog=gaia_dr3&des_y6_gold.dnf_z_min=x'), [
      INVALID,
      'des_y6_gold.dnf_z_min',
    ]);
    await service.ok(OBJECT, 'catalog=gaia_dr3&gaia_dr3.ruwe_max=1');
  },
});

async function reasonOf(service: Service, id: string, filters: object): Promise<string> {
  const [{ qualifies, qualifies_reason, objects, ...result }] = (await service.ok(`/api/objects/${id}`, { ...filters }))
    .results;
  assert.equal([objects[0].qualifies, objects[0].qualifies_reason], [qualifies, qualifies_reason]);
  assert.is(qualifies, qualifies_reason === 'meets_filters');
  assert.not('qualifying_total' in result);
  return qualifies_reason;
}

/** The result of match filters for `matched`, by its sources: see the world. */
const OF_MATCHED: readonly (readonly [object, boolean])[] = [
  [{ catalog: 'gaia_dr3' }, true],
  [{ catalog: 'skymapper_dr4' }, true],
  [{ separation_arcsec_max: 0.25 }, true],
  [{ separation_arcsec_max: 0.2499 }, false],
  [{ catalog: 'des_y6_gold', separation_arcsec_max: 0.5 }, true],
  [{ catalog: 'des_y6_gold', separation_arcsec_max: 0.4 }, false],
  [{ 'gaia_dr3.ruwe_max': 1.5 }, true],
  [{ 'gaia_dr3.ruwe_max': 1.4999 }, false],
  // The farther Gaia source would meet it.
  [{ 'gaia_dr3.ruwe_max': 0.9 }, false],
  [{ 'gaia_dr3.ruwe_max': 1, 'gaia_dr3.parallax_min': 1 }, false],
  [{ 'gaia_dr3.ruwe_max': 1, separation_arcsec_max: 0.5 }, false],
  [{ chance_probability_max: 0.000671 }, true],
  [{ chance_probability_max: 0.00067 }, false],
  [{ normalized_separation_max: 1.25 }, true],
  [{ normalized_separation_max: 1.24 }, false],
  [{ match_probability_min: 0.861 }, true],
  [{ match_probability_min: 0.862 }, false],
  [{ any_match_probability_min: 0.998 }, true],
  [{ any_match_probability_min: 0.9981 }, false],
  [{ catalog: 'gaia_dr3', chance_probability_max: 0.000671, match_probability_min: 0.861 }, true],
  // These are not known for this match.
  [{ catalog: 'des_y6_gold', normalized_separation_max: 9 }, false],
  [{ catalog: 'des_y6_gold', chance_probability_max: 1 }, false],
  [{ 'des_y6_gold.ext_mash_min': 4, match_probability_min: 0 }, false],
  [{ 'gaia_dr3.parallax_over_error_min': 10 }, true],
  [{ 'gaia_dr3.parallax_over_error_min': 10.001 }, false],
  [{ 'gaia_dr3.parallax_over_error_max': 10 }, true],
  [{ 'gaia_dr3.parallax_over_error_max': -10 }, false],
  [{ 'gaia_dr3.pmdec_min': -1e9 }, true],
  [{ 'gaia_dr3.pmdec_max': 1 }, false],
  [{ 'gaia_dr3.classprob_dsc_combmod_quasar_min': -1e9 }, false],
  [{ 'des_y6_gold.ext_mash_min': 4, 'des_y6_gold.dnf_z_max': 0.3 }, true],
  [{ 'delve_dr3_gold.dnf_z_min': 0 }, false],
  [{ 'delve_dr3_gold.ext_mash_max': 4 }, false],
  [{ 'gaia_dr3.ruwe_min': 2, 'gaia_dr3.ruwe_max': 1 }, false],
];

const qualification = section('Filters and counts: qualification', {
  'one source must meet every match filter, bounds inclusive; null, text and nothing never do [Filters and counts]':
    async service => {
      for (const [filters, meets] of OF_MATCHED) {
        const reason = meets ? 'meets_filters' : 'no_source_meets_filters';
        assert.is(await reasonOf(service, IDS.matched, filters), reason, JSON.stringify(filters));
      }
      assert.is(
        await reasonOf(service, IDS.unreliable, { 'gaia_dr3.parallax_over_error_min': -1e9 }),
        'no_source_meets_filters',
      );
    },
  'the reliability of the object, inclusive; none never meets it [Filters and counts]': async service => {
    assert.is(await reasonOf(service, IDS.matched, { reliability_min: 0.75, reliability_max: 0.75 }), 'meets_filters');
    assert.is(await reasonOf(service, IDS.matched, { reliability_min: 0.7501 }), 'object_filters_not_met');
    assert.is(
      await reasonOf(service, IDS.matched, { reliability_min: 7, 'gaia_dr3.ruwe_max': -1 }),
      'object_filters_not_met',
    );
    assert.is(await reasonOf(service, IDS.unreliable, { reliability_max: 1 }), 'object_filters_not_met');
    assert.is(await reasonOf(service, IDS.leftover, { reliability_min: 0 }), 'meets_filters');
  },
  'an object without sources says why': async service => {
    const filters = { separation_arcsec_max: 1 };
    assert.is(await reasonOf(service, UNKNOWN_ID, filters), 'not_in_service');
    assert.is(await reasonOf(service, UNKNOWN_ID, { reliability_min: 0 }), 'not_in_service');
    assert.is(await reasonOf(service, IDS.leftover, filters), 'crossmatch_pending');
    assert.is(await reasonOf(service, IDS.unmatched, filters), 'no_coincident_source');
    assert.is(await reasonOf(service, IDS.skipped, filters), 'not_searched');
  },
  'only the newest version of a source counts': async service => {
    assert.is(await reasonOf(service, IDS.recrossmatched, { separation_arcsec_max: 0.2 }), 'meets_filters');
  },
  'a position counts all it found, listed or not; nothing is dropped [Filters and counts]': async service => {
    const crowd = { kind: 'position', ...PLACES.crowd, radius_arcsec: 10 };
    const inputs = [crowd, { ...crowd, ...PLACES.empty }, { kind: 'nothing' }, { kind: 'tns', name: '2026qqq' }];
    const { results } = await service.lookup(inputs, { filters: { 'gaia_dr3.ruwe_min': 120 } });
    const marks = results.map((result: Json) => [result.qualifying_total, result.qualifies, result.qualifies_reason]);
    assert.equal(marks, [
      [4, true, 'meets_filters'],
      [0, false, 'no_rubin_object'],
      [undefined, false, 'invalid_input'],
      [null, false, 'tns_name_not_found'],
    ]);
    assert.is(results[0].objects.length, 100);
    const none = await service.lookup([crowd], { filters: { 'gaia_dr3.ruwe_min': 1000 } });
    assert.equal([none.results[0].qualifying_total, none.results[0].qualifies_reason], [0, 'no_object_meets_filters']);
  },
  'without filters there are no marks': async service => {
    const { text } = await service.get(OBJECT);
    assert.not(text.includes('qualif'));
  },
});

const STATUSES =
  'not_in_service crossmatch_pending coincident_sources no_coincident_source not_searched no_rubin_object objects_found ' +
  'tns_name_not_found resolver_unavailable invalid_input';
const OBJECT_STATUSES = STATUSES.split(' ').slice(0, 5).join(' ');
const REASONS =
  'meets_filters object_filters_not_met no_source_meets_filters not_in_service crossmatch_pending no_coincident_source not_searched';

const positive = (counts: Json) =>
  Object.fromEntries(Object.entries<number>(counts).filter(([, count]) => count !== 0));

const counts = section('Filters and counts: counts', {
  'inputs with duplicates, objects once, each map with all its keys': async service => {
    const id = (diaObjectId: string) => ({ kind: 'id', diaObjectId });
    const inputs = [
      id(IDS.matched),
      id(IDS.matched),
      id(UNKNOWN_ID),
      id(IDS.skipped),
      7,
      { kind: 'tns', name: '2026qqq' },
    ];
    const crowd = { kind: 'position', ...PLACES.crowd, radius_arcsec: 10 };
    const all = [
      ...inputs,
      crowd,
      crowd,
      { ...crowd, ...PLACES.empty },
      { kind: 'tns', name: NAMES.crowd, radius_arcsec: 10 },
    ];
    const body = await service.lookup(all, { response: 'count', detail: 'full' });
    hasKeys(body, 'provenance response filters counts');
    assert.equal([body.response, body.filters], ['count', null]);
    hasKeys(body.counts, 'inputs objects');
    const { inputs: ofInputs, objects } = body.counts;
    hasKeys(ofInputs, 'total by_status qualifying');
    hasKeys(ofInputs.by_status, STATUSES);
    hasKeys(objects, 'total by_status qualifying by_qualifies_reason');
    hasKeys(objects.by_status, OBJECT_STATUSES);
    assert.equal([ofInputs.total, ofInputs.qualifying], [10, null]);
    assert.equal(positive(ofInputs.by_status), {
      coincident_sources: 2,
      not_in_service: 1,
      not_searched: 1,
      invalid_input: 1,
      tns_name_not_found: 1,
      objects_found: 3,
      no_rubin_object: 1,
    });
    assert.equal([objects.total, objects.qualifying, objects.by_qualifies_reason], [CROWD_SIZE + 3, null, null]);
    assert.equal(positive(objects.by_status), {
      coincident_sources: 45,
      crossmatch_pending: 86,
      not_in_service: 1,
      not_searched: 1,
    });
  },
  'with filters: who qualifies, and why not, without the limits of a listing': async service => {
    const filters = { 'gaia_dr3.ruwe_min': 60, reliability_min: 0 };
    const { counts, filters: echo } = await service.ok('/api/cone', {
      ...PLACES.crowd,
      radius_arcsec: 10,
      response: 'count',
      ...filters,
    });
    assert.equal(echo, filters);
    assert.equal(counts.inputs.qualifying, 1);
    hasKeys(counts.objects.by_qualifies_reason, REASONS);
    assert.equal(positive(counts.objects.by_qualifies_reason), {
      meets_filters: 24,
      no_source_meets_filters: 20,
      crossmatch_pending: 86,
    });
    assert.equal([counts.objects.total, counts.objects.qualifying], [CROWD_SIZE, 24]);
  },
  'of an object and of a name; what else the request says must still be right': async service => {
    assert.equal(positive((await service.ok(OBJECT, 'response=count')).counts.inputs.by_status), {
      coincident_sources: 1,
    });
    const { counts } = await service.ok(`/api/tns/${NAMES.nothingThere}`, 'response=count');
    assert.equal([positive(counts.inputs.by_status), counts.objects.total], [{ no_rubin_object: 1 }, 0]);
    for (const path of [OBJECT, `/api/tns/${NAMES.crowd}`, '/api/cone'])
      assert.equal(await service.refused(path, 'response=count&detail=x&ra=1&dec=1&radius_arcsec=1'), [
        INVALID,
        'detail',
      ]);
  },
});

export const filters = [...values, ...qualification, ...counts];
