/** `nearsky backup`: a consistent copy of the data directory, also while other processes use it. */
import { backUp } from '../store/backup.ts';
import { openStore } from '../store/store.ts';
import { type Command, Progress, printResult, table, UsageError } from './cli.ts';

export const command: Command = {
  usage: 'backup DIR',
  description: `Copies the data directory to DIR, which must not exist or be empty: the database as it is at one moment, and the rejected messages. Others may
read and write it meanwhile. The copy is read from end to end before DIR appears, so that a DIR that is there is whole. To go back to it, stop
what uses the data directory and give DIR as --data, or put it in its place. It needs as much space as the database file has.`,
  options: {},
  example: 'nearsky backup --data ./data /backups/nearsky-2026-11-21',
  async run(invocation) {
    const [target, ...others] = invocation.positionals;
    if (target === undefined || others.length > 0) {
      throw new UsageError(`backup takes one directory. Usage: nearsky ${this.usage}`);
    }
    const dataDir = invocation.config.NEARSKY_DATA;
    const store = openStore(dataDir, 'read');
    const progress = new Progress();
    try {
      const counts = await backUp({ dataDir, store, target, onProgress: text => progress.update(() => text) });
      progress.end();
      const { objects, pending, journalEntries, bytes } = counts;
      const text = table([
        ['objects', objects],
        ['  of them pending', pending],
        ['journal entries', journalEntries],
        ['copied', `${(bytes / 2 ** 20).toFixed(1)} MiB to ${target}`],
      ]);
      printResult(invocation, { ...counts, directory: target }, text);
      return 0;
    } finally {
      progress.end();
      await store.close();
    }
  },
};
