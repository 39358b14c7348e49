/** Containers that use one data directory, each with process ids of its own; and more processes than LMDB has room for. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { eventually, withDirectory } from '../../directory.ts';
import { needs } from '../../needs.ts';
import { startScript } from './script.ts';
import { delivery } from './support.ts';

const test = suite('store/process_ids');

const OPENING = new URL('opening_process.ts', import.meta.url);
const HOLDING = new URL('holding_process.ts', import.meta.url);
/** The command after it is process 1 of a PID namespace of its own. */
const CONTAINER = ['unshare', '--pid', '--fork', '--mount-proc'];
const namespaces = needs(
  test,
  spawnSync(CONTAINER[0]!, [...CONTAINER.slice(1), 'true']).status === 0
    ? undefined
    : 'this process may not make a PID namespace',
);

/** Has the directory open in a container of its own meanwhile. */
async function whileHeld(directory: string, body: () => Promise<void>): Promise<void> {
  const { child, ended, output } = startScript(HOLDING, [directory], { stdin: 'pipe', under: CONTAINER });
  try {
    await eventually('the directory to be open', async () => output() || undefined);
    await body();
  } finally {
    child.stdin!.end();
    assert.is((await ended).code, 0);
  }
}

namespaces('two containers with one process id: the second says why it cannot open the directory, at once', () =>
  withDirectory(directory =>
    whileHeld(directory, async () => {
      for (const mode of ['read', 'write']) {
        const { output } = await startScript(OPENING, [directory, mode], { under: CONTAINER }).ended;
        assert.match(
          output,
          /^Cannot open .* because a process of another container .* the same process id as this process, 1: run both/,
        );
        assert.match(output, /share the PID namespace/);
      }
    }),
  ),
);

namespaces('containers whose process ids differ use one directory together', () =>
  withDirectory(directory =>
    whileHeld(directory, async () => {
      const store = openStore(directory, 'write');
      assert.equal(store.livePids(), new Set([1, process.pid]));
      await new Writer(store).ingest([delivery(1n)], 1_800_000_000_000_000);
      assert.ok(store.getObject(1n));
      await store.close();
    }),
  ),
);

namespaces('the id of a process that was killed is free', () =>
  withDirectory(async directory => {
    const { child, output } = startScript(HOLDING, [directory], {
      stdin: 'pipe',
      under: [...CONTAINER, '--kill-child=SIGKILL'],
    });
    await eventually('the directory to be open', async () => output() || undefined);
    child.kill('SIGKILL');
    await eventually('the id to be free', async () => {
      const { output } = await startScript(OPENING, [directory], { under: CONTAINER }).ended;
      return output === 'opened\n' || undefined;
    });
  }),
);

test('a directory that as many have open as there is room for', () =>
  withDirectory(async directory => {
    await openStore(directory, 'write').close();
    const path = join(directory, 'nearsky.mdb');
    rmSync(`${path}-lock`);
    // Who makes the lock file says how many there is room for.
    const database = open({ path, maxDbs: 24, maxReaders: 1, overlappingSync: false });
    assert.ok([...database.getKeys()].length > 0, 'it is in the table of readers');
    for (const mode of ['read', 'write']) {
      const { output } = await startScript(OPENING, [directory, mode]).ended;
      assert.match(output, /^Cannot open .* because the maximum number of processes and threads have it open: stop/);
    }
    await database.close();
  }));

test.run();
