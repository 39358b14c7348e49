/** A slow oracle: every search scans all points. */
import type { PointColumns } from '@nearsky/sky-index';
import { separationArcsec } from '@nearsky/sky-index';

/** Ids of all points within the radius (inclusive), ascending. */
export function coneByScan(points: PointColumns, ra: number, dec: number, radiusArcsec: number): bigint[] {
  const ids: bigint[] = [];
  for (let i = 0; i < points.ra.length; i++)
    if (separationArcsec(ra, dec, points.ra[i]!, points.dec[i]!) <= radiusArcsec) ids.push(points.id[i]!);
  return ids.sort(compareBigint);
}

/** The nearest point within the radius (inclusive); of equal separations the lowest id. */
export function nearestByScan(
  points: PointColumns,
  ra: number,
  dec: number,
  radiusArcsec: number,
): { id: bigint; separationArcsec: number } | undefined {
  let best: { id: bigint; separationArcsec: number } | undefined;
  for (let i = 0; i < points.ra.length; i++) {
    const separation = separationArcsec(ra, dec, points.ra[i]!, points.dec[i]!);
    if (separation > radiusArcsec) continue;
    const id = points.id[i]!;
    if (!best || separation < best.separationArcsec || (separation === best.separationArcsec && id < best.id))
      best = { id, separationArcsec: separation };
  }
  return best;
}

export function compareBigint(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
