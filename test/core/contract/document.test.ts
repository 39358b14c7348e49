/** The OpenAPI document against the rules of the contract (docs/contract.md, Status and descriptions), written out here once more by hand. */

import { toJson } from '@nearsky/astrotables/json';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openApiDocument } from '../../../src/capabilities/documents/openapi_document.ts';
import { CATALOGS } from '../../../src/core/contract/catalogs.ts';
import { filterableFields } from '../../../src/core/contract/filters.ts';
import { TABLE_FORMATS } from '../../../src/core/contract/formats.ts';
import { API } from '../../capabilities.ts';
import { version } from '../../directory.ts';
import { needs, toolObstacle } from '../../needs.ts';
import { FACTS } from '../facts.ts';
import { GENERIC_FILTERS } from './suite/filters.ts';
import { configWith, DECLARED } from './support.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads any key of the document and fails where it is not there
type Json = any;

const test = suite('contract/document');

const text = toJson(openApiDocument(API, configWith(DECLARED)));
const document: Json = JSON.parse(text);
const schemas: Record<string, Json> = document.components.schemas;
const words = (list: string) => list.split(/[\s,]+/).filter(word => word !== '');

/** The target of a reference, or the value itself if it is not a reference. */
function resolved(value: Json): Json {
  const keys: string[] = value.$ref === undefined ? [] : value.$ref.split('/').slice(1);
  return keys.length === 0 ? value : keys.reduce((each, key) => each[key], document);
}

/** Every schema in the document, with its location as a path of keys. */
function* everySchema(
  value: Json = document,
  path: readonly string[] = [],
): Generator<readonly [readonly string[], Json]> {
  if (typeof value !== 'object' || value === null || path.at(-1) === 'examples') return;
  yield [path, value];
  for (const [key, member] of Object.entries(value)) yield* everySchema(member, [...path, key]);
}

/** The statuses of every operation, and those of an operation that may fail. */
const STATUSES = words('200 400 405 408 431');
const FAILING = '500 501 505';

/** Path, method, operation, and the further statuses. */
const PATHS: readonly (readonly [string, string, string, string])[] = [
  ['/openapi.json', 'get', 'get_openapi', FAILING],
  ['/api/objects/{diaObjectId}', 'get', 'get_object', `404 503 ${FAILING}`],
  ['/api/lookup', 'post', 'lookup_objects', `503 ${FAILING}`],
  ['/api/cone', 'get', 'cone_search', `503 ${FAILING}`],
  ['/api/tns/{name}', 'get', 'resolve_tns', `404 503 ${FAILING}`],
  ['/api/status', 'get', 'service_status', ''],
  ['/api/describe', 'get', 'describe_service', FAILING],
  ['/api/recent-crossmatches', 'get', 'recent_crossmatches', `503 ${FAILING}`],
];
/** Our own codes, after those of the contract. */
const ROWS = API.operations;
const OWN = new Set(ROWS.filter(({ document }) => document).map(({ path }) => path.replace(/:(\w+)/g, '{$1}')));
const FURTHER = [
  ...OWN.difference(new Set(PATHS.map(([path]) => path))),
  ...FACTS.flatMap(({ resources = [] }) => resources),
];

/** The methods of a resource of the Virtual Observatory (TAP 1.1; UWS 1.1, section 2.2). */
function methodsOf(path: string): string {
  if (path.endsWith('{id}')) return 'get post delete';
  const [, base, part] = /^\/vo\/(tap\/sync|tap\/async|jobs|samples)(?:\/\{id\}\/(.*))?$/.exec(path) ?? [];
  const isTap = base === 'tap/sync' || base === 'tap/async';
  const isSent = part === undefined || part === 'parameters' ? isTap : /^(phase|destruction|execution)/.test(part);
  return isSent ? 'get post' : 'get';
}

test('it is OpenAPI 3.1.0, of the contract version, without servers, security or tags', () => {
  assert.equal(Object.keys(document), ['openapi', 'info', 'paths', 'components']);
  assert.is(document.openapi, '3.1.0');
  assert.is(document.info.version, '1.0.0');
  for (const said of [
    version,
    '1.0.0',
    'ICRS',
    'nearest',
    'host association',
    'not evidence',
    '1.0 arcsec',
    'leap seconds',
  ]) {
    assert.ok(document.info.description.includes(said), said);
  }
});

test('the paths are those of the contract, in its order, and our own [Routes]', () => {
  const expected = [...PATHS.map(([path]) => path), ...FURTHER];
  assert.equal(Object.keys(document.paths), expected);
  for (const [path, methods] of Object.entries<Json>(document.paths).filter(([path]) => path.startsWith('/vo/')))
    assert.is(Object.keys(methods).join(' '), methodsOf(path), path);
  assert.equal(Object.keys(document.paths['/api/task/']), ['get', 'head', 'options']);
  for (const [path, method, operationId, statuses] of PATHS) {
    assert.equal(Object.keys(document.paths[path]), [method], path);
    assert.is(document.paths[path][method].operationId, operationId);
    assert.equal(Object.keys(document.paths[path][method].responses), [...STATUSES, ...words(statuses)].sort(), path);
  }
});

test('every operation has its own id, a summary and a description; every error is an Error, or a ServerError below the API', () => {
  const ids: string[] = [];
  for (const methods of Object.values<Json>(document.paths)) {
    for (const { operationId, summary, description, responses } of Object.values<Json>(methods)) {
      ids.push(operationId);
      assert.ok(summary.length > 0 && description.length > 0, operationId);
      for (const [status, response] of Object.entries<Json>(responses)) {
        const { description, content, headers } = resolved(response);
        assert.ok(description.length > 0 && Object.keys(headers).length > 0, operationId);
        if (+status < 400) continue;
        if ('application/x-votable+xml' in content) assert.match(operationId, /query/);
        else {
          const name = ['400', '405', '503'].includes(status) ? 'Error' : 'ServerError';
          assert.is(content['application/json'].schema.$ref, `#/components/schemas/${name}`);
        }
      }
    }
  }
  assert.is(new Set(ids).size, ids.length);
});

test('what operations answer', () => {
  const answer = (path: string, method = 'get') =>
    document.paths[path][method].responses['200'].content['application/json'].schema;
  const oneOf = (...names: string[]) => ({ oneOf: names.map(name => ({ $ref: `#/components/schemas/${name}` })) });
  assert.equal(answer('/api/objects/{diaObjectId}'), oneOf('LookupResponse', 'CountResponse'));
  assert.equal(answer('/api/lookup', 'post'), oneOf('LookupResponse', 'CountResponse'));
  assert.equal(answer('/api/tns/{name}'), oneOf('LookupResponse', 'CountResponse'));
  assert.equal(answer('/api/cone'), oneOf('ConeSearchResponse', 'CountResponse'));
  assert.is(answer('/api/recent-crossmatches').$ref, '#/components/schemas/RecentCrossmatchesPage');
  assert.is(answer('/api/status').$ref, '#/components/schemas/ServiceStatus');
  assert.is(answer('/api/describe').$ref, '#/components/schemas/ServiceDescription');
  assert.equal(answer('/openapi.json').required, ['openapi', 'info', 'paths']);
});

const FIELDS = CATALOGS.flatMap(catalog =>
  filterableFields(catalog).map(({ name, unit }) => ({ name: `${catalog.name}.${name}`, unit })),
);
const FILTER_NAMES = [
  ...GENERIC_FILTERS.map(([name]) => name),
  ...FIELDS.flatMap(({ name }) => [`${name}_min`, `${name}_max`]),
];

test('the parameters of each operation; of the contract only those of the path are required', () => {
  const names = (path: string, method = 'get') =>
    document.paths[path][method].parameters.map((parameter: Json) => parameter.name).slice(0, -1);
  const filtered = ['format', ...FILTER_NAMES, 'response'];
  assert.equal(names('/api/objects/{diaObjectId}'), ['diaObjectId', 'detail', ...filtered, 'at']);
  assert.equal(names('/api/cone'), [...words('ra dec radius_arcsec detail page_size cursor'), ...filtered, 'at']);
  assert.equal(names('/api/tns/{name}'), ['name', 'radius_arcsec', 'detail', ...filtered]);
  assert.equal(names('/api/recent-crossmatches'), words('start end time_field detail page_size cursor format'));
  assert.equal(
    document.paths['/api/lookup'].post.parameters.map((parameter: Json) => parameter.name),
    ['format', 'ra_unit', 'X-Log-Position'],
  );
  assert.equal(Object.keys(schemas.Filters.properties), FILTER_NAMES);
  for (const { parameters } of FACTS)
    for (const [operation, expected] of Object.entries(parameters?.(FILTER_NAMES) ?? {})) {
      const [method, path] = operation.split(' ') as [string, string];
      assert.equal(names(path, method), expected, operation);
    }
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    if (path === '/api/sources' || path === '/vo/tap/sync') continue;
    const last = Object.values<Json>(methods).map(({ parameters }) => parameters.at(-1).name);
    assert.equal([...new Set(last)], ['X-Log-Position'], path);
    for (const parameter of Object.values<Json>(methods).flatMap(operation => operation.parameters ?? [])) {
      assert.is(parameter.required, parameter.in === 'path', parameter.name);
    }
  }
  const [id] = document.paths['/api/objects/{diaObjectId}'].get.parameters;
  assert.is(id.schema.$ref, '#/components/schemas/DiaObjectIdStr');
  assert.is(document.paths['/api/tns/{name}'].get.parameters[0].schema.maxLength, 64);
});

const OPEN = words('Envelope MatchSummary PublishedMatch RecentObject RecentCrossmatchesPage');
const CLOSED =
  words(`CatalogRelease ReliabilityCut Provenance Error IdInput PositionInput TnsInput LookupRequest ProvenanceSet Crossmatch
  LookupObject IdResult PositionResult TnsResult InvalidInputResult TnsRecord ObjectTns LookupResponse ConeSearchResponse Filters
  CountResponse ServiceStatus FilterableField CatalogDescription ServiceDescription`);
const OTHERS =
  words(`DiaObjectId DiaObjectIdStr ObjectStatus InputStatus CatalogOutcome ErrorCode QualifiesReason CutEnforcedBy CutStatus
  LookupInput LookupMatch LookupResult`);

/**
 * The forms that the contract describes inside of LookupMatch. They have names, because generators of clients cannot
 * name them themselves.
 */
const NAMED_PARTS = words('LookupPublishedMatch LookupMatchSummary');
/** Errors below the API. */
const OF_SERVER = words('ServerError ServerErrorCode');

test('the components are the 42 of the contract, the two parts of one, two for errors below the API, and those of capabilities [Status and descriptions]', () => {
  const ofContract = [...OPEN, ...CLOSED, ...OTHERS];
  assert.is(ofContract.length, 42);
  assert.equal(
    Object.keys(schemas).sort(),
    [...ofContract, ...NAMED_PARTS, ...OF_SERVER, ...Object.keys(API.schemas)].sort(),
  );
});

test('what is closed is closed, nested objects too; what is open is open [Status and descriptions]', () => {
  for (const name of OPEN) assert.is(schemas[name].additionalProperties, undefined, name);
  for (const name of CLOSED) {
    for (const [path, schema] of everySchema(schemas[name], [name])) {
      if (schema.properties && path.at(-1) !== 'param') assert.is(schema.additionalProperties, false, path.join('.'));
    }
  }
});

test('alternatives: what a match, an input and a result can be', () => {
  const named = (parts: Json[]) => parts.map(part => part.$ref.split('/').at(-1));
  assert.equal(named(schemas.LookupInput.oneOf), ['IdInput', 'PositionInput', 'TnsInput']);
  assert.equal(named(schemas.LookupResult.oneOf), ['IdResult', 'PositionResult', 'TnsResult', 'InvalidInputResult']);
  assert.equal(named(schemas.LookupMatch.anyOf), NAMED_PARTS);
  const alternatives: Json[] = NAMED_PARTS.map(name => schemas[name]);
  assert.equal(named(alternatives.map(({ allOf }) => allOf[0])), ['PublishedMatch', 'MatchSummary']);
  for (const { allOf } of alternatives) assert.equal(allOf[1].required, ['provenance_set']);
});

/** The unit of a number by its key, or by the name of its component. */
function unitOf(path: readonly string[]): string | undefined {
  const key = path.at(-1)!;
  const within = path.join('.');
  if (['ra', 'dec', 'radius_deg'].includes(key)) return 'deg';
  if (key.endsWith('_arcsec') || key.endsWith('_arcsec_max')) return 'arcsec';
  if (key.endsWith('_arcmin')) return 'arcmin';
  if (key.endsWith('_seconds') || /Retry-After|Max-Age|WAIT|EXECUTIONDURATION/.test(within)) return 's';
  if (key.endsWith('_hours')) return 'h';
  if (key.endsWith('_days')) return 'd';
  if (key.endsWith('_bytes')) return 'byte';
  if (key.endsWith('_deg2')) return 'deg²';
  if (key.includes('.')) return undefined;
  if (key.startsWith('reliability_') || ['reliability', 'min_reliability', 'level', 'credible_level'].includes(key))
    return 'probability';
  if (key === 'redshift') return 'dimensionless';
  if (key.endsWith('_probability')) return 'probability';
  if (key === 'normalized_separation') return 'dimensionless';
  if (key === 'source_density') return 'arcmin**-2';
  if (key === 'sources_within_radius') return 'count';
  if (['DiaObjectId', 'objid'].includes(key)) return 'identifier';
  if (within.endsWith('X-Journal-Entry') || ['at', 'AT', 'since'].includes(key)) return 'entry';
  if (key === 'index') return 'index';
  if (key === 'resolution') return 'H3 resolution';
  if (within.includes('by_catalog')) return 'share';
  if (key === 'match_version') return 'version';
  if (key === 'footprint_moc_order' || key === 'order') return 'HEALPix order';
  if (within.includes('.edges')) return 'deg';
  if (within.endsWith('-Count') || key === 'MAXREC' || key === 'LAST') return 'count';
  const counted =
    /^(count|limit|total|uncounted|rows|without_position|page_size|default_limit|qualifying|qualifying_total|max_\w+|default_page_size)$/;
  const inSample: Readonly<Record<string, string>> = {
    from: 'deg',
    to: 'deg',
    journal_entry: 'entry',
    fraction: 'fraction',
  };
  if (/_mag$|^magnitude$/.test(key)) return 'mag';
  if (key === 'galactic_latitude') return 'deg';
  if (/\/api\/validation|\bValidation\b/.test(within)) {
    if (key === 'journal_entry') return 'entry';
    if (key === 'seed') return 'seed';
    if (within.includes('displacement_arcsec')) return 'arcsec';
    if (['from', 'to'].includes(key)) return within.includes('chance_probability') ? 'fraction' : 'arcmin**-2';
    return /\.(fraction|interval)(\.|$)/.test(within) ? 'fraction' : 'count';
  }
  if (/\/api\/sample|\b(SampleReport|KeptSample)\b/.test(within)) {
    if (within.includes('groups')) return 'index';
    if (within.includes('contaminated.properties.interval')) return 'fraction';
    return inSample[key] ?? 'count';
  }
  if (counted.test(key) || within.includes('by_status') || within.includes('by_qualifies_reason')) return 'count';
  throw new Error(`no unit is known for ${within}`);
}

const FILTER_UNITS = Object.fromEntries([
  ...FIELDS.map(({ name, unit }) => [name, unit]),
  ...GENERIC_FILTERS.map(([name, , , unit]) => [name, unit]),
]);

/** Keys that locate a schema, without those that do not affect its value. */
function meaningfulPath(path: readonly string[]): string[] {
  const parameter = path.indexOf('parameters');
  if (parameter < 0) return path.filter(key => !['anyOf', 'schema', '0', '1'].includes(key));
  const [, route, method] = path;
  return [document.paths[route!][method!].parameters[Number(path[parameter + 1])].name];
}

test('every number has its unit [Purpose; Status and descriptions]', () => {
  let numbers = 0;
  for (const [path, schema] of everySchema()) {
    const types = [schema.type ?? []].flat();
    if (!types.includes('number') && !types.includes('integer')) {
      assert.is(schema['x-unit'], undefined, path.join('.'));
      continue;
    }
    numbers++;
    const place = meaningfulPath(path);
    const key = place.at(-1)!;
    const field = /^(\w+\.\w+)_(min|max)$/.exec(key)?.[1] ?? key;
    assert.is(schema['x-unit'], field in FILTER_UNITS ? FILTER_UNITS[field] : unitOf(place), path.join('.'));
  }
  assert.ok(numbers > 150, `${numbers} numbers`);
});

const ENUMERATIONS: Readonly<Record<string, string>> = {
  ObjectStatus: 'not_in_service crossmatch_pending coincident_sources no_coincident_source not_searched',
  InputStatus: 'no_rubin_object objects_found tns_name_not_found resolver_unavailable invalid_input',
  CatalogOutcome: `searched outside_footprint skipped_read_failure not_searched_invalid_position not_recorded
    not_in_service_at_crossmatch`,
  ErrorCode: `invalid_parameter method_not_allowed query_too_expensive service_unavailable filters_span_catalogs unsupported_parameter`,
  ServerErrorCode:
    'not_found internal_error request_timeout headers_too_large not_implemented http_version_not_supported',
  QualifiesReason: `meets_filters object_filters_not_met no_source_meets_filters no_object_meets_filters not_in_service crossmatch_pending
    no_coincident_source not_searched no_rubin_object tns_name_not_found resolver_unavailable invalid_input`,
  CutEnforcedBy: 'service broker',
  CutStatus: 'service_setting declared not_declared',
};

test('enumerations list their values in the order of the contract', () => {
  for (const [name, values] of Object.entries(ENUMERATIONS)) assert.equal(schemas[name].enum, words(values), name);
});

test('the description of every enumeration explains each of its values', () => {
  for (const [path, { enum: values, description }] of everySchema()) {
    if (!Array.isArray(values)) continue;
    for (const value of values.filter(value => value !== null)) {
      assert.match(description, new RegExp(`\`${value}\`:? \\w`), `${path.join('.')}: ${value}`);
    }
  }
});

/**
 * Everything that the service can emit, according to the contract, where the document has an enumeration or a constant.
 * The last line is our own.
 */
const EMITTED = new Set(
  words(`${Object.values(ENUMERATIONS).join(' ')} ids position matches full ingest_time event_time objects count id position tns
    per_input_limit per_request_limit recorded not_recorded best_guess_current_settings ok available unavailable deg h
    ${[...CATALOGS, ...TABLE_FORMATS].map(({ name }) => name).join(' ')} json msgpack min max
    ${FACTS.map(({ emitted = '' }) => emitted).join(' ')}`),
);

test('the document has every string of the contract in an enumeration or a constant, and no other', () => {
  const found = new Set<string>();
  for (const [, schema] of everySchema()) {
    const values = [...(Array.isArray(schema.enum) ? schema.enum : []), schema.const];
    for (const value of values) if (typeof value === 'string') found.add(value);
  }
  assert.equal([...found].sort(), [...EMITTED].sort());
});

test('constraints of single schemas', () => {
  const { x: _, ...id } = schemas.DiaObjectId;
  assert.equal([id.type, id.format, id.minimum], ['integer', 'int64', 0]);
  assert.equal(schemas.DiaObjectIdStr.pattern, '^[0-9]+$');
  const { ra, dec, radius_arcsec: radius } = schemas.PositionInput.properties;
  assert.equal([ra.minimum, ra.maximum, dec.minimum, dec.maximum], [0, 360, -90, 90]);
  assert.equal([radius.exclusiveMinimum, radius.maximum], [0, 60]);
  const cone = schemas.ConeSearchResponse.properties;
  assert.equal(
    [cone.count.const, cone.truncated.const, cone.results.minItems, cone.results.maxItems],
    [1, false, 1, 1],
  );
  assert.equal(cone.next_cursor.type, ['string', 'null']);
  const { objects } = schemas.IdResult.properties;
  assert.equal([objects.minItems, objects.maxItems], [1, 1]);
  const invalid = schemas.InvalidInputResult.properties;
  assert.equal([invalid.status.const, invalid.objects.maxItems], ['invalid_input', 0]);
  assert.is(schemas.TnsInput.properties.name.maxLength, 64);
  assert.equal(schemas.PositionInput.required, ['kind', 'ra', 'dec']);
  assert.equal(schemas.LookupRequest.required, ['inputs']);
});

test('the document follows the configuration [Settings and limits]', () => {
  const changed: Json = openApiDocument(
    API,
    configWith({
      API_MAX_CONE_RADIUS_ARCSEC: '30',
      TNS_MATCH_RADIUS_ARCSEC: '2.5',
      API_MAX_IDS: '7',
      API_MAX_POSITIONS: '5',
      APP_VERSION: '9.9.9',
    }),
  );
  const parameters = changed.paths['/api/tns/{name}'].get.parameters;
  const radius = parameters.find((parameter: Json) => parameter.name === 'radius_arcsec').schema;
  assert.equal([radius.maximum, radius.default], [30, 2.5]);
  assert.is(changed.components.schemas.PositionInput.properties.radius_arcsec.maximum, 30);
  assert.is(changed.components.schemas.LookupRequest.properties.inputs.maxItems, 12);
  assert.ok(changed.info.description.includes('9.9.9'));
});

test('every schema is one that a strict validator takes, and the examples are valid', () => {
  const ajv = new Ajv2020({ strict: true, strictTypes: 'log', strictRequired: false, logger: false });
  ajv.addVocabulary(['x-unit', 'openapi', 'info', 'paths', 'components']);
  for (const format of ['int64', 'date', 'date-time']) ajv.addFormat(format, true);
  ajv.addSchema(document, 'openapi');
  for (const name of Object.keys(schemas)) {
    const validate = ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
    for (const example of schemas[name].examples ?? []) assert.ok(validate(example), name);
  }
  assert.ok(schemas.Provenance.examples.length > 0);
});

/** Linter rules that the contract itself breaks, each with the reason. */
const AGAINST_THE_CONTRACT = {
  'no-empty-servers': 'off', // no `servers`: addresses are relative to where the document was found
  'security-defined': 'off', // access is public
  'info-license': 'off', // the contract fixes what `info` has
  'no-path-trailing-slash': 'off', // /api/task/ has one
  'operation-2xx-response': 'off', // UWS has changes of jobs answered by 303
} as const;

needs(test, toolObstacle('@redocly/openapi-core'))('a linter of OpenAPI 3.1 finds nothing', async () => {
  const { createConfig, lintFromString } = await import('@redocly/openapi-core');
  const lint = async (source: string) => {
    const config = await createConfig({ extends: ['recommended-strict'], rules: AGAINST_THE_CONTRACT });
    const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
    return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`);
  };
  assert.equal(await lint(text), []);
  const broken = text
    .replace('"operationId": "get_object"', '"operationId": "get_openapi"')
    .replace('"minimum": 0', '"minimum": "0"');
  assert.is((await lint(broken)).length >= 2, true, 'the linter sees what is wrong');
});

test.run();
