/** What a format has no place of its own for. */
import type { Column } from './columns.ts';

/** Units, UCDs and descriptions by column name: JSON. */
export function describedColumns(columns: readonly Column[]): string {
  return JSON.stringify(
    Object.fromEntries(columns.map(({ name, unit, ucd, description }) => [name, { unit, ucd, description }])),
  );
}
