/** A client that reads slowly gets the whole answer, long after the query has ended. */
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eventually, startServer, withDirectory } from '../../e2e/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';

const test = suite('tap/slow_reader');
const check = needs(test, duckdbObstacle());

/** Some 30 MB, far more than the system holds for a socket. */
const ROWS = 150_000;
const COLUMNS = Array.from({ length: 10 }, (_, i) => `a.diaObjectId + ${i} AS k${i}`).join(', ');
const QUERY = `SELECT TOP ${ROWS} ${COLUMNS} FROM objects AS a, objects AS b, objects AS c`;

/** The size and digest of an answer whose reader stops for a while after its first bytes. */
function read(url: string, query: string, stopMs: number): Promise<{ bytes: number; rows: number; digest: string }> {
  const { hostname, port } = new URL(url);
  const path = `/vo/tap/sync?${new URLSearchParams({ LANG: 'ADQL', FORMAT: 'csv', QUERY: query })}`;
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${path} HTTP/1.0\r\nHost: x\r\nConnection: close\r\n\r\n`),
    );
    const hash = createHash('sha256');
    let bytes = 0;
    let rows = 0;
    socket.once('data', () => {
      socket.pause();
      void sleep(stopMs).then(() => socket.resume());
    });
    socket.on('data', (data: Buffer) => {
      // The headers have the time of the answer.
      const body = bytes === 0 ? data.subarray(data.indexOf('\r\n\r\n') + 4) : data;
      bytes += body.length;
      hash.update(body);
      for (let at = body.indexOf(10); at >= 0; at = body.indexOf(10, at + 1)) rows++;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve({ bytes, rows, digest: hash.digest('hex') }));
  });
}

check('an answer of which nothing is read for longer than a query may take comes whole', async () =>
  withDirectory(async directory => {
    const serving = async <T>(
      command: string[],
      querySeconds: number,
      use: (url: string) => Promise<T>,
    ): Promise<T> => {
      const variables = {
        TAP_QUERY_SECONDS: `${querySeconds}`,
        TAP_MAX_QUERIES: '2',
        // A client may read nothing for four times as long.
        API_REQUEST_BUDGET_SECONDS: '60',
      };
      const { url, stop } = await startServer([...command, '--port', '0', '--data', `${directory}/data`], variables);
      try {
        await eventually(
          'the tables',
          async () => (await read(url, 'SELECT TOP 1 1 FROM objects', 0)).rows === 2 || undefined,
        );
        return await use(url);
      } finally {
        await stop();
      }
    };
    const seconds = await serving(['demo'], 300, async url => {
      const startMs = performance.now();
      await read(url, QUERY, 0);
      // Far more than the query takes on this machine.
      return Math.min(200, 5 + Math.ceil((performance.now() - startMs) / 250));
    });
    // A crossmatch would change the rows between two answers.
    await serving(['serve', '--no-crossmatch'], seconds, async url => {
      const fast = await read(url, QUERY, 0);
      assert.is(fast.rows, ROWS + 1);
      const slow = read(url, QUERY, 1000 * (seconds + 2));
      await sleep(1000 * (seconds - 1));
      // One client has one of two places.
      assert.is((await read(url, 'SELECT TOP 1 1 FROM objects', 0)).rows, 2);
      assert.equal(await slow, fast);
    });
  }),
);

test.run();
