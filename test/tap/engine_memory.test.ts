/** The process of the engine ends where it has far more memory than the engine counts. */
import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isDeno } from '../../src/base/runtime.ts';
import { needs } from '../needs.ts';

const test = suite('tap: engine_memory');
const obstacle = isDeno ? 'the program that it runs is one of Node' : undefined;

/** How a process ends that may have so much memory and makes 400 MiB. */
function endOf(mostMib: number) {
  const module = new URL('../../src/tap/engine_process.ts', import.meta.url);
  const program = `import { boundMemory } from '${module}';
    boundMemory(${mostMib});
    const blocks = [];
    for (let i = 0; i < 4; i++) blocks.push(Buffer.alloc(100 * 2 ** 20, 1));
    setTimeout(() => process.exit(7), 1000);`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
}

needs(test, obstacle)('a process beyond its memory is ended, and says why', () => {
  const { signal, stderr } = endOf(300);
  assert.is(signal, 'SIGKILL');
  assert.match(stderr, /tap_engine_out_of_memory/);
  assert.is(endOf(4000).status, 7);
});

test.run();
