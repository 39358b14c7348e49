import { once } from 'node:events';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ReadFailure } from '@nearsky/astrotables/files';
import { type ColumnChunk, columnPages, openParquet } from '@nearsky/astrotables/parquet';
import { noReads, openLocalFile } from '@nearsky/hats';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { parquetWriteFile } from 'hyparquet-writer';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fixtures, openLocalParquet, published, rejection } from '../core/catalogs/support.ts';
import { withDirectory } from '../directory.ts';
import { seededRandom } from '../oracle/skies.ts';

const test = suite('astrotables/parquet');

const BIG = 9_223_372_036_854_775_807n;

test('every type that a catalog has, exactly, with nulls', () =>
  withDirectory(async directory => {
    const columnData = [
      { name: 'double', type: 'DOUBLE' as const, data: [1.1, null, Number.NaN], expected: [1.1, null, Number.NaN] },
      { name: 'float', type: 'FLOAT' as const, data: [0.1, null, 3], expected: [Math.fround(0.1), null, 3] },
      { name: 'int64', type: 'INT64' as const, data: [BIG, null, -BIG - 1n], expected: [BIG, null, -BIG - 1n] },
      { name: 'int32', type: 'INT32' as const, data: [-2147483648, null, 7], expected: [-2147483648, null, 7] },
      { name: 'text', type: 'STRING' as const, data: ['\ufeffa', null, 'ä'], expected: ['\ufeffa', null, 'ä'] },
      { name: 'bool', type: 'BOOLEAN' as const, data: [true, null, false], expected: [true, null, false] },
    ];
    const filename = join(directory, 'types.parquet');
    parquetWriteFile({
      filename,
      columnData: columnData.map(({ name, type, data }) => ({ name, type, data, nullable: true })),
    });
    const file = await openLocalParquet(filename);
    assert.equal(Object.fromEntries(file.columns), {
      double: 'double',
      float: 'float',
      int64: 'integer64',
      int32: 'integer32',
      text: 'string',
      bool: 'boolean',
    });
    for (const { name, expected } of columnData) {
      assert.equal(await file.readValues(name, [0, 1, 2]), expected, name);
      assert.equal(await file.readValues(name, [2]), expected.slice(2), name);
    }
    assert.equal(Array.from(await file.readNumbers('double', 0)), [1.1, Number.NaN, Number.NaN]);
    file.close();
  }));

test('rows of a column of long texts, one page at a time: all pages take more memory than the thread has', () =>
  withDirectory(async directory => {
    const filename = join(directory, 'long.parquet');
    const data = Array.from({ length: 50_000 }, (_, row) => `${row} ${'long '.repeat(400)}`);
    parquetWriteFile({ filename, columnData: [{ name: 'text', type: 'STRING', data }], pageSize: 1 << 20 });
    const read = `
      const { openLocalFile } = await import('${new URL('../../packages/hats/files.ts', import.meta.url)}');
      const { openParquet } = await import('${import.meta.resolve('@nearsky/astrotables/parquet')}');
      const file = await openParquet(openLocalFile(${JSON.stringify(filename)}));
      const texts = await file.readValues('text', Array.from({ length: 500 }, (_, i) => 100 * i));
      (await import('node:worker_threads')).parentPort.postMessage(texts.at(-1));`;
    const address = new URL(`data:text/javascript,${encodeURIComponent(read)}`);
    const worker = new Worker(address, { resourceLimits: { maxOldGenerationSizeMb: 64 } });
    const [last] = await once(worker, 'message');
    assert.is(last, data[49_900]);
    await worker.terminate();
  }));

for (const nullable of [true, false]) {
  for (const offsetIndex of [true, false]) {
    test(`picked rows over pages and row groups, nullable ${nullable}, offset index ${offsetIndex}`, () =>
      withDirectory(async directory => {
        const rows = 250_000;
        const random = seededRandom(1);
        const double = Float64Array.from({ length: rows }, random);
        // Few distinct values: written with a dictionary.
        const int64 = Array.from({ length: rows }, (_, row) =>
          nullable && row % 5 === 0 ? null : BigInt(row % 100) + 2n ** 60n,
        );
        const filename = join(directory, 'pages.parquet');
        parquetWriteFile({
          filename,
          rowGroupSize: 120_000,
          pageSize: 50_000,
          columnData: [
            { name: 'double', type: 'DOUBLE', data: nullable ? Array.from(double) : double, nullable, offsetIndex },
            { name: 'int64', type: 'INT64', data: int64, nullable, offsetIndex },
          ],
        });
        const file = await openLocalParquet(filename);
        assert.equal(
          file.rowGroups.map(({ rowStart, rowEnd }) => [rowStart, rowEnd]),
          [
            [0, 120_000],
            [120_000, 240_000],
            [240_000, 250_000],
          ],
        );
        const picks = [
          [],
          [0],
          [rows - 1],
          [119_999, 120_000],
          [3, 118_000, 119_999, 120_001, 239_999, 240_000, 249_998],
        ];
        picks.push(Array.from({ length: 500 }, () => Math.floor(random() * rows)).sort((a, b) => a - b));
        for (const pick of picks) {
          assert.equal(
            await file.readValues('double', pick),
            pick.map(row => double[row]!),
          );
          assert.equal(
            await file.readValues('int64', pick),
            pick.map(row => int64[row]),
          );
        }
        assert.equal(await file.readNumbers('double', 1), double.slice(120_000, 240_000));
        file.close();
      }));
  }
}

test('columns with nulls only, and none', () =>
  withDirectory(async directory => {
    const filename = join(directory, 'nulls.parquet');
    const types = ['DOUBLE', 'INT64', 'STRING', 'BOOLEAN'] as const;
    parquetWriteFile({
      filename,
      columnData: types.map(type => ({ name: type, type, data: [null, null], nullable: true })),
    });
    const file = await openLocalParquet(filename);
    for (const type of types) assert.equal(await file.readValues(type, [0, 1]), [null, null]);
    assert.equal(Array.from(await file.readNumbers('DOUBLE', 0)), [Number.NaN, Number.NaN]);
    assert.match((await rejection(file.readValues('absent', [0]))).message, /there is no such column/);
    file.close();
  }));

/** Every flat column of a file, and a third of it, against hyparquet's reader of whole files. */
async function compare(path: string): Promise<number> {
  const bytes = readFileSync(path);
  const expected = await parquetReadObjects({ file: new Uint8Array(bytes).buffer, compressors, geoparquet: false });
  const file = await openLocalParquet(path);
  const every = [...expected.keys()];
  const third = every.filter(row => row % 3 === 1);
  for (const column of file.columns.keys()) {
    const values = expected.map(row => row[column] ?? null);
    assert.equal(await file.readValues(column, every), values, `${path} ${column}`);
    assert.equal(
      await file.readValues(column, third),
      third.map(row => values[row]),
      `${path} ${column}`,
    );
  }
  file.close();
  return file.columns.size;
}

const parquetFilesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter(name => /Npix=.*\.parq(uet)?$/.test(name))
    .map(name => join(directory, name));

test("every column of pyarrow's files as hyparquet reads them whole", async () => {
  const files = parquetFilesIn(fixtures);
  assert.ok(files.length > 20);
  for (const path of files) await compare(path);
});

test('1,000 real Gaia rows of all types, 17,161 of mixed partitions, and a real Gaia partition likewise', async () => {
  assert.is(await compare(join(published, 'gaia/gdr3_sm.1000rows.parquet')), 152);
  for (const path of parquetFilesIn(join(published, 'hats/small_sky_source'))) await compare(path);
  for (const path of parquetFilesIn(join(published, 'hats/macauff'))) await compare(path);
});

test('bounds of a row group, and none where the file has none', () =>
  withDirectory(async directory => {
    const filename = join(directory, 'bounds.parquet');
    const data = [5, 1, 3, null, 9, 8];
    parquetWriteFile({
      filename,
      rowGroupSize: 3,
      columnData: [
        { name: 'with', type: 'DOUBLE', data, nullable: true },
        { name: 'without', type: 'DOUBLE', data, nullable: true, statistics: false },
      ],
    });
    const file = await openLocalParquet(filename);
    assert.equal(file.bounds(0, 'with'), { min: 1, max: 5 });
    assert.equal(file.bounds(1, 'with'), { min: 8, max: 9 });
    assert.is(file.bounds(0, 'without'), undefined);
    assert.is(file.bounds(0, 'absent'), undefined);
    file.close();
  }));

test('a ZSTD file by pyarrow with dictionaries', async () => {
  const file = await openLocalParquet(join(fixtures, 'small_sky_npix_alt_suffix/dataset/Norder=0/Dir=0/Npix=11.parq'));
  assert.is(file.rows, 131);
  const id = await file.readValues('id', [0, 130]);
  const ra = await file.readNumbers('ra', 0);
  assert.ok(id.every(value => typeof value === 'bigint' && value >= 700n && value <= 830n));
  assert.is(Math.min(...ra), 280.5);
  assert.is(Math.max(...ra), 350.5);
  file.close();
});

test('a file that is missing, no Parquet file, cut short or damaged is a read failure', () =>
  withDirectory(async directory => {
    const missing = await rejection(openLocalParquet(join(directory, 'missing.parquet')));
    assert.instance(missing, ReadFailure);
    assert.match(missing.message, /missing\.parquet: ENOENT/);
    const path = join(directory, 'x.parquet');
    for (const content of ['', 'PAR1', 'not a parquet file, but long enough to have a footer']) {
      writeFileSync(path, content);
      const refused = await rejection(openLocalParquet(path));
      assert.instance(refused, ReadFailure);
      assert.match(refused.message, 'it is not a Parquet file, or its end is missing');
    }
    const whole = readFileSync(join(fixtures, 'small_sky_npix_alt_suffix/dataset/Norder=0/Dir=0/Npix=11.parq'));
    writeFileSync(path, whole);
    truncateSync(path, whole.length - 100);
    const cut = await rejection(openLocalParquet(path));
    assert.instance(cut, ReadFailure);
    assert.match(cut.message, 'it is not a Parquet file, or its end is missing');
    // The footer is whole, the column data is not.
    writeFileSync(path, Buffer.concat([Buffer.alloc(2000), whole.subarray(2000)]));
    const file = await openLocalParquet(path);
    assert.instance(await rejection(file.readNumbers('ra', 0)), ReadFailure);
    file.close();
  }));

test('a damaged byte gives a read failure or other values, never none, nor another error', () =>
  withDirectory(async directory => {
    const random = seededRandom(11);
    const path = join(directory, 'x.parquet');
    const rows = 60;
    const data = Array.from({ length: rows }, (_, row) => (row * 37) % 9);
    const columnData = [
      { name: 'double', type: 'DOUBLE' as const, data, nullable: false },
      { name: 'int64', type: 'INT64' as const, data: data.map(BigInt), nullable: false },
    ];
    parquetWriteFile({ filename: path, codec: 'UNCOMPRESSED', rowGroupSize: rows, columnData });
    const whole = readFileSync(path);
    const dataEnd = whole.length - 8 - whole.readUInt32LE(whole.length - 8);
    const every = [...Array(rows).keys()];
    let failures = 0;
    for (let run = 0; run < 600; run++) {
      const bytes = Buffer.from(whole);
      bytes[4 + Math.floor(random() * (dataEnd - 4))]! ^= 1 << Math.floor(random() * 8);
      writeFileSync(path, bytes);
      const file = await openLocalParquet(path);
      try {
        const [numbers, integers] = [await file.readNumbers('double', 0), await file.readValues('int64', every)];
        assert.ok(numbers.every(value => !Number.isNaN(value)));
        assert.ok(integers.every(value => typeof value === 'bigint'));
      } catch (error) {
        assert.instance(error, ReadFailure, String(error));
        failures++;
      } finally {
        file.close();
      }
    }
    assert.ok(failures > 100 && failures < 500, String(failures));
  }));

test('a few rows of long columns are read from their pages alone, with an index of the pages and without one', () =>
  withDirectory(async directory => {
    const random = seededRandom(4);
    const rows = 30_000;
    const columns = [
      { name: 'float', type: 'DOUBLE' as const, data: Array.from({ length: rows }, () => random()) },
      { name: 'id', type: 'INT64' as const, data: Array.from({ length: rows }, (_, row) => BIG - BigInt(row)) },
      { name: 'null', type: 'DOUBLE' as const, data: Array.from({ length: rows }, (_, row) => (row % 3 ? row : null)) },
      {
        name: 'text',
        type: 'STRING' as const,
        data: Array.from({ length: rows }, (_, row) => `${row % 900} ${'x'.repeat(80)}`),
      },
    ];
    for (const offsetIndex of [true, false])
      for (const codec of ['SNAPPY', 'UNCOMPRESSED'] as const) {
        const filename = join(directory, 'pages.parquet');
        const columnData = columns.map(column => ({ ...column, nullable: column.name === 'null', offsetIndex }));
        parquetWriteFile({ filename, columnData, codec, pageSize: 8 << 10, rowGroupSize: 17_000 });
        const counts = noReads();
        const file = await openParquet(openLocalFile(filename, counts));
        for (let turn = 0; turn < 20; turn++) {
          const wanted = Array.from({ length: 1 + (turn % 4) }, () => Math.floor(rows * random())).sort(
            (a, b) => a - b,
          );
          for (const { name, data } of columns) {
            const before = counts.diskBytes;
            assert.equal(
              await file.readValues(name, wanted),
              wanted.map(row => data[row]!),
              name,
            );
            const groups = new Set(wanted.map(row => Math.floor(row / 17_000))).size;
            if (name === 'float') assert.ok(counts.diskBytes - before < 60_000 * groups, 'most pages are not read');
          }
        }
        file.close();
      }
  }));

test('some rows are as all rows of a column have them: packed dictionary positions, runs of nulls, plain numbers', () =>
  withDirectory(async directory => {
    const [filename, random, rows] = [join(directory, 'picked.parquet'), seededRandom(3), 20_000];
    const column = (name: string, type: 'INT32' | 'DOUBLE' | 'STRING', of: (row: number) => unknown) => {
      return { name, type, nullable: true, data: Array.from({ length: rows }, (_, row) => of(row)) };
    };
    const columnData = [
      column('wide', 'INT32', () => (random() < 0.1 ? null : Math.floor(1000 * random()))),
      column('narrow', 'STRING', () => (random() < 0.5 ? null : `${Math.floor(3 * random())}`)),
      column('runs', 'INT32', row => (row % 1000 < 300 ? null : Math.floor(row / 1000))),
      column('plain', 'DOUBLE', () => (random() < 0.01 ? null : random())),
    ];
    parquetWriteFile({ filename, columnData, rowGroupSize: 7000 });
    const file = await openLocalParquet(filename);
    assert.ok(file.storageOf('wide', 0).encodings.includes('RLE_DICTIONARY'));
    for (const { name, data } of columnData)
      for (const share of [0.001, 0.1, 0.9]) {
        const wanted = Array.from({ length: rows }, (_, row) => row).filter(() => random() < share);
        const expected = wanted.map(row => data[row]);
        assert.equal(await file.readValues(name, wanted), expected, `${name} ${share}`);
      }
    file.close();
  }));

test('a damaged position in the dictionary is never taken for another one', () => {
  // Thrift's compact protocol: the type, both sizes, and the header of a page with its counts and encodings.
  const dictionary = [0x15, 4, 0x15, 24, 0x15, 24, 0x4c, 0x15, 6, 0x15, 0, 0, 0, ...new Uint8Array(12)];
  const data = (run: number) => [
    0x15,
    0,
    0x15,
    6,
    0x15,
    6,
    0x2c,
    0x15,
    16,
    0x15,
    16,
    0x15,
    6,
    0x15,
    6,
    0,
    0,
    2,
    16,
    run,
  ];
  const metadata = { type: 'FLOAT', codec: 'UNCOMPRESSED', total_uncompressed_size: 100n } as ColumnChunk['metadata'];
  const element = { name: 'x', type: 'FLOAT', repetition_type: 'REQUIRED' } as const;
  const pages = (run: number, rows?: number[]) => {
    const bytes = Uint8Array.from([...dictionary, ...data(run)]).buffer;
    return [...columnPages({ metadata, element, bytes, firstRow: 0, endRow: 8 }, rows)];
  };
  assert.equal(Array.from(pages(2, [5])[0]!.values), [0]);
  // A run of 6, whose lowest two bits are 2.
  for (const rows of [undefined, [5]]) assert.throws(() => pages(6, rows), /no value for a row that is not null/);
});

test('a file that shrinks while it is open is a read failure', () =>
  withDirectory(async directory => {
    const path = join(directory, 'x.parquet');
    writeFileSync(path, readFileSync(join(fixtures, 'small_sky_npix_alt_suffix/dataset/Norder=0/Dir=0/Npix=11.parq')));
    const file = await openLocalParquet(path);
    truncateSync(path, 50);
    const failure = await rejection(file.readNumbers('ra', 0));
    assert.instance(failure, ReadFailure);
    assert.match(failure.message, /Cannot read .*x\.parquet: the file ends early/);
    file.close();
  }));

test('a page whose header has impossible counts is refused before it is decoded, which would take minutes', () => {
  // A Thrift page header: DATA_PAGE_V2 of 46 bytes, 48 compressed, 11 values, of which -1407 are null.
  const header = [0x15, 6, 0x15, 92, 0x15, 96, 0x5c, 0x15, 22, 0x15, 0xfd, 0x15, 0, 0];
  const bytes = Uint8Array.from([...header, ...Array.from({ length: 48 }, () => 0xff)]).buffer;
  const metadata = { type: 'FLOAT', codec: 'SNAPPY' } as ColumnChunk['metadata'];
  const element = { name: 'x', type: 'FLOAT', repetition_type: 'OPTIONAL' } as const;
  const pages = columnPages({ metadata, element, bytes, firstRow: 0, endRow: 11 });
  assert.throws(() => [...pages], /a page has a damaged header/);
});

test.run();
