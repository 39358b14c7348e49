/**
 * Bringing what another store held into this one. An import only adds: objects, brokers, records, matches and associations that are
 * not there yet, and the step from pending to crossmatched. What is there already stays; what contradicts it is refused.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Databases } from './environment.ts';
import type { Interner } from './interner.ts';
import { compareMatches } from './object_record.ts';
import type { StoredPoint } from './positions.ts';
import { listRecent, raiseLatestIngest } from './recent.ts';
import { encodeKey, encodeObject, encodeSources } from './records.ts';
import type {
  CrossmatchRecord,
  MatchSource,
  MatchSummary,
  ProvenanceSet,
  SkyPosition,
  StoredObject,
  TnsAssociation,
} from './types.ts';

export type ImportItem =
  | {
      readonly kind: 'object';
      readonly diaObjectId: bigint;
      readonly object: Pick<
        StoredObject,
        'position' | 'reliability' | 'ingestTimeUs' | 'eventTimeUs' | 'state' | 'brokers'
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

/** What became of an item. `no_object`: its object is neither stored nor in the same batch. */
export type ImportOutcome = 'imported' | 'unchanged' | 'no_object' | { readonly conflict: string };

/** More records or matches than this of one object are refused: it would take many re-runs to have as many. */
export const MAX_ENTRIES_PER_OBJECT = 1000;

/** What a commit changed, to be journaled: new objects, further brokers, crossmatches. */
export interface CommitChanges {
  readonly stored: readonly StoredPoint[];
  readonly delivered: readonly bigint[];
  readonly crossmatched: readonly bigint[];
}

/** What the batch needs of the store and of its transaction. */
export interface ImportContext {
  readonly databases: Databases;
  readonly provenanceSets: Interner;
  /** The value of a set in the database. */
  provenanceBytes(set: ProvenanceSet): Uint8Array;
  getObject(diaObjectId: bigint): StoredObject | undefined;
  getSources(diaObjectId: bigint): readonly MatchSource[];
  payloadKeysOrdinal(keys: readonly string[]): number;
}

/**
 * Stores a batch, in any order, in the transaction that is open.
 * @returns an outcome an item, and what is to be journaled
 */
export function importItems(
  items: readonly ImportItem[],
  context: ImportContext,
): { readonly outcomes: ImportOutcome[]; readonly changes: CommitChanges } {
  const drafts = new Map<bigint, Draft>();
  const outcomes = new Array<ImportOutcome>(items.length);
  const apply = (item: ImportItem, i: number) => {
    const draft = drafts.get(item.diaObjectId) ?? new Draft(item.diaObjectId, context);
    drafts.set(item.diaObjectId, draft);
    outcomes[i] = draft.apply(item);
  };
  for (const [i, item] of items.entries()) if (item.kind === 'object') apply(item, i);
  for (const [i, item] of items.entries()) if (item.kind !== 'object') apply(item, i);

  const stored: StoredPoint[] = [];
  const delivered: bigint[] = [];
  const crossmatched: bigint[] = [];
  for (const [id, draft] of drafts) {
    const saved = draft.save();
    if (!saved) continue;
    if (draft.isNew) stored.push(saved);
    else if (draft.hasNewBroker) delivered.push(id);
    if (draft.hasNewCrossmatch) crossmatched.push(id);
  }
  return { outcomes, changes: { stored, delivered, crossmatched } };
}

/** One object of the batch, as it is to be stored. */
class Draft {
  readonly isNew: boolean;
  hasNewBroker = false;
  hasNewCrossmatch = false;
  readonly #id: bigint;
  readonly #context: ImportContext;
  readonly #wasPending: boolean;
  readonly #wasListed: boolean;
  #object: StoredObject | undefined;
  #sources: MatchSource[] | undefined;

  constructor(diaObjectId: bigint, context: ImportContext) {
    this.#id = diaObjectId;
    this.#context = context;
    this.#object = context.getObject(diaObjectId);
    this.isNew = this.#object === undefined;
    this.#wasPending = this.#object?.state === 'pending';
    this.#wasListed = (this.#object?.matches.length ?? 0) > 0;
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
    if (field) return { conflict: `object ${this.#id} is stored with another ${field}` };
    const brokers = [...new Set([...known.brokers, ...fields.brokers])].sort();
    const hasNewBroker = brokers.length > known.brokers.length;
    const isCrossmatched = known.state === 'pending' && fields.state === 'crossmatched';
    if (!hasNewBroker && !isCrossmatched) return 'unchanged';
    this.#object = { ...known, brokers, state: isCrossmatched ? 'crossmatched' : known.state };
    this.hasNewBroker ||= hasNewBroker;
    this.hasNewCrossmatch ||= isCrossmatched;
    return 'imported';
  }

  #addRecord(
    object: StoredObject,
    record: Omit<CrossmatchRecord, 'provenanceSet'>,
    provenance: ProvenanceSet,
  ): ImportOutcome {
    const { provenanceSets, provenanceBytes } = this.#context;
    const bytes = provenanceBytes(provenance);
    const known = object.records.find(({ matchVersion }) => matchVersion === record.matchVersion);
    if (known) {
      if (isDeepStrictEqual(known, { ...record, provenanceSet: provenanceSets.find(bytes) })) return 'unchanged';
      return { conflict: `another record of version ${record.matchVersion} is stored` };
    }
    if (object.records.length >= MAX_ENTRIES_PER_OBJECT) return tooMany('records');
    const added = { ...record, provenanceSet: provenanceSets.ordinalOf(bytes) };
    const records = [...object.records, added].sort((a, b) => a.matchVersion - b.matchVersion);
    return this.#changed({ ...object, records });
  }

  #addMatch(object: StoredObject, match: MatchSummary, source: MatchSource): ImportOutcome {
    const sources = (this.#sources ??= [...this.#context.getSources(this.#id)]);
    const place = object.matches.findIndex(known => compareMatches(known, match) >= 0);
    const known = object.matches[place];
    if (known && compareMatches(known, match) === 0) {
      const isSame =
        known.separationArcsec === match.separationArcsec && plainText(sources[place]) === plainText(source);
      return isSame ? 'unchanged' : { conflict: 'the same match is stored with other values' };
    }
    if (object.matches.length >= MAX_ENTRIES_PER_OBJECT) return tooMany('matches');
    const at = place === -1 ? object.matches.length : place;
    sources.splice(at, 0, source);
    return this.#changed({ ...object, matches: object.matches.toSpliced(at, 0, match) });
  }

  #addTns(object: StoredObject, tns: TnsAssociation): ImportOutcome {
    if (!object.tns) return this.#changed({ ...object, tns });
    return plainText(object.tns) === plainText(tns)
      ? 'unchanged'
      : { conflict: 'another registry association is stored' };
  }

  #changed(object: StoredObject): 'imported' {
    this.#object = object;
    this.hasNewCrossmatch = true;
    return 'imported';
  }

  /** Writes the object, and gives it back; undefined where nothing about it is new. */
  save(): StoredObject | undefined {
    const { databases } = this.#context;
    const object = this.#object;
    if (!object || !(this.isNew || this.hasNewBroker || this.hasNewCrossmatch)) return undefined;
    const key = encodeKey(this.#id);
    databases.objects.put(key, encodeObject(object));
    if (this.#sources && this.#sources.length > 0) {
      databases.sources.put(
        key,
        encodeSources(this.#sources, keys => this.#context.payloadKeysOrdinal(keys)),
      );
    }
    if (this.isNew) raiseLatestIngest(databases, object.ingestTimeUs);
    if (!this.#wasListed && object.matches.length > 0) listRecent(databases, object);
    if (object.state === 'pending' && this.isNew) databases.pending.put(key, new Uint8Array(0));
    if (object.state === 'crossmatched' && this.#wasPending) databases.pending.remove(key);
    return object;
  }
}

/** The name of a field that the first delivery fixed and that the import has otherwise. */
function contradiction(known: StoredObject, fields: ObjectFields): string | undefined {
  if (!samePosition(known.position, fields.position)) return 'position';
  if (known.reliability !== fields.reliability) return 'reliability';
  if (known.ingestTimeUs !== fields.ingestTimeUs) return 'ingest_time';
  return known.eventTimeUs === fields.eventTimeUs ? undefined : 'event_time';
}

function samePosition(a: SkyPosition | null, b: SkyPosition | null): boolean {
  return a === b || (a !== null && b !== null && a.ra === b.ra && a.dec === b.dec);
}

const tooMany = (what: string) => ({
  conflict: `the object has ${MAX_ENTRIES_PER_OBJECT} ${what}, the most there may be`,
});

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** A text that is equal for what an export writes equally: the order of keys is free, a small integer may be a bigint, NaN is null. */
function plainText(value: MatchSource | TnsAssociation | undefined): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member === 'bigint') return Number.isSafeInteger(Number(member)) ? Number(member) : [`${member}`];
    if (typeof member !== 'object' || member === null) return member;
    return Object.fromEntries(Object.entries(member).sort(([a], [b]) => compareText(a, b)));
  });
}
