import { formatTime, formatTimeOrNull, nowUs } from '../../core/base/times.ts';
import { type Command, type Invocation, printResult, shownBytes, table } from '../../core/cli/command.ts';
import type { Config } from '../../core/config/config.ts';
import { isSnapshotCurrent } from '../../core/contract/tns_names.ts';
import { claimedIds } from '../../core/store/claims.ts';
import { readCounts, type StoreCounts } from '../../core/store/counts.ts';
import { FORMAT_VERSION } from '../../core/store/environment.ts';
import { readPublished } from '../../core/store/meta.ts';
import { countRegistry, readRegistryEpochUs } from '../../core/store/registry.ts';
import { removalsAfter } from '../../core/store/removals.ts';
import { openStore, type Store } from '../../core/store/store.ts';
import type { PublishedPosition } from '../../core/store/types.ts';
import { type DiskUse, diskUse } from './disk_use.ts';

export const command: Command = {
  usage: 'stats [--again]',
  description: `Prints what is stored: objects by status, matches and search outcomes by catalog, the TNS registry
and its epoch, the length of the journal and the published part of it, the size of the index, and
disk use. It reads stored counters, and can run beside other commands.`,
  options: {
    again: { help: 'also count the objects that crossmatch --again would process; this reads every object' },
  },
  example: 'nearsky stats --data ./data',
  run,
};

interface Stats extends StoreCounts {
  /** The number of objects that `crossmatch --again` would process; undefined if it is not counted. */
  readonly again?: number;
  /** Pending objects that a process is crossmatching now. */
  readonly claimed: number;
  readonly registry: { readonly objects: number; readonly epoch: string | null; readonly current: boolean };
  /** The progress of publication, by topic. */
  readonly published: Readonly<Record<string, PublishedPosition>>;
  /** The last removal of objects; null if there was none. */
  readonly last_removal: { readonly time: string; readonly reason: string } | null;
  readonly disk: DiskUse & {
    /** The bytes of the database that hold no data; later data uses them. */
    readonly reusable: number;
  };
  readonly format: number;
}

async function run(invocation: Invocation): Promise<number> {
  const { config, flags } = invocation;
  await using store = openStore(config.NEARSKY_DATA, 'read');
  // The modules of the crossmatch would take half the time of this command.
  const again = flags.has('again')
    ? { again: (await import('../crossmatch/count_again.ts')).countAgain(store, config) }
    : {};
  const stats = { ...withSurroundings(readCounts(store.databases), store, config), ...again };
  store.requireUndisturbed();
  printResult(invocation, stats, describe(stats));
  return 0;
}

function withSurroundings(counts: StoreCounts, store: Store, config: Config): Stats {
  const epochUs = readRegistryEpochUs(store.databases);
  const [removal] = removalsAfter(store.databases);
  return {
    ...counts,
    claimed: claimedIds(store.databases, store.livePids()).size,
    registry: {
      objects: countRegistry(store.databases),
      epoch: formatTimeOrNull(epochUs),
      current: isSnapshotCurrent(epochUs, nowUs(), config.TNS_SNAPSHOT_MAX_AGE_SECONDS),
    },
    published: Object.fromEntries(readPublished(store.databases)),
    last_removal: removal ? { time: formatTime(removal.timeUs), reason: removal.reason } : null,
    disk: { ...diskUse(config.NEARSKY_DATA), reusable: store.reusableBytes() },
    format: FORMAT_VERSION,
  };
}

function describe({ claimed, again, registry, published, last_removal, disk, format, ...counts }: Stats): string {
  const rows: [string, string | number][] = [['objects', counts.objects]];
  for (const [status, count] of Object.entries(counts.statuses)) rows.push([`  ${status}`, count]);
  if (claimed > 0) rows.push(['  being crossmatched', claimed]);
  if (again !== undefined) rows.push(['  to be crossmatched again', again]);
  for (const [catalog, outcomes] of Object.entries(counts.outcomes)) {
    rows.push([catalog, `${counts.matches[catalog] ?? 0} matches`]);
    for (const [outcome, count] of Object.entries(outcomes)) rows.push([`  ${outcome}`, count]);
  }
  rows.push(['TNS registry', registry.epoch === null ? 'not loaded' : `${registry.objects} objects`]);
  if (registry.epoch !== null) {
    rows.push(['  epoch', `${registry.epoch}${registry.current ? '' : ', too old to resolve names'}`]);
  }
  rows.push(['journal entries', counts.journalEntries]);
  for (const [topic, { sequence, messages }] of Object.entries(published)) {
    rows.push([`  published to ${topic}`, `up to entry ${sequence}, ${messages} messages`]);
  }
  if (last_removal !== null) {
    const { time, reason } = last_removal;
    rows.push(['last removal of objects', `${time}: ${reason}`]);
  }
  rows.push(['on disk', shownBytes(disk.total)]);
  rows.push(['  database', `${shownBytes(disk.database)}, format ${format}`]);
  rows.push(['    free for new data', shownBytes(disk.reusable)]);
  rows.push(['  index', disk.index === 0 ? 'none: nearsky serve builds it' : shownBytes(disk.index)]);
  rows.push(['  rejected messages', shownBytes(disk.rejected)]);
  rows.push(['  remote catalogs', disk.cache === 0 ? 'none' : `${shownBytes(disk.cache)}, a cache`]);
  return table(rows);
}
