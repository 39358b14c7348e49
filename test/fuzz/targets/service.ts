/** A whole service on a socket: raw requests, queries, messages for the connector. */

import { connect } from 'node:net';
import { HttpServer } from '../../../src/core/server/http_server.ts';
import { serverLimits } from '../../../src/core/server/server_limits.ts';
import { API, configWith } from '../../capabilities.ts';
import { startApp } from '../../core/http/support.ts';
import { checkMessage, type Running, type Target } from '../target.ts';

/** Beyond every timeout of the server, on a busy machine too. */
const QUIET_MS = 25_000;

/** Sends these bytes and nothing more. Returns everything that comes back. */
function exchange(port: number, bytes: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect({ port, host: '127.0.0.1' });
    const limit = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end after ${QUIET_MS} ms: ${Buffer.concat(chunks).toString('latin1').slice(0, 200)}`));
    }, QUIET_MS);
    socket.on('data', chunk => chunks.push(chunk as Buffer));
    socket.on('error', () => {});
    socket.once('close', () => {
      clearTimeout(limit);
      resolve(Buffer.concat(chunks));
    });
    socket.end(bytes);
  });
}

/** Every answer is complete, none is an internal error, and an error says what is wrong. */
function checkAnswers(received: Buffer): void {
  const text = received.toString('latin1');
  if (text !== '' && !/^HTTP\/1\.1 [1-5]\d\d /.test(text)) throw new Error(`no HTTP: ${text.slice(0, 100)}`);
  for (const [, status] of text.matchAll(/(?:^|\n)HTTP\/1\.1 (\d{3})/g))
    if (Number(status) >= 500 && status !== '501' && status !== '503' && status !== '505')
      throw new Error(`status ${status}: ${text.slice(0, 400)}`);
  for (const [, message] of text.matchAll(/"message": ?"((?:[^"\\]|\\.)*)"/g)) checkMessage(message!);
}

async function startService(request: (input: Buffer) => Uint8Array): Promise<Running> {
  const running = await startApp(async ({ writer }) => {
    const deliveries = Array.from({ length: 50 }, (_, i) => ({
      diaObjectId: 170_055_002_004_914_266n + BigInt(i),
      position: { ra: 10 + i / 1000, dec: -20 },
      reliability: 0.9,
      eventTimeUs: 1_790_000_000_000_000,
      broker: 'lasair' as const,
    }));
    await writer.ingest(deliveries, 1_790_000_000_000_000);
  });
  await running.app.ready();
  const server = new HttpServer({
    answer: running.app.app.answer,
    host: '127.0.0.1',
    port: 0,
    limits: serverLimits(1000, 5, 1),
    bodies: API.bodies(configWith()),
  });
  const port = await server.listen();
  let runs = 0;
  const alive = Buffer.from('GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  return {
    run: async input => {
      checkAnswers(await exchange(port, request(input)));
      if (runs++ % 16 === 0 && !(await exchange(port, alive)).toString('latin1').startsWith('HTTP/1.1 200'))
        throw new Error('it answers no more');
    },
    close: async () => {
      await server.close(100);
      await running.close();
    },
  };
}

const get = (path: Buffer) => {
  // A line break would end the head: that is the other target.
  const line = path.filter(byte => byte > 0x20 && byte !== 0x7f);
  return Buffer.concat([
    Buffer.from('GET /'),
    line.subarray(1),
    Buffer.from(' HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
  ]);
};

const post = (body: Buffer) => {
  const accept = 'Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18\r\n';
  const head = `POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${accept}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
};

export const targets: readonly Target[] = [
  { name: 'http', isText: true, inputs: 800, start: () => startService(input => input) },
  { name: 'query', isText: true, inputs: 800, start: () => startService(get) },
  { name: 'mcp', isText: true, inputs: 500, start: () => startService(post) },
];
