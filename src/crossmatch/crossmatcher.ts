/**
 * Pending objects to recorded crossmatches: claimed batch by batch, recorded as they become complete, so it may be killed or run beside
 * another at any moment.
 */
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { MAX_ORDER, pixelOf } from '../../index/mod.ts';
import { nowUs } from '../base/times.ts';
import { addReads } from '../catalogs/catalog_files.ts';
import { CatalogError } from '../catalogs/errors.ts';
import { CATALOGS } from '../contract/catalogs.ts';
import type { Pool } from '../pool/pool.ts';
import type { CatalogRegistration } from '../store/catalog_registration.ts';
import type { Store } from '../store/store.ts';
import type { CrossmatchResult, ObjectToCrossmatch, ProvenanceSet } from '../store/types.ts';
import type { Writer } from '../store/writer.ts';
import type { Associator } from '../tns/association.ts';
import { searchBatch } from './batch.ts';
import { defaultBatchSize } from './batch_size.ts';
import { openCatalog, type PlannedCatalog } from './plan.ts';
import { addProblem, addResult, type CrossmatchSummary, emptySummary } from './summary.ts';

/** Objects a commit: half a second of the write lock, and a fifth of the page writes of commits of 2,000. */
const DEFAULT_COMMIT_SIZE = 25_000;
/** Objects that are read without a pause: a few milliseconds. */
const READ_SLICE = 2000;
/** How often to look whether another process is done with what it has claimed. */
const OTHERS_POLL_MS = 250;

export interface CrossmatchOptions {
  readonly store: Store;
  readonly writer: Writer;
  readonly pool: Pool;
  /** Asked once a batch; its radius is the one that is searched. Only those of its catalogs that are registered are recorded. */
  readonly provenance: () => ProvenanceSet;
  /** Asked for what is recorded of the TNS registry; without it nothing is. */
  readonly associator?: Associator;
  /** 1 to MAX_BATCH_SIZE; by default as many as the memory allows. */
  readonly batchSize?: number;
  /** The most objects that are recorded at once, which holds up this thread and others who write; default DEFAULT_COMMIT_SIZE. */
  readonly commitSize?: number;
  /** Objects that are not to be tried now. */
  readonly isDeferred?: (diaObjectId: bigint) => boolean;
  /**
   * Which objects: the pending ones, the crossmatched ones for which a catalog could not be read, or (default) both, the latter first.
   */
  readonly which?: 'pending' | 'unread';
  /**
   * Whether a pending object for which no catalog could be read is to stay pending; by default it is recorded as not searched, and unread.
   */
  readonly staysPending?: (diaObjectId: bigint) => boolean;
  /** Told of the objects that stay as they were, pending or unread, because no more could be read for them. */
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
 * registered catalog; and again every one for which a catalog could not be read: where more can be read now, that is recorded as a new
 * version.
 * @throws CatalogError when no catalog is registered; StoreError; PoolError;
 * the signal's reason
 */
export async function crossmatchPending(options: CrossmatchOptions): Promise<CrossmatchSummary> {
  const run = new Run(options);
  if (options.which !== 'pending') await run.walk('unread');
  if (options.which !== 'unread') await run.walk('pending');
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

  async walk(which: 'pending' | 'unread'): Promise<void> {
    const { store, isDeferred = () => false } = this.#options;
    const batchSize = this.#options.batchSize ?? defaultBatchSize(process.availableMemory());
    for (let after: bigint | undefined; ; ) {
      const catalogs = this.#catalogs.current();
      const ids = which === 'pending' ? store.pendingIds(batchSize, after) : store.unreadIds(batchSize, after);
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
        await writer.dropClaim(claim);
      }
    }
    return [...claim.busy];
  }

  /** Neighbours on the sky beside each other, those without a position last. */
  async #readInSkyOrder(ids: readonly bigint[]): Promise<ObjectToCrossmatch[]> {
    const objects: { readonly object: ObjectToCrossmatch; readonly pixel: number }[] = [];
    for (const [at, id] of ids.entries()) {
      if (at % READ_SLICE === 0) await immediate();
      const object = this.#options.store.objectToCrossmatch(id);
      if (!object) continue;
      const { position } = object;
      objects.push({ object, pixel: position ? pixelOf(MAX_ORDER, position.ra, position.dec) : Infinity });
    }
    // Stable, and Infinity - Infinity is no order.
    objects.sort((a, b) => (a.pixel === b.pixel ? 0 : a.pixel - b.pixel));
    return objects.map(({ object }) => object);
  }

  async #crossmatch(objects: readonly ObjectToCrossmatch[], catalogs: readonly PlannedCatalog[]): Promise<void> {
    const { pool, associator, commitSize = DEFAULT_COMMIT_SIZE, signal, onProgress } = this.#options;
    const provenance = inService(this.#options.provenance(), catalogs);
    const radiusArcsec = provenance.crossmatch_radius_arcsec;
    if (radiusArcsec === null) throw new RangeError('Cannot crossmatch because the settings have no crossmatch radius');
    const searches = await searchBatch(objects, catalogs, {
      pool,
      radiusArcsec,
      associator,
      commitSize,
      signal,
      staysPending: this.#options.staysPending ?? (() => false),
      record: (results, unreadable) => this.#record(results, unreadable, provenance),
      onFile: (filesDone, files) => onProgress?.({ objects: this.summary.objects, files, filesDone, awaited: 0 }),
    });
    for (const { name, problems, reads, rowsPassedOver } of searches) {
      if (rowsPassedOver > 0)
        this.summary.rowsPassedOver[name] = (this.summary.rowsPassedOver[name] ?? 0) + rowsPassedOver;
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

/** The settings with the catalogs that objects are compared with, which are those that the set of their record names. */
function inService(settings: ProvenanceSet, catalogs: readonly PlannedCatalog[]): ProvenanceSet {
  const names = new Set<string>(catalogs.map(({ registration }) => registration.name));
  return { ...settings, catalogs: settings.catalogs.filter(({ name }) => names.has(name)) };
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
        'Cannot crossmatch because no catalog is registered: add one with nearsky catalog add NAME LOCATION',
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
