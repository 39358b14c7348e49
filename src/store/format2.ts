/** Objects as they were stored up to format 2: msgpack arrays of positional fields. */
import { encodeObject, RECORDED_OUTCOMES } from './object_record.ts';
import { decodePlain } from './records.ts';
import type { CrossmatchRecord, MatchSummary, RecordedOutcome, StoredObject, TnsAssociation } from './types.ts';

type ObjectTuple = [
  ra: number | null,
  dec: number | null,
  reliability: number | null,
  ingestTimeUs: number,
  eventTimeUs: number,
  state: number,
  brokers: string[],
  /** Flat, five values per record; `outcomes` itself is flat: catalog name, index in RECORDED_OUTCOMES. */
  records: unknown[],
  /** Flat, four values per match: version, catalog name, source id, separation in arcsec. */
  matches: unknown[],
  tns: unknown[] | null,
];

/** The object's bytes in the present format. */
export function upgradeObject(bytes: Uint8Array): Uint8Array {
  return encodeObject(decodeObject(bytes));
}

function decodeObject(bytes: Uint8Array): Omit<StoredObject, 'diaObjectId'> {
  const tuple = decodePlain(bytes) as ObjectTuple;
  const [ra, dec, reliability, ingestTimeUs, eventTimeUs, state, brokers, records, matches, tns] = tuple;
  return {
    position: ra === null || dec === null ? null : { ra, dec },
    reliability,
    ingestTimeUs,
    eventTimeUs,
    state: state === 0 ? 'pending' : 'crossmatched',
    brokers,
    records: decodeRecords(records),
    matches: decodeMatches(matches),
    tns: tns && decodeTns(tns),
  };
}

function decodeRecords(flat: readonly unknown[]): CrossmatchRecord[] {
  const records: CrossmatchRecord[] = [];
  for (let i = 0; i < flat.length; i += 5) {
    const outcomes = flat[i + 4] as (string | number)[];
    const catalogOutcomes: [string, RecordedOutcome][] = [];
    for (let j = 0; j < outcomes.length; j += 2) {
      catalogOutcomes.push([outcomes[j] as string, RECORDED_OUTCOMES[outcomes[j + 1] as number]!]);
    }
    records.push({
      matchVersion: flat[i] as number,
      crossmatchedAtUs: flat[i + 1] as number,
      provenanceSet: flat[i + 2] as number,
      brokersAtCrossmatch: flat[i + 3] as string[],
      catalogOutcomes,
    });
  }
  return records;
}

function decodeMatches(flat: readonly unknown[]): MatchSummary[] {
  const matches: MatchSummary[] = [];
  for (let i = 0; i < flat.length; i += 4) {
    matches.push({
      matchVersion: flat[i] as number,
      catalogName: flat[i + 1] as string,
      catalogSourceId: flat[i + 2] as string,
      separationArcsec: flat[i + 3] as number,
    });
  }
  return matches;
}

function decodeTns(tuple: readonly unknown[]): TnsAssociation {
  const [checked, snapshotEpochUs, objid, name, namePrefix, classification, redshift, separationArcsec] = tuple;
  return {
    checked,
    snapshotEpochUs,
    objid,
    name,
    namePrefix,
    classification,
    redshift,
    separationArcsec,
  } as TnsAssociation;
}
