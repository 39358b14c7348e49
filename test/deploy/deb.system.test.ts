/** The Debian package: installed, run, upgraded, removed and purged in a copy of this system that disappears afterwards. */
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root, version } from '../directory.ts';
import { get, startServer } from '../e2e/support.ts';
import { needs } from '../needs.ts';

const run = promisify(execFile);
const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nearsky-deb-')));
const [layer, packages] = [join(directory, 'layer'), join(directory, 'packages')];
for (const each of [layer, packages]) mkdirSync(each);

/**
 * Runs in its own mount namespace: this system with a layer in memory above it, as `system`, with the packages in /mnt.
 * Its systemctl only records its calls. Everything ends with the process, which ends with its standard input.
 */
const COPY = `set -e
mount -t tmpfs tmpfs "$0"
cd "$0"
mkdir upper work system
mount -t overlay -o lowerdir=/,upperdir=upper,workdir=work overlay system
mount --bind "$1" system/mnt
mount --bind /proc system/proc
mount --rbind /dev system/dev
mount -t tmpfs tmpfs system/run
mount -t tmpfs -o mode=1777 tmpfs system/tmp
mkdir -p system/run/systemd/system
printf '#!/bin/sh\\necho "$*" >>/run/systemctl\\n' >system/usr/local/sbin/systemctl
chmod 755 system/usr/local/sbin/systemctl
echo made
exec cat`;
const copy = spawn('unshare', ['--mount', '--propagation', 'private', 'sh', '-c', COPY, layer, packages], {
  stdio: ['pipe', 'pipe', 'ignore'],
});
const ended = new Promise(resolve => copy.on('error', resolve).on('close', resolve));
const isMade = await Promise.race([once(copy.stdout, 'data').then(() => true), ended.then(() => false)]);

const missing = ['dpkg', 'dpkg-deb', 'adduser', 'nsenter', 'setpriv'].find(
  name => spawnSync(name, ['--version']).error !== undefined,
);
const obstacle = missing
  ? `there is no ${missing}`
  : process.getuid!() !== 0
    ? 'only root installs packages'
    : isMade
      ? undefined
      : 'no layer can be mounted above this system';

const test = suite('deploy/deb');
test.after(async () => {
  copy.stdin.end();
  await ended;
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
});
const installed = needs(test, obstacle);

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** A command in the copy: first its user, then its environment. */
function inCopy(command: readonly string[], user = 'root', variables: readonly string[] = []) {
  const as = ['setpriv', '--reuid', user, '--regid', user, '--clear-groups', '--no-new-privs'];
  const args = [
    ...[`--mount=/proc/${copy.pid}/ns/mnt`, 'chroot', join(layer, 'system')],
    ...[...(user === 'root' ? [] : as), 'env', '-i', `PATH=${PATH}`, ...variables, ...command],
  ];
  return { file: 'nsenter', args, cwd: '/', env: { PATH } };
}
async function call(...command: string[]): Promise<string> {
  const { file, args, cwd } = inCopy(command);
  const { stdout } = await run(file, args, { cwd });
  return stdout;
}
const exists = (path: string) => call('sh', '-c', `test -e ${path} && echo yes || echo no`);
/** The calls of systemctl since the last time. */
const systemctl = async () =>
  (await call('sh', '-c', 'cat /run/systemctl; rm -f /run/systemctl')).split('\n').slice(0, -1);
const dpkg = (...args: string[]) => call('dpkg', '--no-triggers', '--force-confold', ...args);

let [first, next] = ['', ''];
test.before(async () => {
  if (obstacle) return;
  const executable = join(directory, 'nearsky');
  await run(process.execPath, [join(root, 'src/binary/build.ts'), executable]);
  const env = { ...process.env, DPKG_DEB_COMPRESSOR_TYPE: 'none' };
  await run(join(root, 'deploy/deb/build.sh'), [executable, packages], { env });
  const { stdout } = await run('dpkg', ['--print-architecture']);
  first = `nearsky_${version}_${stdout.trim()}.deb`;
  // A later version, with other settings.
  const tree = join(directory, 'tree');
  await run('dpkg-deb', ['--raw-extract', join(packages, first), tree]);
  const control = join(tree, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*/m, 'Version: 999.0.0'));
  writeFileSync(join(tree, 'etc/nearsky/nearsky.json'), '{}\n');
  next = 'nearsky_999.deb';
  await run('dpkg-deb', ['--root-owner-group', '--build', tree, join(packages, next)], { env });
});

installed('everything in it belongs to root and can be written by root alone', async () => {
  const { stdout } = await run('dpkg-deb', ['--contents', join(packages, first)]);
  const lines = stdout.trim().split('\n');
  assert.ok(lines.length > 30);
  for (const line of lines) assert.match(line, /^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x) root\/root /);
  assert.equal(
    lines.filter(line => line.startsWith('-rwx')).map(line => line.split(' ').at(-1)),
    ['./usr/bin/nearsky'],
  );
  const { stdout: documented } = await run(process.execPath, [join(root, 'bin/nearsky.cjs'), 'completion', 'bash']);
  await dpkg('--install', `/mnt/${first}`);
  assert.is(await call('cat', '/usr/share/bash-completion/completions/nearsky'), documented);
  assert.match(await call('gzip', '-dc', '/usr/share/man/man1/nearsky-serve.1.gz'), '.TH NEARSKY-SERVE 1');
});

installed(
  'once installed it runs as anybody, and its unit as a user who owns the data directory and nothing else',
  async () => {
    assert.is((await call('nearsky', '--version')).trim(), `nearsky ${version}`);
    // It is neither enabled nor started.
    assert.equal(await systemctl(), ['daemon-reload']);
    assert.match(await call('getent', 'passwd', 'nearsky'), /:\/var\/lib\/nearsky:\/usr\/sbin\/nologin\n$/);
    assert.is(await call('stat', '-c', '%U:%G %a', '/var/lib/nearsky'), 'nearsky:nearsky 700\n');

    const demo = await startServer(['demo', '--port', '0'], {}, inCopy(['nearsky'], '65534'));
    const answer = await get(`${demo.url}/api/objects/313637935709683761`);
    assert.is(answer.results[0].objects[0].matches.length, 4);
    assert.is((await demo.stop()).code, 0);

    const unit = await call('cat', '/usr/lib/systemd/system/nearsky.service');
    const command = /^ExecStart=(.*)$/m.exec(unit)![1]!.split(' ');
    assert.is(command[0], '/usr/bin/nearsky');
    const variables = [...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, each]) => each!.split(' '));
    const user = /^User=(.*)$/m.exec(unit)![1]!;
    const service = await startServer(['--port', '0'], {}, inCopy(command, user, variables));
    assert.is((await fetch(`${service.url}/readyz`)).status, 200);
    assert.is((await service.stop()).code, 0);
    const owned = await call('find', '/etc', '/usr', '/var', '-xdev', '-user', user, '-maxdepth', '3');
    assert.equal(
      [
        ...new Set(
          owned
            .trim()
            .split('\n')
            .map(path => path.split('/').slice(0, 4).join('/')),
        ),
      ].sort(),
      ['/var/cache/nearsky', '/var/lib/nearsky'],
    );
    assert.is(await exists('/var/lib/nearsky/nearsky.mdb'), 'yes\n');
  },
);

installed('an upgrade keeps settings that were changed and data, and starts again what runs', async () => {
  await call(
    'sh',
    '-c',
    'echo \'{"NEARSKY_PORT": 8181}\' >/etc/nearsky/nearsky.json; echo A=b >/etc/nearsky/secrets.env',
  );
  await dpkg('--install', `/mnt/${next}`);
  assert.equal(await systemctl(), ['daemon-reload', 'daemon-reload', 'try-restart nearsky*.service']);
  assert.match(await call('dpkg', '--status', 'nearsky'), /^Version: 999\.0\.0$/m);
  assert.is(await call('cat', '/etc/nearsky/nearsky.json'), '{"NEARSKY_PORT": 8181}\n');
  assert.is(await exists('/var/lib/nearsky/nearsky.mdb'), 'yes\n');
});

installed('its removal stops the services and keeps settings and data; a purge keeps the data alone', async () => {
  await dpkg('--remove', 'nearsky');
  assert.equal(await systemctl(), ['--quiet disable nearsky.service', 'stop nearsky*.service', 'daemon-reload']);
  assert.is(await exists('/usr/bin/nearsky'), 'no\n');
  assert.is(await call('ls', '/etc/nearsky'), 'nearsky.json\nnearsky.json.dpkg-dist\nsecrets.env\n');
  assert.is(await exists('/var/lib/nearsky/nearsky.mdb'), 'yes\n');

  await dpkg('--purge', 'nearsky');
  for (const path of ['/etc/nearsky', '/var/cache/nearsky']) assert.is(await exists(path), 'no\n', path);
  assert.is(await call('stat', '-c', '%U %a', '/var/lib/nearsky/nearsky.mdb'), 'nearsky 600\n');

  // Installed anew, it has its data again.
  await dpkg('--install', `/mnt/${first}`);
  assert.match(await call('nearsky', 'stats', '--json', '--data', '/var/lib/nearsky'), /"objects": ?0/);
});

test.run();
