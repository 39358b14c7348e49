/**
 * A disk is full before a command begins, becomes full while it writes, or is filled by another program: nothing is
 * lost, the command reports it, and a repeated run with free space gives the normal result. A few rounds by default;
 * TEST_FULL_DISKS=92 takes as many.
 */
import { cpSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RESERVE_BYTES } from '../../src/core/store/disk_space.ts';
import { random } from '../e2e/kill_support.ts';
import { start, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { fillDisk, mountSmallDisk } from '../small_disk.ts';
import { differences, type Holdings, strangers } from './holdings.ts';
import { prepare, SCENARIOS, type Scenario } from './scenarios.ts';

const test = suite('faults/full_disk');

const rounds = Number(process.env.TEST_FULL_DISKS ?? 4);
const WRITERS = ['ingest-new', 'ingest', 'import', 'tns-load-csv', 'crossmatch'];
/** In one round of this many, another program fills the disk while the command runs. */
const MEANWHILE = 4;
/** Such a command takes about as long. */
const RUN_MS = 2500;
const disk = mountSmallDisk('24m');

interface Undisturbed {
  readonly before: Holdings;
  readonly after: Holdings;
}

async function undisturbed(scenario: Scenario, directory: string): Promise<Undisturbed> {
  const before = await scenario.holdings(directory);
  const { code, stderr } = await start(scenario.args(directory)).finished;
  assert.is(code, 0, stderr);
  return { before, after: await scenario.holdings(directory) };
}

/**
 * @returns the outcome of the command: `done`, `refused`, or `crashed` in the addon of LMDB, which is possible if the
 * disk was filled meanwhile
 */
async function round(scenario: Scenario, directory: string, { before, after }: Undisturbed, isMeanwhile: boolean) {
  const free = Math.floor(random() * 2 * RESERVE_BYTES);
  let filler = isMeanwhile ? undefined : fillDisk(disk!.directory, free);
  const { finished } = start(scenario.args(directory));
  const timer = setTimeout(() => {
    if (isMeanwhile) filler = fillDisk(disk!.directory, 0);
  }, random() * RUN_MS);
  const { code, signal, stderr } = await finished;
  clearTimeout(timer);
  if (filler) rmSync(filler);
  const about = `${scenario.name}, ${isMeanwhile ? 'filled meanwhile' : `${free} bytes free`}: ${code ?? signal} ${stderr.slice(0, 1000)}`;
  const hasCrashed = isMeanwhile && /^SIG(SEGV|ABRT)$/.test(signal ?? '');
  if (!hasCrashed) assert.ok(code === 0 || code === 1, about);
  if (code === 1) assert.match(stderr, /nearsky [a-z]+: .*(disk|space)/, about);
  assert.not.match(stderr, /^ {4}at /m, about);
  const now = await scenario.holdings(directory);
  assert.equal(strangers(now, before, after), [], about);
  if (code === 0) assert.equal(differences(now, after), [], about);
  const again = await start(scenario.args(directory)).finished;
  assert.is(again.code, 0, `${about}; once more: ${again.stderr}`);
  assert.equal(differences(await scenario.holdings(directory), after), [], about);
  if (hasCrashed) return 'crashed';
  return code === 0 ? 'done' : 'refused';
}

needs(test, disk ? undefined : 'this process may not mount a small disk')(
  'a full disk loses nothing, is told of, and ends no process',
  () =>
    withDirectory(async temporary => {
      const directory = realpathSync(temporary);
      await prepare(directory);
      const scenarios = SCENARIOS.filter(({ name }) => WRITERS.includes(name));
      const known = new Map<Scenario, Undisturbed>();
      const outcomes = new Map<string, number>();
      // Catalogs must be beside the directory of a run.
      cpSync(join(directory, 'sky'), join(disk!.directory, 'sky'), { recursive: true });
      for (let number = 0; number < rounds; number++) {
        const scenario = scenarios[Math.floor(random() * scenarios.length)]!;
        const inCopy = async <T>(body: (copy: string) => Promise<T>): Promise<T> => {
          const copy = join(disk!.directory, 'run');
          cpSync(join(directory, scenario.ready), copy, { recursive: true });
          try {
            return await body(copy);
          } finally {
            rmSync(copy, { recursive: true });
            rmSync(join(disk!.directory, 'filler'), { force: true });
          }
        };
        if (!known.has(scenario)) known.set(scenario, await inCopy(copy => undisturbed(scenario, copy)));
        const isMeanwhile = number % MEANWHILE === MEANWHILE - 1;
        const outcome = await inCopy(copy => round(scenario, copy, known.get(scenario)!, isMeanwhile));
        const group = `${scenario.name} ${isMeanwhile ? 'filled meanwhile ' : ''}${outcome}`;
        outcomes.set(group, (outcomes.get(group) ?? 0) + 1);
      }
      console.log(
        `${rounds} full disks: ${[...outcomes]
          .map(([group, count]) => `${group} ${count}`)
          .sort()
          .join(', ')}`,
      );
    }),
);

test.after(() => disk?.unmount());

test.run();
