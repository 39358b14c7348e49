/**
 * Crossmatches pending objects. Objects are claimed batch by batch and recorded as they become complete, so a
 * crossmatcher may be killed, or run beside another, at any moment.
 */

import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { addReads, CatalogError } from '@nearsky/hats';
import { MAX_ORDER, pixelOf } from '@nearsky/sky-index';
import { compare } from '../../core/base/compare.ts';
import { nowUs } from '../../core/base/times.ts';
import type { Config } from '../../core/config/config.ts';
import { Catalogs } from '../../core/contract/catalogs.ts';
import { PRIOR_COMPLETENESS } from '../../core/contract/position_errors.ts';
import type { Pool } from '../../core/pool/pool.ts';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';
import type { FoundStatistics } from '../../core/store/changes.ts';
import { ObjectView } from '../../core/store/object_record.ts';
import { provenanceSetOf, releaseOf } from '../../core/store/provenance.ts';
import { provenanceHash } from '../../core/store/records.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import type { Store } from '../../core/store/store.ts';
import type { CatalogRelease, CrossmatchResult, ProvenanceSet } from '../../core/store/types.ts';
import type { Writer } from '../../core/store/writer.ts';
import { type Associator, associatorOf } from '../names/association.ts';
import { type AgainSelection, differsFrom } from './again.ts';
import { type BatchObject, searchBatch } from './batch.ts';
import { defaultBatchSize } from './batch_size.ts';
import { errorsOf } from './catalog_errors.ts';
import { motionOf } from './motion.ts';
import { openCatalog, type PlannedCatalog } from './plan.ts';
import { addProblem, addResults, type CrossmatchSummary, emptySummary } from './summary.ts';

/** The settings of a service's crossmatches. */
export const settingsOf = (config: Config, store: Store, pool: Pool) => ({
  provenance: () => provenanceSetOf(config),
  properMotion: config.CROSSMATCH_PROPER_MOTION,
  priorCompleteness: config.MATCH_PRIOR_COMPLETENESS,
  associator: associatorOf(store, pool, config),
});

/**
 * Objects per commit. Such a commit holds the write lock for half a second. Per object, it writes a fifth of the pages
 * that commits of 2,000 objects write.
 */
const DEFAULT_COMMIT_SIZE = 25_000;
/** The number of objects that are read without a pause. Reading them takes a few milliseconds. */
const READ_SLICE = 2000;
/** The interval between checks whether another process has finished the objects that it claimed. */
const OTHERS_POLL_MS = 250;

export interface CrossmatchOptions {
  readonly store: Store;
  readonly writer: Writer;
  readonly pool: Pool;
  /**
   * Called once per batch. The search uses the radius of the returned set, and records the registered catalogs with it.
   */
  readonly provenance: () => Omit<ProvenanceSet, 'catalogs'>;
  /** Whether sources of catalogs with proper motions are compared at the time of the object's event; default false. */
  readonly properMotion?: boolean;
  /** The prior fraction of objects with a counterpart, `PRIOR_COMPLETENESS.default` by default. */
  readonly priorCompleteness?: number;
  /** Finds the registry record of each object. Without an associator, no registry record is stored. */
  readonly associator?: Associator;
  /** 1 to MAX_BATCH_SIZE; by default as many as the memory allows. */
  readonly batchSize?: number;
  /**
   * The maximum number of objects that are recorded at once, default DEFAULT_COMMIT_SIZE. A larger number delays this
   * thread and other writers for longer.
   */
  readonly commitSize?: number;
  /** Objects that must not be tried now. */
  readonly isDeferred?: (diaObjectId: bigint) => boolean;
  /**
   * The objects to take: the pending ones, the crossmatched ones for which a catalog could not be read, or both
   * (default), pending objects last.
   */
  readonly which?: 'pending' | 'unread';
  /**
   * Takes other objects instead: crossmatched ones that differ from the settings, or lack statistics (see
   * `differsFrom`). Objects that lack statistics keep their crossmatch, and get its statistics.
   */
  readonly again?: AgainSelection;
  /** Takes these crossmatched objects instead. */
  readonly againIds?: readonly bigint[];
  /**
   * Whether a pending object for which no catalog could be read stays pending. By default the object is recorded as not
   * searched, and unread.
   */
  readonly staysPending?: (diaObjectId: bigint) => boolean;
  /**
   * Called with the objects that stay as they were, pending or unread, because no further catalog could be read for
   * them.
   */
  readonly onUnreadable?: (ids: readonly bigint[]) => void;
  /**
   * Whether to wait until objects claimed by other processes are crossmatched too. If those processes end first, this
   * process crossmatches the objects. Default true.
   */
  readonly awaitOthers?: boolean;
  /**
   * When the signal fires, the unrecorded part of the current batch is dropped (its objects stay pending) and the call
   * rejects with the signal's reason.
   */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: CrossmatchProgress) => void;
}

export interface CrossmatchProgress {
  readonly objects: number;
  /** Files of the current batch. */
  readonly files: number;
  readonly filesDone: number;
  /** Objects that other processes have claimed and this process waits for, when no other work is left. */
  readonly awaited: number;
}

/**
 * Crossmatches every pending object once with every registered catalog. This includes objects that become pending
 * during the walk, if the walk has not passed their ids. Objects for which a catalog could not be read are tried again;
 * if more catalogs can be read now, the result is recorded as a new version.
 * @throws CatalogError when no catalog is registered; StoreError; PoolError; the signal's reason
 */
export async function crossmatchPending(options: CrossmatchOptions): Promise<CrossmatchSummary> {
  const run = new Run(options);
  if (options.againIds) await run.take(options.againIds);
  else if (options.again) await run.walk('again');
  else {
    if (options.which !== 'pending') await run.walk('unread');
    if (options.which !== 'unread') await run.walk('pending');
  }
  if (options.awaitOthers ?? true) await run.awaitOthers();
  return run.summary;
}

class Run {
  readonly summary = emptySummary();
  readonly #options: CrossmatchOptions;
  readonly #catalogs: RegisteredCatalogs<readonly InService[]>;
  /** Objects that other processes had claimed when the walk reached them. */
  #busy: bigint[] = [];

  constructor(options: CrossmatchOptions) {
    this.#options = options;
    this.#catalogs = new RegisteredCatalogs(registrations =>
      openCatalogs(registrations, options.properMotion ?? false),
    );
  }

  get #isAgain(): boolean {
    return (this.#options.again ?? this.#options.againIds) !== undefined;
  }

  async walk(which: 'pending' | 'unread' | 'again'): Promise<void> {
    const { store, isDeferred = () => false } = this.#options;
    const batchSize = this.#options.batchSize ?? defaultBatchSize(process.availableMemory());
    for (let after: bigint | undefined; ; ) {
      const catalogs = this.#catalogs.of(store);
      const ids =
        which === 'pending'
          ? store.pendingIds(batchSize, after)
          : which === 'unread'
            ? store.unreadIds(batchSize, after)
            : store.idsWhere(differsFrom(store, this.#settings(catalogs), this.#options.again), batchSize, after);
      if (ids.length === 0) return;
      after = ids.at(-1);
      const wanted = ids.filter(id => !isDeferred(id));
      if (wanted.length > 0) await this.take(wanted, catalogs);
    }
  }

  async take(ids: readonly bigint[], catalogs = this.#catalogs.of(this.#options.store)): Promise<void> {
    for (const id of await this.#take(ids, catalogs)) this.#busy.push(id);
  }

  async awaitOthers(): Promise<void> {
    const { signal, onProgress } = this.#options;
    while (this.#busy.length > 0) {
      onProgress?.({ objects: this.summary.objects, files: 0, filesDone: 0, awaited: this.#busy.length });
      await sleep(OTHERS_POLL_MS, undefined, signal ? { signal } : {}).catch(() => signal?.throwIfAborted());
      const awaited = this.#busy.length;
      const before = this.summary.objects;
      this.#busy = await this.#take(this.#busy, this.#catalogs.of(this.#options.store));
      const done = awaited - this.#busy.length - (this.summary.objects - before);
      this.summary.objects += done;
      this.summary.skipped += done;
    }
  }

  /**
   * Claims and crossmatches the objects of `ids` that no process has claimed: those that are still pending or unread,
   * or all of them with `again` or `againIds`.
   * @returns the ids that other processes have claimed
   */
  async #take(ids: readonly bigint[], catalogs: readonly InService[]): Promise<bigint[]> {
    const { writer } = this.#options;
    const claim = await writer.claim(ids, this.#isAgain);
    if (claim.ids.length > 0) {
      try {
        await this.#crossmatch(await this.#readInSkyOrder(claim.ids), catalogs);
      } finally {
        await writer.dropClaim(claim);
      }
    }
    return [...claim.busy];
  }

  /**
   * Reads objects and sorts them so that neighbours on the sky are side by side. Objects without a position come last.
   */
  async #readInSkyOrder(ids: readonly bigint[]): Promise<BatchObject[]> {
    const objects: { readonly object: BatchObject; readonly pixel: number }[] = [];
    const view = new ObjectView();
    for (const [at, id] of ids.toSorted(compare).entries()) {
      if (at % READ_SLICE === 0) await immediate();
      if (!this.#options.store.readObject(id, view)) continue;
      const { position, positionErrorMas, eventTimeUs, state } = view;
      const pixel = position ? pixelOf(MAX_ORDER, position.ra, position.dec) : Infinity;
      const object = {
        diaObjectId: id,
        position,
        ...(positionErrorMas !== undefined && { positionErrorMas }),
        eventTimeUs,
        current: state === 'crossmatched' ? view.record : undefined,
        rank: objects.length,
      };
      objects.push({ object, pixel });
    }
    // The sort is stable. Equality is tested first because Infinity - Infinity is NaN.
    objects.sort((a, b) => (a.pixel === b.pixel ? 0 : a.pixel - b.pixel));
    return objects.map(({ object }) => object);
  }

  /** The settings of a batch: the current ones, with the catalogs to which its objects are compared. */
  #settings(catalogs: readonly InService[]): ProvenanceSet {
    const { crossmatch_radius_arcsec, reliability_cuts } = this.#options.provenance();
    return { crossmatch_radius_arcsec, catalogs: catalogs.map(({ release }) => release), reliability_cuts };
  }

  async #crossmatch(objects: readonly BatchObject[], catalogs: readonly InService[]): Promise<void> {
    const { store, pool, again, associator, commitSize = DEFAULT_COMMIT_SIZE, signal, onProgress } = this.#options;
    const provenance = this.#settings(catalogs);
    const hash = provenanceHash(provenance);
    const radiusArcsec = provenance.crossmatch_radius_arcsec;
    if (radiusArcsec === null) throw new RangeError('Cannot crossmatch because the settings have no crossmatch radius');
    const searches = await searchBatch(objects, catalogs, {
      pool,
      radiusArcsec,
      priorCompleteness: this.#options.priorCompleteness ?? PRIOR_COMPLETENESS.default,
      associator,
      commitSize,
      signal,
      staysPending: this.#options.staysPending ?? (() => false),
      isAgain: this.#isAgain,
      hasSettings: record => !again?.lackStatistics && store.provenanceSet(record.provenanceSet).hash === hash,
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
    const counts = this.#options.again?.lackStatistics
      ? await writer.commit({ kind: 'fill_statistics', found: results.map(statisticsIn) })
      : await writer.recordCrossmatches(results, provenance, nowUs(), this.#isAgain);
    const { summary } = this;
    summary.objects += results.length + unreadable.length;
    summary.recorded += counts.recorded;
    summary.skipped += counts.skipped;
    summary.unreadable += unreadable.length;
    addResults(summary, results);
    if (unreadable.length > 0) onUnreadable?.(unreadable);
  }
}

const statisticsIn = ({ diaObjectId, matches }: CrossmatchResult): FoundStatistics => ({
  diaObjectId,
  matches: matches.flatMap(({ catalogName, catalogSourceId, statistics }) =>
    statistics ? { catalogName, catalogSourceId, statistics } : [],
  ),
});

/** A catalog that objects are compared with, and its entry in the provenance. */
interface InService extends PlannedCatalog {
  readonly release: CatalogRelease;
}

function openCatalogs(registrations: readonly CatalogRegistration[], properMotion: boolean): readonly InService[] {
  if (registrations.length === 0) {
    throw new CatalogError(
      'Cannot crossmatch because no catalog is registered: add one with nearsky catalog add NAME LOCATION',
    );
  }
  return catalogsInService(registrations, properMotion).map(({ registration, motion, errors, release }) => {
    return { ...openCatalog(registration, motion, errors), release };
  });
}

/**
 * The registered catalogs, in the service's order, with the proper motions of their sources if motions are applied.
 */
export function catalogsInService(registrations: readonly CatalogRegistration[], properMotion: boolean) {
  const stored = new Map(registrations.map(registration => [registration.name, registration]));
  return new Catalogs(registrations).all.flatMap(definition => {
    const registration = stored.get(definition.name);
    if (!registration) return [];
    const motion = properMotion ? motionOf(definition, registration.columns) : undefined;
    const errors = errorsOf(definition, registration.columns);
    return { registration, motion, errors, release: releaseOf(definition, motion !== undefined) };
  });
}
