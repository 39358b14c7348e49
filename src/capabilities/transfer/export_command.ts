/** `nearsky export`: the whole content of the database, as lines. */
import {
  type Command,
  type Invocation,
  Progress,
  printResult,
  shownCount,
  table,
  UsageError,
} from '../../core/cli/command.ts';
import { AT, AT_PARAGRAPH, ENTRY, noteExport, requireEntry } from '../../core/cli/exported.ts';
import { countRecords } from '../../core/store/object_tables.ts';
import { openStore } from '../../core/store/store.ts';
import { exportStore } from './exporter.ts';

export const command: Command = {
  usage: 'export [--at SEQUENCE] [FILE]',
  description: `Writes all stored data as newline-delimited JSON, to standard output or to a file (gzipped if its
name ends in .gz): the objects, their crossmatch records, matches and registry associations, and the
TNS registry. The export is a snapshot of one moment and can run beside other commands; the database
file grows meanwhile. After \`nearsky import\` elsewhere, every operation gives the same answers.
The export omits the registered catalogs (their files may be elsewhere), the journal, and rejected
messages.

${AT_PARAGRAPH}`,
  options: { at: AT },
  example: 'nearsky export --data ./data backup.ndjson.gz',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  const [file, ...others] = invocation.positionals;
  if (others.length > 0) throw new UsageError('export takes one file', invocation.command);
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

async function exportLines({ config }: Invocation, file: string | undefined, at: number | undefined) {
  await using store = openStore(config.NEARSKY_DATA, 'read');
  using progress = new Progress();
  requireEntry(store, at);
  const total = at === undefined ? countRecords(store.databases) : store.at(at).countObjects();
  const onChunk = ({ object }: { readonly object: number }) =>
    progress.update(() => {
      const pace = progress.pace(object, total, shownCount);
      return `${object} of ${total} objects written${pace && `; ${pace}`}`;
    });
  return await exportStore(store, file, onChunk, store.snapshot(at));
}
