/** `nearsky backup`: a consistent copy of the data directory, also while other processes use it. */
import { resolve } from 'node:path';
import { messageOf } from '../../core/base/error_text.ts';
import { type Command, Progress, printResult, shownBytes, table, tell, UsageError } from '../../core/cli/command.ts';
import { noteChore } from '../../core/store/noting.ts';
import { openStore } from '../../core/store/store.ts';
import { backUp } from './backup.ts';

export const command: Command = {
  usage: 'backup DIR',
  description: `Copies the data directory to DIR, which must be missing or empty: a snapshot of the database, and
the rejected messages. Other processes may read and write the data directory meanwhile. The copy is
verified from end to end before DIR appears, so an existing DIR is complete. To restore it, stop
every process that uses the data directory, then pass DIR as --data, or move it to the old place.
The copy needs as much space as the database file.`,
  options: {},
  example: 'nearsky backup --data ./data /backups/nearsky-2026-11-21',
  async run(invocation) {
    const [target, ...others] = invocation.positionals;
    if (target === undefined || others.length > 0) {
      throw new UsageError('backup takes one directory', this);
    }
    const dataDir = invocation.config.NEARSKY_DATA;
    const counts = await copy(dataDir, target);
    await noteChore(dataDir, 'backup', resolve(target)).catch(error => tell(`nearsky backup: ${messageOf(error)}`));
    const { objects, pending, journalEntries, bytes } = counts;
    const text = table([
      ['objects', objects],
      ['  of them pending', pending],
      ['journal entries', journalEntries],
      ['copied', `${shownBytes(bytes)} to ${target}`],
    ]);
    printResult(invocation, { ...counts, directory: target }, text);
    return 0;
  },
};

async function copy(dataDir: string, target: string) {
  await using store = openStore(dataDir, 'read');
  using progress = new Progress();
  return await backUp({ dataDir, store, target, onProgress: text => progress.update(() => text) });
}
