/**
 * Imports data from another store. An import only adds: missing objects, position errors, brokers, records, matches,
 * statistics of matches and associations, and the step from pending to crossmatched. Statistics of a newer version, or
 * with more values, replace those that are stored. Other existing data stays; contradicting data is rejected.
 */

import { isDeepStrictEqual } from 'node:util';
import { CANONICAL, toJson } from '@nearsky/astrotables/json';
import { CountChanges } from './counts.ts';
import type { Databases } from './databases.ts';
import type { History } from './history.ts';
import type { MatchStatistics } from './match_statistics.ts';
import { compareMatches } from './object_record.ts';
import { putRecord, readRecord } from './object_tables.ts';
import type { StoredPoint } from './positions.ts';
import { listRecent, raiseLatestIngest } from './recent.ts';
import { encodeKey, encodeObject, encodeSources } from './records.ts';
import { listMatches } from './source_index.ts';
import type {
  CrossmatchRecord,
  MatchSource,
  MatchSummary,
  ObjectState,
  ProvenanceSet,
  SkyPosition,
  StoredObject,
  TnsAssociation,
} from './types.ts';
import { isUnread, listUnread } from './unread.ts';

export type ImportItem =
  | {
      readonly kind: 'object';
      readonly diaObjectId: bigint;
      readonly object: Pick<
        StoredObject,
        'position' | 'reliability' | 'positionErrorMas' | 'ingestTimeUs' | 'eventTimeUs' | 'state' | 'brokers'
      >;
    }
  | {
      readonly kind: 'crossmatch_record';
      readonly diaObjectId: bigint;
      readonly record: Omit<CrossmatchRecord, 'provenanceSet'>;
      readonly provenance: ProvenanceSet;
    }
  | {
      readonly kind: 'match';
      readonly diaObjectId: bigint;
      readonly match: MatchSummary;
      readonly source: MatchSource;
    }
  | { readonly kind: 'tns_association'; readonly diaObjectId: bigint; readonly tns: TnsAssociation };

type ObjectFields = (ImportItem & { kind: 'object' })['object'];

/** An object with everything that belongs to it, encoded for the store by another thread. */
export interface PreparedObject extends EncodedObject {
  readonly kind: 'prepared';
  readonly diaObjectId: bigint;
  readonly position: SkyPosition | null;
  readonly ingestTimeUs: number;
  readonly eventTimeUs: number;
  readonly state: ObjectState;
  /** The items that the bytes were made from. They are needed if the store already has the object in another state. */
  items(): readonly ImportItem[];
}

/** The values of an object in the database. */
interface EncodedObject {
  readonly object: Uint8Array;
  /** Undefined if the object has no matches. */
  readonly sources: Uint8Array | undefined;
  /** Whether the object's current record has a catalog that could not be read. */
  readonly isUnread: boolean;
}

/** The outcome of an item. `no_object`: its object is neither stored nor in the same batch. */
export type ImportOutcome = 'imported' | 'unchanged' | 'no_object' | { readonly conflict: string };
/** The outcome of a prepared object: one for the whole object, or one per item. */
export type PreparedOutcome = 'imported' | 'unchanged' | readonly ImportOutcome[];

/** The maximum records, and the maximum matches, of one object. Only very many re-runs would reach it. */
const MAX_ENTRIES_PER_OBJECT = 1000;

/** A new object, as the listings have it. */
export interface NewObject extends StoredPoint {
  readonly eventTimeUs: number;
}

/** The changes of a commit for the journal: new objects, further brokers, crossmatches. */
export interface CommitChanges {
  readonly stored: readonly NewObject[];
  readonly delivered: readonly bigint[];
  readonly crossmatched: readonly bigint[];
}

/** The ordinals by which objects refer to values that many objects share. */
export interface Ordinals {
  /** Undefined if the set is not stored. */
  findProvenanceSet(set: ProvenanceSet): number | undefined;
  /** The ordinal of a set, which is stored if it is new. */
  provenanceSet(set: ProvenanceSet): number;
  /** The ordinal of a list, which is stored if it is new. */
  payloadKeys(keys: readonly string[]): number;
}

/** The data to which the items of an object are added. */
interface DraftContext {
  readonly ordinals: Ordinals;
  getObject(diaObjectId: bigint): StoredObject | undefined;
  getSources(diaObjectId: bigint): readonly MatchSource[];
}

/** The parts of the store and its transaction that a batch needs. */
interface ImportContext extends DraftContext {
  readonly databases: Databases;
  readonly history: History;
}

/**
 * Stores a batch, whose entries may be in any order, in the open transaction.
 * @returns an outcome for each entry, and the changes for the journal
 */
export function importItems(
  entries: readonly (ImportItem | PreparedObject)[],
  context: ImportContext,
): { readonly outcomes: (ImportOutcome | PreparedOutcome)[]; readonly changes: CommitChanges } {
  const { databases, history } = context;
  const stored: NewObject[] = [];
  const delivered: bigint[] = [];
  const crossmatched: bigint[] = [];
  const counts = new CountChanges();
  const outcomes = new Array<ImportOutcome | PreparedOutcome>(entries.length);
  const drafts = new Map<bigint, Draft>();
  const later: (() => void)[] = [];
  /** Applies an item of type `object` at once, and keeps other items for later. */
  const apply = (item: ImportItem, settle: (outcome: ImportOutcome) => void) => {
    const draft = drafts.get(item.diaObjectId) ?? new Draft(item.diaObjectId, context);
    drafts.set(item.diaObjectId, draft);
    if (item.kind === 'object') settle(draft.apply(item));
    else later.push(() => settle(draft.apply(item)));
  };
  const single = new Set(entries.filter(({ kind }) => kind !== 'prepared').map(({ diaObjectId }) => diaObjectId));
  for (const [i, entry] of entries.entries()) {
    if (entry.kind !== 'prepared') {
      apply(entry, outcome => (outcomes[i] = outcome));
      continue;
    }
    const outcome = single.has(entry.diaObjectId) ? undefined : putPrepared(databases, history, entry);
    if (outcome) {
      outcomes[i] = outcome;
      if (outcome === 'unchanged') continue;
      counts.added(entry.diaObjectId, entry.object);
      stored.push(entry);
      if (entry.state === 'crossmatched') crossmatched.push(entry.diaObjectId);
    } else {
      const each: ImportOutcome[] = [];
      outcomes[i] = each;
      for (const [k, item] of entry.items().entries()) apply(item, outcome => (each[k] = outcome));
    }
  }
  for (const settle of later) settle();

  for (const [id, draft] of drafts) {
    const saved = draft.save(databases, history);
    if (!saved) continue;
    counts.changed(draft.before, saved);
    if (!draft.before) stored.push(saved);
    else if (draft.hasNewBroker || draft.hasNewValues) delivered.push(id);
    if (draft.hasNewCrossmatch) crossmatched.push(id);
  }
  if (stored.length > 0)
    raiseLatestIngest(
      databases,
      stored.reduce((latest, { ingestTimeUs }) => Math.max(latest, ingestTimeUs), Number.NEGATIVE_INFINITY),
    );
  counts.store(databases);
  return { outcomes, changes: { stored, delivered, crossmatched } };
}

/** Stores a new object; returns undefined if the object is already stored in another state. */
function putPrepared(
  databases: Databases,
  history: History,
  prepared: PreparedObject,
): 'imported' | 'unchanged' | undefined {
  const key = encodeKey(prepared.diaObjectId);
  const known = readRecord(databases, prepared.diaObjectId);
  if (known) {
    if (!isEqual(known, prepared.object)) return undefined;
    // `known` is compared first, because this read overwrites it.
    return isEqual(databases.sources.getFast(key), prepared.sources) ? 'unchanged' : undefined;
  }
  history.keep(key, undefined);
  putObject(databases, prepared);
  if (prepared.sources) listRecent(databases, prepared);
  if (prepared.isUnread) databases.unread.put(key, NOTHING);
  return 'imported';
}

function putObject(databases: Databases, { diaObjectId, object, sources }: EncodedObject & { diaObjectId: bigint }) {
  const key = encodeKey(diaObjectId);
  putRecord(databases, key, object);
  if (!sources) return;
  databases.sources.put(key, sources);
  listMatches(databases, diaObjectId, object);
}

function isEqual(stored: Uint8Array | undefined, made: Uint8Array | undefined): boolean {
  return stored && made ? Buffer.compare(stored, made) === 0 : stored === made;
}

const NOTHING = new Uint8Array(0);

/**
 * The bytes of a new object, made from its own item and all items that belong to it.
 * @returns undefined if an item adds nothing, contradicts another, or has no object
 */
export function encodeNew(items: readonly ImportItem[], ordinals: Ordinals): EncodedObject | undefined {
  const [{ diaObjectId }] = items as [ImportItem];
  const draft = new Draft(diaObjectId, { ordinals, getObject: () => undefined, getSources: () => [] });
  return items.every(item => draft.apply(item) === 'imported') ? draft.encoded() : undefined;
}

/** One object of the batch, in the state to be stored. */
class Draft {
  /** The stored object; undefined if the object is new. */
  readonly before: StoredObject | undefined;
  hasNewBroker = false;
  hasNewCrossmatch = false;
  /** Whether the object gets a position error, or one of its matches gets statistics. */
  hasNewValues = false;
  readonly #id: bigint;
  readonly #context: DraftContext;
  #object: StoredObject | undefined;
  #sources: MatchSource[] | undefined;

  constructor(diaObjectId: bigint, context: DraftContext) {
    this.#id = diaObjectId;
    this.#context = context;
    this.before = context.getObject(diaObjectId);
    this.#object = this.before;
  }

  apply(item: ImportItem): ImportOutcome {
    if (item.kind === 'object') return this.#addObject(item.object);
    if (!this.#object) return 'no_object';
    switch (item.kind) {
      case 'crossmatch_record':
        return this.#addRecord(this.#object, item.record, item.provenance);
      case 'match':
        return this.#addMatch(this.#object, item.match, item.source);
      case 'tns_association':
        return this.#addTns(this.#object, item.tns);
    }
  }

  #addObject(fields: ObjectFields): ImportOutcome {
    const known = this.#object;
    if (!known) {
      this.#object = { ...fields, diaObjectId: this.#id, records: [], matches: [], tns: null };
      this.hasNewCrossmatch = fields.state === 'crossmatched';
      return 'imported';
    }
    const field = contradiction(known, fields);
    if (field) return { conflict: `object ${this.#id} is already stored with another ${field}` };
    const brokers = [...new Set([...known.brokers, ...fields.brokers])].sort();
    const hasNewBroker = brokers.length > known.brokers.length;
    const isCrossmatched = known.state === 'pending' && fields.state === 'crossmatched';
    const positionErrorMas = known.positionErrorMas ?? fields.positionErrorMas;
    const hasNewError = positionErrorMas !== known.positionErrorMas;
    if (!hasNewBroker && !isCrossmatched && !hasNewError) return 'unchanged';
    this.#object = {
      ...known,
      ...(positionErrorMas !== undefined && { positionErrorMas }),
      brokers,
      state: isCrossmatched ? 'crossmatched' : known.state,
    };
    this.hasNewValues ||= hasNewError;
    this.hasNewBroker ||= hasNewBroker;
    this.hasNewCrossmatch ||= isCrossmatched;
    return 'imported';
  }

  #addRecord(
    object: StoredObject,
    record: Omit<CrossmatchRecord, 'provenanceSet'>,
    provenance: ProvenanceSet,
  ): ImportOutcome {
    const { ordinals } = this.#context;
    const known = object.records.find(({ matchVersion }) => matchVersion === record.matchVersion);
    if (known) {
      if (isDeepStrictEqual(known, { ...record, provenanceSet: ordinals.findProvenanceSet(provenance) }))
        return 'unchanged';
      return { conflict: `a different record of version ${record.matchVersion} is already stored` };
    }
    if (object.records.length >= MAX_ENTRIES_PER_OBJECT) return tooMany('records');
    const added = { ...record, provenanceSet: ordinals.provenanceSet(provenance) };
    const records = [...object.records, added].sort((a, b) => a.matchVersion - b.matchVersion);
    return this.#changed({ ...object, records });
  }

  #addMatch(object: StoredObject, match: MatchSummary, source: MatchSource): ImportOutcome {
    const sources = (this.#sources ??= [...this.#context.getSources(this.#id)]);
    const place = object.matches.findIndex(known => compareMatches(known, match) >= 0);
    const known = object.matches[place];
    if (known && compareMatches(known, match) === 0) {
      const isSame =
        known.separationArcsec === match.separationArcsec &&
        known.separationAtEpochArcsec === match.separationAtEpochArcsec &&
        toJson(sources[place], CANONICAL) === toJson(source, CANONICAL);
      const [rank, other] = [rankOf(known.statistics), rankOf(match.statistics)];
      if (!isSame || (rank === other && !isDeepStrictEqual(known.statistics, match.statistics)))
        return { conflict: 'the match is already stored with other values' };
      if (other <= rank) return 'unchanged';
      this.#object = { ...object, matches: object.matches.with(place, match) };
      this.hasNewValues = true;
      return 'imported';
    }
    if (object.matches.length >= MAX_ENTRIES_PER_OBJECT) return tooMany('matches');
    const at = place === -1 ? object.matches.length : place;
    sources.splice(at, 0, source);
    return this.#changed({ ...object, matches: object.matches.toSpliced(at, 0, match) });
  }

  #addTns(object: StoredObject, tns: TnsAssociation): ImportOutcome {
    if (!object.tns) return this.#changed({ ...object, tns });
    return toJson(object.tns, CANONICAL) === toJson(tns, CANONICAL)
      ? 'unchanged'
      : { conflict: 'a different registry association is already stored' };
  }

  #changed(object: StoredObject): 'imported' {
    this.#object = object;
    this.hasNewCrossmatch = true;
    return 'imported';
  }

  /** The object to be stored; it must exist. */
  encoded(): EncodedObject {
    const sources = this.#sources ?? [];
    return {
      object: encodeObject(this.#object!),
      isUnread: isUnread(this.#object!),
      sources:
        sources.length > 0 ? encodeSources(sources, keys => this.#context.ordinals.payloadKeys(keys)) : undefined,
    };
  }

  /** Writes the object, and returns it; undefined if nothing about it is new. */
  save(databases: Databases, history: History): StoredObject | undefined {
    const object = this.#object;
    const isChanged = this.hasNewBroker || this.hasNewCrossmatch || this.hasNewValues;
    if (!object || (this.before && !isChanged)) return undefined;
    const key = encodeKey(this.#id);
    history.keepStored(key, { withSources: true });
    putObject(databases, { diaObjectId: this.#id, ...this.encoded() });
    if (!this.before?.matches.length && object.matches.length > 0) listRecent(databases, object);
    if (object.state === 'crossmatched' && this.before?.state === 'pending') databases.pending.remove(key);
    listUnread(databases, object);
    return object;
  }
}

/** Statistics replace those of a lower rank: of an older version, or without the values that need position errors. */
function rankOf(statistics: MatchStatistics | undefined): number {
  return statistics ? 2 * statistics.version + (statistics.likelihood ? 1 : 0) : 0;
}

/** The name of a field that the first delivery fixed and that differs in the import. */
function contradiction(known: StoredObject, fields: ObjectFields): string | undefined {
  if (!samePosition(known.position, fields.position)) return 'position';
  if (known.reliability !== fields.reliability) return 'reliability';
  const [error, other] = [known.positionErrorMas, fields.positionErrorMas];
  if (error !== undefined && other !== undefined && error !== other) return 'position_error_mas';
  if (known.ingestTimeUs !== fields.ingestTimeUs) return 'ingest_time';
  return known.eventTimeUs === fields.eventTimeUs ? undefined : 'event_time';
}

function samePosition(a: SkyPosition | null, b: SkyPosition | null): boolean {
  return a === b || (a !== null && b !== null && a.ra === b.ra && a.dec === b.dec);
}

const tooMany = (what: string) => ({
  conflict: `the object has ${MAX_ENTRIES_PER_OBJECT} ${what}, the maximum`,
});
