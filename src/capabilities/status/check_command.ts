/** `nearsky check`: checks the whole database for damage. */

import { type Command, Progress, printResult, table } from '../../core/cli/command.ts';
import { checkDirectory } from './check.ts';

export const command: Command = {
  usage: 'check',
  description: `Reads the database from end to end and checks it: its pages, the checksum of every value, and all
derived data (the journal's digests, the positions, the listings by time, the registry's names, the
counts). It can run beside other commands. The exit status is 1 if it finds a
fault; then restore a backup.`,
  options: {},
  example: 'nearsky check --data ./data',
  async run(invocation) {
    using progress = new Progress();
    const report = await checkDirectory(invocation.config.NEARSKY_DATA, text => progress.update(() => text));
    progress.end();
    const { faults, more, objects, pending, journalEntries } = report;
    const lines = [...faults, ...(more > 0 ? [`and ${more} more faults`] : [])];
    const counts = table([
      ['objects', objects],
      ['  of them pending', pending],
      ['journal entries', journalEntries],
    ]);
    const isWhole = lines.length === 0;
    printResult(invocation, report, isWhole ? `${counts}\nThe database is whole.` : lines.join('\n'));
    return isWhole ? 0 : 1;
  },
};
