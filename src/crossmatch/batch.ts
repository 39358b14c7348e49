/** One batch of objects, searched in every catalog; an object's result goes out as soon as every file it needs has answered. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Pool } from '../../workers/pool.ts';
import type { CrossmatchResult, RecordedOutcome, SkyPosition, StoredObject } from '../store/types.ts';
import type { Associator } from '../tns/association.ts';
import type { PlannedCatalog } from './plan.ts';
import { CatalogSearch } from './search.ts';

export interface BatchOptions {
  readonly pool: Pool;
  readonly radiusArcsec: number;
  readonly associator: Associator | undefined;
  /** The most objects that are recorded at once. */
  readonly commitSize: number;
  readonly signal: AbortSignal | undefined;
  /** Stores the outcome of some objects: results, and the ids of those that must stay pending. */
  readonly record: (results: readonly CrossmatchResult[], unreadable: readonly bigint[]) => Promise<void>;
  /** Called after each file of a catalog. */
  readonly onFile: (filesDone: number, files: number) => void;
}

/**
 * Searches the catalogs for every object of the batch.
 * @param objects those without a position last; neighbours on the sky beside each other, so that objects become complete one after
 * the other and little is held in memory
 * @returns the searches, one a catalog, with what could not be read
 * @throws CatalogError, PoolError, the signal's reason, what `record` throws: what is recorded by then stays
 */
export async function searchBatch(
  objects: readonly StoredObject[],
  catalogs: readonly PlannedCatalog[],
  options: BatchOptions,
): Promise<readonly CatalogSearch[]> {
  const positions = objects.flatMap(({ position }) => position ?? []);
  const ra = Float64Array.from(positions, position => position.ra);
  const dec = Float64Array.from(positions, position => position.dec);
  const searches: CatalogSearch[] = [];
  for (const catalog of catalogs) {
    searches.push(new CatalogSearch(catalog, ra, dec, options.radiusArcsec));
    await turn();
  }
  const batch = new Batch(objects, positions.length, searches, options);
  await batch.run();
  return searches;
}

class Batch {
  readonly #objects: readonly StoredObject[];
  readonly #searches: readonly CatalogSearch[];
  readonly #options: BatchOptions;
  /** How many files each object with a position still waits for. */
  readonly #missing: Uint32Array;
  /** The objects that wait for none and are not recorded yet. */
  #complete: number[] = [];

  constructor(
    objects: readonly StoredObject[],
    positioned: number,
    searches: readonly CatalogSearch[],
    options: BatchOptions,
  ) {
    this.#objects = objects;
    this.#searches = searches;
    this.#options = options;
    this.#missing = new Uint32Array(positioned);
    for (const { searches: files } of searches)
      for (const file of files) for (const object of file.objects) this.#missing[object]!++;
    for (const object of objects.keys()) if (!this.#missing[object]) this.#complete.push(object);
  }

  /**
   * Every file of every catalog that is wanted, once, a few at a time: enough to keep the pool busy, so that what waits holds no
   * memory. Files are read in the order of the objects, those of all catalogs alike.
   */
  async run(): Promise<void> {
    const { pool, signal, onFile } = this.#options;
    const work = this.#searches
      .flatMap(catalog => catalog.searches.map(search => ({ catalog, search })))
      .sort((a, b) => a.search.objects[0]! - b.search.objects[0]!);
    let next = 0;
    let filesDone = 0;
    const lane = async () => {
      while (next < work.length) {
        signal?.throwIfAborted();
        const { catalog, search } = work[next++]!;
        catalog.take(search, await pool.run(catalog.task(search), signal ? { signal } : {}));
        for (const object of search.objects) if (--this.#missing[object]! === 0) this.#complete.push(object);
        if (this.#complete.length >= this.#options.commitSize) await this.#flush();
        onFile(++filesDone, work.length);
      }
    };
    const stopped = (error: unknown) => {
      next = work.length;
      throw error;
    };
    const lanes = Array.from({ length: pool.threads * (pool.tasksPerThread + 1) }, () => lane().catch(stopped));
    const failed = (await Promise.allSettled(lanes)).find(result => result.status === 'rejected');
    if (failed) throw failed.reason;
    await this.#flush();
  }

  /** Records what is complete. */
  async #flush(): Promise<void> {
    const { commitSize, signal } = this.#options;
    const complete = this.#complete;
    this.#complete = [];
    for (let at = 0; at < complete.length; at += commitSize) {
      signal?.throwIfAborted();
      const results: CrossmatchResult[] = [];
      const positions: (SkyPosition | null)[] = [];
      const unreadable: bigint[] = [];
      // In the order of the database, which they are not in on the sky.
      const slice = complete.slice(at, at + commitSize).sort((a, b) => (this.#idOf(a) < this.#idOf(b) ? -1 : 1));
      for (const object of slice) {
        const { diaObjectId, position } = this.#objects[object]!;
        const result = this.#resultOf(object);
        if (!result) unreadable.push(diaObjectId);
        else {
          results.push(result);
          positions.push(position);
        }
      }
      await this.#options.record(await this.#associated(results, positions), unreadable);
      await turn();
    }
  }

  #idOf(object: number): bigint {
    return this.#objects[object]!.diaObjectId;
  }

  async #associated(
    results: readonly CrossmatchResult[],
    positions: readonly (SkyPosition | null)[],
  ): Promise<readonly CrossmatchResult[]> {
    const associations = await this.#options.associator?.associate(positions);
    return associations ? results.map((result, i) => ({ ...result, tns: associations[i]! })) : results;
  }

  /** The outcome of one object, or undefined where it must stay pending. */
  #resultOf(object: number): CrossmatchResult | undefined {
    const { diaObjectId, position } = this.#objects[object]!;
    const catalogOutcomes: (readonly [string, RecordedOutcome])[] = [];
    for (const search of this.#searches) {
      const outcome = position ? search.outcome(object) : 'not_searched_invalid_position';
      if (outcome === undefined) return undefined;
      catalogOutcomes.push([search.name, outcome]);
    }
    const outcomes = new Set(catalogOutcomes.map(([, outcome]) => outcome));
    if (outcomes.has('skipped_read_failure') && !outcomes.has('searched')) return undefined;
    const matches = position ? this.#searches.flatMap(search => search.match(object) ?? []) : [];
    for (const search of this.#searches) search.forget(object);
    return { diaObjectId, catalogOutcomes, matches };
  }
}
