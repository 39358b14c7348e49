/**
 * The fields of an object in answers: tables, the OpenAPI document and the types of those who read answers are made of
 * them. The JSON is written by hand, for speed; test/answers/object_fields.test.ts holds it to the document.
 */
import { type DetailLevel, namesOf, OBJECT_STATUSES } from './enums.ts';
import { DEC_RANGE, RA_RANGE } from './limits.ts';

export interface ObjectField {
  /** `names` is a list of texts, which tables have as one text. */
  readonly type: 'int64' | 'int32' | 'float64' | 'boolean' | 'text' | 'time' | 'names';
  /** The unit in the spelling of VOUnits 1.0; undefined where there is none. */
  readonly unit?: string;
  /** The value of `x-unit`, in the OpenAPI document, for a number without a unit. */
  readonly quantity?: string;
  /** Inclusive. */
  readonly range?: { readonly min: number; readonly max?: number };
  /** UCD1+ */
  readonly ucd: string;
  /** Without a full stop. */
  readonly description: string;
  /** The lowest level of detail that has it; undefined where all do. */
  readonly from?: DetailLevel;
  readonly isNullable?: boolean;
}

type Fields = Readonly<Record<string, ObjectField>>;

/** The keys of an object, in their order, but for those of several fields: its text id, crossmatch, matches and tns. */
export const OBJECT_FIELDS = {
  diaObjectId: {
    type: 'int64',
    quantity: 'identifier',
    ucd: 'meta.id;meta.main',
    description: 'Identifier of the object, a 64-bit integer',
  },
  status: {
    type: 'text',
    ucd: 'meta.code.status',
    description: `Status of the object: ${namesOf(OBJECT_STATUSES).join(', ')}`,
  },
  ra: {
    type: 'float64',
    unit: 'deg',
    range: RA_RANGE,
    ucd: 'pos.eq.ra;meta.main',
    description: 'Right ascension, ICRS',
    from: 'position',
    isNullable: true,
  },
  dec: {
    type: 'float64',
    unit: 'deg',
    range: DEC_RANGE,
    ucd: 'pos.eq.dec;meta.main',
    description: 'Declination, ICRS',
    from: 'position',
    isNullable: true,
  },
  reliability: {
    type: 'float64',
    quantity: 'probability',
    ucd: 'stat.probability',
    description: 'LSST reliability of the first delivery, 0 to 1',
    from: 'position',
    isNullable: true,
  },
  ingest_time: {
    type: 'time',
    ucd: 'time.creation',
    description: 'When the service first stored the object, UTC',
    from: 'position',
  },
  event_time: { type: 'time', ucd: 'time.epoch', description: "The alert's own time, UTC", from: 'position' },
  brokers: {
    type: 'names',
    ucd: 'meta.curation',
    description: 'Every broker that delivered the object by now, ascending',
    from: 'position',
  },
  separation_arcsec: {
    type: 'float64',
    unit: 'arcsec',
    range: { min: 0 },
    ucd: 'pos.angDistance',
    description: 'Separation from the searched position',
  },
  credible_level: {
    type: 'float64',
    quantity: 'probability',
    ucd: 'stat.probability',
    description: "Share of the map's probability in pixels at least as dense as the object's, 0 to 1",
  },
  qualifies: {
    type: 'boolean',
    ucd: 'meta.code',
    description: 'Whether the object, or an input without one, meets the filters of the request',
  },
  qualifies_reason: { type: 'text', ucd: 'meta.code', description: 'Why it does or does not' },
} as const satisfies Fields;

/** Keys of an object's `crossmatch`. */
export const CROSSMATCH_FIELDS = {
  match_version: {
    type: 'int32',
    quantity: 'version',
    ucd: 'meta.version',
    description: 'Version of the crossmatch, of which the highest is current; null where none is recorded',
    isNullable: true,
  },
  crossmatched_at: {
    type: 'time',
    ucd: 'time.processing',
    description: 'When the object was crossmatched, UTC',
    isNullable: true,
  },
  provenance_set: {
    type: 'text',
    ucd: 'meta.id',
    description: 'Key of the recorded settings of the crossmatch in `provenance_sets` of the JSON answer',
    isNullable: true,
  },
} as const satisfies Fields;

/** Keys of an object's `tns`; the recent crossmatches have them on each match, at `full`. */
export const TNS_FIELDS = {
  checked: {
    type: 'boolean',
    ucd: 'meta.code',
    description: 'Whether the registry of transients was looked at when the object was crossmatched',
    from: 'matches',
  },
  name: {
    type: 'text',
    ucd: 'meta.id.cross',
    description: 'Bare name of the nearest registry object; null where there is none within the radius',
    from: 'matches',
    isNullable: true,
  },
  name_prefix: {
    type: 'text',
    ucd: 'meta.id.part',
    description: 'Prefix of the name, such as SN or AT',
    from: 'matches',
    isNullable: true,
  },
  classification: {
    type: 'text',
    ucd: 'src.class',
    description: 'Classification in the registry',
    from: 'matches',
    isNullable: true,
  },
  redshift: {
    type: 'float64',
    quantity: 'dimensionless',
    ucd: 'src.redshift',
    description: 'Redshift in the registry',
    from: 'matches',
    isNullable: true,
  },
  separation_arcsec: {
    type: 'float64',
    unit: 'arcsec',
    range: { min: 0 },
    ucd: 'pos.angDistance',
    description: 'Separation of the registry object from the object',
    from: 'matches',
    isNullable: true,
  },
} as const satisfies Fields;

interface Values<Time> {
  readonly int64: bigint;
  readonly int32: number;
  readonly float64: number;
  readonly boolean: boolean;
  readonly text: string;
  readonly time: Time;
  readonly names: readonly string[];
}

/** The values of fields, as JSON answers have them, where times are texts. */
export type Answered<F extends Fields, Time = string> = {
  readonly [Name in keyof F]: Values<Time>[F[Name]['type']] | (F[Name] extends { isNullable: true } ? null : never);
};
