/**
 * The single executable: built, run in an empty directory with an empty environment, and all its answers compared with
 * those of the checkout.
 */
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PubSubServer, SUBSCRIPTION } from '../capabilities/consume/pubsub_server.ts';
import { zipOf } from '../capabilities/names/support.ts';
import type { Asked } from '../core/facts.ts';
import { needs } from '../needs.ts';
import { REQUESTS } from './requests.ts';
import {
  CATALOGS,
  eventually,
  get,
  type Program,
  root,
  sample,
  send,
  start,
  startServer,
  withDirectory,
} from './support.ts';

const obstacle = process.platform === 'linux' ? undefined : 'the executable is built on Linux';
const test = suite('e2e/binary');
const built = needs(test, obstacle);

/** Another user, if the tests may switch to one: files of root are read-only for it. */
const NOBODY = process.getuid?.() === 0 ? { uid: 65534 } : {};
const ALERTS = [
  ['lasair', 'lasair.ndjson'],
  ['antares', 'antares.ndjson'],
  ['pittgoogle', 'pittgoogle.ndjson'],
] as const;
const LATE = ['lasair', 'lasair-late.ndjson'] as const;

/** The executable alone in a directory that cannot be written to, and a place for its temporary files, all for another user. */
interface Place {
  readonly program: Program;
  readonly temporary: string;
  readonly data: string;
}

let executable = '';

/** Each test takes a copy of one build. */
async function withBinary(body: (place: Place) => Promise<void>): Promise<void> {
  await withDirectory(async directory => {
    const [empty, temporary] = [join(directory, 'empty'), join(directory, 'tmp')];
    for (const path of [empty, temporary]) mkdirSync(path);
    const file = join(empty, 'nearsky');
    copyFileSync(executable, file);
    chmodSync(directory, 0o755);
    chmodSync(empty, 0o555);
    chmodSync(temporary, 0o1777);
    const program = { file, args: [], cwd: empty, env: { TMPDIR: temporary }, ...NOBODY };
    await body({ program, temporary, data: join(temporary, 'data') });
    assert.equal(readdirSync(empty), ['nearsky']);
  });
}

/**
 * Lines about rejected messages, because the sample has one that is not JSON; and the progress lines of slow commands.
 */
const EXPECTED = /^(?:(?:\S+:\d+: not JSON|.*(?:\d%|\/s)).*\n)*$/;

/**
 * Runs a command of the executable and returns its output. The command must exit with 0 and write nothing else to
 * standard error.
 */
async function run(program: Program | undefined, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await start(args, {}, program).finished;
  assert.is(code, 0, `${args.join(' ')}: ${stderr}`);
  assert.match(stderr, EXPECTED, stderr);
  return stdout;
}

/** Where it has unpacked itself. */
function unpackedIn(cache: string): string {
  const [name, ...others] = readdirSync(cache);
  assert.equal(others, []);
  return join(cache, name!);
}

const cacheOf = ({ temporary, program }: Place) => join(temporary, `nearsky-${program.uid ?? process.getuid!()}`);

/** The sample, by the commands that the demo does at once, in its order. */
async function fill({ program, temporary, data }: Place): Promise<void> {
  // The other user may not look into the checkout.
  const readable = join(temporary, 'sample');
  cpSync(sample, readable, { recursive: true });
  const ingest = ([broker, file]: readonly [string, string]) =>
    run(program, 'ingest', '--broker', broker, '--data', data, join(readable, 'alerts', file));
  for (const alerts of ALERTS) await ingest(alerts);
  for (const name of CATALOGS)
    await run(program, 'catalog', 'add', name, join(readable, 'catalogs', name), '--data', data);
  const registry = join(readable, 'tns/tns_public_objects.csv');
  await run(program, 'tns', 'load', registry, '--epoch', new Date().toISOString(), '--data', data);
  await run(program, 'crossmatch', '--data', data);
  await ingest(LATE);
}

/**
 * A cone depends on the time of its first page, which is in the cursor; a record depends on the start of the service.
 */
const OF_THE_MOMENT = /("(?:as_of|next_cursor)": |\b(?:created|updated)=)"[^"]*"/g;

/** The answer without what differs from one process and moment to the next: its port, the moment of its cone, and its date. */
async function answerOf(url: string, { path, body, headers }: Asked): Promise<Record<string, unknown>> {
  const answer = await request(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'x-request-id': 'test',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
  });
  const { date: _, 'mcp-session-id': session, ...kept } = answer.headers;
  // A feed has addresses of the service, and is as old as the first look at it.
  if (path.startsWith('/feeds/')) for (const name of ['etag', 'last-modified']) delete kept[name];
  // The bytes are compared as they are, whether they are text or not.
  const bytes = Buffer.from(await answer.body.arrayBuffer()).toString('latin1');
  const shown = bytes.replaceAll(url, 'http://HOST').replace(OF_THE_MOMENT, '$1');
  const text = path === '/metrics' ? metricsIn(shown) : shown;
  const length = kept['content-length'] === undefined ? undefined : text.length;
  return { status: answer.statusCode, ...kept, 'content-length': length, session: typeof session, text };
}

/** The names of the counts, without the numbers; those of a route appear with its first request. */
function metricsIn(text: string): string {
  return [...text.matchAll(/^# .*$/gm)].map(([line]) => line).join('\n');
}

/** The requests of every operation, and those whose objects, cursor and files are read from the service itself. */
async function everything(url: string, ids: readonly string[]): Promise<Asked[]> {
  const today = new Date().toISOString().slice(0, 10);
  const page = await (await request(url)).body.text();
  const cone = '/api/cone?ra=221.596&dec=-40.0&radius_arcsec=60&page_size=1';
  const { next_cursor } = await get(url + cone);
  const version = /\/assets\/(\w+)\//.exec(page)![1]!;
  const files = [
    ...readdirSync(join(root, 'src/capabilities/pages/browser')).filter(name => /\.(?:js|css|svg)$/.test(name)),
    'h3-js.umd.js',
    'lit-html.js',
  ];
  return [
    // The executable has no engine of queries, and its page says so.
    ...REQUESTS.filter(({ path }) => path !== '/query'),
    ...ids.flatMap(id => ['matches', 'full'].map(detail => ({ path: `/api/objects/${id}?detail=${detail}` }))),
    { path: `/api/objects/${ids[0]}`, headers: { accept: 'application/msgpack' } },
    { path: `/api/objects/${ids[0]}?detail=full`, headers: { 'accept-encoding': 'gzip' } },
    { path: '/api/lookup', body: { ids: ids.slice(0, 50) } },
    { path: cone },
    { path: `/api/cone?cursor=${encodeURIComponent(next_cursor)}&page_size=1` },
    { path: `/api/recent-crossmatches?start=${today}T00:00:00Z&end=${today}T23:59:59Z&page_size=20` },
    ...files.map(name => ({ path: `/assets/${version}/${name}` })),
  ];
}

/** The exports of both directories, without times, which differ from one ingest to the next. */
function timeless(lines: string): string[] {
  return lines
    .split('\n')
    .map(line => line.replace(/\d{4}-\d\d-\d\dT[\d:.]+(\+00:00|Z)/g, 'TIME'))
    .sort();
}

built('is built', async () => {
  const { buildBinary } = await import('../../src/binary/build.ts');
  // Not in the directory of this test, which is removed at its end. The last test removes it.
  executable = join(root, `build/test-${process.pid}/nearsky`);
  await buildBinary(executable);
  assert.equal(readdirSync(join(executable, '..')), ['nearsky']);
});

built(
  "without HOME, from a read-only directory, as another user: every command and every answer is the checkout's",
  () =>
    withBinary(async place => {
      const { program, data } = place;
      for (const command of ['--version', '--help', 'serve --help', 'consume --help'])
        assert.is(await run(program, ...command.split(' ')), await run(undefined, ...command.split(' ')));
      await fill(place);
      assert.equal(readdirSync(unpackedIn(cacheOf(place))).includes('start.cjs'), true);

      const other = `${data}-of-checkout`;
      const demo = await startServer(['demo', '--port', '0', '--data', other]);
      assert.is((await demo.stop()).code, 0);
      const exported = await run(program, 'export', '--data', data);
      assert.equal(timeless(exported), timeless(await run(undefined, 'export', '--data', other)));
      assert.is(await run(undefined, 'export', '--data', data), exported);
      assert.is(
        await run(program, 'stats', '--json', '--data', data),
        await run(undefined, 'stats', '--json', '--data', data),
      );

      const ids = [...exported.matchAll(/"type": ?"object", ?"diaObjectId": ?"(\d+)"/g)].map(([, id]) => id!);
      assert.ok(ids.length > 90);
      await assertSameAnswers(place, [...ids, '1']);
    }),
);

async function assertSameAnswers({ program, data }: Place, ids: readonly string[]): Promise<void> {
  const args = ['serve', '--data', data, '--port', '0', '--no-crossmatch', '--workers', '2'];
  // The executable has no engine of queries, and several answers say so; so has no service without queries.
  const patient = { API_REQUEST_BUDGET_SECONDS: '60', TAP_MAX_QUERIES: '0' };
  const [binary, checkout] = [await startServer(args, patient, program), await startServer(args, patient)];
  for (const { url } of [binary, checkout])
    await eventually('the sky is counted', async () => {
      const { statusCode, body } = await request(`${url}/api/sky-map?resolution=2`);
      await body.dump();
      return statusCode === 200 || undefined;
    });
  const asked = await everything(checkout.url, ids);
  for (const one of asked) {
    const [found, expected] = [await answerOf(binary.url, one), await answerOf(checkout.url, one)];
    assert.equal(found, expected, JSON.stringify(one));
  }
  for (const server of [binary, checkout]) assert.is((await server.stop()).code, 0);
}

built('the other commands: config, ingest on threads, demo, export, import, backup', () =>
  withBinary(async ({ program, temporary, data }) => {
    assert.is(await run(program, 'config', '--json'), await run(undefined, 'config', '--json'));
    const long = join(temporary, 'long.ndjson');
    writeFileSync(long, longMessages());
    const ingest = ['ingest', '--broker', 'lasair', '--json', long, '--data'];
    assert.is(
      await run(program, ...ingest, join(temporary, 'a')),
      await run(undefined, ...ingest, join(temporary, 'b')),
    );

    const demo = await startServer(['demo', '--port', '0', '--data', data], {}, program);
    assert.is((await demo.stop()).code, 0);
    const lines = join(temporary, 'lines.ndjson');
    await run(program, 'export', lines, '--data', data);
    const [imported, backup] = [join(temporary, 'imported'), join(temporary, 'backup')];
    await run(program, 'import', lines, '--data', imported);
    await run(program, 'backup', backup, '--data', data);
    for (const copy of [imported, backup])
      assert.is(await run(program, 'export', '--data', copy), readFileSync(lines, 'utf8'));
  }),
);

/** The sample's good messages of Lasair over and over, made so long and many that threads read them. */
function longMessages(): string {
  const messages = readFileSync(join(sample, 'alerts/lasair.ndjson'), 'utf8').trim().split('\n').slice(0, 50);
  const long = messages.map(line => line.replace('{', `{"padding": "${'x'.repeat(20_000)}", `));
  return `${Array.from({ length: 8 }, () => long.join('\n')).join('\n')}\n`;
}

built('several first starts at once; a damaged, a shortened and a missing file are unpacked again', () =>
  withBinary(async place => {
    const version = await Promise.all([1, 2, 3, 4].map(() => run(place.program, '--version')));
    assert.is(new Set(version).size, 1);
    const unpacked = unpackedIn(cacheOf(place));
    const files = readdirSync(join(unpacked, 'src/core/base'));
    const addon = join(unpacked, 'src/core/base', files.find(name => /^node.*\.node$/.test(name))!);
    const main = join(unpacked, 'src/main.js');
    const before = [addon, main].map(file => readFileSync(file));
    writeFileSync(
      main,
      before[1]!.map(byte => byte ^ 1),
    );
    truncateSync(addon, 1000);
    rmSync(join(unpacked, 'workers'), { recursive: true });
    const server = await startServer(['serve', '--data', place.data, '--port', '0'], {}, place.program);
    assert.is((await request(`${server.url}/api/status`)).statusCode, 200);
    assert.is((await server.stop()).code, 0);
    assert.ok([addon, main].every((file, i) => readFileSync(file).equals(before[i]!)));
    assert.equal(readdirSync(join(unpacked, 'src/core/base')), files, 'and nothing else');
  }),
);

built('no place to unpack is an error that says how to mend it', () =>
  withBinary(async ({ program, temporary }) => {
    const cache = join(temporary, 'file');
    writeFileSync(cache, '');
    const { code, stdout, stderr } = await start(['--version'], { NEARSKY_CACHE_DIR: cache }, program).finished;
    assert.equal([code, stdout], [1, '']);
    assert.match(stderr, /^nearsky: Cannot unpack the program, tried .*: set NEARSKY_CACHE_DIR to .*\n$/);
  }),
);

built('loads no package from the directories above its own, where others may write', () =>
  withBinary(async ({ program, temporary, data }) => {
    const loaded = join(temporary, 'loaded');
    for (const name of ['@node-rs/crc32', 'msgpackr-extract', 'supports-color', 'lmdb', '@lmdb/lmdb-linux-x64']) {
      const directory = join(temporary, 'node_modules', name);
      mkdirSync(directory, { recursive: true });
      writeFileSync(
        join(directory, 'index.js'),
        `require('fs').appendFileSync(${JSON.stringify(loaded)}, ${JSON.stringify(name)})`,
      );
    }
    const settings = { LASAIR_KAFKA_SERVERS: '127.0.0.1:1', LASAIR_TOPICS: 'topic', LASAIR_GROUP_ID: 'group' };
    const { child, finished } = start(['consume', 'lasair', '--data', data], settings, program);
    let said = '';
    child.stderr!.on('data', text => (said += text));
    await eventually('it has tried to connect', async () => /lasair/.test(said) || undefined);
    send(child, 'SIGTERM');
    const { code, stderr } = await finished;
    assert.is(code, 0, stderr);
    assert.not.ok(existsSync(loaded), existsSync(loaded) ? readFileSync(loaded, 'utf8') : '');
  }),
);

built('loads the libraries that only some work needs: for zipped files, for HTTP, and for credentials of Google', () =>
  withBinary(async ({ program, temporary, data }) => {
    const zipped = join(temporary, 'registry.csv.zip');
    const content = readFileSync(join(sample, 'tns/tns_public_objects.csv'), 'utf8');
    writeFileSync(zipped, zipOf([{ name: 'tns_public_objects.csv', content }]));
    assert.match(await run(program, 'tns', 'load', zipped, '--data', data), /objects +5\n/);
    const broker = await PubSubServer.start();
    broker.publish([{ data: Buffer.from('{}') }]);
    const consume = async (variables: Record<string, string>, isDone: (log: string) => boolean) => {
      const settings = { PITTGOOGLE_SUBSCRIPTION: SUBSCRIPTION, ...variables };
      const { child, finished } = start(['consume', 'pittgoogle', '--data', data], settings, program);
      let log = '';
      child.stderr!.on('data', text => (log += text));
      await eventually('it is done', async () => isDone(log) || undefined);
      send(child, 'SIGTERM');
      return (await finished).stdout;
    };
    const emulator = { PUBSUB_EMULATOR_HOST: broker.url.slice('http://'.length) };
    assert.match(await consume(emulator, () => broker.waiting === 0), /read +1\n/);
    const credentials = { GOOGLE_APPLICATION_CREDENTIALS: join(temporary, 'none.json') };
    await consume(credentials, log => /Cannot use the credentials of Google in .*none\.json.*ENOENT/.test(log));
    await broker.close();
  }),
);

built('leaves nothing behind', () => rmSync(join(executable, '..'), { recursive: true }));

test.run();
