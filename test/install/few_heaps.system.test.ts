import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root, withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';

const test = suite('install/few_heaps');
const isAble = process.platform === 'linux' && 'execve' in process;
const check = needs(test, isAble ? undefined : 'only on Linux a program can start anew as the same process');

/** The settings of the allocator with which the service runs, and the process that was started. */
async function heapsOf(data: string, settings: Readonly<Record<string, string>>): Promise<string[]> {
  const { MALLOC_ARENA_MAX, MALLOC_MMAP_THRESHOLD_, ...env } = process.env;
  const child = spawn(process.execPath, [join(root, 'bin/nearsky.cjs'), 'serve', '--data', data, '--port', '0'], {
    env: { ...env, ...settings },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'exit');
  try {
    await once(child.stdout, 'data');
    const environment = readFileSync(`/proc/${child.pid}/environ`, 'utf8').split('\0');
    return environment.filter(entry => entry.startsWith('MALLOC_')).sort();
  } finally {
    child.kill();
    assert.equal(await ended, [0, null], 'the signal reaches the service');
  }
}

check('a service has few heaps, unless its environment says otherwise', () =>
  withDirectory(async data => {
    assert.equal(await heapsOf(data, {}), ['MALLOC_ARENA_MAX=2', 'MALLOC_MMAP_THRESHOLD_=131072']);
    assert.equal(await heapsOf(data, { MALLOC_ARENA_MAX: '4' }), ['MALLOC_ARENA_MAX=4']);
  }),
);

check('an export has little memory for new objects', () =>
  withDirectory(async directory => {
    const [hook, flags] = [join(directory, 'hook.cjs'), join(directory, 'flags')];
    writeFileSync(hook, `require('node:fs').appendFileSync(${JSON.stringify(flags)}, process.execArgv + '\\n');`);
    const args = ['--require', hook, join(root, 'bin/nearsky.cjs'), 'export', '--help'];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.is(status, 0);
    assert.match(stdout, /^Usage: nearsky export/);
    const starts = readFileSync(flags, 'utf8').trimEnd().split('\n');
    assert.equal(starts, [`--require,${hook}`, `--require,${hook},--max-semi-space-size=4`]);
  }),
);

test.run();
