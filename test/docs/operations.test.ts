/**
 * The pages for operators name everything that exists: commands and their options, settings, metrics, events of the
 * log, files.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { calibrationPlot } from '../../docs/calibration_plot.ts';
import { commandsPage } from '../../docs/commands.ts';
import { settingsPage } from '../../docs/settings.ts';
import { SETTINGS } from '../../src/capabilities.ts';
import { newTopic } from '../../src/core/cluster/kafka_settings.ts';
import { ENVIRONMENT_ONLY, loadConfig } from '../../src/core/config/config.ts';
import { start } from '../commands/in_process.ts';
import { root, start as startProgram, withDirectory } from '../e2e/support.ts';
import { BALANCER, whyNoBalancer } from '../e2e/three_nodes.ts';
import { needs } from '../needs.ts';
import { describesMore } from '../removed.ts';

const docs = (name: string) => join(root, 'docs', name);
const PAGES = ['size', 'install', 'catalogs', 'feed', 'watch', 'backup', 'remove', 'nodes', 'hostile_clients'];
const page = PAGES.map(name => readFileSync(join(root, `docs/${name}.md`), 'utf8')).join('\n');
const unit = readFileSync(join(root, 'deploy/nearsky.service'), 'utf8');
const sources = globSync('src/**/*.ts', { cwd: root })
  .map(path => readFileSync(join(root, path), 'utf8'))
  .join('\n');

/** Names in capitals that are not settings. */
const OF_OTHERS = [
  'XDG_CACHE_HOME',
  'CAP_NET_BIND_SERVICE',
  'AF_INET',
  'AF_INET6',
  'AF_UNIX',
  'MALLOC_ARENA_MAX',
  'MALLOC_MMAP_THRESHOLD',
  'F_FULLFSYNC',
  'FIXED_LEN_BYTE_ARRAY',
  'BYTE_ARRAY',
  'KAFKA_LIBS',
  'QUICK_OBJECT_ID',
  'POS_ERR',
];

const test = suite('docs/operations');

/** What a page names: commands, options and settings. */
const namedIn = (text: string) => new Set(text.match(/^## .*$|^ {2}--[\w-]+|^\| `\w+`/gm));

/** The page is what a script prints, or has more where capabilities have been removed. */
function assertPrinted(name: string, printed: string): void {
  const text = readFileSync(docs(name), 'utf8');
  if (describesMore) assert.equal([...namedIn(printed).difference(namedIn(text))], []);
  else assert.fixture(text, printed);
}

test('calibration.svg is what `node docs/calibration_plot.ts` prints', () => {
  assert.fixture(readFileSync(docs('images/calibration.svg'), 'utf8'), calibrationPlot());
});

test('settings.md is what `node docs/settings.ts` prints', () => {
  assertPrinted('settings.md', settingsPage());
});

test('every option of every command is documented: commands.md is what `node docs/commands.ts` prints', async () => {
  const commands = readFileSync(docs('commands.md'), 'utf8');
  assertPrinted('commands.md', await commandsPage());
  const listed = [...(await start(['--help']).finished).stdout.matchAll(/^ {2}(\w+) {2,}/gm)].map(([, name]) => name);
  const headings = [...commands.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  assert.equal(describesMore ? headings.filter(name => listed.includes(name)) : headings, listed.sort());
  for (const [option] of commands.matchAll(/^ {2}(?:-\w, )?--.*(?:\n {4,}.*)*$/gm))
    assert.match(option, / \w.* \w/s, 'says what it does');
});

needs(test, describesMore)('every setting that is named exists; the example has no other, and can be loaded', () => {
  const named = new Set([...`${page}${unit}`.matchAll(/\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g)].map(([name]) => name));
  const known = [...Object.keys(SETTINGS.settings), ...Object.keys(ENVIRONMENT_ONLY), ...OF_OTHERS];
  assert.ok(named.has('NEARSKY_CACHE_DIR'));
  assert.equal(
    [...named].filter(name => !known.includes(name)),
    [],
  );
  loadConfig({ file: docs('nearsky.example.json') }, SETTINGS);
});

test('every command that is shown exists, with its options', async () => {
  const { stdout } = await start(['--help']).finished;
  const commands = [...stdout.matchAll(/^ {2}(\w+) {2,}/gm)].map(([, name]) => name!);
  const shown = [...`${page}\n${unit}`.matchAll(/\bnearsky(?:-admin)? (\w+)((?: [^\s`/|>]+)*)/g)].filter(
    ([, name]) => name !== 'as',
  );
  const used = shown.filter(([, name]) => commands.includes(name!));
  for (const command of commands) {
    const options = new Set(
      used.filter(([, name]) => name === command).flatMap(([, , rest]) => rest!.match(/--[\w-]+/g) ?? []),
    );
    if (options.size === 0) continue;
    const help = (await start([command, '--help']).finished).stdout;
    for (const option of options) assert.ok(help.includes(`${option} `), `${command} has ${option}`);
  }
});

needs(test, describesMore)('every metric that is named is exposed', () => {
  const metrics = new Set(
    [...page.matchAll(/\b(?:nearsky|crossmatch|process)_[a-z_]*[a-z]\b(?=[^:]|$)/g)].map(([name]) => name),
  );
  const events = new Set([...sources.matchAll(/log\('(\w+)'/g)].map(([, name]) => name!));
  for (const name of metrics.difference(events)) assert.match(sources, new RegExp(`'${name}'`), name);
});

test('files that pages link to are there', () => {
  for (const [name] of page.matchAll(/\]\((?!https?:)[^)]*\)/g))
    assert.ok(existsSync(docs(name.slice(2, -1).split('#')[0]!)), name);
});

const analyzer = ['/usr/bin/systemd-analyze'].find(existsSync);
needs(test, analyzer ? undefined : 'there is no systemd-analyze')(
  'the unit, and those that the page makes of it, are right',
  () =>
    withDirectory(async directory => {
      copyFileSync(join(root, 'deploy/nearsky.service'), join(directory, 'nearsky.service'));
      const made = [...page.matchAll(/^(sed '[^']*') (deploy\/\S+) \| sudo tee \/etc\/systemd\/system\/(\S+)$/gm)];
      assert.is(made.length, 2);
      for (const [, sed, from, to] of made)
        writeFileSync(join(directory, to!), execFileSync('sh', ['-c', `${sed} ${join(root, from!)}`]));
      const [, timer] = /^printf '(\[Timer\][^']*)'/m.exec(page)!;
      writeFileSync(join(directory, 'nearsky-tns.timer'), timer!.replaceAll('\\n', '\n'));
      const names = ['nearsky.service', 'nearsky-consume.service', 'nearsky-tns.service', 'nearsky-tns.timer'];
      for (const name of names) {
        const file = join(directory, name);
        const text = readFileSync(file, 'utf8');
        if (name !== 'nearsky.service' && name.endsWith('service')) assert.not.match(text, 'nearsky serve');
        // The executable must exist where it is checked.
        writeFileSync(file, text.replace('/usr/local/bin/nearsky', process.execPath));
      }
      // Standard error has its complaints about these units, and about others of this machine.
      const { stderr } = await runFile(analyzer!, ['verify', ...names.map(name => join(directory, name))]);
      assert.not.match(stderr, /nearsky/);
    }),
);

async function runFile(file: string, args: readonly string[]) {
  return await startProgram([], {}, { file, args, cwd: root, env: process.env }).finished;
}

test('the commands for the topic of the log have the settings with which `node topic` creates it', () => {
  const { replicas, settings } = newTopic(3);
  assert.match(page, `--partitions 1 --replication-factor ${replicas} `);
  const shown = [...page.matchAll(/--(add-)?config ([\w.]+)=(\S+)/g)];
  for (const [, , name, value] of shown) assert.is(value, settings[name!], name);
  assert.equal(
    shown
      .filter(([, isAdded]) => !isAdded)
      .map(([, , name]) => name!)
      .sort(),
    Object.keys(settings).sort(),
  );
});

needs(test, whyNoBalancer)("HAProxy takes the balancer's configuration", () =>
  withDirectory(async directory => {
    const file = join(directory, 'haproxy.cfg');
    writeFileSync(file, BALANCER);
    execFileSync('haproxy', ['-c', '-f', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  }),
);

test.run();
