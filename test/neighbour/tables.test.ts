/** Tables that are made to take all memory: each is refused, and a table of somebody else is answered meanwhile. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually } from '../directory.ts';
import { type Answer, startApp, type TestApp } from '../http/support.ts';
import { needs } from '../needs.ts';

const test = suite('neighbour/tables');

const SETTINGS = { API_TABLE_MEMORY_MIB: '128', SPOOL_MAX_MIB: '64', API_REQUEST_BUDGET_SECONDS: '120' };

const send = (app: TestApp, table: string | Uint8Array, client = '192.0.2.1') =>
  app.get('/api/crossmatch?format=csv', {
    method: 'POST',
    body: table as Uint8Array<ArrayBuffer>,
    headers: { 'Content-Type': 'application/octet-stream', 'X-Forwarded-For': client },
  });

/** One text of a dictionary, for every row. */
function parquetBomb(): Uint8Array {
  const rows = 990_000;
  const numbers = Array.from({ length: rows }, (_, i) => i % 90);
  const column = (name: string) => ({ name, data: numbers, type: 'DOUBLE' as const });
  const text = { name: 'text', data: new Array(rows).fill('x'.repeat(100_000)), type: 'STRING' as const };
  return new Uint8Array(parquetWriteBuffer({ columnData: [column('ra'), column('dec'), text] }));
}

/** A line of 60 million brackets. `neighbour/attacks` has many others, with default settings. */
const brackets = () => gzipSync(Buffer.alloc(60_000_000, '[').fill('{"ra":', 0, 6));

const small = (answer: Answer) => assert.match(answer.text, /^1,2,(?:no_match|matched),/m, `${answer.status}`);

test('a bomb is 400, and small tables of another client are answered meanwhile', async () => {
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
    API_TABLE_MEMORY_MIB: '64',
    TAP_MAX_QUERIES: '0',
    NEARSKY_CHILD_MEMORY_MIB: '160',
  });
  try {
    const bomb = parquetBomb();
    const { headers } = await eventually(
      'one is refused for now',
      async () => {
        const answers = await Promise.all(['192.0.2.1', '192.0.2.2'].map(client => send(app, bomb, client)));
        for (const { status, text } of answers)
          if (status === 503) assert.match(text, 'other tables and queries have taken the memory');
          else assert.is(status, 400, text);
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
