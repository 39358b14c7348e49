/**
 * The enumerated values of the API, each with its meaning in plain English. The order is that of the published
 * enumerations.
 */

export interface Named {
  readonly name: string;
  readonly meaning: string;
}

export type NameOf<T extends readonly Named[]> = T[number]['name'];

export const OBJECT_STATUSES = [
  {
    name: 'not_in_service',
    meaning:
      'no record of this object, which is not evidence that it failed a reliability cut or does not exist in the survey',
  },
  { name: 'crossmatch_pending', meaning: 'ingested, not yet crossmatched' },
  { name: 'coincident_sources', meaning: 'crossmatched; at least one catalog source is within the radius' },
  {
    name: 'no_coincident_source',
    meaning: 'crossmatched; no source within the radius in any of the catalogs that were searched',
  },
  {
    name: 'not_searched',
    meaning:
      'crossmatched, but no catalog was searched (all were skipped, the position is outside all footprints, or invalid)',
  },
] as const satisfies readonly Named[];
export type ObjectStatus = NameOf<typeof OBJECT_STATUSES>;

/** The property to which a listing is restricted. */
export const LISTED_STATUSES = [
  { name: 'any', meaning: 'every object' },
  ...OBJECT_STATUSES.filter(status => status.name !== 'not_in_service'),
] as const;
export type ListedStatus = NameOf<typeof LISTED_STATUSES>;
export const DEFAULT_LISTED_STATUS: ListedStatus = 'any';

export const INPUT_STATUSES = [
  {
    name: 'no_rubin_object',
    meaning: 'no object in the service lies within the radius, which is not evidence that the survey has none there',
  },
  { name: 'objects_found', meaning: 'one or more objects matched the input' },
  {
    name: 'tns_name_not_found',
    meaning: 'the name is absent from the current registry snapshot, whose epoch is reported',
  },
  { name: 'resolver_unavailable', meaning: 'names cannot be resolved now; other inputs are unaffected' },
  { name: 'invalid_input', meaning: 'this input is malformed; the other inputs are unaffected' },
] as const satisfies readonly Named[];
export type InputStatus = NameOf<typeof INPUT_STATUSES>;

export const CATALOG_OUTCOMES = [
  {
    name: 'searched',
    meaning: 'the position lay inside the catalog footprint, at the resolution of the coverage map, and was searched',
  },
  { name: 'outside_footprint', meaning: 'the position is outside the catalog footprint' },
  { name: 'skipped_read_failure', meaning: 'the catalog was skipped after a read failure' },
  { name: 'not_searched_invalid_position', meaning: "the object's position is invalid" },
  {
    name: 'not_recorded',
    meaning: 'no outcome was recorded for this object; the release that began recording is named',
  },
  {
    name: 'not_in_service_at_crossmatch',
    meaning: 'the catalog was added after this object was crossmatched, or is not registered here',
  },
] as const satisfies readonly Named[];
export type CatalogOutcome = NameOf<typeof CATALOG_OUTCOMES>;

/** The outcomes of a catalog in a search for its sources near a position. */
export const NEARBY_OUTCOMES = [
  { name: 'searched', meaning: 'the position lies inside the catalog footprint, or a source was found beyond it' },
  { name: 'outside_footprint', meaning: 'the position is outside the catalog footprint' },
  { name: 'skipped_read_failure', meaning: 'the catalog cannot be read now: none of its sources is listed' },
  { name: 'not_registered', meaning: 'the catalog is not registered here' },
] as const satisfies readonly Named[];
export type NearbyOutcome = NameOf<typeof NEARBY_OUTCOMES>;

const FILTER_REASONS = [
  { name: 'meets_filters', meaning: 'meets every filter in the request' },
  {
    name: 'object_filters_not_met',
    meaning: 'the object fails a reliability filter; an object with no stored reliability never meets one',
  },
  {
    name: 'no_source_meets_filters',
    meaning: 'the object has sources, but no single current source meets every match filter',
  },
  { name: 'no_object_meets_filters', meaning: 'objects lie within the radius, but none qualifies' },
] as const satisfies readonly Named[];

export type QualifiesReason =
  | NameOf<typeof FILTER_REASONS>
  | Exclude<ObjectStatus, 'coincident_sources'>
  | Exclude<InputStatus, 'objects_found'>;

export const QUALIFIES_REASONS: readonly { readonly name: QualifiesReason; readonly meaning: string }[] = [
  ...FILTER_REASONS,
  ...OBJECT_STATUSES.filter(status => status.name !== 'coincident_sources'),
  ...INPUT_STATUSES.filter(status => status.name !== 'objects_found'),
];

/** The reasons for a single object, in the order in which `response=count` counts them. */
export const OBJECT_REASONS: readonly QualifiesReason[] = [
  'meets_filters',
  'object_filters_not_met',
  'no_source_meets_filters',
  'not_in_service',
  'crossmatch_pending',
  'no_coincident_source',
  'not_searched',
];

/** The levels of detail; each one contains the one before it. */
export const DETAIL_LEVELS = [
  {
    name: 'ids',
    meaning: 'the identifiers, the status, and the crossmatch block: outcome per catalog and recorded provenance',
  },
  {
    name: 'position',
    meaning:
      'adds position, reliability, ingest time, event time and the brokers that delivered; times are UTC, and an MJD in TAI is converted with leap seconds',
  },
  { name: 'matches', meaning: 'adds the coincident sources and the registry association' },
  {
    name: 'full',
    meaning:
      "adds to each source its own position, the catalog payload as published, and the registry's record of the object",
  },
] as const satisfies readonly Named[];
export type DetailLevel = NameOf<typeof DETAIL_LEVELS>;
export const DEFAULT_DETAIL: DetailLevel = 'matches';

export const RESPONSE_MODES = [
  { name: 'objects', meaning: 'the objects, up to the listing limits' },
  { name: 'count', meaning: 'counts for the same inputs and filters, without objects and without listing limits' },
] as const satisfies readonly Named[];
export type ResponseMode = NameOf<typeof RESPONSE_MODES>;
export const DEFAULT_RESPONSE: ResponseMode = 'objects';

export const AREA_RESPONSES = [
  { name: 'objects', meaning: 'a page of the objects' },
  { name: 'count', meaning: 'the number of objects' },
  {
    name: 'table',
    meaning: 'all objects as one table, sent while it is written; CSV by default',
  },
  { name: 'outline', meaning: 'no objects, but the edges of the HEALPix pixels that the area touches, to draw it' },
] as const satisfies readonly Named[];
export type AreaResponse = NameOf<typeof AREA_RESPONSES>;

export const TIME_FIELDS = [
  { name: 'ingest_time', meaning: 'when the service first stored the object' },
  {
    name: 'event_time',
    meaning: "the alert's own time, from its broker; an MJD in TAI is converted to UTC with leap seconds",
  },
] as const satisfies readonly Named[];
export type TimeField = NameOf<typeof TIME_FIELDS>;
export const DEFAULT_TIME_FIELD: TimeField = 'ingest_time';

/** The metrics of the cells of the sky map. */
export const MAP_LAYERS = [
  { name: 'objects', meaning: 'the number of objects of each status per cell; empty cells are left out' },
  {
    name: 'coverage',
    meaning: 'the fraction of each cell that each catalog covers; cells without coverage are left out',
  },
] as const satisfies readonly Named[];
export type MapLayer = NameOf<typeof MAP_LAYERS>;
export const DEFAULT_MAP_LAYER: MapLayer = 'objects';

/** The kinds of a lookup's inputs. */
export const INPUT_KINDS = [
  { name: 'id', meaning: 'an object by its diaObjectId' },
  { name: 'position', meaning: 'every object within a radius of a position' },
  { name: 'tns', meaning: "every object within a radius of a registry name's position" },
] as const satisfies readonly Named[];
export type InputKind = NameOf<typeof INPUT_KINDS>;

/** The reasons for which a result lists fewer objects than `total`. */
export const TRUNCATIONS = [
  { name: 'per_input_limit', meaning: 'more objects than one input may list' },
  {
    name: 'per_request_limit',
    meaning: 'more objects than one request may list; given even if the limit of one input is exceeded, too',
  },
] as const satisfies readonly Named[];
export type Truncation = NameOf<typeof TRUNCATIONS>;

/** Who enforces a minimum reliability. */
export const CUT_ENFORCERS = [
  { name: 'service', meaning: 'this service, when it ingests' },
  { name: 'broker', meaning: 'the broker, before it delivers; not observed by this service' },
] as const satisfies readonly Named[];
export type CutEnforcedBy = NameOf<typeof CUT_ENFORCERS>;

/** The source of the knowledge about a minimum reliability. */
export const CUT_STATUSES = [
  { name: 'service_setting', meaning: 'a setting of this service' },
  { name: 'declared', meaning: 'declared by the maintainer for the broker, as of the date given' },
  { name: 'not_declared', meaning: 'nothing is declared for the broker' },
] as const satisfies readonly Named[];
export type CutStatus = NameOf<typeof CUT_STATUSES>;

/** Whether the settings of an object's crossmatch were recorded with it. */
export const PROVENANCE_STATES = [
  { name: 'recorded', meaning: 'recorded at crossmatch time' },
  { name: 'not_recorded', meaning: 'crossmatched before recording began' },
] as const satisfies readonly Named[];

/** The basis, and the key in `provenance_sets`, of the settings that replace unrecorded ones. */
export const BEST_GUESS = 'best_guess_current_settings';

export const PROVENANCE_BASES = [
  { name: 'recorded', meaning: 'the settings as stored at crossmatch time' },
  { name: BEST_GUESS, meaning: 'the current settings, as a best guess for objects without a record' },
] as const satisfies readonly Named[];

export const DATABASE_STATES = [
  { name: 'ok', meaning: 'the database can be read' },
  { name: 'unavailable', meaning: 'the database cannot be read now; operations that need it answer 503' },
] as const satisfies readonly Named[];

export const RESOLUTION_STATES = [
  { name: 'available', meaning: 'the registry snapshot is current, so names can be resolved' },
  { name: 'unavailable', meaning: 'there is no current registry snapshot, or it cannot be read' },
] as const satisfies readonly Named[];

/** The names of a list of values, in its order. */
export function namesOf<T extends string>(list: readonly { readonly name: T }[]): T[] {
  return list.map(({ name }) => name);
}
