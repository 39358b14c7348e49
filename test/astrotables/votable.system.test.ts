/** VOTables, as STILTS and astropy read them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hasStilts, python, run, votlint, withFolder, writeFiles } from '../core/tables/clients.ts';
import { needs } from '../needs.ts';
import { document, everyType, SERIALIZATIONS } from './documents.ts';

const test = suite('astrotables/votable of programs');

needs(test, hasStilts ? undefined : 'there is no stilts here (Debian package stilts)')(
  'STILTS finds no fault with a document, and reads its integers to the last digit',
  async () => {
    await withFolder(folder => {
      const { columns, rows } = everyType();
      for (const how of SERIALIZATIONS) {
        const xml = document(columns, rows, how);
        assert.equal(votlint(xml), []);
        const [path] = writeFiles(folder, { [`${how}.xml`]: xml });
        const { out, status } = run('stilts', [
          'tpipe',
          `in=${path}`,
          'ifmt=votable',
          'ofmt=csv',
          'cmd=keepcols "c0 c1"',
        ]);
        assert.is(status, 0);
        const lines = out.trim().split('\n').slice(1);
        assert.equal(
          lines,
          rows.map(([id, small]) => `${id ?? ''},${small ?? ''}`),
        );
      }
    });
  },
);

const READ_TABLES = `
import sys, io, json, warnings
from astropy.io.votable import parse
warnings.simplefilter('error')
for path in sys.argv[1:]:
    table = parse(path, verify='exception').get_first_table().array
    for row in table:
        cells = []
        for name in table.dtype.names:
            cell, null = row[name], bool(getattr(row, 'mask', None) and row.mask[name] or False)
            cells.append(None if null or cell is None else repr(cell.item()) if hasattr(cell, 'item') else cell)
        print(json.dumps(cells))
`;

needs(test, python ? undefined : 'there is no Python with it here (Debian packages python3-astropy, python3-pyvo)')(
  'astropy reads a document without a warning, every cell as it was',
  async () => {
    await withFolder(folder => {
      const { columns, rows } = everyType();
      const texts = Object.fromEntries(SERIALIZATIONS.map(how => [`${how}.xml`, document(columns, rows, how)]));
      const { out, errors } = run(python!, ['-c', READ_TABLES, ...writeFiles(folder, texts)]);
      assert.is(errors, '');
      const read = out
        .trim()
        .split('\n')
        .map(line => JSON.parse(line));
      for (const [r, row] of [...rows, ...rows].entries()) {
        const [id, small, float, , text] = read[r];
        assert.is(id, row[0] === null ? null : `${row[0]}`);
        assert.is(small, row[1] === null ? null : `${row[1]}`);
        // astropy takes NaN for null.
        const isNumber = row[2] !== null && !Number.isNaN(row[2]);
        assert.ok(isNumber ? Object.is(Number(float.replace('inf', 'Infinity')), row[2]) : float === null, `${float}`);
        assert.is(text ?? '', row[4] ?? '');
      }
    });
  },
);

test.run();
