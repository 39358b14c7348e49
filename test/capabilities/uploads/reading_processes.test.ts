/**
 * The processes that read clients' input: which wait for which, and which is ended when all together have too much
 * memory.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChildMemory, MemoryTaken } from '../../../src/capabilities/uploads/child_memory.ts';
import { type Reading, ReadingProcesses } from '../../../src/capabilities/uploads/reading_processes.ts';
import { Budget } from '../../../src/core/base/budget.ts';
import { ClientAdmission } from '../../../src/core/base/client_admission.ts';
import { Unavailable } from '../../../src/core/base/refusal.ts';
import { eventually } from '../../directory.ts';
import { needs } from '../../needs.ts';
import type { MoodyTask } from './moody_process.ts';

interface Context {
  directory: string;
  memory: ChildMemory;
  processes: ReadingProcesses;
  /** The memory of each process that was ended, MiB. */
  ended: number[];
}

const test = suite<Context>('uploads/reading_processes');
const onLinux = needs(test, process.platform === 'linux' ? undefined : 'only Linux reports the memory of processes');

const MODULE = 'test/capabilities/uploads/moody_process';
const MAX_MIB = 400;
const NICENESS = 7;

test.before.each(context => {
  context.directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  context.ended = [];
  const memory = new ChildMemory(MAX_MIB, (_event, fields) => context.ended.push(fields!.mib as number));
  context.memory = memory;
  context.processes = processesOf(context);
});

/** By default a small process is not too slow, even beside programs that take the processor. */
function processesOf({ directory, memory }: Context, smallMs = 30_000): ReadingProcesses {
  const options = {
    dataDir: directory,
    memoryMib: 512,
    niceness: NICENESS,
    childMemory: memory,
    modules: [MODULE],
  };
  return new ReadingProcesses({
    small: { ...options, data: { answer: 'small' } },
    large: { ...options, data: { answer: 'large' } },
    admission: new ClientAdmission(),
    smallMs,
  });
}

test.after.each(({ directory, memory, processes }) => {
  processes.close();
  memory.close();
  rmSync(directory, { recursive: true, force: true });
});

interface Asked extends Partial<Reading<string>>, Pick<MoodyTask, 'mood' | 'mib'> {
  readonly kind: Reading<string>['kind'];
}

function reading({ mood, mib, ...options }: Asked): Reading<string> {
  const task: MoodyTask = { module: MODULE, kind: 'mood', mood, ...(mib && { mib }) };
  return { task, inputBytes: 10, isTooLarge: () => false, tooLarge: 'too large', ...options };
}

/** The number of processes that a process has started, without the one that counts them. */
function childrenOf(pid: number): number {
  const { stdout } = spawnSync('ps', ['-o', 'args=', '--ppid', `${pid}`], { encoding: 'utf8' });
  return stdout.split('\n').filter(args => args.includes('process_tasks')).length;
}

const LARGE = 100 << 20;
/** More than the time for which a process counts as busy after its work. */
const IDLE_MS = 2500;

test('a small area waits for no table, whoever sends tables that do not end', async ({ processes }) => {
  let begun = 0;
  for (let i = 0; i < 8; i++) {
    const table = reading({ kind: 'table', mood: 'hangs', note: () => begun++ });
    processes.inTime(`table ${i}`, table, new Budget(60)).catch(() => {});
  }
  const area = reading({ kind: 'area', mood: 'answersLate' });
  assert.is(await processes.inTime('area', area, new Budget(60)), 'answersLate');
  // A third one begins when one of the two has left its slot.
  assert.ok(begun <= 2, `${begun}`);
});

test('a quick table waits for no table that takes long, however small', async ({ processes }) => {
  let begun = 0;
  for (let i = 0; i < 8; i++) {
    const table = reading({
      kind: 'table',
      mood: 'hangs',
      quickTask: { module: MODULE, kind: 'mood', mood: 'answers' } as MoodyTask,
      isTooLarge: result => result === 'answers',
      note: mood => (begun += Number(mood === 'hangs')),
    });
    processes.inTime(`client ${i}`, table, new Budget(60)).catch(() => {});
  }
  const quickTask: MoodyTask = { module: MODULE, kind: 'mood', mood: 'answersLate' };
  const quick = reading({ kind: 'table', mood: 'hangs', quickTask });
  assert.is(await processes.inTime('quick', quick, new Budget(60)), 'answersLate');
  // A second one begins when the first has left its slot.
  assert.ok(begun <= 1, `${begun}`);
});

test('a table that was too slow for one small process goes to a large one', async context => {
  context.processes = processesOf(context, 500);
  const quickTask: MoodyTask = { module: MODULE, kind: 'mood', mood: 'hangs' };
  const table = reading({ kind: 'table', mood: 'answersWithData', quickTask });
  assert.is(await context.processes.inTime('client', table, new Budget(60)), 'large');
});

test('a small table whose process starts slowly is read by it all the same', async context => {
  context.processes = processesOf(context, 3000);
  process.env.MOODY_START_MS = '4000';
  try {
    const table = reading({ kind: 'table', mood: 'answersWithData' });
    assert.is(await context.processes.inTime('client', table, new Budget(60)), 'small');
  } finally {
    delete process.env.MOODY_START_MS;
  }
});

onLinux('of idle processes, one for small input stays when all memory is taken', async ({ processes }) => {
  const small = (mood: MoodyTask['mood']) => reading({ kind: 'table', mood });
  await Promise.all(['a', 'b'].map(client => processes.inTime(client, small('answersLate'), new Budget(60))));
  await sleep(IDLE_MS);
  assert.ok(childrenOf(process.pid) > 1);
  const larger = reading({ kind: 'table', mood: 'hangs', mib: 450, inputBytes: LARGE });
  const refused = processes.inTime('a', larger, new Budget(60)).catch(() => {});
  await eventually('the others have ended', async () => childrenOf(process.pid) === 1 || undefined);
  await refused;
  assert.is(childrenOf(process.pid), 1);
});

test('input that is not quick goes to a large process at once, if it says so', async ({ processes }) => {
  const quickTask: MoodyTask = { module: MODULE, kind: 'mood', mood: 'answers' };
  const began: string[] = [];
  const table = reading({
    kind: 'table',
    mood: 'answersWithData',
    quickTask,
    isLargeUnlessQuick: true,
    isTooLarge: result => result === 'answers',
    note: mood => void began.push(`${mood}`),
  });
  assert.is(await processes.inTime('client', table, new Budget(60)), 'large');
  assert.is(began.length, 2);
});

onLinux('an idle process waits for the next small input, while there are fewer than slots', async ({ processes }) => {
  const hanging = (kind: 'table' | 'area', client: string) =>
    processes.inTime(client, reading({ kind, mood: 'hangs' }), new Budget(60)).catch(() => {});
  void hanging('table', 'a');
  await eventually('one works and one waits', async () => childrenOf(process.pid) === 2 || undefined);
  void hanging('table', 'b');
  await eventually('two work and one waits', async () => childrenOf(process.pid) === 3 || undefined);
  void hanging('area', 'c');
  await eventually('three work and one waits', async () => childrenOf(process.pid) === 4 || undefined);
});

onLinux(
  'a process that has only garbage takes the next task, one that keeps its memory does not',
  async ({ processes }) => {
    const idAfter = async (mood: MoodyTask['mood'], mib = 0) =>
      (await processes.inTime('client', reading({ kind: 'table', mood, mib }), new Budget(60)))!;
    const first = await idAfter('leavesGarbage');
    assert.is(await idAfter('leavesGarbage'), first);
    assert.match(await idAfter('tellsItsId', 200), new RegExp(`^${first} with`));
    assert.is.not(await idAfter('tellsItsId'), first);
  },
);

onLinux('every thread of a process has its priority', async ({ processes }) => {
  processes.inTime('a', reading({ kind: 'area', mood: 'hangs' }), new Budget(60)).catch(() => {});
  // A process begins as a shell, which has no other thread.
  const niceness = () =>
    spawnSync('ps', ['-L', '-o', 'ni=,args=', '--ppid', `${process.pid}`], { encoding: 'utf8' })
      .stdout.split('\n')
      .map(line => line.trim().split(/\s+/))
      .filter(([, program, ...args]) => program === process.execPath && /process_tasks/.test(`${args}`))
      .map(([niceness]) => Number(niceness));
  await eventually('its threads run', async () => niceness().length > 3 || undefined);
  assert.equal(new Set(niceness()), new Set([Math.min(19, getPriority() + NICENESS)]));
});

onLinux(
  'if all have too much memory, the largest is ended and refused for now [Crossmatch of a table]',
  async ({ processes, ended }) => {
    const ends = new AbortController();
    const other = processes.forJob(reading({ kind: 'table', mood: 'hangs', mib: 100 }), ends.signal);
    other.catch(() => {});
    const larger = reading({ kind: 'table', mood: 'hangs', mib: 280, inputBytes: LARGE });
    try {
      await processes.inTime('a', larger, new Budget(60));
      assert.unreachable();
    } catch (error) {
      assert.instance(error, Unavailable);
      assert.match((error as Error).message, /have taken the memory/);
    }
    assert.is(ended.length, 1);
    assert.ok(ended[0]! >= 280, `${ended}`);
    const small = reading({ kind: 'table', mood: 'answersLate' });
    assert.is(await processes.inTime('b', small, new Budget(60)), 'answersLate');
    assert.is(ended.length, 1, 'the other one goes on');
    ends.abort();
    await other.catch(() => {});
  },
);

onLinux('a process that has too much memory alone is too large', async ({ processes }) => {
  const table = reading({ kind: 'table', mood: 'hangs', mib: MAX_MIB, inputBytes: LARGE });
  assert.is(await processes.inTime('a', table, new Budget(60)), 'too large');
});

onLinux('idle processes are ended first', async ({ processes, ended }) => {
  const warm = (client: string) =>
    processes.inTime(client, reading({ kind: 'table', mood: 'answersLate', mib: 40 }), new Budget(60));
  assert.equal(await Promise.all([warm('a'), warm('b')]), Array(2).fill('answersLate with 40 MiB'));
  await sleep(IDLE_MS);
  const table = reading({ kind: 'table', mood: 'answersLate', mib: 280, inputBytes: LARGE });
  assert.is(await processes.inTime('c', table, new Budget(60)), 'answersLate with 280 MiB');
  assert.equal(ended, []);
});

onLinux('a job that is ended for its memory runs again', async ({ processes, ended }) => {
  const ends = new AbortController();
  const other = processes.forJob(reading({ kind: 'table', mood: 'hangs', mib: 100 }), ends.signal);
  other.catch(() => {});
  const table = reading({ kind: 'table', mood: 'answersLate', mib: 300 });
  const job = processes.forJob(table, new AbortController().signal);
  await eventually('it is ended', async () => ended.length > 0 || undefined);
  ends.abort();
  await other.catch(() => {});
  assert.is(await job, 'answersLate with 300 MiB');
  assert.ok(
    ended.every(mib => mib > 200),
    `${ended}`,
  );
});

onLinux(
  'a job that is ended for its memory again and again fails [Crossmatch of a table]',
  async ({ processes, ended }) => {
    const ends = new AbortController();
    const other = processes.forJob(reading({ kind: 'table', mood: 'hangs', mib: 100 }), ends.signal);
    other.catch(() => {});
    const job = reading({ kind: 'table', mood: 'hangs', mib: 300 });
    try {
      await processes.forJob(job, new AbortController().signal);
      assert.unreachable();
    } catch (error) {
      assert.instance(error, MemoryTaken);
    }
    assert.is(ended.length, 4);
    ends.abort();
    await other.catch(() => {});
  },
);

test.run();
