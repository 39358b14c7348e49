/** `nearsky crossmatch`: every pending object once. */
import { MAX_BATCH_SIZE } from '../crossmatch/batch_size.ts';
import { type CrossmatchProgress, crossmatchPending } from '../crossmatch/crossmatcher.ts';
import { crossmatchPool } from '../crossmatch/pool.ts';
import { provenanceSetOf } from '../crossmatch/provenance.ts';
import type { CrossmatchSummary } from '../crossmatch/summary.ts';
import { openStore, requireDatabase } from '../store/store.ts';
import { Writer } from '../store/writer.ts';
import { associatorOf } from '../tns/association.ts';
import { type Command, Progress, printResult, shownCount, table, tell, UsageError } from './cli.ts';

export const command: Command = {
  usage: 'crossmatch [--batch N]',
  description: [
    'Crossmatches every pending object once with every registered catalog and exits; prints counts by status and by catalog outcome.',
    'May be killed and run again at any time, also beside a running server or another crossmatch: they share the objects between them,',
    'and what one has begun and not finished when it ends is taken up by the next. An object for which a catalog could not be read is recorded',
    'with that outcome and crossmatched again, as a new version, by the next run that can read it. The exit status is 1 when none of the',
    'catalogs that cover an object could be read, or one is not what it was when it was added; then the object stays pending.',
  ].join('\n'),
  options: {
    batch: {
      value: 'N',
      help: `objects that are searched together, 1 to ${MAX_BATCH_SIZE} (default: as many as an eighth of the free memory holds)`,
    },
  },
  example: 'nearsky crossmatch --data ./data',
  async run(invocation) {
    if (invocation.positionals.length > 0)
      throw new UsageError(`crossmatch takes no arguments. Usage: nearsky ${this.usage}`);
    const batchSize = batchSizeOf(invocation.options.get('batch'));
    const { config } = invocation;
    requireDatabase(config.NEARSKY_DATA);
    const store = openStore(config.NEARSKY_DATA, 'write');
    const pool = crossmatchPool(config, config.NEARSKY_WORKERS);
    const progress = new Progress();
    const pending = store.pendingCount();
    if (pending > 0) pool.start();
    try {
      const summary = await crossmatchPending({
        store,
        writer: new Writer(store),
        pool,
        provenance: () => provenanceSetOf(config),
        associator: associatorOf(store, pool, config),
        ...(batchSize && { batchSize }),
        onProgress: at =>
          progress.update(() => progressText(at, pending, progress.pace(at.objects, pending, shownCount))),
      });
      progress.end();
      printResult(invocation, summary, describe(summary));
      for (const { catalogName, reason, objects } of summary.problems) {
        tell(`nearsky crossmatch: ${catalogName}, wanted for ${objects} objects: ${reason}`);
      }
      const { unreadable, unsearched } = summary;
      if (unreadable + unsearched === 0) return 0;
      tell(
        `nearsky crossmatch: ${unsearched} objects were not searched and ${unreadable} stay as they were: mend the files named above and run it again`,
      );
      return 1;
    } finally {
      await pool.close();
      await store.close();
    }
  },
};

function batchSizeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const size = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (size >= 1 && size <= MAX_BATCH_SIZE) return size;
  throw new UsageError(`--batch must be an integer from 1 to ${MAX_BATCH_SIZE} (${text} was given)`);
}

function progressText(
  { objects, files, filesDone, awaited }: CrossmatchProgress,
  pending: number,
  pace: string,
): string {
  if (awaited > 0) return `${objects} objects done; waiting for ${awaited} that another process crossmatches`;
  return `${objects} of ${pending} objects done; ${pace}; catalog file ${filesDone} of ${files} for the next ones`;
}

function describe(summary: CrossmatchSummary): string {
  const { objects, recorded, skipped, unreadable, statuses, outcomes, reads, rowsPassedOver } = summary;
  const byCatalog = Object.entries(outcomes).flatMap(([catalog, counts]) =>
    Object.entries(counts).map(([outcome, count]) => [`${catalog} ${outcome}`, count] as const),
  );
  return table([
    ['objects', objects],
    ['recorded', recorded],
    ['crossmatched by another process', skipped],
    ['stay as they were', unreadable],
    ...Object.entries(statuses),
    ...byCatalog,
    ...Object.entries(rowsPassedOver).map(
      ([catalog, rows]) => [`${catalog} rows without position or id`, rows] as const,
    ),
    ['bytes from disk', reads.diskBytes],
    ['bytes received', reads.networkBytes],
    ['requests', `${reads.requests}, ${reads.retries} of them again after a failure`],
  ]);
}
