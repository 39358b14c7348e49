/** Areas that another process reads: all except short strings. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fitsHeader, wholeBlocks } from '@nearsky/astrotables/fits';
import { pixel29, separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_AREA_TEXT_BYTES } from '../../../src/core/contract/limits.ts';
import { delivery, NOW_US, type Running, startApp, type TestApp, withApp } from '../../core/http/support.ts';
import { writeUniqFits } from '../../core/http/uniq_fits.ts';
import { anywhere, seededRandom } from '../../oracle/skies.ts';

const test = suite<{ running: Running }>('http/sent_area');

/** A busy machine must not fail the test. */
const random = seededRandom(33);
const objects = Array.from({ length: 400 }, (_, i) => ({ id: BigInt(i + 1), ...anywhere(random) }));
const deliveries = objects.map(({ id, ra, dec }) => delivery(id, { position: { ra, dec } }));

test.before(async context => {
  context.running = await startApp(async ({ writer }) => void (await writer.ingest(deliveries, NOW_US)));
});
test.after(async ({ running }) => running.close());

async function idsIn(app: TestApp, body: string | Uint8Array, query = ''): Promise<string[]> {
  const { status, body: page, text } = await app.post(`/api/area?detail=ids&page_size=10000${query}`, body, null);
  assert.is(status, 200, text.slice(0, 300));
  return page.objects.map(({ diaObjectId_str }: { diaObjectId_str: string }) => diaObjectId_str).toSorted();
}

const idsOf = (of: readonly { readonly id: bigint }[]) => of.map(({ id }) => `${id}`).toSorted();
const tooLongToStay = (text: string) => text.padEnd(MAX_AREA_TEXT_BYTES + 1);

test('pixels at order 29 that hold some of the objects, in each form and with gzip: these objects', async ({
  running: { app, world },
}) => {
  const chosen = objects.filter((_, i) => i % 3 === 0);
  const cells = chosen.map(({ ra, dec }) => pixel29(ra, dec));
  const text = `29/${cells.join(' ')}`;
  const json = JSON.stringify({ 29: cells.map(String) }).replaceAll(/"(\d+)"(?!:)/g, '$1');
  const bodies: (string | Uint8Array)[] = [text, json].flatMap<string | Uint8Array>(each => [
    each,
    tooLongToStay(each),
    gzipSync(each),
  ]);
  // A double has not enough digits for NUNIQ of order 29.
  const coarse = [...new Set(cells.map(cell => Number(cell >> 20n)))];
  bodies.push(writeUniqFits({ cells: coarse, order: 19 }), gzipSync(writeUniqFits({ cells: coarse, order: 19 })));
  for (const body of bodies) {
    assert.equal(await idsIn(app, body), idsOf(chosen), `${body.slice(0, 20)} ${body.length}`);
  }
  assert.equal(readdirSync(join(world.directory, 'spool')), [], 'no file is left');
});

test('a shape is a shape, however it is sent', async ({ running: { app } }) => {
  const inside = objects.filter(({ ra, dec }) => separationArcsec(200, -10, ra, dec) <= 60 * 3600);
  assert.ok(inside.length > 20);
  const circle = 'CIRCLE 200 -10 60';
  for (const body of [circle, tooLongToStay(circle), gzipSync(tooLongToStay(circle))])
    assert.equal(await idsIn(app, body), idsOf(inside));
});

const NSIDE = 1024;
const PIXELS = 12 * NSIDE ** 2;

/** A map in RING order, with gzip. */
function packedMap(densityOf: (pixel: number) => number): Uint8Array {
  const table = {
    XTENSION: 'BINTABLE',
    BITPIX: 8,
    NAXIS: 2,
    NAXIS1: 4096,
    NAXIS2: PIXELS / 1024,
    PCOUNT: 0,
    GCOUNT: 1,
    TFIELDS: 1,
    TTYPE1: 'PROB',
    TFORM1: '1024E',
    PIXTYPE: 'HEALPIX',
    ORDERING: 'RING',
    NSIDE,
    COORDSYS: 'C',
  };
  const header = fitsHeader({ SIMPLE: true, BITPIX: 8, NAXIS: 0 }) + fitsHeader(table);
  const bytes = Buffer.alloc(header.length + wholeBlocks(4 * PIXELS));
  bytes.write(header, 'latin1');
  for (let pixel = 0; pixel < PIXELS; pixel++) bytes.writeFloatBE(densityOf(pixel), header.length + 4 * pixel);
  return gzipSync(bytes, { level: 1 });
}

/** Above this declination lie 3,145,728 + 2 * 1024 pixels of the map, whole rings: about as many as are held. */
const CAP = 2 * NSIDE * (NSIDE - 1) + 4 * NSIDE * 257;
const EDGE_SIN_DEC = (4 - (2 * (NSIDE + 256)) / NSIDE) / 3;

test('a map of as many pixels as are held is read within the memory of a process', async ({ running: { app } }) => {
  const map = packedMap(pixel => (pixel < CAP ? 1 : 0));
  const edge = (Math.asin(EDGE_SIN_DEC) * 180) / Math.PI;
  const near = objects.filter(({ dec }) => Math.abs(dec - edge) < 0.1);
  const found = await idsIn(app, map, '&level=1');
  const surely = objects.filter(({ dec }) => dec > edge && !near.some(each => each.dec === dec));
  assert.ok(surely.length > 50);
  for (const id of idsOf(surely)) assert.ok(found.includes(id), id);
  assert.ok(found.length <= surely.length + near.length);
});

test('a map that takes more memory than its process may have is 400; the next area is read [Areas]', () =>
  withApp(
    async ({ writer }) => void (await writer.ingest(deliveries, NOW_US)),
    async app => {
      const hungry = packedMap(pixel => (pixel < CAP ? 1 + (pixel % 3) : 0));
      const { status, body } = await app.post('/api/area', hungry, null);
      assert.equal([status, body.code, body.param], [400, 'invalid_parameter', 'area']);
      assert.match(body.message, /takes more memory than is allowed for an area/);
      const { ra, dec, id } = objects[7]!;
      assert.equal(await idsIn(app, tooLongToStay(`29/${pixel29(ra, dec)}`)), [`${id}`]);
    },
    { API_TABLE_MEMORY_MIB: '64' },
  ));

test('what is wrong with an area is said as of a short text', async ({ running: { app } }) => {
  const refused = async (body: string | Uint8Array, query: string, param: string, says: RegExp) => {
    const { status, body: answer } = await app.post(`/api/area?${query}`, body, null);
    assert.equal([status, answer.code, answer.param], [400, 'invalid_parameter', param]);
    assert.match(answer.message, says);
  };
  await refused(tooLongToStay('nothing'), '', 'area', /it is neither FITS nor JSON/);
  await refused(gzipSync('3/1 99/1'), '', 'area', /orders of a MOC must be 0 to 29/);
  await refused(gzipSync('3/1').subarray(0, 12), '', 'area', /damaged/);
  await refused(writeUniqFits({ cells: [1], order: 1 }), 'level=0.5', 'level', /not a probability map/);
  await refused(tooLongToStay('CIRCLE 1 2 3'), 'level=0.5', 'level', /not a probability map/);
  await refused(gzipSync('nothing'), 'format=none', 'format', /one of/);
  await refused(gzipSync('nothing'), 'response=table&format=none', 'format', /one of/);
});

test('while one client sends map after map, that of another is read [Areas]', async ({ running: { app } }) => {
  const map = packedMap(pixel => (pixel < 1000 ? 1 : 0));
  const done: string[] = [];
  const ask = async (client: string, level: number) => {
    const headers = { 'X-Forwarded-For': client };
    const init = { method: 'POST', body: map as Uint8Array<ArrayBuffer>, headers };
    const { status, text } = await app.get(`/api/area?response=count&level=${level}`, init);
    assert.is(status, 200, `${text} ${JSON.stringify(app.logged.at(-1))}`);
    done.push(client);
  };
  const [one, other] = ['192.0.2.1', '2001:db8::1'];
  const many = Array.from({ length: 4 }, (_, i) => ask(one, 0.1 + i / 5));
  await Promise.all([...many, ask(other, 0.95)]);
  assert.is(done.at(-1), one, done.join());
});

test.run();
