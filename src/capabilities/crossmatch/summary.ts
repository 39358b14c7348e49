/** The results of a run of the crossmatcher. */
import { noReads, type ReadCounts } from '@nearsky/hats';
import { type CrossmatchedStatus, crossmatchedStatus } from '../../core/store/status.ts';
import type { CrossmatchResult, RecordedOutcome } from '../../core/store/types.ts';
import { skippedCatalogs } from '../../core/store/unread.ts';
import type { ReadProblem } from './catalog_search.ts';

/** Numbers of objects; `objects` is the sum of the next three. */
export interface CrossmatchSummary {
  /** Pending objects that this process took. */
  objects: number;
  recorded: number;
  /** Objects that another process crossmatched meanwhile. */
  skipped: number;
  /** Objects that stay as they were, pending or unread, because no further catalog could be read for them. */
  unreadable: number;
  /**
   * Recorded objects that were not searched because no catalog that covers them could be read. The next run tries these
   * objects again.
   */
  unsearched: number;
  /** Objects that were searched and are no longer pending, by status. */
  readonly statuses: Record<CrossmatchedStatus, number>;
  /** Numbers of objects by catalog, then outcome. */
  readonly outcomes: Record<string, Partial<Record<RecordedOutcome, number>>>;
  /** Files that could not be read, each with the objects of all batches that needed it. */
  readonly problems: ReadProblem[];
  readonly reads: ReadCounts;
  /**
   * Rows that cannot be sources, by catalog; catalogs without such rows are left out. A row counts once for each batch
   * that read its file.
   */
  readonly rowsPassedOver: Record<string, number>;
}

export function emptySummary(): CrossmatchSummary {
  return {
    objects: 0,
    recorded: 0,
    skipped: 0,
    unreadable: 0,
    unsearched: 0,
    statuses: { coincident_sources: 0, no_coincident_source: 0, not_searched: 0 },
    outcomes: {},
    problems: [],
    reads: noReads(),
    rowsPassedOver: {},
  };
}

/** Objects with equal outcomes share one record, so that each record is examined once. */
export function addResults(summary: CrossmatchSummary, results: readonly CrossmatchResult[]): void {
  const { statuses, outcomes } = summary;
  for (const [catalogOutcomes, group] of Map.groupBy(results, result => result.catalogOutcomes)) {
    const matched = group.filter(({ matches }) => matches.length > 0).length;
    const unmatched = group.length - matched;
    const status = crossmatchedStatus(false, catalogOutcomes);
    statuses.coincident_sources += matched;
    statuses[status] += unmatched;
    if (status === 'not_searched' && skippedCatalogs({ catalogOutcomes }).size > 0) summary.unsearched += unmatched;
    for (const [catalog, outcome] of catalogOutcomes) {
      const ofCatalog = (outcomes[catalog] ??= {});
      ofCatalog[outcome] = (ofCatalog[outcome] ?? 0) + group.length;
    }
  }
}

export function addProblem({ problems }: CrossmatchSummary, problem: ReadProblem): void {
  const at = problems.findIndex(
    ({ catalogName, reason }) => catalogName === problem.catalogName && reason === problem.reason,
  );
  if (at < 0) problems.push(problem);
  else problems[at] = { ...problem, objects: problems[at]!.objects + problem.objects };
}
