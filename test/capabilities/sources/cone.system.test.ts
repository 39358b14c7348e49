/** What `nearsky cone` prints of the catalogs' sources. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nearsky, sample, start, withDirectory } from '../../e2e/support.ts';

const test = suite('sources/cone');

const run = (...args: readonly string[]) => start(args).finished;

test('where no object is, the table lists the sources of the catalogs, and which were searched', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    await nearsky('catalog', 'add', '--data', data, 'gaia_dr3', join(sample, 'catalogs/gaia_dr3'));
    const star = ['61.62059851718', '-49.29666528056', '1'];
    const found = await run('cone', '--data', data, '--format', 'table', ...star);
    assert.equal([found.code, found.stderr], [0, '']);
    const sources = ['cone', '--data', data, '--sources', '--format'];
    const { sources: listed } = JSON.parse((await run(...sources, 'json', ...star)).stdout);
    const [{ catalog_source_id: id, magnitude, catalog_payload, verdict }] = listed;
    assert.equal([listed.length, magnitude], [1, catalog_payload.phot_g_mean_mag]);
    const lines = found.stdout.trimEnd().split('\n');
    assert.equal(lines.slice(1, 6), [
      '0 objects',
      '',
      '1 catalog source within 1 arcsec',
      'searched: gaia_dr3',
      'not_registered: des_y6_gold, delve_dr3_gold, skymapper_dr4',
    ]);
    assert.equal(lines.at(-1)!.trim().split(/ {2,}/), ['gaia_dr3', id, '0.000', `G ${magnitude.toFixed(3)}`, verdict]);
    assert.match((await run(...sources, 'csv', ...star)).stdout, new RegExp(`\ngaia_dr3,${id},`));
    const nowhere = await run(...sources, 'table', '1', '1', '1');
    assert.match(nowhere.stdout, /^No catalog covers this position\noutside_footprint: gaia_dr3\n/);
  }));

test.run();
