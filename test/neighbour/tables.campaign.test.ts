/** Tables that are made to take all memory: each is refused, and a table of somebody else is answered meanwhile. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Answer, startApp, type TestApp } from '../core/http/support.ts';
import { eventually } from '../directory.ts';
import { needs } from '../needs.ts';

const test = suite('neighbour/tables');

const SETTINGS = { API_TABLE_MEMORY_MIB: '128', SPOOL_MAX_MIB: '64', API_REQUEST_BUDGET_SECONDS: '120' };

const send = (app: TestApp, table: string | Uint8Array, client = '192.0.2.1') =>
  app.get('/api/crossmatch?format=csv', {
    method: 'POST',
    body: table as Uint8Array<ArrayBuffer>,
    headers: { 'Content-Type': 'application/octet-stream', 'X-Forwarded-For': client },
  });

/** A table that takes more memory than it is large, for as long as it is read. */
const largeTable = () =>
  `ra,dec,name\n${Array.from({ length: 900_000 }, (_, i) => `${(i * Math.E) % 360},${(i * Math.PI) % 90},object ${i}\n`).join('')}`;

/** A line of 60 million brackets. `neighbour/attacks` has many others, with default settings. */
const brackets = () => gzipSync(Buffer.alloc(60_000_000, '[').fill('{"ra":', 0, 6));

const small = (answer: Answer) => assert.match(answer.text, /^1,2,(?:no_match|matched),/m, `${answer.status}`);

test('a bomb is 400, and small tables of another client are answered meanwhile [Crossmatch of a table]', async () => {
  const { app, world, close } = await startApp(async () => {}, SETTINGS);
  try {
    small(await send(app, 'ra,dec\n1,2\n'));
    const bomb = brackets();
    let isOver = false;
    const bombed = send(app, bomb).finally(() => (isOver = true));
    let answered = 0;
    do {
      small(await send(app, 'ra,dec\n1,2\n', '192.0.2.2'));
      answered++;
    } while (!isOver);
    const { status, body } = await bombed;
    assert.is(status, 400, JSON.stringify(body));
    assert.is(body.param, 'body');
    assert.ok(answered > 0);
    small(await send(app, 'ra,dec\n1,2\n'));
    assert.equal(readdirSync(join(world.directory, 'spool')), [], 'no file is left');
  } finally {
    await close();
  }
});

const onLinux = needs(test, process.platform === 'linux' ? undefined : 'only Linux reports the memory of processes');

onLinux('two tables that take more memory together than all processes may are not both read at once', async () => {
  const { app, close } = await startApp(async () => {}, {
    ...SETTINGS,
    SPOOL_MAX_MIB: '256',
    TAP_MAX_QUERIES: '0',
    NEARSKY_CHILD_MEMORY_MIB: '224',
  });
  try {
    const table = largeTable();
    const { headers } = await eventually(
      'one is refused for now',
      async () => {
        const answers = await Promise.all(['192.0.2.1', '192.0.2.2'].map(client => send(app, table, client)));
        for (const { status, text } of answers)
          if (status === 503) assert.match(text, 'other tables and queries have taken the memory', text);
          else assert.ok(status === 200 || /takes more memory than is allowed/.test(text), text);
        return answers.find(({ status }) => status === 503);
      },
      300_000,
    );
    assert.match(headers.get('Retry-After') ?? '', /^\d+$/);
    small(await send(app, 'ra,dec\n1,2\n'));
  } finally {
    await close();
  }
});

test('a client has half of the room for tables', async () => {
  const { app, close } = await startApp(async () => {}, { ...SETTINGS, SPOOL_MAX_MIB: '16' });
  try {
    const { status, text } = await send(app, Buffer.alloc(9 << 20, 'x'));
    assert.is(status, 503, text);
    assert.match(text, 'half of the disk space for tables');
    small(await send(app, 'ra,dec\n1,2\n'));
  } finally {
    await close();
  }
});

test.run();
