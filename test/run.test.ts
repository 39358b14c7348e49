/** Tests the test runner with files of its own: which files it runs, and its first and last lines. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root, withDirectory } from './directory.ts';
import { whySlow } from './fast.ts';
import { unusedEntries, whyNodeOnly } from './node_only.ts';
import { isDeno, runtimeArgs } from './runtime.ts';

const test = suite('run');

/** What uvu prints of a file. */
const totals = (total: number, passed: number) => `console.log('Total: ${total}\\nPassed: ${passed}\\nSkipped: 0');\n`;

/** Runs the runner of a checkout that has these files below `test/`. */
function withTests(files: Readonly<Record<string, string>>, body: (run: (...args: string[]) => Ran) => void) {
  return withDirectory(async directory => {
    for (const file of [
      'test/run.ts',
      'test/fast.ts',
      'test/node_only.ts',
      'test/runtime.ts',
      'src/base',
      'package.json',
    ])
      cpSync(join(root, file), join(directory, file), { recursive: true });
    // The libraries of the workspace are not copied.
    const { workspace, ...settings } = JSON.parse(readFileSync(join(root, 'deno.json'), 'utf8'));
    assert.ok(workspace);
    writeFileSync(join(directory, 'deno.json'), JSON.stringify(settings));
    for (const [name, text] of Object.entries({ 'tools.sh': '', ...files })) {
      mkdirSync(dirname(join(directory, 'test', name)), { recursive: true });
      writeFileSync(join(directory, 'test', name), text, { mode: 0o755 });
    }
    body((...args) => {
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        [...runtimeArgs, join(directory, 'test/run.ts'), ...args],
        { cwd: root, encoding: 'utf8' },
      );
      return { status, stderr, lines: stdout.trimEnd().split('\n') };
    });
  });
}

interface Ran {
  readonly status: number | null;
  readonly stderr: string;
  readonly lines: readonly string[];
}

test('a part has the fast files, and every Nth of the others: together the parts have all', () => {
  const slow = Object.fromEntries(
    ['a', 'b', 'c', 'd'].map(name => [`${name}.test.ts`, `import 'node:http';\n${totals(1, 1)}`]),
  );
  return withTests({ 'fast.test.ts': totals(1, 1), ...slow }, run => {
    const ran = [1, 2, 3].map(part => run('--part', `${part}/3`));
    const filesOf = ({ lines }: Ran) => lines.flatMap(line => /^ok +(\S+)\.test\.ts/.exec(line)?.[1] ?? []).sort();
    assert.equal(ran.map(filesOf), [
      ['a', 'd', 'fast'],
      ['b', 'fast'],
      ['c', 'fast'],
    ]);
    assert.equal(ran[1]!.lines.slice(-2), ['3 files are in other parts than 2 of 3', '2 passed, 0 failed']);
    for (const part of ['0/3', '4/3', 'x']) assert.match(run('--part', part).stderr, /--part must be K\/N/);
  });
});

test('how long it takes comes first, and the sum last', () =>
  withTests({ 'a/one.test.ts': totals(3, 3), 'b/two.test.ts': totals(2, 2) }, run => {
    const { status, lines } = run();
    assert.is(status, 0);
    assert.match(lines[0]!, /^2 test files, [12] at a time, take about \d+ (seconds|minutes) \(/);
    assert.match(lines[1]!, 'npm run test:fast');
    assert.is(lines.at(-1), '5 passed, 0 failed');
    assert.is(run('a/').lines.at(-1), '3 passed, 0 failed');
  }));

test('a word that no file has is an error that names it, and nothing runs', () =>
  withTests({ 'a/one.test.ts': totals(3, 3) }, run => {
    const { status, stderr, lines } = run('a/', 'stroe');
    assert.is(status, 2);
    assert.match(stderr, 'No test file has "stroe" in its path');
    assert.equal(lines, ['']);
  }));

test('files that pass only once more, alone, are named before the last line; others fail', () =>
  withTests(
    {
      // `process.pid` differs from run to run: what was left tells the second from the first.
      'a/flaky.test.ts': `import { existsSync, writeFileSync } from 'node:fs';
const before = import.meta.filename + '.ran';
const ran = existsSync(before);
writeFileSync(before, '');
console.log('Total: 1\\nPassed: ' + (ran ? 1 : 0) + '\\nSkipped: 0');
process.exitCode = ran ? 0 : 1;
`,
      'a/good.test.ts': totals(1, 1),
    },
    run => {
      const { status, lines } = run();
      assert.is(status, 0);
      assert.equal(lines.slice(-3), [
        '1 failed, and passed once more, alone:',
        '  a/flaky.test.ts',
        '2 passed, 0 failed',
      ]);
      const again = run();
      assert.not.match(again.lines.join('\n'), 'once more');
    },
  ));

test('a file that hangs is ended with the programs that it started, and the others run', () =>
  withTests(
    {
      'hangs.test.ts': `import { spawn } from 'node:child_process';
const { pid } = spawn('sleep', ['600'], { stdio: 'inherit' });
console.log('its program is ' + pid);
setInterval(() => {}, 1000);
`,
      'good.test.ts': totals(1, 1),
    },
    run => {
      process.env.TEST_MINUTES = '0.05';
      const { status, lines } = run();
      delete process.env.TEST_MINUTES;
      assert.is(status, 1);
      assert.is(lines.at(-1), '1 passed, 1 failed');
      assert.match(lines.join('\n'), 'killed, because it had not ended after 0.05 minutes');
      const pid = Number(/its program is (\d+)/.exec(lines.join('\n'))![1]);
      // It may still be in the table of processes, but it does not run.
      const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' });
      assert.match(stdout, /^Z|^$/);
    },
  ));

test('a program that outlives its file and holds its output does not hold the run', () =>
  withTests(
    {
      'leaves.test.ts': `import { spawn } from 'node:child_process';
spawn('sleep', ['60'], { stdio: 'inherit', detached: true }).unref();
${totals(1, 1)}process.exit();
`,
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

test('the fast ones start nothing and open nothing, by themselves or by what they import', () =>
  withTests(
    {
      'pure.test.ts': `import type { Socket } from 'node:net';\nimport { isIP, type Server } from 'node:net';\n${totals(1, 1)}`,
      'types.test.ts': `import { type ChildProcess } from 'node:child_process';\n${totals(1, 1)}`,
      'spawns.test.ts': `import { spawn } from 'node:child_process';\n${totals(1, 1)}`,
      'indirect.test.ts': `import { run } from './deep/a.ts';\n${totals(1, 1)}`,
      'deep/a.ts': "export * from './b.ts';\n",
      'deep/b.ts': "export const run = async () => (await import('undici')).request;\n",
    },
    run => {
      const { status, lines } = run('--fast');
      assert.is(status, 0);
      assert.equal(
        lines
          .filter(line => line.startsWith('ok'))
          .map(line => line.split(/ +/)[1])
          .sort(),
        ['pure.test.ts', 'types.test.ts'],
      );
      const none = run('--fast', 'spawns');
      assert.is(none.status, 2);
      assert.match(none.stderr, 'No fast test file has spawns in its path');
    },
  ));

test('of the tests of this checkout a good part is fast, and why another is not can be said', () => {
  const reason = whySlow(join(root, 'test/e2e/demo.test.ts'))!;
  assert.is(reason.at(-1)!.startsWith('node:') || reason.at(-1) === 'undici', true);
  for (const fast of ['architecture', 'index/tree', 'store/model', 'tns/rows', 'vo/areas'])
    assert.is(whySlow(join(root, `test/${fast}.test.ts`)), undefined, fast);
});

test('what tells nothing about Deno runs under Node only, and the run says so', () =>
  withTests({ 'architecture.test.ts': totals(2, 2), 'one.test.ts': totals(3, 3) }, run => {
    const { lines } = run();
    assert.is(lines.at(-1), `${isDeno ? 3 : 5} passed, 0 failed`);
    assert.is(
      lines.some(line => line.startsWith('1 files run under Node only: architecture (')),
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
  assert.equal(unusedEntries(files), []);
  const both = files.filter(file => whyNodeOnly(file) === undefined);
  for (const room of readdirSync(join(root, 'src')))
    if (existsSync(join(root, 'test', room)))
      assert.ok(
        both.some(file => file.startsWith(`${room}/`)),
        room,
      );
  const held = [
    'contract/suite',
    'e2e/commands',
    'e2e/secrets',
    'http/routing',
    'server/threads',
    'tap/engine_ends',
    'tap/tap',
  ];
  for (const name of [...held, 'cluster/kafka_log', 'e2e/kill', 'e2e/nodes', 'faults/full_disk', 'faults/power'])
    assert.ok(both.includes(`${name}.test.ts`), name);
});

test('CONTRIBUTING names the command for newcomers, under Node and Deno', () => {
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
  const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;
  const { tasks } = JSON.parse(readFileSync(join(root, 'deno.json'), 'utf8'));
  for (const command of ['npm run test:fast', 'npx deno task test:fast']) assert.ok(page.includes(command), command);
  assert.is(scripts['test:fast'], 'node test/run.ts --fast');
  assert.not.match(tasks['test:fast'], '--allow-net');
});

test.run();
