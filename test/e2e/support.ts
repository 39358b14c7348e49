/** Runs the commands as a user does: as processes of their own, under the runtime that runs the tests. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { request } from 'undici';
import { BROKER_NAMES } from '../../src/core/contract/brokers.ts';
import { eventually, withDirectory as inDirectory, root, sample } from '../directory.ts';
import { runtimeArgs } from '../runtime.ts';

export { eventually, root, sample };
export const CATALOGS = ['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'] as const;

const program = [...runtimeArgs, join(root, 'src/main.ts')];

/** The form of `nearsky`: an executable with its first arguments, where it runs, and all of its environment. */
export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid?: number;
}

const OWN = new RegExp(
  `^(NEARSKY|API|CATALOG|PAGES|SURVEY|MCP|TNS|CROSSMATCH|MIN_DIASOURCE|APP_VERSION|REJECTS|CONSUME|KAFKA|PUBLISH|PUBSUB|GOOGLE|${BROKER_NAMES.join('|')})`,
  'i',
);

/** The tests' settings must not depend on the environment of the user who runs them. */
export const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OWN.test(name)));

/** `nearsky` of this checkout, under the runtime of this process. */
export const checkout: Program = { file: process.execPath, args: program, cwd: root, env: environment };

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
}

const running = new Set<ChildProcess>();

/** Starts `nearsky ARGS`. */
export function start(
  args: readonly string[],
  variables: Record<string, string> = {},
  { file, args: first, env, ...where }: Program = checkout,
): Running {
  const child = spawn(file, [...first, ...args], {
    ...where,
    env: { ...env, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', data => (stdout += data));
  child.stderr.on('data', data => (stderr += data));
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      running.delete(child);
      resolve({ code, signal, stdout, stderr });
    });
  });
  return { child, finished };
}

/** Runs `nearsky ARGS --json` to its end and gives the document that it prints; throws unless it exits with 0. */
export async function nearsky(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await start([...args, '--json']).finished;
  if (code !== 0) throw new Error(`nearsky ${args.join(' ')} exited with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/**
 * Sends a signal to the process, unless it has ended. It uses the process id, because after `child.kill` Deno reports
 * the signal whatever the exit status was.
 */
export function send(child: ChildProcess, signal: NodeJS.Signals): void {
  // Its process id may belong to another process by then.
  if (child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(child.pid!, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export interface Server extends Running {
  readonly url: string;
  /** The text that it has written to standard output so far. */
  seen(): string;
  /** Sends SIGTERM and waits for the end. */
  stop(): Promise<Finished>;
}

/** Starts a command that serves, and waits until it reports that it listens. */
export async function startServer(
  args: readonly string[],
  variables: Record<string, string> = {},
  program: Program = checkout,
): Promise<Server> {
  const { child, finished } = start(args, variables, program);
  let seen = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', data => {
      seen += data;
      const found = /listening on (http:\/\/\S+)/.exec(seen);
      if (found) resolve(found[1]!);
    });
    finished.then(({ code, stderr }) => reject(new Error(`nearsky ${args.join(' ')} ended with ${code}: ${stderr}`)));
  });
  const stop = () => {
    send(child, 'SIGTERM');
    return finished;
  };
  return { child, finished, url, seen: () => seen, stop };
}

/** The body of an answer, parsed; ids are exact in their `_str` form only. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads any key of an answer and fails where it is not there
export async function get(url: string): Promise<any> {
  const { statusCode, body } = await request(url);
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`GET ${url} gave ${statusCode}: ${text}`);
  return JSON.parse(text);
}

/** Runs a test with a new directory, which is gone afterwards, as are the processes that the test started. */
export const withDirectory = <T>(body: (directory: string) => Promise<T>): Promise<T> =>
  inDirectory(body, () => {
    for (const child of running) send(child, 'SIGKILL');
  });
