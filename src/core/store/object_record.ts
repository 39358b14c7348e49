/**
 * The bytes of a stored object, laid out for the answers made from it. A value that answers show unchanged is stored as
 * JSON text, in which a number keeps its full precision. Values that many objects share are stored together, so that
 * their part of an answer is made once for all these objects.
 *
 *   0   float64  ingest time, microseconds since 1970, as are the next two
 *   8   float64  event time
 *   16  float64  time of the current crossmatch; NaN if none is recorded
 *   24  uint8    state
 *   25  uint8    lowest bit: 1 if all matches are of the current crossmatch, in the order of listings; other bits: bytes
 *                of the position error
 *   26  uint8    bytes of ra, then
 *   27  uint8    bytes of dec
 *   28  uint32   the offsets of current, older, tns and matches: four numbers
 *   44  place    ra, dec, reliability and, if it is known, the position error in mas, one after another
 *       current  [brokers], then, of the current crossmatch, version,provenance set,[brokers],[catalog,outcome,...]
 *       older    the earlier crossmatches: [time,version,provenance set,[brokers],[catalog,outcome,...]],...
 *       tns      checked,epoch,objid,name,prefix,classification,redshift,separation; nothing without an association
 *       matches for each match four uint8: the lengths of its version, catalog name, source id and separations; then
 *       these strings
 *
 * The separations are the separation at the catalog's epoch and, if the source has moved, a comma and the separation at
 * the event. A semicolon and the match's statistics may follow (`statisticsText`).
 *
 * Numbers are little-endian. Strings are ASCII JSON without spaces; a match's catalog name and source id have no
 * quotes.
 */

import { readDecimal } from '@nearsky/astrotables/bytes';
import { toJson } from '@nearsky/astrotables/json';
import { compare } from '../base/compare.ts';
import { highest, nearestOfCatalogs } from './current_matches.ts';
import { type MatchStatistics, readStatistics, statisticsText } from './match_statistics.ts';
import type {
  CrossmatchRecord,
  Delivery,
  MatchSummary,
  ObjectState,
  RecordedOutcome,
  SkyPosition,
  StoredObject,
  TnsAssociation,
} from './types.ts';

const STATE_AT = 24;
const SECTIONS_AT = 28;
const HEADER_BYTES = 44;
const MATCH_HEADER_BYTES = 4;
const MAX_MATCH_TEXT = 255;
const COMMA = 0x2c;
const SEMICOLON = 0x3b;
const MINUS = 0x2d;
/** The first character of `null`. */
const NULL = 0x6e;

/** The version of an object's first crossmatch. */
export const FIRST_VERSION = 1;

const STATES: readonly ObjectState[] = ['pending', 'crossmatched'];
const PENDING = STATES.indexOf('pending');
/** Sorted by the numbers under which they are stored. */
export const RECORDED_OUTCOMES: readonly RecordedOutcome[] = [
  'searched',
  'outside_footprint',
  'skipped_read_failure',
  'not_searched_invalid_position',
];

/** Whether a record belongs to a pending object. */
export const isPendingRecord = (record: Uint8Array) => record[STATE_AT] === PENDING;

/** The order in which matches are stored: by version, catalog name, source id; the latter two as text. */
export function compareMatches(a: MatchSummary, b: MatchSummary): number {
  return (
    a.matchVersion - b.matchVersion ||
    compare(a.catalogName, b.catalogName) ||
    compare(a.catalogSourceId, b.catalogSourceId)
  );
}

/** @throws RangeError when a name of a match takes more than 255 characters as JSON */
export function encodeObject(object: Omit<StoredObject, 'diaObjectId'>): Uint8Array {
  const { position, reliability, positionErrorMas, brokers, records, matches, tns } = object;
  const current = records.at(-1);
  const ra = toJson(position?.ra ?? null);
  const dec = toJson(position?.dec ?? null);
  const error = positionErrorMas === undefined ? '' : toJson(positionErrorMas);
  return layOut({
    ingestTimeUs: object.ingestTimeUs,
    eventTimeUs: object.eventTimeUs,
    crossmatchedAtUs: current?.crossmatchedAtUs ?? Number.NaN,
    state: object.state,
    areCurrent: areCurrent(matches, current?.matchVersion),
    raLength: ra.length,
    decLength: dec.length,
    errorLength: error.length,
    place: `${ra}${dec}${toJson(reliability)}${error}`,
    current: [list(brokers), ...(current ? [timelessText(current)] : [])].join(),
    older: records
      .slice(0, -1)
      .map(record => `[${record.crossmatchedAtUs},${timelessText(record)}]`)
      .join(),
    tns: tns ? associationText(tns) : '',
    matches: matches.map(matchText).join(''),
  });
}

/**
 * The bytes of an object that is pending its first crossmatch: the same bytes as from `encodeObject`, in half the time.
 */
export function encodeNewObject(delivery: Delivery, ingestTimeUs: number): Uint8Array {
  const { position, reliability, positionErrorMas, eventTimeUs, broker } = delivery;
  const ra = toJson(position?.ra ?? null);
  const dec = toJson(position?.dec ?? null);
  const error = positionErrorMas === undefined ? '' : toJson(positionErrorMas);
  return layOut({
    ingestTimeUs,
    eventTimeUs,
    crossmatchedAtUs: Number.NaN,
    state: 'pending',
    areCurrent: true,
    raLength: ra.length,
    decLength: dec.length,
    errorLength: error.length,
    place: `${ra}${dec}${toJson(reliability)}${error}`,
    current: list([broker]),
    older: '',
    tns: '',
    matches: '',
  });
}

/** The first crossmatch of an object, to be recorded with it. */
interface FirstCrossmatch {
  readonly crossmatchedAtUs: number;
  readonly provenanceSet: number;
  /** See `outcomesText`. */
  readonly outcomes: string;
  /** In the order of `compareMatches`, all of version 1. */
  readonly matches: readonly MatchSummary[];
  readonly tns: TnsAssociation | undefined;
}

/**
 * Encodes an object with its first crossmatch, which is then the current one. The bytes equal those of `encodeObject`,
 * but are made from the stored texts.
 * @param pending an object without a crossmatch; see `ObjectView.isUntried`
 * @throws RangeError like `encodeObject`
 */
export function encodeFirstCrossmatch(pending: ObjectView, crossmatch: FirstCrossmatch): Uint8Array {
  const { crossmatchedAtUs, provenanceSet, outcomes, matches } = crossmatch;
  const brokers = pending.current;
  const { tns } = pending;
  return layOut({
    ingestTimeUs: pending.ingestTimeUs,
    eventTimeUs: pending.eventTimeUs,
    crossmatchedAtUs,
    state: 'crossmatched',
    areCurrent: areCurrent(matches, FIRST_VERSION),
    raLength: pending.decAt - pending.raAt,
    decLength: pending.reliabilityAt - pending.decAt,
    errorLength: pending.currentAt - pending.positionErrorAt,
    place: pending.text(pending.raAt, pending.currentAt),
    current: `${brokers},${FIRST_VERSION},${provenanceSet},${brokers},${outcomes}`,
    older: '',
    tns: tns === '' && crossmatch.tns ? associationText(crossmatch.tns) : tns,
    matches: matches.map(matchText).join(''),
  });
}

/** The parts of an object's bytes: the fields of the header, and the sections in their order. */
interface Parts {
  readonly ingestTimeUs: number;
  readonly eventTimeUs: number;
  readonly crossmatchedAtUs: number;
  readonly state: ObjectState;
  readonly areCurrent: boolean;
  readonly raLength: number;
  readonly decLength: number;
  readonly errorLength: number;
  readonly place: string;
  readonly current: string;
  readonly older: string;
  readonly tns: string;
  readonly matches: string;
}

const header = new Uint8Array(HEADER_BYTES);
const headerTimes = new Float64Array(header.buffer, 0, 3);
const headerSections = new Uint32Array(header.buffer, SECTIONS_AT, 4);

function layOut(parts: Parts): Uint8Array {
  const { place, current, older, tns, matches } = parts;
  const currentAt = HEADER_BYTES + place.length;
  const olderAt = currentAt + current.length;
  const tnsAt = olderAt + older.length;
  const matchesAt = tnsAt + tns.length;
  headerTimes[0] = parts.ingestTimeUs;
  headerTimes[1] = parts.eventTimeUs;
  headerTimes[2] = parts.crossmatchedAtUs;
  header[STATE_AT] = STATES.indexOf(parts.state);
  header[25] = (parts.errorLength << 1) | (parts.areCurrent ? 1 : 0);
  header[26] = parts.raLength;
  header[27] = parts.decLength;
  headerSections[0] = currentAt;
  headerSections[1] = olderAt;
  headerSections[2] = tnsAt;
  headerSections[3] = matchesAt;
  const bytes = Buffer.allocUnsafe(matchesAt + matches.length);
  bytes.set(header);
  bytes.write(`${place}${current}${older}${tns}${matches}`, HEADER_BYTES, 'latin1');
  return bytes;
}

function list(values: readonly (string | number)[]): string {
  return `[${values.map(value => toJson(value)).join()}]`;
}

function timelessText({ matchVersion, provenanceSet, brokersAtCrossmatch, catalogOutcomes }: CrossmatchRecord): string {
  return `${matchVersion},${provenanceSet},${list(brokersAtCrossmatch)},${outcomesText(catalogOutcomes)}`;
}

/** Most objects of a crossmatch share their outcomes, so the last result is cached. */
let lastOutcomes: { readonly outcomes: CrossmatchRecord['catalogOutcomes']; readonly text: string } | undefined;

/** The outcomes of a crossmatch, as stored in an object's section `current`. */
export function outcomesText(outcomes: CrossmatchRecord['catalogOutcomes']): string {
  if (lastOutcomes?.outcomes !== outcomes) {
    const text = list(outcomes.flatMap(([name, outcome]) => [name, RECORDED_OUTCOMES.indexOf(outcome)]));
    lastOutcomes = { outcomes, text };
  }
  return lastOutcomes.text;
}

/** Most objects of a crossmatch share one association, so the last result is cached. */
let lastAssociation: { readonly tns: TnsAssociation; readonly text: string } | undefined;

function associationText(tns: TnsAssociation): string {
  if (lastAssociation?.tns !== tns) lastAssociation = { tns, text: makeAssociationText(tns) };
  return lastAssociation.text;
}

function makeAssociationText(tns: TnsAssociation): string {
  const { checked, snapshotEpochUs, objid, name, namePrefix, classification, redshift, separationArcsec } = tns;
  return [checked, snapshotEpochUs, objid, name, namePrefix, classification, redshift, separationArcsec]
    .map(value => toJson(value))
    .join();
}

function matchText({ matchVersion, catalogName, catalogSourceId, statistics, ...separations }: MatchSummary): string {
  const unquoted = (text: string) => toJson(text).slice(1, -1);
  const { separationArcsec, separationAtEpochArcsec } = separations;
  const separation =
    toJson(separationArcsec) + (separationAtEpochArcsec === undefined ? '' : `,${toJson(separationAtEpochArcsec)}`);
  const last = statistics ? `${separation};${statisticsText(statistics)}` : separation;
  const texts = [`${matchVersion}`, unquoted(catalogName), unquoted(catalogSourceId), last];
  const long = texts.find(text => text.length > MAX_MATCH_TEXT);
  if (long)
    throw new RangeError(`Cannot store a match because one of its names is longer than ${MAX_MATCH_TEXT}: ${long}`);
  return `${String.fromCharCode(...texts.map(text => text.length))}${texts.join('')}`;
}

/** Whether all matches have the version `version`, and are in the order of listings. */
function areCurrent(matches: readonly MatchSummary[], version: number | undefined): boolean {
  return matches.every(
    (match, i) => match.matchVersion === version && (i === 0 || compareMatches(matches[i - 1]!, match) < 0),
  );
}

export function decodeObject(diaObjectId: bigint, stored: Uint8Array): StoredObject {
  decoded.load(diaObjectId, stored);
  return decoded.decode();
}

/**
 * Reads a text that is nearly always equal to the one before. It then returns the same string, whose hash is known. A new
 * string and its hash would take three times as long.
 */
class RepeatedText {
  #bytes = Buffer.alloc(0);
  #text = '';

  /** Reads from one offset (inclusive) to another (exclusive). */
  read(bytes: Buffer, from: number, to: number): string {
    if (!this.#isRepeated(bytes, from, to)) {
      this.#bytes = Buffer.from(bytes.subarray(from, to));
      this.#text = bytes.toString('latin1', from, to);
    }
    return this.#text;
  }

  #isRepeated(bytes: Buffer, from: number, to: number): boolean {
    const last = this.#bytes;
    if (last.length !== to - from) return false;
    for (let i = 0; i < last.length; i++) if (bytes[from + i] !== last[i]) return false;
    return true;
  }
}

/**
 * A stored object, read in place. Offsets are into `bytes`; a string goes from one offset (inclusive) to another
 * (exclusive).
 */
export class ObjectView {
  diaObjectId = 0n;
  /** A copy, because the next read of the database overwrites the bytes that were read. */
  bytes: Buffer<ArrayBuffer> = Buffer.from(new ArrayBuffer(1024));
  /** The offset of the end of the bytes. */
  length = 0;
  #times = new Float64Array(this.bytes.buffer, 0, 3);
  #sections = new Uint32Array(this.bytes.buffer, SECTIONS_AT, 4);
  readonly #current = new RepeatedText();
  readonly #tns = new RepeatedText();

  /** @throws RangeError if the bytes are not an object */
  load(diaObjectId: bigint, stored: Uint8Array): void {
    const { length } = stored;
    if (length > this.bytes.length) this.#enlarge(2 * length);
    this.bytes.set(stored);
    this.length = length;
    this.diaObjectId = diaObjectId;
    const [currentAt, olderAt, tnsAt, matchesAt] = this.#sections as unknown as [number, number, number, number];
    const isWhole = length >= HEADER_BYTES && this.reliabilityAt <= this.positionErrorAt && matchesAt <= length;
    if (!isWhole || currentAt > olderAt || olderAt > tnsAt || tnsAt > matchesAt) throw this.#damaged();
  }

  #damaged(): RangeError {
    return new RangeError(`Cannot decode object ${this.diaObjectId} because its bytes are damaged: restore a backup`);
  }

  #enlarge(bytes: number): void {
    this.bytes = Buffer.from(new ArrayBuffer(bytes));
    this.#times = new Float64Array(this.bytes.buffer, 0, 3);
    this.#sections = new Uint32Array(this.bytes.buffer, SECTIONS_AT, 4);
  }

  get ingestTimeUs(): number {
    return this.#times[0]!;
  }

  get eventTimeUs(): number {
    return this.#times[1]!;
  }

  /** NaN if no crossmatch is recorded. */
  get crossmatchedAtUs(): number {
    return this.#times[2]!;
  }

  get state(): ObjectState {
    return STATES[this.bytes[STATE_AT]!]!;
  }

  /** ra, a JSON number or null, is from here to `decAt`; dec to `reliabilityAt`, reliability to `positionErrorAt`. */
  get raAt(): number {
    return HEADER_BYTES;
  }

  get decAt(): number {
    return HEADER_BYTES + this.bytes[26]!;
  }

  get reliabilityAt(): number {
    return this.decAt + this.bytes[27]!;
  }

  get positionErrorAt(): number {
    return this.currentAt - (this.bytes[25]! >> 1);
  }

  get currentAt(): number {
    return this.#sections[0]!;
  }

  /** The text for `readCurrent`; many objects have the same one. */
  get current(): string {
    return this.#current.read(this.bytes, this.#sections[0]!, this.#sections[1]!);
  }

  /**
   * The text for `readAssociation`: empty without an association. All objects without a registry object nearby have the
   * same text.
   */
  get tns(): string {
    return this.#tns.read(this.bytes, this.#sections[2]!, this.#sections[3]!);
  }

  /** Whether the object has crossmatches older than the current one. */
  get hasOlder(): boolean {
    return this.#sections[1]! < this.#sections[2]!;
  }

  /** Whether a crossmatch of any version has found a match. */
  get hasStoredMatches(): boolean {
    return this.#sections[3]! < this.length;
  }

  /** Whether the current crossmatch has found a match; see `currentMatches`. */
  get hasMatches(): boolean {
    return this.hasStoredMatches && (this.#areCurrent || this.currentMatches().length > 0);
  }

  /** Whether all matches belong to the current crossmatch, and are in the order of listings. */
  get #areCurrent(): boolean {
    return (this.bytes[25]! & 1) === 1;
  }

  /** Whether the object is pending and never had a crossmatch or a match. */
  get isUntried(): boolean {
    return this.bytes[24] === PENDING && Number.isNaN(this.crossmatchedAtUs) && !this.hasStoredMatches;
  }

  /** ra and dec, both null if the object has no usable position, and reliability. */
  place(): [ra: number | null, dec: number | null, reliability: number | null] {
    return [...this.storedPosition(), this.reliability];
  }

  get reliability(): number | null {
    return this.#number(this.reliabilityAt, this.positionErrorAt);
  }

  /** See `StoredObject`. */
  get positionErrorMas(): number | undefined {
    const { positionErrorAt, currentAt } = this;
    return positionErrorAt < currentAt ? this.#number(positionErrorAt, currentAt)! : undefined;
  }

  #number(from: number, to: number): number | null {
    const first = this.bytes[from]!;
    if (first === NULL) return null;
    return first === MINUS ? -readDecimal(this.bytes, from + 1, to) : readDecimal(this.bytes, from, to);
  }

  /** ra and dec, each null if it is not known. */
  storedPosition(): [ra: number | null, dec: number | null] {
    return [this.#number(this.raAt, this.decAt), this.#number(this.decAt, this.reliabilityAt)];
  }

  /** null if the object has no usable position. */
  get position(): SkyPosition | null {
    const [ra, dec] = this.storedPosition();
    return ra === null || dec === null ? null : { ra, dec };
  }

  /** The current crossmatch; undefined if none is recorded. */
  get record(): CrossmatchRecord | undefined {
    const { record } = readCurrent(this.current);
    return record && { ...record, crossmatchedAtUs: this.crossmatchedAtUs };
  }

  /**
   * The offset of each match, in the order in which they are stored.
   * @throws RangeError if the last match does not end at the end of the bytes
   */
  matches(): number[] {
    const offsets: number[] = [];
    let at = this.#sections[3]!;
    for (; at < this.length; at = this.matchEnd(at)) offsets.push(at);
    if (at !== this.length) throw this.#damaged();
    return offsets;
  }

  /** The current matches, as `currentMatches` of src/core/store/current_matches.ts decides them. */
  currentMatches(): readonly StoredMatch[] {
    const all = this.matches().map((at, index) => ({ at, index }));
    if (this.#areCurrent && all.every(({ at }, i) => i === 0 || !this.#isOfSameCatalog(all[i - 1]!.at, at))) return all;
    const version =
      readCurrent(this.current).record?.matchVersion ?? highest(all.map(({ at }) => this.matchVersion(at)));
    return nearestOfCatalogs(
      all.filter(({ at }) => this.matchVersion(at) === version),
      ({ at }) => this.catalogName(at),
      ({ at }) => this.nearness(at),
    );
  }

  /** Compares the names of the catalogs of two matches. */
  #isOfSameCatalog(a: number, b: number): boolean {
    const [from, to] = [this.catalogNameAt(a), this.sourceIdAt(a)];
    return this.bytes.compare(this.bytes, this.catalogNameAt(b), this.sourceIdAt(b), from, to) === 0;
  }

  /** The separation by which the source of the match at `at` was chosen, arcsec. */
  nearness(at: number): number {
    const [separation, atEpoch] = this.separations(at);
    return atEpoch ?? separation;
  }

  /** The version of the match at `at`. */
  matchVersion(at: number): number {
    return Number(this.text(at + MATCH_HEADER_BYTES, this.catalogNameAt(at)));
  }

  /** The offsets in the match at `at`: the catalog name goes from here to `sourceIdAt`, and so on. */
  catalogNameAt(at: number): number {
    return at + MATCH_HEADER_BYTES + this.bytes[at]!;
  }

  catalogName(at: number): string {
    return this.#unescaped(this.catalogNameAt(at), this.sourceIdAt(at));
  }

  sourceIdAt(at: number): number {
    return this.catalogNameAt(at) + this.bytes[at + 1]!;
  }

  sourceId(at: number): string {
    return this.#unescaped(this.sourceIdAt(at), this.separationAt(at));
  }

  separationAt(at: number): number {
    return this.sourceIdAt(at) + this.bytes[at + 2]!;
  }

  /** The end of the separations. The match ends there, or a semicolon and its statistics follow. */
  separationsEnd(at: number): number {
    const end = this.matchEnd(at);
    for (let place = this.separationAt(at); place < end; place++) if (this.bytes[place] === SEMICOLON) return place;
    return end;
  }

  /**
   * The end of the separation at the catalog's epoch. The separations end there, or a comma and the separation at the
   * event follow.
   */
  separationEnd(at: number, end = this.separationsEnd(at)): number {
    for (let comma = this.separationAt(at); comma < end; comma++) if (this.bytes[comma] === COMMA) return comma;
    return end;
  }

  /** The end of the match, which is where the next one begins. */
  matchEnd(at: number): number {
    return this.separationAt(at) + this.bytes[at + 3]!;
  }

  /** The separations of the match at `at`, arcsec: at the catalog's epoch, and at the event where the source has moved. */
  separations(at: number): [number, number?] {
    const end = this.separationsEnd(at);
    const separationEnd = this.separationEnd(at, end);
    const separation = readDecimal(this.bytes, this.separationAt(at), separationEnd);
    return separationEnd < end ? [separation, readDecimal(this.bytes, separationEnd + 1, end)] : [separation];
  }

  /** The statistics of the match at `at`; undefined if none are recorded. */
  statistics(at: number, from = this.separationsEnd(at)): MatchStatistics | undefined {
    const end = this.matchEnd(at);
    return from < end ? readStatistics(this.bytes, from + 1, end) : undefined;
  }

  /** The value of a JSON string without its quotes. */
  #unescaped(from: number, to: number): string {
    const text = this.text(from, to);
    return text.includes('\\') ? JSON.parse(`"${text}"`) : text;
  }

  text(from: number, to: number): string {
    return this.bytes.toString('latin1', from, to);
  }

  /** The whole object, as the rest of the program has it. */
  decode(): StoredObject {
    const { brokers, record } = readCurrent(this.current);
    const { positionErrorMas } = this;
    return {
      diaObjectId: this.diaObjectId,
      position: this.position,
      reliability: this.reliability,
      ...(positionErrorMas !== undefined && { positionErrorMas }),
      ingestTimeUs: this.ingestTimeUs,
      eventTimeUs: this.eventTimeUs,
      state: this.state,
      brokers,
      records: record
        ? [
            ...readOlder(this.text(this.#sections[1]!, this.#sections[2]!)),
            { ...record, crossmatchedAtUs: this.crossmatchedAtUs },
          ]
        : [],
      matches: this.matches().map(at => this.#match(at)),
      tns: readAssociation(this.tns),
    };
  }

  #match(at: number): MatchSummary {
    const [separationArcsec, separationAtEpochArcsec] = this.separations(at);
    const statistics = this.statistics(at);
    return {
      matchVersion: this.matchVersion(at),
      catalogName: this.catalogName(at),
      catalogSourceId: this.sourceId(at),
      separationArcsec,
      ...(separationAtEpochArcsec !== undefined && { separationAtEpochArcsec }),
      ...(statistics && { statistics }),
    };
  }
}

/** A match of an object that was read in place. */
export interface StoredMatch {
  /** The offset of the match. */
  readonly at: number;
  /** The index of the match's source among the object's sources. */
  readonly index: number;
}

const decoded = new ObjectView();

/** A crossmatch without its time. */
export type TimelessRecord = Omit<CrossmatchRecord, 'crossmatchedAtUs'>;

interface CurrentPart {
  readonly brokers: readonly string[];
  /** The current crossmatch; undefined if none is recorded. */
  readonly record: TimelessRecord | undefined;
}

type RecordTuple = [version: number, provenanceSet: number, brokers: string[], outcomes: (string | number)[]];

export function readCurrent(text: string): CurrentPart {
  const [brokers, ...record] = JSON.parse(`[${text}]`) as [string[], ...RecordTuple];
  return { brokers, record: record.length > 0 ? recordOf(record) : undefined };
}

function recordOf([matchVersion, provenanceSet, brokersAtCrossmatch, flat]: RecordTuple): TimelessRecord {
  const catalogOutcomes: [string, RecordedOutcome][] = [];
  for (let i = 0; i < flat.length; i += 2) {
    catalogOutcomes.push([flat[i] as string, RECORDED_OUTCOMES[flat[i + 1] as number]!]);
  }
  return { matchVersion, provenanceSet, brokersAtCrossmatch, catalogOutcomes };
}

function readOlder(text: string): CrossmatchRecord[] {
  const tuples = JSON.parse(`[${text}]`) as [number, ...RecordTuple][];
  return tuples.map(([crossmatchedAtUs, ...tuple]) => ({ ...recordOf(tuple), crossmatchedAtUs }));
}

/** null for the empty text. */
export function readAssociation(text: string): TnsAssociation | null {
  if (text === '') return null;
  const [checked, snapshotEpochUs, objid, name, namePrefix, classification, redshift, separationArcsec] = JSON.parse(
    `[${text}]`,
  );
  return { checked, snapshotEpochUs, objid, name, namePrefix, classification, redshift, separationArcsec };
}
