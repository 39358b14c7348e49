/**
 * Makes the messages of the stream of objects: the state of an object after one change, whatever has changed since
 * (docs/contract.md, Stream of objects).
 */
import { COMPACT, toJson } from '@nearsky/astrotables/json';
import type { SharedFragments } from '../../core/answers/shared_fragments.ts';
import { formatTimeOrNull } from '../../core/base/times.ts';
import { currentVersion } from '../../core/store/current_matches.ts';
import { crossmatchedStatus, type StoredStatus } from '../../core/store/status.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';
import { REMOVED_VERSION, type RemovedObject, STORED_VERSION, type StoredObject } from '../../core/store/types.ts';
import { MatchMessages } from './match_messages.ts';
import type { MatchMessage, MessageReader } from './message.ts';

/** An object as one of its changes left it. */
export interface StateAtVersion {
  readonly status: StoredStatus;
  /** The indexes of the change's matches. */
  readonly matches: readonly number[];
}

/** @param version the version of a crossmatch, or `STORED_VERSION` */
export function stateAt(object: StoredObject, version: number): StateAtVersion {
  const matches = object.matches.flatMap(({ matchVersion }, i) => (matchVersion === version ? [i] : []));
  return { status: statusAt(object, version), matches };
}

export class ObjectMessages implements MessageReader {
  readonly #store: StoreReader;
  readonly #fragments: SharedFragments;
  readonly #matches: MatchMessages;

  constructor(store: StoreReader, fragments: SharedFragments) {
    this.#store = store;
    this.#fragments = fragments;
    this.#matches = new MatchMessages(store, fragments);
  }

  messages(diaObjectId: bigint, recorded: number | undefined, removed?: RemovedObject): readonly MatchMessage[] {
    if (removed) return [removalMessage(removed)];
    const object = this.#store.getObject(diaObjectId);
    if (!object) return [];
    const { position, reliability, ingestTimeUs, eventTimeUs } = object;
    const version = recorded ?? currentVersion(object) ?? STORED_VERSION;
    const record = object.records.find(({ matchVersion }) => matchVersion === version);
    const isStored = version === STORED_VERSION;
    const head = toJson(
      {
        change: isStored ? 'stored' : 'crossmatched',
        match_version: isStored ? null : version,
        diaObjectId,
        status: stateAt(object, version).status,
        ra: position?.ra ?? null,
        dec: position?.dec ?? null,
        reliability,
        ingest_time: formatTimeOrNull(ingestTimeUs),
        event_time: formatTimeOrNull(eventTimeUs),
        crossmatched_at: formatTimeOrNull(record?.crossmatchedAtUs),
        catalog_outcomes: record ? Object.fromEntries(record.catalogOutcomes) : null,
        tns: isStored ? null : this.#fragments.tnsOf(object.tns),
      },
      COMPACT,
    );
    const matches = isStored ? [] : this.#matches.messages(diaObjectId, version).map(({ value }) => value);
    const list = matches.flatMap((match, i) => (i === 0 ? [match] : [COMMA, match]));
    const value = Buffer.concat([Buffer.from(`${head.slice(0, -1)},"matches":[`), ...list, END]);
    return [{ diaObjectId, matchVersion: version, catalogName: NO_CATALOG, ingestTimeUs, position, value }];
  }
}

function removalMessage({ diaObjectId, position, ingestTimeUs }: RemovedObject): MatchMessage {
  const message = {
    change: 'removed',
    match_version: null,
    diaObjectId,
    status: 'not_in_service',
    ra: position?.ra ?? null,
    dec: position?.dec ?? null,
    reliability: null,
    ingest_time: null,
    event_time: null,
    crossmatched_at: null,
    catalog_outcomes: null,
    tns: null,
    matches: [],
  };
  const value = Buffer.from(toJson(message, COMPACT));
  return { diaObjectId, matchVersion: REMOVED_VERSION, catalogName: NO_CATALOG, ingestTimeUs, position, value };
}

/**
 * In the ids of messages about an object as a whole, this stands where a catalog's name would. No catalog has this
 * name.
 */
const NO_CATALOG = '';
const [COMMA, END] = [Buffer.from(','), Buffer.from(']}')];

/**
 * The status that an object had right after one change, whatever came later. @param version as in
 * `RecordedCrossmatches`
 */
export function statusAt({ matches, records }: StoredObject, version: number): StoredStatus {
  if (version === STORED_VERSION) return 'crossmatch_pending';
  const record = records.find(({ matchVersion }) => matchVersion === version);
  return crossmatchedStatus(
    matches.some(({ matchVersion }) => matchVersion === version),
    record?.catalogOutcomes,
  );
}
