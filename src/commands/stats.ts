import { openStore, type StoreCounts } from '../store/store.ts';
import { type Command, type Invocation, printResult, table, UsageError } from './cli.ts';

export const command: Command = {
  usage: 'stats',
  description:
    'Shows what is stored: objects by status, matches and search outcomes by catalog, the length of the journal, disk use.',
  options: {},
  example: 'nearsky stats --data ./data',
  run,
};

async function run(invocation: Invocation): Promise<number> {
  if (invocation.positionals.length > 0)
    throw new UsageError(`stats takes no arguments. Usage: nearsky ${command.usage}`);
  const store = openStore(invocation.config.NEARSKY_DATA, 'read');
  try {
    const counts = store.counts();
    printResult(invocation, counts, describe(counts));
    return 0;
  } finally {
    await store.close();
  }
}

function describe(counts: StoreCounts): string {
  const rows: [string, string | number][] = [['objects', counts.objects]];
  for (const [status, count] of Object.entries(counts.statuses)) rows.push([`  ${status}`, count]);
  for (const [catalog, outcomes] of Object.entries(counts.outcomes)) {
    rows.push([catalog, `${counts.matches[catalog] ?? 0} matches`]);
    for (const [outcome, count] of Object.entries(outcomes)) rows.push([`  ${outcome}`, count]);
  }
  rows.push(['journal entries', counts.journalEntries]);
  rows.push(['on disk', `${(counts.diskBytes / 2 ** 20).toFixed(1)} MiB`]);
  return table(rows);
}
