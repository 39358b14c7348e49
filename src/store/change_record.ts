/**
 * Encodes a change as a record of the log, which other nodes apply. A record is a mark, the level in which it is
 * written, a msgpack array without shared structures, and the CRC-32 of all bytes before it. 64-bit ids and float64
 * values are exact, except that -0 becomes 0 outside of deliveries.
 */
import { crc32 } from 'node:zlib';
import { integerId } from '../contract/source_ids.ts';
import type { Change, ChangeKind, ChangeOf, FoundStatistics } from './changes.ts';
import { FIRST_LEVEL, LEVEL, POSITION_ERRORS_SINCE, requireReadable } from './level.ts';
import { firstVersion, type MatchStatistics } from './match_statistics.ts';
import type { UnstoredMessages } from './nights.ts';
import { packDeliveries, unpackDeliveries } from './packed_deliveries.ts';
import { decodePlain, encodePlain } from './records.ts';
import type { SourceName } from './source_index.ts';
import { StoreError } from './store_error.ts';
import type { CrossmatchResult, MatchSource } from './types.ts';

/** The maximum bytes of a record: Kafka's default limit (1 MB), less some margin. */
export const MAX_RECORD_BYTES = 900_000;

/** "nsky". */
const MARK = 0x796b736e;
const HEAD_BYTES = 5;
const CHECKSUM_BYTES = 4;

/** The first level that has each kind of record: see `level.ts`. */
const SINCE: Readonly<Record<ChangeKind, number>> = {
  deliver: 1,
  crossmatch: 1,
  import: 1,
  register_catalog: 1,
  published: 1,
  take_lease: 1,
  begin_log: 1,
  tick: 1,
  vote: 1,
  share_settings: 1,
  begin_registry: 1,
  stage_registry: 1,
  change_staged_registry: 1,
  publish_registry: 1,
  change_registry: 1,
  remove_registry_loads: 1,
  level: 2,
  remove_catalog: 3,
  fill_statistics: 4,
  remove: 7,
};

/** The first level in which matches may have statistics; in records of lower levels they are left out. */
const STATISTICS_SINCE = 4;

/** The first level in which deliveries may come with unstored messages; in records of lower levels they are left out. */
const UNSTORED_SINCE = 5;

/** The first level in which source ids may be strings. */
const TEXT_IDS_SINCE = 3;

/** The first level in which a catalog may be replaced by its next release. */
const RELEASES_SINCE = 7;

/** The kinds of change that can be split into several changes, each with the list along which it is split. */
const LISTS: { readonly [K in ChangeKind]?: string } = {
  deliver: 'deliveries',
  crossmatch: 'results',
  fill_statistics: 'found',
  import: 'entries',
  remove: 'ids',
  stage_registry: 'records',
  change_staged_registry: 'records',
};

/**
 * Encodes a change as records of at most `maxBytes`. A longer change becomes several records, to be applied in order.
 * @param level of the log
 * @throws StoreError if the change cannot be split into records that are short enough, or the level has no records of
 * that kind
 */
export function encodeChange(
  change: Change,
  level: number = FIRST_LEVEL,
  maxBytes: number = MAX_RECORD_BYTES,
): Uint8Array[] {
  requireWritable(change, level);
  const fields = fieldsOf(readableAt(level, change));
  const record = seal(encodePlain([change.kind, change.timeUs, fields]), level);
  if (record.length <= maxBytes) return [record];
  const name = LISTS[change.kind];
  const list = name ? (change as unknown as Readonly<Record<string, readonly unknown[]>>)[name]! : [];
  const middle = list.length >> 1;
  if (!name || middle === 0) {
    throw new StoreError(
      `Cannot write a change (${change.kind}) to the log because it has ${record.length} bytes: a record has at most ${maxBytes}`,
    );
  }
  const first = { ...change, [name]: list.slice(0, middle) } as Change;
  const second = { ...withoutUnstored(change), [name]: list.slice(middle) } as Change;
  return [first, second].flatMap(part => encodeChange(part, level, maxBytes));
}

/**
 * @param readable the highest level that can be read
 * @throws StoreError if the bytes are not a record; UnreadableLevel if the record has a higher level, or raises the log
 * to one
 */
export function decodeChange(record: Uint8Array, readable: number = LEVEL): Change {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  const end = record.length - CHECKSUM_BYTES;
  const isOurs = end >= HEAD_BYTES && view.getUint32(0, true) === MARK;
  if (!isOurs || crc32(record.subarray(0, end)) !== view.getUint32(end, true)) throw damaged();
  requireReadable(record[HEAD_BYTES - 1]!, readable);
  try {
    const [kind, timeUs, fields] = decodePlain(record.subarray(HEAD_BYTES, end)) as [ChangeKind, number, unknown];
    if (!Object.hasOwn(SINCE, kind)) throw unknown(kind);
    const change = { kind, timeUs, ...decodeFields(kind, fields) } as Change;
    if (change.kind === 'level') requireReadable(change.level, readable);
    return change;
  } catch (error) {
    throw error instanceof StoreError ? error : damaged();
  }
}

function requireWritable(change: Change, level: number): void {
  const { kind } = change;
  const [needed, what] = bringsRelease(change)
    ? [RELEASES_SINCE, ' of the next release']
    : level < TEXT_IDS_SINCE && bringsTextIds(change)
      ? [TEXT_IDS_SINCE, ' with source ids that are not integers']
      : [SINCE[kind], ''];
  if (needed <= level) return;
  throw new StoreError(
    `Cannot write a change (${kind}${what}) to the log because it needs level ${needed}, and the level of the log is ${level}: upgrade every node, then run \`nearsky node upgrade\``,
  );
}

function bringsRelease(change: Change): boolean {
  if (change.kind !== 'register_catalog') return false;
  const { release, replaced } = change.registration;
  return (release ?? replaced) !== undefined;
}

/** Whether a change contains a source id that is not an integer, or a catalog with such ids. */
function bringsTextIds(change: Change): boolean {
  const isText = ({ catalogSourceId }: SourceName) => integerId(catalogSourceId) === undefined;
  if (change.kind === 'register_catalog') return change.registration.definition?.idType === 'text';
  if (change.kind === 'crossmatch') return change.results.some(({ matches }) => matches.some(isText));
  if (change.kind !== 'import') return false;
  return itemsOf(change).some(item => item.kind === 'match' && isText(item.match));
}

/** The change as nodes of that level can read it. */
function readableAt(level: number, change: Change): Change {
  const readable =
    level < STATISTICS_SINCE
      ? withStatistics(change, () => undefined)
      : level < POSITION_ERRORS_SINCE
        ? withStatistics(change, firstVersion)
        : change;
  const plain = level < POSITION_ERRORS_SINCE ? withoutErrors(readable) : readable;
  return level < UNSTORED_SINCE ? withoutUnstored(plain) : plain;
}

/** The change without its unstored messages. If a change is split, its first part has them. */
function withoutUnstored(change: Change): Change {
  if (change.kind !== 'deliver') return change;
  const { unstored: _, ...stored } = change;
  return stored;
}

/** The change with the statistics of its matches replaced by `of`, or removed, for nodes of an older release. */
function withStatistics(change: Change, of: (statistics: MatchStatistics) => MatchStatistics | undefined): Change {
  const readable = <M extends { readonly statistics?: MatchStatistics }>({ statistics, ...match }: M) => {
    const known = statistics && of(statistics);
    return known ? { ...match, statistics: known } : match;
  };
  if (change.kind === 'crossmatch') {
    const results = change.results.map(result => ({ ...result, matches: result.matches.map(readable) }));
    return { ...change, results };
  }
  if (change.kind === 'fill_statistics') {
    const matchesOf = ({ matches }: FoundStatistics) =>
      matches.map(({ statistics, ...match }) => ({ ...match, statistics: of(statistics) ?? statistics }));
    return { ...change, found: change.found.map(object => ({ ...object, matches: matchesOf(object) })) };
  }
  if (change.kind !== 'import') return change;
  const entries = itemsOf(change).map(item =>
    item.kind === 'match' ? { ...item, match: readable(item.match) } : item,
  );
  return { ...change, entries };
}

/** The change without the position errors of its objects, which nodes of an older release would not store. */
function withoutErrors(change: Change): Change {
  const without = <O extends { readonly positionErrorMas?: number }>({ positionErrorMas: _, ...object }: O) => object;
  if (change.kind === 'deliver') return { ...change, deliveries: change.deliveries.map(without) };
  if (change.kind !== 'import') return change;
  const entries = itemsOf(change).map(item =>
    item.kind === 'object' ? { ...item, object: without(item.object) } : item,
  );
  return { ...change, entries };
}

const itemsOf = ({ entries }: Pick<ChangeOf<'import'>, 'entries'>) =>
  entries.flatMap(entry => (entry.kind === 'prepared' ? entry.items() : entry));

const damaged = () => new StoreError('Cannot read the record because it is damaged or was not written by nearsky');
const unknown = (kind: unknown) =>
  new StoreError(
    `Cannot read the record because its kind ${JSON.stringify(kind)} is unknown to this nearsky: install a newer nearsky on this node`,
  );

function seal(content: Uint8Array, level: number): Uint8Array {
  const record = new Uint8Array(HEAD_BYTES + content.length + CHECKSUM_BYTES);
  const view = new DataView(record.buffer);
  const end = HEAD_BYTES + content.length;
  view.setUint32(0, MARK, true);
  record[HEAD_BYTES - 1] = level;
  record.set(content, HEAD_BYTES);
  view.setUint32(end, crc32(record.subarray(0, end)), true);
  return record;
}

/** The fields of a change, without its kind and time, in a form that msgpack keeps exactly. */
function fieldsOf({ kind: _, timeUs: __, ...fields }: Change): unknown {
  if ('deliveries' in fields) return packDelivered(fields);
  if ('results' in fields) return packResults(fields);
  // The bytes of a prepared object contain ordinals that are valid only in the store for which it was prepared.
  if ('entries' in fields) return { entries: itemsOf(fields) };
  return fields;
}

function decodeFields(kind: ChangeKind, fields: unknown): object {
  if (kind === 'deliver') return unpackDelivered(fields as PackedDeliveries);
  if (kind === 'crossmatch') return unpackResults(fields as PackedResults);
  return fields as object;
}

type Fields<K extends ChangeKind> = Omit<ChangeOf<K>, 'kind' | 'timeUs'>;

/** `of` is the index in `brokers` of each delivery's broker; null if all deliveries come from the first broker. */
type PackedDeliveries = readonly [
  brokers: string[],
  of: number[] | null,
  columns: Uint8Array,
  unstored?: UnstoredMessages | null,
  haveErrors?: true,
];

function packDelivered({ deliveries, unstored }: Fields<'deliver'>): PackedDeliveries {
  const brokers = new Numbered<string>();
  const of = deliveries.map(({ broker }) => brokers.numberOf(broker));
  const haveErrors = deliveries.some(({ positionErrorMas }) => positionErrorMas !== undefined);
  const columns = new Uint8Array(packDeliveries(deliveries, haveErrors));
  const packed = [brokers.values, brokers.values.length > 1 ? of : null, columns] as const;
  if (haveErrors) return [...packed, unstored ?? null, true];
  return unstored ? [...packed, unstored] : packed;
}

function unpackDelivered([brokers, of, columns, unstored, haveErrors]: PackedDeliveries): Fields<'deliver'> {
  // A copy, because the columns must begin at a multiple of eight.
  const unpacked = unpackDeliveries(new Uint8Array(columns).buffer, brokers[0]!, haveErrors ?? false);
  const deliveries = of ? unpacked.map((delivery, i) => ({ ...delivery, broker: brokers[of[i]!]! })) : unpacked;
  return { deliveries, ...(unstored && { unstored }) };
}

type Match = CrossmatchResult['matches'][number];
/** A packed source refers to the keys of its payload by their index in a list. */
type PackedMatch = readonly [
  string,
  string,
  number,
  MatchSource | readonly [keys: number, packed: Uint8Array],
  separationAtEpochArcsec?: number | null,
  statistics?: MatchStatistics,
];
type PackedResult = readonly [bigint, outcomes: number, PackedMatch[], CrossmatchResult['tns'] | null];
/**
 * Most objects have the same outcomes, and all sources of a catalog have the same keys, so each distinct value is
 * written once.
 */
interface PackedResults extends Pick<Fields<'crossmatch'>, 'provenance' | 'isAgain'> {
  readonly outcomes: CrossmatchResult['catalogOutcomes'][];
  readonly keys: (readonly string[])[];
  readonly results: PackedResult[];
}

function packResults({ results, ...settings }: Fields<'crossmatch'>): PackedResults {
  const outcomes = new Numbered<CrossmatchResult['catalogOutcomes']>();
  const keys = new Numbered<readonly string[]>();
  const packMatch = ({ catalogName, catalogSourceId, source, statistics, ...separations }: Match): PackedMatch => {
    const packed = 'packed' in source ? ([keys.numberOf(source.keys), source.packed] as const) : source;
    const { separationArcsec, separationAtEpochArcsec: atEpoch } = separations;
    const match = [catalogName, catalogSourceId, separationArcsec, packed] as const;
    if (statistics) return [...match, atEpoch ?? null, statistics];
    return atEpoch === undefined ? match : [...match, atEpoch];
  };
  const packed = results.map(({ diaObjectId, catalogOutcomes, matches, tns }): PackedResult => {
    return [diaObjectId, outcomes.numberOf(catalogOutcomes), matches.map(packMatch), tns ?? null];
  });
  return { ...settings, outcomes: outcomes.values, keys: keys.values, results: packed };
}

function unpackResults({ outcomes, keys, results, ...settings }: PackedResults): Fields<'crossmatch'> {
  const unpackMatch = ([catalogName, catalogSourceId, separationArcsec, packed, ...further]: PackedMatch): Match => {
    const [atEpoch, statistics] = further;
    const source = Array.isArray(packed) ? { keys: keys[packed[0]]!, packed: packed[1] } : (packed as MatchSource);
    const separationAtEpoch = typeof atEpoch === 'number' ? { separationAtEpochArcsec: atEpoch } : {};
    const match = { catalogName, catalogSourceId, separationArcsec, ...separationAtEpoch };
    return statistics ? { ...match, statistics, source } : { ...match, source };
  };
  return {
    ...settings,
    results: results.map(([diaObjectId, at, matches, tns]) => ({
      diaObjectId,
      catalogOutcomes: outcomes[at]!,
      matches: matches.map(unpackMatch),
      ...(tns && { tns }),
    })),
  };
}

/** Distinct values, numbered from 0. */
class Numbered<T> {
  readonly values: T[] = [];
  readonly #numbers = new Map<T, number>();

  numberOf(value: T): number {
    let number = this.#numbers.get(value);
    if (number === undefined) {
      number = this.values.push(value) - 1;
      this.#numbers.set(value, number);
    }
    return number;
  }
}
