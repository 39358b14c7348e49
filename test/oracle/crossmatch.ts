/** A slow oracle: a crossmatch that scans all rows for every object. */
import { isPosition, pixelOf, separationArcsec } from '@nearsky/sky-index';
import type { RecordedOutcome, SkyPosition } from '../../src/store/types.ts';

/** A catalog as its rows. */
export interface CatalogRows {
  readonly ra: ArrayLike<number | null>;
  readonly dec: ArrayLike<number | null>;
  readonly id: ArrayLike<bigint>;
  /** The order of its coverage map. */
  readonly coverageOrder: number;
}

export interface ExpectedMatch {
  readonly row: number;
  readonly id: bigint;
  readonly separationArcsec: number;
}

/**
 * The nearest row within the radius, inclusive; of equal separations the lowest id. Rows without a valid position are
 * no sources.
 */
export function nearestRow(
  { ra, dec, id }: CatalogRows,
  position: SkyPosition,
  radiusArcsec: number,
): ExpectedMatch | undefined {
  let best: ExpectedMatch | undefined;
  for (let row = 0; row < id.length; row++) {
    const rowRa = ra[row] ?? Number.NaN;
    const rowDec = dec[row] ?? Number.NaN;
    if (!isPosition(rowRa, rowDec)) continue;
    const separation = separationArcsec(position.ra, position.dec, rowRa, rowDec);
    if (separation > radiusArcsec) continue;
    if (best && (separation > best.separationArcsec || (separation === best.separationArcsec && id[row]! >= best.id)))
      continue;
    best = { row, id: id[row]!, separationArcsec: separation };
  }
  return best;
}

/** The separations of all rows within the radius, ascending. */
export function separationsWithin({ ra, dec }: CatalogRows, position: SkyPosition, radiusArcsec: number): number[] {
  return Array.from(ra, (rowRa, row) => [rowRa ?? Number.NaN, dec[row] ?? Number.NaN] as const)
    .filter(([rowRa, rowDec]) => isPosition(rowRa, rowDec))
    .map(([rowRa, rowDec]) => separationArcsec(position.ra, position.dec, rowRa, rowDec))
    .filter(separation => separation <= radiusArcsec)
    .sort((a, b) => a - b);
}

/** The outcome of a catalog that can be read. */
export function expectedOutcome(
  catalog: CatalogRows,
  position: SkyPosition | null,
  radiusArcsec: number,
): RecordedOutcome {
  if (!position) return 'not_searched_invalid_position';
  if (nearestRow(catalog, position, radiusArcsec)) return 'searched';
  return isCovered(catalog, position) ? 'searched' : 'outside_footprint';
}

/** Whether any row lies in the position's pixel of the coverage map. */
function isCovered({ ra, dec, coverageOrder }: CatalogRows, position: SkyPosition): boolean {
  const pixel = pixelOf(coverageOrder, position.ra, position.dec);
  for (let row = 0; row < ra.length; row++) {
    const rowRa = ra[row] ?? Number.NaN;
    const rowDec = dec[row] ?? Number.NaN;
    if (isPosition(rowRa, rowDec) && pixelOf(coverageOrder, rowRa, rowDec) === pixel) return true;
  }
  return false;
}
