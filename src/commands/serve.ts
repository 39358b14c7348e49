/** `nearsky serve`: the API over a data directory. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createApp } from '../app.ts';
import { BackgroundCrossmatch } from '../background_crossmatch.ts';
import type { Config } from '../config.ts';
import { logToStderr } from '../log.ts';
import { HttpServer } from '../server/http_server.ts';
import { serverLimits } from '../server/limits.ts';
import { openStore } from '../store/store.ts';
import { type Command, UsageError } from './cli.ts';

const STOP_SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const READY_POLL_MS = 5;
/** How long clients may take for the answers that are under way when the service stops. */
const DRAIN_MS = 6000;
/** How long the process may live on when everything is closed. */
const EXIT_MS = 500;

export const command: Command = {
  usage: 'serve [--host HOST] [--port PORT] [--workers N] [--no-crossmatch]',
  description: [
    'Serves the data directory over HTTP until it gets SIGTERM or SIGINT, and crossmatches in the background what is pending. Others may',
    'ingest and crossmatch beside it; what they store is found within a second. A data directory that does not exist is created, empty.',
    'Prints `listening on http://HOST:PORT` when it can answer; logs one JSON object a line on standard error.',
  ].join('\n'),
  options: {
    host: { value: 'HOST', help: 'the address to listen on (default 127.0.0.1)', setting: 'NEARSKY_HOST' },
    port: { value: 'PORT', help: 'the port, 0 for a free one (default 8080)', setting: 'NEARSKY_PORT' },
    workers: { value: 'N', help: 'query threads (default: one a core, less one)', setting: 'NEARSKY_WORKERS' },
    'no-crossmatch': { help: 'leave crossmatching to another process' },
  },
  example: 'nearsky serve --data ./data --port 8080',
  async run({ config, flags, positionals }) {
    if (positionals.length > 0) throw new UsageError(`serve takes no arguments. Usage: nearsky ${this.usage}`);
    await serve(config, { crossmatch: !flags.has('no-crossmatch') });
    return 0;
  },
};

export interface ServeOptions {
  readonly crossmatch: boolean;
  /** Called when the service can answer. */
  readonly onListening?: (url: string) => void;
}

/** Serves until SIGTERM or SIGINT; resolves when everything is closed. */
export async function serve(config: Config, { crossmatch, onListening = announce }: ServeOptions): Promise<void> {
  const stop = stopSignal();
  // Before the app: in one process the first opening decides whether the database can be written.
  const store = openStore(config.NEARSKY_DATA, 'write');
  const app = createApp({ config });
  const { NEARSKY_HOST: host, NEARSKY_PORT: port } = config;
  const limits = serverLimits(config.NEARSKY_MAX_CONNECTIONS, config.API_REQUEST_BUDGET_SECONDS, 1);
  const server = new HttpServer({ answer: app.answer, host, port, limits });
  let crossmatching: BackgroundCrossmatch | undefined;
  try {
    const listening = await server.listen();
    while (!app.ready && !stop.aborted) await sleep(READY_POLL_MS);
    if (!stop.aborted) {
      onListening(urlOf(host, listening));
      if (crossmatch) crossmatching = new BackgroundCrossmatch(store, config, logToStderr);
      await once(stop, 'abort');
    }
    logToStderr('stopping', { signal: stop.reason });
  } finally {
    await server.close(DRAIN_MS);
    await crossmatching?.close();
    await app.close();
    await store.close();
    // Deno would wait for ever for a client that has left its request unfinished.
    setTimeout(() => process.exit(), EXIT_MS).unref();
  }
}

/** Fires with the first SIGTERM or SIGINT; a second one ends the process at once, as it would without this. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  const stop = (signal: NodeJS.Signals) => {
    for (const name of STOP_SIGNALS) process.off(name, stop);
    controller.abort(signal);
  };
  for (const name of STOP_SIGNALS) process.on(name, stop);
  return controller.signal;
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function announce(url: string): void {
  process.stdout.write(`listening on ${url}\n`);
}
