/**
 * A system call of a command fails, once or from then on: nothing is lost, the command reports the error, and a
 * repeated run gives the normal result. By default a few calls of each command, which TEST_SEED chooses;
 * TEST_FAULTS=all takes every call, and TEST_FAULTS='^ingest/write' those whose name matches.
 */
import { cpSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { random } from '../e2e/kill_support.ts';
import { type Finished, send, start, withDirectory } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { differences, type Holdings, strangers } from './holdings.ts';
import { type Fault, KINDS, type Kind, obstacle, preload, readCalls } from './library.ts';
import { prepare, SCENARIOS, type Scenario } from './scenarios.ts';

const which = process.env.TEST_FAULTS;
/** The number of faults of each command, where `which` says nothing else. */
const SAMPLE = 2;
const CONCURRENCY = 2;
/** A command that takes longer has hung. */
const LIMIT_MS = 60_000;

/** The ways in which calls of a kind fail. Those of `lasting` fail from then on, as on a full or broken disk. */
const ERRORS: Record<Kind, { readonly once: readonly string[]; readonly lasting: readonly string[] }> = {
  open: { once: ['EMFILE', 'EIO'], lasting: ['EMFILE'] },
  read: { once: ['EIO', 'short'], lasting: ['EIO'] },
  write: { once: ['EIO', 'ENOSPC', 'short'], lasting: ['ENOSPC'] },
  sync: { once: ['EIO'], lasting: ['EIO'] },
  truncate: { once: ['ENOSPC'], lasting: [] },
  rename: { once: ['EIO'], lasting: [] },
  unlink: { once: ['EIO'], lasting: ['EIO'] },
  mkdir: { once: ['ENOSPC'], lasting: [] },
  mmap: { once: ['ENOMEM'], lasting: ['ENOMEM'] },
  stat: { once: ['EIO'], lasting: ['EIO'] },
  list: { once: ['EIO'], lasting: [] },
  lock: { once: ['ENOLCK'], lasting: [] },
  chmod: { once: ['EPERM'], lasting: [] },
  close: { once: ['EIO'], lasting: [] },
  malloc: { once: ['ENOMEM'], lasting: ['ENOMEM'] },
};

interface Case {
  readonly name: string;
  readonly scenario: Scenario;
  readonly fault: Fault;
}

interface Undisturbed {
  readonly before: Holdings;
  readonly after: Holdings;
  readonly stdout: string;
  readonly counts: Readonly<Record<Kind, number>>;
}

const test = suite('faults/inject');

/** Runs a scenario in a directory; `code` is undefined if it hung. */
async function run(scenario: Scenario, directory: string, variables: Record<string, string>) {
  const args = scenario.args(directory);
  // A run mostly consists of its start.
  const settings = { ...variables, NODE_COMPILE_CACHE: join(dirname(directory), 'compiled') };
  const { child, finished } = scenario.run ? scenario.run(args, settings) : start(args, settings);
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<undefined>(resolve => {
    timer = setTimeout(() => resolve(undefined), LIMIT_MS);
  });
  const ended = await Promise.race([finished, hung]);
  clearTimeout(timer);
  if (ended === undefined) send(child, 'SIGKILL');
  return ended;
}

/**
 * Whether the addon of LMDB may end the process without a word. lmdb 3.5.6 frees twice what a failed opening leaves (`EnvWrap::openEnv` and
 * `closeEnv` both delete the environment's context), looks at few of the pointers that malloc gives, and writes up to 113 characters about a
 * failed write into 100 bytes. Nothing of ours runs after that; what can be foreseen is found by `checkFiles` before. Nothing may be lost
 * by it all the same.
 */
function mayCrash({ kind }: Fault, what: string): boolean {
  return (
    kind === 'malloc' || /^(open|pread|pwrite|writev|mmap|ftruncate|fcntl|fstat) .*nearsky\.mdb(-lock)?$/.test(what)
  );
}

class Campaign {
  readonly #directory: string;
  readonly #undisturbed = new Map<Scenario, Undisturbed>();
  readonly problems: string[] = [];
  /** By command and kind of call. */
  readonly held = new Map<string, number>();
  /** The number of runs that crashed where `mayCrash` allows that; they count among the runs that held. */
  crashed = 0;
  #runs = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async #inCopy<T>(scenario: Scenario, body: (directory: string, state: string) => Promise<T>): Promise<T> {
    const number = this.#runs++;
    const directory = join(this.#directory, `run${number}`);
    const state = join(this.#directory, `state${number}`);
    cpSync(join(this.#directory, scenario.ready), directory, { recursive: true });
    try {
      return await body(directory, state);
    } finally {
      rmSync(directory, { recursive: true });
      rmSync(state, { force: true });
    }
  }

  /** Every way to fail one call of a scenario. */
  async casesOf(scenario: Scenario): Promise<Case[]> {
    const undisturbed = await this.#inCopy(scenario, async (directory, state) => {
      const before = await scenario.holdings(directory);
      const finished = await run(scenario, directory, preload(scenario.under?.(directory) ?? directory, { state }));
      assert.is(finished?.code, 0, finished?.stderr);
      const after = await scenario.holdings(directory);
      return { before, after, stdout: finished!.stdout, counts: readCalls(state).counts };
    });
    this.#undisturbed.set(scenario, undisturbed);
    return KINDS.flatMap(kind => {
      const { once, lasting } = ERRORS[kind];
      const faults = Array.from({ length: undisturbed.counts[kind] }, (_, i) => [
        ...once.map((error): Fault => ({ kind, nth: i + 1, error, isLasting: false })),
        ...lasting.map((error): Fault => ({ kind, nth: i + 1, error, isLasting: true })),
      ]).flat();
      return faults.map(fault => {
        const { nth, error, isLasting } = fault;
        return { name: `${scenario.name}/${kind}/${nth}/${error}${isLasting ? '/lasting' : ''}`, scenario, fault };
      });
    });
  }

  async try({ name, scenario, fault }: Case): Promise<void> {
    await this.#inCopy(scenario, async (directory, state) => {
      const undisturbed = this.#undisturbed.get(scenario)!;
      const under = scenario.under?.(directory) ?? directory;
      const finished = await run(scenario, directory, preload(under, { fault, state }));
      const { failed, what } = readCalls(state);
      // A run whose turns depend on time or chance makes some more or fewer calls.
      if (failed === 0) return;
      const hasCrashed = mayCrash(fault, what) && /^SIG(SEGV|ABRT)$/.test(finished?.signal ?? '');
      if (hasCrashed) this.crashed++;
      const seen = hasCrashed ? { ...finished!, code: 1, signal: null, stderr: 'nearsky crashed: ' } : finished;
      const problems = await this.#problemsOf(scenario, directory, seen, undisturbed);
      const group = `${scenario.name} ${fault.kind}`;
      if (problems.length === 0) this.held.set(group, (this.held.get(group) ?? 0) + 1);
      else this.#tell([`${name} (${what})`, ...problems, finished?.stderr.slice(0, 1000)].join('\n    '));
    });
  }

  /** At once, as a campaign may take hours. */
  #tell(problem: string): void {
    console.log(problem);
    this.problems.push(problem);
  }

  async #problemsOf(
    scenario: Scenario,
    directory: string,
    finished: Finished | undefined,
    { before, after, stdout }: Undisturbed,
  ): Promise<string[]> {
    if (finished === undefined) return ['it hung'];
    const problems: string[] = [];
    const { code, signal, stderr } = finished;
    const untrue = (now: Holdings, former: Holdings) =>
      strangers(now, former, after).filter(key => !scenario.tolerated?.test(now.get(key) ?? ''));
    if (signal !== null || code === null) problems.push(`it ended by ${signal}`);
    else if (code !== 0 && code !== 1) problems.push(`it exited with ${code}`);
    else if (code === 1 && !/nearsky [a-z]+: |^\S+:\d+: /m.test(stderr))
      problems.push('it exited with 1 and said nothing');
    if (/^ {4}at |wrong answer/m.test(stderr)) problems.push('it ended unforeseen');
    try {
      const now = await scenario.holdings(directory);
      const lost = untrue(now, before);
      if (lost.length > 0) problems.push(`lost or made up: ${lost.slice(0, 3)}`);
      const missing = untrue(now, after);
      if (code === 0 && missing.length > 0) problems.push(`it exited with 0 without ${missing.slice(0, 3)}`);
      if (code === 0 && scenario.name === 'stats' && finished.stdout !== stdout) problems.push('other numbers');
      if (code !== 0 || finished.stdout !== '') scenario.acknowledged?.(finished.stdout, now, before);
      // A backup overwrites nothing.
      if (differences(now, after).length > 0 || scenario.name !== 'backup') {
        const again = await run(scenario, directory, {});
        if (again?.code !== 0)
          problems.push(`once more, it ended with ${again?.code ?? again?.signal}: ${again?.stderr}`);
      }
      const end = untrue(await scenario.holdings(directory), after);
      if (end.length > 0) problems.push(`at the end there is not, or not as it should be: ${end.slice(0, 3)}`);
      const left = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.part'));
      if (left.length > 0) problems.push(`left behind: ${left}`);
    } catch (error) {
      problems.push(String(error));
    }
    return problems;
  }
}

/** Some faults of each command. Kinds with few calls are as likely as others. */
function sampleOf(cases: readonly Case[]): Case[] {
  const left = [...cases];
  const sample: Case[] = [];
  while (sample.length < SAMPLE && left.length > 0) {
    const kinds = [...new Set(left.map(({ fault }) => fault.kind))];
    const kind = kinds[Math.floor(random() * kinds.length)];
    const ofKind = left.filter(({ fault }) => fault.kind === kind);
    const chosen = ofKind[Math.floor(random() * ofKind.length)]!;
    left.splice(left.indexOf(chosen), 1);
    sample.push(chosen);
  }
  return sample;
}

needs(test, obstacle)('whatever call fails, nothing is lost, it is said, and the next run mends it', () =>
  withDirectory(async temporary => {
    const directory = realpathSync(temporary);
    await prepare(directory);
    const campaign = new Campaign(directory);
    const cases: Case[] = [];
    for (const scenario of SCENARIOS) {
      const own = await campaign.casesOf(scenario);
      if (which === undefined) cases.push(...sampleOf(own));
      else cases.push(...own.filter(({ name }) => which === 'all' || new RegExp(which).test(name)));
    }
    const queue = [...cases];
    const worker = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) await campaign.try(next);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    const held = [...campaign.held].map(([group, count]) => `${group} ${count}`);
    console.log(`${cases.length} faults; held: ${held.join(', ')}; ${campaign.crashed} ended in the addon of LMDB`);
    assert.is(
      campaign.problems.length,
      0,
      `${campaign.problems.length} of ${cases.length} did harm: ${campaign.problems.map(problem => problem.split(' ')[0])}`,
    );
  }),
);

test.run();
