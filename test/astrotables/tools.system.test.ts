/** Tables as astropy, pyarrow, polars and pandas write them are read: every cell, and the positions. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Cell } from '@nearsky/astrotables';
import { findPositions, openTable, readPositions } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../python.ts';

const test = suite('astrotables/tools');

const MODULES = 'astropy, pandas, polars, pyarrow';
const SCRIPT = fileURLToPath(new URL('./make_tables.py', import.meta.url));
const LIMITS = { maxRows: 1000, maxBytes: 2 ** 24 };
/** The rows of make_tables.py. */
const ROWS: readonly (readonly Cell[])[] = [
  [10.5, -30.25, 2n ** 63n - 1n, 2n ** 53n + 1n, -5, 0.1, true, 'abc'],
  [350.25, 89.5, -(2n ** 53n) - 1n, null, 7, -2.5, false, 'd, e'],
  [0, -90, 0n, 2n, 0, 3e38, true, 'q"uote'],
  [null, 1, 42n, 3n, 32767, 0, false, 'é<&>'],
];

/** A cell as every format can express it: CSV has no booleans, FITS only ASCII. */
function plain(cell: Cell, column: number): string {
  if (cell === null || Number.isNaN(cell)) return 'null';
  if (column === 5) return `${Math.fround(Number(cell))}`;
  return `${cell}`.toLowerCase().replace('é', 'e');
}

needs(test, whyNoPython(MODULES))('every cell of every format, and the positions [Crossmatch of a table]', () =>
  withDirectory(async directory => {
    await runPython(pythonWith(MODULES)!, [SCRIPT, directory]);
    const names = readdirSync(directory).filter(name => !name.includes('zstd.arrow'));
    assert.ok(names.length >= 20, `${names}`);
    for (const name of names) {
      const table = await openTable(readFileSync(join(directory, name)), LIMITS, true);
      const rows: string[][] = [];
      // astropy may write a mask as a column of its own.
      const places = [...table.columns.keys()].filter(place => table.columns[place]!.name !== 'maybe.mask');
      for await (const { rows: count, cells } of table.blocks(places))
        for (let row = 0; row < count; row++) rows.push(cells.map((column, i) => plain(column[row]!, i)));
      const expected = ROWS.map(cells => cells.map(plain));
      assert.equal(rows, expected, name);
      const { ra, dec } = await readPositions(table, findPositions(table, {}));
      assert.equal(
        [[...ra], [...dec]],
        [
          [10.5, 350.25, 0, Number.NaN],
          [-30.25, 89.5, -90, 1],
        ],
        name,
      );
      const [first] = table.columns;
      if (/\.(vot|fits|ecsv)$/.test(name)) assert.is(first!.unit, 'deg', name);
      if (name.endsWith('.vot'))
        assert.equal([first!.ucd, first!.description], ['pos.eq.ra;meta.main', 'Right ascension']);
    }
  }),
);

test.run();
