/**
 * The only way to write to the database. Each method is one synchronous transaction: all of it is committed and
 * flushed, or none of it.
 */
import { setImmediate as immediate } from 'node:timers/promises';
import type { CatalogRegistration } from './catalog_registration.ts';
import { type Claim, dropClaim, takeClaim, takeExclusive } from './claims.ts';
import { catalogRows, catalogRowsWithout, ingestedCounter, lastIngestMs, Tally } from './counters.ts';
import { CountChanges } from './counts.ts';
import { CrossmatchRecorder } from './crossmatches.ts';
import type { Databases } from './databases.ts';
import {
  type CommitChanges,
  type ImportItem,
  type ImportOutcome,
  importItems,
  type Ordinals,
  type PreparedObject,
  type PreparedOutcome,
} from './import.ts';
import { Interner } from './interner.ts';
import { appendPositions } from './positions.ts';
import { contentHash } from './provenance_hash.ts';
import { storePublished } from './published.ts';
import { raiseLatestIngest } from './recent.ts';
import { encodeJournal, encodeKey, encodeObject, encodePlain, encodeProvenanceSet } from './records.ts';
import {
  beginLoad,
  change,
  changePublished,
  publish,
  type RegistrySnapshot,
  readSnapshot,
  removeLoads,
  type StageOutcome,
  stage,
  type Validators,
} from './registry.ts';
import { lastOrdinal, type Store } from './store.ts';
import { storeError } from './store_error.ts';
import type {
  CrossmatchResult,
  CrossmatchVersions,
  Delivery,
  ProvenanceSet,
  PublishedPosition,
  StoredObject,
  TnsRecord,
} from './types.ts';

/** The outcomes of the deliveries of one commit; the three add up to their number. */
export interface IngestCounts {
  /** New objects. */
  readonly stored: number;
  /** Known objects, delivered by a further broker. */
  readonly delivered: number;
  /** Known objects, delivered again by the same broker. */
  readonly duplicate: number;
}

/** About a load that is to be published. */
export interface PublishDetails {
  /** The epoch of the whole file with which the load began; by default the load's own epoch. */
  readonly fileEpochUs?: number;
  readonly validators?: Validators | null;
  /** The snapshot that the load is to replace (null: none); by default any. */
  readonly base?: RegistrySnapshot | null;
}

const NOTHING = new Uint8Array(0);
/** Small enough to hold up a serving thread beside it for only some milliseconds at a time. */
const CHANGED_A_COMMIT = 1000;
const REMOVED_A_COMMIT = 5000;

/**
 * Runs on a thread that nothing ends from outside, because a thread that is stopped inside a transaction locks the
 * database for every process. When a method has resolved, its changes are durable.
 */
export class Writer {
  readonly #store: Store;

  /** @param store opened with mode `write` */
  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Stores deliveries in one commit, as if one after the other. The first delivery of an object fixes its position,
   * times and reliability; a later one adds its broker; a repeated one changes nothing.
   * @throws StoreError; then nothing is stored
   */
  async ingest(deliveries: readonly Delivery[], ingestTimeUs: number): Promise<IngestCounts> {
    return this.#transaction('store the messages', deliveries.length, () => {
      const { objects, pending } = this.#store.databases;
      const stored: StoredObject[] = [];
      const delivered: bigint[] = [];
      const tally = new Tally();
      const counts = new CountChanges();
      let duplicate = 0;
      for (const delivery of deliveries) {
        const { diaObjectId, broker } = delivery;
        const known = this.#store.getObject(diaObjectId);
        if (!known) {
          const object = newObject(delivery, ingestTimeUs);
          objects.put(encodeKey(diaObjectId), encodeObject(object));
          pending.put(encodeKey(diaObjectId), NOTHING);
          counts.changed(undefined, object);
          stored.push(object);
        } else if (!known.brokers.includes(broker)) {
          const brokers = [...known.brokers, broker].sort();
          objects.put(encodeKey(diaObjectId), encodeObject({ ...known, brokers }));
          delivered.push(diaObjectId);
        } else {
          duplicate++;
        }
        const isNew = !known?.brokers.includes(broker);
        tally.add(ingestedCounter(broker, isNew ? 'new' : 'duplicate'));
        tally.set(lastIngestMs(broker), Math.floor(ingestTimeUs / 1000));
      }
      tally.store(this.#store.databases);
      counts.store(this.#store.databases);
      if (stored.length > 0) raiseLatestIngest(this.#store.databases, ingestTimeUs);
      this.#journal({ stored, delivered, crossmatched: [] });
      return { stored: stored.length, delivered: delivered.length, duplicate };
    });
  }

  /**
   * Claims the objects of `ids` that are pending and claimed by nobody else, to be crossmatched by this process alone.
   * A claim ends with `dropClaim`, or with this process, however that ends.
   * @throws StoreError
   */
  async claim(ids: readonly bigint[]): Promise<Claim> {
    return this.#transaction('claim the pending objects', 1, () => {
      return takeClaim(this.#store.databases, ids, this.#store.livePids());
    });
  }

  /** Claims a task that one process at a time may do, by its name; undefined where another process has claimed it. */
  async claimExclusively(name: string): Promise<Claim | undefined> {
    return this.#transaction(`begin to ${name}`, 1, () =>
      takeExclusive(this.#store.databases, name, this.#store.livePids()),
    );
  }

  /** Gives up a claim; its objects that are still pending are free again. */
  async dropClaim(claim: Claim): Promise<void> {
    this.#transaction('release the claim', 0, () => dropClaim(this.#store.databases, claim));
  }

  /**
   * Records crossmatches in one commit: record, matches, sources, state and registry association of each object, which
   * then is no longer pending. An object for which a catalog could not be read is listed as unread, until a later
   * crossmatch could read all. A result for an object that is not pending is skipped, unless the object is unread and
   * the result has read more. A first crossmatch has version 1, a later one the next. Older crossmatches are kept, and
   * so is an existing association.
   * @throws StoreError; then nothing is stored
   */
  async recordCrossmatches(
    results: readonly CrossmatchResult[],
    provenance: ProvenanceSet,
    crossmatchedAtUs: number,
  ): Promise<{ recorded: number; skipped: number }> {
    return this.#transaction('record the crossmatches', results.length, () => {
      const recorder = new CrossmatchRecorder(this.#store.databases, provenance, crossmatchedAtUs);
      for (const result of results) recorder.record(result);
      const { crossmatched, versions } = recorder.finish();
      this.#journal({ stored: [], delivered: [], crossmatched }, versions);
      return { recorded: crossmatched.length, skipped: results.length - crossmatched.length };
    });
  }

  /**
   * Adds data of another store, in one commit; the entries may come in any order. Existing data is not changed
   * otherwise.
   * @returns an outcome for each entry
   * @throws StoreError; then nothing is stored
   */
  async import(entries: readonly (ImportItem | PreparedObject)[]): Promise<(ImportOutcome | PreparedOutcome)[]> {
    return this.#transaction('store the lines', entries.length, () => {
      const { databases } = this.#store;
      const { outcomes, changes } = importItems(entries, {
        databases,
        ordinals: ordinalsOf(databases),
        getObject: id => this.#store.getObject(id),
        getSources: id => this.#store.getSources(id),
      });
      this.#journal(changes, null);
      return outcomes;
    });
  }

  /** Stores how far the matches are published to a topic. */
  async storePublished(topic: string, position: PublishedPosition): Promise<void> {
    const { databases } = this.#store;
    this.#transaction('store how far the matches are published', 1, () => storePublished(databases, topic, position));
  }

  /** Begins to load a snapshot of the TNS registry, beside the published one; returns its number. */
  async beginRegistry(): Promise<number> {
    return this.#transaction('load the registry', 1, () => beginLoad(this.#store.databases));
  }

  /**
   * Adds objects to a load, in one commit; returns an outcome for each. `conflict`: the load has another object with
   * that objid, which stays.
   */
  async stageRegistry(load: number, records: readonly TnsRecord[]): Promise<StageOutcome[]> {
    const { databases } = this.#store;
    return this.#transaction('load the registry', records.length, () =>
      records.map(record => stage(databases, load, record)),
    );
  }

  /** Adds objects to an unpublished load, or replaces those with their objids. */
  async changeStagedRegistry(load: number, records: readonly TnsRecord[]): Promise<void> {
    const { databases } = this.#store;
    for (let from = 0; from < records.length; from += CHANGED_A_COMMIT) {
      const some = records.slice(from, from + CHANGED_A_COMMIT);
      this.#transaction('load the registry', some.length, () => {
        for (const record of some) change(databases, load, record);
      });
      await immediate();
    }
  }

  /**
   * Publishes a load: it replaces the former snapshot in one commit. The objects of the former snapshot are then
   * removed.
   * @throws StoreError, also when a load that began later has been published, or the former snapshot is not `base`
   */
  async publishRegistry(load: number, epochUs: number, details: PublishDetails = {}): Promise<void> {
    const { fileEpochUs = epochUs, validators = null, base } = details;
    const snapshot = { load, epochUs, fileEpochUs, validators };
    this.#transaction('load the registry', 1, () => publish(this.#store.databases, snapshot, base));
    await this.#removeLoads(0, load);
  }

  /**
   * Adds objects to the published snapshot, or replaces those with their objids, and moves its epoch, all in one
   * commit.
   * @throws StoreError, also when the published snapshot is no longer `base`
   */
  async changeRegistry(base: RegistrySnapshot, records: readonly TnsRecord[], epochUs: number): Promise<void> {
    this.#transaction('change the registry', records.length, () =>
      changePublished(this.#store.databases, base, records, epochUs),
    );
  }

  /**
   * Removes remains of former snapshots, left by a process that was killed between publishing the present one and
   * removing them.
   */
  async tidyRegistry(): Promise<void> {
    const { load = 0 } = readSnapshot(this.#store.databases) ?? {};
    await this.#removeLoads(0, load);
  }

  /** Gives up an unpublished load. */
  async dropRegistry(load: number): Promise<void> {
    await this.#removeLoads(load, load + 1);
  }

  async #removeLoads(first: number, end: number): Promise<void> {
    const { databases } = this.#store;
    const remove = () => removeLoads(databases, first, end, REMOVED_A_COMMIT);
    while (this.#transaction('remove a former registry', 0, remove) > 0) await immediate();
  }

  /** Registers a catalog under its name; an earlier one of that name is replaced. */
  async putCatalog(registration: CatalogRegistration): Promise<void> {
    const { name, counted, coverage } = registration;
    this.#transaction('register the catalog', 1 + Math.ceil(coverage.ranges.length / 4096), () => {
      const { databases } = this.#store;
      databases.catalogs.put(new TextEncoder().encode(name), encodePlain(registration));
      const tally = new Tally();
      tally.set(catalogRows(name), counted?.rows ?? null);
      tally.set(catalogRowsWithout(name, 'position'), counted?.withoutPosition ?? null);
      tally.set(catalogRowsWithout(name, 'id'), counted?.withoutId ?? null);
      tally.store(databases);
    });
  }

  /** @param entries as of `Store.requireSpace` */
  #transaction<T>(doing: string, entries: number, change: () => T): T {
    const store = this.#store;
    store.onWaiting(true);
    try {
      return store.databases.objects.transactionSync(() => {
        store.onWaiting(false);
        store.requireInPlace();
        store.requireSpace(doing, entries);
        return change();
      });
    } catch (error) {
      store.onWaiting(false);
      throw error instanceof Error && 'code' in error ? storeError(doing, error) : error;
    }
  }

  /**
   * Appends the entry of this commit, unless nothing changed. The number is taken inside the transaction, because other
   * processes write too.
   */
  #journal({ stored, delivered, crossmatched }: CommitChanges, versions?: CrossmatchVersions): void {
    if (stored.length + delivered.length + crossmatched.length === 0) return;
    const { databases } = this.#store;
    const sequence = lastOrdinal(databases.journal);
    const table = appendPositions(databases, this.#store.tableAt(sequence)!, stored);
    databases.journal.put(encodeKey(BigInt(sequence + 1)), encodeJournal({ table, delivered, crossmatched, versions }));
  }
}

/** For one transaction. */
function ordinalsOf(databases: Databases): Ordinals {
  const provenanceSets = new Interner(databases.provenance_sets);
  const payloadKeys = new Interner(databases.payload_keys);
  // A batch has few sets, each of them one object.
  const encoded = new Map<ProvenanceSet, Uint8Array>();
  const bytesOf = (set: ProvenanceSet) => {
    const bytes = encoded.get(set) ?? encodeProvenanceSet(contentHash(set), set);
    encoded.set(set, bytes);
    return bytes;
  };
  return {
    findProvenanceSet: set => provenanceSets.find(bytesOf(set)),
    provenanceSet: set => provenanceSets.ordinalOf(bytesOf(set)),
    payloadKeys: keys => payloadKeys.ordinalOf(encodePlain(keys)),
  };
}

function newObject(delivery: Delivery, ingestTimeUs: number): StoredObject {
  return {
    diaObjectId: delivery.diaObjectId,
    position: delivery.position,
    reliability: delivery.reliability,
    ingestTimeUs,
    eventTimeUs: delivery.eventTimeUs,
    state: 'pending',
    brokers: [delivery.broker],
    records: [],
    matches: [],
    tns: null,
  };
}
