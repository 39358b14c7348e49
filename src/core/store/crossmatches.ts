/** Writes the outcomes of crossmatches into the records of their objects. */
import { catalogSkips, crossmatchBatches, crossmatchMatches, Tally } from './counters.ts';
import { CountChanges } from './counts.ts';
import type { Databases } from './databases.ts';
import type { History } from './history.ts';
import { Interner } from './interner.ts';
import { NightTally } from './nights.ts';
import { compareMatches, encodeFirstCrossmatch, FIRST_VERSION, ObjectView, outcomesText } from './object_record.ts';
import { readRecord } from './object_tables.ts';
import { listRecent } from './recent.ts';
import { appendSources, encodeKey, encodeObject, encodePlain, encodeProvenanceSet } from './records.ts';
import { listMatch } from './source_index.ts';
import type {
  CrossmatchResult,
  CrossmatchVersions,
  MatchSource,
  MatchSummary,
  PackedSource,
  ProvenanceSet,
  StoredObject,
} from './types.ts';
import { isUnread, listUnread, readsAsMuch, readsMore, skippedCatalogs } from './unread.ts';

const NOTHING = new Uint8Array(0);

/** Values that most objects of a batch share, because they have the same outcomes. */
interface Outcomes {
  readonly text: string;
  readonly skipped: ReadonlySet<string>;
  /** The number of objects whose crossmatch is recorded. */
  recorded: number;
  /** The number of objects that get their first crossmatch. */
  matched: number;
  unmatched: number;
}

export class CrossmatchRecorder {
  readonly #databases: Databases;
  readonly #history: History;
  readonly #provenanceBytes: Uint8Array;
  readonly #crossmatchedAtUs: number;
  readonly #isAgain: boolean;
  readonly #provenanceSets: Interner;
  #provenanceOrdinal: number | undefined;
  readonly #payloadKeys: Interner;
  readonly #keyLists = new Map<readonly string[], number>();
  readonly #outcomes = new Map<CrossmatchResult['catalogOutcomes'], Outcomes>();
  readonly #tally = new Tally();
  readonly #night: NightTally;
  readonly #counts = new CountChanges();
  readonly #skipped = new Set<string>();
  /** The number of objects whose first crossmatch finds a source, by catalog. */
  readonly #firstSources = new Map<string, number>();
  readonly #view = new ObjectView();
  readonly #crossmatched: bigint[] = [];
  readonly #versions: number[] = [];

  constructor(
    databases: Databases,
    history: History,
    provenance: ProvenanceSet,
    crossmatchedAtUs: number,
    isAgain = false,
  ) {
    this.#history = history;
    this.#isAgain = isAgain;
    this.#databases = databases;
    this.#provenanceBytes = encodeProvenanceSet(provenance);
    this.#crossmatchedAtUs = crossmatchedAtUs;
    this.#night = new NightTally(crossmatchedAtUs);
    this.#provenanceSets = new Interner(databases.provenance_sets);
    this.#payloadKeys = new Interner(databases.payload_keys);
  }

  /** Stores a result, unless it must be skipped; see `Writer.recordCrossmatches`. */
  record(result: CrossmatchResult): void {
    const key = encodeKey(result.diaObjectId);
    const stored = readRecord(this.#databases, result.diaObjectId);
    if (!stored) return;
    this.#view.load(result.diaObjectId, stored);
    // A copy: `isWanted` may read the database, which overwrites `stored`.
    const replaced = this.#view.bytes.subarray(0, this.#view.length);
    if (this.#view.isUntried) {
      this.#history.keep(key, replaced);
      this.#recordFirst(key, result);
      this.#versions.push(FIRST_VERSION);
    } else {
      const object = this.#view.decode();
      if (!this.#isWanted(object, result)) return;
      this.#history.keep(key, replaced);
      this.#versions.push(this.#recordFurther(key, object, result));
    }
    this.#databases.pending.remove(key);
    this.#crossmatched.push(result.diaObjectId);
    for (const { catalogName } of result.matches) {
      this.#tally.add(crossmatchMatches(catalogName));
      this.#night.matched(catalogName);
    }
    const outcomes = this.#outcomesOf(result);
    outcomes.recorded++;
    for (const catalog of outcomes.skipped) this.#skipped.add(catalog);
  }

  #isWanted(object: StoredObject, result: CrossmatchResult): boolean {
    if (object.state === 'pending') return true;
    const current = object.records.at(-1);
    if (isUnread(object) && readsMore(result, current!)) return true;
    return this.#isAgain && readsAsMuch(result, current) && current?.provenanceSet !== this.#provenanceSet();
  }

  /** Handles the usual case without decoding the object: it keeps the object's bytes, and appends further ones. */
  #recordFirst(key: Uint8Array, result: CrossmatchResult): void {
    const found = numbered(result, FIRST_VERSION);
    const outcomes = this.#outcomesOf(result);
    const { diaObjectId, ingestTimeUs, eventTimeUs } = this.#view;
    const bytes = encodeFirstCrossmatch(this.#view, {
      crossmatchedAtUs: this.#crossmatchedAtUs,
      provenanceSet: this.#provenanceSet(),
      outcomes: outcomes.text,
      matches: found.map(({ match }) => match),
      tns: result.tns,
    });
    this.#databases.objects.put(key, bytes);
    this.#putSources(key, diaObjectId, found);
    // An object without a crossmatch is not listed as unread, so it need not be removed from the list.
    if (outcomes.skipped.size > 0) this.#databases.unread.put(key, NOTHING);
    if (found.length === 0) {
      outcomes.unmatched++;
      return;
    }
    outcomes.matched++;
    listRecent(this.#databases, { diaObjectId, ingestTimeUs, eventTimeUs });
    for (const catalog of new Set(found.map(({ match }) => match.catalogName)))
      this.#firstSources.set(catalog, (this.#firstSources.get(catalog) ?? 0) + 1);
  }

  /** @returns the match version */
  #recordFurther(key: Uint8Array, object: StoredObject, result: CrossmatchResult): number {
    const versions = [...object.records, ...object.matches].map(entry => entry.matchVersion);
    if (object.records.length > 0) this.#night.crossmatchedAgain();
    const matchVersion = Math.max(FIRST_VERSION - 1, ...versions) + 1;
    const found = numbered(result, matchVersion);
    const record = {
      matchVersion,
      crossmatchedAtUs: this.#crossmatchedAtUs,
      provenanceSet: this.#provenanceSet(),
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
    this.#databases.objects.put(key, encodeObject(updated));
    this.#putSources(key, object.diaObjectId, found, this.#databases.sources.get(key));
    if (found.length > 0) listRecent(this.#databases, updated);
    listUnread(this.#databases, updated);
    this.#counts.changed(object, updated);
    return matchVersion;
  }

  #putSources(key: Uint8Array, diaObjectId: bigint, found: readonly Found[], stored?: Uint8Array): void {
    if (found.length === 0) return;
    for (const { match } of found) listMatch(this.#databases, match, diaObjectId);
    const sources = found.map(({ source }) => source);
    this.#databases.sources.put(
      key,
      appendSources(stored, sources, keys => this.#ordinalOf(keys)),
    );
  }

  /** Stored with the first object that is recorded. */
  #provenanceSet(): number {
    return (this.#provenanceOrdinal ??= this.#provenanceSets.ordinalOf(this.#provenanceBytes));
  }

  #ordinalOf(keys: readonly string[]): number {
    const known = this.#keyLists.get(keys);
    if (known !== undefined) return known;
    const ordinal = this.#payloadKeys.ordinalOf(encodePlain(keys));
    this.#keyLists.set(keys, ordinal);
    return ordinal;
  }

  #outcomesOf({ catalogOutcomes }: CrossmatchResult): Outcomes {
    let outcomes = this.#outcomes.get(catalogOutcomes);
    if (!outcomes) {
      const skipped = skippedCatalogs({ catalogOutcomes });
      outcomes = { text: outcomesText(catalogOutcomes), skipped, recorded: 0, matched: 0, unmatched: 0 };
      this.#outcomes.set(catalogOutcomes, outcomes);
    }
    return outcomes;
  }

  /**
   * Stores the counts.
   * @returns the recorded objects, in their order, and their versions
   */
  finish(): { readonly crossmatched: readonly bigint[]; readonly versions: CrossmatchVersions } {
    for (const [outcomes, { recorded, matched, unmatched }] of this.#outcomes) {
      if (matched + unmatched > 0) this.#counts.firstCrossmatched(outcomes, matched, unmatched);
      if (recorded > 0) this.#night.crossmatched(outcomes, recorded);
    }
    for (const [catalog, sources] of this.#firstSources) this.#counts.firstMatched(catalog, sources);
    if (this.#crossmatched.length > 0) this.#tally.add(crossmatchBatches());
    for (const catalog of this.#skipped) this.#tally.add(catalogSkips(catalog));
    this.#tally.store(this.#databases);
    this.#night.store(this.#databases);
    this.#counts.store(this.#databases);
    const areFirst = this.#versions.every(version => version === FIRST_VERSION);
    return { crossmatched: this.#crossmatched, versions: areFirst ? FIRST_VERSION : this.#versions };
  }
}

interface Found {
  readonly match: MatchSummary;
  readonly source: MatchSource | PackedSource;
}

/** The matches of a result, in the order in which they are stored. */
function numbered({ matches }: CrossmatchResult, matchVersion: number): Found[] {
  return matches
    .map(({ source, ...match }) => ({ match: { matchVersion, ...match } satisfies MatchSummary, source }))
    .sort((a, b) => compareMatches(a.match, b.match));
}
