/** The Python client as a package: `pip install ./clients/python` works, and leaves nothing in the checkout. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { needs } from '../needs.ts';

const PACKAGE = fileURLToPath(new URL('../../clients/python', import.meta.url));
const PYTHONS = [process.env.TEST_PYTHON, '/usr/bin/python3', 'python3'].filter(each => each !== undefined);
const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1', PYTHONDONTWRITEBYTECODE: '1' };

const run = (python: string, ...args: string[]) => spawnSync(python, args, { encoding: 'utf8', cwd: directory, env });
const pip = (...args: string[]) => run(python!, '-m', 'pip', ...args);
const directory = mkdtempSync(join(tmpdir(), 'nearsky-package-'));
const python = PYTHONS.find(each => run(each, '-m', 'pip', '--version').status === 0);

/** pip gets what builds the package from a registry. */
function obstacle(): string | undefined {
  if (python === undefined) return 'there is no Python with pip';
  const { status, stderr } = pip(
    'download',
    '-q',
    '--no-deps',
    '--retries=1',
    '--timeout=10',
    '-d',
    'tools',
    'flit_core',
  );
  return status === 0 ? undefined : `pip cannot get flit_core: ${stderr.trim().split('\n').at(-1)}`;
}

const test = suite('clients/python_package');
test.after(() => rmSync(directory, { recursive: true, force: true }));

needs(test, obstacle())('a wheel is built and imported, and the checkout is as it was', () => {
  const files = () => readdirSync(PACKAGE, { recursive: true }).sort();
  const before = files();
  const built = pip('wheel', '-q', '--no-deps', '-w', 'wheels', PACKAGE);
  assert.is(built.status, 0, built.stderr);
  const installed = pip('install', '-q', '--no-deps', '--target', 'direct', PACKAGE);
  assert.is(installed.status, 0, installed.stderr);
  assert.equal(files(), before);

  const [wheel] = readdirSync(join(directory, 'wheels'));
  assert.match(wheel!, /^nearsky-[\d.]+-py3-none-any\.whl$/);
  const fromWheel = pip('install', '-q', '--no-index', '--target', 'from-wheel', join(directory, 'wheels', wheel!));
  assert.is(fromWheel.status, 0, fromWheel.stderr);
  for (const target of ['direct', 'from-wheel']) {
    const code = `import sys; sys.path.insert(0, ${JSON.stringify(target)})
import nearsky, importlib.metadata
assert nearsky.__file__.startswith(${JSON.stringify(join(directory, target))}) or ${JSON.stringify(target)} in nearsky.__file__
print(nearsky.__version__, importlib.metadata.version("nearsky"))`;
    const { status, stdout, stderr } = run(python!, '-c', code);
    assert.is(status, 0, stderr);
    const [own, ofPackage] = stdout.trim().split(' ');
    assert.is(own, ofPackage);
    assert.ok(wheel!.includes(`-${own}-`));
  }
});

/** pip gets the tools that check packages from a registry. */
function toolsObstacle(): string | undefined {
  const why = obstacle();
  if (why) return why;
  const args = ['-q', '--retries=1', '--timeout=10', '--target', 'tools'];
  const { status, stderr } = pip('install', ...args, 'twine', 'build', 'flit_core<4', 'mypy');
  return status === 0 ? undefined : `pip cannot get twine and mypy: ${stderr.trim().split('\n').at(-1)}`;
}

const withoutTools = toolsObstacle();
const withTools = (...args: string[]) =>
  spawnSync(python!, args, { encoding: 'utf8', cwd: directory, env: { ...env, PYTHONPATH: join(directory, 'tools') } });

needs(test, withoutTools)(
  'twine finds no fault with the wheel and the source distribution, which say that they are typed',
  () => {
    cpSync(PACKAGE, join(directory, 'source'), { recursive: true });
    const built = withTools('-m', 'build', '--no-isolation', '--outdir', 'published', 'source');
    assert.is(built.status, 0, built.stdout + built.stderr);
    const files = readdirSync(join(directory, 'published')).map(name => join('published', name));
    assert.is(files.length, 2);
    const { status, stdout, stderr } = withTools('-m', 'twine', 'check', '--strict', ...files);
    assert.is(status, 0, stdout + stderr);
    const listed = withTools('-m', 'zipfile', '-l', files.find(name => name.endsWith('.whl'))!);
    assert.match(listed.stdout, /nearsky\/py\.typed/);
  },
);

const PROGRAM = `
from __future__ import annotations
from typing import Any
from nearsky import Nearsky, NearskyError, Walk, to_pandas
from nearsky.aio import AsyncNearsky

def ask(service: Nearsky) -> int:
    walk: Walk = service.cone(61.62, -49.29, 30)
    found: list[dict[str, Any]] = [*walk, *service.lookup([1, "SN 2099aaa", (1, 2, 3)], detail="ids")]
    try:
        print(to_pandas(found), walk.cursor)
    except NearskyError as error:
        return error.status
    return service.count_area("CIRCLE 1 2 3")

async def wait(service: AsyncNearsky) -> int:
    one: dict[str, Any] = await service.object(1, detail="full")
    many: list[dict[str, Any]] = await service.lookup([1], radius_arcsec=5)
    async for result in service.lookups(many):
        print(one, result)
    async for match in service.matches(after="beginning"):
        print(match)
    return await service.count_area("CIRCLE 1 2 3")
`;
const MISTAKES = `
from nearsky import Nearsky
from nearsky.aio import AsyncNearsky
Nearsky("http://x").cone(1, 2, 3, page_sise=4)
Nearsky("http://x").lookup([1], detial="ids")
async def wait(service: AsyncNearsky) -> None:
    await service.object(1, detail=5)
    await service.lookup([1], detial="ids")
    service.area("CIRCLE 1 2 3", page_sise=4)
`;

needs(test, withoutTools)('mypy takes a typed program, and finds the mistakes of another', () => {
  const installed = pip('install', '-q', '--no-deps', '--target', 'typed', PACKAGE);
  assert.is(installed.status, 0, installed.stderr);
  const check = (name: string, program: string) => {
    writeFileSync(join(directory, name), program);
    const args = ['-m', 'mypy', '--strict', '--python-version=3.10', '--no-color-output', '--hide-error-context'];
    const mypyEnv = { ...env, PYTHONPATH: join(directory, 'tools'), MYPYPATH: join(directory, 'typed') };
    return spawnSync(python!, [...args, name], { encoding: 'utf8', cwd: directory, env: mypyEnv });
  };
  const typed = check('program.py', PROGRAM);
  assert.is(typed.status, 0, typed.stdout + typed.stderr);
  const { stdout } = check('mistakes.py', MISTAKES);
  const lines = [...stdout.matchAll(/^mistakes\.py:(\d+): error/gm)].map(([, line]) => Number(line));
  assert.equal(lines, [4, 5, 7, 8, 9], stdout);
});

test.run();
