/**
 * Makes every change of the archive; nothing else does. The caller opens the write transaction. The outcome depends
 * only on the stored data and the change: never on a clock, chance, a setting, or this process. So the same changes in
 * the same order make the same archive, byte for byte, wherever they are applied. The claims of processes
 * (src/core/store/claims.ts) are not part of the archive: they record which process of this machine works on what.
 */
import type { Change, ChangeKind, ChangeOf, IngestCounts, RemovedCounts } from './changes.ts';
import {
  catalogRegistrations,
  catalogRows,
  catalogRowsWithout,
  ingestedCounter,
  lastIngestMs,
  Tally,
} from './counters.ts';
import { CountChanges } from './counts.ts';
import { CrossmatchRecorder } from './crossmatches.ts';
import type { Databases } from './databases.ts';
import { History, keepLatestIngest } from './history.ts';
import { type CommitChanges, importItems, type NewObject, type Ordinals } from './import.ts';
import { Interner } from './interner.ts';
import { publishLease, readLease, takeLease } from './leases.ts';
import { raiseLevel } from './level.ts';
import { storePublished, writeSettings } from './meta.ts';
import { NightTally } from './nights.ts';
import { reportNode } from './nodes.ts';
import { putRecord, readRecord } from './object_tables.ts';
import { afterRemoval, appendPositions, journalState, tableAfter } from './positions.ts';
import { listObjects, raiseLatestIngest, unlistObjects } from './recent.ts';
import {
  decodeObject,
  decodeSources,
  encodeJournal,
  encodeKey,
  encodeNewObject,
  encodeObject,
  encodePlain,
  encodeProvenanceSet,
  type JournalRecord,
  lastOrdinal,
} from './records.ts';
import { beginLoad, change as changeLoad, changePublished, publish, removeLoads, stage } from './registry.ts';
import { noteRemoval, readLastRemoval } from './removals.ts';
import { unlistMatches } from './source_index.ts';
import { readPayloadKeys } from './store_reader.ts';
import type { MatchSummary, ProvenanceSet, StoredObject } from './types.ts';

const APPLY = {
  deliver,
  crossmatch,
  fill_statistics: fillStatistics,
  import: importEntries,
  remove: removeObjects,
  register_catalog: registerCatalog,
  remove_catalog: removeCatalog,
  published,
  take_lease: (databases: Databases, { name, owner }: ChangeOf<'take_lease'>) => takeLease(databases, name, owner),
  begin_log: requireState,
  share_settings: (databases: Databases, { settings, isReplacing }: ChangeOf<'share_settings'>) =>
    writeSettings(databases, settings, isReplacing),
  report_node: (databases: Databases, report: ChangeOf<'report_node'>) => reportNode(databases, report),
  level: (databases: Databases, { level }: ChangeOf<'level'>) => raiseLevel(databases, level),
  begin_registry: beginLoad,
  stage_registry: (databases: Databases, { load, records }: ChangeOf<'stage_registry'>) =>
    records.map(record => stage(databases, load, record)),
  change_staged_registry: (databases: Databases, { load, records }: ChangeOf<'change_staged_registry'>) => {
    for (const record of records) changeLoad(databases, load, record);
  },
  publish_registry: (databases: Databases, { snapshot, base }: ChangeOf<'publish_registry'>) =>
    publish(databases, snapshot, base),
  change_registry: (databases: Databases, { base, records, epochUs }: ChangeOf<'change_registry'>) =>
    changePublished(databases, base, records, epochUs),
  remove_registry_loads: (databases: Databases, { first, end, limit }: ChangeOf<'remove_registry_loads'>) =>
    removeLoads(databases, first, end, limit),
} satisfies { readonly [K in ChangeKind]: (databases: Databases, change: ChangeOf<K>) => unknown };

export type Applied<K extends ChangeKind> = ReturnType<(typeof APPLY)[K]>;

/**
 * Makes a change in the open write transaction. @throws RefusedChange, before anything is written, if the change no
 * longer fits the stored data
 */
export function apply<K extends ChangeKind>(databases: Databases, change: Change & { kind: K }): Applied<K> {
  const make = APPLY[change.kind] as (databases: Databases, change: Change) => unknown;
  return make(databases, change) as Applied<K>;
}

function deliver(databases: Databases, { deliveries, unstored, timeUs }: ChangeOf<'deliver'>): IngestCounts {
  const history = new History(databases);
  const stored: NewObject[] = [];
  const delivered: bigint[] = [];
  const brokers: { readonly stored: string[]; readonly delivered: string[] } = { stored: [], delivered: [] };
  const tally = new Tally();
  const night = new NightTally(timeUs);
  let duplicate = 0;
  let names = ingestCounters('');
  for (const delivery of deliveries) {
    const { diaObjectId, position, broker } = delivery;
    const known = readObject(databases, diaObjectId);
    const isNew = !known?.brokers.includes(broker);
    night.delivered(broker, known ? (isNew ? 'further_broker' : 'duplicate') : 'stored', position !== null);
    if (!known) {
      const key = encodeKey(diaObjectId);
      history.keep(key, undefined);
      databases.pending.put(key, encodeNewObject(delivery, timeUs));
      stored.push({ diaObjectId, position, ingestTimeUs: timeUs, eventTimeUs: delivery.eventTimeUs });
      brokers.stored.push(broker);
    } else if (isNew) {
      replaceObject(databases, history, { ...known, brokers: [...known.brokers, broker].sort() });
      delivered.push(diaObjectId);
      brokers.delivered.push(broker);
    } else {
      duplicate++;
    }
    if (broker !== names.broker) names = ingestCounters(broker);
    tally.add(isNew ? names.fresh : names.duplicate);
    tally.set(names.lastMs, Math.floor(timeUs / 1000));
  }
  tally.store(databases);
  if (unstored) night.unstored(unstored);
  night.store(databases);
  const counts = new CountChanges();
  counts.addedPending(stored.length);
  counts.store(databases);
  if (stored.length > 0) raiseLatestIngest(databases, timeUs);
  const source = { timeUs, brokers: oneOrAll([...brokers.stored, ...brokers.delivered]) };
  journal(databases, { stored, delivered, crossmatched: [] }, { source });
  return { stored: stored.length, delivered: delivered.length, duplicate };
}

/** A single name if all names are equal. */
const oneOrAll = (names: readonly string[]) => (names.every(name => name === names[0]) ? (names[0] ?? '') : names);

/** The names under which a broker's deliveries are counted. */
const ingestCounters = (broker: string) => ({
  broker,
  fresh: ingestedCounter(broker, 'new'),
  duplicate: ingestedCounter(broker, 'duplicate'),
  lastMs: lastIngestMs(broker),
});

function crossmatch(databases: Databases, { results, provenance, isAgain, timeUs }: ChangeOf<'crossmatch'>) {
  const recorder = new CrossmatchRecorder(databases, new History(databases), provenance, timeUs, isAgain);
  for (const result of results) recorder.record(result);
  const { crossmatched, versions } = recorder.finish();
  journal(databases, { stored: [], delivered: [], crossmatched }, { versions });
  return { recorded: crossmatched.length, skipped: results.length - crossmatched.length };
}

/** Adds statistics to the matches of the objects' current crossmatches where they are missing, or of an older version. */
function fillStatistics(databases: Databases, { found }: ChangeOf<'fill_statistics'>) {
  const history = new History(databases);
  const filled: bigint[] = [];
  for (const { diaObjectId, matches: known } of found) {
    const object = readObject(databases, diaObjectId);
    const version = object?.records.at(-1)?.matchVersion;
    const statisticsOf = ({ matchVersion, statistics, ...match }: MatchSummary) => {
      if (matchVersion !== version) return undefined;
      const found = known.find(
        each => each.catalogName === match.catalogName && each.catalogSourceId === match.catalogSourceId,
      )?.statistics;
      return found && found.version > (statistics?.version ?? 0) ? found : undefined;
    };
    if (!object?.matches.some(statisticsOf)) continue;
    const matches = object.matches.map(match => {
      const statistics = statisticsOf(match);
      return statistics ? { ...match, statistics } : match;
    });
    replaceObject(databases, history, { ...object, matches });
    filled.push(diaObjectId);
  }
  journal(databases, { stored: [], delivered: filled, crossmatched: [] });
  return { recorded: filled.length, skipped: found.length - filled.length };
}

function importEntries(databases: Databases, { entries, timeUs }: ChangeOf<'import'>) {
  const { outcomes, changes } = importItems(entries, {
    databases,
    history: new History(databases),
    ordinals: ordinalsOf(databases),
    getObject: id => readObject(databases, id),
    getSources: id => {
      const bytes = databases.sources.get(encodeKey(id));
      return bytes ? decodeSources(bytes, ordinal => readPayloadKeys(databases, ordinal)) : [];
    },
  });
  journal(databases, changes, { versions: null });
  const night = new NightTally(timeUs);
  night.imported(changes.stored.length);
  night.store(databases);
  return outcomes;
}

/** Without a broker, all deliveries of an object are removed. */
function removeObjects(databases: Databases, { ids, reason, broker, timeUs }: ChangeOf<'remove'>): RemovedCounts {
  const { objects, sources, pending, unread } = databases;
  const history = new History(databases);
  const removed: StoredObject[] = [];
  const kept: bigint[] = [];
  const counts = new CountChanges();
  for (const id of ids) {
    const object = readObject(databases, id);
    if (!object || (broker !== undefined && !object.brokers.includes(broker))) continue;
    const brokers = broker === undefined ? [] : object.brokers.filter(each => each !== broker);
    if (brokers.length > 0) {
      replaceObject(databases, history, { ...object, brokers });
      kept.push(id);
      continue;
    }
    const key = encodeKey(id);
    history.keepStored(key, { withSources: true });
    for (const table of [objects, sources, pending, unread]) if (table.doesExist(key)) table.remove(key);
    unlistMatches(databases, id, object.matches);
    counts.removed(object);
    removed.push(object);
  }
  if (removed.length + kept.length === 0) return { removed: 0, kept: 0 };
  unlistObjects(databases, removed);
  counts.store(databases);
  const night = new NightTally(timeUs);
  night.removed(removed.length, kept.length, reason);
  night.store(databases);
  const named = removed.map(({ diaObjectId, position, ingestTimeUs }) => ({ diaObjectId, position, ingestTimeUs }));
  const removal = { timeUs, reason, previous: readLastRemoval(databases), objects: named };
  journal(databases, { stored: [], delivered: kept, crossmatched: [] }, { removal });
  return { removed: removed.length, kept: kept.length };
}

/** The state of one transaction. */
function ordinalsOf(databases: Databases): Ordinals {
  const provenanceSets = new Interner(databases.provenance_sets);
  const payloadKeys = new Interner(databases.payload_keys);
  // The results of a batch have few different sets; results with the same set share one object.
  const encoded = new Map<ProvenanceSet, Uint8Array>();
  const bytesOf = (set: ProvenanceSet) => {
    const bytes = encoded.get(set) ?? encodeProvenanceSet(set);
    encoded.set(set, bytes);
    return bytes;
  };
  return {
    findProvenanceSet: set => provenanceSets.find(bytesOf(set)),
    provenanceSet: set => provenanceSets.ordinalOf(bytesOf(set)),
    payloadKeys: keys => payloadKeys.ordinalOf(encodePlain(keys)),
  };
}

function registerCatalog(databases: Databases, { registration }: ChangeOf<'register_catalog'>): void {
  const { name, counted } = registration;
  databases.catalogs.put(new TextEncoder().encode(name), encodePlain(registration));
  const tally = new Tally();
  tally.add(catalogRegistrations());
  tally.set(catalogRows(name), counted?.rows ?? null);
  tally.set(catalogRowsWithout(name, 'position'), counted?.withoutPosition ?? null);
  tally.set(catalogRowsWithout(name, 'id'), counted?.withoutId ?? null);
  tally.store(databases);
}

/** Crossmatches that used the removed catalog keep their results. */
function removeCatalog(databases: Databases, { name }: ChangeOf<'remove_catalog'>): void {
  databases.catalogs.remove(new TextEncoder().encode(name));
  const tally = new Tally();
  tally.add(catalogRegistrations());
  for (const counter of [catalogRows(name), catalogRowsWithout(name, 'position'), catalogRowsWithout(name, 'id')])
    tally.set(counter, null);
  tally.store(databases);
}

/** @returns false if another node has taken over meanwhile */
function published(databases: Databases, { topic, position, owner }: ChangeOf<'published'>): boolean {
  if (owner !== undefined && readLease(databases, publishLease(topic)) !== owner) return false;
  storePublished(databases, topic, position);
  return true;
}

/** @throws Error if the log continues another archive */
function requireState(databases: Databases, { sequence, digest }: ChangeOf<'begin_log'>): void {
  const here = journalState(databases);
  if (here.sequence === sequence && here.digest === digest) return;
  throw new Error(
    'the log continues an archive that this node does not have: start this node from a backup of another node (nearsky backup)',
  );
}

function readObject(databases: Databases, diaObjectId: bigint): StoredObject | undefined {
  const bytes = readRecord(databases, diaObjectId);
  return bytes && decodeObject(diaObjectId, bytes);
}

function replaceObject(databases: Databases, history: History, object: StoredObject): void {
  const key = encodeKey(object.diaObjectId);
  history.keepStored(key, { withSources: false });
  putRecord(databases, key, encodeObject(object));
}

/**
 * Lists the new objects, and appends the entry of this change, unless nothing changed. The number is taken inside the
 * transaction, because other processes write too.
 */
function journal(
  databases: Databases,
  changes: CommitChanges,
  further: Pick<JournalRecord, 'versions' | 'removal' | 'source'> = {},
): void {
  const { stored, delivered, crossmatched } = changes;
  const { removal } = further;
  if (stored.length + delivered.length + crossmatched.length === 0 && !removal) return;
  const sequence = lastOrdinal(databases.journal);
  const appended = appendPositions(databases, tableAfter(databases, sequence), stored);
  listObjects(databases, stored);
  const table = removal
    ? afterRemoval(
        appended,
        removal.objects.map(({ diaObjectId }) => diaObjectId),
      )
    : appended;
  databases.journal.put(encodeKey(BigInt(sequence + 1)), encodeJournal({ table, delivered, crossmatched, ...further }));
  if (removal) noteRemoval(databases, sequence + 1);
  keepLatestIngest(databases, sequence + 1);
}
