/** A catalog whose ids are texts, in every answer: each id is there with all its characters. The catalog is written by hats-import. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { OBJECTS } from '../../capabilities/crossmatch/text_ids.ts';
import type { World } from '../../capabilities/crossmatch/world.ts';
import { nearsky } from '../../commands/in_process.ts';
import { exportLines, importLines } from '../../commands/lines.ts';
import { needs } from '../../needs.ts';
import { pythonWith, runPython, whyNoPython } from '../../python.ts';
import type { Json } from './support.ts';
import { cellsOf, IDS, NAMED, withNames } from './text_ids.ts';

const test = suite('http/text ids');

const inputsOf = (ids: readonly bigint[]) =>
  JSON.stringify({ inputs: ids.map(id => ({ kind: 'id', diaObjectId: `${id}` })), detail: 'full' });
const post = (body: string, type = 'application/json') => ({
  method: 'POST',
  headers: { 'Content-Type': type },
  body,
});

test('answers in JSON, the objects of a source, and the sources near a position [Catalogs; Sources]', () =>
  withNames(async ({ ids, fetch, app }) => {
    const looked: Json = await (await fetch('/api/lookup', post(inputsOf(ids)))).json();
    const matches = looked.results.map(({ objects }: Json) => objects[0].matches.map((m: Json) => m.catalog_source_id));
    assert.equal(
      matches,
      OBJECTS.map(({ source }) => (source ? [source.id] : [])),
    );
    for (const { at, id } of NAMED) {
      const listed: Json = await (await fetch(`/api/sources/quasars/${encodeURIComponent(id)}`)).json();
      assert.equal([listed.catalog_name, listed.catalog_source_id], ['quasars', id]);
      assert.ok(
        listed.objects.some((object: Json) => object.diaObjectId_str === `${ids[at]}`),
        id,
      );
      const { ra, dec } = OBJECTS[at]!;
      const near: Json = await (await fetch(`/api/sources?ra=${ra}&dec=${dec}&radius_arcsec=1`)).json();
      assert.is(near.sources[0].catalog_source_id, id);
    }
    for (const [wrong, shown] of [
      ['x'.repeat(81), 'x'],
      ['%20', ' '],
      ['a%0Ab', 'a'],
      ['%FF', '\ufffd'],
    ] as const) {
      const response = await app.app.fetch(new Request(`http://nearsky.test/api/sources/quasars/${wrong}`));
      const body: Json = await response.json();
      assert.equal([response.status, body.param], [400, 'catalog_source_id'], shown);
      assert.match(body.message, /a text of 1 to 80 bytes in UTF-8/);
    }
    const document: Json = await (await fetch('/openapi.json')).json();
    const [, id] = document.paths['/api/sources/{catalog}/{catalog_source_id}'].get.parameters;
    assert.equal([id.schema.maxLength, id.schema.pattern], [80, undefined]);
    const described: Json = await (await fetch('/api/describe')).json();
    assert.match(described.catalogs.at(-1).catalog_source_id.description, /^The name of quasars, a text; unique/);
  }));

test('tables of objects in each format', () =>
  withNames(async ({ ids, fetch }) => {
    const named = NAMED.map(({ at }) => ids[at]!);
    for (const format of ['csv', 'ndjson', 'votable', 'parquet', 'arrow']) {
      const response = await fetch(`/api/lookup?format=${format}`, post(inputsOf(named)));
      assert.equal(await cellsOf(response, 'quasars_source_id'), IDS, format);
    }
    for (const [at, { ra, dec }] of OBJECTS.entries()) {
      const cone = await fetch(`/vo/scs/quasars?RA=${ra}&DEC=${dec}&SR=0.0003`);
      const cells = await cellsOf(cone, 'name');
      const expected = OBJECTS[at]!.source?.id;
      assert.ok(expected === undefined || cells.includes(expected), `${expected} is not among ${cells}`);
    }
  }));

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

test('an export, imported elsewhere', () =>
  withNames(async ({ world }) => {
    const lines = await exportLines(join(world.directory, 'data'));
    assert.is((await importLines(join(world.directory, 'other'), lines)).with_unread_fields, 0);
    assert.equal(await exportLines(join(world.directory, 'other')), lines);
    const matches = lines.map(line => JSON.parse(line)).filter(({ type }) => type === 'match');
    assert.equal(matches.map(({ catalog_source_id }) => catalog_source_id).sort(), [...IDS].sort());
  }));

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
