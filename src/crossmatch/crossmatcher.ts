/**
 * Pending objects to recorded crossmatches: batch by batch, each batch one commit, so it may be killed or run beside
 * another at any moment.
 */
import type { Pool } from '../../workers/pool.ts';
import { nowUs } from '../../workers/times.ts';
import { CATALOGS } from '../catalogs/definitions.ts';
import { CatalogError } from '../catalogs/errors.ts';
import { addReads, noReads, type ReadCounts } from '../catalogs/files.ts';
import type { CatalogRegistration } from '../catalogs/types.ts';
import { type CrossmatchedStatus, crossmatchedStatus } from '../store/status.ts';
import type { Store } from '../store/store.ts';
import type { CrossmatchResult, ProvenanceSet, RecordedOutcome, StoredObject } from '../store/types.ts';
import type { Writer } from '../store/writer.ts';
import { openCatalog, type PlannedCatalog } from './plan.ts';
import { CatalogSearch, type ReadProblem } from './search.ts';

/** Objects a batch: they share the reading of a partition, and their results are held in memory until the commit. */
export const DEFAULT_BATCH_SIZE = 10_000;
/** More would not share much more and hold the write lock of the commit for seconds. */
export const MAX_BATCH_SIZE = 100_000;

export interface CrossmatchOptions {
  readonly store: Store;
  readonly writer: Writer;
  readonly pool: Pool;
  /** Asked once a batch; its radius is the one that is searched. */
  readonly provenance: () => ProvenanceSet;
  /** 1 to MAX_BATCH_SIZE; default DEFAULT_BATCH_SIZE. */
  readonly batchSize?: number;
  /**
   * When it fires, the batch in hand is dropped (its objects stay pending) and the call rejects with the signal's
   * reason.
   */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CrossmatchProgress) => void;
}

export interface CrossmatchProgress {
  /** Objects of the batches that are done. */
  readonly objects: number;
  /** Of the batch in hand. */
  readonly files: number;
  readonly filesDone: number;
}

/** What a run came to. Counts are of objects. */
export interface CrossmatchSummary {
  /** Pending objects that were taken. */
  objects: number;
  recorded: number;
  /** Crossmatched by another process meanwhile. */
  skipped: number;
  /** Left pending, as none of the catalogs that should have been searched for them could be read, or one is unusable. */
  unreadable: number;
  /** Of the objects that were taken and not left pending. */
  readonly statuses: Record<CrossmatchedStatus, number>;
  /** By catalog, then outcome. */
  readonly outcomes: Record<string, Partial<Record<RecordedOutcome, number>>>;
  /** What could not be read, each with the objects of all batches that it was wanted for. */
  readonly problems: ReadProblem[];
  readonly reads: ReadCounts;
}

/**
 * Crossmatches every object that is pending now or becomes so ahead of the walk by ascending id, each once, with every
 * registered catalog.
 * @throws CatalogError when no catalog is registered; StoreError; PoolError;
 * the signal's reason
 */
export async function crossmatchPending(options: CrossmatchOptions): Promise<CrossmatchSummary> {
  const { store, batchSize = DEFAULT_BATCH_SIZE } = options;
  const summary: CrossmatchSummary = {
    objects: 0,
    recorded: 0,
    skipped: 0,
    unreadable: 0,
    statuses: { coincident_sources: 0, no_coincident_source: 0, not_searched: 0 },
    outcomes: {},
    problems: [],
    reads: noReads(),
  };
  const catalogs = new OpenCatalogs(store);
  for (let after: bigint | undefined; ; ) {
    const registered = catalogs.current();
    const ids = store.pendingIds(batchSize, after);
    if (ids.length === 0) return summary;
    const objects = ids.map(id => store.getObject(id)).filter(object => object !== undefined);
    await crossmatchBatch(objects, registered, options, summary);
    after = ids.at(-1);
  }
}

/** The registered catalogs in the service's order; each is opened again only when it was registered again. */
class OpenCatalogs {
  readonly #store: Store;
  readonly #open = new Map<string, PlannedCatalog>();

  constructor(store: Store) {
    this.#store = store;
  }

  current(): PlannedCatalog[] {
    const stored = new Map(this.#store.catalogs().map(registration => [registration.name, registration]));
    if (stored.size === 0) {
      throw new CatalogError(
        'Cannot crossmatch as no catalog is registered: add one with nearsky catalog add NAME LOCATION',
      );
    }
    return CATALOGS.flatMap(({ name }) => stored.get(name) ?? []).map(registration => this.#opened(registration));
  }

  #opened(registration: CatalogRegistration): PlannedCatalog {
    const known = this.#open.get(registration.name);
    if (known && known.registration.addedAtUs === registration.addedAtUs) return known;
    const opened = openCatalog(registration);
    this.#open.set(registration.name, opened);
    return opened;
  }
}

async function crossmatchBatch(
  objects: readonly StoredObject[],
  catalogs: readonly PlannedCatalog[],
  options: CrossmatchOptions,
  summary: CrossmatchSummary,
): Promise<void> {
  const provenance = options.provenance();
  const radiusArcsec = provenance.crossmatch_radius_arcsec;
  if (radiusArcsec === null) throw new RangeError('Cannot crossmatch as the settings have no crossmatch radius');
  const positions = objects.flatMap(({ position }) => position ?? []);
  const ra = Float64Array.from(positions, position => position.ra);
  const dec = Float64Array.from(positions, position => position.dec);
  const searches = catalogs.map(catalog => new CatalogSearch(catalog, ra, dec, radiusArcsec));
  await searchAll(searches, options, summary.objects);
  options.signal?.throwIfAborted();

  const results: CrossmatchResult[] = [];
  let positioned = 0;
  for (const object of objects) {
    const result = resultOf(object, object.position ? positioned++ : undefined, searches);
    if (result) results.push(result);
  }
  const counts = await options.writer.recordCrossmatches(results, provenance, nowUs());
  summary.objects += objects.length;
  summary.recorded += counts.recorded;
  summary.skipped += counts.skipped;
  summary.unreadable += objects.length - results.length;
  for (const { problems, reads } of searches) {
    for (const problem of problems) addProblem(summary.problems, problem);
    addReads(summary.reads, reads);
  }
  for (const result of results) count(summary, result);
}

/**
 * Every file of every catalog that is wanted, once, a few at a time: enough to keep the pool busy, so that what waits
 * holds no memory.
 */
async function searchAll(
  searches: readonly CatalogSearch[],
  options: CrossmatchOptions,
  objects: number,
): Promise<void> {
  const { pool, signal, onProgress } = options;
  const work = searches.flatMap(catalog => catalog.searches.map(search => ({ catalog, search })));
  let next = 0;
  let filesDone = 0;
  const lane = async () => {
    while (next < work.length) {
      signal?.throwIfAborted();
      const { catalog, search } = work[next++]!;
      catalog.take(search, await pool.run(catalog.task(search), signal ? { signal } : {}));
      onProgress?.({ objects, files: work.length, filesDone: ++filesDone });
    }
  };
  const stopped = (error: unknown) => {
    next = work.length;
    throw error;
  };
  const lanes = Array.from({ length: pool.threads * (pool.tasksPerThread + 1) }, () => lane().catch(stopped));
  const failed = (await Promise.allSettled(lanes)).find(result => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * The outcome of one object, or undefined where it must stay pending. `ordinal` is undefined for an object without a
 * position.
 */
function resultOf(
  { diaObjectId }: StoredObject,
  ordinal: number | undefined,
  searches: readonly CatalogSearch[],
): CrossmatchResult | undefined {
  const catalogOutcomes: (readonly [string, RecordedOutcome])[] = [];
  for (const search of searches) {
    const outcome = ordinal === undefined ? 'not_searched_invalid_position' : search.outcome(ordinal);
    if (outcome === undefined) return undefined;
    catalogOutcomes.push([search.name, outcome]);
  }
  const outcomes = new Set(catalogOutcomes.map(([, outcome]) => outcome));
  if (outcomes.has('skipped_read_failure') && !outcomes.has('searched')) return undefined;
  const matches = ordinal === undefined ? [] : searches.flatMap(search => search.match(ordinal) ?? []);
  return { diaObjectId, catalogOutcomes, matches };
}

function count({ statuses, outcomes }: CrossmatchSummary, { catalogOutcomes, matches }: CrossmatchResult): void {
  statuses[crossmatchedStatus(matches.length > 0, catalogOutcomes)]++;
  for (const [catalog, outcome] of catalogOutcomes) {
    const ofCatalog = (outcomes[catalog] ??= {});
    ofCatalog[outcome] = (ofCatalog[outcome] ?? 0) + 1;
  }
}

function addProblem(problems: ReadProblem[], problem: ReadProblem): void {
  const at = problems.findIndex(
    ({ catalogName, reason }) => catalogName === problem.catalogName && reason === problem.reason,
  );
  if (at < 0) problems.push(problem);
  else problems[at] = { ...problem, objects: problems[at]!.objects + problem.objects };
}
