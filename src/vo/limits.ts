/** The limits of the Virtual Observatory's services that no setting changes. */

/**
 * The largest separation of an object from its coincident sources: the largest CROSSMATCH_RADIUS_ARCSEC. A cone of
 * sources looks for objects this much further out.
 */
export const MAX_MATCH_RADIUS_ARCSEC = 60;

/**
 * HEALPix order of the coverage of the objects. Its pixels of 13.7 arcmin keep the map of a whole sky to 6 MB at most,
 * and a field without an object of its own between others still counts as covered.
 */
export const OBJECTS_MOC_ORDER = 8;
