/** A catalog whose ids are texts, in the archive that is exported. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearsky } from '../../commands/in_process.ts';
import type { Json } from '../../core/http/support.ts';
import { NAMED, withNames } from '../../core/http/text_ids.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import type { World } from '../crossmatch/world.ts';

const test = suite('hats/text_ids');

test('the archive: integers and texts in columns of their own, each with all characters', () =>
  withNames(async ({ world, ids }) => {
    const target = await exported(world);
    const rows: Json[] = [];
    for (const file of globSync('matches/matches/dataset/Norder=*/**/*.parquet', { cwd: target })) {
      const { buffer, byteOffset, length } = readFileSync(join(target, file));
      const bytes = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
      rows.push(...(await parquetReadObjects({ file: bytes, compressors })));
    }
    assert.equal(pairsOf(rows.map(row => [row.diaObjectId, row.catalog_source_name])), pairsOf(expectedPairs(ids)));
    assert.ok(rows.every(row => row.catalog_source_id === null));
  }));

const MODULES = 'lsdb, hats';
needs(test, whyNoPython(MODULES))('LSDB reads the texts of the archive', () =>
  withNames(async ({ world, ids }) => {
    const found = JSON.parse(await runPython(pythonWith(MODULES)!, ['-c', READ_ARCHIVE, await exported(world)]));
    assert.equal(pairsOf(found), pairsOf(expectedPairs(ids)));
  }),
);

const READ_ARCHIVE = `
import json, sys
import lsdb
table = lsdb.open_catalog(sys.argv[1] + "/matches").compute()
assert str(table["catalog_source_id"].dtype) == "int64[pyarrow]", table["catalog_source_id"].dtype
assert table["catalog_source_id"].isna().all()
print(json.dumps([[str(i), name] for i, name in zip(table["diaObjectId"], table["catalog_source_name"])]))
`;

async function exported({ directory }: World): Promise<string> {
  const target = join(directory, 'archive');
  await nearsky('export', '--format', 'hats', target, '--data', join(directory, 'data'));
  return target;
}

const expectedPairs = (ids: readonly bigint[]) => NAMED.map(({ at, id }) => [ids[at]!, id] as const);
const pairsOf = (pairs: readonly (readonly [unknown, unknown])[]) => pairs.map(pair => pair.join(' ')).sort();

test.run();
