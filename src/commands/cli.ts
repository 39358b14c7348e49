/** What every command shares: its shape, its options, its progress line and its result. */

import { parseArgs } from 'node:util';
import { type Config, ConfigError, type LoadedConfig, loadConfigWithOrigins, type SettingName } from '../config.ts';
import { messageOf } from '../error_text.ts';
import { logToStderr } from '../log.ts';

/** One option of a command. With `value` it takes one, named so in the help; without, it is a flag. */
export interface Option {
  readonly value?: string;
  readonly help: string;
  /** The setting that this option sets; it then beats the environment and the configuration file. */
  readonly setting?: SettingName;
}

/** A module in src/commands exports one of these as `command`; src/main.ts has the table of their names and summaries. */
export interface Command {
  /** What follows `nearsky` on the command line, for example `ingest --broker NAME FILE...|-`. */
  readonly usage: string;
  /** What it does, in full sentences. */
  readonly description: string;
  readonly options: Readonly<Record<string, Option>>;
  /** One complete command line. */
  readonly example: string;
  /** Resolves with the exit status, 0 or 1. A thrown `UsageError` or `ConfigError` means 2, any other error 1. */
  run(invocation: Invocation): Promise<number>;
}

/** A command line, parsed. */
export interface Invocation {
  readonly config: Config;
  /** Where each setting comes from. */
  readonly origins: LoadedConfig['origins'];
  /** The options that were given with a value, by their long name. */
  readonly options: ReadonlyMap<string, string>;
  /** The flags that were given, by their long name. */
  readonly flags: ReadonlySet<string>;
  readonly positionals: readonly string[];
}

/** The command line is wrong: exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  data: { value: 'DIR', help: 'the data directory (default ./data)', setting: 'NEARSKY_DATA' },
  config: { value: 'FILE', help: 'a JSON file of settings: {"API_MAX_IDS": 500, ...}' },
  json: { help: 'print the result as one JSON document' },
  help: { help: 'print this' },
};

/** Of the commands that serve. */
export const LISTEN_OPTIONS: Readonly<Record<string, Option>> = {
  host: { value: 'HOST', help: 'the address to listen on (default 127.0.0.1)', setting: 'NEARSKY_HOST' },
  port: { value: 'PORT', help: 'the port, 0 for a free one (default 8080)', setting: 'NEARSKY_PORT' },
};

/** Of `serve`. */
export const THREAD_OPTIONS: Readonly<Record<string, Option>> = {
  acceptors: {
    value: 'N',
    help: 'threads that take connections (default: half of the cores)',
    setting: 'NEARSKY_ACCEPTORS',
  },
  workers: {
    value: 'N',
    help: 'threads that answer queries (default: the other cores)',
    setting: 'NEARSKY_WORKERS',
  },
};

/**
 * Runs a command with the arguments that follow its name and resolves with the exit status.
 * @throws UsageError for an option that the command does not have; ConfigError for an impossible setting
 */
export async function runCommand(command: Command, args: readonly string[]): Promise<number> {
  const options: Readonly<Record<string, Option>> = { ...command.options, ...COMMON_OPTIONS };
  const { values, positionals } = parse(command, options, args);
  if (values.has('help')) {
    process.stdout.write(commandHelp(command));
    return 0;
  }
  const given = new Map<string, string>();
  const settings = new Map<SettingName, string>();
  for (const [name, value] of values) {
    if (typeof value !== 'string') continue;
    given.set(name, value);
    const setting = options[name]?.setting;
    if (setting) settings.set(setting, value);
  }
  const file = given.get('config');
  const { config, origins, doubtful } = loadConfigWithOrigins({ options: settings, environment: process.env, file });
  for (const { name, nearest } of doubtful) logToStderr('not_a_setting', { name, did_you_mean: nearest });
  const flags = new Set([...values.keys()].filter(name => !given.has(name)));
  return await command.run({ config, origins, options: given, flags, positionals });
}

function parse(command: Command, options: Readonly<Record<string, Option>>, args: readonly string[]) {
  const types = Object.entries(options).map(([name, option]) => {
    return [name, { type: option.value === undefined ? 'boolean' : 'string' }] as const;
  });
  try {
    const parsed = parseArgs({ args: [...args], options: Object.fromEntries(types), allowPositionals: true });
    return { values: new Map(Object.entries(parsed.values)), positionals: parsed.positionals };
  } catch (error) {
    const why = messageOf(error).split('. ')[0];
    throw new UsageError(`${why}. Usage: nearsky ${command.usage}`);
  }
}

/** The text of `nearsky <command> --help`. */
export function commandHelp(command: Command): string {
  const lines = Object.entries({ ...command.options, ...COMMON_OPTIONS }).map(([name, option]) => {
    const left = `--${name}${option.value === undefined ? '' : ` ${option.value}`}`;
    const setting = option.setting ? ` [${option.setting}]` : '';
    return `  ${left.padEnd(24)} ${option.help}${setting}`;
  });
  return [
    `Usage: nearsky ${command.usage}`,
    '',
    command.description,
    '',
    'Options (a name in brackets is the environment variable or key of the file that sets the same):',
    ...lines,
    '',
    'Example:',
    `  ${command.example}`,
    '',
  ].join('\n');
}

/** The exit status of an error that a command ended with, after one line on standard error about it. */
export function reportError(name: string, error: unknown): number {
  const message = messageOf(error);
  process.stderr.write(`nearsky ${name}: ${message.replaceAll('\n', ' ')}\n`);
  if (process.env.NEARSKY_DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
}

/** Writes a command's result to standard output: with --json `value` as one document, else `text`. */
export function printResult(invocation: Invocation, value: unknown, text: string): void {
  process.stdout.write(invocation.flags.has('json') ? `${JSON.stringify(value)}\n` : `${text}\n`);
}

/** Rows of label and value, the labels padded to one width. */
export function table(rows: readonly (readonly [label: string, value: string | number])[]): string {
  const width = Math.max(0, ...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n');
}

const LIVE_INTERVAL_MS = 100;
const PLAIN_INTERVAL_MS = 5000;

/** How far long work has come, on standard error: one live line on a terminal, else a plain line every few seconds. */
export class Progress {
  readonly #live = process.stderr.isTTY === true;
  #lastMs = performance.now();

  /** Shows `text()` when it is time for another line; cheap to call often. */
  update(text: () => string): void {
    const now = performance.now();
    if (now - this.#lastMs < (this.#live ? LIVE_INTERVAL_MS : PLAIN_INTERVAL_MS)) return;
    this.#lastMs = now;
    process.stderr.write(this.#live ? `\r\x1b[K${text()}` : `${text()}\n`);
  }

  /** Takes the live line away, so that the result stands alone. */
  end(): void {
    if (this.#live) process.stderr.write('\r\x1b[K');
  }
}
