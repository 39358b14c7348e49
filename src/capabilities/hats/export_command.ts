/** `nearsky export --format hats`: the archive as HATS catalogs. */
import {
  type Command,
  type Invocation,
  Progress,
  printResult,
  shownBytes,
  shownCount,
  table,
  UsageError,
} from '../../core/cli/command.ts';
import { AT, AT_PARAGRAPH, ENTRY, noteExport, requireEntry } from '../../core/cli/exported.ts';
import { loadConfig } from '../../core/config/config.ts';
import { openStore, type Store } from '../../core/store/store.ts';

export const command: Command = {
  usage: 'export --format hats [--since SEQUENCE] [--at SEQUENCE] DIR',
  description: `With --format hats it writes two catalogs in the HATS layout instead, for LSDB, DuckDB, Polars,
Spark and other Parquet readers: DIR/objects and DIR/matches, each a collection of a catalog and its
10 arcsec margin, partitioned by position into even sizes; docs/archive.md describes them. Objects
without a position are in DIR/objects_without_position.parquet. DIR must be missing or empty, and
gets its name only when the export is complete. --since SEQUENCE exports only objects that changed
after that journal entry, and lists the objects that were removed since in DIR/removed_objects.csv;
each export prints its last journal entry.

${AT_PARAGRAPH}`,
  options: {
    since: { value: 'SEQUENCE', help: 'with --format hats: only objects that changed after this journal entry' },
    at: AT,
  },
  example: 'nearsky export --data ./data --format hats ./archive',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  const [target, ...others] = invocation.positionals;
  if (target === undefined || others.length > 0) {
    throw new UsageError('export --format hats takes one directory', invocation.command);
  }
  const [since, at] = [invocation.value('since', ENTRY), invocation.value('at', ENTRY)];
  if (since !== undefined && at !== undefined && since > at)
    throw new UsageError(`--since must be at most --at (${since} and ${at} were given)`);
  const counts = await exportTables(invocation, target, since, at);
  await noteExport(invocation, target);
  const { sequence, objects, matches, partitions, withoutPosition, withoutPositionFile, bytes } = counts;
  const { removed, removedFile } = counts;
  const text = table([
    ['objects', objects],
    ['  of them without a position', withoutPosition === 0 ? 0 : `${withoutPosition}, in ${withoutPositionFile}`],
    ['matches', matches],
    ...(removedFile === null ? [] : [['removed since', `${removed}, in ${removedFile}`] as const]),
    ['partitions', partitions],
    ['written', `${shownBytes(bytes)} to ${target}`],
    ['up to journal entry', sequence],
  ]);
  printResult(invocation, { ...counts, directory: target }, text);
  return 0;
}

async function exportTables({ config }: Invocation, target: string, since: number | undefined, at: number | undefined) {
  // Loaded only here: the Parquet writer takes a while to load, and lines do not need it.
  const { exportHats } = await import('./hats_exporter.ts');
  await using store = openStore(config.NEARSKY_DATA, 'read');
  using progress = new Progress();
  requireEntry(store, at);
  requireSince(store, since);
  return await exportHats({
    dataDir: config.NEARSKY_DATA,
    store,
    target,
    builder: `nearsky ${loadConfig().APP_VERSION}`,
    ...(since !== undefined && { since }),
    ...(at !== undefined && { at }),
    onProgress: (rows, total) =>
      progress.update(() => {
        const of = total === undefined ? '' : ` of ${total}`;
        return `${rows}${of} rows read or written; ${progress.pace(rows, total, shownCount)}`;
      }),
  });
}

/** @throws UsageError if the journal ends before the entry, which then belongs to another archive, or to a lost part */
function requireSince(store: Store, since = 0): void {
  const newest = store.lastSequence();
  if (since <= newest) return;
  throw new UsageError(`--since must be from 0 to ${newest} (got ${since}): the newest journal entry is ${newest}`);
}
