/** What is durable on return is there after the power is cut at once. The campaign `power` cuts it at other moments. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withDirectory } from '../../directory.ts';
import { obstacle, preload } from '../../faults/library.ts';
import { Disk, readChanges } from '../../faults/power.ts';
import { needs } from '../../needs.ts';
import { runtimeArgs } from '../../runtime.ts';

const test = suite('jobs/durable');

/** The names below a directory, those of files with their contents. */
function contentsOf(directory: string): Readonly<Record<string, string>> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).map(entry => {
    const path = join(entry.parentPath, entry.name);
    return [path, entry.isFile() ? readFileSync(path, 'utf8') : ''] as const;
  });
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

needs(test, obstacle)('directories with their parents, rejected messages, and jobs with their requests', () =>
  withDirectory(async temporary => {
    const directory = realpathSync(temporary);
    const [base, place, record] = ['base', 'run', 'record'].map(name => join(directory, name)) as [
      string,
      string,
      string,
    ];
    for (const path of [base, place]) mkdirSync(path);
    const program = fileURLToPath(new URL('making_durable.ts', import.meta.url));
    const env = { ...process.env, ...preload(place, { record }) };
    const { status, stderr } = spawnSync(process.execPath, [...runtimeArgs, program, place], { env, encoding: 'utf8' });
    assert.is(status, 0, stderr);
    const stored = contentsOf(place);
    assert.is(Object.keys(stored).length, 9);
    rmSync(place, { recursive: true });
    const disk = new Disk(place, base);
    for (const change of readChanges(record)) disk.apply(change);
    disk.leave(place, 'nothing', Math.random);
    assert.equal(contentsOf(place), stored);
  }),
);

test.run();
