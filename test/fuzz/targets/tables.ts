/** Tables that people send, in every format. */
import { findPositions, openTable, readPositions, TableError } from '@nearsky/astrotables';
import { orRefused, type Target } from '../target.ts';

const LIMITS = { maxRows: 10_000, maxBytes: 2 ** 22 };

const table: Target = {
  name: 'table',
  isText: false,
  inputs: 400,
  start: async () => ({
    run: input =>
      orRefused(async () => {
        const opened = await openTable(input, LIMITS, true);
        let rows = 0;
        for await (const block of opened.blocks([...opened.columns.keys()])) {
          rows += block.rows;
          for (const cells of block.cells)
            if (cells.length !== block.rows) throw new Error(`${cells.length} cells of ${block.rows} rows`);
        }
        if (rows !== opened.rows) throw new Error(`${rows} rows are read of ${opened.rows}`);
        if (opened.stored) for await (const { columns } of opened.stored.groups()) columns.length;
        await readPositions(opened, findPositions(opened, {}));
      }, TableError),
  }),
};

export const targets: readonly Target[] = [table];
