import * as assert from 'uvu/assert';
import { hasKeys, section } from './check.ts';
import { FILTER_NAMES, GENERIC_FILTERS } from './filters.ts';
import type { Json } from './service.ts';

const CATALOGS = {
  gaia_dr3: ['source_id', 8, 13.7, 9],
  des_y6_gold: ['COADD_OBJECT_ID', 6, 55, 3],
  delve_dr3_gold: ['COADD_OBJECT_ID', 10, 3.4, 3],
  skymapper_dr4: ['object_id', 8, 13.7, 0],
} as const;

const describe = section('Status and descriptions: describe_service', {
  'its keys': async service => {
    const body = await service.ok('/api/describe');
    const keys =
      'provenance catalogs crossmatch tns limits detail_levels default_detail response_modes generic_filters reliability_cuts ' +
      'provenance_recording_release mcp';
    hasKeys(body, keys);
    assert.equal([body.default_detail, body.provenance_recording_release], ['matches', '0.15.0']);
    assert.equal(body.reliability_cuts, body.provenance.reliability_cuts);
    hasKeys(body.crossmatch, 'radius_arcsec nearest_source_per_catalog description');
    assert.equal([body.crossmatch.radius_arcsec, body.crossmatch.nearest_source_per_catalog], [1, true]);
    assert.match(body.crossmatch.description, /nearest/);
    assert.equal(body.tns, { default_radius_arcsec: 1, max_radius_arcsec: 60 });
  },
  'the limits of the contract': async service => {
    const { tables, areas, streams, sources, samples, jobs, tap, ...limits } = (await service.ok('/api/describe'))
      .limits;
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
  },
  'the catalogs, in order, with their source ids, coverage maps and filterable fields': async service => {
    const { catalogs } = await service.ok('/api/describe');
    assert.equal(
      catalogs.map((catalog: Json) => catalog.name),
      Object.keys(CATALOGS),
    );
    for (const { name, catalog_source_id, coverage_map, filterable_fields } of catalogs) {
      const [column, order, arcmin, fields] = CATALOGS[name as keyof typeof CATALOGS];
      assert.is(catalog_source_id.column, column);
      // Coarser if the copy's map is coarser; the note then has the catalog's own order.
      const inForce = coverage_map.footprint_moc_order;
      assert.ok(inForce <= order, `${name} has order ${inForce}`);
      assert.ok(
        Math.abs(coverage_map.resolution_arcmin - arcmin * 2 ** (order - inForce)) <=
          0.05 * 2 ** (order - inForce) + 0.05,
      );
      if (inForce < order) assert.match(coverage_map.note, `${order}`);
      assert.match(coverage_map.note, /searched/);
      assert.is(filterable_fields.length, fields);
      for (const field of filterable_fields) hasKeys(field, 'name unit description column derived_from parameters');
    }
    const derived = catalogs[0].filterable_fields.at(-1);
    assert.equal([derived.name, derived.column], ['parallax_over_error', null]);
    assert.equal(derived.derived_from, { numerator: 'parallax', denominator: 'parallax_error' });
    const dnf = catalogs[1].filterable_fields[0];
    assert.equal([dnf.name, dnf.column, dnf.unit, dnf.derived_from], ['dnf_z', 'DNF_Z', 'dimensionless', null]);
  },
  'levels, modes and filters, all of them': async service => {
    const body = await service.ok('/api/describe');
    const names = (list: Json) => list.map((entry: Json) => entry.name);
    assert.equal(names(body.detail_levels), ['ids', 'position', 'matches', 'full']);
    assert.equal(names(body.response_modes), ['objects', 'count']);
    assert.equal(
      body.generic_filters.map(({ description, ...filter }: Json) => Object.values(filter)),
      GENERIC_FILTERS,
    );
    const ofCatalogs = body.catalogs.flatMap((catalog: Json) =>
      catalog.filterable_fields.flatMap((field: Json) => field.parameters),
    );
    assert.equal([...names(body.generic_filters), ...ofCatalogs], FILTER_NAMES);
  },
  'the connector': async service => {
    const { mcp } = await service.ok('/api/describe');
    hasKeys(mcp, 'path method transport authentication description tools');
    assert.equal(
      [mcp.path, mcp.method, mcp.transport, mcp.authentication],
      ['/mcp', 'POST', 'streamable_http', 'none'],
    );
    assert.equal(
      mcp.tools.map((tool: Json) => tool.name),
      ['lookup_rubin_transients', 'search_rubin_transients_near_position', 'describe_crossmatch_service'],
    );
  },
});

const status = section('Status and descriptions: service_status', {
  'its keys and values [Provenance]': async service => {
    const body = await service.ok('/api/status');
    hasKeys(body, 'provenance database service_version contract_version tns_resolution tns_snapshot_epoch');
    assert.equal([body.database, body.contract_version, body.tns_resolution], ['ok', '1.0.0', 'available']);
    assert.is(body.service_version, body.provenance.service_version);
    assert.ok(Date.now() - Date.parse(body.tns_snapshot_epoch) <= 7200e3);
  },
});

const PATHS = {
  '/openapi.json': ['get', 'get_openapi', '200 405'],
  '/api/objects/{diaObjectId}': ['get', 'get_object', '200 400 405 503'],
  '/api/lookup': ['post', 'lookup_objects', '200 400 405 503'],
  '/api/cone': ['get', 'cone_search', '200 400 405 503'],
  '/api/tns/{name}': ['get', 'resolve_tns', '200 400 405 503'],
  '/api/status': ['get', 'service_status', '200 405'],
  '/api/describe': ['get', 'describe_service', '200 405'],
  '/api/recent-crossmatches': ['get', 'recent_crossmatches', '200 400 405 503'],
} as const;

/** Every schema, and all that is in it. */
function* schemasIn(value: Json): Generator<Json> {
  if (typeof value !== 'object' || value === null) return;
  yield value;
  for (const [key, member] of Object.entries(value)) if (key !== 'examples') yield* schemasIn(member);
}

const openapi = section('Status and descriptions: get_openapi', {
  'OpenAPI 3.1.0, of the contract version; the paths in order, with their operations and statuses': async service => {
    const document = await service.ok('/openapi.json');
    assert.equal([document.openapi, document.info.version], ['3.1.0', '1.0.0']);
    for (const key of ['servers', 'security', 'tags']) assert.not(key in document);
    assert.equal(
      Object.keys(document.paths).filter(path => path in PATHS),
      Object.keys(PATHS),
    );
    for (const [path, [method, id, statuses]] of Object.entries(PATHS)) {
      const operation = document.paths[path][method];
      assert.is(operation.operationId, id);
      for (const status of statuses.split(' ')) assert.ok(status in operation.responses, `${id}: ${status}`);
      const failures = Object.keys(operation.responses).filter(status => status >= '500');
      if (id === 'service_status') assert.equal(failures, [], id);
      if (!statuses.includes('503')) assert.not(failures.includes('503'), id);
      assert.ok(operation.summary && operation.description, id);
    }
  },
  'every number names its unit': async service => {
    const { components } = await service.ok('/openapi.json');
    for (const schema of schemasIn(components.schemas)) {
      const types = [schema.type].flat();
      if (types.includes('number') || types.includes('integer'))
        assert.type(schema['x-unit'], 'string', JSON.stringify(schema));
    }
  },
  'every filter is a parameter of the operations that have them, and every code is listed': async service => {
    const { paths, components } = await service.ok('/openapi.json');
    for (const path of ['/api/objects/{diaObjectId}', '/api/cone', '/api/tns/{name}']) {
      const inQuery = paths[path].get.parameters.filter((parameter: Json) => parameter.in === 'query');
      const names = inQuery.map((parameter: Json) => parameter.name);
      const from = names.indexOf(FILTER_NAMES[0]);
      assert.equal(names.slice(from, from + FILTER_NAMES.length + 1), [...FILTER_NAMES, 'response'], path);
    }
    const codes =
      'invalid_parameter method_not_allowed query_too_expensive service_unavailable filters_span_catalogs unsupported_parameter';
    assert.equal(components.schemas.ErrorCode.enum, codes.split(' '));
  },
});

const tasks = section('Tasks', {
  'the bare list of 17 names; GET, HEAD and OPTIONS; 405 for the others [Tasks]': async service => {
    const { status, body, headers } = await service.get('/api/task/');
    assert.equal(
      [status, body.length, body[0], body[16]],
      [200, 17, { name: 'Host match' }, { name: 'Generate thumbnail SED global' }],
    );
    assert.is(headers.get('Allow'), 'GET, HEAD, OPTIONS');
    const head = await service.send('HEAD', '/api/task/');
    assert.equal([head.status, head.text, head.headers.get('Allow')], [200, '', 'GET, HEAD, OPTIONS']);
    assert.is((await service.send('OPTIONS', '/api/task/')).status, 200);
    const post = await service.send('POST', '/api/task/');
    assert.equal(
      [post.status, post.headers.get('Allow'), post.body.code],
      [405, 'GET, HEAD, OPTIONS', 'method_not_allowed'],
    );
  },
  'without its slash it is a redirect': async service => {
    const { status, headers } = await service.get('/api/task');
    assert.equal([status, headers.get('Location')], [301, '/api/task/']);
  },
});

export const serviceItself = [...describe, ...status, ...openapi, ...tasks];
