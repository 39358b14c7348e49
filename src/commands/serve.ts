/** `nearsky serve`: the API over a data directory. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { CAPABILITIES } from '../capabilities.ts';
import { BackgroundWriter } from '../core/background/background_writer.ts';
import type { BesideWriter, DutyTask } from '../core/background/beside_writer.ts';
import { messageOf } from '../core/base/error_text.ts';
import { type Log, limited, logToStderr } from '../core/base/log.ts';
import { requireFreePort, sharesPorts } from '../core/base/ports.ts';
import { boundHeap } from '../core/base/shared_memory.ts';
import { SharedState } from '../core/base/shared_state.ts';
import { endBySignal, stopSignal } from '../core/base/stop_signal.ts';
import { type Command, LISTEN_OPTIONS, type ServeOptions, THREAD_OPTIONS } from '../core/cli/command.ts';
import { logSettings } from '../core/cluster/kafka_log.ts';
import type { Config } from '../core/config/config.ts';
import { Coordinator } from '../core/coordinator.ts';
import type { DutyOf, PartOf } from '../core/host.ts';
import { countersOf, loadParts } from '../core/loaded.ts';
import { maxOpenFiles } from '../core/server/server_limits.ts';
import { ServerThreads } from '../core/server/server_threads.ts';
import { warnIfOpenToOthers } from '../core/store/privacy.ts';

const READY_POLL_MS = 5;
/** The time that clients have to receive the answers in progress when the service stops. */
const DRAIN_MS = 5000;
/**
 * The process ends after this time even if work is in progress. Stored data are safe, and the index is only a cache.
 */
const STOP_MS = 9500;
/** The maximum time between closing everything and the end of the process. */
const EXIT_MS = 500;

const DUTIES = CAPABILITIES.flatMap(({ duties }) => duties ?? []);
/** The capabilities that work in the background, by the option that leaves this work out. */
const IN_BACKGROUND = new Map(
  CAPABILITIES.flatMap(({ name, background }) => (background ? [[`no-${name}`, background] as const] : [])),
);

/** The options that leave work out, by what they leave out. */
const LEAVING = new Map([
  ...DUTIES.flatMap(({ option }) => (option ? [[`no-${option.name}`, option.doing] as const] : [])),
  ...[...IN_BACKGROUND].map(([option, { doing }]) => [option, doing] as const),
]);

export const command: Command = {
  usage: [
    'serve [--host HOST] [--port PORT] [--workers N]',
    ...[...LEAVING.keys()].map(option => `[--${option}]`),
  ].join(' '),
  description: `Serves the data directory over HTTP until it gets SIGTERM or SIGINT, and crossmatches pending
objects in the background. Other processes may ingest and crossmatch meanwhile; the service finds
what they store within a second. A missing data directory is created, empty.

${[...DUTIES, ...IN_BACKGROUND.values()].flatMap(({ about }) => about ?? []).join('\n')}

It prints \`listening on http://HOST:PORT\` once it can answer, and logs one JSON object per line on
standard error. GET /metrics is for Prometheus, GET /readyz for a load balancer. To try it, open
http://HOST:PORT/ or http://HOST:PORT/api/status; /api-docs documents all requests.`,
  options: {
    ...LISTEN_OPTIONS,
    ...THREAD_OPTIONS,
    ...Object.fromEntries(
      [...LEAVING].map(([option, doing]) => [option, { help: `leave ${doing} to another process` }]),
    ),
  },
  example: 'nearsky serve --data ./data --port 8080',
  async run({ config, flags }) {
    const wanted = [...IN_BACKGROUND].filter(([option]) => !flags.has(option));
    const loaded = await Promise.all(wanted.map(([, { load }]) => load()));
    const beside = loaded.flatMap(({ background }) => background(config) ?? []);
    await serve(config, { duties: DUTIES.filter(({ option }) => !option || !flags.has(`no-${option.name}`)), beside });
    return 0;
  },
};

interface Work extends ServeOptions {
  /** Those of them that the settings want are done; none by default. */
  readonly duties?: readonly DutyOf[];
  /** The work of capabilities in the background; none by default. */
  readonly beside?: readonly BesideWriter[];
}

/** Serves until SIGTERM or SIGINT. Resolves when everything is closed. */
export async function serve(config: Config, options: Work): Promise<void> {
  const { beside = [], onListening = announce, log = limited(logToStderr) } = options;
  const wanted = (options.duties ?? []).filter(({ isWanted }) => isWanted(config));
  const duties = new Map(
    wanted.map(({ name, module }): [string, DutyTask] => [name, { module, kind: 'duty', config }]),
  );
  limitYoungMemory();
  const endWatch = boundHeap(GROWTH_MIB, RETURN_MS);
  // The port is checked before anything is opened or logged, and again when the threads start to listen.
  await requireFreePort(config.NEARSKY_HOST, config.NEARSKY_PORT);
  const stop = stopSignal();
  const state = new SharedState();
  const topic = logSettings(config, process.env);
  const counters = countersOf(CAPABILITIES);
  const writer = new BackgroundWriter({ config, topic, duties, beside, counters, state, log });
  let serving: Serving | undefined;
  let failure: { readonly error: string } | undefined;
  try {
    // The writer opens before the index, because the first opening in a process decides whether the database can be
    // written.
    await Promise.race([writer.open(), aborted(stop)]);
    if (!stop.aborted) {
      warnIfOpenToOthers(config.NEARSKY_DATA, log);
      serving = new Serving(config, state, log, await loadParts(CAPABILITIES));
      const url = await serving.listen();
      while (!serving.coordinator.isReady() && !stop.aborted) await sleep(READY_POLL_MS);
      if (!stop.aborted) {
        onListening(url);
        writer.begin();
        await Promise.race([aborted(stop), serving.unending]);
      }
    }
    log('stopping', { signal: stop.reason });
  } catch (error) {
    failure = { error: messageOf(error) };
    // The exit status if the process ends before everything is closed.
    process.exitCode = 1;
    throw error;
  } finally {
    endWatch();
    const signal: NodeJS.Signals = stop.reason ?? 'SIGTERM';
    setTimeout(() => {
      log('stopped_early', { after_ms: STOP_MS, ...failure, ...writer.waiting });
      end(writer, signal);
    }, STOP_MS).unref();
    await Promise.all([serving?.close(), writer.close()]);
    // Deno would wait forever for a client with an unfinished request, or for a thread that does not end.
    const exit = setTimeout(() => end(writer, signal), EXIT_MS);
    if (writer.isWaiting) log('stopped_early', writer.waiting);
    if (!serving?.hasUnending) exit.unref();
  }
}

/**
 * Ends the process. `process.exit` waits for every thread. If the writer thread waits for another process, only a
 * signal can end this process.
 */
function end(writer: BackgroundWriter, signal: NodeJS.Signals): void {
  if (writer.isWaiting) endBySignal(signal);
  else process.exit();
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** The serving threads, and their shared state. */
class Serving {
  readonly #config: Config;
  readonly #log: Log;
  readonly coordinator: Coordinator;
  readonly #unending = Promise.withResolvers<never>();
  #threads: ServerThreads | undefined;
  hasUnending = false;

  constructor(config: Config, state: SharedState, log: Log, parts: readonly PartOf[]) {
    this.#config = config;
    this.#log = log;
    this.coordinator = new Coordinator({
      config,
      log,
      state,
      parts,
      threads: () => this.#threads?.watched ?? { threads: [], operations: [], replaced: 0 },
    });
    this.coordinator.onGeneration = () => this.#threads?.publish(this.coordinator.generation);
  }

  /** @throws Error when a hung thread cannot be ended */
  get unending(): Promise<never> {
    return this.#unending.promise;
  }

  /**
   * Starts to listen, and returns the address that all threads share.
   * @throws Error when the threads cannot listen
   */
  async listen(): Promise<string> {
    const { NEARSKY_HOST: host, NEARSKY_PORT: wanted, NEARSKY_MAX_CONNECTIONS: connections } = this.#config;
    let { NEARSKY_WORKERS: threads } = this.#config;
    if (threads > 1 && !(await sharesPorts(host))) {
      this.#log('one_server_thread', {
        why: 'this system cannot share a port among threads',
        cost: `one core answers requests, of the ${threads} that NEARSKY_WORKERS allows`,
      });
      threads = 1;
    }
    // Threads share a port in a way that would also admit other processes of the same user. So a port in use is
    // rejected first.
    if (threads > 1 && wanted !== 0) await requireFreePort(host, wanted);
    if (maxOpenFiles() === undefined) this.#log('open_files_unknown', { connections_at_most: connections });
    this.#threads = new ServerThreads({
      config: this.#config,
      log: this.#log,
      threads,
      coordination: this.coordinator,
      onUnending: () => {
        this.hasUnending = true;
        this.#unending.reject(
          new Error('Cannot continue because a thread hangs and Deno cannot stop it: restart nearsky'),
        );
      },
    });
    const port = await this.#threads.start();
    this.coordinator.start();
    return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  }

  /** Accepts no more clients, finishes the answers in progress, and saves the index. */
  async close(): Promise<void> {
    await this.#threads?.close(DRAIN_MS);
    await this.coordinator.close();
  }
}

function announce(url: string): void {
  process.stdout.write(`listening on ${url}\n`);
}

/** Half of the memory for new objects in each thread that starts later, MiB. */
const SEMI_SPACE_MIB = 4;

/**
 * Keeps the memory for new objects small in all threads of this process. Without a limit, V8 lets it grow to 128 MiB in
 * each thread, and never shrinks it. The limit does not apply to this thread, which has started already.
 */
function limitYoungMemory(): void {
  setFlagsFromString(`--max-semi-space-size=${SEMI_SPACE_MIB}`);
}

/** How much the heap of the main thread may grow before its memory is returned, MiB. It passes on large buffers. */
const GROWTH_MIB = 24;
const RETURN_MS = 10_000;
