/** The entry of a further acceptor: a thread with a server, an app and a query pool of its own, on the port and the index of the process. */
import '../server/tick_shape.ts';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { createApp } from '../app.ts';
import { messageOf } from '../error_text.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import { HttpServer } from '../server/http_server.ts';
import { serverLimits } from '../server/limits.ts';
import { MainThread } from './main_thread.ts';
import type { AcceptorData } from './protocol.ts';

const { config, acceptors, workers, host, port, metrics: memory } = workerData as AcceptorData;

const metrics = new ThreadMetrics(memory);
const main = new MainThread(parentPort as MessagePort, drain);
const app = createApp({
  config,
  log: main.log,
  index: main,
  workers,
  metrics,
  forward: exchange => main.forward(exchange),
});
const limits = serverLimits(config.NEARSKY_MAX_CONNECTIONS, config.API_REQUEST_BUDGET_SECONDS, acceptors);
const server = new HttpServer({ answer: app.answer, host, port, reusePort: true, limits, metrics });

async function drain(drainMs: number): Promise<void> {
  app.stop();
  await server.close(drainMs);
  await app.close();
  main.send({ kind: 'drained' });
}

try {
  await app.warm();
  await server.listen();
  main.send({ kind: 'listening' });
} catch (error) {
  await app.close();
  main.send({ kind: 'failed', error: messageOf(error) });
}
