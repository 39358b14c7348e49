/**
 * Another client asks small things, in ADQL and otherwise, and has a job, while one client floods the service with queries
 * drawn from the grammar, fills the spool, or does not read; a client that reads slowly, and one that stops sending, get
 * their answers.
 *
 *   FLOOD_SECONDS=600 TEST_SEED=7 node test/neighbour/floods.campaign.test.ts
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually, type Server } from '../e2e/support.ts';
import { needs } from '../needs.ts';
import { seededRandom } from '../oracle/skies.ts';
import { KINDS_OF_FLOODS } from './floods.ts';
import { KINDS } from './neighbour.ts';
import { headOf, type Message, send, Wire } from './raw_http.ts';
import { makeData, Neighbour, Processes, serve, spoolEmpties } from './service.ts';

/** The time of each kind of flood. */
const FLOOD_MS = 1000 * Number(process.env.FLOOD_SECONDS ?? 2);
const MEMORY_MIB = 1024;
/** The queries of the client that floods at the same moment, and the time after which it drops each. */
const AT_ONCE = 4;
const DROPS_MS = 1000;
const VICTIM = '192.0.2.3';

interface Context {
  directory: string;
  data: string;
  server: Server;
  neighbour: Neighbour;
  processes: Processes;
  rows: string[];
}

const test = suite<Context>('neighbour/floods');
const check = needs(test, process.platform === 'linux' ? undefined : 'only Linux bounds the memory of processes');
const random = seededRandom(Number(process.env.TEST_SEED ?? 1));

const query = (adql: string, client: string, more: Record<string, string> = {}): Message => ({
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: `${new URLSearchParams({ LANG: 'ADQL', FORMAT: 'csv', QUERY: adql, ...more })}`,
  client,
});

test.before(async context => {
  context.directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
  context.data = await makeData(context.directory);
  context.server = await serve(context.data);
  const { url } = context.server;
  await eventually('TAP answers', async () => {
    const { status } = await send(url, '/vo/tap/sync', query('SELECT TOP 1 ra FROM objects', '192.0.2.2'));
    return status === 200 || undefined;
  });
  context.neighbour = new Neighbour(url);
  await context.neighbour.report();
  context.processes = new Processes(context.server.child.pid!);
  context.rows = [];
});

test.after(async ({ directory, server, neighbour, processes, rows }) => {
  neighbour.close();
  processes.close();
  await server.stop();
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
  console.log(
    `| what one client does | ${KINDS.join(' | ')} | job | MiB |\n${'|---'.repeat(KINDS.length + 3)}|\n${rows.join('')}`,
  );
});

/** A job of another client, from its creation to its end. */
async function job(url: string): Promise<{ readonly phase: string; readonly ms: number }> {
  const beganMs = performance.now();
  const adql = 'SELECT COUNT(*) FROM objects AS a, objects AS b WHERE a.ra < b.ra';
  const { text } = await send(url, '/vo/tap/async', query(adql, VICTIM, { PHASE: 'RUN' }));
  const [, path] = /^location: (?:https?:\/\/[^/]+)?(\S+)/im.exec(text) ?? [];
  assert.ok(path, text.slice(0, 500));
  const phase = await eventually('the job has ended', async () => {
    const { text } = await send(url, `${path}/phase`, { client: VICTIM });
    return /\b(?:COMPLETED|ERROR|ABORTED)\b/.exec(text)?.[0];
  });
  await send(url, path!, { method: 'DELETE', client: VICTIM });
  return { phase, ms: performance.now() - beganMs };
}

/** Does this for a time, while the other clients ask: none sees an error, and the memory is bounded. */
async function during(context: Context, name: string, forMs: number, does: () => Promise<void>): Promise<void> {
  const { server, neighbour, processes, rows } = context;
  await neighbour.report();
  processes.takePeak();
  const endMs = performance.now() + forMs;
  const flood = async () => {
    while (performance.now() < endMs) await does();
  };
  const [{ phase, ms }] = await Promise.all([job(server.url), ...Array.from({ length: AT_ONCE }, flood)]);
  const report = await neighbour.report();
  const { total } = processes.takePeak();
  rows.push(
    `| ${name} | ${KINDS.map(kind => report[kind].p99Ms.toFixed(0)).join(' | ')} | ${ms.toFixed(0)} | ${total.toFixed(0)} |\n`,
  );
  assert.is(phase, 'COMPLETED', `${name}: the job of another client`);
  assert.equal(
    KINDS.flatMap(kind => report[kind].errors),
    [],
    `${name}: the other client`,
  );
  assert.ok(total <= MEMORY_MIB, `${name}: ${total} MiB`);
}

check('an idle service', context => during(context, 'nothing', FLOOD_MS, () => sleep(100)));

for (const [name, made] of Object.entries(KINDS_OF_FLOODS))
  check(`a flood of queries: ${name}`, async context => {
    const { url } = context.server;
    await during(context, name, FLOOD_MS, async () => {
      const adql = made(random);
      const wire = new Wire(url);
      const { body, ...message } = query(adql, '192.0.2.1');
      await wire.write(headOf('/vo/tap/sync', { ...message, body: body! }));
      await wire.write(body!);
      await Promise.race([wire.ended, sleep(DROPS_MS)]);
      const { status, text } = wire.sent;
      wire.close();
      assert.ok([0, 200, 400, 503].includes(status), `${adql.slice(0, 300)}: ${text.slice(0, 500)}`);
      assert.not.match(text, /the log of the service says why/, adql.slice(0, 1000));
    });
  });

check('uploads of several clients that fill the spool', async context => {
  const { server, data } = context;
  const body = `ra,dec\n${'1,2\n'.repeat(500_000)}`;
  let sent = 0;
  await during(context, 'uploads', FLOOD_MS, async () => {
    const { status, text } = await send(server.url, '/api/crossmatch?format=csv', {
      body,
      client: `198.18.0.${++sent % 6}`,
    });
    assert.ok([200, 503].includes(status), text.slice(0, 500));
  });
  await spoolEmpties(data);
});

check('answers that nobody reads: a client that reads slowly gets its own', async context => {
  const { url } = context.server;
  const slow = new Wire(url);
  await slow.write(headOf('/openapi.json', { client: VICTIM }));
  const reading = setInterval(() => {
    slow.socket.pause();
    setTimeout(() => slow.socket.resume(), 50);
  }, 100);
  await during(context, 'unread answers', FLOOD_MS, async () => {
    const wire = new Wire(url, false);
    await wire.write(headOf('/openapi.json', { headers: { Connection: 'keep-alive' } }).repeat(30));
    await sleep(200);
    wire.close();
  });
  const { status } = await slow.ended;
  clearInterval(reading);
  assert.is(status, 200);
});

check('clients that stop sending get all answers', async ({ server: { url } }) => {
  const adql = 'SELECT COUNT(*) FROM objects AS a, objects AS b, objects AS c WHERE a.ra + b.ra + c.ra < -5';
  const message = query(adql, VICTIM);
  for (const text of [
    headOf('/vo/tap/sync', message) + message.body,
    headOf('/api/status', { client: VICTIM }),
    `${headOf('/api/status', { client: VICTIM, headers: { Connection: 'keep-alive' } }).repeat(3)}GET / HTTP/1.1\r\nHos t: x\r\n\r\n`,
  ]) {
    const wire = new Wire(url);
    wire.socket.end(text);
    const { text: received } = await wire.ended;
    const statuses = [...received.matchAll(/HTTP\/1\.1 (?!100)(\d{3}) /g)].map(([, status]) => status);
    assert.equal(statuses, text.includes('Hos t') ? ['200', '200', '200', '400'] : ['200'], received.slice(0, 500));
  }
});

test.run();
