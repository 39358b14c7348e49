/**
 * The settings of the core: their names, meanings, bounds and defaults; and the other variables that are read from the
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
import { MAX_CROSSMATCH_RADIUS_ARCSEC } from '../contract/limits.ts';
import { PRIOR_COMPLETENESS } from '../contract/position_errors.ts';
import { about, type Setting, type SettingGroup, secret, type ValuesOf } from './setting.ts';
import {
  baseAddress,
  date,
  headerName,
  httpUrl,
  integer,
  kafkaTopic,
  label,
  list,
  name,
  network,
  number,
  oneOf,
  optional,
  origin,
  server,
  subscription,
  text,
  textOr,
  urlTemplate,
  yesNo,
} from './values.ts';

const packageVersion: string = JSON.parse(readFileSync(programFile('package.json'), 'utf8')).version;
const cores = availableParallelism();

const SERVICE = {
  NEARSKY_DATA: about('The data directory: database, index, rejected messages and catalog cache.', text('./data')),
  NEARSKY_HISTORY: about(
    'Keep every former record of an object, so that `at` answers from an earlier state. `as_of` of all answers is then the latest ingest time of the state. `keep` begins with the present state. `remove` deletes the history. `unchanged` continues with the mode of the data directory.',
    oneOf('unchanged', 'keep', 'remove'),
  ),
  NEARSKY_RETENTION_DAYS: about(
    'Days for which an object is kept. `serve` removes objects that were first stored more than this many days before the newest one; null keeps all.',
    optional(integer(365, 1, 36_500)),
  ),
  NEARSKY_HOST: about('The address to listen on.', text('127.0.0.1')),
  NEARSKY_PORT: about('The port to listen on; 0 chooses a free port.', integer(8080, 0, 65535)),
  NEARSKY_WORKERS: about('Threads that answer requests.', integer(Math.min(256, cores), 1, 256), 'one for each core'),
  NEARSKY_WORKER_HEAP_MIB: about(
    'Maximum heap of a thread that answers requests, MiB. A thread that exceeds it is replaced, and its connections close.',
    integer(1024, 32, 65_536),
  ),
  NEARSKY_ANSWER_MEMORY_MIB: about(
    'Memory for long answers, MiB, from writing until the client has read them. A query returns 503 if too little is free for its answer.',
    integer(256, 16, 65_536),
  ),
  NEARSKY_CHILD_MEMORY_MIB: about(
    'Memory of all processes that read tables and areas or run ADQL queries, together, MiB. Beyond it, the process that reads the largest table is ended: its request returns 503, its job runs again.',
    integer(544, 160, 1_048_576),
  ),
  PUBLIC_BASE_URL: about(
    'Public address of the service, for links in answers, documents and pages; null uses the Host header of each request.',
    optional(baseAddress()),
  ),
  TRUSTED_PROXIES: about(
    'Trusted proxies on other machines. Client addresses are accepted only from these and from proxies on this machine.',
    list(network(), []),
  ),
  MCP_CLIENT_IP_HEADER: about(
    "Header in which a trusted proxy sends the client's address. If a request lacks it, Forwarded and X-Forwarded-For are used.",
    headerName('X-Real-Ip'),
  ),
  NEARSKY_MAX_CONNECTIONS: about(
    'Maximum number of simultaneous connections; fewer if the process may open fewer files. Deno cannot read that limit: set a value below it.',
    integer(20_000, 1, 1_000_000),
  ),
  NEARSKY_PLAIN_GETS: about(
    'Read plain GET requests without the HTTP parser of Node, which takes less processor time. The parser reads all others, and all under Deno.',
    yesNo(true),
  ),
  NEARSKY_SLOW_REQUEST_MS: about(
    'Requests that take at least this long, in milliseconds, are logged with their parameters.',
    number(1000, 0, 3_600_000),
  ),
  NEARSKY_LOG_REQUESTS: about('Log every request.', yesNo(false)),
  APP_VERSION: about(
    "The `service_version` in answers. A blank value means this release's version.",
    textOr(packageVersion),
    "this release's version",
  ),
  NEARSKY_MAX_STREAM_AREAS: about(
    'Maximum number of areas that streams follow, of all threads together, half of them for one client; further ones get 503.',
    integer(100, 0, 10_000),
  ),
};

/** Settings of several brokers, with the broker's name as prefix: `LASAIR_TOPICS`. */
type OfBrokers<Name extends string, Suffix extends string, T> = {
  readonly [N in Name as `${Uppercase<N>}_${Suffix}`]: Setting<T>;
};

const settingsOf = <T>(entries: readonly (readonly [name: string, setting: Setting<unknown>])[]): T =>
  Object.fromEntries(entries) as T;

const OBJECT_PAGES = settingsOf<OfBrokers<PagedBroker, 'OBJECT_URL_TEMPLATE', string>>(
  pagedBrokers.map(({ name, title, objectPage }) => [
    brokerSetting(name, 'OBJECT_URL_TEMPLATE'),
    about(
      `The address of ${title}'s page about an object, shown in answers.`,
      urlTemplate(objectPage, '{diaObjectId}'),
    ),
  ]),
);

const DECLARED_CUTS = settingsOf<
  OfBrokers<DeclaringBroker, 'DECLARED_MIN_RELIABILITY', number | null> &
    OfBrokers<DeclaringBroker, 'DECLARED_MIN_RELIABILITY_AS_OF', string | null>
>(
  declaringBrokers.flatMap(({ name, title, declared }) => {
    const value = brokerSetting(name, 'DECLARED_MIN_RELIABILITY');
    const asOf = brokerSetting(name, 'DECLARED_MIN_RELIABILITY_AS_OF');
    const help = {
      value: `The reliability cut of your ${title} filters, shown in the provenance of answers. A value without a date, or null, declares no cut.`,
      asOf: `The date since which ${title} applies that cut. To declare another cut, set both.`,
    };
    return [
      [value, { ...about(help.value, optional(number(0, 0, 1), declared?.minReliability)), defaultsWith: asOf }],
      [asOf, { ...about(help.asOf, optional(date(), declared?.asOf)), defaultsWith: value }],
    ];
  }),
);

const KAFKA_CLUSTERS = settingsOf<
  OfBrokers<KafkaBroker, 'KAFKA_SERVERS' | 'TOPICS', readonly string[]> &
    OfBrokers<KafkaBroker, 'GROUP_ID', string | null>
>(
  kafkaBrokers.flatMap(({ name: broker, title, kafkaServers }) => [
    [
      brokerSetting(broker, 'KAFKA_SERVERS'),
      about(`Bootstrap servers of ${title}'s Kafka cluster.`, list(server(), [...kafkaServers])),
    ],
    [brokerSetting(broker, 'TOPICS'), about(`The topics of your ${title} filters.`, list(name(), []))],
    [
      brokerSetting(broker, 'GROUP_ID'),
      about('The consumer group. Consumers of one group divide the messages among themselves.', optional(name())),
    ],
  ]),
);

/** The brokers whose alerts this service itself filters by reliability. */
const cutHere = BROKERS.filter(({ cut }) => cut === 'service')
  .map(({ title }) => title)
  .join(' and ');

const API = {
  API_REQUEST_BUDGET_SECONDS: about(
    'Time budget of one request. A slower request returns 400 query_too_expensive, or 503 if it waited for more than half of the time.',
    number(5, 0.001, 3600),
  ),
  API_MAX_IDS: about('Maximum number of ids in one lookup.', integer(1000, 1, 100_000)),
  API_MAX_POSITIONS: about('Maximum number of positions and registry names in one lookup.', integer(200, 1, 100_000)),
  API_MAX_TABLE_ROWS: about('Maximum number of rows of a table to crossmatch.', integer(1_000_000, 1, 100_000_000)),
  API_MAX_TABLE_MIB: about('Maximum decompressed size of a table to crossmatch, MiB.', integer(256, 1, 4096)),
  API_TABLE_MEMORY_MIB: about(
    'Memory of each process that reads large tables, MiB. There is one process for requests and one for jobs. A table that needs more is refused.',
    integer(384, 64, 65_536),
  ),
  SPOOL_MAX_MIB: about(
    'Disk space for arriving tables and unread answers of all threads together, MiB. One client can use at most half.',
    integer(4096, 16, 1_048_576),
  ),
  JOBS_MAX: about('Maximum number of stored jobs, including finished ones.', integer(100, 0, 10_000)),
  JOBS_MAX_PER_CLIENT: about(
    'Maximum number of stored jobs per client address. A client gets the same share of the disk space.',
    integer(25, 1, 10_000),
  ),
  JOBS_MAX_MIB: about('Disk space for all jobs together, MiB.', integer(4096, 1, 1_048_576)),
  JOBS_HOURS: about('How long a job and its result are kept.', number(24, 0.01, 8760)),
  JOBS_SECONDS: about('Maximum run time of a job.', integer(3600, 1, 86_400)),
  API_MAX_CONE_RADIUS_ARCSEC: about('Maximum radius of a cone search.', number(60, 0.001, 3600)),
  API_MAX_OBJECTS_PER_POSITION: about(
    'Maximum number of objects listed for one position of a lookup.',
    integer(100, 1, 100_000),
  ),
  API_MAX_OBJECTS_PER_REQUEST: about('Maximum number of objects listed for one lookup.', integer(2000, 1, 100_000)),
  RECENT_CROSSMATCH_DEFAULT_PAGE_SIZE: about(
    'Default page size of recent crossmatches, in objects.',
    integer(1000, 1, 100_000),
  ),
  RECENT_CROSSMATCH_MAX_PAGE_SIZE: about(
    'Maximum page size of recent crossmatches, in objects.',
    integer(10_000, 1, 100_000),
  ),
  RECENT_CROSSMATCH_MAX_WINDOW_HOURS: about('Maximum time window of recent crossmatches.', integer(168, 1, 87_600)),
  // A match's radius is added to it when the index is searched.
  VO_MAX_RADIUS_DEG: about('Maximum radius of a Virtual Observatory cone search, degrees.', number(0.5, 0.0001, 0.98)),
  VO_MAX_RECORDS: about(
    'Maximum number of rows in the answer to a Virtual Observatory cone search.',
    integer(10_000, 1, 100_000),
  ),
  TNS_OBJECT_URL_TEMPLATE: about(
    'The address of the page about a registry object, shown in answers.',
    urlTemplate('https://www.wis-tns.org/object/{name}', '{name}'),
  ),
  ...OBJECT_PAGES,
};

const CROSSMATCH = {
  CROSSMATCH_RADIUS_ARCSEC: about(
    'Maximum separation between an object and a matching catalog source.',
    number(1, 0.001, MAX_CROSSMATCH_RADIUS_ARCSEC),
  ),
  CROSSMATCH_PROPER_MOTION: about(
    'Apply proper motions, where a catalog has them, to compare each source at its position at the time of the event.',
    yesNo(false),
  ),
  MATCH_PRIOR_COMPLETENESS: about(
    'The fraction of objects whose counterpart is in a catalog, as far as is known before the match: the prior of `any_match_probability`. It applies to later crossmatches.',
    number(PRIOR_COMPLETENESS.default, PRIOR_COMPLETENESS.min, PRIOR_COMPLETENESS.max),
  ),
  CROSSMATCH_BATCH_MAX_SIZE: about(
    'The background crossmatch of `serve` starts when this many objects are pending.',
    integer(50_000, 1, 100_000),
  ),
  CROSSMATCH_BATCH_MAX_WAIT_SECONDS: about(
    'The background crossmatch of `serve` starts when an object has been pending this long.',
    number(1, 0, 3600),
  ),
  CROSSMATCH_AGAIN_PER_SECOND: about(
    'The maximum number of objects per second that `serve` crossmatches again after `catalog replace`; 0 disables this.',
    number(100, 0, 100_000),
  ),
  CATALOG_CACHE_MAX_BYTES: about(
    'Maximum size of the cache of remote catalogs in DATA/catalog-cache, bytes; 0 disables the cache.',
    integer(10 * 2 ** 30, 0, 2 ** 50),
  ),
  CATALOG_PRIVATE_REDIRECTS: about(
    'Allow redirects and properties of a remote catalog to lead to other hosts at private, loopback or link-local addresses. The host given to `catalog add` may always have such an address.',
    yesNo(false),
  ),
};

const RELIABILITY = {
  MIN_DIASOURCE_RELIABILITY: about(
    `Messages of ${cutHere} below this reliability, or without a reliability, are dropped. The other brokers' filters apply their own cuts.`,
    number(0.6, 0, 1),
  ),
  ...DECLARED_CUTS,
  TABLE_ORIGIN: about(
    'The name recorded as the broker of objects from a survey table (`ingest --table`).',
    label('table'),
  ),
  REJECTS_MAX_FILES: about(
    'Maximum number of files of rejected messages per broker, of 16 MiB each; the oldest are deleted.',
    integer(20, 1, 100_000),
  ),
};

const CONSUME = {
  ...KAFKA_CLUSTERS,
  ANTARES_KAFKA_TLS: about("Use TLS for connections to ANTARES's Kafka cluster.", yesNo(true)),
  ANTARES_KAFKA_SASL_MECHANISM: about(
    "The SASL mechanism of ANTARES's Kafka cluster.",
    oneOf('PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'),
  ),
  ANTARES_API_BASE_URL: about(
    'Base address for the relative links of a locus. A message with a link to another scheme, host or port is rejected.',
    httpUrl('https://api.antares.noirlab.edu/v1/'),
  ),
  PITTGOOGLE_SUBSCRIPTION: about('Your subscription to the topic `lsst-alerts-json`.', optional(subscription())),
  PUBSUB_ENDPOINT: about('The address of Google Pub/Sub.', origin('https://pubsub.googleapis.com')),
  KAFKA_SESSION_TIMEOUT_SECONDS: about(
    'Grace period before Kafka reassigns the messages of a dead consumer to another one, or to the same one restarted.',
    number(10, 0.5, 1800),
  ),
  KAFKA_GROUP_INSTANCE_ID: about(
    'Name of this consumer, unique among the running consumers of its group. A killed consumer with a name continues at once when restarted; without a name it waits until its old session expires.',
    optional(name()),
  ),
  CONSUME_BATCH_MESSAGES: about(
    'A batch of live messages is stored when it has this many messages.',
    integer(1000, 1, 100_000),
  ),
  CONSUME_BATCH_SECONDS: about(
    'A batch of live messages is stored when its first message has waited this long.',
    number(0.5, 0, 60),
  ),
};

const PUBLISH = {
  PUBLISH_KAFKA_SERVERS: about(
    'Bootstrap servers of the Kafka cluster to which matches are published.',
    list(server(), []),
  ),
  PUBLISH_TOPIC: about('The topic to which matches are published.', optional(name())),
  PUBLISH_WATCHES: about(
    'A JSON file of watches: which matches and objects, in an area, near positions or with filters, are published to further topics.',
    optional(text('')),
  ),
  PUBLISH_KAFKA_TLS: about('Use TLS for connections to that Kafka cluster.', yesNo(true)),
  PUBLISH_KAFKA_SASL_MECHANISM: about(
    'The SASL mechanism of that Kafka cluster. Without credentials nearsky does not authenticate.',
    oneOf('SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN'),
  ),
  PUBLISH_COMPRESSION: about(
    'Compression of each batch of published messages.',
    oneOf('zstd', 'gzip', 'lz4', 'snappy', 'none'),
  ),
  PUBLISH_IMPORTED: about(
    'Also publish crossmatches from `import`. The service that made them may have published them already.',
    yesNo(false),
  ),
};

const NODES = {
  NEARSKY_LOG: about(
    'The log that several nodes share: kafka://HOST:PORT,HOST:PORT/TOPIC, with bootstrap servers of the cluster. Every change of the archive is written to it.',
    optional(kafkaTopic()),
  ),
  NEARSKY_LOG_TLS: about('Use TLS for connections to the cluster of the log.', yesNo(true)),
  NEARSKY_LOG_SASL_MECHANISM: about(
    'The SASL mechanism of the cluster of the log. Without credentials nearsky does not authenticate.',
    oneOf('SCRAM-SHA-512', 'SCRAM-SHA-256', 'PLAIN'),
  ),
  NEARSKY_LOG_MAX_LAG_SECONDS: about(
    'Maximum time a node may lag behind the log, because it is slow or cannot reach Kafka. After that it is not ready (`/readyz` is 503).',
    number(30, 1, 86_400),
  ),
  NEARSKY_STALE_READS: about(
    'Stay ready when the log cannot be read for longer than that, and answer from what this node has. `/readyz` then has `stale` as its status, and answers have the header `X-Log-Lag-Seconds`.',
    yesNo(false),
  ),
  NEARSKY_NODES: about(
    'Addresses of the services of all nodes, such as http://node-1:8080. `node status` compares them, and `node begin` refuses an archive that has less than one of them.',
    list(baseAddress(), []),
  ),
};

const REGISTRY = {
  TNS_MATCH_RADIUS_ARCSEC: about('Maximum separation between an object and its registry entry.', number(1, 0.001, 60)),
  TNS_BOT_ID: about(
    'The id of your bot at the Transient Name Server. `tns refresh` and `serve` use it to update the registry.',
    optional(integer(0, 1, Number.MAX_SAFE_INTEGER)),
  ),
  TNS_BOT_NAME: about('The name of your bot.', optional(text(''))),
  TNS_BOT_API_KEY: secret('The API key of your bot.', optional(text(''))),
  TNS_OBJECTS_BASE_URL: about(
    'Base address of the public files of the TNS.',
    httpUrl('https://www.wis-tns.org/system/files/tns_public_objects/'),
  ),
  TNS_SNAPSHOT_MAX_AGE_SECONDS: about('Maximum age of the registry for name resolution.', integer(7200, 1, 31_536_000)),
};

const SETTINGS = {
  ...SERVICE,
  ...API,
  ...CROSSMATCH,
  ...RELIABILITY,
  ...CONSUME,
  ...PUBLISH,
  ...NODES,
  ...REGISTRY,
};

export type SettingName = keyof typeof SETTINGS;
/**
 * The settings of the core, by the names of the contract (docs/contract.md). Immutable. A capability finds its own in
 * the same object by `OwnSettings.of`.
 */
export interface Config extends ValuesOf<typeof SETTINGS> {}

/** These settings, in the order in which they are shown. */
export const SETTING_GROUPS: readonly SettingGroup[] = [
  { title: 'Service', settings: SERVICE },
  { title: 'Limits and links of the API', settings: API },
  { title: 'Crossmatch and catalogs', settings: CROSSMATCH },
  { title: 'Reliability cuts and rejected messages', settings: RELIABILITY },
  { title: "The brokers' live messages", settings: CONSUME },
  { title: 'The stream of matches', settings: PUBLISH },
  { title: 'Nodes that share one log', settings: NODES },
  { title: 'The registry of transients', settings: REGISTRY },
];

/**
 * A variable that can only be set in the environment: a credential that must not be in a file, or a value for a single
 * process.
 */
export interface EnvironmentVariable {
  readonly help: string;
  readonly secret?: boolean;
}

export const ENVIRONMENT_ONLY: Readonly<Record<string, EnvironmentVariable>> = {
  NEARSKY_CAPABILITIES: {
    help: 'Further capabilities, separated by commas: paths of modules, which begin with . or /, or names of installed packages.',
  },
  ANTARES_API_KEY: { help: 'User name for ANTARES.', secret: true },
  ANTARES_API_SECRET: { help: 'Password for ANTARES.', secret: true },
  PUBLISH_KAFKA_USERNAME: { help: 'User name for the Kafka cluster to publish to.', secret: true },
  PUBLISH_KAFKA_PASSWORD: { help: 'Password for the Kafka cluster to publish to.', secret: true },
  NEARSKY_LOG_USERNAME: { help: "User name for the shared log's Kafka cluster.", secret: true },
  NEARSKY_LOG_PASSWORD: { help: "Password for the shared log's Kafka cluster.", secret: true },
  GOOGLE_APPLICATION_CREDENTIALS: { help: 'Key file that `consume pittgoogle` authenticates with.' },
  PUBSUB_EMULATOR_HOST: { help: "Host and port of Google's Pub/Sub emulator, used instead of Pub/Sub." },
  NEARSKY_DEBUG: { help: 'If not empty, an error that ends a command is shown with its stack.' },
  NEARSKY_CACHE_DIR: {
    help: 'Directory in which compiled code is kept, and into which the single executable unpacks its files.',
  },
};
