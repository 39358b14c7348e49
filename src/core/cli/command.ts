/** Shared by all commands: their form, options, progress line and result. */
import { accessSync, constants, statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { COMPACT, toJson } from '@nearsky/astrotables/json';
import { closestMatch } from 'leven';
import { messageOf, mustBe, printable } from '../base/error_text.ts';
import { type Log, logToStderr } from '../base/log.ts';
import { parseTime } from '../base/parse_time.ts';
import {
  type Config,
  ConfigError,
  type LoadedConfig,
  loadConfigWithOrigins,
  type SettingName,
  type SettingTable,
} from '../config/config.ts';
import { httpUrl } from '../config/values.ts';
import { type Kind, textual } from '../contract/kind.ts';
import type { RowProgress } from '../contract/row_progress.ts';
import { type Ask, askerOf, type InProcess } from './asking.ts';
import { wrapped, wrappedText } from './wrap.ts';

/**
 * One option of a command. With `value`, it takes a value, and the help shows that name. Without `value`, it is a flag.
 */
export interface Option {
  readonly value?: string;
  /** A one-letter form of the option. */
  readonly short?: string;
  readonly help: string;
  /** The setting that this option sets. The option overrides the environment and the configuration file. */
  readonly setting?: SettingName;
}

/** A command. Its module exports it as `command`, and a `CommandTable` has its name and summary. */
export interface Command {
  /** The command line after `nearsky`, for example `ingest --broker NAME FILE...|-`. */
  readonly usage: string;
  /** A description of the command in full sentences. */
  readonly description: string;
  /** The description in docs/commands.md, if it differs. */
  readonly pageDescription?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** The defaults of settings that this command changes. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** One complete command line. */
  readonly example: string;
  /** Resolves with the exit status: 0, 1, or 128 and the number of the signal that stopped it. A thrown `UsageError` or `ConfigError` means 2, any other error 1. */
  run(invocation: Invocation): Promise<number>;
}

/** A line of the table of commands. */
export interface Entry {
  /** A summary of the command, in a few words. */
  readonly summary: string;
  /** For a command of a capability: the command after which it is listed. By default it is the last one. */
  readonly after?: string;
  /**
   * Set if capabilities share the command: the name with which the option `--format` selects this one. The first of
   * them is the default.
   */
  readonly format?: string;
  load(): Promise<{ readonly command: Command }>;
}

export type CommandTable = ReadonlyMap<string, Entry>;

/** A command line, parsed. */
export interface Invocation {
  /** The command as the user knows it, in all its formats. */
  readonly command: Command;
  readonly config: Config;
  readonly origins: LoadedConfig['origins'];
  /** The options that were given with a value, by their long name. */
  readonly options: ReadonlyMap<string, string>;
  /** The value of an option; undefined if it was not given. @throws UsageError */
  value<T>(option: string, kind: Kind<T>): T | undefined;
  /** The flags that were given, by their long name. */
  readonly flags: ReadonlySet<string>;
  readonly positionals: readonly string[];
  /**
   * Calls `use` with a function that answers requests: that of the service that `--url` names, or of this process.
   * @param onProgress called in this process only
   * @throws UsageError for an invalid address; Error if no service answers there, or the data directory cannot be read
   */
  withService<T>(use: (ask: Ask) => Promise<T>, onProgress?: (progress: RowProgress) => void): Promise<T>;
  readonly serve: Serve;
}

/**
 * Serves a data directory, without duties and without work in the background, until SIGTERM or SIGINT. Resolves when
 * everything is closed.
 */
export type Serve = (config: Config, options: ServeOptions) => Promise<void>;

export interface ServeOptions {
  /** Called when the service can answer. */
  readonly onListening?: (url: string) => void;
  /** The default writes one JSON object per line on standard error. */
  readonly log?: Log;
}

/** How commands reach the service. */
export interface Services {
  /** Answers the requests of a command that names no service. */
  readonly inProcess: InProcess;
  readonly serve: Serve;
}

/** The command line is wrong: exit status 2. */
export class UsageError extends Error {
  override name = 'UsageError';

  /** @param command the command whose usage the message shows */
  constructor(why: string, command?: Command) {
    super(command ? `${why}. Usage: nearsky ${command.usage}` : why);
  }
}

const COMMON_OPTIONS: Readonly<Record<string, Option>> = {
  data: { value: 'DIR', help: 'the data directory (default ./data)', setting: 'NEARSKY_DATA' },
  config: { value: 'FILE', help: 'a JSON file with settings: {"API_MAX_IDS": 500, ...}' },
  json: { help: 'print the result as one JSON document' },
  help: { help: 'print this help' },
};

/** Options of the commands that serve. */
export const LISTEN_OPTIONS: Readonly<Record<string, Option>> = {
  host: { value: 'HOST', help: 'the address to listen on (default 127.0.0.1)', setting: 'NEARSKY_HOST' },
  port: { value: 'PORT', help: 'the port, 0 for a free one (default 8080)', setting: 'NEARSKY_PORT' },
};

export const THREAD_OPTIONS: Readonly<Record<string, Option>> = {
  workers: {
    value: 'N',
    help: 'threads that answer requests (default: one for each core)',
    setting: 'NEARSKY_WORKERS',
  },
};

/**
 * Runs a command with the arguments that follow its name and resolves with the exit status.
 * @param table all settings
 * @throws UsageError for an unknown option; ConfigError for an invalid setting
 */
export async function runCommand(
  command: Command,
  args: readonly string[],
  table: SettingTable,
  { inProcess, serve }: Services,
): Promise<number> {
  const options = optionsOf(command);
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
  const optionNames = new Map(
    Object.entries(options).flatMap(([name, { setting }]) => (setting ? [[setting, `--${name}`] as const] : [])),
  );
  const file = given.get('config');
  const { defaults = {} } = command;
  const sources = { options: settings, optionNames, environment: process.env, file, defaults };
  const { config, origins, doubtful } = loadConfigWithOrigins(sources, table);
  for (const { name, nearest } of doubtful) logToStderr('not_a_setting', { name, did_you_mean: nearest });
  const flags = new Set([...values.keys()].filter(name => !given.has(name)));
  if (positionals.length > 0 && placeholdersOf(command).arguments.length === 0)
    throw new UsageError(`${command.usage.split(' ')[0]} takes no arguments`, command);
  const value = <T>(option: string, kind: Kind<T>) => {
    const text = given.get(option);
    return text === undefined ? undefined : valueOfText(kind, `--${option}`, text);
  };
  const withService: Invocation['withService'] = (use, onProgress) => {
    const url = value('url', httpUrl(''));
    return url === undefined ? inProcess(config, use, onProgress) : use(askerOf(url));
  };
  return await command.run({ command, config, origins, options: given, value, flags, positionals, withService, serve });
}

/**
 * Hides the sign of negative numbers, such as a declination, so that they are not taken for options. A NUL marks the
 * sign, because no argument of a process can contain one.
 */
const hideSign = (argument: string): string => argument.replace(/^-(?=[\d.])/, '\0-');
const showSign = (argument: string): string => argument.replace('\0', '');

function parse(command: Command, options: Readonly<Record<string, Option>>, args: readonly string[]) {
  const types = Object.entries(options).map(([name, option]) => {
    const type = option.value === undefined ? 'boolean' : 'string';
    return [name, { type, ...(option.short && { short: option.short }) }] as const;
  });
  try {
    const given = { args: args.map(hideSign), options: Object.fromEntries(types), allowPositionals: true };
    const parsed = parseArgs({ ...given, tokens: true });
    const named = parsed.tokens.flatMap(token => (token.kind === 'option' && token.value !== undefined ? token : []));
    const twice = named.find(({ name }, i) => named.findIndex(other => other.name === name) < i);
    if (twice) throw new Error(`--${twice.name} is given twice`);
    const values = Object.entries(parsed.values).map(([name, value]) => {
      return [name, typeof value === 'string' ? showSign(value) : value] as const;
    });
    return { values: new Map(values), positionals: parsed.positionals.map(showSign) };
  } catch (error) {
    const why = messageOf(error).split('. ')[0]!;
    const unknown = /^Unknown option '--?([^']+)'/.exec(why)?.[1];
    const nearest = unknown === undefined ? '' : didYouMean(unknown, Object.keys(options), '--');
    throw new UsageError(`${why}${nearest || '.'} Usage: nearsky ${command.usage}`);
  }
}

/** The value of a text of the command line. @throws UsageError naming `what` */
export function valueOfText<T>(kind: Kind<T>, what: string, text: string): T {
  const value = kind.parseText(text);
  if (value === undefined) throw new UsageError(mustBe(what, kind.must, text));
  return value;
}

/** Microseconds since 1970. */
export const TIME = textual('an ISO 8601 time such as 2026-11-22T12:00:00Z', parseTime);

/** A suggestion for an unknown name: the nearest known name, if one is near. */
export function didYouMean(name: string, known: readonly string[], prefix = ''): string {
  const nearest = closestMatch(name.toLowerCase(), known, { maxDistance: Math.max(1, Math.min(3, name.length - 2)) });
  return nearest === undefined ? '' : `: did you mean ${prefix}${nearest}?`;
}

/** The text of `nearsky <command> --help`. */
export function commandHelp(command: Command): string {
  const options = Object.entries(optionsOf(command)).flatMap(([name, option]) => {
    const left = `  ${optionText(name, option)}`;
    const setting = option.setting ? ` [${option.setting}]` : '';
    const isLong = left.length >= OPTION_COLUMN.length;
    const lines = wrapped(
      `${option.help}${setting}`,
      isLong ? OPTION_COLUMN : left.padEnd(OPTION_COLUMN.length),
      OPTION_COLUMN,
    );
    return isLong ? [left, ...lines] : lines;
  });
  return [
    ...usagesOf(command).flatMap((usage, i) => wrapped(usage, i === 0 ? 'Usage: ' : '       ', ' '.repeat(12))),
    '',
    ...wrappedText(command.description),
    '',
    'Options (in brackets: the environment variable or file key with the same effect):',
    ...options,
    '',
    'Example:',
    `  ${command.example}`,
    '',
  ].join('\n');
}

/** The column at which the help of an option begins. */
const OPTION_COLUMN = ' '.repeat(27);

/** The command lines of a command, one for each form. */
export function usagesOf({ usage }: Command): string[] {
  return usage.split(' | ').map(form => `nearsky ${form}`);
}

/** The placeholders of a command's arguments, and of the values of its options, read from its usage. */
export function placeholdersOf(command: Command) {
  const given: string[] = [];
  const values = new Map<string, string>();
  for (const usage of usagesOf(command)) {
    const tokens = usage.replace(/[[\]]/g, '').split(/\s+/).slice(2);
    for (const [i, token] of tokens.entries()) {
      const option = /^--(.*)/.exec(tokens[i - 1] ?? '')?.[1] ?? '';
      if (command.options[option]?.value !== undefined) values.set(option, token);
      else if (!token.startsWith('-')) given.push(token);
    }
  }
  return { arguments: given, values };
}

/** The options of a command, including those of all commands. */
export function optionsOf(command: Command): Readonly<Record<string, Option>> {
  return { ...command.options, ...COMMON_OPTIONS };
}

/** An option as the user types it: `-o, --out FILE`. */
export function optionText(name: string, { short, value }: Option): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}

/** Reports an error that ended a command in one line on standard error. Returns the exit status. */
export function reportError(name: string, error: unknown): number {
  const { path } = (error ?? {}) as NodeJS.ErrnoException;
  const message = `${path === undefined ? '' : `${path}: `}${messageOf(error)}`;
  tell(`nearsky ${name}: ${message}`);
  if (process.env.NEARSKY_DEBUG && error instanceof Error) process.stderr.write(`${printable(`${error.stack}`)}\n`);
  return error instanceof UsageError || error instanceof ConfigError ? 2 : 1;
}

/**
 * Writes one line to standard error. Commands write only through this function, `printResult` and `Progress`, so that
 * no control characters reach the terminal.
 */
export function tell(text: string): void {
  process.stderr.write(`${printable(text.replaceAll('\n', ' '))}\n`);
}

/** Writes a command's result to standard output: `value` as one JSON document with --json, else `text`. */
export function printResult(invocation: Invocation, value: unknown, text: string): void {
  process.stdout.write(`${printable(invocation.flags.has('json') ? toJson(value, COMPACT) : text)}\n`);
}

/** Rows of labels and values; the labels are padded to one width. */
export function table(rows: readonly (readonly [label: string, value: string | number])[]): string {
  const width = Math.max(0, ...rows.map(([label]) => label.length));
  return rows.map(([label, value]) => `${label.padEnd(width)}  ${value}`).join('\n');
}

const LIVE_INTERVAL_MS = 100;
const PLAIN_INTERVAL_MS = 5000;
/** After this time the measured rate is accurate enough to show. */
const PACE_AFTER_MS = 500;

/**
 * Shows the progress of long work on standard error: a live line on a terminal, else a plain line every few seconds.
 */
export class Progress {
  readonly #live = process.stderr.isTTY === true;
  readonly #startMs = performance.now();
  #lastMs = this.#live ? Number.NEGATIVE_INFINITY : this.#startMs;
  /** The times of the last plain line and of the next one. */
  #shown: string | undefined;
  #text: (() => string) | undefined;

  /** Shows `text()` when the next line is due. Frequent calls are cheap. */
  update(text: () => string): void {
    this.#text = text;
    const now = performance.now();
    if (now - this.#lastMs < (this.#live ? LIVE_INTERVAL_MS : PLAIN_INTERVAL_MS)) return;
    this.#lastMs = now;
    if (this.#live) process.stderr.write(`\r\x1b[K${printable(text())}`);
    else this.#tell(text());
  }

  #tell(text: string): void {
    this.#shown = text;
    tell(text);
  }

  /**
   * The progress as text: the share done, the rate per second since the start, and the time left at that rate.
   * @param total undefined if the total is unknown, for example for standard input
   * @param shown formats a number with its unit, for the rate
   */
  pace(done: number, total: number | undefined, shown: (perSecond: number) => string): string {
    const seconds = (performance.now() - this.#startMs) / 1000;
    const parts = total ? [`${Math.min(100, Math.floor((100 * done) / total))}%`] : [];
    if (seconds * 1000 >= PACE_AFTER_MS && done > 0) {
      parts.push(`${shown(done / seconds)}/s`);
      if (total) parts.push(`${durationText((seconds * Math.max(0, total - done)) / done)} left`);
    }
    return parts.join(', ');
  }

  /**
   * Removes the live line, so that only the result remains. After plain lines, prints a last one with the final
   * progress.
   */
  end(): void {
    if (this.#live) process.stderr.write('\r\x1b[K');
    const text = this.#shown === undefined ? undefined : this.#text?.();
    if (text !== undefined && text !== this.#shown) this.#tell(text);
    this.#text = undefined;
  }

  [Symbol.dispose] = () => this.end();
}

export const shownBytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(1)} MiB`;
export const shownCount = (count: number) => Math.round(count).toLocaleString('en');

function durationText(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/**
 * The total bytes of files; undefined when standard input (`-`) is among them. Files are checked before anything is
 * stored.
 * @throws Error naming a file that cannot be read
 */
export function bytesOf(files: readonly string[]): number | undefined {
  let bytes = 0;
  let isKnown = true;
  for (const file of files) {
    if (file === '-') isKnown = false;
    else {
      try {
        const found = statSync(file);
        if (found.isDirectory()) throw new Error('it is a directory');
        accessSync(file, constants.R_OK);
        // A pipe has no size.
        if (found.isFile()) bytes += found.size;
        else isKnown = false;
      } catch (error) {
        throw new Error(
          `Cannot read ${file} because ${messageOf(error)}: give a file that can be read; nothing was done`,
          { cause: error },
        );
      }
    }
  }
  return isKnown ? bytes : undefined;
}
