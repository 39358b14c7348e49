/** A slow oracle: a crossmatch that scans all rows for every object. */
import { isPosition, pixelOf, separationArcsec } from '@nearsky/sky-index';
import type { RecordedOutcome, SkyPosition } from '../../src/core/store/types.ts';

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
    const separation = separationOf(ra[row], dec[row], position, radiusArcsec);
    if (separation === undefined) continue;
    if (best && (separation > best.separationArcsec || (separation === best.separationArcsec && id[row]! >= best.id)))
      continue;
    best = { row, id: id[row]!, separationArcsec: separation };
  }
  return best;
}

/** The separations of all rows within the radius, ascending. */
export function separationsWithin({ ra, dec }: CatalogRows, position: SkyPosition, radiusArcsec: number): number[] {
  const found: number[] = [];
  for (let row = 0; row < ra.length; row++) {
    const separation = separationOf(ra[row], dec[row], position, radiusArcsec);
    if (separation !== undefined) found.push(separation);
  }
  return found.sort((a, b) => a - b);
}

/** The separation of a row, if it is a source and lies within the radius. */
function separationOf(
  ra: number | null | undefined,
  dec: number | null | undefined,
  position: SkyPosition,
  radiusArcsec: number,
): number | undefined {
  // No separation is less than the difference of declination; an arcsecond is more than any rounding.
  if (Math.abs((dec ?? Number.NaN) - position.dec) > (radiusArcsec + 1) / 3600) return undefined;
  if (!isPosition(ra ?? Number.NaN, dec ?? Number.NaN)) return undefined;
  const separation = separationArcsec(position.ra, position.dec, ra!, dec!);
  return separation <= radiusArcsec ? separation : undefined;
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
