/** The output of `nearsky catalog` about rows and files that cannot give a match. */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { catalogDefinition } from '../../src/core/contract/catalogs.ts';
import { readCatalog } from '../../src/core/store/catalog_registration.ts';
import { openStore } from '../../src/core/store/store.ts';
import { catalogColumns } from '../core/catalogs/small_catalog.ts';
import { writeHats } from '../core/catalogs/write_hats.ts';
import { TestApp } from '../core/http/support.ts';
import { withDirectory } from '../directory.ts';
import { nearsky, start } from './in_process.ts';

const test = suite('commands/catalog');

/** Seven rows, of which three have no usable position and one has no id. */
function writeGaia(location: string) {
  const definition = catalogDefinition('gaia_dr3')!;
  const columns = catalogColumns(
    definition,
    [10, -10, 200, 20, null, 30, Number.POSITIVE_INFINITY],
    [-5, -5.5, 60, Number.NaN, 1, 91, 2],
  );
  const [id, ...others] = columns;
  const ids = { ...id!, data: Array.from(id!.data, (value, row) => (row === 2 ? null : value)) };
  return writeHats(location, { name: 'gaia', columns: [ids, ...others], ra: 'ra', dec: 'dec', minOrder: 1 });
}

test('rows that can be no source, or that the properties state and the files lack, are shown; --quick looks at no row', () =>
  withDirectory(async directory => {
    const [data, location] = [join(directory, 'data'), join(directory, 'gaia')];
    writeGaia(location);
    for (const file of ['hats.properties', 'properties']) appendFileSync(join(location, file), 'hats_nrows=9\n');
    const counts = { rows: 7, rows_stated: 9, rows_without_position: 4, rows_without_id: 1 };
    const countsOf = (answer: Record<string, unknown>) =>
      Object.fromEntries(Object.keys(counts).map(name => [name, answer[name]]));
    const add = (...more: string[]) => nearsky('catalog', 'add', 'gaia_dr3', location, '--data', data, ...more);
    assert.equal(countsOf(await add()), counts);
    const listed = (await start(['catalog', 'list', '--data', data]).finished).stdout;
    assert.match(listed, /rows +7, but hats_nrows states 9: files may be missing/);
    assert.match(listed, /rows without a position +4\n +rows without an id +1/);
    const check = await nearsky('catalog', 'check', 'gaia_dr3', '--data', data);
    assert.equal([check.rows, check.without_position, check.without_id, check.problems], [7, 4, 1, []]);
    const unknown = { rows: 9, rows_stated: 9, rows_without_position: null, rows_without_id: null };
    assert.equal(countsOf(await add('--quick')), unknown);
    for (const file of ['hats.properties', 'properties']) appendFileSync(join(location, file), 'hats_nrows=5\n');
    const grown = await start(['catalog', 'add', 'gaia_dr3', location, '--data', data]).finished;
    assert.match(grown.stdout, /rows +7, but hats_nrows states 5: files may have been added since/);
  }));

test('add looks at every file, and names those that cannot be used; --quick looks only whether they are there', () =>
  withDirectory(async directory => {
    const [data, location] = [join(directory, 'data'), join(directory, 'gaia')];
    const last = join(location, writeGaia(location).at(-1)!.files[0]!);
    const add = (...more: string[]) =>
      start(['catalog', 'add', 'gaia_dr3', location, '--data', data, ...more]).finished;
    writeFileSync(last, 'no Parquet file');
    const refused = await add();
    assert.is(refused.code, 1);
    assert.ok(refused.stderr.includes(last), refused.stderr);
    assert.is((await add('--quick')).code, 0);
    rmSync(last);
    assert.match((await add('--quick')).stderr, /files of its partitions are missing/);
  }));

test('remove: the catalog is searched no more, what was found in it stays, and it may be added again; ids are read when it is added', () =>
  withDirectory(async directory => {
    const [data, location] = [join(directory, 'data'), join(directory, 'mine')];
    const columns = [
      { name: 'id', type: 'INT64' as const, data: [7n, 8n] },
      { name: 'ra', type: 'DOUBLE' as const, data: [10, 20] },
      { name: 'dec', type: 'DOUBLE' as const, data: [1, 2] },
      { name: 'mag', type: 'DOUBLE' as const, data: [15, 16] },
    ];
    writeHats(location, { name: 'mine', columns, ra: 'ra', dec: 'dec', minOrder: 0 });
    const objects = [{ name: 'id', type: 'INT64' as const, data: [1n, 2n] }, ...columns.slice(1, 3)];
    writeFileSync(join(directory, 'objects.parquet'), Buffer.from(parquetWriteBuffer({ columnData: objects })));
    const table = ['ingest', '--table', join(directory, 'objects.parquet'), '--id', 'id', '--ra', 'ra', '--dec', 'dec'];
    await nearsky(...table, '--data', data);
    const add = () =>
      nearsky('catalog', 'add', 'mine', location, '--id', 'id', '--footprint', 'all-sky', '--data', data);
    assert.is(((await add()).coverage as { sky_fraction: number }).sky_fraction, 1);
    assert.is((await nearsky('crossmatch', '--data', data)).recorded, 2);
    assert.equal(await nearsky('catalog', 'remove', 'mine', '--data', data), { removed: 'mine' });
    const again = await start(['catalog', 'remove', 'mine', '--data', data]).finished;
    assert.equal([again.code, /there is no registered catalog "mine"/.test(again.stderr)], [2, true], again.stderr);
    for (const format of ['json', 'csv', 'votable', 'parquet'])
      for (const detail of ['matches', 'full']) {
        const { body } = await answerOf(data, `/api/objects/1?detail=${detail}&format=${format}`);
        if (format === 'json') assert.match(body, /"catalog_name": "mine"/, detail);
      }
    await nearsky('stats', '--data', data);
    await add();
    assert.match((await answerOf(data, '/api/objects/1?detail=full')).body, /"mag": 15/);
    const texts = join(directory, 'texts');
    const named = columns.map(column =>
      column.name === 'id' ? { name: 'id', type: 'STRING' as const, data: ['a 1', 'b'] } : column,
    );
    writeHats(texts, { name: 'texts', columns: named, ra: 'ra', dec: 'dec', minOrder: 0 });
    const description = join(directory, 'texts.json');
    writeFileSync(description, '{"idType": "int64"}');
    for (const more of [[], ['--quick']]) {
      const add = ['catalog', 'add', 'texts', texts, '--id', 'id', '--description', description, '--data', data];
      const refused = await start([...add, ...more]).finished;
      assert.match(refused.stderr, /column id must hold 64-bit integers \((?:a 1|b) was found\)/);
    }
  }));

/** The places of the objects 1 to 5. */
const PLACES = [10, 20, 30, 40, 50].map(ra => ({ ra, dec: 1 }));

/** A copy of gaia_dr3 with the sources of these ids near the objects; the second of two at a place is 0.5" away. */
function writeRelease(location: string, sources: readonly (readonly [id: bigint, object: number, dec?: number])[]) {
  const ra = sources.map(([, object]) => PLACES[object - 1]!.ra);
  const dec = sources.map(([, , dec = 1]) => dec);
  const ids = sources.map(([id]) => id);
  const columns = catalogColumns(catalogDefinition('gaia_dr3')!, ra, dec, ids);
  return writeHats(location, { name: 'gaia', columns, ra: 'ra', dec: 'dec', minOrder: 0 });
}

function writeObjects(file: string, ids: readonly bigint[], places: readonly { ra: number; dec: number }[]): string {
  const columns = [
    { name: 'id', type: 'INT64' as const, data: [...ids] },
    { name: 'ra', type: 'DOUBLE' as const, data: places.map(({ ra }) => ra) },
    { name: 'dec', type: 'DOUBLE' as const, data: places.map(({ dec }) => dec) },
  ];
  writeFileSync(file, Buffer.from(parquetWriteBuffer({ columnData: columns })));
  return file;
}

test('replace: new objects use the next release, older matches keep theirs; compare says what became of them', () =>
  withDirectory(async directory => {
    const data = ['--data', join(directory, 'data')];
    const [first, second, broken] = ['first', 'second', 'broken'].map(name => join(directory, name)) as [
      string,
      string,
      string,
    ];
    const moved = 1 + 0.5 / 3600;
    writeRelease(first, [
      [1n, 1],
      [2n, 2],
      [4n, 4],
      [5n, 5, moved],
    ]);
    writeRelease(second, [
      [1n, 1],
      [30n, 3],
      [40n, 4, 1 + 0.1 / 3600],
      [50n, 5],
    ]);
    const [partition] = writeRelease(broken, [[1n, 1]]);
    writeFileSync(join(broken, partition!.files[0]!), 'no Parquet file');
    const columns = ['--id', 'id', '--ra', 'ra', '--dec', 'dec', ...data];
    const ingest = (name: string, ids: readonly bigint[], places: readonly { ra: number; dec: number }[]) =>
      nearsky('ingest', '--table', writeObjects(join(directory, name), ids, places), ...columns);
    const refusal = async (...args: string[]) => {
      const { code, stderr } = await start(['catalog', ...args, ...data]).finished;
      return { code, stderr };
    };
    const replace = ['replace', 'gaia_dr3', second];
    await ingest('objects.parquet', [1n, 2n, 3n, 4n, 5n], PLACES);
    const unknown = await refusal(...replace, '--release', 'Gaia DR4');
    assert.equal([unknown.code, /there is no registered catalog "gaia_dr3"/.test(unknown.stderr)], [2, true]);
    await nearsky('catalog', 'add', 'gaia_dr3', first, ...data);
    await nearsky('crossmatch', ...data);

    const same = await refusal(...replace);
    assert.equal([same.code, /is "Gaia DR3", too: name the new one with --release/.test(same.stderr)], [2, true]);
    assert.is((await refusal(...replace, '--release', 'a\nb')).code, 2);
    const unreadable = await refusal('replace', 'gaia_dr3', broken, '--release', 'Gaia DR4');
    assert.is(unreadable.code, 1);
    const listed = async () => {
      const [{ location, release, replaced_release }] = (await nearsky('catalog', 'list', ...data)) as never as [
        Record<string, unknown>,
      ];
      return [location, release, replaced_release];
    };
    assert.equal(await listed(), [first, 'Gaia DR3', undefined]);

    await nearsky('catalog', ...replace, '--release', 'Gaia DR4', ...data);
    assert.equal(await listed(), [second, 'Gaia DR4', 'Gaia DR3']);
    const unnamed = await refusal('replace', 'gaia_dr3', first);
    assert.equal([unnamed.code, /is "Gaia DR4", too: name/.test(unnamed.stderr)], [2, true], 'it is not called DR3');
    await ingest('new.parquet', [6n], [PLACES[0]!]);
    await nearsky('crossmatch', ...data);
    const releaseOf = async (id: number) => {
      const { provenance, results, provenance_sets } = JSON.parse(
        (await answerOf(join(directory, 'data'), `/api/objects/${id}?detail=full`)).body,
      );
      assert.equal(provenance.catalogs[0], { name: 'gaia_dr3', release: 'Gaia DR4' });
      const { crossmatch, matches } = results[0].objects[0];
      for (const { provenance_set, catalog_release } of matches)
        assert.is(catalog_release, provenance_sets[provenance_set].catalogs[0].release);
      return [crossmatch, ...matches].map(({ provenance_set }) => provenance_sets[provenance_set].catalogs[0].release);
    };
    assert.equal(await releaseOf(6), ['Gaia DR4', 'Gaia DR4']);
    assert.equal(await releaseOf(2), ['Gaia DR3', 'Gaia DR3']);
    const compare = async (...more: string[]) => {
      const { compared_with, ...counts } = await nearsky('catalog', 'compare', 'gaia_dr3', ...more, ...data);
      return [counts, (compared_with as Record<string, Record<string, unknown>>)['Gaia DR3']];
    };
    const head = { catalog: 'gaia_dr3', release: 'Gaia DR4' };
    assert.equal(await compare(), [{ ...head, done: 1, outstanding: 5 }, undefined]);
    assert.is((await nearsky('stats', '--again', ...data)).again, 5);

    await nearsky('crossmatch', '--again', ...data);
    assert.equal(await releaseOf(2), ['Gaia DR4'], 'a match that is gone is history');
    const compared = { objects: 5, other_settings: 0, unread: 0, kept: 1 };
    const examples = { new: ['3', '5'], gone: ['2', '5'], changed_id: ['4'] };
    const done = { ...head, done: 6, outstanding: 0 };
    assert.equal(await compare(), [done, { ...compared, new: 2, gone: 2, changed_id: 1, examples }]);
    const wider = { new: ['3'], gone: ['2'], changed_id: ['4', '5'] };
    assert.equal(await compare('--within', '0.6'), [
      done,
      { ...compared, new: 1, gone: 1, changed_id: 2, examples: wider },
    ]);
    const { stdout } = await start(['catalog', 'compare', 'gaia_dr3', ...data]).finished;
    assert.match(
      stdout,
      /compared with +Gaia DR3\n +objects +5\n +matches kept +1\n +new matches +2, for example of 3, 5/,
    );
    for (const within of ['x', '-1', '']) assert.is((await refusal('compare', 'gaia_dr3', '--within', within)).code, 2);

    await nearsky('catalog', 'add', 'gaia_dr3', first, '--release', 'Gaia DR4', ...data);
    assert.equal(await listed(), [first, 'Gaia DR4', 'Gaia DR3'], 'a catalog that is moved');
    const back = await refusal('add', 'gaia_dr3', first);
    assert.match(back.stderr, /the release of gaia_dr3 was Gaia DR4/);
    assert.equal(await listed(), [first, 'Gaia DR3', undefined]);
  }));

test('replace: a catalog with a description of its own keeps it, unless another is given', () =>
  withDirectory(async directory => {
    const data = ['--data', join(directory, 'data')];
    const location = join(directory, 'mine');
    const columns = ['id', 'ra', 'dec', 'mag', 'size'].map(name => ({
      name,
      type: name === 'id' ? ('INT64' as const) : ('DOUBLE' as const),
      data: name === 'id' ? [7n] : [10],
    }));
    writeHats(location, { name: 'mine', columns, ra: 'ra', dec: 'dec', minOrder: 0 });
    const file = join(directory, 'mine.json');
    writeFileSync(file, JSON.stringify({ release: 'One', idColumn: 'id', columns: [{ name: 'mag' }] }));
    await nearsky('catalog', 'add', 'mine', location, '--description', file, ...data);
    const stored = async () => {
      await using store = openStore(join(directory, 'data'), 'read');
      const { definition, release, replaced } = readCatalog(store.databases, 'mine')!;
      const names = definition!.columns.map(({ name }) => name);
      return { release: definition!.release, names, more: [release, replaced] };
    };
    const { release, replaced_release, id_column } = await nearsky(
      ...['catalog', 'replace', 'mine', location, '--release', 'Two', ...data],
    );
    assert.equal([release, replaced_release, id_column], ['Two', 'One', 'id']);
    assert.equal(await stored(), { release: 'Two', names: ['mag'], more: [undefined, 'One'] });
    writeFileSync(file, JSON.stringify({ release: 'Two', idColumn: 'id' }));
    const again = ['catalog', 'replace', 'mine', location, '--description', file, ...data];
    assert.is((await start(again).finished).code, 2);
    writeFileSync(file, JSON.stringify({ release: 'Three', idColumn: 'id' }));
    await nearsky(...again);
    assert.equal(await stored(), { release: 'Three', names: ['ra', 'dec', 'mag', 'size'], more: [undefined, 'Two'] });
  }));

async function answerOf(data: string, path: string): Promise<{ body: string }> {
  const app = await new TestApp(data).ready();
  try {
    const { status, text } = await app.get(path);
    assert.is(status, 200, `${path}: ${text}`);
    return { body: text };
  } finally {
    await app.app.close();
  }
}

test.run();
