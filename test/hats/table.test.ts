import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CatalogError, openHats } from '@nearsky/hats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fixtures, openLocalParquet, published, rejection } from '../core/catalogs/support.ts';
import { writeHats } from '../core/catalogs/write_hats.ts';
import { withDirectory } from '../directory.ts';
import { randomSky } from '../oracle/skies.ts';

const test = suite('hats');

async function pixelsOf(location: string): Promise<string> {
  return (await openHats(location)).partitions.map(({ order, ipix }) => `${order}/${ipix}`).join(' ');
}

async function refusalOf(location: string): Promise<string> {
  const error = await rejection(openHats(location));
  assert.instance(error, CatalogError);
  return error.message;
}

const MIXED = '0/4 1/47 2/176 2/177 2/178 2/179 2/180 2/181 2/182 2/183 2/184 2/185 2/186 2/187';

test('a collection opens its primary table', async () => {
  const table = await openHats(join(fixtures, 'small_sky_o1_collection'));
  assert.is(table.files.location, join(fixtures, 'small_sky_o1_collection', 'small_sky_order1'));
  assert.is(table.type, 'object');
  assert.is(table.properties.get('hats_nrows'), '131');
  assert.equal(table.partitions[0], { order: 1, ipix: 44, files: ['dataset/Norder=1/Dir=0/Npix=44.parquet'] });
  assert.is(table.partitions.length, 4);
});

test('a collection may name its primary table by an absolute path', () =>
  withDirectory(async directory => {
    const primary = join(fixtures, 'small_sky_npix_as_dir');
    writeFileSync(join(directory, 'collection.properties'), `hats_primary_table_url=${primary}\n`);
    assert.is((await openHats(directory)).files.location, primary);
  }));

test('another suffix, and partitions as folders', async () => {
  const alternative = await openHats(join(fixtures, 'small_sky_npix_alt_suffix'));
  assert.equal(alternative.partitions[0]!.files, ['dataset/Norder=0/Dir=0/Npix=11.parq']);
  const folder = await openHats(join(fixtures, 'small_sky_npix_as_dir'));
  assert.equal(folder.partitions[0]!.files, ['dataset/Norder=0/Dir=0/Npix=11/part0.parquet']);
});

test('partitions of mixed orders, from partition_info.csv, from _metadata, and from the directories', () =>
  withDirectory(async directory => {
    cpSync(join(fixtures, 'small_sky_source'), directory, { recursive: true });
    assert.is(await pixelsOf(directory), MIXED);
    rmSync(join(directory, 'partition_info.csv'));
    assert.is(await pixelsOf(directory), MIXED);
    rmSync(join(directory, 'dataset/_metadata'));
    assert.is(await pixelsOf(directory), '0/4');
    rmSync(join(directory, 'dataset'), { recursive: true });
    assert.is(await pixelsOf(directory), '');
  }));

test('listings of every layout', () =>
  withDirectory(async directory => {
    const { points } = randomSky(3, 500);
    const options = {
      name: 'layout',
      columns: [
        { name: 'ra', type: 'DOUBLE', data: points.ra },
        { name: 'dec', type: 'DOUBLE', data: points.dec },
      ],
      ra: 'ra',
      dec: 'dec',
      maxRows: 40,
      minOrder: 1,
      partitionInfo: false,
      skymapOrder: null,
    } as const;
    for (const suffix of ['.parquet', '.parq', '/']) {
      const location = join(directory, `suffix${suffix.replace('/', '-')}`);
      const written = writeHats(location, { ...options, suffix });
      // A file that a tool left behind is not a partition.
      const { order } = written[0]!;
      const free = [...Array(12 * 4 ** order).keys()].find(
        ipix => !written.some(other => other.order === order && other.ipix === ipix),
      );
      const folder = join(location, `dataset/Norder=${order}/Dir=0`);
      for (const name of [`.Npix=${free}.parquet`, `Npix=${free}.parquet.crc`, '_SUCCESS'])
        writeFileSync(join(folder, name), '');
      const { partitions } = await openHats(location);
      const expected = written.map(({ order, ipix, files }) => ({ order, ipix, files }));
      assert.equal(
        partitions,
        expected.sort((a, b) => a.order - b.order || a.ipix - b.ipix),
      );
      assert.ok(new Set(partitions.map(({ order }) => order)).size > 3);
      // But a partition with another suffix would be missed.
      const other = suffix === '.parquet' ? '.parq' : '.parquet';
      writeFileSync(join(folder, `Npix=${free}${other}`), '');
      assert.match(await refusalOf(location), `Npix=${free}${other}`);
    }
  }));

test('an empty partition list is an empty table, whatever else lies there', async () => {
  const margin = await openHats(join(fixtures, 'small_sky_o1_collection/small_sky_order1_margin_10arcs'));
  assert.is(margin.type, 'margin');
  assert.equal(margin.partitions, []);
});

test('a properties file without the order or a type, under its older name', () =>
  withDirectory(async directory => {
    cpSync(join(fixtures, 'small_sky_npix_as_dir'), directory, { recursive: true });
    rmSync(join(directory, 'hats.properties'));
    writeFileSync(join(directory, 'properties'), 'obs_collection=x\nhats_npix_suffix=/\n');
    const table = await openHats(directory);
    assert.is(table.type, 'object');
    assert.is(table.partitions[0]!.files.length, 1);
  }));

test('what is no table is refused with its reason', () =>
  withDirectory(async directory => {
    assert.match(await refusalOf(join(directory, 'missing')), /there is no such directory/);
    assert.match(await refusalOf(directory), /contains none of hats\.properties, properties, collection\.properties/);
    writeFileSync(join(directory, 'catalog_info.json'), '{}');
    assert.match(await refusalOf(directory), /HiPSCat catalog.*convert it with hats-import/);
    assert.match(await refusalOf(join(fixtures, 'small_sky_source_object_index')), /HATS index table/);
    writeFileSync(join(directory, 'collection.properties'), 'obs_collection=x\n');
    assert.match(await refusalOf(directory), /no hats_primary_table_url/);
  }));

test('a partition that cannot be is refused', () =>
  withDirectory(async directory => {
    writeFileSync(join(directory, 'hats.properties'), 'dataproduct_type=object\n');
    const info = (text: string) => writeFileSync(join(directory, 'partition_info.csv'), text);
    info('a,b\n1,2\n');
    assert.match(await refusalOf(directory), /no columns Norder and Npix: first line is a,b/);
    for (const line of ['14,3', '1,48', '-1,0', '1,x', '1,']) {
      info(`Norder,Npix\n${line}\n`);
      assert.match(await refusalOf(directory), /must have order 0 to 13 and a pixel of that order/, line);
    }
    info('Npix,num_rows,Norder\n\n7,100,1\n7,100,1\n');
    assert.is(await pixelsOf(directory), '1/7');
    info('Norder,Npix\n9,1234567\n');
    assert.equal((await openHats(directory)).partitions[0]!.files, [
      'dataset/Norder=9/Dir=1230000/Npix=1234567.parquet',
    ]);
  }));

test('hidden and unfinished files in a partition folder are no parts', () =>
  withDirectory(async directory => {
    cpSync(join(fixtures, 'small_sky_npix_as_dir'), directory, { recursive: true });
    const folder = join(directory, 'dataset/Norder=0/Dir=0/Npix=11');
    for (const name of ['_SUCCESS', '.part1.parquet.crc', '_part2.parquet', 'notes.txt'])
      writeFileSync(join(folder, name), '');
    mkdirSync(join(folder, 'deeper'));
    renameSync(join(folder, 'part0.parquet'), join(folder, 'a.parquet'));
    assert.equal((await openHats(directory)).partitions[0]!.files, ['dataset/Norder=0/Dir=0/Npix=11/a.parquet']);
  }));

test('our writer gives the order-29 pixels of the reference implementation', () =>
  withDirectory(async directory => {
    const original = join(fixtures, 'small_sky_npix_alt_suffix/dataset/Norder=0/Dir=0/Npix=11.parq');
    const columnsOf = async (path: string) => {
      const file = await openLocalParquet(path);
      const [healpix, ra, dec] = [
        await file.readValues('_healpix_29', [...Array(131).keys()]),
        await file.readNumbers('ra', 0),
        await file.readNumbers('dec', 0),
      ];
      file.close();
      return { healpix, ra, dec };
    };
    const expected = await columnsOf(original);
    const [partition] = writeHats(directory, {
      name: 'again',
      columns: [
        { name: 'ra', type: 'DOUBLE', data: expected.ra },
        { name: 'dec', type: 'DOUBLE', data: expected.dec },
      ],
      ra: 'ra',
      dec: 'dec',
      maxOrder: 0,
    });
    assert.equal(await columnsOf(join(directory, partition!.files[0]!)), expected);
  }));

test('every catalog in the published data opens, or is refused for the right reason', async () => {
  const hats = join(published, 'hats');
  assert.is(await pixelsOf(join(hats, 'small_sky_source')), MIXED);
  assert.is(await pixelsOf(join(hats, 'small_sky_o1_collection')), '1/44 1/45 1/46 1/47');
  assert.is(
    await pixelsOf(join(hats, 'small_sky_o1_collection/small_sky_order1_margin')),
    '0/4 0/7 0/8 1/44 1/45 1/46 1/47',
  );
  assert.is(await pixelsOf(join(hats, 'small_sky_npix_alt_suffix')), '0/11');
  assert.is(await pixelsOf(join(hats, 'small_sky_npix_as_dir')), '0/11');
  assert.is(await pixelsOf(join(hats, 'small_sky_healpix13')), '0/11');
  assert.is((await openHats(join(hats, 'square_map'))).type, 'map');
  assert.is(await pixelsOf(join(hats, 'macauff/gaia_hats_data')), '3/512');
  assert.is(await pixelsOf(join(hats, 'macauff/gaia_hats_data/gaia_cone_5arcs')), '');
  assert.match(await refusalOf(join(hats, 'small_sky_source_object_index')), /HATS index table/);
  assert.match(await refusalOf(join(hats, 'small_sky_o1_collection/small_sky_order1_id_index')), /HATS index table/);
  assert.match(await refusalOf(join(hats, 'misc')), /contains none of/);
});

test.run();
