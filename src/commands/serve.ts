/** `nearsky serve`: the API over a data directory. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { AcceptorCrew } from '../acceptors/crew.ts';
import { shareOf, sharesPorts } from '../acceptors/share.ts';
import { createApp } from '../app.ts';
import { BackgroundCrossmatch } from '../background_crossmatch.ts';
import { BackgroundRefresh } from '../background_refresh.ts';
import type { Config } from '../config.ts';
import { type Log, limited, logToStderr } from '../log.ts';
import { LocalIndex } from '../publish/index_source.ts';
import { HttpServer, requireFreePort } from '../server/http_server.ts';
import { maxOpenFiles, serverLimits } from '../server/limits.ts';
import { stopSignal } from '../stop_signal.ts';
import { warnIfOpenToOthers } from '../store/privacy.ts';
import { openStore, type Store } from '../store/store.ts';
import { type BotCredentials, botOf } from '../tns/client.ts';
import { type Command, LISTEN_OPTIONS, THREAD_OPTIONS, UsageError } from './cli.ts';

const READY_POLL_MS = 5;
/** How long clients may take for the answers that are under way when the service stops. */
const DRAIN_MS = 5000;
/** When the process ends, whatever is still under way: what is stored is stored, and the index is only a cache. */
const STOP_MS = 9500;
/** How long the process may live on when everything is closed. */
const EXIT_MS = 500;

export const command: Command = {
  usage: 'serve [--host HOST] [--port PORT] [--acceptors N] [--workers N] [--no-crossmatch] [--no-refresh]',
  description: [
    'Serves the data directory over HTTP until it gets SIGTERM or SIGINT, and crossmatches in the background what is pending. Others may',
    'ingest and crossmatch beside it; what they store is found within a second. A data directory that does not exist is created, empty.',
    'With TNS_BOT_ID, TNS_BOT_NAME and TNS_BOT_API_KEY in the environment it keeps the TNS registry up to date, as `nearsky tns refresh` does,',
    'some minutes after each hour.',
    'Prints `listening on http://HOST:PORT` when it can answer; logs one JSON object a line on standard error. GET /metrics is for',
    'Prometheus, GET /readyz for whoever sends it requests.',
    'Try it: open http://HOST:PORT/, or ask for http://HOST:PORT/api/status; /api-docs of a running service has everything it answers.',
  ].join('\n'),
  options: {
    ...LISTEN_OPTIONS,
    ...THREAD_OPTIONS,
    'no-crossmatch': { help: 'leave crossmatching to another process' },
    'no-refresh': { help: 'leave the TNS registry to another process' },
  },
  example: 'nearsky serve --data ./data --port 8080',
  async run({ config, flags, positionals }) {
    if (positionals.length > 0) throw new UsageError(`serve takes no arguments. Usage: nearsky ${this.usage}`);
    const bot = flags.has('no-refresh') ? undefined : botOf(config);
    await serve(config, { crossmatch: !flags.has('no-crossmatch'), bot });
    return 0;
  },
};

export interface ServeOptions {
  readonly crossmatch: boolean;
  /** That keeps the TNS registry up to date. */
  readonly bot?: BotCredentials | undefined;
  /** Called when the service can answer. */
  readonly onListening?: (url: string) => void;
}

/** Serves until SIGTERM or SIGINT; resolves when everything is closed. */
export async function serve(config: Config, { crossmatch, bot, onListening = announce }: ServeOptions): Promise<void> {
  const stop = stopSignal();
  const log = limited(logToStderr);
  // Before the index: in one process the first opening decides whether the database can be written.
  const store = openStore(config.NEARSKY_DATA, 'write');
  warnIfOpenToOthers(config.NEARSKY_DATA, log);
  const serving = new Serving(config, log);
  const beside: { close(): Promise<void> }[] = [];
  try {
    const url = await serving.listen();
    while (!serving.isReady && !stop.aborted) await sleep(READY_POLL_MS);
    if (!stop.aborted) {
      onListening(url);
      if (crossmatch) beside.push(new BackgroundCrossmatch(store, config, log));
      if (bot) beside.push(new BackgroundRefresh({ store, config, bot, log }));
      await once(stop, 'abort');
    }
    log('stopping', { signal: stop.reason });
  } finally {
    setTimeout(() => {
      log('stopped_early', { after_ms: STOP_MS });
      process.exit();
    }, STOP_MS).unref();
    await closeAll(serving, beside, store);
    // Deno would wait for ever for a client that has left its request unfinished.
    setTimeout(() => process.exit(), EXIT_MS).unref();
  }
}

async function closeAll(serving: Serving, beside: readonly { close(): Promise<void> }[], store: Store): Promise<void> {
  await Promise.all([serving.drain(), ...beside.map(work => work.close())]);
  await serving.close();
  await store.close();
}

/** The index, and the acceptors that answer from it: this thread, and further ones where there are cores for them. */
class Serving {
  readonly #config: Config;
  readonly #log: Log;
  readonly #index: LocalIndex;
  readonly #app: ReturnType<typeof createApp>;
  readonly #shares: readonly number[];
  #server: HttpServer | undefined;
  #crew: AcceptorCrew | undefined;

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#log = log;
    this.#shares = shareOf(config.NEARSKY_WORKERS, config.NEARSKY_ACCEPTORS);
    this.#index = new LocalIndex(config.NEARSKY_DATA, log, () => this.#crew?.publish());
    this.#app = createApp({
      config,
      log,
      index: this.#index,
      workers: this.#shares[0]!,
      watched: () => ({
        threads: [this.#app.metrics, ...(this.#crew?.metrics ?? [])],
        index: this.#index,
        acceptorsReplaced: this.#crew?.replaced ?? 0,
      }),
    });
  }

  get isReady(): boolean {
    return this.#app.ready;
  }

  /**
   * The address that is listened on, by all acceptors.
   * @throws Error when it cannot be
   */
  async listen(): Promise<string> {
    const { NEARSKY_HOST: host, NEARSKY_PORT: wanted } = this.#config;
    const further = (await sharesPorts()) ? this.#shares.slice(1) : [];
    const acceptors = further.length + 1;
    if (acceptors < this.#shares.length) this.#log('one_acceptor', { why: 'this system cannot share a port' });
    // A port that is shared may be shared with anyone of the same user: one that is taken must not be.
    if (acceptors > 1 && wanted !== 0) await requireFreePort(host, wanted);
    const { NEARSKY_MAX_CONNECTIONS: maxConnections, API_REQUEST_BUDGET_SECONDS: budgetSeconds } = this.#config;
    if (maxOpenFiles() === undefined) this.#log('open_files_unknown', { connections_at_most: maxConnections });
    const limits = serverLimits(maxConnections, budgetSeconds, acceptors);
    const { answer, metrics } = this.#app;
    this.#server = new HttpServer({ answer, host, port: wanted, reusePort: acceptors > 1, limits, metrics });
    const port = await this.#server.listen();
    await this.#app.warm();
    if (acceptors > 1) {
      this.#crew = new AcceptorCrew({
        config: this.#config,
        log: this.#log,
        app: this.#app,
        index: this.#index,
        host,
        port,
        workers: further,
      });
      await this.#crew.start();
    }
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  /** Takes no more clients, and finishes what is being answered. */
  async drain(): Promise<void> {
    this.#app.stop();
    await Promise.all([this.#server?.close(DRAIN_MS), this.#crew?.close(DRAIN_MS)]);
  }

  async close(): Promise<void> {
    await this.#app.close();
    await this.#index.close();
  }
}

function announce(url: string): void {
  process.stdout.write(`listening on ${url}\n`);
}
