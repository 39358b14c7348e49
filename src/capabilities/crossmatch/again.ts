/**
 * Decides which crossmatched objects to search again: those whose recorded settings differ from the current ones, or
 * those whose matches lack statistics.
 */
import type { Area } from '@nearsky/sky-index/areas';
import { STATISTICS_VERSION } from '../../core/store/match_statistics.ts';
import { type ObjectView, readCurrent } from '../../core/store/object_record.ts';
import { isUsedAlike } from '../../core/store/provenance.ts';
import type { Store } from '../../core/store/store.ts';
import type { CatalogRelease, ProvenanceSet, SkyPosition } from '../../core/store/types.ts';
import { skippedCatalogs } from '../../core/store/unread.ts';

/** Restricts the selection of objects. */
export interface AgainSelection {
  /** Takes objects whose matches lack statistics instead of those that differ. */
  readonly lackStatistics?: boolean;
  /** Only differences that concern this catalog; undefined for any. */
  readonly catalog?: string | undefined;
  /** Only objects whose current crossmatch was made before, microseconds since 1970. */
  readonly beforeUs?: number | undefined;
  /** Only objects in this area; objects without a position are excluded. */
  readonly area?: Area | undefined;
}

export type Configured = Pick<ProvenanceSet, 'crossmatch_radius_arcsec' | 'catalogs'>;

/**
 * Returns a test of stored objects: whether a crossmatched object's record differs from the settings. A record differs
 * if it lacks a configured catalog, if the release of a catalog, the use of its motions or the radius is different, or
 * if a catalog could not be read. An object without a record differs. A catalog that is no longer configured makes no
 * difference. With `lackStatistics`, the test selects records that do not differ, but have a match without statistics.
 */
export function differsFrom(
  store: Store,
  { crossmatch_radius_arcsec, catalogs }: Configured,
  { lackStatistics = false, catalog, beforeUs = Number.POSITIVE_INFINITY, area }: AgainSelection = {},
): (object: ObjectView) => boolean {
  const wanted = catalogs.filter(({ name }) => catalog === undefined || name === catalog);
  // Many objects share the text of their record.
  const known = new Map<string, boolean>();
  const isOther = (text: string) => {
    const { record } = readCurrent(text);
    if (!record) return true;
    const { set } = store.provenanceSet(record.provenanceSet);
    const skipped = skippedCatalogs(record);
    return (
      set.crossmatch_radius_arcsec !== crossmatch_radius_arcsec ||
      wanted.some(release => skipped.has(release.name) || !set.catalogs.some(each => isSame(each, release)))
    );
  };
  const names = new Set(wanted.map(({ name }) => name));
  return object => {
    if (object.state !== 'crossmatched' || object.crossmatchedAtUs >= beforeUs) return false;
    const { current } = object;
    let differs = known.get(current);
    if (differs === undefined) known.set(current, (differs = isOther(current)));
    const isTaken = lackStatistics ? !differs && lacks(object, names) : differs;
    return isTaken && (area === undefined || isIn(area, object.position));
  };
}

/** Whether a match of the current crossmatch with one of the catalogs has no statistics, or those of an older version. */
function lacks(object: ObjectView, catalogs: ReadonlySet<string>): boolean {
  const current = object.record?.matchVersion;
  return object
    .matches()
    .some(
      at =>
        object.matchVersion(at) === current &&
        catalogs.has(object.catalogName(at)) &&
        (object.statistics(at)?.version ?? 0) < STATISTICS_VERSION,
    );
}

/**
 * Returns a test of stored objects: whether the current crossmatch of an object used another release of one of the
 * catalogs than the given one. A catalog that the crossmatch lacks makes no difference.
 * @param releases by name of the catalog
 */
export function usesOtherRelease(store: Store, releases: ReadonlyMap<string, string>): (object: ObjectView) => boolean {
  const known = new Map<string, boolean>();
  const isOther = (text: string) => {
    const { record } = readCurrent(text);
    const catalogs = record ? store.provenanceSet(record.provenanceSet).set.catalogs : [];
    return catalogs.some(({ name, release }) => (releases.get(name) ?? release) !== release);
  };
  return ({ state, current }) => {
    if (state !== 'crossmatched') return false;
    let isTaken = known.get(current);
    if (isTaken === undefined) known.set(current, (isTaken = isOther(current)));
    return isTaken;
  };
}

function isIn(area: Area, position: SkyPosition | null): boolean {
  return position !== null && area.contains(position.ra, position.dec);
}

function isSame(a: CatalogRelease, b: CatalogRelease): boolean {
  return a.name === b.name && a.release === b.release && isUsedAlike(a, b);
}
