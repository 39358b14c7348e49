/** Compressed answers: whom they go to, and that they hold the same bytes. */
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { preferredCoding } from '../../../src/core/http/compression.ts';
import { delivery, NOW_US, startApp } from '../http/support.ts';
import { exchange, parseAnswer, withServer } from './support.ts';

const test = suite('server/compression');

test('the coding that a client likes best, of those that we like', () => {
  const cases: [string, string | undefined][] = [
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['GZIP;Q=0.8', 'gzip'],
    ['gzip;q=1, zstd;q=0.5', 'gzip'],
    ['zstd; q=0, gzip; q=0.001', 'gzip'],
    ['x-gzip', 'gzip'],
    ['*', 'gzip'],
    ['*;q=0.1', 'gzip'],
    ['gzip;q=0, *', undefined],
    ['identity', undefined],
    ['identity, gzip;q=0.9', undefined],
    ['identity;q=0, gzip;q=0.9', 'gzip'],
    ['br, deflate', undefined],
    ['', undefined],
    [',,;q=1', undefined],
    ['gzip;q=x', undefined],
    ['gzip;q=2', undefined],
  ];
  for (const [header, coding] of cases) assert.is(preferredCoding(header), coding, header);
});

test('large answers are compressed for those who ask, and the same for all; small ones never', async () => {
  const { app, close } = await startApp(async ({ writer }) => {
    const deliveries = Array.from({ length: 100 }, (_, i) => delivery(BigInt(i)));
    await writer.ingest(deliveries, NOW_US);
  });
  const large = '/api/cone?ra=150&dec=2&radius_arcsec=5';
  const get = async (path: string, acceptEncoding?: string) => {
    const request = new Request(`http://nearsky.test${path}`, {
      headers: acceptEncoding === undefined ? {} : { 'Accept-Encoding': acceptEncoding },
    });
    const { headers, body } = await app.app.answer(request);
    const bytes = Buffer.from(body as Uint8Array);
    return { coding: headers['Content-Encoding'], vary: headers.Vary, bytes, body };
  };
  // `as_of` differs from one answer to the next.
  const sameText = (bytes: Uint8Array) =>
    Buffer.from(bytes)
      .toString()
      .replace(/"as_of": "[^"]*"/g, '');
  const plain = await get(large);
  assert.equal([plain.coding, plain.vary], [undefined, 'Accept, Accept-Encoding']);
  assert.ok(plain.bytes.length > 8192);
  const gzip = await get(large, 'gzip');
  assert.equal([gzip.coding, gzip.vary], ['gzip', 'Accept, Accept-Encoding']);
  assert.is(sameText(gunzipSync(gzip.bytes)), sameText(plain.bytes));
  const zstd = await get(large, 'gzip, zstd');
  assert.is(zstd.coding, 'zstd');
  assert.is(sameText(zstdDecompressSync(zstd.bytes)), sameText(plain.bytes));
  const text = await get('/openapi.json', 'gzip');
  assert.is(JSON.parse(gunzipSync(text.bytes).toString()).openapi, '3.1.0');
  assert.is((await get('/openapi.json', 'gzip')).body, text.body, 'it is compressed once');
  const small = await get('/api/objects/5', 'gzip');
  assert.equal([small.coding, small.vary], [undefined, 'Accept, Accept-Encoding']);
  assert.is((await get('/api/status', 'gzip')).vary, undefined);

  await withServer(app.app.answer, async ({ port }) => {
    const ask = [`GET ${large} HTTP/1.1`, 'Host: x', 'Connection: close', 'Accept-Encoding: gzip'];
    const { headers, body } = parseAnswer(await exchange(port, ...ask));
    assert.equal([headers.get('content-encoding'), Number(headers.get('content-length'))], ['gzip', body.length]);
    assert.is(sameText(gunzipSync(Buffer.from(body, 'latin1'))), sameText(plain.bytes));
  });
  await close();
});

test.run();
