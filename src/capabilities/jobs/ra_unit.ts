/** The unit of the right ascensions of a sent table. */
import {
  findPositions,
  type InputTable,
  type NamedColumns,
  type PositionColumns,
  type Positions,
  TableError,
} from '@nearsky/astrotables';
import { degreesIn } from '@nearsky/astrotables/frames';
import { LIKE_HOURS, looksLikeHours } from '../../core/contract/hours.js';
import type { RaUnit } from '../../core/contract/table_match.ts';

/**
 * The table, with the unit of the request for its right ascensions.
 * @throws TableError if the column has another unit
 */
export function withRaUnit(table: InputTable, raUnit: RaUnit | undefined, named: NamedColumns): InputTable {
  if (raUnit === undefined) return table;
  const { ra, dec, frame } = findPositions(table, named);
  // The column has the declinations, too, which are not hours.
  if (raUnit === 'h' && ra === dec)
    throw new TableError(
      'its positions are in one column, but ra_unit=h needs a column of right ascensions',
      'ra_unit',
    );
  if (raUnit === 'h' && frame.system === 'GALACTIC')
    throw new TableError('its positions are galactic, without right ascensions, but ra_unit is h', 'ra_unit');
  const { name, unit } = table.columns[ra]!;
  if (unit !== undefined && degreesIn(unit) !== degreesIn(raUnit))
    throw new TableError(`its column ${name.slice(0, 64)} has the unit ${unit}, but ra_unit is ${raUnit}`, 'ra_unit');
  return { ...table, columns: table.columns.map((column, i) => (i === ra ? { ...column, unit: raUnit } : column)) };
}

/** The warning about right ascensions without a unit that are more likely hours than degrees; undefined if there is none. */
export function hoursWarning(table: InputTable, columns: PositionColumns, { ra, dec }: Positions): string | undefined {
  const isStated = table.columns[columns.ra]!.unit !== undefined || columns.ra === columns.dec;
  return !isStated && looksLikeHours(ra, dec) ? LIKE_HOURS : undefined;
}
