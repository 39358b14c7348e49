import { readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { catalogFiles, REMOTE_DEFAULTS } from '@nearsky/hats';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type FileVersion, RangeCache } from '../../packages/hats/remote/range_cache.ts';
import { serveFiles } from '../core/catalogs/range_server.ts';
import { withDirectory } from '../directory.ts';

const test = suite('range cache');
/** Ranges that each of several threads reads. */
const READS = Number(process.env.TEST_READS ?? 600);

const url = 'https://host/a';
const version: FileVersion = { etag: '"1"', lastModified: null, byteLength: 100 };

const bytesOf = (length: number, value = 7) => new Uint8Array(length).fill(value).buffer;
const filesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map(name => join(directory, name))
    .filter(path => statSync(path).isFile());
const sizeOf = (directory: string) => filesIn(directory).reduce((sum, path) => sum + statSync(path).size, 0);

test('a range is found by its address and version where one that is kept covers it', () =>
  withDirectory(async directory => {
    const cache = new RangeCache({ directory, maxBytes: 1 << 20 });
    cache.ranges(url, version).put(5, bytesOf(10));
    const again = new RangeCache({ directory, maxBytes: 1 << 20 });
    assert.equal(again.ranges(url, version).get(5, 15), bytesOf(10));
    assert.is(again.ranges(`${url}b`, version).get(5, 15), undefined);
    assert.equal(again.ranges(url, version).get(5, 14), bytesOf(9));
    assert.equal(again.ranges(url, version).get(14, 15), bytesOf(1));
    assert.is(again.ranges(url, version).get(5, 16), undefined);
    assert.is(again.ranges(url, version).get(4, 15), undefined);
    for (const other of [{ etag: '"2"' }, { lastModified: 'x' }, { byteLength: 101 }])
      assert.is(again.ranges(url, { ...version, ...other }).get(5, 15), undefined);
  }));

test('a damaged range is none', () =>
  withDirectory(async directory => {
    const cache = new RangeCache({ directory, maxBytes: 1 << 20 });
    const put = () => {
      cache.ranges(url, version).put(0, bytesOf(50));
      return filesIn(directory)[0]!;
    };
    const path = put();
    const whole = readFileSync(path);
    for (let at = 0; at < whole.length; at++) {
      const damaged = Buffer.from(whole);
      damaged[at]! ^= 1;
      writeFileSync(path, damaged);
      assert.is(cache.ranges(url, version).get(0, 50), undefined, String(at));
    }
    put();
    truncateSync(path, 20);
    assert.is(cache.ranges(url, version).get(0, 50), undefined);
    truncateSync(path, 0);
    assert.is(cache.ranges(url, version).get(0, 50), undefined);
    put();
    assert.equal(cache.ranges(url, version).get(0, 50), bytesOf(50));
  }));

test('above the limit those not used for the longest time go; what a kill left behind goes too', () =>
  withDirectory(async directory => {
    const maxBytes = 100_000;
    const cache = new RangeCache({ directory, maxBytes });
    const anHourAgo = Date.now() / 1000 - 3600;
    cache.ranges(url, version).put(0, bytesOf(1000));
    for (const path of filesIn(directory)) utimesSync(path, anHourAgo, anHourAgo);
    const abandoned = `${filesIn(directory)[0]}.1-0-0.part`;
    writeFileSync(abandoned, 'x');
    utimesSync(abandoned, anHourAgo, anHourAgo);
    for (let at = 1; at < 300; at++) {
      cache.ranges(url, version).put(at * 1000, bytesOf(1000));
      const path = filesIn(directory).find(name => name.includes(`-${at * 1000}-`))!;
      // Older than the next range by more than the resolution of the clock.
      utimesSync(path, anHourAgo + 1 + at, anHourAgo + 1 + at);
      if (at % 10 === 0) assert.equal(cache.ranges(url, version).get(0, 1000), bytesOf(1000), `in use at ${at}`);
      assert.ok(sizeOf(directory) <= maxBytes, `${sizeOf(directory)} at ${at}`);
    }
    assert.not.ok(filesIn(directory).includes(abandoned));
    assert.equal(cache.ranges(url, version).get(299_000, 300_000), bytesOf(1000));
    assert.is(cache.ranges(url, version).get(1000, 2000), undefined);
    assert.ok(sizeOf(directory) > maxBytes / 2);
    cache.ranges(url, version).put(0, bytesOf(50_000));
    assert.is(cache.ranges(url, version).get(0, 50_000), undefined, 'longer than an eighth of the limit');
  }));

test('threads that write and read one directory at once find whole ranges or none, and it stays within its limit', () =>
  withDirectory(async directory => {
    const program = `
      const { workerData, parentPort } = require('node:worker_threads');
      import(workerData.module).then(({ RangeCache }) => {
        const cache = new RangeCache({ directory: workerData.directory, maxBytes: 200_000 });
        const version = { etag: null, lastModified: 'x', byteLength: 1 };
        let found = 0, wrong = 0;
        for (let i = 0; i < workerData.reads; i++) {
          const start = ((i * 7919 + workerData.thread * 31) % 400) * 1000;
          const bytes = cache.ranges('u', version).get(start, start + 1000);
          if (!bytes) cache.ranges('u', version).put(start, new Uint8Array(1000).fill(start / 1000).buffer);
          else if (new Uint8Array(bytes).every(byte => byte === (start / 1000) % 256)) found++;
          else wrong++;
        }
        parentPort.postMessage({ found, wrong });
      });`;
    const module = new URL('../../packages/hats/remote/range_cache.ts', import.meta.url).href;
    const results = await Promise.all(
      [0, 1, 2].map(thread => {
        const worker = new Worker(program, { eval: true, workerData: { module, directory, thread, reads: READS } });
        return new Promise<{ found: number; wrong: number }>((resolve, reject) => {
          worker.once('message', resolve).once('error', reject);
        });
      }),
    );
    // One that starts before the others finds little.
    const sum = (key: 'found' | 'wrong') => results.reduce((total, each) => total + each[key], 0);
    assert.ok(sum('found') > 100 && sum('wrong') === 0, JSON.stringify(results));
    // Each thread measures the directory after a 64th of the limit.
    assert.ok(sizeOf(directory) <= 200_000 * (1 + 3 / 64) + 3 * 1004, String(sizeOf(directory)));
    assert.is(filesIn(directory).filter(path => path.endsWith('.part')).length, 0);
  }));

test('where nothing can be written there is no cache, and no error', () =>
  withDirectory(async directory => {
    const file = join(directory, 'file');
    writeFileSync(file, '');
    const cache = new RangeCache({ directory: file, maxBytes: 1 << 20 });
    cache.ranges(url, version).put(0, bytesOf(10));
    cache.putVersion(url, version);
    assert.is(cache.ranges(url, version).get(0, 10), undefined);
    assert.is(cache.version(url), undefined);
  }));

test('after a while a file is asked for again: unchanged costs one answer without a body, changed is read anew', () =>
  withDirectory(async directory => {
    const path = join(directory, 'x');
    const cache = { directory: join(directory, 'cache'), maxBytes: 1 << 30 };
    const server = await serveFiles(directory);
    const readAll = async () => {
      server.asked.length = 0;
      server.bytes = 0;
      const files = await catalogFiles(server.url, { remote: { ...REMOTE_DEFAULTS, cache } });
      const file = await files.open('x');
      const bytes = await Promise.all([file.read(0, 70_000), file.read(70_000, file.byteLength)]);
      return Buffer.concat(bytes.map(part => Buffer.from(part)));
    };
    const grow = () => {
      for (const name of filesIn(cache.directory).filter(name => name.endsWith('version')))
        utimesSync(name, Date.now() / 1000 - 3600, Date.now() / 1000 - 3600);
    };
    try {
      for (const validators of [
        { etag: true, lastModified: true },
        { etag: true, lastModified: false },
      ]) {
        server.validators = validators;
        const content = Buffer.alloc(200_000, validators.lastModified ? 1 : 2);
        writeFileSync(path, content);
        if (server.asked.length > 0) grow();
        assert.ok((await readAll()).equals(content));
        assert.ok(server.bytes >= 200_000);
        assert.ok((await readAll()).equals(content));
        assert.is(server.asked.length, 0);
        grow();
        assert.ok((await readAll()).equals(content));
        assert.equal(
          server.asked.map(({ conditional }) => conditional),
          [true],
        );
        assert.is(server.bytes, 0);
        assert.ok((await readAll()).equals(content));
        assert.is(server.asked.length, 0, 'that it is unchanged holds for a while again');
        const changed = Buffer.alloc(200_000, 3);
        writeFileSync(path, changed);
        utimesSync(path, 1e9, 1e9);
        grow();
        assert.ok((await readAll()).equals(changed));
      }
      // A host that does not state the version cannot be asked whether it still has it.
      server.validators = { etag: false, lastModified: false };
      writeFileSync(join(directory, 'x'), Buffer.alloc(150_000, 5));
      grow();
      for (let time = 0; time < 2; time++) {
        assert.ok((await readAll()).equals(Buffer.alloc(150_000, 5)));
        assert.ok(server.bytes >= 150_000);
      }
    } finally {
      await server.close();
    }
  }));

test.run();
