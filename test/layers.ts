/**
 * The layers of the tests, by the names of their files:
 *
 * | name | command | what it may need |
 * |---|---|---|
 * | `X.test.ts` | `npm test` | what `npm ci` installs; neighbours share a process |
 * | `X.system.test.ts` | `npm run test:system` | commands as a user runs them, clients, and programs of other projects |
 * | `X.campaign.test.ts` | `npm run campaign` | minutes; a variable sets how many faults, kills or cases |
 */
import { globSync } from 'node:fs';

export const LAYERS = ['test', 'system', 'campaign'] as const;
export type Layer = (typeof LAYERS)[number];

export interface Campaign {
  readonly what: string;
  /** Its files are those whose path contains one of these words. */
  readonly words: readonly string[];
  /** The variables of its large run; without them it is small enough for CI. */
  readonly large: Readonly<Record<string, string>>;
}

export const CAMPAIGNS: Readonly<Record<string, Campaign>> = {
  kills: {
    what: 'kill -9 of each command at random moments',
    words: ['/kill'],
    large: { TEST_KILLS: '100', TEST_MINUTES: '600' },
  },
  nodes: {
    what: 'nodes, Kafka servers and balancer under kills, wrong clocks, cut networks, full and damaged disks',
    words: ['e2e/nodes'],
    large: {
      TEST_KILLS: '20',
      CAMPAIGN_KILLS: '100',
      CAMPAIGN_FAULTS: '400',
      TEST_REMOVED: '20000',
      TEST_MINUTES: '600',
    },
  },
  faults: {
    what: 'each system call of each command fails, once or from then on',
    words: ['faults/inject'],
    large: { TEST_FAULTS: 'all', TEST_MINUTES: '600' },
  },
  power: {
    what: 'the power is cut at any moment of each command',
    words: ['faults/power'],
    large: { TEST_POWER_CUTS: '250', TEST_MINUTES: '600' },
  },
  disks: {
    what: 'the disk is full, or becomes full',
    words: ['faults/full_disk'],
    large: { TEST_FULL_DISKS: '100', TEST_MINUTES: '600' },
  },
  fuzz: {
    what: 'mutations of a corpus, for the readers of untrusted input',
    words: ['fuzz/'],
    large: { TEST_FUZZ_MINUTES: '60' },
  },
  neighbours: {
    what: 'hostile requests, tables and queries, beside a client with small requests',
    words: ['neighbour/', 'adql/hungry'],
    large: {
      ATTACK_SECONDS: '8',
      FLOOD_SECONDS: '600',
      TEST_HOSTILE_JOBS: '100',
      TEST_KILLS: '20',
      TEST_MINUTES: '60',
    },
  },
  soak: {
    what: 'nights of alerts, tables that follow them, and many readers of the streams',
    words: ['report/nights', 'adql/live', 'readers'],
    large: {
      TEST_NIGHTS: '5',
      TEST_ALERTS: '200000',
      TEST_KILLS: '50',
      TAP_ANSWERS: '1000',
      TAP_ALERTS: '1000',
      TEST_READERS: '1000',
      TEST_AREA_READERS: '1000',
      TEST_MINUTES: '600',
    },
  },
};

/** About as many files share a process: each process loads the modules and compiles the hot ones anew. */
const FILES = 24;

/** All test files, as paths below `directory`. */
export function testFiles(directory: string): string[] {
  return globSync('**/*.test.ts', { cwd: directory, exclude: ['**/node_modules'] }).sort();
}

export function layerOf(file: string): Layer {
  return (/\.(system|campaign)\.test\.ts$/.exec(file)?.[1] as Layer | undefined) ?? 'test';
}

/**
 * Milliseconds after which a file has hung.
 * @param variables those with which it runs; TEST_MINUTES, or half of it in `npm test`, is the limit
 */
export function limitMs(file: string, variables: Readonly<Record<string, string | undefined>>): number {
  const minutes = Number(variables.TEST_MINUTES ?? 10 + 2 * Number(variables.TEST_FUZZ_MINUTES ?? 0));
  return minutes * (layerOf(file) === 'test' ? 30_000 : 60_000);
}

/** Assumed for a file that has not run here yet. */
const ASSUMED: Readonly<Record<Layer, number>> = { test: 1, system: 8, campaign: 30 };
/** Seconds of the longest, on two cores. */
const LONGEST: Readonly<Record<string, number>> = {
  'capabilities/adql/earlier.system.test.ts': 65,
  'capabilities/adql/hungry.campaign.test.ts': 110,
  'capabilities/adql/sources.system.test.ts': 75,
  'capabilities/crossmatch/background.test.ts': 15,
  'capabilities/crossmatch/remote.test.ts': 10,
  'capabilities/hats/hats_export.test.ts': 9,
  'capabilities/pages/browser.system.test.ts': 215,
  'capabilities/streams/stream_matches.test.ts': 13,
  'capabilities/table_match/crossmatch_table.test.ts': 14,
  'capabilities/uploads/reading_processes.test.ts': 30,
  'commands/ask.system.test.ts': 35,
  'core/generations/indexer.test.ts': 18,
  'core/http/log_place.test.ts': 14,
  'core/server/http_server.test.ts': 20,
  'docs/nodes.system.test.ts': 90,
  'e2e/binary.system.test.ts': 50,
  'e2e/kill_registry.campaign.test.ts': 80,
  'e2e/kill_together.campaign.test.ts': 65,
  'e2e/nodes.campaign.test.ts': 95,
  'e2e/nodes_faults.campaign.test.ts': 65,
  'e2e/nodes_lost_topic.campaign.test.ts': 60,
  'e2e/nodes_removed.campaign.test.ts': 90,
  'faults/inject.campaign.test.ts': 65,
  'fuzz/fuzz.campaign.test.ts': 80,
  'hats/remote.test.ts': 13,
  'install/npm.system.test.ts': 65,
  'more_cases.system.test.ts': 100,
  'neighbour/attacks.campaign.test.ts': 90,
};

/**
 * Files of the layers `system` and `campaign` that wait for half of their time, for other programs or for deadlines.
 * One of them runs beside two others.
 */
const WAITING: ReadonlySet<string> = new Set([
  'capabilities/adql/engine_hangs.system.test.ts',
  'capabilities/adql/live.campaign.test.ts',
  'capabilities/adql/slow_reader.system.test.ts',
  'capabilities/consume/command.system.test.ts',
  'capabilities/consume/kafka.system.test.ts',
  'capabilities/names/background.system.test.ts',
  'capabilities/pages/browser.system.test.ts',
  'capabilities/publish/kill_publish.campaign.test.ts',
  'capabilities/report/nights.campaign.test.ts',
  'capabilities/streams/stream_readers.campaign.test.ts',
  'core/cluster/election.system.test.ts',
  'core/cluster/kafka_log.system.test.ts',
  'core/http/every_page_size.system.test.ts',
  'core/server/stalled_writer.system.test.ts',
  'deploy/haproxy.system.test.ts',
  'docs/gravitational_wave.system.test.ts',
  'docs/nodes.system.test.ts',
  'e2e/kill_consume.campaign.test.ts',
  'e2e/kill_registry.campaign.test.ts',
  'e2e/kill_together.campaign.test.ts',
  'e2e/remote_catalog.system.test.ts',
  'e2e/stop.system.test.ts',
  'faults/power.campaign.test.ts',
  'run.system.test.ts',
]);

export function isWaiting(file: string): boolean {
  return WAITING.has(file);
}

export function assumedSeconds(file: string): number {
  return LONGEST[file] ?? ASSUMED[layerOf(file)];
}

/**
 * The files that share a process: neighbours in `npm test`, mostly of one room, else each alone. They do not depend on
 * measured times, so that a test that another one disturbs fails everywhere.
 */
export function batchesOf(files: readonly string[]): string[][] {
  const shared = files.filter(file => layerOf(file) === 'test');
  const count = Math.ceil(shared.length / FILES);
  const size = Math.ceil(shared.length / count);
  const batches = Array.from({ length: count }, (_, i) => shared.slice(i * size, (i + 1) * size));
  return [...batches, ...files.filter(file => layerOf(file) !== 'test').map(file => [file])];
}
