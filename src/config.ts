/**
 * Every setting: its name, bounds and default, in one table. An option of the command line beats the environment variable of
 * the setting's name, which beats the JSON configuration file, which beats the default.
 */

import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { messageOf } from './error_text.ts';
import { type Network, parseNetwork } from './mcp/addresses.ts';
import type { Rate } from './mcp/limiter.ts';

/** A setting that cannot be: the program does not start (exit status 2). */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

interface Setting<T> {
  readonly default: T;
  /** What a value must be, as it reads after "must be". */
  readonly bound: string;
  /** The value, from text (option, environment) or from JSON; undefined when it cannot be. */
  parse(value: unknown): T | undefined;
}

const packageJson = fileURLToPath(new URL('../package.json', import.meta.url));
const packageVersion: string = JSON.parse(readFileSync(packageJson, 'utf8')).version;

const SETTINGS = {
  NEARSKY_DATA: text('./data'),
  NEARSKY_HOST: text('127.0.0.1'),
  NEARSKY_PORT: integer(8080, 0, 65535),
  /** Threads that take connections, the main thread among them: half of the cores. */
  NEARSKY_ACCEPTORS: integer(defaultAcceptors(availableParallelism()), 1, 64),
  /** Threads that answer queries: the other cores. */
  NEARSKY_WORKERS: integer(defaultWorkers(availableParallelism()), 1, 256),
  /** What a query thread may have on its heap; one that needs more is replaced, and its queries are answered 503. */
  NEARSKY_WORKER_HEAP_MIB: integer(1024, 32, 65_536),

  /** Connections at once, at most; where the system allows the process fewer open files, fewer. */
  NEARSKY_MAX_CONNECTIONS: integer(20_000, 1, 1_000_000),

  /** Requests that take at least this long are logged with what was asked, milliseconds. */
  NEARSKY_SLOW_REQUEST_MS: number(1000, 0, 3_600_000),
  /** Whether every request is logged. */
  NEARSKY_LOG_REQUESTS: yesNo(false),

  API_REQUEST_BUDGET_SECONDS: number(5, 0.001, 3600),
  API_MAX_IDS: integer(1000, 1, 100_000),
  API_MAX_POSITIONS: integer(200, 1, 100_000),
  API_MAX_CONE_RADIUS_ARCSEC: number(60, 0.001, 3600),
  API_MAX_OBJECTS_PER_POSITION: integer(100, 1, 100_000),
  API_MAX_OBJECTS_PER_REQUEST: integer(2000, 1, 100_000),
  RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE: integer(1000, 1, 100_000),
  RECENT_CROSSMATCH_MAX_PAGE_SIZE: integer(10_000, 1, 100_000),
  RECENT_CROSSMATCH_MAX_WINDOW_HOURS: integer(168, 1, 87_600),

  /** Of the files of rejected messages: the size that ends one, and how many are kept of a broker. */
  REJECTS_MAX_FILE_BYTES: integer(16 * 2 ** 20, 1, 2 ** 40),
  REJECTS_MAX_FILES: integer(20, 1, 100_000),

  CROSSMATCH_RADIUS_ARCSEC: number(1, 0.001, 60),
  /** The background crossmatch begins when this many objects wait, or one has waited this long. */
  CROSSMATCH_BATCH_MAX_SIZE: integer(50_000, 1, 100_000),
  CROSSMATCH_BATCH_MAX_WAIT_SECONDS: number(1, 0, 3600),
  TNS_MATCH_RADIUS_ARCSEC: number(1, 0.001, 60),
  /** The bot that the TNS knows; its key is never shown. */
  TNS_BOT_ID: optional(integer(0, 1, Number.MAX_SAFE_INTEGER)),
  TNS_BOT_NAME: optional(text('')),
  TNS_BOT_API_KEY: optional(text('')),
  /** Where the public files of the TNS lie. */
  TNS_OBJECTS_BASE_URL: httpUrl('https://www.wis-tns.org/system/files/tns_public_objects/'),
  TNS_SNAPSHOT_MAX_AGE_SECONDS: integer(7200, 1, 31_536_000),
  MIN_DIASOURCE_RELIABILITY: number(0.6, 0, 1),
  ANTARES_DECLARED_MIN_RELIABILITY: optional(number(0, 0, 1)),
  ANTARES_DECLARED_MIN_RELIABILITY_AS_OF: optional(date()),
  LASAIR_DECLARED_MIN_RELIABILITY: optional(number(0, 0, 1)),
  LASAIR_DECLARED_MIN_RELIABILITY_AS_OF: optional(date()),

  MCP_MAX_IDENTIFIERS: integer(100, 1, 1000),
  MCP_MAX_OBJECTS: integer(20, 1, 1000),
  MCP_MATCHES_PER_CATALOG: integer(3, 1, 100),
  MCP_MAX_RESULT_CHARS: integer(30_000, 5000, 10_000_000),
  /** Scheme and host of the API in the connector's recipes; null: those of the request. */
  MCP_API_BASE_URL: optional(origin()),
  /** Origins from which a browser may use the connector. */
  MCP_ALLOWED_ORIGINS: list(origin(), []),
  MCP_SESSION_MAX_AGE_SECONDS: integer(86_400, 1, 31_536_000),
  /** Signs session ids; null: random. Processes that share the load need the same one. */
  MCP_SESSION_SECRET: optional(text('')),
  MCP_SESSION_RATE: rate(2, 10),
  MCP_IP_RATE: rate(2, 10),
  MCP_PROVIDER_RATE: rate(10, 50),
  MCP_MAX_CONCURRENT: integer(6, 1, 10_000),
  MCP_MAX_CONCURRENT_PER_KEY: integer(2, 1, 10_000),
  /** The header in which the proxy in front says who the client is. */
  MCP_CLIENT_IP_HEADER: headerName('X-Real-Ip'),
  /** Ranges from which the providers of chat assistants call. */
  MCP_PROVIDER_CIDRS: list(network(), ['160.79.104.0/21']),

  /** Of the Kafka clusters: the addresses to begin with, as host:port. */
  LASAIR_KAFKA_SERVERS: list(server(), ['lasair-lsst-kafka.lsst.ac.uk:9092']),
  LASAIR_TOPICS: list(name(), []),
  /** All who have the same group share its messages, so that each gets a part of them. */
  LASAIR_GROUP_ID: optional(name()),
  ANTARES_KAFKA_SERVERS: list(server(), ['kafka.antares.noirlab.edu:9092']),
  ANTARES_TOPICS: list(name(), []),
  ANTARES_GROUP_ID: optional(name()),
  ANTARES_KAFKA_TLS: flag(true),
  ANTARES_KAFKA_SASL_MECHANISM: oneOf('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'),
  /** What a link of a locus is relative to. */
  ANTARES_API_BASE_URL: urlTemplate('https://api.antares.noirlab.edu/v1/', ''),
  /** For how long a link is tried that fails while others answer; then its message is rejected. */
  ANTARES_LINK_PATIENCE_SECONDS: number(60, 0.1, 3600),
  /** `projects/PROJECT/subscriptions/NAME` */
  PITTGOOGLE_SUBSCRIPTION: optional(subscription()),
  PUBSUB_ENDPOINT: { ...origin(), default: 'https://pubsub.googleapis.com' },
  /** How long Kafka waits for a consumer that has died before it gives its messages to another, or to the same one restarted. */
  KAFKA_SESSION_TIMEOUT_SECONDS: number(10, 0.5, 1800),
  /** A batch of live messages is stored when it has this many messages or bytes, or its first one has waited this long. */
  CONSUME_BATCH_MESSAGES: integer(1000, 1, 100_000),
  CONSUME_BATCH_BYTES: integer(16 * 2 ** 20, 1, 2 ** 30),
  CONSUME_BATCH_SECONDS: number(0.5, 0, 60),

  TNS_OBJECT_URL_TEMPLATE: urlTemplate('https://www.wis-tns.org/object/{name}', '{name}'),
  LASAIR_OBJECT_URL_TEMPLATE: urlTemplate('https://lasair.lsst.ac.uk/objects/{diaObjectId}/', '{diaObjectId}'),
  ANTARES_OBJECT_URL_TEMPLATE: urlTemplate('https://antares.noirlab.edu/loci?search={diaObjectId}', '{diaObjectId}'),

  /** What is kept in DATA/catalog-cache of remote catalogs; 0: nothing. */
  CATALOG_CACHE_MAX_BYTES: integer(10 * 2 ** 30, 0, 2 ** 50),
  /** For one file of a remote catalog, per search, retries included. */
  CATALOG_FILE_TIMEOUT_SECONDS: integer(600, 1, 3000),
  /** What may be received of one file of a remote catalog, per search. */
  CATALOG_FILE_MAX_BYTES: integer(2 ** 30, 1, 2 ** 50),

  /** The `service_version` of the answers; null when blank. */
  APP_VERSION: { default: packageVersion, bound: 'text', parse: blankIsNull } satisfies Setting<
    string | null
  > as Setting<string | null>,
};

/** Framing a small answer takes a thread about as long as finding it. More than 16 were never tried. */
export function defaultAcceptors(cores: number): number {
  return Math.min(16, Math.max(1, Math.floor(cores / 2)));
}

export function defaultWorkers(cores: number): number {
  return Math.min(256, Math.max(1, cores - defaultAcceptors(cores)));
}

export type SettingName = keyof typeof SETTINGS;
/** The settings, by the names of the wire contract. Immutable. */
export type Config = { readonly [K in SettingName]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never };

export interface ConfigSources {
  readonly options?: ReadonlyMap<SettingName, string>;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The path of a JSON file: one object, its keys names of settings. */
  readonly file?: string | undefined;
}

/**
 * The settings from all their sources. An empty environment variable counts as absent, except APP_VERSION, where it means null.
 * @throws ConfigError naming the setting, the value and the bound
 */
export function loadConfig({ options, environment = {}, file }: ConfigSources = {}): Config {
  const inFile = file === undefined ? new Map<string, unknown>() : readConfigFile(file);
  const config: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(SETTINGS) as [SettingName, Setting<unknown>][]) {
    const inEnvironment = environment[key];
    if (options?.has(key)) {
      config[key] = parseSetting(key, setting, options.get(key), 'on the command line');
    } else if (inEnvironment !== undefined && (inEnvironment !== '' || key === 'APP_VERSION')) {
      config[key] = parseSetting(key, setting, inEnvironment, 'in the environment');
    } else if (inFile.has(key)) {
      config[key] = parseSetting(key, setting, inFile.get(key), `in ${file}`);
    } else {
      config[key] = setting.default;
    }
  }
  return Object.freeze(config) as Config;
}

function parseSetting(key: string, setting: Setting<unknown>, value: unknown, where: string): unknown {
  const parsed = setting.parse(value);
  if (parsed !== undefined) return parsed;
  throw new ConfigError(
    `Cannot start as ${key} must be ${setting.bound}: current value is ${JSON.stringify(value)}, ${where}`,
  );
}

function readConfigFile(file: string): Map<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const why = messageOf(error);
    throw new ConfigError(`Cannot read the configuration file ${file} (${why}): give --config a JSON file`);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new ConfigError(`Cannot read the configuration file ${file} as it must hold one JSON object of settings`);
  }
  for (const key of Object.keys(content)) {
    if (Object.hasOwn(SETTINGS, key)) continue;
    throw new ConfigError(
      `Cannot start as ${file} names an unknown setting: ${key}. Known: ${Object.keys(SETTINGS).join(', ')}`,
    );
  }
  return new Map(Object.entries(content));
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && NUMBER.test(value.trim()) ? Number(value) : Number.NaN;
}

/** A number, bounds inclusive. */
function number(fallback: number, min: number, max: number): Setting<number> {
  const parse = (value: unknown) => {
    const parsed = toNumber(value);
    return parsed >= min && parsed <= max ? parsed : undefined;
  };
  return { default: fallback, bound: `a number from ${min} to ${max}`, parse };
}

/** An integer, bounds inclusive. */
function integer(fallback: number, min: number, max: number): Setting<number> {
  const parse = (value: unknown) => {
    const parsed = toNumber(value);
    return Number.isInteger(parsed) && parsed >= min && parsed <= max ? parsed : undefined;
  };
  return { default: fallback, bound: `an integer from ${min} to ${max}`, parse };
}

function yesNo(fallback: boolean): Setting<boolean> {
  const parse = (value: unknown) => {
    if (typeof value === 'boolean') return value;
    return value === 'yes' ? true : value === 'no' ? false : undefined;
  };
  return { default: fallback, bound: 'yes or no', parse };
}

function text(fallback: string): Setting<string> {
  return {
    default: fallback,
    bound: 'text, not empty',
    parse: value => (typeof value === 'string' && value ? value : undefined),
  };
}

function flag(fallback: boolean): Setting<boolean> {
  const values: Readonly<Record<string, boolean>> = { true: true, false: false };
  return { default: fallback, bound: 'true or false', parse: value => values[String(value)] };
}

function oneOf<const T extends string>(fallback: T, ...others: T[]): Setting<T> {
  const values = [fallback, ...others];
  return { default: fallback, bound: `one of ${values.join(', ')}`, parse: value => values.find(one => one === value) };
}

/** Text without white space. */
function name(): Setting<string> {
  const parse = (value: unknown) =>
    typeof value === 'string' && /^\S+$/.test(value.trim()) ? value.trim() : undefined;
  return { default: '', bound: 'a name without white space', parse };
}

function server(): Setting<string> {
  const parse = (value: unknown) => {
    return typeof value === 'string' && /^\S+:\d{1,5}$/.test(value.trim()) ? value.trim() : undefined;
  };
  return { default: '', bound: 'a server as host:port', parse };
}

function subscription(): Setting<string> {
  const parse = (value: unknown) => {
    return typeof value === 'string' && /^projects\/[\w.:-]+\/subscriptions\/[\w.~+%-]+$/.test(value)
      ? value
      : undefined;
  };
  return { default: '', bound: 'a subscription as projects/PROJECT/subscriptions/NAME', parse };
}

function date(): Setting<string> {
  const parse = (value: unknown) => {
    if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return undefined;
    const time = new Date(`${value}T00:00:00Z`);
    return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value) ? value : undefined;
  };
  return { default: '', bound: 'a date as YYYY-MM-DD', parse };
}

/** As `setting`, but null by default and in the file. */
function optional<T>(setting: Setting<T>): Setting<T | null> {
  return { default: null, bound: setting.bound, parse: value => (value === null ? null : setting.parse(value)) };
}

function urlTemplate(fallback: string, placeholder: string): Setting<string> {
  const parse = (value: unknown) => {
    return typeof value === 'string' && /^https?:\/\//.test(value) && value.includes(placeholder) ? value : undefined;
  };
  return { default: fallback, bound: `an http or https address with ${placeholder} in it`, parse };
}

function httpUrl(fallback: string): Setting<string> {
  const parse = (value: unknown) =>
    typeof value === 'string' && /^https?:/i.test(value) ? URL.parse(value)?.href : undefined;
  return { default: fallback, bound: 'an http or https address', parse };
}

/** Scheme, host and port, in the spelling that browsers use; a path is left out. */
function origin(): Setting<string> {
  const parse = (value: unknown) => {
    const url = typeof value === 'string' && /^https?:/i.test(value.trim()) && URL.parse(value.trim());
    return url ? url.origin : undefined;
  };
  return { default: '', bound: 'an http or https address', parse };
}

function network(): Setting<Network> {
  const parse = (value: unknown) => (typeof value === 'string' ? parseNetwork(value) : undefined);
  return { default: parseNetwork('::/0')!, bound: 'a network such as 192.0.2.0/24 or 2001:db8::/32', parse };
}

function headerName(fallback: string): Setting<string> {
  const parse = (value: unknown) => (typeof value === 'string' && /^[\w-]+$/.test(value) ? value : undefined);
  return { default: fallback, bound: "a header's name", parse };
}

const RATE = /^\s*(\d+(?:\.\d+)?)\s*\/\s*s\s+burst\s+(\d{1,6})\s*$/i;

/** So many calls a second in the long run, and at most `burst` at once. */
function rate(perSecond: number, burst: number): Setting<Rate> {
  const parse = (value: unknown) => {
    const [, rateText, burstText] = (typeof value === 'string' && RATE.exec(value)) || [];
    const parsed = { perSecond: Number(rateText), burst: Number(burstText) };
    return parsed.perSecond > 0 && parsed.burst >= 1 ? parsed : undefined;
  };
  return { default: { perSecond, burst }, bound: 'a rate such as "2/s burst 10"', parse };
}

/** Values of `setting`: text with commas between, or in the file an array. */
function list<T>(setting: Setting<T>, fallback: readonly string[]): Setting<readonly T[]> {
  const parse = (value: unknown): readonly T[] | undefined => {
    const parts = typeof value === 'string' ? value.split(',').filter(part => part.trim() !== '') : value;
    const parsed = Array.isArray(parts) ? parts.map(part => setting.parse(part)) : [undefined];
    return parsed.includes(undefined) ? undefined : (parsed as T[]);
  };
  return { default: parse([...fallback])!, bound: `a list, with commas between: each ${setting.bound}`, parse };
}

function blankIsNull(value: unknown): string | null | undefined {
  if (value === null) return null;
  return typeof value === 'string' ? value.trim() || null : undefined;
}
