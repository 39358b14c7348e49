/** The sample is what sample/README.md says, and it is consistent in itself. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pixelOf } from '@nearsky/sky-index';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { releaseColumns } from '../../sample/make/columns.ts';
import { pixel29 } from '../../sample/make/sky.ts';
import { columnNames } from '../../src/core/contract/catalog.ts';
import { CATALOGS } from '../../src/core/contract/catalogs.ts';
import { sample, withDirectory } from '../directory.ts';
import { runtimeArgs } from '../runtime.ts';

const test = suite('e2e/sample');

const files = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter(file => statSync(join(directory, file)).isFile())
    .sort();

const properties = (catalog: string) =>
  new Map(
    readFileSync(join(sample, 'catalogs', catalog, 'hats.properties'), 'utf8')
      .split('\n')
      .filter(line => line.includes('='))
      .map(line => line.split(/=(.*)/s, 2) as [string, string]),
  );

/** The non-zero pixels of a NESTED map of counts, as the files that make.ts writes lay them out. */
function readMap(file: string, explicit: boolean): Map<number, number> {
  const bytes = readFileSync(file);
  const header = bytes.toString('latin1', 2880, 5760);
  const rows = Number(/NAXIS2 {2}= +(\d+)/.exec(header)![1]);
  const map = new Map<number, number>();
  for (let row = 0; row < rows; row++) {
    const at = 5760 + row * 8;
    const count = explicit ? bytes.readInt32BE(at + 4) : Number(bytes.readBigInt64BE(at));
    if (count) map.set(explicit ? bytes.readInt32BE(at) : row, count);
  }
  return map;
}

test('is at most 5 MB', () => {
  const bytes = files(sample).reduce((sum, file) => sum + statSync(join(sample, file)).size, 0);
  assert.ok(bytes <= 5_000_000, `${bytes} bytes`);
});

for (const { name, idColumn, raColumn, decColumn, footprintOrder, columns } of CATALOGS) {
  test(`${name}: each row lies in its partition, and the map counts the rows`, async () => {
    const directory = join(sample, 'catalogs', name);
    const [, ...partitions] = readFileSync(join(directory, 'partition_info.csv'), 'utf8').trim().split('\n');
    const listed = partitions.map(line => `Norder=${line.split(',')[0]}/Dir=0/Npix=${line.split(',')[1]}.parquet`);
    assert.equal(files(join(directory, 'dataset')), listed.sort());
    const counts = new Map<number, number>();
    const filled = new Set<string>();
    const ids = new Set<unknown>();
    for (const path of listed) {
      const [order, ipix] = path
        .match(/\d+/g)!
        .map(Number)
        .filter((_, i) => i !== 1) as [number, number];
      const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(directory, 'dataset', path)) });
      let last = -1n;
      for (const row of rows) {
        const [ra, dec] = [row[raColumn], row[decColumn]] as [number, number];
        assert.is(row._healpix_29, pixel29(ra, dec));
        assert.ok(row._healpix_29 >= last, 'sorted by _healpix_29');
        last = row._healpix_29;
        assert.is(pixelOf(order, ra, dec), ipix);
        const pixel = pixelOf(footprintOrder, ra, dec);
        counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
        ids.add(row[idColumn]);
        for (const column of columnNames({ columns })) if (row[column] != null) filled.add(column);
      }
    }
    assert.is(ids.size, Number(properties(name).get('hats_nrows')), 'rows, each with an id of its own');
    assert.equal([...filled].sort(), columnNames({ columns }).sort(), 'every payload column has a value in some row');
    const map = join(directory, 'point_map.fits');
    assert.is(existsSync(map), name !== 'skymapper_dr4');
    if (existsSync(map))
      assert.equal(readMap(map, name !== 'des_y6_gold'), new Map([...counts].sort(([a], [b]) => a - b)));
  });
}

test('some catalog has partitions of different orders', () => {
  const orders = CATALOGS.map(({ name }) => {
    const lines = readFileSync(join(sample, 'catalogs', name, 'partition_info.csv'), 'utf8')
      .trim()
      .split('\n')
      .slice(1);
    return new Set(lines.map(line => line.split(',')[0])).size;
  });
  assert.ok(orders.some(count => count > 1));
});

/** Hashes of the names and types of the columns as the releases have them. The lists may not be passed on; their hashes tell as much. */
const COLUMN_HASHES = {
  gaia_dr3: '1fe9db0834a245f266691e8c089a825da0e4e9506fdd47467bff63256c3464f3',
  des_y6_gold: 'bf1d561d664168f648cb8cfa8ad9f36623ab704d1de6eed826aa50994c316e51',
  delve_dr3_gold: 'd5548838ed9882902998df8cbeca941bbddb4cc2d6bdaeb8ccbc1d969f00e1aa',
  skymapper_dr4: '053e2c457eb4eb70301f498bf65c5a98ebd3427949191411ed9dadd502508b5a',
};

test('has the columns and types of the releases', async () => {
  for (const { name } of CATALOGS) {
    const lines = (await releaseColumns(name)).map(column => `${column.name} ${column.arrow}\n`);
    assert.is(
      createHash('sha256').update(lines.join('')).digest('hex'),
      COLUMN_HASHES[name as keyof typeof COLUMN_HASHES],
    );
  }
});

test('the first object has one star in every catalog: magnitudes that agree', async () => {
  const rowOf = async (catalog: string, column: string, id: bigint) => {
    const directory = join(sample, 'catalogs', catalog, 'dataset');
    for (const path of files(directory)) {
      const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(directory, path)) });
      const row = rows.find(each => each[column] === id);
      if (row) return row as Record<string, number>;
    }
    throw new Error(`${catalog} has no ${id}`);
  };
  const gaia = await rowOf('gaia_dr3', 'source_id', 9_000_000_000_001_000_001n);
  const des = await rowOf('des_y6_gold', 'COADD_OBJECT_ID', 9_000_000_000_002_000_001n);
  const delve = await rowOf('delve_dr3_gold', 'COADD_OBJECT_ID', 9_000_000_000_002_000_001n);
  const skymapper = await rowOf('skymapper_dr4', 'object_id', 9_000_000_000_003_000_001n);
  for (const band of ['G', 'R', 'I', 'Z']) {
    const magnitudes = [
      des[`WAVG_MAG_PSF_${band}`]!,
      delve[`WAVG_MAG_PSF_${band}`]!,
      skymapper[`${band.toLowerCase()}_psf`]!,
    ];
    assert.ok(Math.max(...magnitudes) - Math.min(...magnitudes) < 0.15, `${band}: ${magnitudes}`);
  }
  // The polynomials G - r and G - i in BP - RP of Gaia EDR3 to SDSS, for stars.
  const colour = gaia.phot_bp_mean_mag! - gaia.phot_rp_mean_mag!;
  const minus = (...terms: number[]) => terms.reduce((sum, term, power) => sum + term * colour ** power, 0);
  const expected = gaia.phot_g_mean_mag! - minus(-0.09837, 0.08592, 0.1907, -0.1701, 0.02263);
  assert.ok(Math.abs(des.WAVG_MAG_PSF_R! - expected) < 0.05, `r ${des.WAVG_MAG_PSF_R}, expected ${expected}`);
  const expectedI = gaia.phot_g_mean_mag! - minus(-0.293, 0.6404, -0.09609, -0.002104);
  assert.ok(Math.abs(des.WAVG_MAG_PSF_I! - expectedI) < 0.05, `i ${des.WAVG_MAG_PSF_I}, expected ${expectedI}`);
  assert.equal([des.EXT_MASH, delve.EXT_MASH, des.BDF_T].map(Number), [0, 0, 0], 'a point source');
});

test('is made again, byte for byte', () =>
  withDirectory(async directory => {
    const made = spawnSync(process.execPath, [...runtimeArgs, join(sample, 'make.ts'), directory]);
    assert.is(made.status, 0, String(made.stderr));
    for (const part of ['alerts', 'catalogs', 'tns']) {
      assert.equal(files(join(directory, part)), files(join(sample, part)));
      for (const file of files(join(directory, part))) {
        const same = readFileSync(join(directory, part, file)).equals(readFileSync(join(sample, part, file)));
        assert.ok(same, `${part}/${file} differs`);
      }
    }
  }));

test('labels every alert that no broker sent', () => {
  for (const file of files(join(sample, 'alerts'))) {
    for (const line of readFileSync(join(sample, 'alerts', file), 'utf8')
      .trim()
      .split('\n')) {
      const ours = file === 'antares.ndjson' || /\b9000000000000000\d{3}\b/.test(line) || !line.includes('": ');
      assert.is(line.includes('nearsky_sample'), ours, `${file}: ${line.slice(0, 80)}`);
    }
  }
});

test.run();
