/**
 * Writes stored objects as JSON. The contract defines the keys and their order (docs/contract.md, Provenance; Objects).
 */

import { type ByteSink, fragment, readDecimal } from '@nearsky/astrotables/bytes';
import { toJson } from '@nearsky/astrotables/json';
import { writeTime } from '../base/times.ts';
import type { DetailLevel, ObjectStatus, QualifiesReason } from '../contract/enums.ts';
import { WORTH_KEYS, type Worth } from '../contract/object_fields.ts';
import { worthOf } from '../store/match_statistics.ts';
import type { ObjectView } from '../store/object_record.ts';
import type { StoredObjects } from '../store/objects_at.ts';
import type { SourceValues } from '../store/records.ts';
import type { BesideObjects } from '../store/store_reader.ts';
import type { QueryContext } from './context.ts';
import {
  BRACE,
  type CurrentFragments,
  END_OF_LIST,
  NO_SET,
  releaseFragment,
  SEPARATOR,
  type SetFragments,
  type SharedFragments,
  skippedFragment,
} from './shared_fragments.ts';

export const DETAIL_RANK: Readonly<Record<DetailLevel, number>> = { ids: 0, position: 1, matches: 2, full: 3 };

const ID = fragment('{"diaObjectId": ');
const ID_TEXT = fragment(', "diaObjectId_str": "');
const STATUS = fragment('", "status": "');
const END_OF_TEXT = fragment('"');
const NOT_IN_SERVICE = fragment('not_in_service"');
const RA = fragment(', "ra": ');
const DEC = fragment(', "dec": ');
const RELIABILITY = fragment(', "reliability": ');
const INGEST_TIME = fragment(', "ingest_time": ');
const EVENT_TIME = fragment(', "event_time": ');
const PENDING = fragment(', "crossmatch": null');
const MATCHES = fragment(', "matches": [');
const MATCH = fragment('{"catalog_name": "');
const CATALOG_NAME = fragment(', "catalog_name": "');
const SOURCE_ID = fragment(', "catalog_source_id": "');
const SEPARATION = fragment(', "separation_arcsec": ');
const STATISTICS = fragment(', "statistics": {');
const WORTH = WORTH_KEYS.map(key => ({ key, label: fragment(`"${key}": `) }));
const SEPARATION_AT_EPOCH = fragment(', "separation_at_epoch_arcsec": ');
const QUOTE = 0x22;
const PAYLOAD = fragment(', "catalog_payload": ');
const EMPTY_PAYLOAD = fragment('{}');

/**
 * Every match over HTTP has this value, because an object is crossmatched again if a catalog could not be read for it.
 */
const NOT_PARTIAL = skippedFragment(undefined);

/** The parts of an answer about an object that are not stored with the object. */
export interface Beside {
  readonly separation_arcsec?: number;
  readonly credible_level?: number;
  readonly marks?: Marks | undefined;
}

/** Whether the object meets the filters of the request, and the reason. */
export interface Marks {
  readonly qualifies: boolean;
  readonly qualifies_reason: QualifiesReason;
}

/** The objects that an answer lists, as JSON in its body or as rows of a table. */
export interface ObjectList {
  /** The entries of `provenance_sets` in the answer. */
  readonly sets: ReadonlySet<SetFragments>;
  /** @param count the number of objects before this one in its list */
  add(object: ObjectView, count: number, beside: Beside): void;
  /** Adds an object that is not stored. It is the only object of its list. */
  addUnknown(diaObjectId: bigint, marks: Marks | undefined): void;
  /** Adds an object of the recent crossmatches, with its matches whatever its status. */
  addRecent(object: ObjectView, count: number): void;
  /** Ends a result. Its JSON begins at `from` in the body. */
  endResult(from: number): void;
}

/** Writes the objects of an answer, and collects the provenance sets to which they refer. */
export class ObjectWriter implements ObjectList {
  readonly sets = new Set<SetFragments>();
  readonly #out: ByteSink;
  readonly #fragments: SharedFragments;
  readonly #store: BesideObjects;
  readonly #stored: StoredObjects;
  readonly #level: number;

  /** @param stored the objects' state */
  constructor(
    out: ByteSink,
    fragments: SharedFragments,
    store: BesideObjects,
    detail: DetailLevel,
    stored: StoredObjects,
  ) {
    this.#out = out;
    this.#fragments = fragments;
    this.#store = store;
    this.#stored = stored;
    this.#level = DETAIL_RANK[detail];
  }

  static of({ body, fragments, store, stored }: QueryContext, detail: DetailLevel): ObjectWriter {
    return new ObjectWriter(body, fragments, store, detail, stored);
  }

  add(object: ObjectView, count: number, { separation_arcsec, credible_level, marks }: Beside): void {
    const out = this.#out;
    if (count > 0) out.fragment(SEPARATOR);
    this.entry(object);
    if (separation_arcsec !== undefined) {
      out.fragment(SEPARATION);
      out.number(separation_arcsec);
    }
    if (credible_level !== undefined) out.longText(`, "credible_level": ${toJson(credible_level)}`);
    this.#end(marks);
  }

  addUnknown(diaObjectId: bigint, marks: Marks | undefined): void {
    this.#ids(diaObjectId);
    this.#out.fragment(STATUS);
    this.#out.fragment(NOT_IN_SERVICE);
    this.#end(marks);
  }

  #end(marks: Marks | undefined): void {
    if (marks) this.#out.text(`, ${toJson(marks).slice(1, -1)}`);
    this.#out.fragment(BRACE);
  }

  endResult(): void {}

  /** Writes an entry up to its last key. The caller may add keys, and must end the entry. */
  entry(object: ObjectView): void {
    const out = this.#out;
    const current = this.#current(object);
    const isPending = object.state === 'pending';
    this.#ids(object.diaObjectId);
    out.fragment(STATUS);
    out.text(shownStatus(object, current));
    out.fragment(END_OF_TEXT);
    if (this.#level >= DETAIL_RANK.position) {
      this.#position(object);
      out.fragment(RELIABILITY);
      out.range(object.bytes, object.reliabilityAt, object.positionErrorAt);
      out.fragment(INGEST_TIME);
      writeTime(out, object.ingestTimeUs);
      out.fragment(EVENT_TIME);
      writeTime(out, object.eventTimeUs);
      out.fragment(current.brokers);
    }
    if (isPending) out.fragment(PENDING);
    else this.#crossmatch(object, current);
    if (this.#level < DETAIL_RANK.matches) return;
    out.fragment(MATCHES);
    if (!isPending) this.#matches(object, current, true);
    out.fragment(END_OF_LIST);
    out.fragment(this.#fragments.association(object.tns).ofObject);
  }

  addRecent(object: ObjectView, count: number): void {
    const out = this.#out;
    if (count > 0) out.fragment(SEPARATOR);
    this.#ids(object.diaObjectId);
    out.fragment(END_OF_TEXT);
    if (this.#level >= DETAIL_RANK.position) this.#position(object);
    if (this.#level >= DETAIL_RANK.matches) {
      out.fragment(MATCHES);
      this.#matches(object, this.#current(object), false);
      out.fragment(END_OF_LIST);
    }
    out.fragment(BRACE);
  }

  #current(object: ObjectView): CurrentFragments {
    return this.#fragments.current(this.#store, object.current);
  }

  #ids(diaObjectId: bigint): void {
    const digits = `${diaObjectId}`;
    this.#out.fragment(ID);
    this.#out.text(digits);
    this.#out.fragment(ID_TEXT);
    this.#out.text(digits);
  }

  #position(object: ObjectView): void {
    const out = this.#out;
    out.fragment(RA);
    out.range(object.bytes, object.raAt, object.decAt);
    out.fragment(DEC);
    out.range(object.bytes, object.decAt, object.reliabilityAt);
  }

  #crossmatch(object: ObjectView, { crossmatch, afterTime, set }: CurrentFragments): void {
    this.#out.fragment(crossmatch);
    if (afterTime) {
      writeTime(this.#out, object.crossmatchedAtUs);
      this.#out.fragment(afterTime);
    }
    this.sets.add(set);
  }

  /** @param withSets whether each match names its provenance set */
  #matches(object: ObjectView, current: CurrentFragments, withSets: boolean): void {
    const sources = this.#level === DETAIL_RANK.full ? this.#stored.readSources(object) : undefined;
    const set = setOfMatches(current);
    let isFirst = true;
    for (const { at, index } of object.currentMatches()) {
      const source = sources?.[index];
      if (sources && !isPublishable(source)) {
        this.#fragments.onLeftOut('sourcesLeftOut');
        continue;
      }
      if (!isFirst) this.#out.fragment(SEPARATOR);
      isFirst = false;
      if (source) this.#publishedMatch(object, at, source, set);
      else this.#matchSummary(object, at, MATCH);
      this.#out.fragment(withSets ? (set?.matchEnd ?? NO_SET) : BRACE);
      if (withSets && set) this.sets.add(set);
    }
  }

  #matchSummary(object: ObjectView, at: number, catalogName: Uint8Array): void {
    const out = this.#out;
    const { bytes } = object;
    out.fragment(catalogName);
    out.range(bytes, object.catalogNameAt(at), object.sourceIdAt(at));
    out.byte(QUOTE);
    out.fragment(SOURCE_ID);
    out.range(bytes, object.sourceIdAt(at), object.separationAt(at));
    out.byte(QUOTE);
    out.fragment(SEPARATION);
    out.range(bytes, object.separationAt(at), object.separationEnd(at));
  }

  /** Writes the keys of a match that only `full` has: separation at the event, release, statistics. */
  #furtherKeys(object: ObjectView, at: number, set: SetFragments | undefined): void {
    const out = this.#out;
    const { bytes } = object;
    const end = object.separationsEnd(at);
    const separationEnd = object.separationEnd(at, end);
    let from = object.separationAt(at);
    if (separationEnd < end) {
      from = separationEnd + 1;
      out.fragment(SEPARATION_AT_EPOCH);
      out.range(bytes, from, end);
    }
    out.fragment(releaseFragment(set, bytes, object.catalogNameAt(at), object.sourceIdAt(at)));
    const statistics = object.statistics(at, end);
    if (statistics) this.#statistics(worthOf({ separationArcsec: readDecimal(bytes, from, end) }, statistics));
  }

  /** Writes the values that are known. */
  #statistics(worth: Worth): void {
    const out = this.#out;
    let isFirst = true;
    out.fragment(STATISTICS);
    for (const { key, label } of WORTH) {
      const value = worth[key];
      if (value === null) continue;
      if (!isFirst) out.fragment(SEPARATOR);
      isFirst = false;
      out.fragment(label);
      out.number(value);
    }
    out.fragment(BRACE);
  }

  /**
   * Writes a complete match for the stream.
   * @param set the provenance set of its crossmatch; undefined if the crossmatch is not recorded
   * @returns false if the match was left out because its source has no usable position
   */
  streamedMatch(
    object: ObjectView,
    at: number,
    source: SourceValues | undefined,
    { set, skipped }: Pick<CurrentFragments, 'skipped'> & { readonly set: SetFragments | undefined },
  ): boolean {
    if (!source || !isPublishable(source)) {
      this.#fragments.onLeftOut('sourcesLeftOut');
      return false;
    }
    this.#publishedMatch(object, at, source, set, skipped);
    this.#out.fragment(BRACE);
    return true;
  }

  /** @param skipped the keys about catalogs that could not be read, made by `skippedFragment` */
  #publishedMatch(
    object: ObjectView,
    at: number,
    source: SourceValues,
    set: SetFragments | undefined,
    skipped = NOT_PARTIAL,
  ): void {
    const { ra, dec, keys, values } = source;
    const out = this.#out;
    out.fragment(ID);
    out.text(`${object.diaObjectId}`);
    out.fragment(RA);
    out.number(ra!);
    out.fragment(DEC);
    out.number(dec!);
    this.#matchSummary(object, at, CATALOG_NAME);
    this.#furtherKeys(object, at, set);
    out.fragment(PAYLOAD);
    if (keys === null) out.null();
    else this.#payload(this.#fragments.payloadKeys(this.#store, keys), values);
    out.fragment(skipped);
    out.fragment(this.#fragments.association(object.tns).ofMatch);
  }

  #payload(keys: readonly Uint8Array[], values: readonly unknown[]): void {
    const out = this.#out;
    if (keys.length === 0) {
      out.fragment(EMPTY_PAYLOAD);
      return;
    }
    for (let i = 0; i < keys.length; i++) {
      const value = values[i];
      out.fragment(keys[i]!);
      if (typeof value === 'number') out.number(value);
      else if (value === null) out.null();
      else out.longText(toJson(value));
    }
    out.fragment(BRACE);
  }
}

/** The settings under which the current matches were found; undefined if the crossmatch was not recorded. */
export function setOfMatches({ version, set }: CurrentFragments): SetFragments | undefined {
  return version === undefined ? undefined : set;
}

export function shownStatus(object: ObjectView, { status }: CurrentFragments): ObjectStatus {
  if (object.state === 'pending') return 'crossmatch_pending';
  return object.hasMatches ? 'coincident_sources' : status;
}

/** A source without a usable position cannot be published. */
export function isPublishable(source: SourceValues | undefined): source is SourceValues {
  return Number.isFinite(source?.ra) && Number.isFinite(source?.dec);
}
