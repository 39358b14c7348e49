import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ReadFailure } from '@nearsky/astrotables/files';
import {
  CatalogError,
  type CatalogFiles,
  catalogFiles,
  FileChanged,
  MissingFile,
  noReads,
  openHats,
  REMOTE_DEFAULTS,
  type ReadCounts,
  type RemoteOptions,
  readText,
  withStableFile,
} from '@nearsky/hats';
import { isPublicAddress } from '@nearsky/hats/public_hosts';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkedAddress, relativeAddress, requestUrl } from '../../packages/hats/address.ts';
import { type Fault, type RangeServer, serveFiles } from '../core/catalogs/range_server.ts';
import { rejection } from '../core/catalogs/support.ts';
import { startScript } from '../core/store/script.ts';
import { withDirectory } from '../directory.ts';
import { needs } from '../needs.ts';
import { seededRandom } from '../oracle/skies.ts';
import { isDeno } from '../runtime.ts';

const test = suite('remote files');

interface Remote {
  readonly directory: string;
  readonly server: RangeServer;
  readonly content: Buffer;
  readonly counts: ReadCounts;
  files(options?: Partial<RemoteOptions>): Promise<CatalogFiles>;
}

const SIZE = 300_000;

/** A server of one file `dir/x`, of bytes that differ everywhere. */
function withServer(use: (remote: Remote) => Promise<void>): Promise<void> {
  return withDirectory(async directory => {
    mkdirSync(join(directory, 'dir'));
    const random = seededRandom(3);
    const content = Buffer.from(Uint8Array.from({ length: SIZE }, () => 256 * random()));
    writeFileSync(join(directory, 'dir/x'), content);
    const server = await serveFiles(directory);
    const counts = noReads();
    const files = (options: Partial<RemoteOptions> = {}) =>
      catalogFiles(`${server.url}/dir`, { remote: { ...REMOTE_DEFAULTS, pauseMs: 1, ...options }, counts });
    try {
      await use({ directory, server, content, counts, files });
    } finally {
      await server.close();
    }
  });
}

const RANGES = [
  [0, 10],
  [5, 100_000],
  [100_050, 100_060],
  [299_990, SIZE],
  [250_000, SIZE],
  [7, 7],
] as const;

async function checkRanges(files: CatalogFiles, content: Buffer): Promise<void> {
  const file = await files.open('x');
  assert.is(file.byteLength, SIZE);
  const read = await Promise.all(RANGES.map(([start, end]) => file.read(start, end)));
  RANGES.forEach(([start, end], at) => {
    assert.ok(content.subarray(start, end).equals(Buffer.from(read[at]!)), `${start} ${end}`);
  });
  file.close();
}

test('ranges are what the file holds; near ones come together, far ones and the end apart', () =>
  withServer(async ({ server, content, counts, files }) => {
    await checkRanges(await files(), content);
    assert.equal(
      server.asked.map(({ range }) => range),
      ['bytes=-65536', 'bytes=0-100059'],
    );
    assert.equal(counts, { requests: 2, retries: 0, networkBytes: 65_536 + 100_060, diskBytes: 0 });
    const file = await (await files()).open('x');
    server.asked.length = 0;
    await Promise.all([file.read(0, 10), file.read(180_000, 180_010)]);
    assert.equal(server.asked.map(({ range }) => range).sort(), ['bytes=0-9', 'bytes=180000-180009']);
    assert.match((await rejection(file.read(0, SIZE + 1))).message, /bytes 0 to 300001 of 300000 are wanted/);
  }));

for (const fault of [
  'drop',
  'truncate',
  'short',
  'slow',
  'error',
  'missing',
  'whole',
  'other range',
  'encoded',
] as const) {
  test(`now and then a host fails, and the bytes are the same: ${fault}`, () =>
    withServer(async ({ server, content, counts, files }) => {
      server.fault = (_, number) => (number % 2 ? fault : undefined);
      await checkRanges(await files(), content);
      const isFailure = fault !== 'slow' && fault !== 'whole';
      assert.is(counts.requests, server.asked.length);
      assert.is(counts.retries > 0, isFailure, `${counts.retries} retries`);
    }));
}

test('a host that asks for a pause gets it', () =>
  withServer(async ({ server, content, counts, files }) => {
    server.fault = (_, number) => (number === 1 ? 'busy' : undefined);
    await checkRanges(await files(), content);
    assert.is(counts.retries, 1);
    // The host asks for a second, and our own pause would be a millisecond: half a second is not enough.
    server.asked.length = 0;
    const error = await rejection((await files({ fileTimeoutMs: 500 })).open('x'));
    assert.match(error.message, /no time left for another attempt/);
    assert.is(server.asked.length, 1);
  }));

test('what stays wrong is a read failure that says how often it was asked', () =>
  withServer(async ({ server, files }) => {
    const failureOf = async (fault: Fault) => {
      server.asked.length = 0;
      server.fault = () => fault;
      return rejection((await files({ connections: 2 })).open('x'));
    };
    const forbidden = await failureOf('forbidden');
    assert.match(forbidden.message, /Cannot read http:\/\/127.*\/dir\/x: its host answers 403, tried 3 times/);
    const missing = await failureOf('missing');
    assert.instance(missing, MissingFile);
    assert.match(missing.message, /its host answers 404, tried 3 times/);
    const error = await failureOf('error');
    assert.instance(error, ReadFailure);
    assert.not.instance(error, MissingFile);
    assert.match(error.message, /its host answers 503, tried 8 times/);
    assert.is(server.asked.length, 8);
    // A host that has just failed gets fewer attempts for the next file, until it answers.
    assert.match((await failureOf('drop')).message, /tried 2 times/);
    server.fault = () => undefined;
    await (await files({ connections: 2 })).open('x');
    assert.match((await failureOf('drop')).message, /tried 8 times/);
  }));

test('a file is missing when that was said three times, whatever else went wrong between', () =>
  withServer(async ({ server, content, files }) => {
    const faults: Fault[] = ['drop', 'missing', 'error', 'missing', 'truncate', 'short'];
    server.fault = (_, number) => faults[number - 1];
    await checkRanges(await files({ connections: 6 }), content);
    server.asked.length = 0;
    faults.push('missing');
    const missing = await rejection((await files({ connections: 6 })).open('x'));
    assert.instance(missing, MissingFile);
    assert.is(server.asked.length, 7);
  }));

test('no host at all is a read failure', () =>
  withServer(async ({ server, files }) => {
    const remote = await files();
    await server.close();
    const error = await rejection(remote.open('x'));
    assert.instance(error, ReadFailure);
    assert.not.instance(error, MissingFile);
    assert.match(error.message, /\/dir\/x: .+, tried \d times/);
  }));

test('a file is there, or is not, or that cannot be told', () =>
  withServer(async ({ server, counts, files }) => {
    const remote = await files({ connections: 3 });
    assert.is(await remote.has('x'), true);
    assert.is(counts.networkBytes, 1);
    assert.is(await remote.has('y'), false);
    assert.is(await readText(remote, 'y'), undefined);
    assert.is(await remote.list('.'), undefined);
    server.fault = (_, number) => (number % 2 ? 'missing' : undefined);
    server.asked.length = 0;
    assert.is(await remote.has('x'), true);
    server.fault = () => 'error';
    assert.instance(await rejection(remote.has('y')), ReadFailure);
  }));

test('a host that does not count from the end is asked for the length first', () =>
  withServer(async ({ server, content, files }) => {
    server.suffixRanges = false;
    await checkRanges(await files(), content);
    assert.equal(
      server.asked.map(({ range }) => range),
      ['bytes=-65536', 'bytes=0-0', 'bytes=234464-299999', 'bytes=0-100059'],
    );
  }));

test('a host that never knows ranges sends the whole file, of which no more is taken than needed', () =>
  withServer(async ({ server, content, counts, files }) => {
    server.fault = () => 'whole';
    await checkRanges(await files(), content);
    assert.is(counts.retries, 0);
    assert.ok(counts.networkBytes <= 2 * SIZE, String(counts.networkBytes));
  }));

test('a long whole file where a range was asked for is refused', () =>
  withServer(async ({ directory, server, files }) => {
    server.fault = () => 'whole';
    writeFileSync(join(directory, 'dir/long'), Buffer.alloc((64 << 20) + 1));
    const error = await rejection((await files({ connections: 4 })).open('long'));
    assert.match(
      error.message,
      /sends the whole file of 67108865 bytes instead of the requested range: copy the catalog to a local directory, tried 8 times/,
    );
    assert.is(server.asked.length, 8);
  }));

for (const change of ['etag and time', 'length', 'time only', 'etag only'] as const) {
  test(`a file that changes between two ranges is begun anew: ${change}`, () =>
    withServer(async ({ directory, server, content, files }) => {
      server.validators = { etag: change !== 'time only', lastModified: change !== 'etag only' };
      const path = join(directory, 'dir/x');
      const remote = await files({ cache: { directory: join(directory, 'cache'), maxBytes: 1 << 30 } });
      const other = Buffer.from(content.map(byte => byte ^ 0xff));
      const replace = () => {
        writeFileSync(path, change === 'length' ? other.subarray(0, 200_000) : other);
        utimesSync(path, 1e9, 1e9);
      };
      const file = await remote.open('x');
      replace();
      const error = await rejection(file.read(0, 10));
      assert.instance(error, FileChanged);
      assert.instance(error, ReadFailure);
      assert.match(error.message, /it was replaced while it was read/);
      writeFileSync(path, content);
      let starts = 0;
      const bytes = await withStableFile(async () => {
        const opened = await remote.open('x');
        if (starts++ === 0) replace();
        return Buffer.concat([Buffer.from(await opened.read(0, 99)), Buffer.from(await opened.read(99, 199))]);
      });
      assert.is(starts, 2);
      assert.ok(other.subarray(0, 199).equals(bytes));
    }));
}

test('a file that keeps changing is a read failure', () =>
  withServer(async ({ directory, files }) => {
    const remote = await files();
    let starts = 0;
    const error = await rejection(
      withStableFile(async () => {
        const file = await remote.open('x');
        utimesSync(join(directory, 'dir/x'), 1e9, 1e9 + starts++);
        return file.read(0, 10);
      }),
    );
    assert.instance(error, ReadFailure);
    assert.is(starts, 3);
  }));

test('no more is received of a file than allowed, and for no longer', () =>
  withServer(async ({ server, files }) => {
    const file = await (await files({ maxFileBytes: 100_000 })).open('x');
    await file.read(0, 30_000);
    const tooMuch = await rejection(file.read(0, 30_000));
    assert.instance(tooMuch, ReadFailure);
    assert.match(tooMuch.message, /needs more than 100000 bytes: copy the catalog/);
    server.fault = () => 'error';
    const tooLong = await rejection(
      (await files({ fileTimeoutMs: 10_000, pauseMs: 60_000, connections: 5 })).open('x'),
    );
    assert.instance(tooLong, ReadFailure);
    assert.match(tooLong.message, /no time left for another attempt/);
    server.fault = () => 'slow';
    assert.match(
      (await rejection((await files({ fileTimeoutMs: 50 })).open('x'))).message,
      /its time limit was reached/,
    );
  }));

test('what was read is not asked for again, by any reader of the cache, until the file may have changed', () =>
  withServer(async ({ directory, server, content, counts, files }) => {
    const cache = { directory: join(directory, 'cache'), maxBytes: 1 << 30 };
    await checkRanges(await files({ cache }), content);
    server.asked.length = 0;
    await checkRanges(await files({ cache }), content);
    assert.equal(server.asked, []);
    assert.is(counts.diskBytes, 65_536 + 10 + 99_995 + 10);
  }));

test('addresses in one spelling; none with a secret, and none is repeated', () => {
  assert.is(checkedAddress('HTTPS://Data.LSDB.io:443/hats//gaia/'), 'https://data.lsdb.io/hats//gaia');
  assert.is(checkedAddress('s3://bucket/a/b/'), 's3://bucket/a/b');
  const refusals: readonly (readonly [string, RegExp])[] = [
    ['https://me:secret@host/x', /at host because its address contains a user name or password/],
    ['https://secret@host/x', /a user name or password/],
    ['https://host/x?token=secret', /a query or a fragment/],
    ['https://host/x#secret', /a query or a fragment/],
    ['ftp://host/x', /catalogs are read from http:\/\/HOST\/PATH, .* or a local directory: copy it/],
    [
      'https://',
      /Cannot open https:\/\/ because it names no host or bucket: .* s3:\/\/BUCKET\/KEY .* file:\/\/\/PATH or a local directory/,
    ],
    ['s3://', /Cannot open s3:\/\/ because it names no host or bucket/],
    ['s3:/bucket/key', /Cannot open s3:\/bucket\/key because it names no host or bucket/],
    ['s3:///key', /Cannot open s3:\/\/\/key because/],
    ['http://me:secret@', /Cannot open http:\/\/…@ because/],
    ['https://?key=secret', /Cannot open https:\/\/… because/],
  ];
  for (const [address, expected] of refusals) {
    try {
      checkedAddress(address);
      assert.unreachable(address);
    } catch (error) {
      assert.instance(error, CatalogError);
      assert.match((error as Error).message, expected);
      assert.not.match((error as Error).message, /secret/);
    }
  }
  assert.is(relativeAddress('https://host/a/b', 'c'), 'https://host/a/b/c');
  assert.is(relativeAddress('https://host/a/b', '../c/'), 'https://host/a/c');
  assert.is(relativeAddress('https://host/a/b', '/c'), 'https://host/c');
  assert.is(relativeAddress('https://host', 'c'), 'https://host/c');
  assert.is(relativeAddress('s3://bucket/a/b', 'c'), 's3://bucket/a/b/c');
  assert.is(relativeAddress('s3://bucket/a/b', 's3://other/c/'), 's3://other/c');
  assert.throws(() => relativeAddress('https://host/a', 'https://me:secret@host/x'), /user name/);
});

test('an s3 address is asked for at the public endpoint of its bucket', () => {
  assert.is(requestUrl('s3://stpubdata/gaia/x.parquet'), 'https://stpubdata.s3.amazonaws.com/gaia/x.parquet');
  assert.is(requestUrl('s3://my.data/x'), 'https://s3.amazonaws.com/my.data/x');
  assert.is(requestUrl('https://host/x'), 'https://host/x');
});

test('an answer leads on to another host at a public address only, unless a setting allows it', () =>
  withServer(async ({ directory, server, content, files }) => {
    const { port } = new URL(server.url);
    const there = (host: string) => `http://${host}:${port}/dir/x`;
    const elsewhere = ['localhost', '127.0.0.2', '[::1]', '[::ffff:127.0.0.1]', '2130706433'];
    const readAll = async (opened: CatalogFiles, name: string) =>
      Buffer.from(await (await opened.open(name)).read(0, SIZE));
    for (const host of elsewhere) {
      server.redirect = path => (path === '/dir/away' ? there(host) : undefined);
      server.asked.length = 0;
      // The last one is another spelling of the host itself.
      if (host === '2130706433') {
        assert.ok(content.equals(await readAll(await files(), 'away')));
        continue;
      }
      const { message } = await rejection((await files()).open('away'));
      assert.match(message, /dir\/away: it redirects to .*, which is not a public address: .* set privateRedirects$/);
      assert.is(server.asked.length, 1, `${host} was asked`);
    }
    server.redirect = path => (path === '/dir/away' ? there('localhost') : undefined);
    assert.ok(content.equals(await readAll(await files({ privateRedirects: true }), 'away')));
    // A connection that an earlier reader has made to that host does not allow others to connect.
    const own = await catalogFiles(there('localhost').replace('/x', ''), {
      remote: { ...REMOTE_DEFAULTS, pauseMs: 1 },
    });
    assert.ok(content.equals(await readAll(own, 'x')));
    assert.match((await rejection((await files()).open('away'))).message, 'not a public address');
    // The properties of a collection may name an address, too.
    const named = (await files()).directory(there('localhost').replace('/x', ''));
    assert.match((await rejection(named.open('x'))).message, 'not a public address');
    const primary = `hats_primary_table_url=${there('localhost').replace('/x', '')}\n`;
    writeFileSync(join(directory, 'dir/collection.properties'), `obj_collection=c\n${primary}`);
    assert.match((await rejection(openHats(`${server.url}/dir`))).message, 'not a public address');
  }));

test('a file: address is that of a local directory, percent-encoded or not', () =>
  withDirectory(async directory => {
    const folder = join(directory, 'with blanks, 100 % ä');
    mkdirSync(folder);
    writeFileSync(join(folder, 'x'), 'here');
    const encoded = pathToFileURL(folder).href;
    assert.match(encoded, '%20');
    for (const location of [encoded, encoded.replace('file:', 'FILE:'), `${encoded}/`]) {
      const files = await catalogFiles(location);
      assert.is(files.location, folder);
      assert.is(await readText(files, 'x'), 'here');
    }
    assert.is((await catalogFiles(directory)).directory(encoded).location, folder);
    assert.match(
      (await rejection(catalogFiles('file://host/x'))).message,
      /^Cannot open file:\/\/host\/x: .* Catalogs are read from/,
    );
  }));

test('redirects in a circle are few', () =>
  withServer(async ({ server, files }) => {
    const refusal = async (redirect: RangeServer['redirect']) => {
      server.redirect = redirect;
      server.asked.length = 0;
      const { message } = await rejection((await files()).open('x'));
      assert.ok(server.asked.length <= 6, `${server.asked.length} requests`);
      return message;
    };
    assert.match(await refusal(path => path), 'endlessly');
    assert.match(await refusal(path => (path === '/dir/x' ? '/dir/y' : '/dir/x')), /endlessly|more than 5 times$/);
    assert.match(await refusal(path => `${path}0`), /redirected more than 5 times$/);
    assert.match(await refusal(() => 'file:///etc/hostname'), 'not to an http address');
  }));

test('which addresses are public', () => {
  const no = `0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.9.9.9 169.254.169.254 172.16.0.1 172.31.255.255 192.168.1.1 198.18.0.1 224.0.0.1
    192.0.0.9 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.175.48.1 198.51.100.7 203.0.113.7 240.0.0.1 100::1 100:0:0:1::1
    2001::1 2001:2::1 2001:10::1 2001:20::1 2001:1ff::1 2001:db8::1 2002::1 2620:4f:8000::1 3fff::1 5f00::1 fec0::1 255.255.255.255 :: ::1 ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 fc00::1 fd12::1 fe80::1 fe80::1%eth0 ff02::1 none`;
  for (const address of no.split(/\s+/)) assert.is(isPublicAddress(address), false, address);
  for (const { address } of Object.values(networkInterfaces()).flatMap(each => each ?? []))
    assert.is(isPublicAddress(address), false, address);
  const yes = '1.1.1.1 172.32.0.1 192.167.1.1 100.128.0.1 169.253.1.1 2606:4700::1111 ::ffff:8.8.8.8 2001:db9::1';
  for (const address of yes.split(' ')) assert.is(isPublicAddress(address), true, address);
});

const obstacle = isDeno ? 'Deno ends by a panic when it can open no file' : undefined;
needs(test, obstacle)('a process that could open no file at its first request reads the next one', () =>
  withServer(async ({ server }) => {
    const script = new URL('no_file_left.ts', import.meta.url);
    const under = ['sh', '-c', 'ulimit -n 256; exec "$0" "$@"'];
    const { output } = await startScript(script, [`${server.url}/dir`], { under }).ended;
    assert.is(output.trim(), 'failed, read');
  }),
);

test.run();
