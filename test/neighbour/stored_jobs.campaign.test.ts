/**
 * Jobs that are made to do harm are stored, and the service is killed and started again and again: it serves each time, and each job comes
 * to its end. TEST_HOSTILE_JOBS=100 TEST_KILLS=20 is the large count.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually, type Server, send as signal } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { hostileJobs } from './attacks.ts';
import { KINDS } from './neighbour.ts';
import { send } from './raw_http.ts';
import { makeData, Neighbour, Processes, runningOf, serve } from './service.ts';

const JOBS = Number(process.env.TEST_HOSTILE_JOBS ?? 6);
const KILLS = Number(process.env.TEST_KILLS ?? 2);
/** One client may have 25 of 100 jobs. */
const JOBS_OF_CLIENT = 25;
/** The time for which the service is asked between two kills. */
const SERVES_MS = 2000;

/** The time of a job that would not end. */
const SETTINGS = { JOBS_SECONDS: '10' };

const test = suite('neighbour/stored_jobs');
const check = needs(test, process.platform === 'linux' ? undefined : 'only Linux bounds the memory of processes');

/** The phase of a job that nobody has taken away. */
async function phaseOf(url: string, path: string): Promise<string> {
  const { text } = await send(url, `${path}/phase`, { headers: { Connection: 'close' } });
  return /\b(PENDING|QUEUED|EXECUTING|COMPLETED|ERROR|ABORTED)\b/.exec(text)?.[1] ?? text;
}

check('a service with hostile jobs serves after each kill', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  let server: Server | undefined;
  try {
    const data = await makeData(directory);
    server = await serve(data, SETTINGS);
    const hostile = hostileJobs();
    const jobs: string[] = [];
    for (let i = 0; i < JOBS; i++) {
      const [path, message] = hostile[i % hostile.length]!;
      const made = await send(server.url, path, {
        ...message,
        client: `192.0.2.${10 + Math.floor(i / JOBS_OF_CLIENT)}`,
      });
      const [, location] = /^location: (?:https?:\/\/[^/]+)?(\S+)/im.exec(made.text) ?? [];
      assert.ok(location, made.text.slice(0, 500));
      jobs.push(location!);
    }
    for (let kill = 0; kill < KILLS; kill++) {
      const processes = new Processes(server.child.pid!);
      const neighbour = new Neighbour(server.url);
      await sleep(SERVES_MS);
      const report = await neighbour.report();
      assert.equal(
        KINDS.flatMap(kind => report[kind].errors),
        [],
        `before kill ${kill + 1}`,
      );
      neighbour.close();
      processes.close();
      const { pids } = processes;
      signal(server.child, 'SIGKILL');
      await server.finished;
      await eventually('the processes have ended', async () => runningOf(pids) === '' || undefined);
      server = await serve(data, SETTINGS);
    }
    const { url } = server;
    const begun = new Map<string, string>();
    await eventually(
      'each job is over',
      async () => {
        for (const path of jobs)
          if (!/COMPLETED|ERROR/.test(begun.get(path) ?? '')) begun.set(path, await phaseOf(url, path));
        return [...begun.values()].every(phase => /COMPLETED|ERROR/.test(phase)) || undefined;
      },
      60_000 + 20_000 * JOBS,
    );
    // None of them has an answer.
    assert.equal(new Set(begun.values()), new Set(['ERROR']));
    const { code } = await server.stop();
    assert.is(code, 0);
  } finally {
    if (server) signal(server.child, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  }
});

test.run();
