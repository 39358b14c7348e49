/**
 * Plans which partitions of a catalog must be read for which objects. Positions are degrees; objects are given by their
 * index in the batch.
 */
import type { Partition } from '@nearsky/hats';
import { MAX_OUTSIDE_ARCSEC } from '@nearsky/hats/layout';
import { conePixels } from '@nearsky/sky-index';
import type { Coverage } from '@nearsky/sky-index/areas';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';
import { openCoverage } from '../catalogs/coverage.ts';
import type { CatalogErrors } from './catalog_errors.ts';
import { type CatalogMotion, longestReachArcsec } from './motion.ts';
import { type OwnRadius, ownRadiusOf } from './own_radius.ts';

/** A registered catalog whose partitions and footprint are open. */
export interface PlannedCatalog {
  readonly registration: CatalogRegistration;
  readonly coverage: Coverage;
  /** Partitions by order, then pixel. */
  readonly partitions: ReadonlyMap<number, ReadonlyMap<number, Partition>>;
  /** Undefined if sources are compared at their catalog positions. */
  readonly motion?: CatalogMotion | undefined;
  /** Undefined if no match gets a normalized separation. */
  readonly errors?: CatalogErrors | undefined;
  /** Undefined for a catalog that is searched within the radius of the service. */
  readonly radius: OwnRadius | undefined;
}

/** One file of a partition and the objects, ascending, whose disc may touch the partition. */
export interface FileSearch {
  /** Relative to the catalog's location. */
  readonly file: string;
  /** Whether the partition has no other file. */
  readonly hasAllRows: boolean;
  readonly objects: readonly number[];
}

export interface CatalogPlan {
  /** True for each object whose position lies inside the catalog's footprint. */
  readonly covered: readonly boolean[];
  readonly searches: readonly FileSearch[];
}

export function openCatalog(
  registration: CatalogRegistration,
  motion?: CatalogMotion,
  errors?: CatalogErrors,
): PlannedCatalog {
  const partitions = new Map<number, Map<number, Partition>>();
  for (const partition of registration.partitions) {
    const ofOrder = partitions.get(partition.order) ?? new Map<number, Partition>();
    partitions.set(partition.order, ofOrder.set(partition.ipix, partition));
  }
  const radius = ownRadiusOf(registration);
  return { registration, coverage: openCoverage(registration.coverage), partitions, motion, errors, radius };
}

/**
 * Finds every partition that the disc around an object may touch. A source beyond a partition's edge is found in its
 * own partition, so margin catalogs are not needed. An object outside the footprint is searched only if the footprint
 * lies within the radius.
 * @param years if the sources move, Julian years from the catalog's epoch to each object's time, or NaN
 */
export function planCatalog(
  catalog: PlannedCatalog,
  ra: Float64Array,
  dec: Float64Array,
  radiusArcsec: number,
  years?: Float64Array,
): CatalogPlan {
  const objectsOf = new Map<Partition, number[]>();
  const covered = Array.from(ra, (_, object) => catalog.coverage.contains(ra[object]!, dec[object]!));
  const finest = Math.max(0, ...catalog.partitions.keys());
  for (let object = 0; object < ra.length; object++) {
    const radius = radiusArcsec + MAX_OUTSIDE_ARCSEC + (years ? longestReachArcsec(years[object]!) : 0);
    if (!covered[object] && !catalog.coverage.touches(ra[object]!, dec[object]!, radius)) continue;
    const touched = conePixels(finest, ra[object]!, dec[object]!, radius);
    for (const [order, ofOrder] of catalog.partitions) {
      for (const ipix of parents(touched, 2 * (finest - order))) {
        const partition = ofOrder.get(ipix);
        if (!partition) continue;
        const objects = objectsOf.get(partition);
        if (objects) objects.push(object);
        else objectsOf.set(partition, [object]);
      }
    }
  }
  const searches = [...objectsOf].flatMap(([{ files }, objects]) =>
    files.map(file => ({ file, hasAllRows: files.length === 1, objects })),
  );
  return { covered, searches };
}

/** The pixels of a coarser order that hold any of the given pixels. Most discs lie in one pixel. */
function parents(pixels: readonly number[], shift: number): Iterable<number> {
  return pixels.length === 1 ? [pixels[0]! >> shift] : new Set(pixels.map(pixel => pixel >> shift));
}
