/** Coverage maps: the cells against the pixels that they stand for, in each format, and as the service answers. */

import { pixelOf } from '@nearsky/sky-index';
import { Coverage } from '@nearsky/sky-index/areas';
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MOC_FORMATS, type MocCells, mocCells, writeMoc } from '../../../src/capabilities/catalogs/moc.ts';
import { OBJECTS_MOC_ORDER } from '../../../src/core/contract/limits.ts';
import { readCatalog } from '../../../src/core/store/catalog_registration.ts';
import { registrationOf } from '../../core/catalogs/registration.ts';
import { storeObjects, trueObjects } from '../../core/http/crowded_places.ts';
import { delivery, NOW_US, type Running, startApp } from '../../core/http/support.ts';

const test = suite<{ running: Running }>('vo/moc');
const OBJECTS = trueObjects(300);

const coverages = fc.integer({ min: 0, max: 5 }).chain(order => {
  const last = 12 * 4 ** order - 1;
  const runs = fc.tuple(fc.integer({ min: 0, max: last }), fc.integer({ min: 1, max: 70 }));
  return fc.array(runs, { maxLength: 8 }).map(list => {
    const pixels = list.flatMap(([first, length]) => Array.from({ length }, (_, i) => Math.min(last, first + i)));
    return Coverage.fromPixels(order, pixels);
  });
});

function pixelsOf({ order, ranges }: Coverage): number[] {
  const pixels: number[] = [];
  for (let i = 0; i < ranges.length; i += 2)
    for (let pixel = ranges[i]!; pixel < ranges[i + 1]!; pixel++) pixels.push(pixel);
  void order;
  return pixels;
}

/** The pixels of the last order that the cells stand for, ascending. */
function expanded(cells: MocCells): number[] {
  const order = cells.length - 1;
  return cells
    .flatMap((list, each) =>
      list.flatMap(cell => Array.from({ length: 4 ** (order - each) }, (_, i) => cell * 4 ** (order - each) + i)),
    )
    .sort((a, b) => a - b);
}

test('the cells cover what the coverage covers, each once, and no four of them make one', () => {
  fc.assert(
    fc.property(coverages, coverage => {
      const cells = mocCells(coverage);
      assert.is(cells.length, coverage.order + 1);
      assert.equal(expanded(cells), pixelsOf(coverage));
      cells.forEach((list, order) => {
        assert.ok(list.every((cell, i) => i === 0 || list[i - 1]! < cell));
        const siblings = new Map<number, number>();
        for (const cell of list) siblings.set(cell >> 2, (siblings.get(cell >> 2) ?? 0) + 1);
        assert.ok(order === 0 || [...siblings.values()].every(count => count < 4));
      });
    }),
    { numRuns: 300 },
  );
});

interface Fits {
  readonly header: ReadonlyMap<string, string>;
  readonly cells: MocCells;
}

/** By the standard: cards of 80, blocks of 2880, blanks after the header, zeros after the data. */
function readFits(bytes: Uint8Array): Fits {
  assert.is(bytes.length % 2880, 0);
  const buffer = Buffer.from(bytes);
  const header = new Map<string, string>();
  let [at, ends] = [0, 0];
  for (; ends < 2; at += 80) {
    const card = buffer.toString('latin1', at, at + 80);
    assert.match(card, /^[ -~]{80}$/);
    const [, keyword, value] = /^([A-Z0-9_-]{1,8}) *(?:= +('[^']*'|\S+) *)?$/.exec(card) ?? [];
    if (ends === 1 || keyword !== 'END') header.set(keyword!, value?.replaceAll("'", '').trim() ?? '');
    if (keyword !== 'END') continue;
    ends++;
    const end = Math.ceil((at + 80) / 2880) * 2880;
    assert.match(buffer.toString('latin1', at + 80, end), /^ *$/);
    at = end - 80;
  }
  const rows = Number(header.get('NAXIS2'));
  const order = Number(header.get('MOCORD_S'));
  const cells: number[][] = Array.from({ length: order + 1 }, () => []);
  for (let row = 0; row < rows; row++) {
    const uniq = buffer.readBigInt64BE(at + 8 * row);
    const level = (uniq.toString(2).length - 3) >> 1;
    cells[level]!.push(Number(uniq - 4n ** BigInt(level + 1)));
  }
  assert.is(bytes.length, at + Math.ceil((8 * rows) / 2880) * 2880);
  assert.ok(buffer.subarray(at + 8 * rows).every(byte => byte === 0));
  return { header, cells };
}

function readJson(bytes: Uint8Array): MocCells {
  const lists = JSON.parse(new TextDecoder().decode(bytes)) as Record<string, number[]>;
  const last = Math.max(...Object.keys(lists).map(Number));
  return Array.from({ length: last + 1 }, (_, order) => lists[order] ?? []);
}

function readText(bytes: Uint8Array): MocCells {
  const cells: number[][] = [];
  for (const word of new TextDecoder().decode(bytes).trim().split(' ')) {
    const [, order, first, last] = /^(?:(\d+)\/)?(?:(\d+)(?:-(\d+))?)?$/.exec(word)!;
    if (order !== undefined) while (cells.length <= Number(order)) cells.push([]);
    if (first === undefined) continue;
    for (let cell = Number(first); cell <= Number(last ?? first); cell++) cells.at(-1)!.push(cell);
  }
  return cells;
}

const READERS = { fits: (bytes: Uint8Array) => readFits(bytes).cells, json: readJson, txt: readText };

test('each format says the same cells, and the order of the map', () => {
  fc.assert(
    fc.property(coverages, coverage => {
      const cells = mocCells(coverage);
      for (const format of MOC_FORMATS) assert.equal(READERS[format](writeMoc(cells, format, 'x')), cells, format);
    }),
    { numRuns: 300 },
  );
  const { header } = readFits(writeMoc(mocCells(Coverage.fromPixels(13, [5])), 'fits', 'gaia_dr3'));
  for (const [keyword, value] of Object.entries({
    XTENSION: 'BINTABLE',
    TFORM1: '1K',
    ORDERING: 'NUNIQ',
    COORDSYS: 'C',
    MOCVERS: '2.0',
    MOCDIM: 'SPACE',
    MOCORD_S: '13',
    EXTNAME: 'gaia_dr3',
  }))
    assert.is(header.get(keyword), value, keyword);
});

test.before(async context => {
  context.running = await startApp(async world => {
    await storeObjects(world, OBJECTS.slice(0, 200));
    await world.writer.commit({
      kind: 'register_catalog',
      registration: registrationOf({ name: 'gaia_dr3' } as never, 96),
    });
  });
});

test.after(({ running }) => running.close());

test('the map of the objects has the cells with an object, those that came later too', async ({ running }) => {
  const { app, world } = running;
  const wanted = (count: number) =>
    [...new Set(OBJECTS.slice(0, count).map(({ position: { ra, dec } }) => pixelOf(OBJECTS_MOC_ORDER, ra, dec)))].sort(
      (a, b) => a - b,
    );
  const covered = async () => expanded(readText(Buffer.from((await app.get('/vo/moc/objects.txt')).text)));
  assert.equal(await covered(), wanted(200));
  await storeObjects(world, OBJECTS.slice(200));
  const deadline = Date.now() + 20_000;
  while ((await covered()).length < wanted(300).length && Date.now() < deadline)
    await new Promise(r => setTimeout(r, 50));
  assert.equal(await covered(), wanted(300));
});

test('the map of the objects has no cell whose objects were removed', async () => {
  const places = [0, 1, 2].map(i => ({ ra: 10, dec: 10 * Math.floor(i / 2) }));
  const objects = places.map((position, i) => delivery(BigInt(i), { position }));
  const { app, world, close } = await startApp(async ({ writer }) => void (await writer.ingest(objects, NOW_US)));
  const covered = async () => expanded(readText(Buffer.from((await app.get('/vo/moc/objects.txt')).text)));
  const pixels = [...new Set(places.map(({ ra, dec }) => pixelOf(OBJECTS_MOC_ORDER, ra, dec)))];
  try {
    assert.equal(new Set(await covered()), new Set(pixels));
    await world.writer.remove([0n], 'wrong');
    assert.equal(new Set(await covered()), new Set(pixels), 'another object is in the cell');
    await world.writer.remove([1n], 'wrong');
    assert.equal(await covered(), pixels.slice(1));
  } finally {
    await close();
  }
});

test('the map of a catalog is its footprint; of one that is not registered there is none', async ({
  running: { app, world },
}) => {
  const { coverage } = readCatalog(world.store.databases, 'gaia_dr3')!;
  const types = { fits: 'application/fits', json: 'application/json', txt: 'text/plain' };
  for (const format of MOC_FORMATS) {
    const response = await app.app.fetch(new Request(`http://nearsky.test/vo/moc/gaia_dr3.${format}`));
    assert.equal([response.status, response.headers.get('Content-Type')], [200, types[format]]);
    const cells = READERS[format](new Uint8Array(await response.arrayBuffer()));
    assert.is(cells.length - 1, coverage.order);
    assert.is(expanded(cells).length, 96);
  }
  for (const name of [
    'des_y6_gold.fits',
    'nope.fits',
    'objects.png',
    'objects',
    'objects.fits.gz',
    '..%2Fobjects.fits',
  ])
    assert.is((await app.get(`/vo/moc/${name}`)).status, 404, name);
});

test.run();
