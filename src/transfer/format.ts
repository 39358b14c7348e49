/** A store as the lines of an export. */
import { formatTime } from '../../workers/times.ts';
import type { Snapshot } from '../store/snapshot.ts';
import type { Store } from '../store/store.ts';
import type { CrossmatchRecord, MatchSource, MatchSummary, StoredObject, TnsRecord } from '../store/types.ts';
import type { LineType } from './parse.ts';

/** How many lines of each type there were. */
export type LineCounts = Record<LineType, number>;

/**
 * Every line, each with its line break: the registry, then each object (ascending id) followed by all that belongs to it.
 * @param store where the provenance sets are read
 * @param counts is counted up
 */
export function* formatLines(snapshot: Snapshot, store: Store, counts: LineCounts): Iterable<string> {
  const epochUs = snapshot.tnsSnapshotEpochUs();
  if (epochUs !== null) {
    counts.tns_snapshot++;
    yield line('tns_snapshot', { epoch: timeText(epochUs) });
  }
  for (const record of snapshot.tnsRecords()) {
    counts.tns_object++;
    yield registryLine(record);
  }
  for (const { object, sources } of snapshot.objects()) {
    counts.object++;
    counts.crossmatch_record += object.records.length;
    counts.match += object.matches.length;
    let lines = objectLine(object);
    for (const record of object.records) lines += recordLine(object.diaObjectId, record, store);
    for (const [i, match] of object.matches.entries()) lines += matchLine(object.diaObjectId, match, sources[i]!);
    if (object.tns) {
      counts.tns_association++;
      lines += associationLine(object);
    }
    yield lines;
  }
}

function objectLine(object: StoredObject): string {
  return line('object', {
    diaObjectId: `${object.diaObjectId}`,
    ra: object.position?.ra ?? null,
    dec: object.position?.dec ?? null,
    reliability: object.reliability,
    ingest_time: timeText(object.ingestTimeUs),
    event_time: timeText(object.eventTimeUs),
    state: object.state,
    brokers: object.brokers,
  });
}

function recordLine(diaObjectId: bigint, record: CrossmatchRecord, store: Store): string {
  return line('crossmatch_record', {
    diaObjectId: `${diaObjectId}`,
    match_version: record.matchVersion,
    crossmatched_at: timeText(record.crossmatchedAtUs),
    brokers_at_crossmatch: record.brokersAtCrossmatch,
    catalog_outcomes: Object.fromEntries(record.catalogOutcomes),
    provenance: store.provenanceSet(record.provenanceSet).set,
  });
}

function matchLine(diaObjectId: bigint, match: MatchSummary, source: MatchSource): string {
  return line('match', {
    diaObjectId: `${diaObjectId}`,
    match_version: match.matchVersion,
    catalog_name: match.catalogName,
    catalog_source_id: match.catalogSourceId,
    separation_arcsec: match.separationArcsec,
    ra: source.ra,
    dec: source.dec,
    catalog_payload: source.payload,
  });
}

function associationLine({ diaObjectId, tns }: StoredObject): string {
  return line('tns_association', {
    diaObjectId: `${diaObjectId}`,
    checked: tns!.checked,
    snapshot_epoch: tns!.snapshotEpochUs === null ? null : timeText(tns!.snapshotEpochUs),
    objid: tns!.objid,
    name: tns!.name,
    name_prefix: tns!.namePrefix,
    classification: tns!.classification,
    redshift: tns!.redshift,
    separation_arcsec: tns!.separationArcsec,
  });
}

function registryLine(record: TnsRecord): string {
  return line('tns_object', {
    objid: record.objid,
    name: record.name,
    name_prefix: record.namePrefix,
    ra: record.ra,
    dec: record.dec,
    classification: record.classification,
    redshift: record.redshift,
  });
}

/** Microseconds always as six digits. */
function timeText(timeUs: number): string {
  const text = formatTime(timeUs);
  return text.includes('.') ? text : text.replace('+00:00', '.000000+00:00');
}

const line = (type: LineType, fields: object) => `${jsonText({ type, ...fields })}\n`;

/** Plain data as JSON. An integer literal that a double might not hold is a bigint: a number of that size gets an exponent. */
function jsonText(value: unknown): string {
  return isJson(value) ? JSON.stringify(value) : exactText(value);
}

/** Whether JSON.stringify writes it as it is to be: ten times as fast, and true of nearly everything. */
function isJson(value: unknown): boolean {
  switch (typeof value) {
    case 'bigint':
      return false;
    case 'number':
      return Math.abs(value) <= Number.MAX_SAFE_INTEGER || !Number.isInteger(value);
    case 'object':
      return value === null || Object.values(value).every(isJson);
    default:
      return true;
  }
}

function exactText(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return `${value}`;
    case 'number':
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) return value.toExponential();
      return JSON.stringify(value);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map(exactText).join(',')}]`;
      return `{${Object.entries(value)
        .map(([key, member]) => `${JSON.stringify(key)}:${exactText(member)}`)
        .join(',')}}`;
    default:
      return JSON.stringify(value);
  }
}
