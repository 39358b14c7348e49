/**
 * The npm package: packed, installed into an empty directory from the registry, and run there with the oldest Node that
 * it allows, with this one, and with Deno; and the package of the TypeScript client.
 */
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { get, root, send, startServer } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { deno } from '../runtime.ts';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'nearsky-npm-'));
const place = join(directory, 'empty');
const alone = join(directory, 'alone');
const bin = join(place, 'node_modules/.bin/nearsky');
const { version, engines, man, exports: exported } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Errors of npm that say that the registry does not answer. */
const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/;

async function pack(from: string): Promise<Packed> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', directory], { cwd: from });
  const packed = JSON.parse(stdout.slice(stdout.indexOf('[')));
  return packed[0];
}

let packed: Packed;

/** Packs and installs; returns why it cannot, if so. */
async function obstacle(): Promise<string | undefined> {
  if (spawnSync('npm', ['--version']).status !== 0) return 'there is no npm';
  packed = await pack(root);
  mkdirSync(place);
  writeFileSync(join(place, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const args = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=0', '--fetch-timeout=60000'];
  try {
    const packages = [join(directory, packed.filename), `node@${engines.node.slice(2)}.0`];
    await run('npm', ['install', ...args, ...packages], { cwd: place, timeout: 400_000 });
  } catch (error) {
    if (UNREACHABLE.test(`${error}`)) return 'the npm registry does not answer';
    throw error;
  }
  return undefined;
}

const why = await obstacle();
const test = suite('install/npm');
test.after(() => rmSync(directory, { recursive: true, force: true }));
const installed = needs(test, why);

installed('only what is needed is packed: no tests, no sources', () => {
  const paths = packed.files.map(({ path }) => path);
  const places = new Set(
    paths.map(path =>
      path.replace(/^dist\/(clients|deploy|docs|index|man|packages|sample|src|workers)\/.*/, 'dist/$1'),
    ),
  );
  assert.equal([...places].sort(), [
    'CHANGELOG.md',
    'LICENSE',
    'NOTICE',
    'README.md',
    'bin/nearsky.cjs',
    'clients/typescript/nearsky.d.ts',
    'clients/typescript/nearsky.js',
    'dist/ARCHITECTURE.md',
    'dist/CHANGELOG.md',
    'dist/CODE_OF_CONDUCT.md',
    'dist/CONTRIBUTING.md',
    'dist/SECURITY.md',
    'dist/clients',
    'dist/deploy',
    'dist/docs',
    'dist/index',
    'dist/man',
    'dist/package.json',
    'dist/packages',
    'dist/sample',
    'dist/src',
    'dist/workers',
    'package.json',
  ]);
  for (const path of paths) assert.not.match(path, /(?<!\.d)\.ts$|\.test\.|\.map$|\.pyc$/);
});

for (const [name, command] of [
  ['the oldest Node that it allows', [join(place, 'node_modules/.bin/node'), bin]],
  ['this Node', [process.execPath, bin]],
  ['Deno', [deno, 'run', '-A', '--node-modules-dir=manual', 'npm:nearsky']],
] as const) {
  const without = why ?? (existsSync(command[0]) ? undefined : `there is no ${command[0]}`);
  needs(test, without)(
    `the demo answers below node_modules with ${name}, on its threads and processes, too`,
    async () => {
      const temporary = mkdtempSync(join(directory, 'tmp-'));
      const [file, ...args] = command;
      const program = { file: file!, args, cwd: place, env: { PATH: process.env.PATH, TMPDIR: temporary } };
      const server = await startServer(['demo', '--port', '0'], {}, program);
      try {
        const answer = await get(`${server.url}/api/objects/313637935709683761`);
        assert.is(answer.results[0].objects[0].matches.length, 4);
        const page = await fetch(`${server.url}/`);
        const assets = [...(await page.text()).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path!);
        assert.ok(assets.length > 1);
        for (const path of assets) assert.is((await fetch(server.url + path)).status, 200, path);
        for (const name of ['', '/tutorial', '/architecture', '/map.png', '/schema.json', '/values.yaml'])
          assert.is((await fetch(`${server.url}/docs${name}`)).status, 200, name);
        const query = new URLSearchParams({
          LANG: 'ADQL',
          FORMAT: 'csv',
          QUERY: 'SELECT COUNT(*) AS n FROM nearsky.objects',
        });
        const counted = await fetch(`${server.url}/vo/tap/sync?${query}`);
        assert.match(await counted.text(), /^n\r?\n\d+\s*$/);
        const matched = await fetch(`${server.url}/api/crossmatch?against=gaia_dr3&radius_arcsec=10&format=csv`, {
          method: 'POST',
          headers: { 'content-type': 'text/csv' },
          body: 'ra,dec\n61.62,-49.295\n',
        });
        assert.match(await matched.text(), /\n61\.62,-49\.295,matched,9000000000001000001,/);
      } finally {
        send(server.child, 'SIGTERM');
        await server.finished;
      }
      assert.equal(readdirSync(temporary), []);
    },
  );
}

installed('an installed command has its man pages', async () => {
  const prefix = join(directory, 'global');
  const args = [
    'install',
    '--global',
    '--prefix',
    prefix,
    '--omit=optional',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
  ];
  await run('npm', [...args, join(directory, packed.filename)], { cwd: place, timeout: 400_000 });
  const pages = readdirSync(join(prefix, 'share/man/man1'));
  assert.is(pages.length, man.length);
  assert.match(readFileSync(join(prefix, 'share/man/man1/nearsky-ingest.1'), 'utf8'), /^\.TH NEARSKY-INGEST 1/);
});

installed('an older Node gets one line and status 1', () => {
  const older = `Object.defineProperty(process, 'versions', { value: { node: '20.11.1' } }); require(${JSON.stringify(bin)});`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', older], { encoding: 'utf8' });
  assert.is(stderr, 'nearsky needs Node 22.22 or newer; this is Node 20.11.1\n');
  assert.is(stdout, '');
  assert.is(status, 1);
});

installed('commands work from it: their version, and an export of what was stored', async () => {
  const at = { cwd: place, env: { PATH: process.env.PATH } };
  assert.is((await run(bin, ['--version'], at)).stdout, `nearsky ${version}\n`);
  const data = join(directory, 'data');
  const alerts = join(place, 'node_modules/nearsky/dist/sample/alerts/lasair.ndjson');
  await run(bin, ['ingest', '--data', data, '--broker', 'lasair', alerts], at).catch(error =>
    assert.is(error.code, 0, error),
  );
  const { stdout } = await run(bin, ['export', '--data', data], at);
  assert.ok(stdout.split('\n').length > 10);
});

installed('the client comes with it, and as a package of its own without dependencies', async () => {
  const program =
    "import { Nearsky } from 'nearsky/client'; console.log(typeof new Nearsky('http://127.0.0.1:1').lookups)";
  const own = spawnSync(process.execPath, ['--input-type=module', '-e', program], { cwd: place, encoding: 'utf8' });
  assert.is(own.stdout, 'function\n', own.stderr);
  assert.is(exported['./client'].default, './clients/typescript/nearsky.js');
  const client = await pack(join(root, 'clients/typescript'));
  assert.equal(
    client.files.map(({ path }) => path),
    ['LICENSE', 'README.md', 'nearsky.d.ts', 'nearsky.js', 'package.json'],
  );
  mkdirSync(alone);
  writeFileSync(join(alone, 'package.json'), '{"private": true}');
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(directory, client.filename)], {
    cwd: alone,
  });
  assert.equal(
    readdirSync(join(alone, 'node_modules')).filter(name => !name.startsWith('.')),
    ['nearsky-client'],
  );
  const text = program.replace('nearsky/client', 'nearsky-client');
  const imported = spawnSync(process.execPath, ['--input-type=module', '-e', text], { cwd: alone, encoding: 'utf8' });
  assert.is(imported.stdout, 'function\n', imported.stderr);
});

const TYPED = `
import { type LookupResult, Nearsky, NearskyError } from 'PACKAGE';
const service = new Nearsky('http://127.0.0.1:1');
const results: LookupResult[] = await service.lookup([1n, 'SN 2099aaa', { ra: 1, dec: 2, radiusArcsec: 5 }]);
for await (const { diaObjectId } of service.cone({ ra: 1, dec: 2, radiusArcsec: 3 })) console.log(diaObjectId satisfies bigint, results);
// @ts-expect-error An id that is a number has lost digits.
await service.lookup([313637935709683761]);
await service.describe().catch(error => error instanceof NearskyError && error.code);
`;

for (const [name, at] of [
  ['nearsky/client', place],
  ['nearsky-client', alone],
] as const)
  installed(`TypeScript finds the types of ${name} as bundlers and as Node resolve modules`, async () => {
    writeFileSync(join(at, 'typed.mts'), TYPED.replace('PACKAGE', name));
    const tsc = join(root, 'test/node_modules/.bin/tsc');
    for (const [resolution, module] of [
      ['bundler', 'esnext'],
      ['nodenext', 'nodenext'],
    ] as const) {
      const args = ['--moduleResolution', resolution, '--module', module, '--target', 'es2022'];
      args.push('--noEmit', '--strict', '--types', '', '--lib', 'esnext,dom,dom.iterable', 'typed.mts');
      const { status, stdout } = spawnSync(tsc, args, { cwd: at, encoding: 'utf8' });
      assert.is(status, 0, `${resolution}: ${stdout}`);
    }
  });

const withoutDeno = why ?? (existsSync(deno) ? undefined : `there is no ${deno}`);
needs(test, withoutDeno)('JSR would take the client', () => {
  const copy = join(directory, 'jsr');
  cpSync(join(root, 'clients/typescript'), copy, { recursive: true });
  const env = { PATH: process.env.PATH, DENO_DIR: join(directory, 'deno'), NO_COLOR: '1' };
  const args = ['publish', '--dry-run', '--allow-dirty'];
  const { status, stderr } = spawnSync(deno, args, { cwd: copy, env, encoding: 'utf8' });
  assert.is(status, 0, stderr);
  for (const name of ['nearsky.js', 'nearsky.d.ts', 'README.md', 'LICENSE']) assert.match(stderr, `/${name} (`);
  assert.not.match(stderr, 'tsconfig.json');
});

test.run();
