/** A catalog whose ids are texts: tables that are crossmatched with it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cellsOf, withNames } from '../../core/http/text_ids.ts';
import { OBJECTS } from '../crossmatch/text_ids.ts';

const post = (body: string, type = 'application/json') => ({
  method: 'POST',
  headers: { 'Content-Type': type },
  body,
});

const test = suite('table_match/text_ids');

test('tables that are crossmatched with the catalog', () =>
  withNames(async ({ fetch }) => {
    const table = `ra,dec\n${OBJECTS.map(({ ra, dec }) => `${ra},${dec}\n`).join('')}`;
    const expected = OBJECTS.map(({ source }) => source?.id ?? null);
    for (const format of ['csv', 'ndjson', 'votable', 'parquet', 'arrow', 'fits'])
      for (const find of ['nearest', 'all']) {
        const path = `/api/crossmatch?against=quasars&radius_arcsec=1&find=${find}&format=${format}`;
        const cells = await cellsOf(await fetch(path, post(table, 'text/csv')), 'nearsky_source_id');
        const blank = (cell: unknown) => (cell === '' || cell === undefined ? null : cell);
        // FITS has texts in ASCII, without blanks at their ends.
        const isPlain = (id: string | null) => format !== 'fits' || id === null || /^[!-~]([ -~]*[!-~])?$/.test(id);
        assert.equal(
          find === 'all'
            ? expected.filter(isPlain).filter(id => !cells.map(blank).includes(id))
            : expected.map((id, i) => (isPlain(id) ? blank(cells[i]) : id)),
          find === 'all' ? [] : expected,
          format,
        );
      }
  }));

test.run();
