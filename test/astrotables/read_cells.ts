/** VOTables that are made of parts, and their cells. */
import type { Cell } from '@nearsky/astrotables';
import { openTable } from '@nearsky/astrotables';

/** Every cell, a list a column. */
export async function cellsOf(bytes: Uint8Array): Promise<Cell[][]> {
  const table = await openTable(bytes, { maxRows: 100, maxBytes: 1e6 }, true);
  const columns: Cell[][] = table.columns.map(() => []);
  for await (const { cells } of table.blocks([...table.columns.keys()]))
    cells.forEach((ofColumn, i) => void columns[i]!.push(...Array.from(ofColumn)));
  return columns;
}

export const documentOf = (fields: string, data: string) =>
  Buffer.from(`<VOTABLE version="1.4"><RESOURCE><TABLE>${fields}<DATA>${data}</DATA></TABLE></RESOURCE></VOTABLE>`);
