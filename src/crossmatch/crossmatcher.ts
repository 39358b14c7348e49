/**
 * Pending objects to recorded crossmatches: claimed batch by batch, recorded as they become complete, so it may be killed or run beside
 * another at any moment.
 */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { MAX_ORDER, pixelOf } from '../../index/mod.ts';
import type { Pool } from '../../workers/pool.ts';
import { nowUs } from '../../workers/times.ts';
import { CATALOGS } from '../catalogs/definitions.ts';
import { CatalogError } from '../catalogs/errors.ts';
import { addReads } from '../catalogs/files.ts';
import type { CatalogRegistration } from '../catalogs/types.ts';
import type { Store } from '../store/store.ts';
import type { CrossmatchResult, ProvenanceSet, StoredObject } from '../store/types.ts';
import type { Writer } from '../store/writer.ts';
import type { Associator } from '../tns/association.ts';
import { searchBatch } from './batch.ts';
import { openCatalog, type PlannedCatalog } from './plan.ts';
import { addProblem, addResult, type CrossmatchSummary, emptySummary } from './summary.ts';

/** Objects a batch: they are claimed together, share the reading of a partition, and are planned in memory. */
export const DEFAULT_BATCH_SIZE = 50_000;
/** More would share little more. */
export const MAX_BATCH_SIZE = 100_000;
/** Objects a commit: half a second of the write lock, and half as many page writes as commits of 2,000. */
const DEFAULT_COMMIT_SIZE = 10_000;
/** Objects that are read without a pause: a few milliseconds. */
const READ_SLICE = 2000;
/** How often to look whether another process is done with what it has claimed. */
const OTHERS_POLL_MS = 250;

export interface CrossmatchOptions {
  readonly store: Store;
  readonly writer: Writer;
  readonly pool: Pool;
  /** Asked once a batch; its radius is the one that is searched. */
  readonly provenance: () => ProvenanceSet;
  /** Asked for what is recorded of the TNS registry; without it nothing is. */
  readonly associator?: Associator;
  /** 1 to MAX_BATCH_SIZE; default DEFAULT_BATCH_SIZE. */
  readonly batchSize?: number;
  /** The most objects that are recorded at once, which holds up this thread and others who write; default DEFAULT_COMMIT_SIZE. */
  readonly commitSize?: number;
  /** Objects that are not to be tried now. */
  readonly isDeferred?: (diaObjectId: bigint) => boolean;
  /** Told of the objects that stay pending as no catalog could be read for them. */
  readonly onUnreadable?: (ids: readonly bigint[]) => void;
  /** Whether to stay until what others have claimed is crossmatched too, by them or, should they end before, here; default true. */
  readonly awaitOthers?: boolean;
  /**
   * When it fires, what is not recorded of the batch in hand is dropped (its objects stay pending) and the call rejects with the
   * signal's reason.
   */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CrossmatchProgress) => void;
}

export interface CrossmatchProgress {
  /** Objects that are done. */
  readonly objects: number;
  /** Of the batch in hand. */
  readonly files: number;
  readonly filesDone: number;
  /** Objects that another process has claimed, once nothing else is left to do. */
  readonly awaited: number;
}

/**
 * Crossmatches every object that is pending now or becomes so ahead of the walk by ascending id, each once, with every
 * registered catalog.
 * @throws CatalogError when no catalog is registered; StoreError; PoolError;
 * the signal's reason
 */
export async function crossmatchPending(options: CrossmatchOptions): Promise<CrossmatchSummary> {
  const run = new Run(options);
  await run.walk();
  if (options.awaitOthers ?? true) await run.awaitOthers();
  return run.summary;
}

class Run {
  readonly summary = emptySummary();
  readonly #options: CrossmatchOptions;
  readonly #catalogs: OpenCatalogs;
  /** What others had claimed when we came by. */
  #busy: bigint[] = [];

  constructor(options: CrossmatchOptions) {
    this.#options = options;
    this.#catalogs = new OpenCatalogs(options.store);
  }

  async walk(): Promise<void> {
    const { store, batchSize = DEFAULT_BATCH_SIZE, isDeferred = () => false } = this.#options;
    for (let after: bigint | undefined; ; ) {
      const catalogs = this.#catalogs.current();
      const ids = store.pendingIds(batchSize, after);
      if (ids.length === 0) return;
      after = ids.at(-1);
      const wanted = ids.filter(id => !isDeferred(id));
      if (wanted.length > 0) for (const id of await this.#take(wanted, catalogs)) this.#busy.push(id);
    }
  }

  async awaitOthers(): Promise<void> {
    const { signal, onProgress } = this.#options;
    while (this.#busy.length > 0) {
      onProgress?.({ objects: this.summary.objects, files: 0, filesDone: 0, awaited: this.#busy.length });
      await sleep(OTHERS_POLL_MS, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
      const awaited = this.#busy.length;
      const before = this.summary.objects;
      this.#busy = await this.#take(this.#busy, this.#catalogs.current());
      const done = awaited - this.#busy.length - (this.summary.objects - before);
      this.summary.objects += done;
      this.summary.skipped += done;
    }
  }

  /**
   * Claims and crossmatches those of `ids` that are still pending and free.
   * @returns those that others have claimed
   */
  async #take(ids: readonly bigint[], catalogs: readonly PlannedCatalog[]): Promise<bigint[]> {
    const { writer } = this.#options;
    const claim = await writer.claim(ids);
    if (claim.ids.length > 0) {
      try {
        await this.#crossmatch(await this.#readInSkyOrder(claim.ids), catalogs);
      } finally {
        await writer.releaseClaim(claim);
      }
    }
    return [...claim.busy];
  }

  /** Neighbours on the sky beside each other, those without a position last. */
  async #readInSkyOrder(ids: readonly bigint[]): Promise<StoredObject[]> {
    const objects: { readonly object: StoredObject; readonly pixel: number }[] = [];
    for (const [at, id] of ids.entries()) {
      if (at % READ_SLICE === 0) await turn();
      const object = this.#options.store.getObject(id);
      if (!object) continue;
      const { position } = object;
      objects.push({ object, pixel: position ? pixelOf(MAX_ORDER, position.ra, position.dec) : Infinity });
    }
    // Stable, and Infinity - Infinity is no order.
    objects.sort((a, b) => (a.pixel === b.pixel ? 0 : a.pixel - b.pixel));
    return objects.map(({ object }) => object);
  }

  async #crossmatch(objects: readonly StoredObject[], catalogs: readonly PlannedCatalog[]): Promise<void> {
    const { pool, associator, commitSize = DEFAULT_COMMIT_SIZE, signal, onProgress } = this.#options;
    const provenance = this.#options.provenance();
    const radiusArcsec = provenance.crossmatch_radius_arcsec;
    if (radiusArcsec === null) throw new RangeError('Cannot crossmatch as the settings have no crossmatch radius');
    const searches = await searchBatch(objects, catalogs, {
      pool,
      radiusArcsec,
      associator,
      commitSize,
      signal,
      record: (results, unreadable) => this.#record(results, unreadable, provenance),
      onFile: (filesDone, files) => onProgress?.({ objects: this.summary.objects, files, filesDone, awaited: 0 }),
    });
    for (const { problems, reads } of searches) {
      for (const problem of problems) addProblem(this.summary, problem);
      addReads(this.summary.reads, reads);
    }
  }

  async #record(
    results: readonly CrossmatchResult[],
    unreadable: readonly bigint[],
    provenance: ProvenanceSet,
  ): Promise<void> {
    const { writer, onUnreadable } = this.#options;
    const counts = await writer.recordCrossmatches(results, provenance, nowUs());
    const { summary } = this;
    summary.objects += results.length + unreadable.length;
    summary.recorded += counts.recorded;
    summary.skipped += counts.skipped;
    summary.unreadable += unreadable.length;
    for (const result of results) addResult(summary, result);
    if (unreadable.length > 0) onUnreadable?.(unreadable);
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
