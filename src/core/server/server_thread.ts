/** The work of a serving thread: it answers the requests of its connections, from the first byte to the last. */

import type { MessagePort } from 'node:worker_threads';
import { isMemoryWanted as wasMemoryWanted } from '../answers/answer_memory.ts';
import { createApp } from '../app.ts';
import { boundHeap } from '../base/shared_memory.ts';
import { SharedState } from '../base/shared_state.ts';
import type { Config } from '../config/config.ts';
import type { PublishedGeneration } from '../generations/tasks.ts';
import type { Api } from '../host.ts';
import { clientAddress, clientName, connectingClient } from '../http/client_address.ts';
import { ThreadMetrics } from '../metrics/thread_metrics.ts';
import type { Task } from '../pool/pool.ts';
import { CoordinatorLink } from './coordinator_link.ts';
import { HttpServer } from './http_server.ts';
import { serverLimits } from './server_limits.ts';

/** The interval at which a thread shows that it is alive. */
export const BEAT_MS = 250;
/**
 * How much the heap of a thread may grow before its memory is returned, MiB. Ordinary requests let it grow by half of
 * that.
 */
const GROWTH_MIB = 48;
const RETURN_MS = 30_000;

/** The task of serving, until the main thread drains the thread. */
export interface ServeTask extends Task<undefined> {
  readonly module: 'src/serving_thread';
  readonly kind: 'serve';
  readonly config: Config;
  /** The number of serving threads, which share the limits of the process. */
  readonly threads: number;
  readonly host: string;
  readonly port: number;
  /** The memory of the thread's `ThreadMetrics` and of the `SharedState`. */
  readonly metrics: SharedArrayBuffer;
  readonly state: SharedArrayBuffer;
  generation: PublishedGeneration | undefined;
  readonly link: MessagePort;
}

/**
 * Resolves when the thread is drained.
 * @throws Error if it cannot listen
 */
export async function runServer(task: ServeTask, api: Api): Promise<undefined> {
  const { config, threads, host, port } = task;
  const metrics = new ThreadMetrics(task.metrics);
  const beat = () => metrics.add('beats', 1);
  beat();
  const heart = setInterval(beat, BEAT_MS);
  const endWatch = boundHeap(GROWTH_MIB, RETURN_MS);
  const drain = Promise.withResolvers<number>();
  const state = new SharedState(task.state);
  const link = new CoordinatorLink(task.link, state, task.generation, drain.resolve);
  // The task lasts as long as the thread, and would keep the arenas of its first generation.
  task.generation = undefined;
  const app = createApp({ config, api, log: link.log, coordination: link, metrics, threads });
  const bodies = api.bodies(config);
  const limits = serverLimits(config.NEARSKY_MAX_CONNECTIONS, config.API_REQUEST_BUDGET_SECONDS, threads, bodies);
  const isMemoryWanted = () => wasMemoryWanted(state);
  const server = new HttpServer({
    answer: app.answer,
    clientOf: ({ headers }, peerAddress) => clientName(clientAddress(headers, peerAddress, config)),
    shareOf: peerAddress => connectingClient(peerAddress, config),
    host,
    port,
    reusePort: threads > 1,
    limits,
    bodies,
    plainGets: config.NEARSKY_PLAIN_GETS,
    metrics,
    isMemoryWanted,
  });
  try {
    link.send({ kind: 'listening', port: await server.listen(), operations: app.operations });
    const drainMs = await drain.promise;
    app.stop();
    await server.close(drainMs);
  } finally {
    clearInterval(heart);
    endWatch();
    await app.close();
    link.close();
  }
  return undefined;
}
