/** The fixed limits of requests; others are settings. */

/** The cone search for large radii: Simple Cone Search on the objects. */
export const LARGE_CONE_PATH = '/vo/scs';

/** The maximum number of catalogs of a service, including the project's own. */
export const MAX_CATALOGS = 100;
/** The largest 64-bit id. */
export const MAX_OBJECT_ID = 2n ** 63n - 1n;
/** The ids of objects that are stored. Rubin writes 0 where a source belongs to no object, such as a minor planet. */
export const STORED_IDS = `an integer from 1 to ${MAX_OBJECT_ID}`;
export const isStoredId = (id: bigint): boolean => id > 0n && id <= MAX_OBJECT_ID;
/** Degrees, both ends inclusive. */
export const RA_RANGE = { min: 0, max: 360 } as const;
/** Degrees, both ends inclusive. */
export const DEC_RANGE = { min: -90, max: 90 } as const;
/** The maximum length of a name as received, before trimming. */
export const MAX_TNS_NAME_CHARACTERS = 64;
export const MAX_CURSOR_CHARACTERS = 1024;
export const MAX_BODY_BYTES = 2_621_440;
/** The maximum body size of a call of the connector: the longest arguments have some 70,000 bytes. */
export const MAX_CONNECTOR_BODY_BYTES = 131_072;
export const AREA_PATH = '/api/area';
/** The beginning of the paths of streams. */
export const STREAM_PATH = '/api/stream/';
/** The default length of the window of recent crossmatches, for requests without `start`. */
export const DEFAULT_WINDOW_HOURS = 12;

/** The maximum separation of an object from its matches, arcsec: the maximum of CROSSMATCH_RADIUS_ARCSEC. */
export const MAX_CROSSMATCH_RADIUS_ARCSEC = 60;
/**
 * HEALPix order of the coverage of the objects. With pixels of 13.7 arcmin, a map of the whole sky takes at most 6 MB,
 * and small gaps between objects still count as covered.
 */
export const OBJECTS_MOC_ORDER = 8;

/** The maximum radius of a search for catalog sources, arcsec, inclusive. */
export const MAX_SOURCES_RADIUS_ARCSEC = 60;
/** The allowed limits on the number of sources in such a search, and on the objects of one source. */
export const SOURCES_LIMIT_RANGE = { min: 1, max: 10_000 } as const;
export const DEFAULT_SOURCES_LIMIT = 1000;

/**
 * The maximum number of matches of a table. A pair takes about 50 bytes, which do not count towards the limit of a
 * thread's heap.
 */
export const MAX_TABLE_MATCHES = 5_000_000;
/**
 * The time limit for receiving a table, and the separate, equal limit for its crossmatch. A connection without a byte
 * for 60 s is closed.
 */
export const TABLE_BUDGET_SECONDS = 55;
/** The maximum time that a request waits for a job to reach another phase. */
export const MAX_JOB_WAIT_SECONDS = 45;
/** The maximum number of tables sent with an ADQL query. */
export const MAX_TAP_UPLOADS = 16;

/** The maximum number of files of catalogs that a query in ADQL reads. */
export const MAX_CATALOG_FILES = 512;

/** The maximum size of an area: a MOC, a probability map, or a string, bytes. */
export const MAX_AREA_BYTES = 8_388_608;
/**
 * The maximum length of an area's string that the serving thread reads itself, bytes. Another process reads longer
 * strings, and all other forms.
 */
export const MAX_AREA_TEXT_BYTES = 65_536;
/** The limits of a body that is an area. */
export const AREA_BODY = { maxBytes: MAX_AREA_BYTES, maxHeldBytes: MAX_AREA_TEXT_BYTES } as const;
/** The maximum decompressed size of a gzipped area, bytes. */
export const MAX_UNPACKED_AREA_BYTES = 67_108_864;
/** The maximum number of positions that a stream follows. */
export const MAX_FOLLOWED_POSITIONS = 100_000;
/** The maximum radius around these positions, arcsec, inclusive. */
export const MAX_FOLLOWED_RADIUS_ARCSEC = 3600;
/** The maximum memory of all areas that streams follow, bytes. One client may use half of it. */
export const MAX_FOLLOWED_BYTES = 268_435_456;
/** The maximum number of cells of a MOC, or pixels of a probability map. */
export const MAX_AREA_CELLS = 200_000;
export const MAX_POLYGON_VERTICES = 1000;
/** The default share of a map's probability that its area contains. */
export const DEFAULT_CREDIBLE_LEVEL = 0.9;
/** The maximum number of objects examined for one page if filters exclude some of them. */
export const MAX_LOOKED_AT = 20_000;

/** The approximate maximum number of cells in one answer of the sky map. */
export const MAX_MAP_CELLS = 50_000;
/** Degrees, inclusive: the whole sky. */
export const MAX_MAP_RADIUS_DEG = 180;
/** H3 resolutions, both ends inclusive. */
export const MAP_RESOLUTION_RANGE = { min: 0, max: 7 } as const;
export const DEFAULT_MAP_RESOLUTION = 2;
