/** Writes the contents of a store as the lines of an export. */
import { COMPACT, toJson } from '@nearsky/astrotables/json';
import { formatTime } from '../../core/base/times.ts';
import type { MatchStatistics } from '../../core/store/match_statistics.ts';
import { type ObjectView, readAssociation, readCurrent, type TimelessRecord } from '../../core/store/object_record.ts';
import type { SourceValues } from '../../core/store/records.ts';
import type { Snapshot } from '../../core/store/snapshot.ts';
import type { Store } from '../../core/store/store.ts';
import type { TnsAssociation, TnsRecord } from '../../core/store/types.ts';
import type { LineType } from './parse.ts';

export type LineCounts = Record<LineType, number>;

/**
 * Yields every line with its line break: the registry, then each object (ascending id) with all lines that belong to
 * it.
 * @param store the store that has the provenance sets
 * @param counts increased for each line
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
  const texts = new SharedTexts(store);
  for (const object of snapshot.objects()) {
    const sources = snapshot.sourcesOf(object);
    counts.object++;
    const id = `"diaObjectId":"${object.diaObjectId}"`;
    const { brokers, record } = texts.ofCurrent(object.current);
    let lines = objectLine(object, id, brokers);
    const records = object.hasOlder ? object.decode().records : [];
    for (const older of records.slice(0, -1)) lines += recordLine(id, older.crossmatchedAtUs, texts.ofRecord(older));
    if (record) lines += recordLine(id, object.crossmatchedAtUs, record);
    counts.crossmatch_record += Math.max(records.length, record ? 1 : 0);
    const matches = object.matches();
    counts.match += matches.length;
    for (const [i, at] of matches.entries()) lines += matchLine(id, object, at, texts.ofSource(sources[i]!));
    const { tns } = object;
    if (tns !== '') {
      counts.tns_association++;
      lines += `{"type":"tns_association",${id},${texts.ofAssociation(tns)}}\n`;
    }
    yield lines;
  }
}

/** The two parts of a record's line: up to its time, and after it. */
interface RecordTexts {
  readonly before: string;
  readonly after: string;
}

interface CurrentTexts {
  readonly brokers: string;
  /** The cached lines of the current crossmatch. */
  readonly record: RecordTexts | undefined;
}

/** The maximum number of cached strings, which bounds the memory. */
const MAX_SHARED = 1000;

/** Caches parts of lines that many objects share. */
class SharedTexts {
  readonly #store: Store;
  readonly #currentTexts = new Map<string, CurrentTexts>();
  readonly #provenance = new Map<number, string>();
  readonly #keys = new Map<number, readonly string[]>();
  #association = { stored: '', text: '' };

  constructor(store: Store) {
    this.#store = store;
  }

  ofCurrent(current: string): CurrentTexts {
    return shared(this.#currentTexts, current, () => {
      const { brokers, record } = readCurrent(current);
      return { brokers: compact(brokers), record: record && this.ofRecord(record) };
    });
  }

  ofRecord({ matchVersion, brokersAtCrossmatch, catalogOutcomes, provenanceSet }: TimelessRecord): RecordTexts {
    const provenance = shared(this.#provenance, provenanceSet, () =>
      compact(this.#store.provenanceSet(provenanceSet).set),
    );
    const [brokers, outcomes] = [compact(brokersAtCrossmatch), compact(Object.fromEntries(catalogOutcomes))];
    return {
      before: `"match_version":${matchVersion},"crossmatched_at":"`,
      after: `","brokers_at_crossmatch":${brokers},"catalog_outcomes":${outcomes},"provenance":${provenance}}\n`,
    };
  }

  ofSource({ ra, dec, keys, values }: SourceValues): string {
    const place = `"ra":${compact(ra)},"dec":${compact(dec)},"catalog_payload":`;
    if (keys === null) return `${place}null`;
    const names = shared(this.#keys, keys, () => this.#store.payloadKeys(keys).map(key => `${JSON.stringify(key)}:`));
    let payload = '';
    for (let i = 0; i < names.length; i++) payload += `${i > 0 ? ',' : ''}${names[i]}${compact(values[i])}`;
    return `${place}{${payload}}`;
  }

  /** The part of a line for an association. Objects without a nearby registry object share one, so it is cached. */
  ofAssociation(stored: string): string {
    if (stored !== this.#association.stored)
      this.#association = { stored, text: associationText(readAssociation(stored)!) };
    return this.#association.text;
  }
}

/** The cached value of a key; makes the value if there is none. */
function shared<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  let value = known.get(key);
  if (value === undefined) {
    value = make();
    if (known.size < MAX_SHARED) known.set(key, value);
  }
  return value;
}

function objectLine(object: ObjectView, id: string, brokers: string): string {
  const { raAt, decAt, reliabilityAt, positionErrorAt, positionErrorMas } = object;
  const [ra, dec] = [numberText(object.text(raAt, decAt)), numberText(object.text(decAt, reliabilityAt))];
  const position = ra === 'null' || dec === 'null' ? '"ra":null,"dec":null' : `"ra":${ra},"dec":${dec}`;
  const reliability = numberText(object.text(reliabilityAt, positionErrorAt));
  const error = positionErrorMas === undefined ? '' : `"position_error_mas":${compact(positionErrorMas)},`;
  const times = `"ingest_time":"${timeText(object.ingestTimeUs)}","event_time":"${timeText(object.eventTimeUs)}"`;
  return `{"type":"object",${id},${position},"reliability":${reliability},${error}${times},"state":"${object.state}","brokers":${brokers}}\n`;
}

function recordLine(id: string, crossmatchedAtUs: number, { before, after }: RecordTexts): string {
  return `{"type":"crossmatch_record",${id},${before}${timeText(crossmatchedAtUs)}${after}`;
}

function matchLine(id: string, object: ObjectView, at: number, source: string): string {
  const version = object.matchVersion(at);
  const sourceIdAt = object.sourceIdAt(at);
  const separationAt = object.separationAt(at);
  const name = stringText(object.text(object.catalogNameAt(at), sourceIdAt));
  const sourceId = stringText(object.text(sourceIdAt, separationAt));
  const [separationEnd, end] = [object.separationEnd(at), object.separationsEnd(at)];
  let separation = numberText(object.text(separationAt, separationEnd));
  if (separationEnd < end)
    separation += `,"separation_at_epoch_arcsec":${numberText(object.text(separationEnd + 1, end))}`;
  const statistics = object.statistics(at);
  if (statistics) separation += `,"statistics":${statisticsJson(statistics)}`;
  return `{"type":"match",${id},"match_version":${version},"catalog_name":${name},"catalog_source_id":${sourceId},"separation_arcsec":${separation},${source}}\n`;
}

const statisticsJson = (statistics: MatchStatistics) =>
  compact({
    version: statistics.version,
    source_density: statistics.sourceDensity,
    sources_within_radius: statistics.sourcesWithinRadius,
    second_separation_arcsec: statistics.secondSeparationArcsec,
    ...(statistics.likelihood && {
      combined_error_mas: statistics.likelihood.combinedErrorMas,
      ln_weight_ratio: statistics.likelihood.lnWeightRatio,
      prior_completeness: statistics.likelihood.priorCompleteness,
    }),
  });

/** The exported form of a stored number. */
const numberText = (stored: string) => (LONG_INTEGER.test(stored) ? compact(JSON.parse(stored)) : stored);
/** An integer that a double might not represent exactly. */
const LONG_INTEGER = /^-?\d{16}/;

/** The exported form of a stored string, without quotes. Every character beyond ASCII is escaped. */
const stringText = (stored: string) =>
  stored.includes('\\') ? JSON.stringify(JSON.parse(`"${stored}"`)) : `"${stored}"`;

function associationText(tns: TnsAssociation): string {
  const fields = {
    checked: tns.checked,
    snapshot_epoch: tns.snapshotEpochUs === null ? null : timeText(tns.snapshotEpochUs),
    objid: tns.objid,
    name: tns.name,
    name_prefix: tns.namePrefix,
    classification: tns.classification,
    redshift: tns.redshift,
    separation_arcsec: tns.separationArcsec,
  };
  return compact(fields).slice(1, -1);
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
    ...(record.createdUs !== undefined && { created_at: timeText(record.createdUs) }),
  });
}

/** The last second that was formatted. Many objects share it. */
let second = { startUs: Number.NaN, text: '' };

/** The exported form of a time, always with six digits of microseconds. */
function timeText(timeUs: number): string {
  const micros = ((timeUs % 1e6) + 1e6) % 1e6;
  const startUs = timeUs - micros;
  if (startUs !== second.startUs) second = { startUs, text: formatTime(startUs).replace('+00:00', '.') };
  return `${second.text}${String(micros).padStart(6, '0')}+00:00`;
}

/**
 * Converts numbers for an export: an integer that a double might not represent exactly is a bigint, and a float of that
 * size is written with an exponent.
 */
const compact = (value: unknown) => toJson(value, COMPACT);

const line = (type: LineType, fields: object) => `${compact({ type, ...fields })}\n`;
