/** Stored positions of rows: what is found near a position, against a scan of all rows. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openParquet, type ParquetFile } from '@nearsky/astrotables/parquet';
import { openLocalFile } from '@nearsky/hats';
import { FilePositions, openPositions, UnusablePositions } from '@nearsky/hats/positions';
import { PositionsWriter } from '@nearsky/hats/write_positions';
import { isPosition, pixel24, separationArcsec, wrapRa } from '@nearsky/sky-index';
import { parquetWriteFile } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { withDirectory } from '../directory.ts';
import { anywhere, HARD_PLACES, offset, type Place, seededRandom } from '../oracle/skies.ts';

const test = suite('hats/positions');

interface Stored {
  readonly parquet: ParquetFile;
  readonly path: string;
  readonly rows: readonly Place[];
}

/** A file of rows, some without a position, and its stored positions. */
async function stored(directory: string, rows: readonly Place[], rowGroupSize: number): Promise<Stored> {
  const filename = join(directory, 'rows.parquet');
  const columnData = (['ra', 'dec'] as const).map(name => ({
    name,
    type: 'DOUBLE' as const,
    data: Float64Array.from(rows, row => row[name]),
  }));
  parquetWriteFile({ filename, columnData, rowGroupSize });
  const parquet = await openParquet(openLocalFile(filename));
  const path = join(directory, 'positions', 'rows.positions');
  using writer = new PositionsWriter(path);
  for (const group of parquet.rowGroups.keys())
    writer.addGroup(await parquet.readNumbers('ra', group), await parquet.readNumbers('dec', group));
  const { byteLength, version, footerChecksum } = parquet;
  writer.end({ byteLength, modifiedNs: version!.modifiedNs, footerChecksum: footerChecksum! });
  return { parquet, path, rows };
}

function opened({ path, parquet }: Stored): FilePositions {
  const positions = openPositions(path, parquet);
  assert.instance(positions, FilePositions);
  return positions as FilePositions;
}

const random = seededRandom(11);
const crowds = [...HARD_PLACES, anywhere(random)].flatMap(place =>
  Array.from({ length: 150 }, () => offset(place, 4000 * random() ** 3, 2 * Math.PI * random())),
);
const unsorted = crowds.map(({ ra, dec }, row) =>
  row % 50 === 0 ? { ra: Number.NaN, dec } : row % 51 === 0 ? { ra, dec: -91 } : { ra: ra - (row % 3) * 360, dec },
);
const placeOf = ({ ra, dec }: Place) => (isPosition(wrapRa(ra), dec) ? pixel24(wrapRa(ra), dec) : 0);
const sorted = unsorted.toSorted((a, b) => placeOf(a) - placeOf(b));

for (const [order, rows] of Object.entries({ sorted, unsorted }))
  for (const rowGroupSize of [100_000, 300])
    test(`every row within a radius is found: ${order} rows in row groups of ${rowGroupSize}`, () =>
      withDirectory(async directory => {
        const file = await stored(directory, rows, rowGroupSize);
        using positions = opened(file);
        for (let turn = 0; turn < 60; turn++) {
          const { ra, dec } = offset(crowds[Math.floor(crowds.length * random())]!, 30 * random(), 6 * random());
          const radius = [0, 0.5, 10, 60, 3000][turn % 5]!;
          const found: number[] = [];
          let read = 0;
          for (const group of positions.groups.keys())
            for (const [from, to] of positions.near(group, Float64Array.of(ra), Float64Array.of(dec), radius))
              for (const run of positions.read(from, to)) {
                read += run.values.length / 2;
                for (let i = 0; 2 * i < run.values.length; i++) {
                  const [rowRa, rowDec] = [run.values[2 * i]!, run.values[2 * i + 1]!];
                  assert.ok(Object.is(rowRa, rows[run.rowStart + i]!.ra) && rowDec === rows[run.rowStart + i]!.dec);
                  if (separationArcsec(ra, dec, wrapRa(rowRa), rowDec) <= radius) found.push(run.rowStart + i);
                }
              }
          const expected = rows.flatMap((row, i) =>
            separationArcsec(ra, dec, wrapRa(row.ra), row.dec) <= radius && isPosition(wrapRa(row.ra), row.dec)
              ? [i]
              : [],
          );
          assert.equal(
            found.filter(row => isPosition(wrapRa(rows[row]!.ra), rows[row]!.dec)),
            expected,
          );
          if (order === 'sorted' && radius <= 10) assert.ok(read < rows.length, 'some pages are not read');
        }
        const without = rows.filter(row => !isPosition(wrapRa(row.ra), row.dec)).length;
        assert.is(
          positions.groups.reduce((sum, group) => sum + group.withoutPosition, 0),
          without,
        );
        assert.is(
          positions.groups.every(({ isSorted }) => isSorted),
          order === 'sorted',
        );
        file.parquet.close();
      }));

for (const [order, rows] of Object.entries({ sorted, unsorted }))
  test(`every row within pixels is found: ${order} rows`, () =>
    withDirectory(async directory => {
      const file = await stored(directory, rows, 300);
      using positions = opened(file);
      const places = rows.map(placeOf);
      for (let turn = 0; turn < 30; turn++) {
        // Pixels of order 16 around some rows, and others, as sorted pairs without overlaps.
        const pixels = Array.from({ length: 1 + turn ** 2 }, (_, i) =>
          Math.floor(i % 3 ? places[Math.floor(rows.length * random())]! / 4 ** 8 : 12 * 4 ** 16 * random()),
        );
        const bounds = [...new Set(pixels)].sort((a, b) => a - b).flatMap(pixel => [pixel, pixel + 1]);
        const isFound = new Uint8Array(rows.length);
        for (const group of positions.groups.keys())
          for (const [from, to] of positions.within(group, 16, bounds)) isFound.fill(1, from, to);
        const within = new Set(pixels);
        rows.forEach((row, i) => {
          if (isPosition(wrapRa(row.ra), row.dec) && within.has(Math.floor(places[i]! / 4 ** 8))) assert.ok(isFound[i]);
        });
      }
      file.parquet.close();
    }));

test('no damaged byte is believed', () =>
  withDirectory(async directory => {
    const file = await stored(directory, sorted, 300);
    const whole = readFileSync(file.path);
    for (let turn = 0; turn < 300; turn++) {
      const damaged = Buffer.from(whole);
      damaged[Math.floor((turn / 300) * whole.length)]! ^= 1 << (turn % 8);
      writeFileSync(file.path, turn % 7 === 0 ? whole.subarray(0, Math.floor(random() * whole.length)) : damaged);
      const positions = openPositions(file.path, file.parquet);
      if (positions === 'damaged') continue;
      assert.instance(positions, FilePositions);
      using open = positions as FilePositions;
      const readAll = () => {
        for (const run of open.read(0, sorted.length)) assert.ok(run);
      };
      assert.throws(readAll, (error: unknown) => error instanceof UnusablePositions);
    }
    file.parquet.close();
  }));

test('a file that is not completed has no name', () =>
  withDirectory(async directory => {
    const path = join(directory, 'half.positions');
    {
      using writer = new PositionsWriter(path);
      writer.addGroup(Float64Array.of(1), Float64Array.of(2));
    }
    const file = await stored(directory, sorted, 300);
    assert.is(openPositions(path, file.parquet), 'missing');
    file.parquet.close();
  }));

test('nothing half written stays where the file cannot have its name', () =>
  withDirectory(async directory => {
    const path = join(directory, 'positions', 'rows.positions');
    mkdirSync(path, { recursive: true });
    await stored(directory, sorted, 300).then(() => assert.unreachable(), assert.ok);
    assert.equal(readdirSync(join(directory, 'positions')), ['rows.positions']);
  }));

test.run();
