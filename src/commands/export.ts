/** `nearsky export`: everything that is stored, as lines. */
import { openStore } from '../store/store.ts';
import { exportStore } from '../transfer/exporter.ts';
import { type Command, type Invocation, Progress, printResult, shownCount, table, UsageError } from './cli.ts';

export const command: Command = {
  usage: 'export [FILE]',
  description: `Writes everything that is stored as newline-delimited JSON, to standard output or to a file (gzipped if its name ends in .gz): the
objects, their crossmatch records, matches and registry associations, and the TNS registry. It is the state of one moment, and may run
beside everything else; the database file grows while it runs. \`nearsky import\` of it elsewhere gives the same answers on every
operation. Not part of it: which catalogs are registered (that depends on where their files are), the journal, and rejected messages.`,
  options: {},
  example: 'nearsky export --data ./data backup.ndjson.gz',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  const [file, ...others] = invocation.positionals;
  if (others.length > 0) throw new UsageError(`export takes one file. Usage: nearsky ${command.usage}`);
  if (file === undefined && invocation.flags.has('json')) {
    throw new UsageError('--json needs a FILE, as standard output is where the lines go');
  }
  const store = openStore(invocation.config.NEARSKY_DATA, 'read');
  const progress = new Progress();
  try {
    const total = store.entryCount('objects');
    const counts = await exportStore(store, file, ({ object }) =>
      progress.update(() => `${object} of ${total} objects written; ${progress.pace(object, total, shownCount)}`),
    );
    progress.end();
    if (file !== undefined) printResult(invocation, counts, table(Object.entries(counts)));
  } finally {
    progress.end();
    await store.close();
  }
  return 0;
}
