/** Our reader of Parquet with the encodings of other tools; `encodings.system.test.ts` queries the same catalogs. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openLocalParquet } from '../../core/catalogs/support.ts';
import { expectedOf, fixtures, NAMES, rowsOf } from './encodings.ts';

const test = suite('tap/encodings');

for (const name of NAMES)
  test(`${name}: the reader`, async () => {
    const expected = rowsOf(expectedOf(name));
    const paths = readdirSync(join(fixtures, name), { recursive: true, encoding: 'utf8' });
    let rows = 0;
    for (const path of paths.filter(path => path.endsWith('.parquet'))) {
      const file = await openLocalParquet(join(fixtures, name, path));
      const all = Array.from({ length: file.rows }, (_, row) => row);
      const names = Object.keys(expected.get('1')!);
      const read = await Promise.all(names.map(async column => [column, await file.readValues(column, all)] as const));
      for (const [id, row] of rowsOf(Object.fromEntries(read))) {
        for (const column of names) if (row[column] === 'NaN') row[column] = 'null';
        assert.equal(row, expected.get(id), `${id}`);
        rows++;
      }
      file.close();
    }
    assert.is(rows, expected.size);
  });

test.run();
