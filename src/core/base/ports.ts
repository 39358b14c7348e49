/** Ports that a server may listen on. */
import { createServer } from 'node:net';
import { messageOf } from './error_text.ts';

/** @throws Error if this process cannot listen there; with port 0, only the host is checked */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(listenError(host, port, error)));
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}

/** Whether the system allows several servers on one port of a host, and distributes the connections among them. */
export async function sharesPorts(host: string): Promise<boolean> {
  const server = createServer();
  return await new Promise(resolve => {
    server.once('error', () => resolve(false));
    server.listen({ host, port: 0, reusePort: true }, () => server.close(() => resolve(true)));
  });
}

export function listenError(host: string, port: number, error: unknown): Error {
  const why = messageOf(error);
  return new Error(`Cannot listen on ${host}:${port} because ${why}: give another --host or --port`, { cause: error });
}
