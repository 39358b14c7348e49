/** docs/a_year_on_one_server.md: every block runs as printed, in order, and prints what the page says. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import { needs } from '../needs.ts';
import { mountSmallDisk } from '../small_disk.ts';
import { rehearse } from './rehearsal.ts';

const test = suite('docs/a_year');
const disk = mountSmallDisk('1m');
disk?.unmount();

needs(test, disk ? undefined : 'this process may not mount a small disk')('every block runs as printed', () =>
  rehearse('docs/a_year_on_one_server.md', {
    blocks: 15,
    limitMs: 600_000,
    end: directory => spawnSync('umount', ['-l', join(directory, 'disk')]),
  }),
);

test.run();
