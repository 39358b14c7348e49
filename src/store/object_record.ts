/**
 * The bytes of a stored object, laid out for the answers that are made of it. What answers show as it is, is stored as the JSON text that
 * they show: a number's shortest round-trip text loses nothing. What many objects share stands together, so that its part of an answer
 * can be made once for all of them.
 *
 *   0   float64  ingest time, microseconds since 1970, as are the next two
 *   8   float64  event time
 *   16  float64  time of the current crossmatch; NaN where none is recorded
 *   24  uint8    state
 *   25  uint8    1 where the matches, as they stand, are those to be listed, all of them of the current crossmatch; else 0
 *   26  uint8    bytes of ra, then
 *   27  uint8    bytes of dec
 *   28  uint32   where shape, older, tns and matches begin, four of them
 *   44  place    ra, dec and reliability, one after another
 *       shape    [brokers], and of the current crossmatch version,provenance set,[brokers],[catalog,outcome,...]
 *       older    the crossmatches before: [time,version,provenance set,[brokers],[catalog,outcome,...]],...
 *       tns      checked,epoch,objid,name,prefix,classification,redshift,separation; nothing without an association
 *       matches  of each, four uint8: the bytes of its version, catalog name, source id and separation; then these texts
 *
 * Numbers are little-endian. Texts are JSON without spaces, ASCII; a match's two names are without their quotes.
 */
import { toJson } from '../../workers/json.ts';
import type {
  CrossmatchRecord,
  MatchSummary,
  ObjectState,
  RecordedOutcome,
  StoredObject,
  TnsAssociation,
} from './types.ts';

const SECTIONS_AT = 28;
const HEADER_BYTES = 44;
const MATCH_HEADER_BYTES = 4;
const MAX_MATCH_TEXT = 255;

const STATES: readonly ObjectState[] = ['pending', 'crossmatched'];
/** In the order of the numbers that stand for them. */
export const RECORDED_OUTCOMES: readonly RecordedOutcome[] = [
  'searched',
  'outside_footprint',
  'skipped_read_failure',
  'not_searched_invalid_position',
];

/** The order in which matches are stored: by version, catalog name, source id; the latter two as text. */
export function compareMatches(a: MatchSummary, b: MatchSummary): number {
  return (
    a.matchVersion - b.matchVersion ||
    compareText(a.catalogName, b.catalogName) ||
    compareText(a.catalogSourceId, b.catalogSourceId)
  );
}

const compareText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** @throws RangeError when a name of a match takes more than 255 characters as JSON */
export function encodeObject(object: Omit<StoredObject, 'diaObjectId'>): Uint8Array {
  const { position, reliability, brokers, records, matches, tns } = object;
  const current = records.at(-1);
  const ra = toJson(position?.ra ?? null);
  const dec = toJson(position?.dec ?? null);
  const sections = [
    `${ra}${dec}${toJson(reliability)}`,
    [list(brokers), ...(current ? [shapeText(current)] : [])].join(),
    records
      .slice(0, -1)
      .map(record => `[${record.crossmatchedAtUs},${shapeText(record)}]`)
      .join(),
    tns ? associationText(tns) : '',
    matches.map(matchText).join(''),
  ];
  const bytes = Buffer.alloc(HEADER_BYTES + sections.join('').length);
  bytes.writeDoubleLE(object.ingestTimeUs, 0);
  bytes.writeDoubleLE(object.eventTimeUs, 8);
  bytes.writeDoubleLE(current?.crossmatchedAtUs ?? Number.NaN, 16);
  bytes[24] = STATES.indexOf(object.state);
  bytes[25] = areCurrent(matches, current) ? 1 : 0;
  bytes[26] = ra.length;
  bytes[27] = dec.length;
  let at = HEADER_BYTES;
  sections.forEach((text, i) => {
    if (i > 0) bytes.writeUInt32LE(at, SECTIONS_AT + 4 * (i - 1));
    at += bytes.write(text, at, 'latin1');
  });
  return bytes;
}

function list(values: readonly (string | number)[]): string {
  return `[${values.map(toJson).join()}]`;
}

function shapeText({ matchVersion, provenanceSet, brokersAtCrossmatch, catalogOutcomes }: CrossmatchRecord): string {
  const outcomes = catalogOutcomes.flatMap(([name, outcome]) => [name, RECORDED_OUTCOMES.indexOf(outcome)]);
  return `${matchVersion},${provenanceSet},${list(brokersAtCrossmatch)},${list(outcomes)}`;
}

function associationText(tns: TnsAssociation): string {
  const { checked, snapshotEpochUs, objid, name, namePrefix, classification, redshift, separationArcsec } = tns;
  return [checked, snapshotEpochUs, objid, name, namePrefix, classification, redshift, separationArcsec]
    .map(toJson)
    .join();
}

function matchText({ matchVersion, catalogName, catalogSourceId, separationArcsec }: MatchSummary): string {
  const unquoted = (text: string) => toJson(text).slice(1, -1);
  const texts = [`${matchVersion}`, unquoted(catalogName), unquoted(catalogSourceId), toJson(separationArcsec)];
  const long = texts.find(text => text.length > MAX_MATCH_TEXT);
  if (long) throw new RangeError(`Cannot store a match as a name of it is longer than ${MAX_MATCH_TEXT}: ${long}`);
  return `${String.fromCharCode(...texts.map(text => text.length))}${texts.join('')}`;
}

function areCurrent(matches: readonly MatchSummary[], current: CrossmatchRecord | undefined): boolean {
  return matches.every(
    (match, i) =>
      match.matchVersion === current?.matchVersion && (i === 0 || compareMatches(matches[i - 1]!, match) < 0),
  );
}

export function decodeObject(diaObjectId: bigint, stored: Uint8Array): StoredObject {
  decoded.load(diaObjectId, stored);
  return decoded.decode();
}

/** A stored object, read where it lies. Offsets are into `bytes`; a text goes from one of them, inclusive, to another, exclusive. */
export class ObjectView {
  diaObjectId = 0n;
  /** Its own: the next read of the database overwrites what that gave. */
  bytes: Buffer<ArrayBuffer> = Buffer.from(new ArrayBuffer(1024));
  /** The offset of their end. */
  length = 0;
  #times = new Float64Array(this.bytes.buffer, 0, 3);
  #sections = new Uint32Array(this.bytes.buffer, SECTIONS_AT, 4);

  /** @throws RangeError for bytes that are no object's */
  load(diaObjectId: bigint, stored: Uint8Array): void {
    const { length } = stored;
    if (length > this.bytes.length) this.#enlarge(2 * length);
    this.bytes.set(stored.subarray(0, length));
    this.length = length;
    this.diaObjectId = diaObjectId;
    const [shapeAt, olderAt, tnsAt, matchesAt] = this.#sections as unknown as [number, number, number, number];
    const isWhole = length >= HEADER_BYTES && this.reliabilityAt <= shapeAt && matchesAt <= length;
    if (!isWhole || shapeAt > olderAt || olderAt > tnsAt || tnsAt > matchesAt) throw this.#damaged();
  }

  #damaged(): RangeError {
    return new RangeError(`Cannot decode object ${this.diaObjectId} as its bytes are damaged: restore a backup`);
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

  /** NaN where no crossmatch is recorded. */
  get crossmatchedAtUs(): number {
    return this.#times[2]!;
  }

  get state(): ObjectState {
    return STATES[this.bytes[24]!]!;
  }

  /** Whether the matches, as they stand, are those to be listed, all of them of the current crossmatch. */
  get matchesAreCurrent(): boolean {
    return this.bytes[25] === 1;
  }

  /** ra, a JSON number or null, is from here to `decAt`; dec to `reliabilityAt`, reliability to `shapeAt`. */
  get raAt(): number {
    return HEADER_BYTES;
  }

  get decAt(): number {
    return HEADER_BYTES + this.bytes[26]!;
  }

  get reliabilityAt(): number {
    return this.decAt + this.bytes[27]!;
  }

  get shapeAt(): number {
    return this.#sections[0]!;
  }

  /** For `readShape`: the same text in many objects. */
  get shape(): string {
    return this.text(this.#sections[0]!, this.#sections[1]!);
  }

  /** For `readAssociation`: empty without one, and the same text in many objects with which the registry had nothing to associate. */
  get tns(): string {
    return this.text(this.#sections[2]!, this.#sections[3]!);
  }

  get hasMatches(): boolean {
    return this.#sections[3]! < this.length;
  }

  /**
   * The offset of each match, in the order in which they are stored.
   * @throws RangeError where the last one does not end with the bytes
   */
  matches(): number[] {
    const offsets: number[] = [];
    let at = this.#sections[3]!;
    for (; at < this.length; at = this.matchEnd(at)) offsets.push(at);
    if (at !== this.length) throw this.#damaged();
    return offsets;
  }

  /** The offsets in the match at `at`: the catalog name is from here to `sourceIdAt`, and so on. */
  catalogNameAt(at: number): number {
    return at + MATCH_HEADER_BYTES + this.bytes[at]!;
  }

  sourceIdAt(at: number): number {
    return this.catalogNameAt(at) + this.bytes[at + 1]!;
  }

  separationAt(at: number): number {
    return this.sourceIdAt(at) + this.bytes[at + 2]!;
  }

  /** Where it ends and the next one begins, if there is one. */
  matchEnd(at: number): number {
    return this.separationAt(at) + this.bytes[at + 3]!;
  }

  text(from: number, to: number): string {
    return this.bytes.toString('latin1', from, to);
  }

  /** All of it, as the rest of the program has it. */
  decode(): StoredObject {
    const json = (from: number, to: number) => JSON.parse(this.text(from, to));
    const [ra, dec] = [json(this.raAt, this.decAt), json(this.decAt, this.reliabilityAt)];
    const { brokers, record } = readShape(this.shape);
    return {
      diaObjectId: this.diaObjectId,
      position: ra === null || dec === null ? null : { ra, dec },
      reliability: json(this.reliabilityAt, this.shapeAt),
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
    const nameAt = this.catalogNameAt(at);
    return {
      matchVersion: Number(this.text(at + MATCH_HEADER_BYTES, nameAt)),
      catalogName: JSON.parse(`"${this.text(nameAt, this.sourceIdAt(at))}"`),
      catalogSourceId: JSON.parse(`"${this.text(this.sourceIdAt(at), this.separationAt(at))}"`),
      separationArcsec: JSON.parse(this.text(this.separationAt(at), this.matchEnd(at))),
    };
  }
}

const decoded = new ObjectView();

/** A crossmatch but for its time. */
export type RecordShape = Omit<CrossmatchRecord, 'crossmatchedAtUs'>;

export interface Shape {
  readonly brokers: readonly string[];
  /** The current crossmatch; undefined where none is recorded. */
  readonly record: RecordShape | undefined;
}

type RecordTuple = [version: number, provenanceSet: number, brokers: string[], outcomes: (string | number)[]];

export function readShape(text: string): Shape {
  const [brokers, ...record] = JSON.parse(`[${text}]`) as [string[], ...RecordTuple];
  return { brokers, record: record.length > 0 ? recordOf(record) : undefined };
}

function recordOf([matchVersion, provenanceSet, brokersAtCrossmatch, flat]: RecordTuple): RecordShape {
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
