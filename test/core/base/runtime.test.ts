/** The limits of a process's heap. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { heapLimit } from '../../../src/core/base/runtime.ts';
import { root } from '../../directory.ts';
import { runtimeArgs } from '../../runtime.ts';

const test = suite('base/runtime');

test('a limited heap does not grow for objects that are soon garbage', () => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...runtimeArgs, join(root, 'test/core/base/new_objects.ts')],
    {
      encoding: 'utf8',
      env: { ...process.env, ...heapLimit(72) },
    },
  );
  // Without a limit for new objects: 63 MiB under Node, 87 under Deno.
  assert.ok(Number(stdout) > 0 && Number(stdout) < 50, `${stdout}${stderr}`);
});

test.run();
