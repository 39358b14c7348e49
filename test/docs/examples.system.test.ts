/**
 * The examples of README.md, of the Python client and of docs/ run as printed, except for the port, against the demo,
 * and print the shown output.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually, root, type Server, sample, startServer, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { pythonWith } from '../python.ts';

const DOCUMENTS = ['README.md', 'clients/python/README.md', ...globSync('docs/**/*.md', { cwd: root })];
const PRINTED = 'http://127.0.0.1:8080';

interface Example {
  readonly language: string;
  readonly code: string;
  /** The output, where the document gives one. */
  readonly prints: string | undefined;
}

/** The examples that can be run here: requests, by curl or STILTS, and scripts in Python (`py` marks one that needs files). */
function examplesOf(document: string): Example[] {
  const blocks = [...document.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language, code]) => ({
    language: language!,
    code: code!,
  }));
  return blocks.flatMap(({ language, code }, i) => {
    const next = blocks[i + 1];
    const prints = next?.language === 'text' ? next.code : undefined;
    return language === 'python' || (language === 'sh' && /^(?:curl|stilts) /.test(code))
      ? [{ language, code, prints }]
      : [];
  });
}

function has(command: string, ...args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** A module of Python's own that earlier versions lack. */
const SINCE_PYTHON_3_9 = 'zoneinfo';

/** A program that runs the example; undefined if there is none. */
function programOf({ language, code }: Example): readonly [string, ...string[]] | undefined {
  if (language === 'sh') {
    const isThere = code.startsWith('curl ') ? has('curl', '--version') : has('stilts', '-version');
    return isThere ? ['bash', '-o', 'pipefail', '-c'] : undefined;
  }
  const modules = ['pandas', 'matplotlib', 'pyvo', 'astropy', 'lsdb'].filter(name =>
    new RegExp(`^(?:import|from) ${name}\\b`, 'm').test(code),
  );
  if (code.includes('read_parquet')) modules.push('pyarrow');
  const python = pythonWith(modules.join(', ') || SINCE_PYTHON_3_9);
  return python === undefined ? undefined : [python, '-c'];
}

/** As after `pip install ./clients/python`. */
const env = {
  ...process.env,
  MPLBACKEND: 'Agg',
  PYTHONDONTWRITEBYTECODE: '1',
  PYTHONPATH: join(root, 'clients/python'),
};

async function run([command, ...args]: readonly [string, ...string[]], code: string, cwd: string): Promise<string> {
  const child = spawn(command, [...args, code], { cwd, env });
  let out = '';
  let errors = '';
  child.stdout.on('data', data => (out += data));
  child.stderr.on('data', data => (errors += data));
  const status = await new Promise(resolve => child.on('close', resolve));
  assert.is(status, 0, `${code}\n${errors}`);
  return out;
}

const test = suite<{ demo: Server; cwd: string; done: () => void; ended: Promise<void> }>('docs/examples');

test.before(async context => {
  let ready: (demo: Server) => void = () => {};
  const started = new Promise<Server>(resolve => {
    ready = resolve;
  });
  context.ended = withDirectory(async directory => {
    context.cwd = directory;
    // Deno makes links only where it may read and write everything.
    execFileSync('ln', ['-s', sample, join(directory, 'sample')]);
    const demo = await startServer(['demo', '--port', '0', '--data', join(directory, 'data')]);
    const finished = new Promise<void>(resolve => {
      context.done = resolve;
    });
    ready(demo);
    await finished;
    await demo.stop();
  });
  context.demo = await Promise.race([started, context.ended.then(() => Promise.reject(new Error('it did not start')))]);
  const query = new URLSearchParams({ LANG: 'ADQL', QUERY: 'SELECT TOP 1 ra FROM nearsky.objects' });
  // On a busy machine the first tables take longer than the first query waits.
  await eventually('the tables of TAP are made', async () => {
    const { ok, body } = await fetch(`${context.demo.url}/vo/tap/sync?${query}`);
    await body?.cancel();
    return ok || undefined;
  });
});
test.after(({ done, ended }) => {
  done();
  return ended;
});

for (const document of DOCUMENTS) {
  for (const example of examplesOf(readFileSync(join(root, document), 'utf8'))) {
    const { language, code, prints } = example;
    const program = programOf(example);
    const name = `${document}: ${code.split('\n')[0]}`;
    const obstacle = program ? undefined : `there is nothing here that runs ${language} with what it imports`;
    needs(test, obstacle)(name, async ({ demo, cwd }) => {
      const out = await run(program!, code.replaceAll(PRINTED, demo.url), cwd);
      assert.is.not(out, '');
      if (prints !== undefined) assert.is(out, prints);
    });
  }
}

test('the alias of the documents is the command of a checkout, from any directory', async ({ cwd }) => {
  const aliases = DOCUMENTS.flatMap(document =>
    [...readFileSync(join(root, document), 'utf8').matchAll(/alias nearsky="[^"]*"/g)].map(([alias]) => alias),
  );
  assert.is(new Set(aliases).size, 1);
  const script = `cd '${root}'\n${aliases[0]}\ncd '${cwd}'\nnearsky --version\n`;
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly version: string };
  assert.is(await run(['bash', '-O', 'expand_aliases', '-c'], script, cwd), `nearsky ${version}\n`);
});

test('links between documents lead to files', () => {
  for (const document of DOCUMENTS) {
    const text = readFileSync(join(root, document), 'utf8');
    for (const [, target] of text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g))
      assert.ok(existsSync(join(root, dirname(document), target!)), `${document} names ${target}`);
  }
});

test.run();
