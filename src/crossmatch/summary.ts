/** What a run of the crossmatcher came to. */
import { noReads, type ReadCounts } from '../catalogs/catalog_files.ts';
import { type CrossmatchedStatus, crossmatchedStatus } from '../store/status.ts';
import type { CrossmatchResult, RecordedOutcome } from '../store/types.ts';
import { skippedCatalogs } from '../store/unread.ts';
import type { ReadProblem } from './search.ts';

/** Counts are of objects; `objects` is the sum of the next three. */
export interface CrossmatchSummary {
  /** Pending objects that were taken. */
  objects: number;
  recorded: number;
  /** Crossmatched by another process meanwhile. */
  skipped: number;
  /** Left as they were, pending or unread, because none of the catalogs that are wanted for them could be read, or one is unusable. */
  unreadable: number;
  /** Of the recorded ones: not searched because no catalog that covers them could be read. They are tried again by the next run. */
  unsearched: number;
  /** Of the objects that were searched for and not left pending. */
  readonly statuses: Record<CrossmatchedStatus, number>;
  /** By catalog, then outcome. */
  readonly outcomes: Record<string, Partial<Record<RecordedOutcome, number>>>;
  /** What could not be read, each with the objects of all batches that it was wanted for. */
  readonly problems: ReadProblem[];
  readonly reads: ReadCounts;
  /** By catalog, where there are any: rows of the files that were read which can be no source, once for each batch that read them. */
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

export function addResult(summary: CrossmatchSummary, result: CrossmatchResult): void {
  const { statuses, outcomes } = summary;
  const { catalogOutcomes, matches } = result;
  const status = crossmatchedStatus(matches.length > 0, catalogOutcomes);
  statuses[status]++;
  if (status === 'not_searched' && skippedCatalogs(result).size > 0) summary.unsearched++;
  for (const [catalog, outcome] of catalogOutcomes) {
    const ofCatalog = (outcomes[catalog] ??= {});
    ofCatalog[outcome] = (ofCatalog[outcome] ?? 0) + 1;
  }
}

export function addProblem({ problems }: CrossmatchSummary, problem: ReadProblem): void {
  const at = problems.findIndex(
    ({ catalogName, reason }) => catalogName === problem.catalogName && reason === problem.reason,
  );
  if (at < 0) problems.push(problem);
  else problems[at] = { ...problem, objects: problems[at]!.objects + problem.objects };
}
