/** The one way into the database. Each method is one synchronous transaction: all of it is committed and flushed, or none of it. */
import { setImmediate as turn } from 'node:timers/promises';
import type { CatalogRegistration } from '../catalogs/types.ts';
import { type Claim, dropClaim, takeClaim, takeTurn } from './claims.ts';
import {
  catalogSkips,
  crossmatchBatches,
  crossmatchMatches,
  ingestedCounter,
  lastIngestMs,
  Tally,
} from './counters.ts';
import { storeError } from './environment.ts';
import { type CommitChanges, type ImportItem, type ImportOutcome, importItems } from './import.ts';
import { Interner } from './interner.ts';
import { compareMatches } from './object_record.ts';
import { appendPositions } from './positions.ts';
import { contentHash } from './provenance_hash.ts';
import { listRecent, raiseLatestIngest } from './recent.ts';
import { encodeJournal, encodeKey, encodeObject, encodePlain, encodeProvenanceSet, encodeSources } from './records.ts';
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
import type {
  CrossmatchResult,
  Delivery,
  MatchSource,
  MatchSummary,
  ProvenanceSet,
  StoredObject,
  TnsRecord,
} from './types.ts';

/** What became of the deliveries of one commit; the three add up to their number. */
export interface IngestCounts {
  /** New objects. */
  readonly stored: number;
  /** Known objects, delivered by a further broker. */
  readonly delivered: number;
  /** Known objects, delivered again by the same broker. */
  readonly duplicate: number;
}

/** Of a load that is to be published. */
export interface PublishDetails {
  /** The epoch of the whole file that it began with; that of the load by default. */
  readonly fileEpochUs?: number;
  readonly validators?: Validators | null;
  /** What it is to replace (null: nothing); by default whatever there is. */
  readonly base?: RegistrySnapshot | null;
}

const NOTHING = new Uint8Array(0);
/** So that a thread that serves beside it is held up for some milliseconds at a time. */
const CHANGED_A_COMMIT = 1000;
const REMOVED_A_COMMIT = 5000;

/**
 * Runs on a main thread, never in a pool worker: a thread that is stopped inside a transaction locks the database for every process.
 * What a method has resolved with is durable.
 */
export class Writer {
  readonly #store: Store;

  /** @param store opened with mode `write` */
  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Stores deliveries in one commit, as if one after the other. The first delivery of an object fixes its position, times and
   * reliability; a later one adds its broker; the same broker again changes nothing.
   * @throws StoreError; then nothing of it is stored
   */
  async ingest(deliveries: readonly Delivery[], ingestTimeUs: number): Promise<IngestCounts> {
    return this.#transaction('store the messages', () => {
      const { objects, pending } = this.#store.databases;
      const stored: StoredObject[] = [];
      const delivered: bigint[] = [];
      const tally = new Tally();
      let duplicate = 0;
      for (const delivery of deliveries) {
        const { diaObjectId, broker } = delivery;
        const known = this.#store.getObject(diaObjectId);
        if (!known) {
          const object = newObject(delivery, ingestTimeUs);
          objects.put(encodeKey(diaObjectId), encodeObject(object));
          pending.put(encodeKey(diaObjectId), NOTHING);
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
      if (stored.length > 0) raiseLatestIngest(this.#store.databases, ingestTimeUs);
      this.#journal({ stored, delivered, crossmatched: [] });
      return { stored: stored.length, delivered: delivered.length, duplicate };
    });
  }

  /**
   * Claims those of `ids` that are pending and that nobody else has claimed, to be crossmatched by this process alone. A claim ends with
   * `releaseClaim`, or with this process, however that ends.
   * @throws StoreError
   */
  async claim(ids: readonly bigint[]): Promise<Claim> {
    return this.#transaction('claim the pending objects', () => {
      return takeClaim(this.#store.databases, ids, this.#store.livePids());
    });
  }

  /** Claims what one process at a time may do, by its name; undefined where another is at it. */
  async takeTurn(name: string): Promise<Claim | undefined> {
    return this.#transaction(`begin to ${name}`, () => takeTurn(this.#store.databases, name, this.#store.livePids()));
  }

  /** Gives up a claim; what of it is still pending is free again. */
  async releaseClaim(claim: Claim): Promise<void> {
    this.#transaction('release the claim', () => dropClaim(this.#store.databases, claim));
  }

  /**
   * Records crossmatches in one commit: record, matches, sources, state and registry association of each object, which then is no longer
   * pending. A result for an object that is not pending is skipped. A first crossmatch has version 1, a later one the next; older ones
   * are kept, and so is an association that is there.
   * @throws StoreError; then nothing of it is stored
   */
  async recordCrossmatches(
    results: readonly CrossmatchResult[],
    provenance: ProvenanceSet,
    crossmatchedAtUs: number,
  ): Promise<{ recorded: number; skipped: number }> {
    return this.#transaction('record the crossmatches', () => {
      const { databases } = this.#store;
      const provenanceSets = new Interner(databases.provenance_sets);
      const payloadKeys = new Interner(databases.payload_keys);
      const provenanceBytes = encodeProvenanceSet(contentHash(provenance), provenance);
      const crossmatched: bigint[] = [];
      const tally = new Tally();
      const skipped = new Set<string>();
      for (const result of results) {
        const { diaObjectId } = result;
        const object = this.#store.getObject(diaObjectId);
        if (object?.state !== 'pending') continue;
        const provenanceSet = provenanceSets.ordinalOf(provenanceBytes);
        const { updated, newSources } = withCrossmatch(object, result, provenanceSet, crossmatchedAtUs);
        databases.objects.put(encodeKey(diaObjectId), encodeObject(updated));
        if (newSources.length > 0) {
          listRecent(databases, updated);
          const all = [...this.#store.getSources(diaObjectId), ...newSources];
          databases.sources.put(
            encodeKey(diaObjectId),
            encodeSources(all, keys => payloadKeys.ordinalOf(encodePlain(keys))),
          );
        }
        databases.pending.remove(encodeKey(diaObjectId));
        crossmatched.push(diaObjectId);
        for (const { catalogName } of result.matches) tally.add(crossmatchMatches(catalogName));
        for (const [catalog, outcome] of result.catalogOutcomes)
          if (outcome === 'skipped_read_failure') skipped.add(catalog);
      }
      if (crossmatched.length > 0) tally.add(crossmatchBatches());
      for (const catalog of skipped) tally.add(catalogSkips(catalog));
      tally.store(databases);
      this.#journal({ stored: [], delivered: [], crossmatched });
      return { recorded: crossmatched.length, skipped: results.length - crossmatched.length };
    });
  }

  /**
   * Adds what another store held, in one commit; the items may come in any order. Nothing that is stored is changed otherwise.
   * @returns an outcome an item
   * @throws StoreError; then nothing of it is stored
   */
  async import(items: readonly ImportItem[]): Promise<ImportOutcome[]> {
    return this.#transaction('store the lines', () => {
      const { databases } = this.#store;
      const payloadKeys = new Interner(databases.payload_keys);
      const { outcomes, changes } = importItems(items, {
        databases,
        provenanceSets: new Interner(databases.provenance_sets),
        provenanceBytes: memo(set => encodeProvenanceSet(contentHash(set), set)),
        getObject: id => this.#store.getObject(id),
        getSources: id => this.#store.getSources(id),
        payloadKeysOrdinal: keys => payloadKeys.ordinalOf(encodePlain(keys)),
      });
      this.#journal(changes);
      return outcomes;
    });
  }

  /** Begins to load a snapshot of the TNS registry, beside the one that is published; its number. */
  async beginRegistry(): Promise<number> {
    return this.#transaction('load the registry', () => beginLoad(this.#store.databases));
  }

  /** Adds objects to a load, in one commit; an outcome each. `conflict`: the load has another one of that objid, which stays. */
  async stageRegistry(load: number, records: readonly TnsRecord[]): Promise<StageOutcome[]> {
    const { databases } = this.#store;
    return this.#transaction('load the registry', () => records.map(record => stage(databases, load, record)));
  }

  /** Adds objects to a load that is not published, or replaces those of their objids. */
  async changeStagedRegistry(load: number, records: readonly TnsRecord[]): Promise<void> {
    const { databases } = this.#store;
    for (let from = 0; from < records.length; from += CHANGED_A_COMMIT) {
      this.#transaction('load the registry', () => {
        for (const record of records.slice(from, from + CHANGED_A_COMMIT)) change(databases, load, record);
      });
      await turn();
    }
  }

  /**
   * Publishes a load: it replaces the former snapshot in one commit. What that held is then removed.
   * @throws StoreError, also when a load that began later has been published, or the former snapshot is not `base`
   */
  async publishRegistry(load: number, epochUs: number, details: PublishDetails = {}): Promise<void> {
    const { fileEpochUs = epochUs, validators = null, base } = details;
    const snapshot = { load, epochUs, fileEpochUs, validators };
    this.#transaction('load the registry', () => publish(this.#store.databases, snapshot, base));
    await this.#removeLoads(0, load);
  }

  /**
   * Adds objects to the published snapshot, or replaces those of their objids, and moves its epoch, all in one commit.
   * @throws StoreError, also when what is published is not `base` any more
   */
  async changeRegistry(base: RegistrySnapshot, records: readonly TnsRecord[], epochUs: number): Promise<void> {
    this.#transaction('change the registry', () => changePublished(this.#store.databases, base, records, epochUs));
  }

  /** Removes what is left of former snapshots by a process that was killed between publishing the present one and removing them. */
  async tidyRegistry(): Promise<void> {
    const { load = 0 } = readSnapshot(this.#store.databases) ?? {};
    await this.#removeLoads(0, load);
  }

  /** Gives up a load that is not published. */
  async dropRegistry(load: number): Promise<void> {
    await this.#removeLoads(load, load + 1);
  }

  async #removeLoads(first: number, end: number): Promise<void> {
    const { databases } = this.#store;
    const remove = () => removeLoads(databases, first, end, REMOVED_A_COMMIT);
    while (this.#transaction('remove a former registry', remove) > 0) await turn();
  }

  /** Registers a catalog under its name; one of that name is replaced. */
  async putCatalog(registration: CatalogRegistration): Promise<void> {
    this.#transaction('register the catalog', () => {
      this.#store.databases.catalogs.put(new TextEncoder().encode(registration.name), encodePlain(registration));
    });
  }

  #transaction<T>(doing: string, change: () => T): T {
    try {
      return this.#store.databases.objects.transactionSync(change);
    } catch (error) {
      throw error instanceof Error && 'code' in error ? storeError(doing, error) : error;
    }
  }

  /** Appends the entry of this commit, unless nothing changed. Other processes write too, so the number is taken inside the transaction. */
  #journal({ stored, delivered, crossmatched }: CommitChanges): void {
    if (stored.length + delivered.length + crossmatched.length === 0) return;
    const { databases } = this.#store;
    const sequence = lastOrdinal(databases.journal);
    const table = appendPositions(databases, this.#store.tableAt(sequence)!, stored);
    databases.journal.put(encodeKey(BigInt(sequence + 1)), encodeJournal({ table, delivered, crossmatched }));
  }
}

/** A function of a provenance set that computes each object's once: a batch has few of them. */
function memo(bytesOf: (set: ProvenanceSet) => Uint8Array): (set: ProvenanceSet) => Uint8Array {
  const known = new Map<ProvenanceSet, Uint8Array>();
  return set => {
    const bytes = known.get(set) ?? bytesOf(set);
    known.set(set, bytes);
    return bytes;
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

function withCrossmatch(
  object: StoredObject,
  result: CrossmatchResult,
  provenanceSet: number,
  crossmatchedAtUs: number,
): { readonly updated: StoredObject; readonly newSources: readonly MatchSource[] } {
  const versions = [...object.records, ...object.matches].map(entry => entry.matchVersion);
  const matchVersion = Math.max(0, ...versions) + 1;
  const found = result.matches
    .map(({ source, ...match }) => ({ match: { matchVersion, ...match } satisfies MatchSummary, source }))
    .sort((a, b) => compareMatches(a.match, b.match));
  const record = {
    matchVersion,
    crossmatchedAtUs,
    provenanceSet,
    brokersAtCrossmatch: object.brokers,
    catalogOutcomes: result.catalogOutcomes,
  };
  const updated: StoredObject = {
    ...object,
    state: 'crossmatched',
    records: [...object.records, record],
    matches: [...object.matches, ...found.map(({ match }) => match)],
    tns: object.tns ?? result.tns ?? null,
  };
  return { updated, newSources: found.map(({ source }) => source) };
}
