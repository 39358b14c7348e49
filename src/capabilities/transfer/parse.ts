/** Reads and checks one line of an export. */

import { parseJson } from '@nearsky/astrotables/json';
import { messageOf } from '../../core/base/error_text.ts';
import { asObject, type JsonObject } from '../../core/base/json_reader.ts';
import { catalogDefinition } from '../../core/contract/catalogs.ts';
import { CUT_ENFORCERS, CUT_STATUSES } from '../../core/contract/enums.ts';
import { flag, matching, named, number, oneOf } from '../../core/contract/kind.ts';
import { DEC_RANGE, MAX_CATALOGS, RA_RANGE } from '../../core/contract/limits.ts';
import { POSITION_ERROR_MAS, PRIOR_COMPLETENESS } from '../../core/contract/position_errors.ts';
import type { ImportItem } from '../../core/store/import.ts';
import type { MatchStatistics } from '../../core/store/match_statistics.ts';
import { RECORDED_OUTCOMES } from '../../core/store/records.ts';
import type { SourceName } from '../../core/store/source_index.ts';
import type {
  ProvenanceSet,
  RecordedOutcome,
  ReliabilityCut,
  TnsAssociation,
  TnsRecord,
} from '../../core/store/types.ts';
import { parseId } from '../ingest/normalise.ts';
import {
  int64Text,
  LineError,
  listOf,
  object,
  objectId,
  orNull,
  sortedSet,
  sourceIdText,
  take,
  text,
  time,
  wholeNumber,
} from './fields.ts';

/** The types of a line. */
export const LINE_TYPES = [
  'object',
  'crossmatch_record',
  'match',
  'tns_association',
  'tns_snapshot',
  'tns_object',
] as const;
export type LineType = (typeof LINE_TYPES)[number];

export type ParsedLine =
  | ImportItem
  | { readonly kind: 'tns_snapshot'; readonly epochUs: number }
  | { readonly kind: 'tns_object'; readonly record: TnsRecord };

/**
 * Reads a line. It must have every field of its type; other fields are ignored.
 * @param onUnread called if the line has other fields
 * @throws LineError with the reason
 */
export function parseLine(line: string, onUnread: () => void = () => {}): ParsedLine {
  const [start, kind, id] = OFTEN_EQUAL.exec(line) ?? [];
  if (start === undefined) return parseWhole(line, onUnread);
  const rests = knownRests[kind as keyof typeof knownRests];
  const rest = line.slice(start.length);
  const known = rests.get(rest);
  const diaObjectId = known && parseId(id);
  if (diaObjectId !== undefined) return { ...known!, diaObjectId };
  let isWhole = true;
  const parsed = parseWhole(line, () => {
    isWhole = false;
    onUnread();
  });
  // A later member of the same name would replace the first one.
  if (isWhole && rest.length <= MAX_KNOWN_CHARACTERS && !/\\|"(?:type|diaObjectId)"/.test(rest)) {
    if (rests.size >= MAX_KNOWN) rests.clear();
    rests.set(rest, parsed as ImportItem);
  }
  return parsed;
}

/** The start of lines that are equal for many objects. */
const OFTEN_EQUAL = /^\{"type":"(crossmatch_record|tns_association)","diaObjectId":"(\d{1,19})"/;

/** Caches such lines by what follows the id. */
const knownRests = {
  crossmatch_record: new Map<string, ImportItem>(),
  tns_association: new Map<string, ImportItem>(),
};
/** The maximum number of cached lines of each kind, and of characters of one. */
const [MAX_KNOWN, MAX_KNOWN_CHARACTERS] = [1000, 8192];

function parseWhole(line: string, onUnread: () => void): ParsedLine {
  const end = line.indexOf(PROVENANCE);
  const ending = end === -1 ? '' : line.slice(end);
  const known = knownProvenance.get(ending);
  const fields = objectOf(known ? `${line.slice(0, end)}}` : line);
  const parsed = PARSERS[take(fields, 'type', type)](fields, known);
  const optional = OPTIONAL[parsed.kind]?.filter(name => Object.hasOwn(fields, name)).length ?? 0;
  if (Object.keys(fields).length + (known ? 1 : 0) > FIELD_COUNTS[parsed.kind] + optional) onUnread();
  if (!known && end !== -1 && parsed.kind === 'crossmatch_record') learnProvenance(ending, parsed.provenance);
  return parsed;
}

/** The start of the last member of a record. It cannot occur inside a string, because quotes in strings are escaped. */
const PROVENANCE = ',"provenance":';

/**
 * Caches provenance by the end of the line. Provenance takes up most of a record's line, but has few different values.
 */
const knownProvenance = new Map<string, ProvenanceSet>();

/**
 * @param ending the end of a valid line, from `PROVENANCE` on. It is not cached if the member is nested, or other
 * members follow it
 */
function learnProvenance(ending: string, set: ProvenanceSet): void {
  if (knownProvenance.size >= MAX_KNOWN) return;
  try {
    if (Object.keys(JSON.parse(`{${ending.slice(1)}`)).length === 1) knownProvenance.set(ending, set);
  } catch {
    // The member is nested in another one that ends after it.
  }
}

function objectOf(line: string): JsonObject {
  let value: unknown;
  try {
    value = parseJson(line, 'int64');
  } catch (error) {
    throw new LineError(`not JSON: ${messageOf(error)}`);
  }
  const fields = asObject(value);
  if (!fields) throw new LineError('not a JSON object');
  return fields;
}

/** The number of required fields, by type of line. */
const FIELD_COUNTS: Readonly<Record<LineType, number>> = {
  object: 9,
  crossmatch_record: 7,
  match: 9,
  tns_association: 10,
  tns_snapshot: 2,
  tns_object: 8,
};

/** The fields that a line may lack. */
const OPTIONAL: { readonly [T in LineType]?: readonly string[] } = {
  object: ['position_error_mas'],
  match: ['separation_at_epoch_arcsec', 'statistics'],
};

const MAX_PAYLOAD_KEYS = 1000;

const checked = flag();
const type = oneOf(LINE_TYPES);
const state = oneOf(['pending', 'crossmatched']);
const name = text(256);
const nameOrNull = orNull(name);
const designation = text(64);
/** Up to 300 characters (src/core/contract/catalogs/schema.json), each of up to two units of UTF-16. */
const release = text(600);
const catalogName = matching(
  /^[A-Za-z]\w{0,63}$/,
  'a catalog name: a letter, then at most 63 letters, digits or underscores',
);
const brokers = sortedSet(name, 100);
const ra = number(RA_RANGE);
const raOrNull = orNull(ra);
const dec = number(DEC_RANGE);
const decOrNull = orNull(dec);
const separation = number({ min: 0 });
const separationOrNull = orNull(separation);
const numberOrNull = orNull(number());
const errorMas = number({ min: POSITION_ERROR_MAS.min });
const completeness = number(PRIOR_COMPLETENESS);
const probabilityOrNull = orNull(number({ min: 0, max: 1 }));
const integerOrNull = orNull(wholeNumber);
const timeOrNull = orNull(time);
const payload = orNull(object);
const outcome = oneOf(RECORDED_OUTCOMES);
const catalogs = listOf(MAX_CATALOGS, entry => {
  const { proper_motion, radius_arcsec, radius_column } = entry;
  return {
    name: take(entry, 'name', catalogName),
    release: take(entry, 'release', release),
    ...(proper_motion !== undefined && take(entry, 'proper_motion', checked) && { proper_motion: true as const }),
    ...(radius_arcsec !== undefined && { radius_arcsec: take(entry, 'radius_arcsec', separation) }),
    ...(radius_column !== undefined && { radius_column: take(entry, 'radius_column', release) }),
  };
});
const cutEnforcer = named(CUT_ENFORCERS);
const cutStatus = named(CUT_STATUSES);
const dateOrNull = orNull(matching(/^\d{4}-\d{2}-\d{2}$/, 'a date, YYYY-MM-DD'));
const cuts = listOf(MAX_CATALOGS, (entry): ReliabilityCut => {
  return {
    broker: take(entry, 'broker', name),
    min_reliability: take(entry, 'min_reliability', probabilityOrNull),
    enforced_by: take(entry, 'enforced_by', cutEnforcer),
    status: take(entry, 'status', cutStatus),
    as_of: take(entry, 'as_of', dateOrNull),
  };
});

function statisticsOf(fields: JsonObject): MatchStatistics {
  return {
    version: take(fields, 'version', wholeNumber),
    sourceDensity: take(fields, 'source_density', separationOrNull),
    sourcesWithinRadius: take(fields, 'sources_within_radius', wholeNumber),
    secondSeparationArcsec: take(fields, 'second_separation_arcsec', separationOrNull),
    ...(fields.combined_error_mas !== undefined && {
      likelihood: {
        combinedErrorMas: take(fields, 'combined_error_mas', errorMas),
        lnWeightRatio: take(fields, 'ln_weight_ratio', separationOrNull),
        priorCompleteness: take(fields, 'prior_completeness', completeness),
      },
    }),
  };
}

const PARSERS: { readonly [T in LineType]: (fields: JsonObject, provenance?: ProvenanceSet) => ParsedLine } = {
  object: fields => ({
    kind: 'object',
    diaObjectId: take(fields, 'diaObjectId', objectId),
    object: {
      position: positionOf(fields),
      reliability: take(fields, 'reliability', numberOrNull),
      ...(fields.position_error_mas !== undefined && {
        positionErrorMas: take(fields, 'position_error_mas', errorMas),
      }),
      ingestTimeUs: take(fields, 'ingest_time', time),
      eventTimeUs: take(fields, 'event_time', time),
      state: take(fields, 'state', state),
      brokers: take(fields, 'brokers', brokers),
    },
  }),

  crossmatch_record: (fields, provenance) => ({
    kind: 'crossmatch_record',
    diaObjectId: take(fields, 'diaObjectId', objectId),
    record: {
      matchVersion: take(fields, 'match_version', wholeNumber),
      crossmatchedAtUs: take(fields, 'crossmatched_at', time),
      brokersAtCrossmatch: take(fields, 'brokers_at_crossmatch', brokers),
      catalogOutcomes: outcomesOf(take(fields, 'catalog_outcomes', object)),
    },
    provenance: provenance ?? provenanceOf(take(fields, 'provenance', object)),
  }),

  match: fields => ({
    kind: 'match',
    diaObjectId: take(fields, 'diaObjectId', objectId),
    match: {
      matchVersion: take(fields, 'match_version', wholeNumber),
      ...sourceOf(take(fields, 'catalog_name', catalogName), fields),
      separationArcsec: take(fields, 'separation_arcsec', separation),
      ...(fields.separation_at_epoch_arcsec !== undefined && {
        separationAtEpochArcsec: take(fields, 'separation_at_epoch_arcsec', separation),
      }),
      ...(fields.statistics !== undefined && { statistics: statisticsOf(take(fields, 'statistics', object)) }),
    },
    source: {
      ra: take(fields, 'ra', numberOrNull),
      dec: take(fields, 'dec', numberOrNull),
      payload: payloadOf(take(fields, 'catalog_payload', payload)),
    },
  }),

  tns_association: fields => ({
    kind: 'tns_association',
    diaObjectId: take(fields, 'diaObjectId', objectId),
    tns: {
      checked: take(fields, 'checked', checked),
      snapshotEpochUs: take(fields, 'snapshot_epoch', timeOrNull),
      objid: take(fields, 'objid', integerOrNull),
      name: take(fields, 'name', nameOrNull),
      namePrefix: take(fields, 'name_prefix', nameOrNull),
      classification: take(fields, 'classification', nameOrNull),
      redshift: take(fields, 'redshift', numberOrNull),
      separationArcsec: take(fields, 'separation_arcsec', separationOrNull),
    } satisfies TnsAssociation,
  }),

  tns_snapshot: fields => ({ kind: 'tns_snapshot', epochUs: take(fields, 'epoch', time) }),

  tns_object: fields => ({
    kind: 'tns_object',
    record: {
      objid: take(fields, 'objid', wholeNumber),
      name: take(fields, 'name', designation),
      namePrefix: take(fields, 'name_prefix', nameOrNull),
      ra: take(fields, 'ra', ra),
      dec: take(fields, 'dec', dec),
      classification: take(fields, 'classification', nameOrNull),
      redshift: take(fields, 'redshift', numberOrNull),
      ...(fields.created_at !== undefined && { createdUs: take(fields, 'created_at', time) }),
    },
  }),
};

function positionOf(fields: JsonObject) {
  const position = { ra: take(fields, 'ra', raOrNull), dec: take(fields, 'dec', decOrNull) };
  return position.ra === null || position.dec === null ? null : { ra: position.ra, dec: position.dec };
}

function outcomesOf(map: JsonObject): [string, RecordedOutcome][] {
  const names = Object.keys(map);
  if (names.length > MAX_CATALOGS) throw new LineError(`catalog_outcomes must name at most ${MAX_CATALOGS} catalogs`);
  return names.map(catalog => {
    if (!catalogName.parse(catalog))
      throw new LineError(`catalog_outcomes must be keyed by catalog names (${JSON.stringify(catalog)} was given)`);
    return [catalog, take(map, catalog, outcome)];
  });
}

function provenanceOf(fields: JsonObject): ProvenanceSet {
  return {
    crossmatch_radius_arcsec: take(fields, 'crossmatch_radius_arcsec', separationOrNull),
    catalogs: take(fields, 'catalogs', catalogs),
    reliability_cuts: take(fields, 'reliability_cuts', cuts),
  };
}

/** A catalog that is not built in may be registered later or never, so its ids may be any strings. */
function sourceOf(catalogName: string, fields: JsonObject): SourceName {
  const isKnown = catalogDefinition(catalogName) !== undefined;
  return { catalogName, catalogSourceId: take(fields, 'catalog_source_id', isKnown ? int64Text : sourceIdText) };
}

/** The columns of a source, with keys in lower case. */
function payloadOf(columns: JsonObject | null): Record<string, unknown> | null {
  if (!columns) return null;
  const keys = Object.keys(columns);
  if (keys.length > MAX_PAYLOAD_KEYS) throw new LineError(`catalog_payload must have at most ${MAX_PAYLOAD_KEYS} keys`);
  let isLowercase = true;
  for (const key of keys) {
    const column = columnOf(key);
    if (column === undefined || !isPlain(columns[key])) {
      throw new LineError(
        `catalog_payload must have finite numbers, strings, true, false or null: ${JSON.stringify(key)} has another value`,
      );
    }
    isLowercase &&= column === key;
  }
  // An object made by JSON.parse is several times faster to read than one that is filled key by key.
  return isLowercase ? columns : lowercased(columns);
}

/** Keys that differ only in case must have the same value. */
function lowercased(columns: JsonObject): Record<string, unknown> {
  const payload: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(columns)) {
    const column = columnOf(key)!;
    if (Object.hasOwn(payload, column) && payload[column] !== value) {
      throw new LineError(
        `catalog_payload must have one value for ${JSON.stringify(column)}: there are several, under keys that differ only in case`,
      );
    }
    payload[column] = value;
  }
  return payload;
}

function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'string') return value.isWellFormed();
  return typeof value !== 'object' || value === null;
}

/** The keys of earlier lines in lower case. All sources of a catalog have the same keys. */
const knownColumns = new Map<string, string>();
const MAX_KNOWN_COLUMNS = 10_000;

/** The key in lower case; undefined if the string cannot be a key. */
function columnOf(key: string): string | undefined {
  const known = knownColumns.get(key);
  if (known !== undefined) return known;
  const column = key.toLowerCase();
  if (column === '__proto__' || !key.isWellFormed()) return undefined;
  if (knownColumns.size < MAX_KNOWN_COLUMNS) knownColumns.set(key, column);
  return column;
}
