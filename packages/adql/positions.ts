/** Points as SQL. */
import { AdqlError } from './adql_error.ts';
import type { Part } from './parts.ts';
import { double, type Point } from './values.ts';

/** More than the rounding error of distances, degrees. */
export const ROUNDING = 1e-9;

/** The pixel column that belongs to a point; undefined unless the point is a table's position. */
export function pixelOf({ ra, dec }: Pick<Point, 'ra' | 'dec'>): string | undefined {
  const [first, second] = [ra.column?.place, dec.column?.place];
  const isPosition = first?.part === 'ra' && second?.part === 'dec' && first.pixel === second.pixel;
  return isPosition ? first.pixel : undefined;
}

/** The partial table whose position a point is. */
export function partOf({ ra, dec }: Pick<Point, 'ra' | 'dec'>): Part | undefined {
  const [first, second] = [ra.column, dec.column];
  const isPosition = first?.place?.part === 'ra' && second?.place?.part === 'dec' && first.of === second.of;
  return isPosition ? first.of : undefined;
}

export function isConstant({ ra, dec }: Point): boolean {
  return ra.constant !== undefined && dec.constant !== undefined;
}

/** The longest SQL of a coordinate, because tests of positions repeat them. */
const MAX_COORDINATE_LENGTH = 500;

/** @throws AdqlError if the SQL of a coordinate is too long */
export function position(point: Point): string {
  const [ra, dec] = [double(point.ra), double(point.dec)];
  if (Math.max(ra.length, dec.length) > MAX_COORDINATE_LENGTH)
    throw new AdqlError(point.at, 'a coordinate must be a short expression: compute it in a query of WITH');
  return `${ra}, ${dec}`;
}
