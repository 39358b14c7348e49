/**
 * Every setting in one table: its name, meaning, bounds and default; and the other variables that are read from the
 * environment.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { programFile } from '../base/program_files.ts';
import {
  BROKERS,
  brokerSetting,
  type DeclaringBroker,
  declaringBrokers,
  type KafkaBroker,
  kafkaBrokers,
  type PagedBroker,
  pagedBrokers,
} from '../contract/brokers.ts';
import type { Kind } from './values.ts';
import {
  baseAddress,
  date,
  flag,
  headerName,
  httpUrl,
  integer,
  ivoid,
  kafkaTopic,
  label,
  list,
  name,
  network,
  number,
  oneOf,
  optional,
  origin,
  rate,
  server,
  subscription,
  text,
  textOrNull,
  urlTemplate,
  yesNo,
} from './values.ts';

export interface Setting<T> extends Kind<T> {
  /** The purpose, in a line or two; the unit where the name does not end in it. */
  readonly help: string;
  /** Its value is never shown. */
  readonly secret?: boolean;
  /** The default in words, where it depends on the machine or the release. */
  readonly defaultNote?: string;
}

const packageVersion: string = JSON.parse(readFileSync(programFile('package.json'), 'utf8')).version;
const cores = availableParallelism();

const about = <T>(help: string, kind: Kind<T>, defaultNote?: string): Setting<T> => {
  return defaultNote === undefined ? { ...kind, help } : { ...kind, help, defaultNote };
};

const secret = <T>(help: string, kind: Kind<T>): Setting<T> => ({ ...kind, help, secret: true });

const SERVICE = {
  NEARSKY_DATA: about(
    'The data directory: the database, the index, rejected messages, the cache of catalogs.',
    text('./data'),
  ),
  NEARSKY_HOST: about('The address to listen on.', text('127.0.0.1')),
  NEARSKY_PORT: about('The port to listen on; 0 takes a free one.', integer(8080, 0, 65535)),
  NEARSKY_WORKERS: about('Threads that answer requests.', integer(Math.min(256, cores), 1, 256), 'one for each core'),
  NEARSKY_WORKER_HEAP_MIB: about(
    'The largest heap of a thread that answers requests, MiB; a thread that needs more is replaced, and its connections end.',
    integer(1024, 32, 65_536),
  ),
  NEARSKY_ANSWER_MEMORY_MIB: about(
    'Memory for long answers, MiB: while they are written and until their clients have read them. A query whose answer finds none is 503.',
    integer(256, 16, 65_536),
  ),
  PUBLIC_BASE_URL: about(
    'Where clients reach the service, for the links in answers and documents; null makes them from the Host header of each request.',
    optional(baseAddress()),
  ),
  TRUSTED_PROXIES: about(
    'Proxies in front that say who the client is, beside any on this machine; no other address is believed about the client.',
    list(network(), []),
  ),
  NEARSKY_MAX_CONNECTIONS: about(
    'Connections at once; fewer where the process may open fewer files (under Deno that cannot be read: stay below it).',
    integer(20_000, 1, 1_000_000),
  ),
  NEARSKY_MAX_STREAMS: about(
    'Clients that read `/api/stream/matches` at once, on each thread; beyond them, 503.',
    integer(2000, 0, 1_000_000),
  ),
  NEARSKY_SLOW_REQUEST_MS: about(
    'Requests that take at least this long, milliseconds, are logged with what was asked.',
    number(1000, 0, 3_600_000),
  ),
  NEARSKY_LOG_REQUESTS: about('Whether every request is logged.', yesNo(false)),
  APP_VERSION: about(
    'The `service_version` of the answers; null when blank, in the environment also when it is empty.',
    textOrNull(packageVersion),
    "this release's version",
  ),
};

/** Settings that several brokers have, each under the name of the broker: `LASAIR_TOPICS`. */
type OfBrokers<Name extends string, Suffix extends string, T> = {
  readonly [N in Name as `${Uppercase<N>}_${Suffix}`]: Setting<T>;
};

const settingsOf = <T>(entries: readonly (readonly [name: string, setting: Setting<unknown>])[]): T =>
  Object.fromEntries(entries) as T;

const OBJECT_PAGES = settingsOf<OfBrokers<PagedBroker, 'OBJECT_URL_TEMPLATE', string>>(
  pagedBrokers.map(({ name, title, objectPage }) => [
    brokerSetting(name, 'OBJECT_URL_TEMPLATE'),
    about(
      `The address of ${title}'s page about an object, as answers give it.`,
      urlTemplate(objectPage, '{diaObjectId}'),
    ),
  ]),
);

const DECLARED_CUTS = settingsOf<
  OfBrokers<DeclaringBroker, 'DECLARED_MIN_RELIABILITY', number | null> &
    OfBrokers<DeclaringBroker, 'DECLARED_MIN_RELIABILITY_AS_OF', string | null>
>(
  declaringBrokers.flatMap(({ name, title }) => [
    [
      brokerSetting(name, 'DECLARED_MIN_RELIABILITY'),
      about(
        `The cut that your ${title} filters make, for the provenance of answers; counts only with its date.`,
        optional(number(0, 0, 1)),
      ),
    ],
    [
      brokerSetting(name, 'DECLARED_MIN_RELIABILITY_AS_OF'),
      about(`Since when ${title} makes that cut.`, optional(date())),
    ],
  ]),
);

const KAFKA_CLUSTERS = settingsOf<
  OfBrokers<KafkaBroker, 'KAFKA_SERVERS' | 'TOPICS', readonly string[]> &
    OfBrokers<KafkaBroker, 'GROUP_ID', string | null>
>(
  kafkaBrokers.flatMap(({ name: broker, title, kafkaServers }) => [
    [
      brokerSetting(broker, 'KAFKA_SERVERS'),
      about(`Addresses of ${title}'s Kafka cluster to begin with.`, list(server(), [...kafkaServers])),
    ],
    [brokerSetting(broker, 'TOPICS'), about(`The topics of your ${title} filters.`, list(name(), []))],
    [
      brokerSetting(broker, 'GROUP_ID'),
      about(
        'The consumer group. Consumers of one group share its messages: each gets a part of them.',
        optional(name()),
      ),
    ],
  ]),
);

/** The brokers whose alerts this service cuts itself. */
const cutHere = BROKERS.filter(({ cut }) => cut === 'service')
  .map(({ title }) => title)
  .join(' and ');

const API = {
  API_REQUEST_BUDGET_SECONDS: about(
    'Time for one request. A request that takes longer is 400 query_too_expensive; one that waited for more than half of it is 503.',
    number(5, 0.001, 3600),
  ),
  API_MAX_IDS: about('Ids in one lookup.', integer(1000, 1, 100_000)),
  API_MAX_POSITIONS: about('Positions, and names of the registry, in one lookup.', integer(200, 1, 100_000)),
  API_MAX_TABLE_ROWS: about('Rows of a table that is to be crossmatched.', integer(1_000_000, 1, 100_000_000)),
  API_MAX_TABLE_MIB: about('Size of such a table, MiB, decompressed.', integer(256, 1, 4096)),
  API_TABLE_MEMORY_MIB: about(
    'Memory of a process that reads a large table, MiB: one for requests that wait, one for jobs. A table that needs more is refused.',
    integer(384, 64, 65_536),
  ),
  SPOOL_MAX_MIB: about(
    'Room on the disk for tables that arrive and answers that are being read, MiB, all threads together; of one client at most half.',
    integer(4096, 16, 1_048_576),
  ),
  JOBS_MAX: about('Jobs that are kept, those that are over among them.', integer(100, 0, 10_000)),
  JOBS_MAX_PER_CLIENT: about(
    'Jobs of one client, by its address, that are kept; its share of the room on the disk is the same.',
    integer(25, 1, 10_000),
  ),
  JOBS_MAX_MIB: about('Room on the disk that all jobs may take, MiB.', integer(4096, 1, 1_048_576)),
  JOBS_HOURS: about('The time for which a job and its result are kept.', number(24, 0.01, 8760)),
  JOBS_SECONDS: about('The time that a job may take.', integer(3600, 1, 86_400)),
  API_MAX_CONE_RADIUS_ARCSEC: about('The largest radius of a cone search.', number(60, 0.001, 3600)),
  API_MAX_OBJECTS_PER_POSITION: about('Objects answered for one position of a lookup.', integer(100, 1, 100_000)),
  API_MAX_OBJECTS_PER_REQUEST: about('Objects answered for one lookup.', integer(2000, 1, 100_000)),
  RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE: about(
    'Objects on a page of recent crossmatches that asks for no size.',
    integer(1000, 1, 100_000),
  ),
  RECENT_CROSSMATCH_MAX_PAGE_SIZE: about(
    'Objects on a page of recent crossmatches, at most.',
    integer(10_000, 1, 100_000),
  ),
  RECENT_CROSSMATCH_MAX_WINDOW_HOURS: about('The longest window of recent crossmatches.', integer(168, 1, 87_600)),
  // The index also finds objects that are a match's radius further away.
  VO_MAX_RADIUS_DEG: about(
    'The largest radius of a cone search of the Virtual Observatory, degrees.',
    number(0.5, 0.0001, 0.98),
  ),
  VO_MAX_RECORDS: about('Rows of the answer to such a cone search, at most.', integer(10_000, 1, 100_000)),
  VO_IDENTIFIER: about(
    'The identifier of the service in the registries of the Virtual Observatory, like ivo://example.org/nearsky; without it there is no /vo/record.',
    optional(ivoid()),
  ),
  VO_PUBLISHER: about('Who runs the service, for that record.', text('nearsky')),
  VO_CONTACT_EMAIL: about('The address of that publisher for questions, for that record.', optional(name())),
  TAP_MAX_QUERIES: about(
    'Queries in ADQL that run at once, of one client at most half; others wait, up to 10 s. 0 switches them off.',
    integer(4, 0, 64),
  ),
  TAP_MAX_RECORDS: about('Rows of the answer to a query in ADQL, at most.', integer(1_000_000, 1, 100_000_000)),
  TAP_QUERY_SECONDS: about('The longest that a query in ADQL may take.', number(45, 1, 3600)),
  TAP_MEMORY_MIB: about(
    'Memory of the engine of these queries, MiB, for all of them together; its process has 128 MiB more.',
    integer(192, 128, 1_048_576),
  ),
  TAP_MAX_UPLOAD_MIB: about(
    'Size of all tables that come with a query in ADQL, MiB; each has at most API_MAX_TABLE_ROWS rows.',
    integer(64, 1, 1024),
  ),
  TAP_UPLOAD_HOSTS: about(
    'Hosts from which tables of queries in ADQL are fetched (UPLOAD=NAME,https://...): HOST for its ports 80 and 443, HOST:PORT for another port, * for these two ports of every host with a public address. An empty list switches this off.',
    list(name(), []),
  ),
  TAP_REFRESH_SECONDS: about(
    'How long the engine waits before it looks for what has changed in the archive; ten times as long as it last took to write that down, where this is longer.',
    number(60, 1, 86_400),
  ),
  TNS_OBJECT_URL_TEMPLATE: about(
    'The address of a page about a registry object, as answers give it.',
    urlTemplate('https://www.wis-tns.org/object/{name}', '{name}'),
  ),
  ...OBJECT_PAGES,
};

const CROSSMATCH = {
  CROSSMATCH_RADIUS_ARCSEC: about(
    'How far a catalog source may lie from an object that it matches.',
    number(1, 0.001, 60),
  ),
  CROSSMATCH_PROPER_MOTION: about(
    'Whether sources of catalogs with proper motions are compared where they are at the time of the event.',
    yesNo(false),
  ),
  CROSSMATCH_BATCH_MAX_SIZE: about(
    'The background crossmatch of `serve` begins when this many objects wait.',
    integer(50_000, 1, 100_000),
  ),
  CROSSMATCH_BATCH_MAX_WAIT_SECONDS: about(
    'The background crossmatch of `serve` begins when an object has waited this long.',
    number(1, 0, 3600),
  ),
  CROSSMATCH_READ_FAILURE_WAIT_SECONDS: about(
    'How long `serve` leaves an object pending while no catalog can be read for it; then it is recorded as not searched, and crossmatched again once a catalog can be read.',
    number(600, 0, 604_800),
  ),
  CATALOG_CACHE_MAX_BYTES: about(
    'The most bytes of remote catalogs that are kept in DATA/catalog-cache; 0 keeps nothing.',
    integer(10 * 2 ** 30, 0, 2 ** 50),
  ),
  CATALOG_FILE_TIMEOUT_SECONDS: about(
    'Time for one file of a remote catalog, per search, retries included.',
    integer(600, 1, 3000),
  ),
  CATALOG_PRIVATE_REDIRECTS: about(
    'Whether a remote catalog may lead on, by a redirect or its properties, to another host at a private, loopback or link-local address; the host that `catalog add` was given may have one in any case.',
    yesNo(false),
  ),
  CATALOG_FILE_MAX_BYTES: about(
    'The most bytes that may be received of one file of a remote catalog, per search.',
    integer(2 ** 30, 1, 2 ** 50),
  ),
};

const RELIABILITY = {
  MIN_DIASOURCE_RELIABILITY: about(
    `Messages of ${cutHere} below this reliability, or without one, are not taken; the other brokers' filters cut their own.`,
    number(0.6, 0, 1),
  ),
  ...DECLARED_CUTS,
  TABLE_ORIGIN: about(
    'The name under which objects of a survey table are recorded (`ingest --table`), among the brokers that delivered them.',
    label('table'),
  ),
  REJECTS_MAX_FILE_BYTES: about(
    'The size at which a file of rejected messages ends and the next begins.',
    integer(16 * 2 ** 20, 1, 2 ** 40),
  ),
  REJECTS_MAX_FILES: about(
    'The number of files of rejected messages that are kept for each broker; the oldest are removed.',
    integer(20, 1, 100_000),
  ),
};

const CONSUME = {
  ...KAFKA_CLUSTERS,
  ANTARES_KAFKA_TLS: about("Whether connections to ANTARES's Kafka cluster are encrypted.", flag(true)),
  ANTARES_KAFKA_SASL_MECHANISM: about(
    "How ANTARES's Kafka cluster asks for the credentials.",
    oneOf('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'),
  ),
  ANTARES_API_BASE_URL: about(
    'The base of the relative links of a locus. Links to another scheme, host or port are not followed: their messages are rejected.',
    httpUrl('https://api.antares.noirlab.edu/v1/'),
  ),
  ANTARES_LINK_PATIENCE_SECONDS: about(
    'How long a failing link is tried while other links answer; then its message is rejected.',
    number(60, 0.1, 3600),
  ),
  PITTGOOGLE_SUBSCRIPTION: about('Your subscription to the topic `lsst-alerts-json`.', optional(subscription())),
  PUBSUB_ENDPOINT: about('Where Google Pub/Sub is.', origin('https://pubsub.googleapis.com')),
  KAFKA_SESSION_TIMEOUT_SECONDS: about(
    'How long Kafka waits for a consumer that has died before it gives its messages to another, or to the same one restarted.',
    number(10, 0.5, 1800),
  ),
  KAFKA_GROUP_INSTANCE_ID: about(
    'The name of this consumer in its group; no other running consumer of the group may have it. With a name, a consumer that was killed and starts again goes on at once; without one, it waits for its former session to end.',
    optional(name()),
  ),
  CONSUME_BATCH_MESSAGES: about(
    'A batch of live messages is stored when it has this many messages.',
    integer(1000, 1, 100_000),
  ),
  CONSUME_BATCH_BYTES: about(
    'A batch of live messages is stored when it has this many bytes.',
    integer(16 * 2 ** 20, 1, 2 ** 30),
  ),
  CONSUME_BATCH_SECONDS: about(
    'A batch of live messages is stored when its first one has waited this long.',
    number(0.5, 0, 60),
  ),
};

const PUBLISH = {
  PUBLISH_KAFKA_SERVERS: about(
    'Servers of the Kafka cluster to which each match is published, to begin with.',
    list(server(), []),
  ),
  PUBLISH_TOPIC: about('The topic to which each match is published.', optional(name())),
  PUBLISH_KAFKA_TLS: about('Whether connections to the Kafka cluster to publish to are encrypted.', flag(true)),
  PUBLISH_KAFKA_SASL_MECHANISM: about(
    'How the Kafka cluster to publish to asks for the credentials. Without credentials nearsky does not sign in.',
    oneOf('SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN'),
  ),
  PUBLISH_COMPRESSION: about(
    'How published messages are compressed, batch by batch.',
    oneOf('zstd', 'gzip', 'lz4', 'snappy', 'none'),
  ),
  PUBLISH_IMPORTED: about(
    'Whether crossmatches that `import` brought are published too; whoever made them may have done so.',
    yesNo(false),
  ),
};

const NODES = {
  NEARSKY_LOG: about(
    'The log that several nodes share: kafka://HOST:PORT,HOST:PORT/TOPIC, with servers of the cluster to begin with. Every change of the archive goes through it.',
    optional(kafkaTopic()),
  ),
  NEARSKY_LOG_TLS: about('Whether connections to that cluster are encrypted.', flag(true)),
  NEARSKY_LOG_SASL_MECHANISM: about(
    'How that cluster asks for the credentials; without credentials it is not asked.',
    oneOf('SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN'),
  ),
  NEARSKY_LOG_MAX_LAG_SECONDS: about(
    'A node that has not had all of the log for so long, because it is slow or cannot reach Kafka, is not ready (`/readyz` is 503).',
    number(30, 1, 86_400),
  ),
};

const REGISTRY = {
  TNS_MATCH_RADIUS_ARCSEC: about('How far a registry object may lie from an object that it is.', number(1, 0.001, 60)),
  TNS_BOT_ID: about(
    'The id of your bot at the Transient Name Server, for `tns refresh` and the refreshes of `serve`.',
    optional(integer(0, 1, Number.MAX_SAFE_INTEGER)),
  ),
  TNS_BOT_NAME: about('The name of your bot.', optional(text(''))),
  TNS_BOT_API_KEY: secret('The API key of your bot.', optional(text(''))),
  TNS_OBJECTS_BASE_URL: about(
    'Where the public files of the TNS lie.',
    httpUrl('https://www.wis-tns.org/system/files/tns_public_objects/'),
  ),
  TNS_SNAPSHOT_MAX_AGE_SECONDS: about('How old the registry may be to answer by name.', integer(7200, 1, 31_536_000)),
};

const CONNECTOR = {
  MCP_MAX_IDENTIFIERS: about('Identifiers in one call of the connector.', integer(100, 1, 1000)),
  MCP_MAX_OBJECTS: about('Objects that one call summarises.', integer(20, 1, 1000)),
  MCP_MATCHES_PER_CATALOG: about('Matches of each catalog in a summary.', integer(3, 1, 100)),
  MCP_MAX_RESULT_CHARS: about("Characters of a call's result.", integer(30_000, 5000, 10_000_000)),
  MCP_API_BASE_URL: about(
    "Where the connector's recipes say that the API is; null takes PUBLIC_BASE_URL, or what the request names.",
    optional(baseAddress()),
  ),
  MCP_ALLOWED_ORIGINS: about('Origins from which a browser may use the connector.', list(origin(), [])),
  MCP_SESSION_MAX_AGE_SECONDS: about('How long a session id is good for.', integer(86_400, 1, 31_536_000)),
  MCP_SESSION_SECRET: secret(
    'Signs session ids; null makes a random one. Processes that share the load need the same one.',
    optional(text('')),
  ),
  MCP_SESSION_RATE: about("Calls of one session from a provider's range.", rate(2, 10)),
  MCP_IP_RATE: about('Calls from any other address.', rate(2, 10)),
  MCP_PROVIDER_RATE: about("Calls from a provider's range without a session.", rate(10, 50)),
  MCP_MAX_CONCURRENT: about('Calls at once.', integer(6, 1, 10_000)),
  MCP_MAX_CONCURRENT_PER_KEY: about('Calls at once of one session, address or range.', integer(2, 1, 10_000)),
  MCP_CLIENT_IP_HEADER: about(
    'The header in which a trusted proxy says who the client is; without it Forwarded and X-Forwarded-For are read.',
    headerName('X-Real-Ip'),
  ),
  MCP_PROVIDER_CIDRS: about(
    'Ranges from which the providers of chat assistants call.',
    list(network(), ['160.79.104.0/21']),
  ),
};

export const SETTINGS = {
  ...SERVICE,
  ...API,
  ...CROSSMATCH,
  ...RELIABILITY,
  ...CONSUME,
  ...PUBLISH,
  ...NODES,
  ...REGISTRY,
  ...CONNECTOR,
};

export type SettingName = keyof typeof SETTINGS;
/** The settings, by the names of the contract (docs/contract.md). Immutable. */
export type Config = { readonly [K in SettingName]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never };

export interface SettingGroup {
  readonly title: string;
  readonly settings: Readonly<Partial<Record<SettingName, Setting<unknown>>>>;
}

/** All settings, in the order in which they are shown. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  { title: 'Service', settings: SERVICE as SettingGroup['settings'] },
  { title: 'Limits and links of the API', settings: API as SettingGroup['settings'] },
  { title: 'Crossmatch and catalogs', settings: CROSSMATCH as SettingGroup['settings'] },
  { title: 'Reliability cuts and rejected messages', settings: RELIABILITY as SettingGroup['settings'] },
  { title: "The brokers' live messages", settings: CONSUME as SettingGroup['settings'] },
  { title: 'The stream of matches', settings: PUBLISH as SettingGroup['settings'] },
  { title: 'Nodes that share one log', settings: NODES as SettingGroup['settings'] },
  { title: 'The registry of transients', settings: REGISTRY as SettingGroup['settings'] },
  { title: 'The chat connector', settings: CONNECTOR as SettingGroup['settings'] },
];

/**
 * A variable that is read from the environment only: a credential that no file should hold, or a value that concerns
 * one process.
 */
export interface EnvironmentVariable {
  readonly help: string;
  readonly secret?: boolean;
}

export const ENVIRONMENT_ONLY: Readonly<Record<string, EnvironmentVariable>> = {
  ANTARES_API_KEY: { help: 'Your ANTARES credentials, the name.', secret: true },
  ANTARES_API_SECRET: { help: 'Your ANTARES credentials, the password.', secret: true },
  PUBLISH_KAFKA_USERNAME: { help: 'Your credentials of the Kafka cluster to publish to, the name.', secret: true },
  PUBLISH_KAFKA_PASSWORD: { help: 'Your credentials of the Kafka cluster to publish to, the password.', secret: true },
  NEARSKY_LOG_USERNAME: { help: "Your credentials of the shared log's Kafka cluster, the name.", secret: true },
  NEARSKY_LOG_PASSWORD: { help: "Your credentials of the shared log's Kafka cluster, the password.", secret: true },
  GOOGLE_APPLICATION_CREDENTIALS: { help: 'The key file with which `consume pittgoogle` signs in.' },
  PUBSUB_EMULATOR_HOST: { help: "Host and port of Google's Pub/Sub emulator, in the place of Pub/Sub." },
  NEARSKY_DEBUG: { help: 'Not empty: an error that ends a command is shown with its stack.' },
  NEARSKY_CACHE_DIR: { help: 'Where the single executable unpacks its files.' },
};
