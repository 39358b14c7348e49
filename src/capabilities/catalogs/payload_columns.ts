/** The columns of the catalogs' payloads, and the values that their cells may hold. */

import type { Cell, Column } from '@nearsky/astrotables/columns';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';

/** The columns of a catalog's payload: named like the payload's keys, in the catalog's order. */
export function payloadColumns({ columns }: Pick<CatalogDefinition, 'columns'>): Column[] {
  return columns.map(column => ({ ...column, name: column.name.toLowerCase() }));
}

/** The keys of a catalog's payload that repeat the source's own position. */
export function positionKeys({ raColumn, decColumn }: Pick<CatalogDefinition, 'raColumn' | 'decColumn'>): string[] {
  return [raColumn.toLowerCase(), decColumn.toLowerCase()];
}

/**
 * The cell of a payload's value; null if the payload lacks the key. An import may store values of other types than the
 * catalog's: a value that does not fit its column gives undefined.
 */
export function payloadCell({ type }: Pick<Column, 'type'>, value: unknown): Cell | undefined {
  if (value === null || value === undefined) return null;
  if (type === 'text') return typeof value === 'string' ? value : undefined;
  if (type === 'boolean') return typeof value === 'boolean' ? value : undefined;
  if (type === 'float64') return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'bigint' && BigInt.asIntN(64, value) === value ? value : undefined;
}
