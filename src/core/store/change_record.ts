/**
 * Encodes a change as a record of the log, which other nodes apply. A record is a mark, the level in which it is
 * written, a msgpack array without shared structures, and the CRC-32 of all bytes before it. 64-bit ids and float64
 * values are exact, except that -0 becomes 0 outside of deliveries.
 */
import { crc32 } from 'node:zlib';
import type { Change, ChangeKind, ChangeOf } from './changes.ts';
import { FIRST_LEVEL, LEVEL, requireReadable } from './level.ts';
import type { MatchStatistics } from './match_statistics.ts';
import type { UnstoredMessages } from './nights.ts';
import { packDeliveries, unpackDeliveries } from './packed_deliveries.ts';
import { decodePlain, encodePlain } from './records.ts';
import { StoreError } from './store_error.ts';
import type { CrossmatchResult, MatchSource } from './types.ts';

/** The maximum bytes of a record: Kafka's default limit (1 MB), less some margin. */
export const MAX_RECORD_BYTES = 900_000;

/** "nsk1": records from before the first release began with "nsky". */
const MARK = 0x316b736e;
const HEAD_BYTES = 5;
const CHECKSUM_BYTES = 4;

/** The first level that has each kind of record: see `level.ts`. */
const SINCE: Readonly<Record<ChangeKind, number>> = {
  deliver: 1,
  crossmatch: 1,
  fill_statistics: 1,
  import: 1,
  remove: 1,
  register_catalog: 1,
  remove_catalog: 1,
  published: 1,
  take_lease: 1,
  begin_log: 1,
  report_node: 1,
  level: 1,
  share_settings: 1,
  begin_registry: 1,
  stage_registry: 1,
  change_staged_registry: 1,
  publish_registry: 1,
  change_registry: 1,
  remove_registry_loads: 1,
};

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
  const fields = fieldsOf(change);
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

function requireWritable({ kind }: Change, level: number): void {
  const needed = SINCE[kind];
  if (needed <= level) return;
  throw new StoreError(
    `Cannot write a change (${kind}) to the log because it needs level ${needed}, and the level of the log is ${level}: upgrade every node, then run \`nearsky node upgrade\``,
  );
}

/** The change without its unstored messages. If a change is split, its first part has them. */
function withoutUnstored(change: Change): Change {
  if (change.kind !== 'deliver') return change;
  const { unstored: _, ...stored } = change;
  return stored;
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
