/** Jobs: the resources of UWS, the state after a restart, the limits. */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Job } from '../../../src/capabilities/jobs/job.ts';
import { JobError, type JobPaths, JobQueue, type JobRunner } from '../../../src/capabilities/jobs/job_queue.ts';
import { JobStore } from '../../../src/capabilities/jobs/job_store.ts';
import { jobsOf } from '../../../src/capabilities/jobs/jobs.ts';
import { jobDocument } from '../../../src/capabilities/jobs/uws.ts';
import { Unavailable } from '../../../src/core/base/refusal.ts';
import { configOf, eventually, withDirectory } from '../../core/http/support.ts';
import { needs } from '../../needs.ts';
import { fillDisk, mountSmallDisk } from '../../small_disk.ts';

const test = suite('jobs/jobs');

const disk = mountSmallDisk('2m');
const testWithDisk = needs(test, disk ? undefined : 'this process may not mount a small disk');

test.after(() => disk?.unmount());

const LIMITS = { maxJobs: 3, maxJobsOfClient: 10, maxBytes: 10_000, keptMs: 3_600_000, runMs: 3_600_000 };
const CREATE = {
  step: 'create',
  kind: 'copy',
  client: 'a',
  request: { a: 1 },
  parameters: {},
  bytes: 100,
} as const;

/** The process ids that use the data directory, besides this one. */
const otherPids = new Set<number>();
const livePids = () => otherPids;

/** The order of jobs is the order of the milliseconds in which they were made. */
function untilNextMs(): void {
  const ms = Date.now();
  while (Date.now() === ms);
}

/** A queue whose runner finishes when it is told to. */
function queueOf(directory: string, limits: typeof LIMITS & { sweepMs?: number } = LIMITS, slots = 1) {
  const store = new JobStore(directory);
  const begun: string[] = [];
  const { promise: told, resolve: finish, reject: fail } = Promise.withResolvers<void>();
  const copy: JobRunner = async ({ id }: Job, { output }: JobPaths, ends: AbortSignal) => {
    begun.push(id);
    const { promise: ended, reject } = Promise.withResolvers<void>();
    ends.addEventListener('abort', () => reject(new Error('ended')));
    await Promise.race([told, ended]);
    writeFileSync(output, 'done');
    return { mediaType: 'text/plain', bytes: 4, about: null };
  };
  const queue = new JobQueue(store, { copy: { run: copy, slots } }, limits, () => {}, livePids);
  const add = (client = 'a') => {
    untilNextMs();
    const { id } = queue.step({ ...CREATE, client })!;
    writeFileSync(store.inputPath(id), 'x');
    queue.step({ step: 'run', id });
    return id;
  };
  const phase = (id: string) => store.read(id)?.phase;
  const reaches = (id: string, wanted: string) =>
    eventually(`${id} is ${wanted}`, async () => phase(id) === wanted || undefined);
  return { store, queue, begun, finish, fail, add, phase, reaches };
}

test('one after another; aborted and removed ones; bounds [Crossmatch of a table]', () =>
  withDirectory(async directory => {
    const { store, queue, begun, finish, add, phase, reaches } = queueOf(directory);
    const [first, second, third] = [add(), add(), add()];
    assert.equal([phase(first), phase(second), begun], ['EXECUTING', 'QUEUED', [first]]);
    assert.throws(
      () => queue.step(CREATE),
      (error: unknown) => error instanceof Unavailable,
    );
    queue.step({ step: 'abort', id: second });
    queue.step({ step: 'abort', id: first });
    assert.equal([phase(first), phase(second)], ['ABORTED', 'ABORTED']);
    assert.not(existsSync(store.inputPath(first)), 'what is over keeps no request');
    await reaches(third, 'EXECUTING');
    finish();
    await reaches(third, 'COMPLETED');
    assert.equal(begun, [first, third], 'an aborted job never begins');
    assert.ok(existsSync(store.resultPath(third)));
    queue.step({ step: 'keep', id: third, destructionMs: 0 });
    queue.step({ step: 'remove', id: first });
    const fourth = queue.step({ ...CREATE, bytes: 9000 })!.id;
    assert.equal([phase(first), phase(third)], [undefined, undefined], 'removed, and its time is over');
    assert.throws(
      () => queue.step({ ...CREATE, bytes: 10_000 }),
      (error: unknown) => error instanceof Unavailable,
    );
    assert.is(queue.step({ step: 'abort', id: 'f'.repeat(40) }), null);
    assert.is(store.read('../../etc'), undefined);
    assert.is(phase(fourth), 'PENDING');
    queue.close();
  }));

test('a restart begins what was under way again; what ended two processes is over [Crossmatch of a table]', () =>
  withDirectory(async directory => {
    const before = queueOf(directory, { ...LIMITS, maxJobs: 4 });
    const [running, waiting] = [before.add(), before.add()];
    const upload = before.queue.step(CREATE)!.id;
    const damaged = before.add();
    before.queue.close();
    writeFileSync(join(directory, 'jobs', damaged, 'job.json'), '{"id"');
    const killed = { ...before.store.read(waiting)!, phase: 'EXECUTING', attempts: 2, pid: 2 ** 22 + 1 } as const;
    before.store.write(killed);
    const after = queueOf(directory);
    after.queue.start();
    assert.equal([running, upload, damaged].map(after.phase), ['EXECUTING', undefined, undefined]);
    after.finish();
    await after.reaches(running, 'COMPLETED');
    await after.reaches(waiting, 'ERROR');
    assert.match(after.store.read(waiting)!.error!, /has stopped 2 times/);
    assert.is(after.store.read(running)!.attempts, 1, 'a stop in good order is no attempt');
    after.queue.close();
  }));

test('a job whose process has ended is taken over, even if another program has its process id now', () =>
  withDirectory(async directory => {
    const { store, queue, add } = queueOf(directory);
    const [first, second] = [add(), add()];
    queue.close();
    // The other process, and the parent of this one, live; only the former uses the directory.
    const otherPid = 1;
    store.write({ ...store.read(first)!, phase: 'EXECUTING', pid: process.ppid });
    store.write({ ...store.read(second)!, phase: 'EXECUTING', pid: otherPid });
    otherPids.add(otherPid);
    const after = queueOf(directory, { ...LIMITS, sweepMs: 20 });
    after.queue.start();
    after.finish();
    await after.reaches(first, 'COMPLETED');
    assert.is(after.phase(second), 'EXECUTING');
    otherPids.clear();
    await after.reaches(second, 'COMPLETED');
    after.queue.close();
  }));

const isFull = (error: unknown) => error instanceof Unavailable;

test('two slots run the jobs of two clients at once, and two jobs of one client in turn', () =>
  withDirectory(async directory => {
    const { queue, begun, finish, add, phase, reaches } = queueOf(directory, { ...LIMITS, maxJobs: 10 }, 2);
    const [first, second, other, third] = [add(), add(), add('b'), add('c')];
    assert.equal([first, second, other, third].map(phase), ['EXECUTING', 'QUEUED', 'EXECUTING', 'QUEUED']);
    queue.step({ step: 'abort', id: other });
    await reaches(third, 'EXECUTING');
    assert.is(phase(second), 'QUEUED', 'its client has its half');
    finish();
    await reaches(second, 'COMPLETED');
    assert.equal(begun, [first, other, third, second]);
    queue.close();
  }));

test('one client fills neither all places nor all room, and waits for the turns of others [Crossmatch of a table]', () =>
  withDirectory(async directory => {
    const limits = { ...LIMITS, maxJobs: 10, maxJobsOfClient: 4 };
    const { queue, begun, finish, add, reaches } = queueOf(directory, limits);
    const own = [add(), add(), add(), add()];
    assert.throws(() => add(), /of this client/);
    const [second, third] = [add('b'), add('c')];
    assert.throws(() => queue.step({ ...CREATE, client: 'b', bytes: 4000 }), isFull);
    // A client without a job always gets a slot for one, if there is any.
    const large = queue.step({ ...CREATE, client: 'd', bytes: 6000 })!;
    assert.throws(() => queue.step({ ...CREATE, client: 'e', bytes: 3500 }), /all disk space for jobs is in use/);
    queue.step({ step: 'remove', id: large.id });
    queue.step({ step: 'remove', id: queue.step({ ...CREATE, client: 'e', bytes: 1000 })!.id });
    finish();
    for (const id of [...own, second, third]) await reaches(id, 'COMPLETED');
    assert.equal(begun, [own[0], second, own[1], third, own[2], own[3]]);
    queue.step({ step: 'remove', id: own[0]! });
    add();
    queue.close();
  }));

test('who only makes jobs, or has large results, leaves room for others [Crossmatch of a table]', () =>
  withDirectory(async directory => {
    const limits = { ...LIMITS, maxJobs: 6, maxJobsOfClient: 4 };
    const outputs: number[] = [];
    const store = new JobStore(directory);
    const large: JobRunner = async (_, { output, maxOutputBytes }) => {
      outputs.push(maxOutputBytes);
      writeFileSync(output, Buffer.alloc(Math.min(4000, maxOutputBytes)));
      return { mediaType: 'text/plain', bytes: 4000, about: null };
    };
    const queue = new JobQueue(store, { copy: { run: large, slots: 1 } }, limits, () => {}, livePids);
    const create = (client: string) => {
      untilNextMs();
      return queue.step({ ...CREATE, client })!.id;
    };
    const pending = [create('a'), create('a'), create('a'), create('a'), create('b'), create('b')];
    assert.throws(() => create('a'), /of this client/);
    const of = (client: string) => store.all().filter(job => job.client === client).length;
    const own = create('c');
    assert.equal(['a', 'b', 'c'].map(of), [3, 2, 1]);
    assert.is(store.read(pending[0]!), undefined, 'the oldest of the client with most');
    create('d');
    assert.equal(['a', 'b', 'c', 'd'].map(of), [2, 2, 1, 1]);
    queue.step({ step: 'run', id: own });
    await eventually('the job is over', async () => store.read(own)?.phase === 'COMPLETED' || undefined);
    assert.ok(outputs[0]! > 4000 && outputs[0]! < 5000, `${outputs[0]} of half of 10,000`);
    create('e');
    create('f');
    assert.equal(['a', 'b', 'c', 'd', 'e', 'f'].map(of), [1, 1, 1, 1, 1, 1]);
    assert.throws(() => create('g'), /the maximum number of jobs is stored/);
    queue.close();
  }));

test('a job that cannot be stored leaves nothing behind', () =>
  withDirectory(async directory => {
    const { queue } = queueOf(directory);
    // JSON has no bigint.
    assert.throws(() => queue.step({ ...CREATE, request: 1n }), /BigInt/);
    assert.equal(readdirSync(join(directory, 'jobs')), []);
    queue.close();
  }));

testWithDisk(
  'on a full disk a job that failed lets go of its room, and those that could not go on begin again',
  async () => {
    const { directory } = disk!;
    const limits = { ...LIMITS, maxBytes: 2 ** 30, sweepMs: 20 };
    const large: JobRunner = async (_, { output }) => {
      writeFileSync(output, Buffer.alloc(2 ** 22));
      throw new Error('there was room for more than the disk has');
    };
    const store = new JobStore(directory);
    const failing = new JobQueue(store, { copy: { run: large, slots: 1 } }, limits, () => {}, livePids);
    const { id } = failing.step(CREATE)!;
    failing.step({ step: 'run', id });
    await eventually('the job is over', async () => store.read(id)?.phase === 'ERROR' || undefined);
    assert.not(existsSync(store.resultPath(id)));
    failing.close();

    const { queue, finish, add, phase, reaches } = queueOf(directory, limits);
    queue.start();
    const [first, second] = [add(), add()];
    const filler = fillDisk(directory, 0);
    finish();
    await setTimeout(100);
    assert.equal([phase(first), phase(second)], ['EXECUTING', 'QUEUED']);
    rmSync(filler);
    await reaches(first, 'COMPLETED');
    await reaches(second, 'COMPLETED');
    queue.close();
  },
);

test('the request and its parameters are stored apart from the job', () =>
  withDirectory(async directory => {
    const { store, queue, begun, finish, reaches } = queueOf(directory);
    const { id } = queue.step({ ...CREATE, parameters: { A: 'a', B: 'b' } })!;
    queue.step({ step: 'set', id, parameters: { B: 'c' } });
    assert.equal(store.request(id), { request: { a: 1 }, parameters: { A: 'a', B: 'c' } });
    assert.not(readFileSync(join(directory, 'jobs', id, 'job.json'), 'utf8').includes('"A"'));
    queue.step({ step: 'run', id, request: 'other' });
    assert.equal([begun, store.request(id)!.request], [[id], 'other']);
    finish();
    await reaches(id, 'COMPLETED');
    queue.close();
  }));

test('a job that ends keeps the time of its removal that was set while it ran', () =>
  withDirectory(async directory => {
    const { store, queue, add, finish, reaches } = queueOf(directory);
    const id = add();
    const destructionMs = store.read(id)!.createdMs + 60_000;
    queue.step({ step: 'keep', id, destructionMs });
    finish();
    await reaches(id, 'COMPLETED');
    assert.is(store.read(id)!.destructionMs, destructionMs);
    queue.close();
  }));

test('a failure is told where it is for the client', () =>
  withDirectory(async directory => {
    const { store, queue, add, fail, reaches } = queueOf(directory);
    const [first, second] = [add(), add()];
    fail(new JobError('of its rows'));
    await reaches(first, 'ERROR');
    await reaches(second, 'ERROR');
    assert.is(store.read(first)!.error, 'of its rows');
    queue.close();
  }));

test('an unreadable directory of jobs ends nothing: when it is back, the jobs go on [Crossmatch of a table]', () =>
  withDirectory(async directory => {
    const rejected: unknown[] = [];
    const note = (error: unknown) => rejected.push(error);
    process.on('unhandledRejection', note);
    const jobs = join(directory, 'jobs');
    // Root may read everything, so a file takes the place of a directory without permission: the errors are of one kind.
    const hide = () => {
      renameSync(jobs, `${jobs}.away`);
      writeFileSync(jobs, '');
    };
    const show = () => {
      rmSync(jobs);
      renameSync(`${jobs}.away`, jobs);
    };
    const earlier = queueOf(directory);
    const [first, second] = [earlier.add(), earlier.add()];
    earlier.queue.close();
    hide();
    const { queue, begun, finish, reaches } = queueOf(directory, { ...LIMITS, sweepMs: 20 });
    queue.start();
    await setTimeout(100);
    assert.equal(begun, []);
    show();
    await reaches(first, 'EXECUTING');
    // The first job ends, and the second cannot be read.
    hide();
    finish();
    await setTimeout(100);
    show();
    await reaches(second, 'COMPLETED');
    await reaches(first, 'COMPLETED');
    hide();
    queue.close();
    show();
    assert.equal(rejected, []);
    process.off('unhandledRejection', note);
  }));

test('jobs of one kind have one capability', () => {
  const jobs = jobsOf({ config: configOf('unused') });
  const how = { run: () => Promise.reject(new Error('it is broken')), slots: 1 };
  jobs.add('search', how);
  assert.throws(() => jobs.add('search', how), /another capability has jobs of the kind search, too/);
  jobs.add('other', how);
  assert.equal(Object.keys(jobs.kinds), ['search', 'other']);
});

test('a job under way says how many rows are searched and written [Crossmatch of a table]', () => {
  const job: Job = {
    id: 'a',
    kind: 'table',
    phase: 'EXECUTING',
    createdMs: 0,
    destructionMs: 1,
  } as unknown as Job;
  assert.match(
    jobDocument(job, new Map(), 'http://h/a', 9, { done: 3, of: 10, searched: 7 }),
    '<uws:jobInfo><progress done="3" of="10" searched="7"/>',
  );
  assert.not.match(jobDocument(job, new Map(), 'http://h/a', 9, undefined), 'jobInfo');
});

test.run();
