/** Whether there can be several acceptors, and what each of them gets. */
import { createServer } from 'node:net';

/** The query threads of each acceptor: as even as can be, and every one has at least one, so there are at most as many acceptors. */
export function shareOf(workers: number, acceptors: number): readonly number[] {
  const count = Math.min(workers, acceptors);
  return Array.from({ length: count }, (_, i) => Math.floor(workers / count) + (i < workers % count ? 1 : 0));
}

/** Whether the system lets several servers listen on one port and spreads the connections over them. */
export async function sharesPorts(): Promise<boolean> {
  const server = createServer();
  return await new Promise(resolve => {
    server.once('error', () => resolve(false));
    server.listen({ host: '127.0.0.1', port: 0, reusePort: true }, () => server.close(() => resolve(true)));
  });
}
