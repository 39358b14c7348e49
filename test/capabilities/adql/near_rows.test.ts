/** Rows that are picked from row groups, beside a comparison of each row with the area. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ReadFailure } from '@nearsky/astrotables/files';
import { openParquet, type ParquetFile } from '@nearsky/astrotables/parquet';
import { type FilePositions, openPositions } from '@nearsky/hats/positions';
import { PositionsWriter } from '@nearsky/hats/write_positions';
import { conePixels, pixel24, pixel29 } from '@nearsky/sky-index';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openLocalFile } from '../../../packages/hats/files.ts';
import type { WantedColumn } from '../../../src/capabilities/adql/engine_columns.ts';
import { PickedRows } from '../../../src/capabilities/adql/near_rows.ts';
import { HARD_PLACES, offset, seededRandom } from '../../oracle/skies.ts';

const test = suite<{ directory: string }>('tap/near_rows');

test.before.each(context => {
  context.directory = mkdtempSync(join(tmpdir(), 'nearsky-test-'));
});

test.after.each(({ directory }) => rmSync(directory, { recursive: true }));

const PIXEL = 1n << 26n;
/** Areas are ranges of pixels of order 16. */
const AREA = Float64Array.of(7, 9, 1000, 1001, 2 ** 36, 2 ** 36 + 2);
const isNear = (pixel: bigint | null): boolean => {
  if (pixel === null) return true;
  const coarse = Number(pixel / PIXEL);
  return AREA.some((first, i) => i % 2 === 0 && first <= coarse && coarse < AREA[i + 1]!);
};

const random = seededRandom(7);
const some = <T>(value: T): T | null => (random() < 0.2 ? null : value);
/** The first and last pixel of each range, their neighbours, and many others; neither sorted nor without nulls. */
const EDGES = Array.from(AREA).flatMap(edge => [-1n, 0n].map(step => BigInt(edge) * PIXEL + step));
const PIXELS = [
  ...EDGES,
  null,
  ...Array.from({ length: 5000 }, () => BigInt(Math.floor(random() * 2 ** 31)) * PIXEL * 32n),
]
  .map(pixel => [random(), pixel] as const)
  .sort(([a], [b]) => a - b)
  .map(([, pixel]) => pixel);
const VALUES = {
  id: PIXELS.map((_, i) => 2n ** 62n + BigInt(i)),
  ra: PIXELS.map(() => some(random() < 0.1 ? Number.NaN : 360 * random())),
  flux: PIXELS.map(() => some(Math.fround(random()))),
  count: PIXELS.map(() => some(Math.floor(2 ** 32 * random()) - 2 ** 31)),
  name: PIXELS.map((_, i) => some(`${i % 2 ? '\ufeff' : ''}source ${i % 40} é`)),
  is_star: PIXELS.map(() => some(random() < 0.5)),
};
const COLUMNS = [
  { name: 'ID', type: 'int64', stored: 'id' },
  { name: 'RA', type: 'float64', stored: 'ra' },
  { name: 'flux', type: 'float32', stored: 'flux' },
  { name: 'wide_flux', type: 'float64', stored: 'flux' },
  { name: 'count', type: 'int32', stored: 'count' },
  { name: 'wide_count', type: 'int64', stored: 'count' },
  { name: 'name', type: 'text', stored: 'name' },
  { name: 'is_star', type: 'boolean', stored: 'is_star' },
  { name: 'missing', type: 'float64', stored: undefined },
] satisfies WantedColumn[];

async function written(
  directory: string,
  pixels: readonly (bigint | null)[] = PIXELS,
  name: readonly (string | null)[] = VALUES.name,
): Promise<ParquetFile> {
  const path = join(directory, 'catalog.parquet');
  const column = (name: string, type: string, data: unknown) => ({ name, type, data }) as never;
  const { id, ra, flux, count, is_star } = VALUES;
  const columnData = [
    column('_healpix_29', 'INT64', pixels),
    column('id', 'INT64', id),
    column('ra', 'DOUBLE', ra),
    column('flux', 'FLOAT', flux),
    column('count', 'INT32', count),
    column('name', 'STRING', name),
    column('is_star', 'BOOLEAN', is_star),
  ];
  writeFileSync(
    path,
    new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2000, codec: 'SNAPPY', pageSize: 4000 })),
  );
  return openParquet(openLocalFile(path));
}

test('the rows of an area and those without a pixel, with the values of each type', async ({ directory }) => {
  const file = await written(directory);
  const path = join(directory, 'picked.parquet');
  const picked = new PickedRows(path, COLUMNS, AREA);
  assert.ok(file.rowGroups.length > 1);
  for (const group of file.rowGroups.keys()) assert.is(await picked.take(file, group, COLUMNS), true);
  assert.is(picked.end(), true);
  picked[Symbol.dispose]();
  file.close();
  const rows = [...PIXELS.keys()].filter(row => isNear(PIXELS[row]!));
  assert.is(rows.length, EDGES.length / 2 + 1);
  const copy = await openParquet(openLocalFile(path));
  for (const { name, stored } of COLUMNS) {
    const values = stored && VALUES[stored as keyof typeof VALUES];
    const expected = rows.map(row => {
      const value = values ? values[row]! : null;
      return name === 'wide_count' && value !== null ? BigInt(value as number) : value;
    });
    assert.equal(await copy.readValues(name, [...rows.keys()]), expected, name);
  }
  copy.close();
});

test('stored positions pick the same rows as pixels do, also from a file without pixels', async ({ directory }) => {
  const random = seededRandom(8);
  const places = HARD_PLACES.flatMap(place =>
    Array.from({ length: 200 }, () => offset(place, 3000 * random() ** 2, 2 * Math.PI * random())),
  ).sort((a, b) => pixel24(a.ra, a.dec) - pixel24(b.ra, b.dec));
  const id = BigInt64Array.from(places, (_, row) => BigInt(row));
  const wanted = [{ name: 'id', type: 'int64', stored: 'id' }] satisfies WantedColumn[];
  for (const place of HARD_PLACES) {
    const pixels = conePixels(12, place.ra, place.dec, 30).sort((a, b) => a - b);
    const bounds = Float64Array.from(pixels.flatMap(pixel => [pixel * 4 ** 4, (pixel + 1) * 4 ** 4]));
    const picks: unknown[] = [];
    for (const how of ['pixels', 'both', 'positions']) {
      const path = join(directory, 'places.parquet');
      const columnData = [
        { name: 'id', type: 'INT64' as const, data: id },
        { name: 'ra', type: 'DOUBLE' as const, data: places.map(({ ra }) => ra) },
        { name: 'dec', type: 'DOUBLE' as const, data: places.map(({ dec }) => dec) },
        ...(how === 'positions'
          ? []
          : [{ name: '_healpix_29', type: 'INT64' as const, data: places.map(({ ra, dec }) => pixel29(ra, dec)) }]),
      ];
      writeFileSync(path, new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 1600 })));
      const file = await openParquet(openLocalFile(path));
      const stored = join(directory, 'places.positions');
      {
        using writer = new PositionsWriter(stored);
        for (const group of file.rowGroups.keys())
          writer.addGroup(await file.readNumbers('ra', group), await file.readNumbers('dec', group));
        const { byteLength, version, footerChecksum } = file;
        writer.end({ byteLength, modifiedNs: version!.modifiedNs, footerChecksum: footerChecksum! });
      }
      const positions = openPositions(stored, file) as FilePositions;
      const to = join(directory, 'picked.parquet');
      const picked = new PickedRows(to, wanted, bounds);
      for (const group of file.rowGroups.keys())
        assert.is(await picked.take(file, group, wanted, how === 'pixels' ? undefined : positions), true);
      assert.is(picked.end(), true);
      for (const each of [picked, positions]) each[Symbol.dispose]();
      file.close();
      const copy = await openParquet(openLocalFile(to));
      picks.push(await copy.readValues('id', [...Array(copy.rows).keys()]));
      copy.close();
    }
    assert.equal(picks[1], picks[0]);
    assert.equal(picks[2], picks[0]);
  }
});

test('nothing is taken, and the columns are copied, if many rows are near', async ({ directory }) => {
  const taken = async (file: ParquetFile, columns: readonly WantedColumn[]) => {
    const picked = new PickedRows(join(directory, 'none.parquet'), columns, AREA);
    const took = await picked.take(file, 0, columns);
    assert.is(took && picked.end(), false);
    picked[Symbol.dispose]();
    return took;
  };
  const all = await written(
    directory,
    PIXELS.map((_, i) => (i % 2 ? 8n : 2000n) * PIXEL),
  );
  assert.is(await taken(all, COLUMNS), false);
  all.close();
  const none = await written(
    directory,
    PIXELS.map(() => 2000n * PIXEL),
  );
  assert.is(await taken(none, COLUMNS), true, 'no row is near');
  none.close();
  const long = await written(
    directory,
    PIXELS.map((_, i) => (i % 10 ? 2000n : 8n) * PIXEL),
    PIXELS.map((_, i) => (i < 2000 ? `${i}`.padEnd(100_000) : null)),
  );
  assert.is(await taken(long, COLUMNS), false, 'the rows take 20 MB');
  long.close();
});

test('pixels with a wrong byte: the error names the file', async ({ directory }) => {
  const path = join(directory, 'catalog.parquet');
  const pixels = PIXELS.map((_, i) => (i % 3 ? BigInt(i % 5) * PIXEL : null));
  (await written(directory, pixels)).close();
  const bytes = readFileSync(path);
  const end = bytes.readUInt32LE(bytes.length - 8);
  let failed = 0;
  for (let at = 4; at < Math.min(400, bytes.length - 8 - end); at++) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 0xff;
    writeFileSync(path, damaged);
    const file = await openParquet(openLocalFile(path));
    const picked = new PickedRows(join(directory, 'picked.parquet'), COLUMNS.slice(0, 1), AREA);
    try {
      await picked.take(file, 0, COLUMNS);
    } catch (error) {
      failed++;
      assert.instance(error, ReadFailure);
      assert.ok((error as ReadFailure).message.includes(file.name));
    } finally {
      picked[Symbol.dispose]();
      file.close();
    }
  }
  assert.ok(failed > 0);
});

test.run();
