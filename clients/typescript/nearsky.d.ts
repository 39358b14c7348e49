/**
 * Client of nearsky (`/api-docs` of a service has its API): lookups of any size, walks over cones and recent crossmatches, the streams of matches and of objects.
 *
 * ```js
 * const service = new Nearsky('http://127.0.0.1:8080');
 * for await (const { status, objects } of service.lookups(['313637935709683761', { ra: 61.62, dec: -49.29, radiusArcsec: 5 }])) …
 * ```
 *
 * Keys of answers are those of the API. A `diaObjectId` is a bigint, and so is every other integer beyond 2^53. Angles are ICRS degrees,
 * separations and radii arcsec.
 */

// The next types are made by docs/client_types.ts from the contract.

export type DetailLevel = 'ids' | 'position' | 'matches' | 'full';

export type ObjectStatus =
  | 'not_in_service'
  | 'crossmatch_pending'
  | 'coincident_sources'
  | 'no_coincident_source'
  | 'not_searched';

export type InputStatus =
  | 'no_rubin_object'
  | 'objects_found'
  | 'tns_name_not_found'
  | 'resolver_unavailable'
  | 'invalid_input';

export type CatalogOutcome =
  | 'searched'
  | 'outside_footprint'
  | 'skipped_read_failure'
  | 'not_searched_invalid_position'
  | 'not_recorded'
  | 'not_in_service_at_crossmatch';

export type QualifiesReason =
  | 'meets_filters'
  | 'object_filters_not_met'
  | 'no_source_meets_filters'
  | 'no_object_meets_filters'
  | 'not_in_service'
  | 'crossmatch_pending'
  | 'no_coincident_source'
  | 'not_searched'
  | 'no_rubin_object'
  | 'tns_name_not_found'
  | 'resolver_unavailable'
  | 'invalid_input';

export type TimeField = 'ingest_time' | 'event_time';

export type ListedStatus =
  | 'any'
  | 'crossmatch_pending'
  | 'coincident_sources'
  | 'no_coincident_source'
  | 'not_searched';

export type Find = 'nearest' | 'all';

export type RowsKept = 'all' | 'matched';

export type TableFormat = 'csv' | 'ecsv' | 'ndjson' | 'votable' | 'parquet' | 'arrow';

export type MatchFormat = 'csv' | 'ecsv' | 'ndjson' | 'votable' | 'parquet' | 'arrow' | 'fits';

/** The associated registry object. */
export interface PublishedTns {
  /** The registry's own identifier. */
  readonly objid: number | null;
  /** Bare designation. */
  readonly name: string;
  /** Classification in the registry. */
  readonly classification: string | null;
  /** Redshift in the registry. */
  readonly redshift: number | null;
  /** Separation of the registry object from the object. */
  readonly separation_arcsec: number | null;
  /** The registry's page. */
  readonly url: string;
}

/** How likely the match is by chance. */
export interface MatchStatistics {
  /** Probability that at least one unrelated source of the catalog lies as close or closer. */
  readonly chance_probability?: number;
  /** Surface density of the catalog around the source. */
  readonly source_density?: number;
  /** Number of sources of the catalog within the radius, including this one. */
  readonly sources_within_radius?: number;
  /** Separation of the second nearest source within the radius. */
  readonly second_separation_arcsec?: number;
  /** Separation in units of the combined 1-sigma error of both positions. */
  readonly normalized_separation?: number;
  /** Probability that this source is the counterpart, if one of the sources within the radius is the counterpart. */
  readonly match_probability?: number;
  /** Probability that one of the sources within the radius is the counterpart. */
  readonly any_match_probability?: number;
}

/** A coincident source: the nearest of its catalog. Most optional keys come with `full`. */
export interface Match {
  /** Name of the catalog. */
  readonly catalog_name: string;
  /** Identifier of the source, decimal. */
  readonly catalog_source_id: string;
  /** Separation of the source from the object, at the catalog's epoch. */
  readonly separation_arcsec: number;
  readonly diaObjectId?: bigint;
  /** The source's own right ascension, 0 to 360 whatever the catalog's convention. */
  readonly ra?: number;
  /** The source's own declination. */
  readonly dec?: number;
  /** Separation of the source from the object at the time of its event, using its proper motion. */
  readonly separation_at_epoch_arcsec?: number;
  /** Release of the catalog in which the crossmatch found the source. */
  readonly catalog_release?: string | null;
  /** How likely the match is by chance. */
  readonly statistics?: MatchStatistics;
  /** The catalog's columns as published, keys lowercased. */
  readonly catalog_payload?: Readonly<Record<string, unknown>> | null;
  /** Whether the registry was searched. */
  readonly tns_checked?: boolean;
  /** Epoch of the registry snapshot. */
  readonly tns_snapshot_epoch?: string | null;
  /** The associated registry object. */
  readonly tns?: PublishedTns;
  /** Key of the entry in `provenance_sets` with the settings under which it was found. */
  readonly provenance_set?: string | null;
}

/** The registry object nearest to the object when it was crossmatched. */
export interface ObjectTns {
  /** Whether the registry of transients was searched when the object was crossmatched. */
  readonly checked: boolean;
  /** Epoch of the registry snapshot. */
  readonly snapshot_epoch: string | null;
  /** Bare name of the nearest registry object. */
  readonly name: string | null;
  /** Prefix of the name, such as SN or AT. */
  readonly name_prefix: string | null;
  /** Classification in the registry. */
  readonly classification: string | null;
  /** Redshift in the registry. */
  readonly redshift: number | null;
  /** Separation of the registry object from the object. */
  readonly separation_arcsec: number | null;
  /** The registry's page. */
  readonly url: string | null;
}

/** A registry object. */
export interface TnsRecord {
  /** The registry's own identifier. */
  readonly objid: number;
  /** Bare designation. */
  readonly name: string;
  /** Classification in the registry. */
  readonly classification: string | null;
  /** Redshift in the registry. */
  readonly redshift: number | null;
  /** The registry's page. */
  readonly url: string;
  /** Prefix of the name, such as SN or AT. */
  readonly name_prefix: string | null;
  /** Right ascension, ICRS. */
  readonly ra: number;
  /** Declination, ICRS. */
  readonly dec: number;
}

/** How an object was crossmatched. */
export interface Crossmatch {
  /** Whether the settings of the crossmatch were recorded. */
  readonly provenance: 'recorded' | 'not_recorded';
  /** Version of the crossmatch. */
  readonly match_version: number | null;
  /** When the object was crossmatched, UTC. */
  readonly crossmatched_at: string | null;
  /** Key of the recorded settings of the crossmatch in `provenance_sets` of the JSON answer. */
  readonly provenance_set: string | null;
  /** The brokers that had delivered the object by then. */
  readonly brokers_at_crossmatch: readonly string[] | null;
  /** Outcome per catalog, by its name. */
  readonly catalog_outcomes: Readonly<Record<string, CatalogOutcome>>;
  /** The release that first recorded crossmatch settings. */
  readonly recording_release?: string;
  /** Key of the current settings in `provenance_sets`. */
  readonly best_guess_provenance_set?: 'best_guess_current_settings';
}

/** An object, at the detail level of the request. */
export interface LookupObject {
  readonly diaObjectId: bigint;
  readonly diaObjectId_str: string;
  readonly status: ObjectStatus;
  /** Right ascension, ICRS. */
  readonly ra?: number | null;
  /** Declination, ICRS. */
  readonly dec?: number | null;
  /** LSST reliability of the first delivery, 0 to 1. */
  readonly reliability?: number | null;
  /** When the service first stored the object, UTC. */
  readonly ingest_time?: string;
  /** The alert's own time, UTC. */
  readonly event_time?: string;
  /** All brokers that have delivered the object so far, ascending. */
  readonly brokers?: readonly string[];
  /** null while pending. */
  readonly crossmatch?: Crossmatch | null;
  /** The coincident sources, by catalog name, then source id, both as text. */
  readonly matches?: readonly Match[];
  readonly tns?: ObjectTns | null;
  /** Separation from the searched position. */
  readonly separation_arcsec?: number;
  /** Whether the object, or an input without one, meets the filters of the request. */
  readonly qualifies?: boolean;
  readonly qualifies_reason?: QualifiesReason;
  /** Fraction of the map's probability in pixels at least as dense as that of the object, 0 to 1. */
  readonly credible_level?: number;
}

/** An input as understood. */
export interface NormalizedInput {
  readonly kind: 'id' | 'position' | 'tns';
  readonly diaObjectId?: bigint;
  readonly diaObjectId_str?: string;
  /** Right ascension, ICRS. */
  readonly ra?: number;
  /** Declination, ICRS. */
  readonly dec?: number;
  /** Radius of the search. */
  readonly radius_arcsec?: number;
  /** The bare name, lowercased. */
  readonly name?: string;
}

/** The result of one input; which keys it has depends on its kind. */
export interface LookupResult {
  /** Position of the input in the request, from 0. */
  readonly index: number;
  readonly kind: string | null;
  /** The input exactly as sent. */
  readonly input: unknown;
  /** The input as understood. */
  readonly normalized: NormalizedInput | null;
  /** Status of the input. */
  readonly status: ObjectStatus | InputStatus;
  /** Objects by ingest time, then identifier. */
  readonly objects: readonly LookupObject[];
  /** Whether the object, or an input without one, meets the filters of the request. */
  readonly qualifies?: boolean;
  readonly qualifies_reason?: QualifiesReason;
  /** Objects within the radius, whether listed or not. */
  readonly total?: number | null;
  /** Whether `objects` has fewer than `total`. */
  readonly truncated?: boolean;
  /** Why `objects` is truncated. */
  readonly truncation?: 'per_input_limit' | 'per_request_limit' | null;
  /** Objects within the radius that meet the filters. */
  readonly qualifying_total?: number | null;
  readonly tns?: TnsRecord | null;
  /** Epoch of the current registry snapshot. */
  readonly tns_snapshot_epoch?: string | null;
  /** What is wrong with the input. */
  readonly error?: { readonly message: string; readonly param: string };
}

/** An object with coincident sources, at the detail level of the request. */
export interface RecentObject {
  readonly diaObjectId: bigint;
  readonly diaObjectId_str: string;
  /** Right ascension, ICRS. */
  readonly ra?: number | null;
  /** Declination, ICRS. */
  readonly dec?: number | null;
  /** The coincident sources, by catalog name, then source id, both as text. */
  readonly matches?: readonly Match[];
}

// End of the types that docs/client_types.ts makes.

/** `/api/describe` lists the names with their units. */
export type Filters = Readonly<Record<string, number | string>>;

export interface NearskyOptions {
  /** The maximum number of concurrent requests of a lookup, at least 1; default 4. */
  readonly concurrency?: number;
  /** Called after each request of a lookup or a walk. */
  readonly onProgress?: (progress: Progress) => void;
  /** Cancels everything that is in progress. */
  readonly signal?: AbortSignal;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface CrossmatchOptions {
  /** `objects` (the default), the name of a catalog, or `all`: the nearest source of each catalog, side by side. */
  readonly against?: string;
  /** At most 60; default 1. */
  readonly radiusArcsec?: number;
  /** `nearest` unless given. */
  readonly find?: Find;
  /** The rows of the table that are answered: all by default. */
  readonly rows?: RowsKept;
  /** Position columns, if their names are not recognised. */
  readonly ra?: string;
  readonly dec?: string;
  /** The columns of the table that the answer includes, separated by commas: all by default. */
  readonly columns?: string;
  /** The frame of the positions, such as `FK4 B1950` or `galactic`, if the table does not declare it. */
  readonly frame?: string;
  /** The unit of decimal right ascensions whose column states none: degrees by default. */
  readonly raUnit?: 'deg' | 'h';
  /**
   * The 1σ error of the positions, for the probabilities of matches with a catalog: a number of arcsec, the name of its
   * column, or of two for right ascension and declination, separated by a comma.
   */
  readonly errorArcsec?: number | string;
  /**
   * The time of the positions, to apply the proper motions of a catalog: a Julian year, a date, or the name of a column.
   * By default no motion is applied.
   */
  readonly epoch?: number | string;
  /** The journal entry whose objects are matched: the newest by default. */
  readonly at?: number;
  readonly format?: MatchFormat;
  /** Makes even a small table a job at once; default false. */
  readonly asJob?: boolean;
}

export interface SampleOptions {
  /** The names of the catalogs to report on; by default all that are registered. */
  readonly catalogs?: readonly string[];
  /** The radius for the object of a position or name. */
  readonly radiusArcsec?: number;
  /** Stars brighter than this are reported; default 15. */
  readonly brightMag?: number;
  /** At most 60; default 20. */
  readonly brightRadiusArcsec?: number;
  /** Returns the bytes of a table of the rows instead of the report. `html` returns the bytes of a page to keep. */
  readonly format?: MatchFormat | 'latex' | 'html';
  /** Answers from the state after this journal entry. For at most 1000 identifiers and positions. */
  readonly at?: number;
  /** The report has `changes` since this journal entry. For at most 1000 identifiers and positions. */
  readonly since?: number;
  /** Columns of a table, if their names are not recognised. */
  readonly id?: string;
  readonly name?: string;
  readonly ra?: string;
  readonly dec?: string;
  /** The frame of the positions of a table, if it does not declare it. */
  readonly frame?: string;
  /** The unit of decimal right ascensions that state none: degrees by default. */
  readonly raUnit?: 'deg' | 'h';
  /** Sends the sample as a table, and makes a job of it; default false. */
  readonly asJob?: boolean;
}

/** The options of `sample` that a kept sample has, too. */
export type KeptOptions = Omit<SampleOptions, 'format' | 'at' | 'since' | 'asJob'>;

/** `at` and `since` are not for tables and names. */
export type KeptReportOptions = Pick<SampleOptions, 'format' | 'at' | 'since'>;

/** Whoever knows its id can read and delete it. */
export interface KeptSample {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly created: string;
  readonly expires: string;
  readonly bytes: number;
}

export interface QueryOptions {
  /** The maximum number of rows in the answer; by default the service's maximum. */
  readonly maxRows?: number;
  /** Returns the bytes of a table instead of its rows. */
  readonly format?: TableFormat;
  /** Reads the tables as they were after this journal entry. The first queries may be refused until they are made. */
  readonly at?: number;
}

export interface Progress {
  /** Inputs or objects that were returned so far. */
  readonly done: number;
  /** The total number, if known. */
  readonly total: number | undefined;
}

export interface LookupOptions {
  /** `matches` unless given. */
  readonly detail?: DetailLevel;
  readonly filters?: Filters;
  /** The radius for positions and names without their own. */
  readonly radiusArcsec?: number;
  /** Answers from the state after this journal entry (see `journalEntry`). Names cannot be looked up with it. */
  readonly at?: number;
  /** The unit of right ascensions: degrees by default. */
  readonly raUnit?: 'deg' | 'h';
}

/** The API's own form of an input. */
export type LookupInput =
  | { readonly kind: 'id'; readonly diaObjectId: bigint | string }
  | { readonly kind: 'position'; readonly ra: number; readonly dec: number; readonly radius_arcsec?: number }
  | { readonly kind: 'tns'; readonly name: string; readonly radius_arcsec?: number };

/**
 * A bigint or a text of digits is an identifier; any other text is a name of the Transient Name Server. A number is not
 * accepted as an id, because it loses digits.
 */
export type Input =
  | LookupInput
  | bigint
  | string
  | { readonly ra: number; readonly dec: number; readonly radiusArcsec?: number };

/** Inputs, or a table in the formats of `crossmatch` with identifiers, positions or names. */
export type Sample =
  | Iterable<Input | LabelledInput>
  | AsyncIterable<Input | LabelledInput>
  | Uint8Array<ArrayBuffer>
  | string;

/** The label names the row of the input. */
export type LabelledInput = Exclude<Input, string | bigint> & { readonly label?: string };

export interface WalkOptions {
  readonly detail?: DetailLevel;
  /** Filters must be given again with a cursor. */
  readonly filters?: Filters;
  /** Objects of a page. */
  readonly pageSize?: number;
  /** From an earlier `Walk.cursor`: the walk continues there. */
  readonly cursor?: string | undefined;
}

/** Required unless a cursor is given. */
export interface ConeOptions extends WalkOptions {
  readonly ra?: number;
  readonly dec?: number;
  readonly radiusArcsec?: number;
  /** Answers from the state after this journal entry (see `journalEntry`). */
  readonly at?: number;
}

export interface SourcesOptions {
  /** ICRS degrees. */
  readonly ra: number;
  readonly dec: number;
  /** Inclusive; more than 0 and at most 60. */
  readonly radiusArcsec: number;
  /** Every registered catalog by default. */
  readonly catalog?: string;
  /** The maximum number of listed sources; default 1,000. */
  readonly limit?: number;
  /** The 1σ error of the position along each axis, for the probabilities of the sources. */
  readonly errorArcsec?: number;
}

export interface RecentOptions extends Omit<WalkOptions, 'filters'> {
  /** ISO 8601; inclusive. */
  readonly start?: string;
  /** ISO 8601; exclusive. */
  readonly end?: string;
  readonly timeField?: TimeField;
}

/** A page as the API returns it. */
export interface Page {
  readonly provenance: Readonly<Record<string, unknown>>;
  readonly next_cursor: string | null;
  readonly as_of: string;
  readonly page_size: number;
  /** The only result of a cone. */
  readonly results?: readonly LookupResult[];
  /** The objects of other walks. */
  readonly objects?: readonly (LookupObject | RecentObject)[];
}

/**
 * A circle or a polygon as text, in degrees (`CIRCLE 10 -20 1`, `POLYGON 0 0 10 0 5 8`), a MOC (FITS, JSON or ASCII), or a map of
 * probability (FITS), as bytes.
 */
export type Area = string | Uint8Array<ArrayBuffer> | ArrayBuffer | Blob;

export interface SelectionOptions {
  /** ISO 8601. */
  readonly start?: string;
  /** ISO 8601, exclusive. */
  readonly end?: string;
  /** Default `ingest_time`. */
  readonly timeField?: TimeField;
  /** Default `any`. */
  readonly status?: ListedStatus;
  readonly detail?: DetailLevel;
  /** Objects that do not meet the filters are omitted. */
  readonly filters?: Filters;
  /** Answers from the state after this journal entry (see `journalEntry`). */
  readonly at?: number;
}

/** Everything must be given again with a cursor. */
export interface ObjectsOptions extends SelectionOptions, Pick<WalkOptions, 'pageSize' | 'cursor'> {}

export interface AreaOptions extends ObjectsOptions {
  /** The maximum share of the probability that the area contains, default 0.9; for a probability map only. */
  readonly level?: number;
}

/** Objects in the order of the API. A new iteration continues where the last one stopped. */
export interface Walk<T> extends AsyncIterable<T> {
  /**
   * The cursor of the page that is being returned, or is next; a new walk with this cursor begins there. Undefined on
   * the first page.
   */
  readonly cursor: string | undefined;
  /** Whether all pages were returned. */
  readonly isDone: boolean;
  /** @throws NearskyError `repeated_cursor` if the service returns the same cursor twice */
  pages(): AsyncGenerator<Page, void, undefined>;
}

export interface MatchesOptions {
  /** Events that do not meet the filters are omitted. The stream of objects also has the filter `status`. */
  readonly filters?: Filters;
  /** `beginning`, or the `lastId` of an earlier watch. By default, events recorded from now on. */
  readonly after?: string;
}

export interface WatchOptions extends MatchesOptions, Pick<AreaOptions, 'level'> {
  /** Only objects there. With `radiusArcsec`, a table of positions: the text or the bytes of a file. */
  readonly area?: Area;
  readonly radiusArcsec?: number;
}

/** A message of the stream of matches. */
export interface StreamedMatch extends Match {
  readonly diaObjectId: bigint;
  readonly catalogs_skipped: readonly string[];
  readonly partial: boolean;
  readonly tns_checked: boolean;
  readonly tns_snapshot_epoch: string | null;
}

/** A message of the stream of objects: the object as the change left it. */
export interface StreamedObject {
  readonly change: 'stored' | 'crossmatched' | 'removed';
  /** Null if stored or removed. */
  readonly match_version: number | null;
  readonly diaObjectId: bigint;
  readonly status: ObjectStatus;
  readonly ra: number | null;
  readonly dec: number | null;
  readonly reliability: number | null;
  readonly ingest_time: string | null;
  readonly event_time: string | null;
  readonly crossmatched_at: string | null;
  readonly catalog_outcomes: Readonly<Record<string, CatalogOutcome>> | null;
  readonly tns: ObjectTns | null;
  /** The matches of this crossmatch only. */
  readonly matches: readonly StreamedMatch[];
}

/**
 * Events of a stream as they are recorded, without an end. After a broken connection or an outage of the service, it
 * resumes after the last event. Failures before the first connection are thrown. Later failures are thrown only if a
 * retry would not help.
 */
export interface Watch<T> extends AsyncIterable<T> {
  /**
   * The position of the last returned event, from which a later watch can continue. Undefined before the first
   * connection.
   */
  readonly lastId: string | undefined;
}

/**
 * Every method throws a NearskyError, or the error that `fetch` throws. A 503 is retried once after its `Retry-After`.
 * A truncated JSON answer is also requested again once.
 */
export declare class Nearsky {
  /** @param address the address of the service, for example `http://127.0.0.1:8080` */
  constructor(address: string, options?: NearskyOptions);
  /** The journal entry of the latest answer that has one, for `at`. Undefined if the service keeps no history. */
  readonly journalEntry: number | undefined;
  /** For an unknown identifier, the result has the status `not_in_service`. */
  object(diaObjectId: bigint | string, options?: Omit<LookupOptions, 'radiusArcsec' | 'raUnit'>): Promise<LookupResult>;
  tns(name: string, options?: Omit<LookupOptions, 'at' | 'raUnit'>): Promise<LookupResult>;
  /**
   * Accepts any number of inputs, and sends as many requests as necessary. Returns one result per input, in input
   * order.
   */
  lookup(inputs: Iterable<Input> | AsyncIterable<Input>, options?: LookupOptions): Promise<LookupResult[]>;
  /** The same results one by one; inputs are consumed as needed. */
  lookups(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    options?: LookupOptions,
  ): AsyncGenerator<LookupResult, void, undefined>;
  /** In order of ingest time, then identifier. */
  cone(options: ConeOptions): Walk<LookupObject>;
  /** Objects with coincident sources in a window of time, latest first. */
  recent(options?: RecentOptions): Walk<RecentObject>;
  /** The objects in an area, by credible level in a map of probability, then by place on the sky. The area is sent with every page. */
  area(area: Area, options?: AreaOptions): Walk<LookupObject>;
  /** The number of objects that `area` would return. */
  countArea(area: Area, options?: Omit<AreaOptions, 'detail' | 'pageSize' | 'cursor'>): Promise<number>;
  /** Every object that meets the filters, latest first. */
  objects(options?: ObjectsOptions): Walk<LookupObject>;
  /** Each match as it is recorded, by server-sent events. */
  matches(options?: MatchesOptions): Watch<StreamedMatch>;
  /** The same for the objects in an area. */
  watch(stream: 'matches', options?: WatchOptions): Watch<StreamedMatch>;
  /** Each object when it is stored and after each crossmatch, with a match or without. */
  watch(stream: 'objects', options?: WatchOptions): Watch<StreamedObject>;
  /** Every source of the registered catalogs near a position, nearest first; for each catalog whether it was searched. */
  // biome-ignore lint/suspicious/noExplicitAny: /openapi.json has the schema
  sources(options: SourcesOptions): Promise<any>;
  /**
   * Matches each row of a table against the objects, or against a catalog. With `format`, returns the bytes of a table.
   * A large table becomes a job of the service: the client waits for it, reports rows to `onProgress`, and then removes
   * it.
   *
   * @param table CSV, ECSV, IPAC, NDJSON, VOTable, FITS, Parquet or Arrow
   */
  crossmatch(table: Uint8Array<ArrayBuffer> | string, options?: CrossmatchOptions): Promise<Uint8Array<ArrayBuffer>>;
  /**
   * Reports on a sample of transients: which lie on a star, a galaxy or a quasar of a catalog, and how many by chance. The
   * report has `rows`, `summary`, `methods` and `bibtex`; with `format`, the answer is the bytes of a table. A list of
   * more than 1000 inputs is sent as a table, in which positions have no radius of their own. A large table becomes a
   * job of the service, as in `crossmatch`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: /openapi.json has the schema
  sample(sample: Sample, options?: Omit<SampleOptions, 'format'>): Promise<any>;
  sample(
    sample: Sample,
    options: SampleOptions & Required<Pick<SampleOptions, 'format'>>,
  ): Promise<Uint8Array<ArrayBuffer>>;
  /** Keeps a sample at the service. A list of at most 1000 inputs can be compared with earlier journal entries. */
  keepSample(title: string, sample: Sample, options?: KeptOptions): Promise<KeptSample>;
  /** The report on a kept sample as it is now, like that of `sample`. */
  // biome-ignore lint/suspicious/noExplicitAny: /openapi.json has the schema
  keptSample(id: string, options?: Omit<KeptReportOptions, 'format'>): Promise<any>;
  keptSample(
    id: string,
    options: KeptReportOptions & Required<Pick<KeptReportOptions, 'format'>>,
  ): Promise<Uint8Array<ArrayBuffer>>;
  deleteKeptSample(id: string): Promise<void>;
  /**
   * Runs an ADQL query on the tables of the service, which its page `/query` lists, and returns the rows; with
   * `format`, the bytes of a table. A `diaObjectId` is a bigint, like in other answers.
   *
   * @throws NearskyError `too_many_rows` if the limit of the service may have cut the rows
   */
  query(
    adql: string,
    options?: Omit<QueryOptions, 'format'>,
  ): Promise<Record<string, bigint | number | string | boolean | null>[]>;
  query(adql: string, options: QueryOptions & Required<Pick<QueryOptions, 'format'>>): Promise<Uint8Array<ArrayBuffer>>;
  /** Catalogs, filters and limits, as configured. */
  // biome-ignore lint/suspicious/noExplicitAny: /openapi.json has the schema
  describe(): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: /openapi.json has the schema
  status(): Promise<any>;
  /** The matches of transients with a known class, and of random positions; its `validation` is null until it is made. */
  // biome-ignore lint/suspicious/noExplicitAny: /openapi.json has the schema
  validation(): Promise<any>;
}

export interface NearskyErrorDetails {
  readonly code: string;
  readonly status: number;
  readonly param?: string | undefined;
  readonly params?: readonly string[] | undefined;
  readonly retryable?: boolean;
}

/** An error that the service returned, or an answer that is not usable. */
export declare class NearskyError extends Error {
  constructor(message: string, details: NearskyErrorDetails);
  /**
   * A code of the API, or one of the client's own. `not_nearsky`: another server answered. `repeated_cursor`: a walk
   * would not end. `unknown_parameter`: the service ignored `params`, such as a misspelt filter. `too_many_rows`: the
   * answer to a query may be cut at the limit of the service.
   */
  readonly code: string;
  /** The status of the HTTP answer. */
  readonly status: number;
  /** The invalid parameter, if there is exactly one. */
  readonly param: string | undefined;
  /** The invalid parameters, if there are several. */
  readonly params: readonly string[] | undefined;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
}
