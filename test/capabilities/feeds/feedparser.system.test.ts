/** Feeds as feedparser reads them, which many feed readers use. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { delivery, NOW_US, type TestApp, withApp } from '../../core/http/support.ts';
import { provenance } from '../../core/store/support.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import { crossmatch, FIRST_ID } from '../streams/support.ts';
import { entriesOf } from './reader.ts';

const test = suite('feeds/feedparser');
const READER = fileURLToPath(new URL('feed_reader.py', import.meta.url));

/** Serves an app on a socket while a function runs. */
async function listening<T>({ app }: TestApp, use: (address: string) => Promise<T>): Promise<T> {
  const server = createServer(async (request, response) => {
    const headers = request.headers as Record<string, string>;
    const answer = await app.fetch(new Request(`http://${headers.host}${request.url}`, { headers }));
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    await new Promise(resolve => server.close(resolve));
  }
}

needs(test, whyNoPython('feedparser'))(
  'feedparser finds no fault, follows all pages, and gets 304 without news [Feeds]',
  () =>
    withApp(
      async ({ writer }) => {
        const ids = Array.from({ length: 40 }, (_, i) => FIRST_ID + BigInt(i));
        await writer.ingest(
          ids.map(id => delivery(id)),
          NOW_US,
        );
        await writer.recordCrossmatches(
          ids.map((id, i) => crossmatch(id, i % 5)),
          provenance,
          NOW_US,
        );
      },
      async app => {
        for (const [path, count] of [
          ['/feeds/matches', 80],
          ['/feeds/objects', 80],
          ['/feeds/matches?catalog=gaia_dr3', 32],
        ] as const) {
          const address = `${path}${path.includes('?') ? '&' : '?'}limit=30`;
          const read = JSON.parse(
            await listening(app, base => runPython(pythonWith('feedparser')!, [READER, base + address])),
          );
          assert.equal(read.statuses, [200, 304, 304]);
          assert.is(read.pages, Math.ceil(count / 30));
          const { text } = await app.get(`${path}${path.includes('?') ? '&' : '?'}limit=500`);
          assert.equal(
            read.entries.map(({ id }: { id: string }) => id),
            entriesOf(text).map(({ id }) => id),
          );
          assert.is(read.entries.length, count);
          const [{ title, link, content, updated, published, category }] = read.entries;
          assert.match(
            title,
            /^9100000000000000040( \(TNS 2026abc\))?: unclear source at 0\.\d\d″ in .*(match|crossmatched)$/,
          );
          assert.match(link, /^http:\/\/127\.0\.0\.1:\d+(\/api)?\/objects\/9100000000000000040$/);
          assert.match(content, 'RA 150.000000, Dec 2.000000 (ICRS)');
          assert.match(content, /<ul><li>unclear source at 0\.\d\d&#x2033; in .*: source \d+; /);
          assert.equal(updated.slice(0, 3), [2026, 9, 21]);
          assert.equal(published, updated);
          assert.is(category, 'unclear');
        }
      },
    ),
);

test.run();
