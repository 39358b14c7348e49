import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../directory.ts';

const test = suite('install/node_version');

test('a checkout tells a Node that cannot read the sources so, in one line', () => {
  const bin = JSON.stringify(join(root, 'bin/nearsky.cjs'));
  const older = `Object.defineProperty(process, 'versions', { value: { node: '22.22.0' } }); require(${bin});`;
  const { status, stderr } = spawnSync(process.execPath, ['-e', older, '--', '--version'], { encoding: 'utf8' });
  assert.is(stderr, 'nearsky needs Node 24.0 or newer; this is Node 22.22.0\n');
  assert.is(status, 1);
});

test.run();
