/**
 * `nearsky tns load|refresh`: stores the TNS registry, which resolves names and provides the associations of
 * crossmatched objects.
 */
import { statSync } from 'node:fs';
import { parseTime } from '../../core/base/parse_time.ts';
import { formatTime, nowUs } from '../../core/base/times.ts';
import {
  type Command,
  type Invocation,
  Progress,
  printResult,
  shownBytes,
  shownCount,
  table,
  tell,
  UsageError,
} from '../../core/cli/command.ts';
import { openArchive } from '../../core/cluster/open_archive.ts';
import { ConfigError } from '../../core/config/config.ts';
import { textual } from '../../core/contract/kind.ts';
import { isSnapshotCurrent } from '../../core/contract/tns_names.ts';
import type { Store } from '../../core/store/store.ts';
import type { Writer } from '../../core/store/writer.ts';
import { RejectLog } from '../ingest/rejects.ts';
import { BOT_SETTINGS, botOf } from './bot.ts';
import { TnsClient } from './client.ts';
import { RegistryLoader, type RowCounts } from './loader.ts';
import { type OnRead, readPublicPath } from './public_file.ts';
import { refreshRegistry } from './refresh.ts';
import { RegistryError, type TimeSpan } from './registry_file.ts';
import { publishLoad } from './registry_writer.ts';

export const command: Command = {
  usage: 'tns load FILE [--epoch TIME] | tns refresh',
  description: `load: replaces the TNS registry with a public TNS file (.csv, .csv.zip or .csv.gz). The file's first line gives the time of the registry. Use --epoch if the file lacks
that line, or to override it. Rows that are not registry objects are counted by reason and kept in
DATA/rejected. Unusable values in other rows (for example, a redshift that is not a number) are
counted.

refresh: downloads the full file if a newer day's file is available, and the hourly changes since. A
running \`nearsky serve\` with the bot's credentials does so automatically. Otherwise run it once an
hour, some minutes after the hour (cron: 15 * * * *), because names are resolved only with a
registry that is at most two hours old (TNS_SNAPSHOT_MAX_AGE_SECONDS). It needs the bot that you
have registered with the TNS: TNS_BOT_ID, TNS_BOT_NAME and TNS_BOT_API_KEY in the environment. It
waits when the TNS requests it, and retries after errors.

Readers see the old registry until the new one is complete, and keep it if anything fails.`,
  options: {
    epoch: {
      value: 'TIME',
      help: 'load: the time of the registry in the file, ISO 8601, UTC unless it has an offset',
    },
  },
  example: 'nearsky tns load tns_public_objects.csv.zip',
  async run(invocation) {
    const [verb, ...rest] = invocation.positionals;
    if (verb === 'load' && rest.length === 1) return load(invocation, rest[0]!, invocation.value('epoch', PAST_TIME));
    if (verb === 'refresh' && rest.length === 0 && !invocation.options.has('epoch')) return refresh(invocation);
    throw new UsageError('tns takes load FILE or refresh', this);
  },
};

const PAST_TIME = textual('a past ISO 8601 time such as 2026-02-10T00:00:00Z', text => {
  const timeUs = parseTime(text);
  return timeUs !== undefined && timeUs <= nowUs() ? timeUs : undefined;
});

/**
 * @throws RegistryError if the file states no epoch, or one in the future, because such a registry would stay current
 * forever
 */
function epochOfFile(span: TimeSpan | undefined, file: string): number {
  const epochUs = span?.endUs ?? span?.startUs;
  if (epochUs !== undefined && epochUs <= nowUs()) return epochUs;
  const why =
    epochUs === undefined ? 'it does not state its time' : `its time is in the future, ${formatTime(epochUs)}`;
  throw new RegistryError(`Cannot load ${file} because ${why}: give --epoch TIME`);
}

async function load(invocation: Invocation, file: string, given: number | undefined): Promise<number> {
  return withLoader(invocation, async ({ writer, loader, done, reading }) => {
    const { load, epochUs, objects } = await loader.stage(readPublicPath(file, reading(file)), file, span => {
      return given ?? epochOfFile(span, file);
    });
    await publishLoad(writer, load, epochUs);
    done({ epochUs, rows: [['objects', objects]], value: { objects } });
  });
}

async function refresh(invocation: Invocation): Promise<number> {
  const { config } = invocation;
  const bot = botOf(config);
  if (!bot) {
    throw new ConfigError(
      `Cannot refresh the registry because ${BOT_SETTINGS.join(', ')} must be set: register a bot with the TNS, and set its credentials in the environment`,
    );
  }
  const client = new TnsClient({
    baseUrl: config.TNS_OBJECTS_BASE_URL,
    bot,
    onWait: (why, waitMs) => tell(`${why}: retrying in ${Math.ceil(waitMs / 1000)} s`),
  });
  return withLoader(invocation, async ({ store, writer, loader, done }) => {
    const options = { dataDir: config.NEARSKY_DATA, store, writer, client, loader, nowUs: nowUs() };
    const { epochUs, objects, hours, changes, gap } = await refreshRegistry(options);
    const rows: [string, string | number][] = [
      ['objects', objects ?? 'unchanged: there is no newer full file'],
      ['hours of changes', gap === null ? hours : `${hours}, the next is missing: ${gap}`],
      ['changes', changes],
    ];
    done({ epochUs, rows, value: { objects, hours, changes, gap } });
  });
}

interface Loaded {
  readonly epochUs: number;
  readonly rows: readonly (readonly [string, string | number])[];
  readonly value: Readonly<Record<string, unknown>>;
}

interface Workplace {
  readonly store: Store;
  readonly writer: Writer;
  readonly loader: RegistryLoader;
  /** Shows progress by the bytes read of this file from now on. The returned function is called with each piece. */
  reading(file: string): OnRead;
  /** Prints the result. */
  done(loaded: Loaded): void;
}

async function withLoader(invocation: Invocation, use: (workplace: Workplace) => Promise<void>): Promise<number> {
  const { config } = invocation;
  await using archive = await openArchive(config);
  const { store, writer } = archive;
  using rejects = new RejectLog(config, 'tns');
  using progress = new Progress();
  let bytes = 0;
  let total: number | undefined;
  const reading = (file: string) => {
    total = statSync(file, { throwIfNoEntry: false })?.size;
    return (further: number) => {
      bytes += further;
    };
  };
  const onBatch = ({ read, rejected }: RowCounts) =>
    progress.update(() => {
      const pace = progress.pace(bytes, total, shownBytes);
      return `${shownCount(read)} rows read, ${shownCount(rejected)} rejected${pace && `, ${pace}`}`;
    });
  const loader = new RegistryLoader({ writer, rejects, onBatch });
  const done = (loaded: Loaded) => {
    progress.end();
    print(invocation, loaded, loader.counts, rejects);
  };
  await use({ store, writer, loader, reading, done });
  return 0;
}

function print(invocation: Invocation, loaded: Loaded, counts: RowCounts, rejects: RejectLog): void {
  const isCurrent = isSnapshotCurrent(loaded.epochUs, nowUs(), invocation.config.TNS_SNAPSHOT_MAX_AGE_SECONDS);
  const rejectsFile = counts.rejected > 0 ? rejects.path : null;
  const epoch = formatTime(loaded.epochUs);
  const value = { ...loaded.value, epoch, current: isCurrent, ...counts, rejects_file: rejectsFile };
  const text = table([
    ...loaded.rows,
    ['epoch', `${epoch}${isCurrent ? '' : ', too old to resolve names'}`],
    ['rows read', counts.read],
    ['rejected', rejectsFile ? `${counts.rejected}, see ${rejectsFile}` : 0],
    ...Object.entries(counts.reasons).map(([reason, count]): [string, number] => [`  ${reason}`, count]),
    ...Object.entries(counts.notes).map(([what, count]): [string, number] => [what, count]),
  ]);
  printResult(invocation, value, text);
}
