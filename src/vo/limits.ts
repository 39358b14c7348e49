/** The limits of the Virtual Observatory's services that no setting changes. */

/** Of an object from its coincident sources: the largest CROSSMATCH_RADIUS_ARCSEC. A cone of sources looks for objects so much further. */
export const MAX_MATCH_RADIUS_ARCSEC = 60;

/**
 * HEALPix order of the coverage of the objects: pixels of 13.7 arcmin, so that the map of a whole sky is 6 MB at most, and that a field
 * without an object of its own between others still counts as covered.
 */
export const OBJECTS_MOC_ORDER = 8;
