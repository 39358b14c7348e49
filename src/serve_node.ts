/** HTTP under Node. */
import type { Server as HttpServer, ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { type Listener, type ListenOptions, listenError, SHUTDOWN_MS } from './listener.ts';

/** How often to look whether all answers are out. */
const DRAIN_POLL_MS = 10;

/** @throws Error when the address cannot be listened on */
export async function listen({ fetch, host, port }: ListenOptions): Promise<Listener> {
  const server = createAdaptorServer({
    fetch: (request, { incoming }) => fetch(request, incoming.socket.remoteAddress),
    hostname: host,
  }) as HttpServer;
  /** Answers that are not written out yet. */
  const answering = new Set<ServerResponse>();
  server.prependListener('request', (_request, response) => {
    answering.add(response);
    response.once('close', () => answering.delete(response));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenError(host, port, error)));
    server.listen(port, host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => closeGently(server, answering) };
}

/**
 * Takes no more connections, lets running requests finish, and after a while ends what is left. An HTTP server's own `close` would
 * also end every connection whose answer has been handed over, though most of it may still wait for the client to read.
 */
async function closeGently(server: HttpServer, answering: ReadonlySet<ServerResponse>): Promise<void> {
  const closed = new Promise(resolve => NetServer.prototype.close.call(server, resolve));
  const deadline = performance.now() + SHUTDOWN_MS;
  while (answering.size > 0 && performance.now() < deadline) {
    for (const response of answering) response.shouldKeepAlive = false;
    await sleep(DRAIN_POLL_MS);
  }
  server.closeAllConnections();
  await closed;
}
