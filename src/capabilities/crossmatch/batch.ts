/**
 * Searches one batch of objects in every catalog. An object's result is recorded as soon as every file that the object
 * needs has been searched.
 */
import { setImmediate as immediate } from 'node:timers/promises';
import { eachConcurrently } from '../../core/base/concurrency.ts';
import type { Pool } from '../../core/pool/pool.ts';
import type {
  CrossmatchRecord,
  CrossmatchResult,
  RecordedOutcome,
  SkyPosition,
  StoredObject,
} from '../../core/store/types.ts';
import { readsAsMuch, readsMore } from '../../core/store/unread.ts';
import type { Associator } from '../names/association.ts';
import { CatalogSearch } from './catalog_search.ts';
import type { PlannedCatalog } from './plan.ts';

/**
 * A thread that searches one file for this long counts as hung. Remote files have limits of their own, and a thread
 * reads up to eight at once.
 */
const TIMEOUT_MS = 3_600_000;

export interface BatchObject
  extends Pick<StoredObject, 'diaObjectId' | 'position' | 'positionErrorMas' | 'eventTimeUs'> {
  /** The current record of a crossmatched object; undefined if it is pending. */
  readonly current: CrossmatchRecord | undefined;
  /** The object's index in the order of ids, from 0. */
  readonly rank: number;
}

export interface BatchOptions {
  readonly pool: Pool;
  readonly radiusArcsec: number;
  readonly priorCompleteness: number;
  readonly associator: Associator | undefined;
  /** The maximum number of objects that are recorded at once. */
  readonly commitSize: number;
  readonly signal: AbortSignal | undefined;
  /**
   * Whether a pending object for which no catalog could be read stays pending, instead of being recorded as not
   * searched.
   */
  readonly staysPending: (diaObjectId: bigint) => boolean;
  /** Whether the objects were crossmatched before, and get another crossmatch. */
  readonly isAgain: boolean;
  /** `isAgain`: whether a record has the settings of this batch, so that only further catalogs change it. */
  readonly hasSettings: (record: CrossmatchRecord) => boolean;
  /** Stores the results of some objects. Objects in the list of ids must stay pending. */
  readonly record: (results: readonly CrossmatchResult[], unreadable: readonly bigint[]) => Promise<void>;
  /** Called after each file of a catalog. */
  readonly onFile: (filesDone: number, files: number) => void;
}

/**
 * Searches the catalogs for every object of the batch.
 * @param objects sorted so that neighbours on the sky are side by side: objects are then completed one after the other,
 * which needs little memory. Objects without a position come last
 * @returns one search for each catalog, with the files that could not be read
 * @throws CatalogError, PoolError, the signal's reason, and errors of `record`: objects that are recorded by then stay
 * recorded
 */
export async function searchBatch(
  objects: readonly BatchObject[],
  catalogs: readonly PlannedCatalog[],
  options: BatchOptions,
): Promise<readonly CatalogSearch[]> {
  const placed = objects.filter(({ position }) => position !== null);
  const places = {
    ra: Float64Array.from(placed, ({ position }) => position!.ra),
    dec: Float64Array.from(placed, ({ position }) => position!.dec),
    timeUs: Float64Array.from(placed, ({ eventTimeUs }) => eventTimeUs),
    errorMas: Float64Array.from(placed, ({ positionErrorMas = Number.NaN }) => positionErrorMas),
  };
  const searches: CatalogSearch[] = [];
  for (const catalog of catalogs) {
    searches.push(new CatalogSearch(catalog, places, options.radiusArcsec, options.priorCompleteness));
    await immediate();
  }
  const batch = new Batch(objects, placed.length, searches, options);
  await batch.run();
  return searches;
}

/** The first commit of a batch is made when this many objects are complete. */
const FIRST_COMMIT = 3000;

class Batch {
  readonly #objects: readonly BatchObject[];
  readonly #searches: readonly CatalogSearch[];
  readonly #options: BatchOptions;
  /** Caches outcomes by their JSON, so that objects with equal outcomes share one record. */
  readonly #outcomes = new Map<string, Outcomes>();
  /** The number of files that each object with a position still waits for. */
  readonly #missing: Uint32Array;
  readonly #ofRank: Uint32Array;
  /** The ranks of objects whose files have all answered and that are not recorded yet. */
  #complete: number[] = [];
  /**
   * The number of complete objects that triggers a commit: small at first, so that this thread does not wait idly, then
   * doubled each time.
   */
  #commitAt: number;

  constructor(
    objects: readonly BatchObject[],
    positioned: number,
    searches: readonly CatalogSearch[],
    options: BatchOptions,
  ) {
    this.#objects = objects;
    this.#searches = searches;
    this.#options = options;
    this.#missing = new Uint32Array(positioned);
    this.#ofRank = new Uint32Array(objects.length);
    this.#commitAt = Math.min(options.commitSize, FIRST_COMMIT);
    for (const { searches: files } of searches)
      for (const file of files) for (const object of file.objects) this.#missing[object]!++;
    for (const [object, { rank }] of objects.entries()) {
      this.#ofRank[rank] = object;
      if (!this.#missing[object]) this.#complete.push(rank);
    }
  }

  /**
   * Reads every needed file of all catalogs once, a few at a time: enough to keep the pool busy, but so few that
   * waiting tasks hold no memory. Files are read in the order of the objects, catalogs mixed.
   */
  async run(): Promise<void> {
    const { pool, signal, onFile } = this.#options;
    const work = this.#searches
      .flatMap(catalog => catalog.searches.map(search => ({ catalog, search })))
      .sort((a, b) => a.search.objects[0]! - b.search.objects[0]!);
    let filesDone = 0;
    await eachConcurrently(work, pool.threads * (pool.tasksPerThread + 1), async ({ catalog, search }) => {
      signal?.throwIfAborted();
      const task = catalog.task(search);
      catalog.take(search, await pool.run(task, { timeoutMs: TIMEOUT_MS, ...(signal && { signal }) }));
      for (const object of search.objects)
        if (--this.#missing[object]! === 0) this.#complete.push(this.#objects[object]!.rank);
      if (this.#complete.length >= this.#commitAt) {
        this.#commitAt = Math.min(2 * this.#commitAt, this.#options.commitSize);
        await this.#flush();
      }
      onFile(++filesDone, work.length);
    });
    await this.#flush();
  }

  /** Records the complete objects in the order of the database, which differs from the order on the sky. */
  async #flush(): Promise<void> {
    const { commitSize, signal } = this.#options;
    const complete = Uint32Array.from(this.#complete).sort();
    this.#complete = [];
    for (let at = 0; at < complete.length; at += commitSize) {
      signal?.throwIfAborted();
      const results: CrossmatchResult[] = [];
      const positions: (SkyPosition | null)[] = [];
      const unreadable: bigint[] = [];
      for (const rank of complete.subarray(at, at + commitSize)) {
        const object = this.#ofRank[rank]!;
        const { diaObjectId, position } = this.#objects[object]!;
        const result = this.#resultOf(object);
        if (!result) unreadable.push(diaObjectId);
        else {
          results.push(result);
          positions.push(position);
        }
      }
      await this.#options.record(await this.#associated(results, positions), unreadable);
      await immediate();
    }
  }

  async #associated(
    results: readonly CrossmatchResult[],
    positions: readonly (SkyPosition | null)[],
  ): Promise<readonly CrossmatchResult[]> {
    const associations = await this.#options.associator?.associate(positions);
    return associations ? results.map((result, i) => ({ ...result, tns: associations[i]! })) : results;
  }

  /** The outcome of one object, or undefined if the object must stay unchanged. */
  #resultOf(object: number): CrossmatchResult | undefined {
    const { diaObjectId, position, current } = this.#objects[object]!;
    const outcomes = this.#outcomesOf(object, position !== null);
    const { catalogOutcomes } = outcomes;
    const { isAgain, hasSettings } = this.#options;
    const isWorth =
      current && (!isAgain || hasSettings(current))
        ? readsMore(outcomes, current)
        : !isAgain || readsAsMuch(outcomes, current);
    if (!isWorth) return undefined;
    if (!current && outcomes.isUnsearched && this.#options.staysPending(diaObjectId)) return undefined;
    const matches = position ? this.#searches.flatMap(search => search.match(object) ?? []) : [];
    for (const search of this.#searches) search.forget(object);
    return { diaObjectId, catalogOutcomes, matches };
  }

  #outcomesOf(object: number, hasPosition: boolean): Outcomes {
    let text = '';
    for (const search of this.#searches) {
      text += `${hasPosition ? search.outcome(object) : 'not_searched_invalid_position'} `;
    }
    let outcomes = this.#outcomes.get(text);
    if (!outcomes) {
      const all = text.trimEnd().split(' ') as RecordedOutcome[];
      outcomes = {
        catalogOutcomes: this.#searches.map(({ name }, at) => [name, all[at]!]),
        isUnsearched: all.includes('skipped_read_failure') && !all.includes('searched'),
      };
      this.#outcomes.set(text, outcomes);
    }
    return outcomes;
  }
}

interface Outcomes extends Pick<CrossmatchResult, 'catalogOutcomes'> {
  /** Whether a catalog could not be read, and no catalog was searched. */
  readonly isUnsearched: boolean;
}
