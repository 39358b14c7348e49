/** A service with three threads that serve. */
import { Agent, request } from 'undici';
import * as assert from 'uvu/assert';
import { openStore } from '../../../src/core/store/store.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { type Server, startServer } from '../../e2e/support.ts';
import { delivery, NOW_US, withDirectory } from '../http/support.ts';

/** The number of connections. That one of three threads gets none of them is less likely than 1 in 10^9. */
export const CONNECTIONS = 60;

/** Sends requests over separate connections. Returns the answers and the threads that sent them. */
export async function askAll(url: string, init: Parameters<typeof request>[1] = {}) {
  const answers = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const { statusCode, headers, body } = await request(url, { ...init, dispatcher: new Agent({ pipelining: 0 }) });
      const [thread] = String(headers['x-request-id']).split('-');
      return { status: statusCode, thread, text: await body.text() };
    }),
  );
  return { answers, threads: new Set(answers.map(({ thread }) => thread)) };
}

export async function withThreads(
  body: (server: Server, writer: Writer) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<void> {
  await withDirectory(async directory => {
    const store = openStore(directory, 'write');
    const writer = new Writer(store);
    await writer.ingest([delivery(5n)], NOW_US);
    const server = await startServer(
      ['serve', '--data', directory, '--port', '0', '--no-crossmatch', '--workers', '3'],
      settings,
    );
    try {
      await body(server, writer);
      const { code, stderr } = await server.stop();
      assert.is(code, 0, stderr);
    } finally {
      // Deno would wait forever for a store that is left open.
      await store.close();
    }
  });
}
