/** Tests the test runner with files of its own: which files it runs, in which processes, and what it prints. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root, withDirectory } from './directory.ts';
import { CAMPAIGNS, layerOf, testFiles } from './layers.ts';
import { unusedEntries, whyNodeOnly } from './node_only.ts';
import { isDeno, runtimeArgs } from './runtime.ts';
import { unusedUses } from './uses.ts';

const test = suite('run');

/** A file with this many tests, of which the last ones fail. */
const file = (total: number, failed = 0, more = '') => `import { suite } from 'uvu';
const test = suite('of the runner');
${more}
for (let i = 0; i < ${total}; i++)
  test('test ' + i, () => {
    if (i >= ${total - failed}) throw new Error('as it should');
  });
test.run();
`;

/** Runs the runner of a checkout that has these files below `test/`. */
function withTests(files: Readonly<Record<string, string>>, body: (run: (...args: string[]) => Ran) => void) {
  return withDirectory(async directory => {
    for (const path of [...RUNNER, 'src/core/base', 'package.json'])
      cpSync(join(root, path), join(directory, path), { recursive: true });
    // Deno makes no links for programs that may not read and write everywhere.
    for (const name of ['uvu', 'dequal', 'diff', 'kleur'])
      cpSync(join(root, 'node_modules', name), join(directory, 'node_modules', name), { recursive: true });
    // The libraries of the workspace are not copied.
    const { workspace, ...settings } = JSON.parse(readFileSync(join(root, 'deno.json'), 'utf8'));
    assert.ok(workspace);
    writeFileSync(join(directory, 'deno.json'), JSON.stringify(settings));
    for (const [name, text] of Object.entries({ ...WITHOUT_POOLS, 'tools.sh': '', ...files })) {
      mkdirSync(dirname(join(directory, 'test', name)), { recursive: true });
      writeFileSync(join(directory, 'test', name), text, { mode: 0o755 });
    }
    body((...args) => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...runtimeArgs, join(directory, 'test/run.ts'), ...args],
        { cwd: root, encoding: 'utf8' },
      );
      const lines = stdout.trimEnd().split('\n');
      const ran = lines.flatMap(line => /^(?:ok {2}|FAIL) (\S+)\.test\.ts/.exec(line)?.[1] ?? []).sort();
      return { status, stderr, lines, ran };
    });
  });
}

/** These files have no pools, whose modules are not copied. */
const WITHOUT_POOLS = { 'core/pool/calling_thread.ts': 'export const runPoolsHere = () => {};' };
const RUNNER = ['run', 'batch', 'layers', 'node_only', 'runtime', 'uses'].map(name => `test/${name}.ts`);

interface Ran {
  readonly status: number | null;
  readonly stderr: string;
  readonly lines: readonly string[];
  /** The files that ran, without `.test.ts`. */
  readonly ran: readonly string[];
}

test('each layer has its files; a word finds the files of all', () =>
  withTests(
    {
      'a/one.test.ts': file(1),
      'a/two.system.test.ts': file(1),
      'e2e/kill.campaign.test.ts': file(1, 0, "if (process.env.TEST_KILLS !== '2') throw new Error();"),
      'streams/readers.campaign.test.ts': file(1),
    },
    run => {
      assert.equal(run().ran, ['a/one']);
      assert.equal(run('--layer', 'system').ran, ['a/two.system']);
      process.env.TEST_KILLS = '2';
      assert.equal(run('--layer', 'campaign', 'kills', '--large').ran, ['e2e/kill.campaign']);
      assert.equal(run('--layer', 'campaign', 'all').ran, ['e2e/kill.campaign', 'streams/readers.campaign']);
      delete process.env.TEST_KILLS;
      assert.is(run('--layer', 'campaign', 'kills').status, 1);
      assert.match(run('--layer', 'campaign').stderr, /kills .*TEST_KILLS=100/s);
      assert.equal(run('a/').ran, ['a/one', 'a/two.system']);
    },
  ));

test('every campaign has files, and every file of one is in a campaign', () => {
  const files = testFiles(join(root, 'test')).filter(file => layerOf(file) === 'campaign');
  const words = Object.values(CAMPAIGNS).map(campaign => campaign.words);
  const has = (file: string, some: readonly string[]) => some.some(word => file.includes(word));
  assert.equal(
    files.filter(file => !has(file, words.flat())),
    [],
  );
  for (const some of words) assert.ok(files.some(file => has(file, some)));
});

test('neighbours share a process; parts share out the processes', () => {
  const names = Array.from({ length: 30 }, (_, i) => `a/t${10 + i}`);
  const files = Object.fromEntries(names.map(name => [`${name}.test.ts`, file(2)]));
  return withTests({ ...files, 'b.system.test.ts': file(1) }, run => {
    const { lines, ran } = run();
    assert.match(lines[0]!, /^30 test files in 2 processes, [1-4] at a time, take about \d+ (seconds|minutes) \(/);
    assert.equal(ran, names);
    assert.is(lines.at(-1), '60 passed, 0 failed');
    assert.equal(run('--part', '1/2').ran, names.slice(0, 15));
    assert.equal(run('--part', '2/2').ran, names.slice(15));
    for (const part of ['0/3', '4/3', 'x']) assert.match(run('--part', part).stderr, /--part must be K\/N/);
  });
});

test('a word that no file has is an error that names it, and nothing runs', () =>
  withTests({ 'a/one.test.ts': file(3) }, run => {
    const { status, stderr, lines } = run('a/', 'stroe');
    assert.is(status, 2);
    assert.match(stderr, 'No test file has "stroe" in its path');
    assert.equal(lines, ['']);
  }));

test('a file fails if a test fails, it has none, skips one silently, or ends its process; the others of its room run', () =>
  withTests(
    {
      'a/a_fails.test.ts': file(3, 1),
      'a/b_throws.test.ts': file(1, 0, "throw new Error('at once');"),
      'a/c_good.test.ts': file(1),
      'a/d_none.test.ts': '',
      'a/e_skips.test.ts': file(1, 0, "test.skip('nobody says why');"),
      'a/f_exits.test.ts': file(1, 0, 'setImmediate(() => process.exit(0)); await new Promise(() => {});'),
      'a/g_good.test.ts': file(1, 0, "console.log('skipped (no tool): a name'); test.skip('a name');"),
    },
    run => {
      const { status, lines } = run();
      assert.is(status, 1);
      assert.equal(lines.slice(-4, -2), [
        '1 test skipped: no tool',
        `failed: ${['a_fails', 'b_throws', 'd_none', 'e_skips', 'f_exits'].map(name => `a/${name}.test.ts`).join(', ')}`,
      ]);
      assert.is(lines.at(-1), '5 passed, 5 failed');
    },
  ));

test('a process that does not end after its files is a failure that names what they left', () =>
  withTests(
    {
      'a/good.test.ts': file(1),
      'a/leaves.test.ts': file(1, 0, "(await import('node:net')).createServer().listen(0, '127.0.0.1');"),
    },
    run => {
      const { status, lines } = run();
      assert.is(status, 1);
      assert.is(lines.at(-1), '1 passed, 1 failed');
      if (!isDeno) assert.match(lines.join('\n'), /What they left:\n +\S*leaves.test.ts: TCPServerWrap/);
    },
  ));

test('a file that hangs is ended with the programs that it started, and the others run', () =>
  withTests(
    {
      'a/hangs.test.ts': `import { spawn } from 'node:child_process';
const { pid } = spawn('sleep', ['600'], { stdio: 'inherit' });
console.log('its program is ' + pid);
await new Promise(() => setInterval(() => {}, 1000));
`,
      'a/good.test.ts': file(1),
    },
    run => {
      process.env.TEST_MINUTES = '0.2';
      const { status, lines } = run();
      delete process.env.TEST_MINUTES;
      assert.is(status, 1);
      assert.is(lines.at(-1), '1 passed, 1 failed');
      assert.match(lines.join('\n'), 'killed, because it had not ended after 0.1 minutes');
      const pid = Number(/its program is (\d+)/.exec(lines.join('\n'))![1]);
      // It may still be in the table of processes, but it does not run.
      const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' });
      assert.match(stdout, /^Z|^$/);
    },
  ));

test('a program that outlives its file and holds its output does not hold the run', () =>
  withTests(
    {
      'leaves.test.ts': file(
        1,
        0,
        "import { spawn } from 'node:child_process';\nspawn('sleep', ['60'], { stdio: 'inherit', detached: true }).unref();",
      ),
    },
    run => assert.is(run().lines.at(-1), '1 passed, 0 failed'),
  ));

test('no variable that tests or CI read is named like a setting: a process of the service that inherits it would refuse to start', () => {
  const read = (file: string) => readFileSync(join(root, file), 'utf8').matchAll(/(?:process\.env\.|\bexport )(\w+)/g);
  const files = globSync('test/**/*.ts', { cwd: root, exclude: name => name === 'node_modules' });
  const names = ['.ci/run', ...files].flatMap(file => [...read(file)].map(([, name]) => name!));
  assert.ok(names.includes('TEST_ATTACKS_PART') && names.includes('TEST_SEEDS'));
  assert.equal(
    names.filter(name => name.startsWith('NEARSKY_')),
    [],
  );
});

test('what tells nothing about Deno runs under Node only, and the run says so', () =>
  withTests({ 'architecture.test.ts': file(2), 'one.test.ts': file(3) }, run => {
    const { lines } = run();
    assert.is(lines.at(-1), `${isDeno ? 3 : 5} passed, 0 failed`);
    assert.is(
      lines.some(line => line.startsWith('1 files run under Node only')),
      isDeno,
    );
    const { status, stderr } = run('architecture');
    assert.is(status, isDeno ? 2 : 0);
    assert.is(/architecture\.test\.ts runs under Node only\. They read files/.test(stderr), isDeno);
  }));

test('under Deno every room of src has tests, and so have its interfaces; an entry that names no file is a mistake', () => {
  const files = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.test.ts') && !name.includes('node_modules'),
  );
  assert.equal([...unusedEntries(files), ...unusedUses(files)], []);
  const both = files.filter(file => whyNodeOnly(file) === undefined);
  const rooms = ['', 'core/', 'capabilities/'].flatMap(part =>
    readdirSync(join(root, 'src', part)).map(name => part + name),
  );
  for (const room of rooms)
    if (!room.endsWith('.ts') && existsSync(join(root, 'test', room)))
      assert.ok(
        both.some(file => file.startsWith(`${room}/`)),
        room,
      );
});

test.run();
