/**
 * Clients that generators make from the OpenAPI document, against a running service: they can be imported, and return
 * what the service sends. `test/clients/generators/fetch.sh` gets the generators; generators that it could not get are
 * skipped.
 */
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Json } from '../core/http/support.ts';
import { needs } from '../needs.ts';
import { FIRST_ID, OBJECTS, Service } from './support.ts';

const HERE = fileURLToPath(new URL('./generators/', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CACHE = join(ROOT, '.cache/generators');
const PYTHON = join(CACHE, 'python/bin/python');
const JAR = join(CACHE, 'openapi-generator-cli.jar');
const NODE_MODULES = join(CACHE, 'node/node_modules');
const TSC = join(ROOT, 'test/node_modules/.bin/tsc');

interface Context {
  service: Service;
  directory: string;
  /** The file of the document. */
  document: string;
}

const test = suite<Context>('clients/generated');
test.before(async context => {
  // Generated clients follow redirects to the service's own address.
  context.service = await Service.start('');
  context.directory = mkdtempSync(join(tmpdir(), 'nearsky-generated-'));
  context.document = join(context.directory, 'openapi.json');
  writeFileSync(context.document, await (await fetch(`${context.service.url}/openapi.json`)).text());
});
test.after(async ({ service, directory }) => {
  await service.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Runs a program without blocking this thread, which serves. */
async function run(command: string, args: readonly string[], cwd: string): Promise<{ out: string; errors: string }> {
  const child = spawn(command, args, { cwd, env: { ...process.env, PYTHONPATH: cwd, PYTHONDONTWRITEBYTECODE: '1' } });
  let out = '';
  let errors = '';
  child.stdout.on('data', data => (out += data));
  child.stderr.on('data', data => (errors += data));
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  assert.is(status, 0, out + errors);
  return { out, errors };
}

/** The answers that a client received. */
const answersOf = async (...command: Parameters<typeof run>): Promise<Json> => JSON.parse((await run(...command)).out);

/** Runs a generator, and returns its warnings: some write them to stdout, some to stderr. */
async function generate(warning: RegExp, ...command: Parameters<typeof run>): Promise<string[]> {
  const { out, errors } = await run(...command);
  return [...`${out}\n${errors}`.matchAll(warning)].map(([, text]) =>
    text!.replaceAll(/<.*?> /g, '').replaceAll(/\s+/g, ' '),
  );
}

/**
 * The warnings of openapi-python-client, which leaves out what it cannot send or read: bodies of other types than bytes
 * (it sends bytes of any form), and answers that are XML by another name than text/xml, such as VOTable.
 */
async function leftOut({ app }: Service): Promise<string[]> {
  const { paths, components }: Json = (await app.get('/openapi.json')).body;
  const [SENT, READ] = [/\/json$|octet-stream$|form/, /^text\/|\/json$/];
  const ofOperation = ({ requestBody, responses }: Json, title: string) => {
    const types = Object.keys(requestBody?.content ?? {});
    const unsent = types.filter(type => !SENT.test(type));
    assert.ok(unsent.length === 0 || types[0] === 'application/octet-stream', title);
    const answers = Object.values<Json>(responses)
      .map(({ $ref, content }) => ($ref ? components.responses[$ref.split('/').at(-1)].content : content))
      .map(content => Object.keys(content ?? {}));
    const unread = answers.filter(types => types.length > 0 && !types.some(type => READ.test(type)));
    return [
      ...unsent.map(type => `Unsupported content type ${type}`),
      ...unread.map(
        types =>
          `Cannot parse response for status code (Unsupported content_type ${types.join(', ')}), response will be omitted from generated client`,
      ),
    ].map(text => `parsing ${title} within default. ${text}`);
  };
  return Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).flatMap(([method, operation]) =>
      ofOperation(operation, `${method.toUpperCase()} ${path}`),
    ),
  );
}

/** Runs where these files are, all of which `fetch.sh` gets. */
const withFiles = (...files: string[]) => {
  const missing = files.find(file => !existsSync(file));
  return needs(
    test,
    missing &&
      `there is no ${missing.replace(ROOT, '')}: test/clients/generators/fetch.sh and test/tools.sh get what is needed`,
  );
};

/** The operations that the clients call in addition to those whose answers `expected` examines. */
const LOOKED_INTO = ['get_object', 'cone_search', 'lookup_objects', 'recent_crossmatches'];

/** The answers that every client must get. */
async function expected({ app }: Service) {
  const others = await otherAnswers(app);
  const paths: Json = (await app.get('/openapi.json')).body.paths;
  const operations = Object.values<Json>(paths).flatMap(methods =>
    Object.values<Json>(methods).map(({ operationId }) => operationId),
  );
  const ofApi = [...LOOKED_INTO, ...Object.keys(others)];
  const ofObservatory = operations.filter(name => !ofApi.includes(name));
  assert.equal([...ofApi, ...ofObservatory].sort(), operations.sort(), 'every operation is called');
  assert.ok(ofObservatory.every(name => /query|job|^tap_/.test(name)));
  const { body: cone } = await app.get('/api/cone?ra=150&dec=2&radius_arcsec=5');
  const known = (await app.get(`/api/objects/${FIRST_ID}`)).body.results[0];
  const [{ matches }] = known.objects;
  assert.ok(matches.length > 0);
  return {
    details: {
      ids: [],
      position: [],
      matches: matches.map(() => 'LookupMatchSummary'),
      full: matches.map(() => 'LookupPublishedMatch'),
    },
    cone: cone.results[0].objects.map(({ diaObjectId_str }: Json) => diaObjectId_str),
    truncated: false,
    refused: 'invalid_parameter',
    others,
    rows: `n\n${OBJECTS}\n`,
    answers: Object.fromEntries(ofObservatory.map(name => [name, true])),
  };
}

/** By operation. */
async function otherAnswers(app: Service['app']) {
  const { body: sources } = await app.get('/api/sources?ra=150&dec=2&radius_arcsec=5');
  const { body: ofSource } = await app.get(`/api/sources/gaia_dr3/${FIRST_ID}`);
  const { body: inArea } = await app.post('/api/area', 'CIRCLE 150 2 1');
  const { body: listed } = await app.get('/api/objects');
  const table = await app.post('/api/crossmatch?format=csv&rows=matched', 'ra,dec\n150,2\n10,20\n', 'text/csv');
  const { body: tasks } = await app.get('/api/task/');
  assert.ok(inArea.count > 0 && listed.count > 0 && ofSource.count > 0);
  return {
    get_openapi: '3.1.0',
    resolve_tns: 'objects_found',
    service_status: 'ok',
    describe_service: 'matches',
    stream_matches: 'invalid_parameter',
    stream_matches_in_area: 'invalid_parameter',
    stream_objects: 'invalid_parameter',
    stream_objects_in_area: 'invalid_parameter',
    find_sources: sources.count,
    find_objects_of_source: ofSource.count,
    search_area: [inArea.count, inArea.count],
    list_objects: listed.count,
    crossmatch_table: table.text.trimEnd().split('\n'),
    report_sample: 2,
    keep_sample: 'mine',
    report_kept_sample: 2,
    get_kept_sample_input: 'ra,dec\n150,2\n10,20\n',
    get_match_feed: '<?xml',
    get_object_feed: '<?xml',
    get_sample_feed: '<?xml',
    delete_kept_sample: 204,
    get_validation: 'not_made',
    get_sky_map: 'objects',
    list_tasks: tasks.length,
    head_tasks: 200,
    describe_tasks: [],
  };
}

const OF_PYTHON = {
  lookup: [
    ['IdResult', 'coincident_sources'],
    ['PositionResult', 'objects_found'],
    ['TnsResult', 'objects_found'],
    ['InvalidInputResult', 'invalid_input'],
  ],
  recent: ['PublishedMatch'],
};

withFiles(PYTHON)('openapi-python-client', async ({ service, directory, document }) => {
  const at = join(directory, 'first');
  const config = join(directory, 'config.yml');
  writeFileSync(config, 'post_hooks: []\n');
  const options = ['--meta', 'none', '--output-path', join(at, 'made_client'), '--config', config, '--path', document];
  const command = ['-m', 'openapi_python_client', 'generate', ...options];
  const warnings = await generate(/^(?:WARNING|ERROR) (.*\n\n.*)$/gm, PYTHON, command, directory);
  assert.equal(warnings.sort(), (await leftOut(service)).sort());
  const got = await answersOf(PYTHON, [join(HERE, 'by_openapi_python_client.py'), service.url, `${FIRST_ID}`], at);
  assert.equal(got, { ...(await expected(service)), ...OF_PYTHON });
});

/** The warnings of openapi-generator that no change of the document avoids. */
const ABOUT_THE_GENERATOR = [
  /^OpenAPI 3\.1 support is still in beta/,
  // The parameter of the stream, a word of Python.
  /^From \(reserved word\) cannot be used as model name/,
  // It comes whichever component is left out.
  /^Failed to get the schema name: null$/,
];

withFiles(JAR, PYTHON)('openapi-generator', async ({ service, directory, document }) => {
  const at = join(directory, 'second');
  const options = ['-g', 'python', '--package-name', 'made_client', '-o', at, '-i', document];
  const command = ['-XX:TieredStopAtLevel=1', '-jar', JAR, 'generate', ...options];
  const warnings = await generate(/\b(?:WARN|ERROR) +\S+ - (.*)$/gm, 'java', command, directory);
  assert.equal(
    warnings.filter(text => !ABOUT_THE_GENERATOR.some(known => known.test(text))),
    [],
  );
  const got = await answersOf(PYTHON, [join(HERE, 'by_openapi_generator.py'), service.url, `${FIRST_ID}`], at);
  assert.equal(got, { ...(await expected(service)), ...OF_PYTHON });
});

withFiles(NODE_MODULES, TSC)('openapi-typescript', async ({ service, directory, document }) => {
  // Deno's symlinkSync wants the right to read and write everywhere.
  await run('ln', ['-s', NODE_MODULES, join(directory, 'node_modules')], directory);
  copyFileSync(join(HERE, 'by_openapi_typescript.ts'), join(directory, 'ask.ts'));
  writeFileSync(join(directory, 'package.json'), '{"type": "module"}');
  const generator = join(NODE_MODULES, 'openapi-typescript/bin/cli.js');
  const command = [generator, document, '-o', join(directory, 'made.d.ts')];
  assert.equal(await generate(/^.*((?:warn|error|⚠|✘).*)$/gim, process.execPath, command, directory), []);
  const checks = [
    '--strict',
    '--noEmit',
    '--skipLibCheck',
    '--noUncheckedIndexedAccess',
    '--allowImportingTsExtensions',
  ];
  const types = ['--types', 'node', '--typeRoots', join(ROOT, 'node_modules/@types')];
  const target = ['--target', 'esnext', '--module', 'nodenext', '--lib', 'esnext,dom,dom.iterable'];
  await run(TSC, [...checks, ...types, ...target, 'ask.ts'], directory);
  const { lookup, cells, ...got } = await answersOf(
    process.execPath,
    ['ask.ts', service.url, `${FIRST_ID}`],
    directory,
  );
  assert.equal(got, await expected(service));
  assert.equal(
    lookup,
    OF_PYTHON.lookup.map(([, status]) => status),
  );
  assert.ok(cells);
});

test.run();
