/**
 * Whatever one client sends, small requests of another are answered, the memory of all processes is bounded, and
 * nothing is left behind. The figures are in docs/hostile_clients.md; no test measures a time.
 *
 *   ATTACK_SECONDS=8 TEST_ATTACKS='lookup|ADQL' node test/neighbour/attacks.campaign.test.ts
 *
 * With ATTACK_SECONDS, attacks are sent only while a processor is idle, because hostile clients have processors of their
 * own (`chrt` needed).
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually, type Server } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { isDeno } from '../runtime.ts';
import { ATTACKS, type Attack } from './attacks.ts';
import { KINDS, type Report } from './neighbour.ts';
import { send } from './raw_http.ts';
import { makeData, Neighbour, Processes, runningOf, serve, spoolEmpties } from './service.ts';

/** Documented in docs/hostile_clients.md. Deno collects garbage later than Node. */
const MEMORY_MIB = isDeno ? 1229 : 1024;
/** The service, the table processes that are kept warm, the engine of TAP, and the shell that reads their memory: in docs/design.md. */
const MAX_PROCESSES = 10;

interface Context {
  directory: string;
  data: string;
  server: Server;
  processes: Processes;
  neighbour: Neighbour;
  rows: string[];
}

const TAP = '/vo/tap/sync?LANG=ADQL&QUERY=SELECT+TOP+1+diaObjectId+FROM+objects';

const test = suite<Context>('neighbour/attacks');
const check = needs(test, process.platform === 'linux' ? undefined : 'only Linux bounds the memory of processes');
const words = process.env.TEST_ATTACKS ?? '';
/** Each attack is repeated for so long. Most take less than a second, in which the other client gets few answers. */
const REPEAT_MS = 1000 * Number(process.env.ATTACK_SECONDS ?? 0);

test.before(async context => {
  context.directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  context.data = await makeData(context.directory);
  context.server = await serve(context.data);
  const { url } = context.server;
  // The tables of TAP are made by the first query.
  await eventually('TAP answers', async () => {
    return (await send(url, TAP, { client: '192.0.2.2' })).status === 200 || undefined;
  });
  context.processes = new Processes(context.server.child.pid!);
  context.neighbour = new Neighbour(url);
  await context.neighbour.report();
  if (REPEAT_MS > 0) execFileSync('chrt', ['--all-tasks', '--idle', '--pid', '0', `${process.pid}`]);
  context.rows = [];
});

test.after(async ({ directory, server, processes, neighbour, rows }) => {
  neighbour.close();
  processes.close();
  const { stderr } = await server.stop();
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  console.log(HEADER + rows.join(''));
  // A query that its client has given up is not logged as an error.
  assert.not.match(stderr, /tap_engine_failed.*the query was ended/);
});

const HEADER = `| what one client sends | answers | object | cone | lookup | table | TAP | MiB | serve + engine + others | s |\n${'|---'.repeat(10)}|\n`;

/** Takes the other client's observations, and requires that it saw no error. */
async function note(context: Context, name: string, outcomes: readonly string[], begunMs: number): Promise<void> {
  const { neighbour, processes, rows } = context;
  const report: Report = await neighbour.report();
  const { total: peakMib, serve, engine, reading } = processes.takePeak();
  const parts = [serve, engine, reading].map(mib => mib.toFixed(0));
  const p99 = KINDS.map(kind => report[kind].p99Ms.toFixed(0));
  const seconds = ((performance.now() - begunMs) / 1000).toFixed(1);
  const counted = [...new Set(outcomes)].map(is => `${outcomes.filter(other => other === is).length} × ${is}`);
  rows.push(
    `| ${name} | ${counted.join(', ')} | ${p99.join(' | ')} | ${peakMib.toFixed(0)} | ${parts.join(' + ')} | ${seconds} |\n`,
  );
  const errors = KINDS.flatMap(kind => report[kind].errors);
  assert.equal(errors, [], `${name}: the other client`);
  assert.ok(peakMib <= MEMORY_MIB, `${name}: ${peakMib} MiB`);
}

check('an idle service', async context => {
  const begunMs = performance.now();
  await sleep(3000);
  await note(context, 'nothing', [], begunMs);
});

async function attack(context: Context, { name, sends, expects, says }: Attack): Promise<void> {
  const { server, data, processes } = context;
  processes.takePeak();
  const begunMs = performance.now();
  const outcomes = [...(await sends(server.url))];
  while (performance.now() - begunMs < REPEAT_MS) outcomes.push(...(await sends(server.url)));
  if (process.env.TEST_ATTACKS_SHOW)
    console.log(
      name,
      new Set(outcomes.map(({ is, text }) => `${is} ${text.split('\r\n\r\n').slice(1).join().slice(0, 400)}`)),
    );
  await note(
    context,
    name,
    outcomes.map(({ is }) => is),
    begunMs,
  );
  for (const { is, text } of outcomes) {
    const isRefused = is === '503' && REPEAT_MS > 0;
    assert.ok(expects.includes(is) || isRefused, `${name}: ${is} ${text.slice(0, 1000)}`);
    if (is === '400' && says) assert.match(text, says, name);
    if (is === '503') assert.match(text, /^retry-after: \d/im, name);
  }
  await spoolEmpties(data);
  const own = { [TAP]: {}, '/api/crossmatch?format=csv': { body: 'ra,dec\n1,2\n' } };
  for (const [path, message] of Object.entries(own)) {
    const { status, text } = await send(server.url, path, message);
    assert.is(status, 200, `${name}: afterwards ${text.slice(0, 1000)}`);
  }
  await eventually(`${name}: the processes are few`, async () => processes.pids.length <= MAX_PROCESSES || undefined);
}

/** K/N: of the attacks only every Nth, from the Kth on. Both runtimes bound the same processes in the same way, so a quarter has to do under Deno. */
const [part, parts] = (isDeno ? '1/4' : (process.env.TEST_ATTACKS_PART ?? '1/1')).split('/').map(Number) as [
  number,
  number,
];

for (const each of ATTACKS.filter(({ name }, i) => (words ? new RegExp(words).test(name) : i % parts === part - 1)))
  check(each.name, context =>
    attack(context, each).catch(error => {
      // At once, because the run of all of them may reach its time limit.
      console.log(`\n   FAIL  ${each.name}: ${error.message}`);
      throw error;
    }),
  );

check('the tables of TAP are for the user of the service alone', ({ data }) => {
  assert.is(statSync(join(data, 'tap')).mode & 0o777, 0o700);
});

check('a stop leaves no process behind', async ({ server, processes, neighbour }) => {
  neighbour.close();
  const { pids } = processes;
  assert.ok(pids.length > 1);
  const { code } = await server.stop();
  assert.is(code, 0);
  await eventually('the processes have ended', async () => runningOf(pids) === '' || undefined);
});

test.run();
