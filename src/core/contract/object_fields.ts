/**
 * The fields of an object. Tables, cone searches, HATS exports, TAP, the OpenAPI document and the readers' types are
 * made from this list. A column has the same name everywhere: the key of the JSON answer; keys of `tns` get the prefix
 * `tns_`. For speed, the JSON is written by hand; test/core/answers/object_fields.test.ts compares it with the OpenAPI
 * document.
 */
import type { Column, Stored } from '@nearsky/astrotables/columns';
import type { CatalogDefinition } from './catalog.ts';
import { CATALOG_OUTCOMES, type DetailLevel, namesOf, OBJECT_STATUSES } from './enums.ts';
import { DEC_RANGE, RA_RANGE } from './limits.ts';

export interface ObjectField {
  /** `names` is a list of strings, which tables show as one string. */
  readonly type: 'int64' | 'int32' | 'float64' | 'boolean' | 'text' | 'time' | 'names';
  /** The unit in the spelling of VOUnits 1.0; undefined if there is none. */
  readonly unit?: string;
  /** The value of `x-unit`, in the OpenAPI document, for a number without a unit. */
  readonly quantity?: string;
  /** Inclusive. */
  readonly range?: { readonly min: number; readonly max?: number };
  /** UCD1+ */
  readonly ucd: string;
  /** Without a full stop. */
  readonly description: string;
  /** The lowest level of detail that includes the field; undefined if all do. */
  readonly from?: DetailLevel;
  readonly isNullable?: boolean;
  /** The generic filter by this statistic of a match: `KEY_min` or `KEY_max`; undefined if there is none. */
  readonly filterBound?: 'min' | 'max';
  /** The lowest verbosity at which Virtual Observatory cone searches include the field; undefined if none does. */
  readonly cone?: 1 | 2 | 3;
  /** How HATS exports, and so the tables of TAP, store the field; undefined if they do not. */
  readonly archive?: Stored;
}

const KEY = { isRequired: true, isVaried: true, hasBounds: true } as const;
const PLACE = { isVaried: true, hasBounds: true } as const;
const SEPARATION = { type: 'float64', unit: 'arcsec', range: { min: 0 }, ucd: 'pos.angDistance' } as const;
const PROBABILITY = {
  type: 'float64',
  quantity: 'probability',
  range: { min: 0, max: 1 },
  ucd: 'stat.probability',
} as const;

type Fields = Readonly<Record<string, ObjectField>>;

/**
 * The keys of an object, in order, except its string id, and except crossmatch, matches and tns, which have several
 * fields each.
 */
export const OBJECT_FIELDS = {
  diaObjectId: {
    type: 'int64',
    quantity: 'identifier',
    ucd: 'meta.id;meta.main',
    description: 'Identifier of the object, a 64-bit integer',
    archive: KEY,
  },
  status: {
    type: 'text',
    ucd: 'meta.code.status',
    description: `Status of the object: ${namesOf(OBJECT_STATUSES).join(', ')}`,
    cone: 2,
    archive: { isRequired: true },
  },
  ra: {
    type: 'float64',
    unit: 'deg',
    range: RA_RANGE,
    ucd: 'pos.eq.ra;meta.main',
    description: 'Right ascension, ICRS',
    from: 'position',
    isNullable: true,
    archive: PLACE,
  },
  dec: {
    type: 'float64',
    unit: 'deg',
    range: DEC_RANGE,
    ucd: 'pos.eq.dec;meta.main',
    description: 'Declination, ICRS',
    from: 'position',
    isNullable: true,
    archive: PLACE,
  },
  reliability: {
    type: 'float64',
    quantity: 'probability',
    ucd: 'stat.probability',
    description: 'LSST reliability of the first delivery, 0 to 1',
    from: 'position',
    isNullable: true,
    cone: 2,
    archive: {},
  },
  ingest_time: {
    type: 'time',
    ucd: 'time.creation',
    description: 'When the service first stored the object, UTC',
    from: 'position',
    cone: 2,
    archive: { isRequired: true },
  },
  event_time: {
    type: 'time',
    ucd: 'time.epoch',
    description: "The alert's own time, UTC",
    from: 'position',
    cone: 2,
    archive: { isRequired: true },
  },
  brokers: {
    type: 'names',
    ucd: 'meta.curation',
    description: 'All brokers that have delivered the object so far, ascending',
    from: 'position',
    cone: 3,
    archive: { isRequired: true },
  },
  separation_arcsec: {
    ...SEPARATION,
    description: 'Separation from the searched position',
  },
  credible_level: {
    type: 'float64',
    quantity: 'probability',
    ucd: 'stat.probability',
    description: "Fraction of the map's probability in pixels at least as dense as that of the object, 0 to 1",
  },
  qualifies: {
    type: 'boolean',
    ucd: 'meta.code',
    description: 'Whether the object, or an input without one, meets the filters of the request',
  },
  qualifies_reason: { type: 'text', ucd: 'meta.code', description: 'Why it meets the filters or does not' },
} as const satisfies Fields;

/** Keys of an object's `crossmatch`. */
export const CROSSMATCH_FIELDS = {
  match_version: {
    type: 'int32',
    quantity: 'version',
    ucd: 'meta.version',
    description: 'Version of the crossmatch; the highest version is current; null if none is recorded',
    isNullable: true,
    archive: {},
  },
  crossmatched_at: {
    type: 'time',
    ucd: 'time.processing',
    description: 'When the object was crossmatched, UTC',
    isNullable: true,
    cone: 3,
    archive: {},
  },
  provenance_set: {
    type: 'text',
    ucd: 'meta.id',
    description: 'Key of the recorded settings of the crossmatch in `provenance_sets` of the JSON answer',
    isNullable: true,
    archive: {},
  },
} as const satisfies Fields;

/** Keys of an object's `tns`; the recent crossmatches have them on each match, at `full`. */
export const TNS_FIELDS = {
  checked: {
    type: 'boolean',
    ucd: 'meta.code',
    description: 'Whether the registry of transients was searched when the object was crossmatched',
    from: 'matches',
    archive: {},
  },
  name: {
    type: 'text',
    ucd: 'meta.id.cross',
    description: 'Bare name of the nearest registry object; null if there is none within the radius',
    from: 'matches',
    isNullable: true,
    cone: 3,
    archive: {},
  },
  name_prefix: {
    type: 'text',
    ucd: 'meta.id.part',
    description: 'Prefix of the name, such as SN or AT',
    from: 'matches',
    isNullable: true,
    cone: 3,
    archive: {},
  },
  classification: {
    type: 'text',
    ucd: 'src.class',
    description: 'Classification in the registry',
    from: 'matches',
    isNullable: true,
    cone: 3,
    archive: {},
  },
  redshift: {
    type: 'float64',
    quantity: 'dimensionless',
    ucd: 'src.redshift',
    description: 'Redshift in the registry',
    from: 'matches',
    isNullable: true,
    cone: 3,
    archive: {},
  },
  separation_arcsec: {
    ...SEPARATION,
    description: 'Separation of the registry object from the object',
    from: 'matches',
    isNullable: true,
    cone: 3,
    archive: {},
  },
} as const satisfies Fields;

export const MATCH_FIELDS = {
  separation_arcsec: {
    ...SEPARATION,
    description: "Separation of the source from the object, at the catalog's epoch",
    archive: { isVaried: true },
  },
  separation_at_epoch_arcsec: {
    ...SEPARATION,
    description:
      'Separation of the source from the object at the time of its event, using its proper motion; only if one is applied',
    archive: { isVaried: true },
  },
} as const satisfies Fields;

/** The keys of a match's statistics; all are null if none are recorded. */
export const WORTH_FIELDS = {
  chance_probability: {
    ...PROBABILITY,
    description: 'Probability that at least one unrelated source of the catalog lies as close or closer',
    isNullable: true,
    filterBound: 'max',
    archive: { isVaried: true },
  },
  source_density: {
    type: 'float64',
    unit: 'arcmin**-2',
    range: { min: 0 },
    ucd: 'meta.number',
    description: 'Surface density of the catalog around the source',
    isNullable: true,
    archive: { isVaried: true },
  },
  sources_within_radius: {
    type: 'int32',
    quantity: 'count',
    ucd: 'meta.number',
    description: 'Number of sources of the catalog within the radius, including this one',
    isNullable: true,
    archive: { isVaried: true },
  },
  second_separation_arcsec: {
    ...SEPARATION,
    description: 'Separation of the second nearest source within the radius',
    isNullable: true,
    archive: { isVaried: true },
  },
  normalized_separation: {
    type: 'float64',
    quantity: 'dimensionless',
    range: { min: 0 },
    ucd: 'pos.angDistance;arith.ratio',
    description: 'Separation in units of the combined 1-sigma error of both positions',
    isNullable: true,
    filterBound: 'max',
    archive: { isVaried: true },
  },
  match_probability: {
    ...PROBABILITY,
    description:
      'Probability that this source is the counterpart, if one of the sources within the radius is the counterpart',
    isNullable: true,
    filterBound: 'min',
    archive: { isVaried: true },
  },
  any_match_probability: {
    ...PROBABILITY,
    description: 'Probability that one of the sources within the radius is the counterpart',
    isNullable: true,
    filterBound: 'min',
    archive: { isVaried: true },
  },
} as const satisfies Fields;

export type Worth = Readonly<Record<keyof typeof WORTH_FIELDS, number | null>>;
export const WORTH_KEYS = Object.keys(WORTH_FIELDS) as (keyof Worth)[];

/** The release of a match's catalog. It is not stored with the match, but with the settings of its crossmatch. */
export const RELEASE_FIELDS = {
  catalog_release: {
    type: 'text',
    ucd: 'meta.version',
    description: 'Release of the catalog in which the crossmatch found the source; null if it is not recorded',
    isNullable: true,
    archive: {},
  },
} as const satisfies Fields;

/** The number of coincident sources, of all catalogs. */
export const MATCHES = {
  type: 'int32',
  ucd: 'meta.number',
  description: 'Coincident sources, of all catalogs',
  from: 'matches',
  archive: { isRequired: true },
} as const satisfies ObjectField;

const ARCHIVE_FIELDS = {
  position_error_mas: {
    type: 'float64',
    unit: 'mas',
    range: { min: 0 },
    ucd: 'stat.error;pos.eq',
    description: '1-sigma error of the position, from the first delivery',
    archive: { isVaried: true },
  },
  brokers_at_crossmatch: {
    type: 'names',
    ucd: 'meta.curation',
    description: 'The brokers that had delivered the object before the crossmatch',
    archive: {},
  },
  catalog_outcomes: { type: 'text', ucd: 'meta.code.status', description: 'Recorded outcomes: JSON', archive: {} },
  provenance: { type: 'text', ucd: 'meta.note', description: 'The settings of the crossmatch: JSON', archive: {} },
  older_crossmatches: {
    type: 'text',
    ucd: 'meta.note',
    description: "Earlier crossmatch records, as JSON in the form of an export's lines",
    archive: {},
  },
  tns_snapshot_epoch: {
    type: 'time',
    ucd: 'time.epoch',
    description: 'Epoch of the registry snapshot, UTC',
    archive: {},
  },
  tns_objid: { type: 'int64', ucd: 'meta.id', description: "The registry's own identifier", archive: {} },
} as const satisfies Fields;

type OfTns = { readonly [Name in keyof typeof TNS_FIELDS as `tns_${Name}`]: (typeof TNS_FIELDS)[Name] };
const ofTns = Object.fromEntries(Object.entries(TNS_FIELDS).map(([name, field]) => [`tns_${name}`, field])) as OfTns;

/** The columns of an object that do not depend on a catalog. */
export const OBJECT_COLUMNS = {
  ...OBJECT_FIELDS,
  ...CROSSMATCH_FIELDS,
  matches: MATCHES,
  ...ofTns,
  ...ARCHIVE_FIELDS,
} as const satisfies Fields;

type Interface = 'cone' | 'archive';

/** The names of the columns that an interface shows, as a type. With it, tsc finds a column without a cell. */
export type ShownIn<I extends Interface> = {
  [Name in keyof typeof OBJECT_COLUMNS]: I extends keyof (typeof OBJECT_COLUMNS)[Name] ? Name : never;
}[keyof typeof OBJECT_COLUMNS];

/** The columns that an interface shows, in order. */
export function shownIn<I extends Interface>(shown: I) {
  return Object.entries<ObjectField>(OBJECT_COLUMNS).flatMap(([name, field]) => {
    const value = field[shown];
    return value === undefined ? [] : [{ name: name as ShownIn<I>, field, shown: value }];
  });
}

/** The columns of an object for a catalog, by the last part of their names: `gaia_dr3_outcome`. */
export function catalogFields({ name, release }: Pick<CatalogDefinition, 'name' | 'release'>) {
  return {
    outcome: {
      type: 'text',
      ucd: 'meta.code.status',
      description: `Search of ${release}: ${namesOf(CATALOG_OUTCOMES).join(', ')}; null while pending`,
    },
    matches: {
      type: 'int32',
      ucd: 'meta.number',
      description: `Coincident sources of ${name}; null if the catalog was not searched`,
      from: 'matches',
    },
  } as const satisfies Fields;
}

interface Values<Time> {
  readonly int64: bigint;
  readonly int32: number;
  readonly float64: number;
  readonly boolean: boolean;
  readonly text: string;
  readonly time: Time;
  readonly names: readonly string[];
}

/** The values of fields in JSON answers, where times are strings. */
export type Answered<F extends Fields, Time = string> = {
  readonly [Name in keyof F]: Values<Time>[F[Name]['type']] | (F[Name] extends { isNullable: true } ? null : never);
};

export function columnOf(name: string, { type, unit, ucd, description }: ObjectField): Column {
  const column = { name, ...(unit && { unit }), ucd };
  if (type !== 'names') return { ...column, type, description };
  return { ...column, type: 'text', description: `${description}, with spaces between` };
}
