/** `nearsky export`: the whole content of the database, as lines. */
import { resolve } from 'node:path';
import { messageOf } from '../base/error_text.ts';
import { loadConfig } from '../config/config.ts';
import { oneOf } from '../contract/kind.ts';
import { JOURNAL_ENTRY } from '../documents/kinds.ts';
import { noteChore } from '../store/noting.ts';
import { openStore, type Store } from '../store/store.ts';
import { exportStore } from '../transfer/exporter.ts';
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
} from './cli.ts';

export const command: Command = {
  usage: 'export [--at SEQUENCE] [FILE] | export --format hats [--since SEQUENCE] [--at SEQUENCE] DIR',
  description: `Writes all stored data as newline-delimited JSON, to standard output or to a file (gzipped if its
name ends in .gz): the objects, their crossmatch records, matches and registry associations, and the
TNS registry. The export is a snapshot of one moment and can run beside other commands; the database
file grows meanwhile. After \`nearsky import\` elsewhere, every operation gives the same answers.
The export omits the registered catalogs (their files may be elsewhere), the journal, and rejected
messages.

With --format hats it writes two catalogs in the HATS layout instead, for LSDB, DuckDB, Polars,
Spark and other Parquet readers: DIR/objects and DIR/matches, each a collection of a catalog and its
10 arcsec margin, partitioned by position into even sizes; docs/archive.md describes them. Objects
without a position are in DIR/objects_without_position.parquet. DIR must be missing or empty, and
gets its name only when the export is complete. --since SEQUENCE exports only objects that changed
after that journal entry, and lists the objects that were removed since in DIR/removed_objects.csv;
each export prints its last journal entry.

--at SEQUENCE exports the objects as they were after that journal entry, if the history reaches back
to it (NEARSKY_HISTORY). While the registered catalogs stay the same, the files are the same each
time. Catalogs and the TNS registry have no history: the columns are for the catalogs registered
now, and lines omit the registry.`,
  options: {
    format: { value: 'FORMAT', help: 'lines (the default) or hats' },
    since: { value: 'SEQUENCE', help: 'with --format hats: only objects that changed after this journal entry' },
    at: { value: 'SEQUENCE', help: 'the objects as they were after this journal entry' },
  },
  example: 'nearsky export --data ./data backup.ndjson.gz',
  run,
};

const FORMAT = oneOf(['lines', 'hats']);
const ENTRY = { ...JOURNAL_ENTRY, must: 'a journal entry, 0 or more' };

async function run(invocation: Invocation): Promise<number> {
  if (invocation.value('format', FORMAT) === 'hats') return runHats(invocation);
  if (invocation.options.has('since')) throw new UsageError('--since needs --format hats');
  const [file, ...others] = invocation.positionals;
  if (others.length > 0) throw new UsageError('export takes one file', command);
  if (file === undefined && invocation.flags.has('json')) {
    throw new UsageError('--json needs a FILE, because the lines go to standard output');
  }
  const at = invocation.value('at', ENTRY);
  const counts = await exportLines(invocation, file, at);
  if (file === undefined) return 0;
  await noteExport(invocation, file);
  printResult(invocation, counts, table(Object.entries(counts)));
  return 0;
}

async function runHats(invocation: Invocation): Promise<number> {
  const [target, ...others] = invocation.positionals;
  if (target === undefined || others.length > 0) {
    throw new UsageError('export --format hats takes one directory', command);
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

async function exportLines({ config }: Invocation, file: string | undefined, at: number | undefined) {
  await using store = openStore(config.NEARSKY_DATA, 'read');
  using progress = new Progress();
  requireEntry(store, at);
  const total = at === undefined ? store.entryCount('objects') : store.objectsAt(at);
  const onChunk = ({ object }: { readonly object: number }) =>
    progress.update(() => {
      const pace = progress.pace(object, total, shownCount);
      return `${object} of ${total} objects written${pace && `; ${pace}`}`;
    });
  return await exportStore(store, file, onChunk, at);
}

async function exportTables({ config }: Invocation, target: string, since: number | undefined, at: number | undefined) {
  // Loaded only here: the Parquet writer takes a while to load, and lines do not need it.
  const { exportHats } = await import('../hats_export/hats_exporter.ts');
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

async function noteExport({ config }: Invocation, target: string): Promise<void> {
  const noted = noteChore(config.NEARSKY_DATA, 'export', resolve(target));
  await noted.catch(error => tell(`nearsky export: ${messageOf(error)}`));
}

/** @throws UsageError if the history does not have the entry */
function requireEntry(store: Store, at: number | undefined): void {
  const why = at === undefined ? undefined : store.whyNotInHistory(at);
  if (why !== undefined) throw new UsageError(`--${why}`);
}

/** @throws UsageError if the journal ends before the entry, which then belongs to another archive, or to a lost part */
function requireSince(store: Store, since = 0): void {
  const newest = store.lastSequence();
  if (since <= newest) return;
  throw new UsageError(`--since must be from 0 to ${newest} (got ${since}): the newest journal entry is ${newest}`);
}
