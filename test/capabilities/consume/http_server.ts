import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** The fault of a request instead of an answer: an HTTP status, a truncated answer, or a closed connection. */
export type Fault = number | 'truncate' | 'drop';

export interface HttpRequest {
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server on a free port. `answer` returns the JSON body, `fault` the fault of this request. */
export async function startHttpServer(
  answer: (request: HttpRequest) => Promise<unknown> | unknown,
  fault: (request: HttpRequest) => Fault | undefined = () => undefined,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer(async (incoming, response) => {
    const url = new URL(incoming.url!, 'http://127.0.0.1');
    const request = { url, headers: incoming.headers, body: await text(incoming) };
    const wrong = fault(request);
    if (wrong === 'drop') return void incoming.socket.destroy();
    if (typeof wrong === 'number') return send(response, wrong, { error: { code: wrong, message: 'made to fail' } });
    const body = await answer(request);
    if (wrong === undefined) return body === undefined ? send(response, 404, {}) : send(response, 200, body);
    const whole = JSON.stringify(body);
    response.writeHead(200, { 'content-length': Buffer.byteLength(whole) });
    response.write(whole.slice(0, whole.length / 2), () => incoming.socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
