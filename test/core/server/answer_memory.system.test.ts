/** The memory of long answers is bounded and returned, and no other client's answers suffer. */
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { unpack } from 'msgpackr';
import { request } from 'undici';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fill } from '../../../bench/filled_store.ts';
import { openStore } from '../../../src/core/store/store.ts';
import { eventually, get, type Server, startServer, withDirectory } from '../../e2e/support.ts';
import { needs } from '../../needs.ts';

const test = suite('server/answer_memory');

const OBJECTS = 3000;
/** The number of these objects with a match. */
const LISTED = 2000;
const PATH = `/api/recent-crossmatches?page_size=${OBJECTS}&detail=full&start=2026-09-21T00:00:00Z&end=2026-09-22T00:00:00Z`;
const LIMIT_MIB = 16;
const LOOKS = 60;
const NONE_TAKEN = /^nearsky_answer_memory_bytes 0$/m;
/** The memory of threads beside answers, as heaps grow and shrink. */
const SLACK_MIB = 96;

function anonymousMib({ child }: Server): number | undefined {
  try {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return Number(/RssAnon:\s+(\d+)/.exec(status)![1]) / 1024;
  } catch {
    return undefined;
  }
}

async function withService(limitMib: number, body: (server: Server) => Promise<void>): Promise<void> {
  await withDirectory(async directory => {
    const store = openStore(directory, 'write');
    await fill(store, 1, OBJECTS);
    await store.close();
    const server = await startServer(['serve', '--data', directory, '--port', '0', '--no-crossmatch'], {
      NEARSKY_ANSWER_MEMORY_MIB: `${limitMib}`,
      NEARSKY_WORKERS: '2',
      // A busy machine must not fail the test.
      API_REQUEST_BUDGET_SECONDS: '30',
    });
    try {
      await eventually('it is ready', async () =>
        (await request(`${server.url}/readyz`)).statusCode === 200 ? true : undefined,
      );
      await body(server);
    } finally {
      await server.stop();
    }
  });
}

async function bytes(url: string, headers: Record<string, string> = {}): Promise<Buffer> {
  return await eventually('there is room for an answer', async () => {
    const { statusCode, body } = await request(url, { headers });
    const read = Buffer.from(await body.arrayBuffer());
    assert.ok(statusCode === 200 || statusCode === 503, `${statusCode} ${read.subarray(0, 300)}`);
    return statusCode === 200 ? read : undefined;
  });
}

test('long answers are whole in every format, many at once', () =>
  withService(64, async ({ url }) => {
    const { objects } = await get(url + PATH);
    assert.is(objects.length, LISTED);
    const ids = objects.map(({ diaObjectId_str }: { diaObjectId_str: string }) => diaObjectId_str);
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const json = JSON.parse((await bytes(url + PATH)).toString());
        assert.equal(json.objects, objects);
        // biome-ignore lint/suspicious/noExplicitAny: whatever an answer has
        const packed: any = unpack(await bytes(`${url + PATH}&format=msgpack`));
        assert.equal(
          packed.objects.map((object: { diaObjectId_str: string }) => object.diaObjectId_str),
          ids,
        );
        const lines = (await bytes(`${url + PATH}&format=ndjson`)).toString().trimEnd().split('\n');
        assert.equal(
          lines.map(line => JSON.parse(line).diaObjectId_str ?? `${/\d{18}/.exec(line)}`),
          ids,
        );
        const { body } = await request(url + PATH, { headers: { 'accept-encoding': 'gzip' } });
        await body.dump({ limit: 2 ** 30 });
      }),
    );
    // The client may have read an answer before its thread knows.
    await eventually('all of it is given back', async () => {
      const metrics = await (await request(`${url}/metrics`)).body.text();
      return NONE_TAKEN.test(metrics) ? true : undefined;
    });
  }));

const hasProc = anonymousMib({ child: { pid: 'self' } } as unknown as Server) !== undefined;

needs(test, hasProc ? undefined : 'there is no /proc/PID/status to measure by')(
  'clients that pipeline requests for long answers and do not read hold a bounded memory, others are answered, and the memory is given back',
  () =>
    withService(LIMIT_MIB, async server => {
      const { hostname, port } = new URL(server.url);
      await bytes(server.url + PATH);
      const before = anonymousMib(server)!;
      // The second round has the same bound: what the first one took was given back. The process itself may keep freed pages.
      for (const round of ['first', 'second']) {
        const sockets = Array.from({ length: 30 }, (): Socket => {
          const socket = connect({ host: hostname, port: Number(port) });
          socket.on('error', () => {});
          socket.pause();
          socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(40));
          return socket;
        });
        let most = 0;
        let answered = 0;
        for (let i = 0; i < LOOKS; i++) {
          await new Promise(resolve => setTimeout(resolve, 100));
          most = Math.max(most, anonymousMib(server)!);
          const { statusCode, body } = await request(`${server.url}/api/objects/170000000000000001`);
          const text = await body.text();
          assert.ok(statusCode === 200 || statusCode === 503, text);
          if (statusCode === 200) answered++;
        }
        assert.ok(most - before < LIMIT_MIB + SLACK_MIB, `${round} round: ${before} MiB before, ${most} MiB then`);
        assert.ok(answered > LOOKS / 2, `${round} round: ${answered} of ${LOOKS} others were answered`);
        for (const socket of sockets) socket.destroy();
        await eventually('the memory of answers is given back', async () =>
          NONE_TAKEN.test(await (await request(`${server.url}/metrics`)).body.text()) ? true : undefined,
        );
      }
      assert.is(JSON.parse((await bytes(server.url + PATH)).toString()).count, LISTED, 'and long answers, too');
    }),
);

test.run();
