/** Catalogs over HTTP, as a user has them: the same answers and words as from a directory. */
import { cpSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { everyNth, type RangeServer, serveFiles } from '../core/catalogs/range_server.ts';
import { CATALOGS, nearsky, sample, start, withDirectory } from './support.ts';

const test = suite('remote catalogs');

function withServer(use: (server: RangeServer, directory: string) => Promise<void>): Promise<void> {
  return withDirectory(async directory => {
    cpSync(join(sample, 'catalogs'), join(directory, 'catalogs'), { recursive: true });
    const server = await serveFiles(join(directory, 'catalogs'));
    try {
      await use(server, directory);
    } finally {
      await server.close();
    }
  });
}

const bytesIn = (directory: string) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map(name => statSync(join(directory, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);

test('the sample over a host that fails now and then gives what its directories give', () =>
  withServer(async (server, directory) => {
    const [local, remote] = [join(directory, 'local'), join(directory, 'remote')];
    for (const data of [local, remote])
      await nearsky('ingest', '--broker', 'lasair', join(sample, 'alerts/lasair.ndjson'), '--data', data);
    server.fault = everyNth(10, ['drop', 'truncate', 'error', 'slow']);
    for (const name of CATALOGS) {
      const there = await nearsky('catalog', 'add', name, join(sample, 'catalogs', name), '--data', local);
      const here = await nearsky('catalog', 'add', name, `${server.url}/${name}/`, '--rows', '--data', remote);
      assert.equal({ ...here, location: '', added_at: '' }, { ...there, location: '', added_at: '' });
      assert.is(here.location, `${server.url}/${name}`);
      assert.equal(
        await nearsky('catalog', 'check', name, '--rows', '--data', remote),
        await nearsky('catalog', 'check', name, '--data', local),
      );
    }
    const expected = await nearsky('crossmatch', '--data', local);
    const found = await nearsky('crossmatch', '--data', remote);
    assert.equal({ ...found, reads: {} }, { ...expected, reads: {} });
    const lines = async (data: string) => {
      const { stdout } = await start(['export', '--data', data]).finished;
      return stdout
        .replaceAll(/"(ingest_time|crossmatched_at)":"[^"]*"/g, '')
        .split('\n')
        .sort();
    };
    assert.equal(await lines(remote), await lines(local));
    // The second run reads the same bytes from the disk.
    server.asked.length = 0;
    await nearsky('ingest', '--broker', 'lasair', join(sample, 'alerts/lasair-late.ndjson'), '--data', remote);
    assert.ok(((await nearsky('crossmatch', '--data', remote)).recorded as number) > 0);
    assert.ok(server.asked.length < 10, String(server.asked.length));
    assert.ok(bytesIn(join(remote, 'catalog-cache')) > 10_000);
  }));

test('an address that is none, one with a secret, one that is not there', () =>
  withServer(async (server, directory) => {
    const add = async (location: string) => {
      const data = join(directory, 'data');
      const { code, stdout, stderr } = await start(['catalog', 'add', 'gaia_dr3', location, '--data', data]).finished;
      assert.is(code, 1);
      assert.is(stdout, '');
      assert.is(stderr.trim().split('\n').length, 1);
      return stderr;
    };
    const secret = await add(`http://me:pa55word@${new URL(server.url).host}/gaia_dr3`);
    assert.match(secret, /a user name or password.*give the address of a public catalog/);
    assert.not.match(secret, /pa55word/);
    assert.equal(server.asked, []);
    assert.match(await add(`${server.url}/nowhere`), /contains none of hats\.properties/);
    assert.match(await add('ftp://host/x'), /ftp:\/\/host\/x because catalogs are read from .* or a local directory/);
    assert.match(await add(`${server.url}/des_y6_gold`), /as gaia_dr3 because it has no column source_id/);
    // Cached files neither make a directory a data directory, nor prevent one.
    const data = join(directory, 'data');
    assert.equal(readdirSync(data), ['catalog-cache']);
    assert.match((await start(['stats', '--data', data]).finished).stderr, /nothing is stored there yet/);
    assert.is((await nearsky('catalog', 'add', 'gaia_dr3', `${server.url}/gaia_dr3`, '--data', data)).partitions, 7);
  }));

test.run();
