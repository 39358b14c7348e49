/** The log: request ids, slow requests with their contents, and a limit on events so that none floods it. */
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { limited, logToFile } from '../../../src/core/base/log.ts';
import { withDirectory } from '../../directory.ts';
import { withApp } from '../http/support.ts';

const test = suite('metrics/log');

const LOOKUP = { inputs: [{ kind: 'id', diaObjectId: 9007199254740993n }], detail: 'ids' };

test('a request keeps the id that its client gave it, and has one of its own otherwise', () =>
  withApp(
    async () => {},
    async app => {
      const idOf = async (sent?: string) => {
        const headers = sent === undefined ? {} : { 'X-Request-Id': sent };
        return (await app.get('/healthz', { headers })).headers.get('X-Request-Id')!;
      };
      assert.is(await idOf('trace-1:a/b=+.'), 'trace-1:a/b=+.');
      const [first, second] = [await idOf(), await idOf()];
      assert.match(first, /^[0-9a-f]{12}-\w+$/);
      assert.is.not(first, second);
      for (const bad of ['a b', 'x'.repeat(129), '"', '']) assert.match(await idOf(bad), /^[0-9a-f]{12}-/);
    },
  ));

test('slow requests are logged with what was asked, and all of them where that is wanted', async () => {
  const logged = async (settings: Record<string, string>) => {
    let found: Record<string, unknown>[] = [];
    await withApp(
      async () => {},
      async app => {
        await app.post('/api/lookup', LOOKUP);
        await app.get('/api/cone?ra=999');
        found = app.logged
          .filter(([event]) => /request$/.test(event))
          .map(([event, fields]) => ({ event, ...(fields as object) }));
      },
      settings,
    );
    return found;
  };
  assert.equal(await logged({ NEARSKY_SLOW_REQUEST_MS: '600000' }), []);
  const [lookup, cone] = await logged({ NEARSKY_SLOW_REQUEST_MS: '0' });
  assert.equal([lookup!.event, lookup!.operation, lookup!.status], ['slow_request', 'lookup_objects', 200]);
  assert.match(lookup!.asked as string, '"diaObjectId":"9007199254740993"');
  assert.match(lookup!.asked as string, '"detail":"ids"');
  assert.equal(
    [cone!.url, cone!.status, cone!.error],
    ['http://nearsky.test/api/cone?ra=999', 400, 'invalid_parameter'],
  );
  assert.ok(typeof cone!.ms === 'number' && typeof cone!.request_id === 'string');
  const all = await logged({ NEARSKY_SLOW_REQUEST_MS: '600000', NEARSKY_LOG_REQUESTS: 'yes' });
  assert.equal(
    all.map(({ event, operation }) => [event, operation]),
    [
      ['request', 'lookup_objects'],
      ['request', 'cone_search'],
    ],
  );
});

test('of one event, so many lines a second are written, and then how many were not', () => {
  const lines: unknown[] = [];
  let nowMs = 0;
  const log = limited(
    (event, fields) => lines.push([event, fields]),
    2,
    () => nowMs,
  );
  for (let i = 0; i < 5; i++) log('often', { i });
  log('rarely', {});
  nowMs = 1000;
  log('often', { i: 5 });
  assert.equal(lines, [
    ['often', { i: 0 }],
    ['often', { i: 1 }],
    ['rarely', {}],
    ['left_out', { of: 'often', lines: 3 }],
    ['often', { i: 5 }],
  ]);
});

test('a line of which only a part could be written does not swallow the next', () =>
  withDirectory(async directory => {
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const descriptor = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      const log = logToFile(descriptor);
      // A full pipe takes a part of a long line and then nothing, as a full disk does.
      for (let i = 0; i < 40; i++) log('long', { text: 'x'.repeat(10_000) });
      const bytes = Buffer.alloc(2 ** 20);
      let length = readSync(descriptor, bytes);
      log('next', { csi: '\u009b2J' });
      length += readSync(descriptor, bytes, length, bytes.length - length, null);
      const lines = bytes.toString('utf8', 0, length).split('\n').filter(Boolean);
      const cut = lines.findIndex(line => !line.endsWith('}'));
      assert.is(cut, lines.length - 2, 'one line is cut off, the last before the pipe was read');
      assert.match(lines.at(-1)!, /\\u009b2J/);
      assert.is(JSON.parse(lines.at(-1)!).event, 'next');
    } finally {
      closeSync(descriptor);
    }
  }));

test.run();
