/** `nearsky crossmatch`: crossmatches every pending object once, or crossmatched objects again. */

import {
  type Command,
  type Invocation,
  Progress,
  printResult,
  shownCount,
  TIME,
  table,
  tell,
  UsageError,
} from '../../core/cli/command.ts';
import { openArchive } from '../../core/cluster/open_archive.ts';
import { digits } from '../../core/documents/kinds.ts';
import { requireDatabase } from '../../core/store/environment.ts';
import { noteEvent } from '../../core/store/noting.ts';
import { countPending } from '../../core/store/object_tables.ts';
import { areaIn } from '../catalogs/read_area.ts';
import type { AgainSelection } from './again.ts';
import { MAX_BATCH_SIZE } from './batch_size.ts';
import { countAgain } from './count_again.ts';
import { crossmatchPool } from './crossmatch_pool.ts';
import { type CrossmatchProgress, crossmatchPending, settingsOf } from './crossmatcher.ts';
import type { CrossmatchSummary } from './summary.ts';

export const command: Command = {
  usage: 'crossmatch [--batch N] [--again [--statistics] [--catalog NAME] [--before TIME] [--area FILE]]',
  description: `Crossmatches every pending object once with every registered catalog and exits. It prints counts by
status and by catalog outcome. It can be killed and restarted at any time, also beside a running
server or another crossmatch: the processes share the objects, and unfinished objects of a stopped
process are taken over by the next. If a catalog could not be read for an object, the object is
recorded with that outcome. The next run that can read the catalog crossmatches it again, as a new
version. The exit status is 1 if a catalog has files that cannot be read or used: the messages name
them, and the other catalogs are still searched.

With --again it takes objects whose crossmatch is outdated: made with another radius, without a
registered catalog or with another release of it, with a different use of proper motions, or while a
catalog could not be read. Each gets a new version of its crossmatch in one commit. An object keeps
its last crossmatch if one of its catalogs cannot be read now. A killed run continues when
restarted. stats --again counts these objects.

With --again --statistics it takes the other objects, if their matches lack statistics (such as the
chance probability), for example imported ones. They keep their crossmatches, and get
the statistics.`,
  options: {
    again: { help: 'crossmatch objects whose crossmatch is outdated, instead of pending ones' },
    statistics: {
      help: '--again: only add statistics to matches that lack them; no object is crossmatched',
    },
    catalog: { value: 'NAME', help: '--again: only if the difference concerns this catalog, or the radius' },
    area: {
      value: 'FILE',
      help: '--again: only objects in this area: a MOC, a circle or polygon, or a probability map (its 90% area), as for POST /api/area',
    },
    before: { value: 'TIME', help: '--again: only objects crossmatched before this time, ISO 8601' },
    batch: {
      value: 'N',
      help: `batch size, 1 to ${MAX_BATCH_SIZE} (default: as many objects as fit in an eighth of the free memory)`,
    },
  },
  example: 'nearsky crossmatch --data ./data',
  async run(invocation) {
    const batchSize = invocation.value('batch', digits({ min: 1, max: MAX_BATCH_SIZE }));
    const again = againOf(invocation);
    const { config } = invocation;
    requireDatabase(config.NEARSKY_DATA);
    await using archive = await openArchive(config);
    const { store, writer } = archive;
    await using pool = crossmatchPool(config, config.NEARSKY_WORKERS);
    using progress = new Progress();
    const waiting = again ? countAgain(store, config, again) : countPending(store.databases);
    if (waiting > 0) pool.start();
    const summary = await crossmatchPending({
      store,
      writer,
      pool,
      ...settingsOf(config, store, pool),
      ...(batchSize && { batchSize }),
      ...(again && { again }),
      onProgress: at =>
        progress.update(() => progressText(at, waiting, progress.pace(at.objects, waiting, shownCount))),
    });
    progress.end();
    noteEvent(writer, 'crossmatched', { problems: summary.problems });
    printResult(invocation, summary, describe(summary));
    for (const { catalogName, reason, objects } of summary.problems) {
      tell(`nearsky crossmatch: ${catalogName}, needed for ${objects} objects: ${reason}`);
    }
    const { unreadable, unsearched, problems } = summary;
    if (problems.length === 0) return 0;
    const names = [...new Set(problems.map(({ catalogName }) => catalogName))].join(', ');
    tell(
      `nearsky crossmatch: not all of ${names} could be read. No catalog was searched for ${unsearched} objects, and ${unreadable} keep their last crossmatch: repair the files named above and run it again`,
    );
    return 1;
  },
};

function againOf({ flags, options, value }: Invocation): AgainSelection | undefined {
  const [catalog, before, area] = [options.get('catalog'), options.get('before'), options.get('area')];
  const lackStatistics = flags.has('statistics');
  if (!flags.has('again')) {
    if ((catalog ?? before ?? area) !== undefined || lackStatistics)
      throw new UsageError('--statistics, --catalog, --before and --area require --again');
    return undefined;
  }
  const beforeUs = value('before', TIME);
  return { lackStatistics, catalog, beforeUs, area: area === undefined ? undefined : areaIn(area) };
}

function progressText(
  { objects, files, filesDone, awaited }: CrossmatchProgress,
  waiting: number,
  pace: string,
): string {
  if (awaited > 0) return `${objects} objects done; waiting for ${awaited} in other processes`;
  return `${objects} of ${waiting} objects done; ${pace}; catalog file ${filesDone} of ${files} for the next ones`;
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
    ['unchanged', unreadable],
    ...Object.entries(statuses),
    ...byCatalog,
    ...Object.entries(rowsPassedOver).map(
      ([catalog, rows]) => [`${catalog} rows without position or id`, rows] as const,
    ),
    ['bytes from disk', reads.diskBytes],
    ['bytes received', reads.networkBytes],
    ['requests', `${reads.requests}, including ${reads.retries} retries`],
  ]);
}
