/** The service's description of itself against the contract (docs/contract.md, Status and descriptions). */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { BROKER_NAMES } from '../../../src/core/contract/brokers.ts';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { version } from '../../directory.ts';
import { registrationOf } from '../catalogs/registration.ts';
import { FACTS } from '../facts.ts';
import { type Json, withApp } from '../http/support.ts';
import { GENERIC_FILTERS } from './suite/filters.ts';
import { DECLARED, withoutDatabase } from './support.ts';

const test = suite('contract/describe');

const words = (list: string) => list.split(/\s+/).filter(word => word !== '');

test('the keys, in the order of the contract, without a database [Status and descriptions]', async () => {
  await withoutDatabase(DECLARED, async ask => {
    const { status, headers, text } = await ask('/api/describe');
    assert.is(status, 200);
    assert.is(headers.get('Content-Type'), 'application/json');
    assert.match(text, '": ');
    const body = JSON.parse(text);
    const keys = `provenance catalogs crossmatch tns limits detail_levels default_detail response_modes generic_filters
      reliability_cuts provenance_recording_release mcp`;
    assert.equal(Object.keys(body), words(keys));
    assert.equal(Object.keys(body.catalogs[0]), words('name release catalog_source_id filterable_fields coverage_map'));
    assert.equal(Object.keys(body.catalogs[0].catalog_source_id), words('column description'));
    const field = words('name unit description column derived_from parameters');
    assert.equal(Object.keys(body.catalogs[0].filterable_fields[0]), field);
    assert.equal(Object.keys(body.catalogs[0].coverage_map), words('footprint_moc_order resolution_arcmin note'));
    assert.equal(Object.keys(body.crossmatch), words('radius_arcsec nearest_source_per_catalog description'));
    assert.equal(Object.keys(body.generic_filters[0]), words('name kind bound unit is_match_filter description'));
    assert.equal(Object.keys(body.mcp), words('path method transport authentication description tools'));
  });
});

test('the values, with the settings of the contract [Status and descriptions]', async () => {
  await withoutDatabase(DECLARED, async ask => {
    const body = JSON.parse((await ask('/api/describe')).text);
    const { jobs, ...limits } = body.limits;
    for (const [key, values] of FACTS.flatMap(({ limits: own = {} }) => Object.entries(own))) {
      assert.equal(Object.values(limits[key]), values, key);
      delete limits[key];
    }
    assert.equal(limits, {
      request_budget_seconds: 5,
      max_ids: 1000,
      max_positions: 200,
      max_cone_radius_arcsec: 60,
      max_objects_per_position: 100,
      max_objects_per_request: 2000,
      recent_crossmatches: {
        default_page_size: 1000,
        max_page_size: 10_000,
        default_window_hours: 12,
        max_window_hours: 168,
      },
      names: { max_characters: 64 },
      connector: { max_identifiers: 100, max_radius_arcsec: 60, max_objects: 20 },
    });
    assert.equal(Object.values(jobs), [100, 25, 2 ** 32, 24, 3600, 45]);
    assert.equal(body.tns, { default_radius_arcsec: 1, max_radius_arcsec: 60 });
    assert.is(body.crossmatch.radius_arcsec, 1);
    assert.is(body.crossmatch.nearest_source_per_catalog, true);
    assert.match(body.crossmatch.description, 'nearest');
    assert.is(body.default_detail, 'matches');
    const names = (list: { name: string }[]) => list.map(({ name }) => name);
    assert.equal(names(body.detail_levels), words('ids position matches full'));
    assert.equal(names(body.response_modes), words('objects count'));
    assert.is(body.provenance_recording_release, '0.15.0');
    assert.equal(body.reliability_cuts, body.provenance.reliability_cuts);
    assert.equal(
      body.reliability_cuts.map((cut: { min_reliability: number }) => cut.min_reliability),
      BROKER_NAMES.map(name => (name === 'lasair' ? 0.65 : 0.6)),
    );
    assert.match(JSON.stringify(body), /TAI.*leap seconds/);
  });
});

test('the generic filters', async () => {
  await withoutDatabase({}, async ask => {
    const body = JSON.parse((await ask('/api/describe')).text);
    const rows = body.generic_filters.map((filter: Record<string, unknown>) =>
      words('name kind bound unit is_match_filter').map(key => filter[key]),
    );
    assert.equal(rows, GENERIC_FILTERS);
  });
});

interface Field {
  readonly name: string;
  readonly unit: string;
  readonly column: string | null;
  readonly derived_from: unknown;
  readonly parameters: readonly string[];
}

test("the order of a coverage map is the one in force, and the note says why where it is not the catalog's own [Status and descriptions]", () =>
  withApp(
    async ({ writer }) => {
      await writer.commit({ kind: 'register_catalog', registration: registrationOf(catalogDefinition('gaia_dr3')!) });
      const des = registrationOf(catalogDefinition('des_y6_gold')!);
      await writer.commit({
        kind: 'register_catalog',
        registration: { ...des, coverage: { ...des.coverage, order: 6 } },
      });
    },
    async app => {
      const { catalogs, provenance } = (await app.get('/api/describe')).body;
      const [gaia, des, delve] = catalogs.map(({ coverage_map }: Json) => coverage_map);
      assert.equal([gaia.footprint_moc_order, gaia.resolution_arcmin], [2, 879.5]);
      assert.match(gaia.note, /searched.* coarser than the catalog's own order, 8\.$/);
      assert.equal([des.footprint_moc_order, des.resolution_arcmin], [6, 55]);
      assert.not.match(des.note, /coarser|registered/);
      assert.equal([delve.footprint_moc_order, delve.resolution_arcmin], [10, 3.4]);
      assert.match(delve.note, /searched.* not registered here/);
      assert.is(provenance.catalogs.length, 4, 'the provenance block is of the service, whatever is registered');
      assert.match((await app.get('/api-docs.md')).text, /Gaia DR3 .* HEALPix order 2, 879\.5 arcmin\. .* order, 8/);
    },
  ));

test('the catalogs: source ids, coverage maps, filterable fields [Catalogs]', async () => {
  await withoutDatabase({}, async ask => {
    const { catalogs } = JSON.parse((await ask('/api/describe')).text);
    const properties = catalogs.map((catalog: Record<string, Record<string, unknown>>) => [
      catalog.name,
      catalog.release,
      catalog.catalog_source_id!.column,
      catalog.coverage_map!.footprint_moc_order,
      catalog.coverage_map!.resolution_arcmin,
    ]);
    assert.equal(properties, [
      ['gaia_dr3', 'Gaia DR3', 'source_id', 8, 13.7],
      ['des_y6_gold', 'DES Y6 Gold', 'COADD_OBJECT_ID', 6, 55],
      ['delve_dr3_gold', 'DELVE DR3 Gold', 'COADD_OBJECT_ID', 10, 3.4],
      ['skymapper_dr4', 'SkyMapper DR4', 'object_id', 8, 13.7],
    ]);
    for (const { coverage_map } of catalogs) assert.match(coverage_map.note, /searched.* database could not be read/);
    assert.match(catalogs[2].catalog_source_id.description, /DES id .* not mean the same source/);

    const fields: Field[][] = catalogs.map((catalog: { filterable_fields: Field[] }) => catalog.filterable_fields);
    assert.equal(
      fields.map(list => list.length),
      [9, 3, 3, 0],
    );
    assert.equal(
      fields[1]!.map(({ name, unit, column }) => [name, unit, column]),
      [
        ['dnf_z', 'dimensionless', 'DNF_Z'],
        ['dnf_zsigma', 'dimensionless', 'DNF_ZSIGMA'],
        ['ext_mash', 'class code (0-4)', 'EXT_MASH'],
      ],
    );
    assert.equal(fields[2]![0]!.parameters, ['delve_dr3_gold.dnf_z_min', 'delve_dr3_gold.dnf_z_max']);
    const derived = fields[0]!.at(-1)!;
    assert.equal([derived.name, derived.column], ['parallax_over_error', null]);
    assert.equal(derived.derived_from, { numerator: 'parallax', denominator: 'parallax_error' });
    assert.is(fields[0]![0]!.derived_from, null);
  });
});

test('the connector, with the tools of the contract [Connector]', async () => {
  await withoutDatabase({}, async ask => {
    const { mcp } = JSON.parse((await ask('/api/describe')).text);
    assert.equal(
      [mcp.path, mcp.method, mcp.transport, mcp.authentication],
      ['/mcp', 'POST', 'streamable_http', 'none'],
    );
    assert.equal(mcp.tools, [
      { name: 'lookup_rubin_transients', title: 'Look up Rubin transients' },
      { name: 'search_rubin_transients_near_position', title: 'Search Rubin transients near a position' },
      { name: 'describe_crossmatch_service', title: 'Describe the crossmatch service' },
    ]);
    assert.match(mcp.description, /\/mcp\/archive .*list_recent_rubin_transients, query_rubin_archive\.$/);
  });
});

test('it follows the settings [Status and descriptions]', async () => {
  await withoutDatabase(
    {
      API_MAX_IDS: '7',
      CROSSMATCH_RADIUS_ARCSEC: '2.5',
      RECENT_CROSSMATCH_MAX_WINDOW_HOURS: '24',
      APP_VERSION: ' ',
      JOBS_MAX: '4',
      JOBS_MAX_MIB: '5',
      JOBS_HOURS: '0.5',
      JOBS_SECONDS: '6',
      ...Object.assign({}, ...FACTS.map(({ configured }) => configured?.settings)),
    },
    async ask => {
      const body = JSON.parse((await ask('/api/describe')).text);
      assert.is(body.limits.max_ids, 7);
      assert.is(body.limits.recent_crossmatches.max_window_hours, 24);
      assert.equal(Object.values(body.limits.jobs), [4, 4, 5 * 2 ** 20, 0.5, 6, 45]);
      for (const [key, own] of FACTS.flatMap(({ configured }) => Object.entries(configured?.limits ?? {})))
        assert.equal({ ...body.limits[key], ...own }, body.limits[key], key);
      assert.equal([body.crossmatch.radius_arcsec, body.provenance.crossmatch_radius_arcsec], [2.5, 2.5]);
      assert.is(body.provenance.service_version, version);
    },
  );
});

test('another method is 405 with Allow', async () => {
  await withoutDatabase({}, async ask => {
    for (const path of ['/api/describe', '/openapi.json', '/llms.txt', '/api-docs.md']) {
      const allow = path === '/llms.txt' || path === '/api-docs.md' ? 'GET, HEAD' : 'GET';
      for (const method of ['POST', 'OPTIONS', 'DELETE']) {
        const { status, headers, text } = await ask(path, { method });
        assert.is(status, 405, `${method} ${path}`);
        assert.is(headers.get('Allow'), allow);
        assert.is(JSON.parse(text).code, 'method_not_allowed');
      }
    }
    assert.is((await ask('/api/describe/')).status, 404);
    assert.is((await ask('/openapi.json/')).status, 404);
  });
});

test.run();
