/** `nearsky match`, over a data directory and over a service: both give the API's tables. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createApp } from '../../../src/core/app.ts';
import { MATCH_FORMATS } from '../../../src/core/contract/formats.ts';
import type { RowProgress } from '../../../src/core/contract/row_progress.ts';
import { API, configWith, PARTS } from '../../capabilities.ts';
import { nearsky, sample, start, startServer, withDirectory } from '../../e2e/support.ts';
import { HARD_PLACES } from '../../oracle/skies.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('table_match/match');

const ID = '313637935709683761';

const run = (...args: readonly string[]) => start(['match', ...args]).finished;

test('to a file and to standard output, from the directory and from the service; what is refused leaves nothing', () =>
  withDirectory(async directory => {
    const data = join(directory, 'data');
    await nearsky('ingest', '--broker', 'lasair', '--data', data, join(sample, 'alerts/lasair.ndjson'));
    const server = await startServer(['serve', '--data', data, '--port', '0', '--no-crossmatch', '--no-refresh']);
    const tables = join(directory, 'tables');
    const table = `${directory}/table.csv`;
    writeFileSync(table, 'a,ra,dec\n1,61.62227592104076,-49.29512529953388\n2,1,1\n');
    const texts: string[] = [];
    for (const where of [
      ['--data', data],
      ['--url', server.url],
    ]) {
      const printed = await run(table, ...where, '--radius', '60');
      assert.is(printed.code, 0, printed.stderr);
      assert.match(printed.stderr, /2 rows, positions from ra and dec \(ICRS\); 1 found/);
      texts.push(printed.stdout);
    }
    assert.is(texts[0], texts[1]);
    const file = join(directory, 'out.csv');
    const written = await run(table, '--url', server.url, '--radius', '60', '-o', file);
    assert.equal([written.code, written.stdout], [0, '']);
    assert.is(readFileSync(file, 'utf8'), texts[0]);
    const parquet = join(directory, 'out.parquet');
    assert.is((await run(table, '--url', server.url, '-o', parquet)).code, 0);
    assert.is(readFileSync(parquet, 'latin1').slice(0, 4), 'PAR1');
    // The file's name alone decides the format.
    for (const { name, extensions } of MATCH_FORMATS)
      for (const extension of extensions) {
        const out = join(directory, `each.${extension}`);
        assert.is((await run(table, '--url', server.url, '-o', out)).code, 0, extension);
        const begin: Readonly<Record<string, string>> = {
          csv: 'a,ra,dec,',
          ecsv: '# %ECSV 1.0\n',
          ndjson: '{"a": ',
          votable: '<?xml',
          parquet: 'PAR1',
          arrow: '\xff\xff\xff\xff',
          fits: 'SIMPLE  =',
        };
        assert.ok(readFileSync(out, 'latin1').startsWith(begin[name]!), extension);
      }
    for (const name of ['out.tsv', 'out.tex', 'out.csv.gz']) {
      const other = await run(table, '--url', server.url, '-o', join(directory, name));
      assert.equal([other.code, existsSync(join(directory, name))], [2, false], name);
      assert.match(other.stderr, /its name must end with one of \.csv, \.ecsv, .*\.fits/);
    }
    const nowhere = await run(table, '--url', server.url, '-o', join(directory, 'none/out.csv'));
    assert.is(nowhere.code, 1);
    assert.match(nowhere.stderr, /^nearsky match: .*none\/out\.csv.*no such file or directory/);
    const [, first, second] = texts[0]!.split('\n');
    assert.ok(first!.startsWith(`1,61.62227592104076,-49.29512529953388,matched,${ID},`), first);
    assert.ok(second!.startsWith('2,1,1,no_match,,'), second);
    const refused: [args: string[], code: number, message: RegExp][] = [
      [[table, '--against', 'usno'], 2, /one of objects/],
      [[], 2, /takes one TABLE/],
    ];
    for (const [args, code, message] of refused) {
      const { code: ended, stderr, stdout } = await run('-o', tables, ...args, '--data', data);
      assert.equal([ended, stdout], [code, ''], stderr);
      assert.match(stderr, message);
    }
    assert.not.ok(existsSync(tables));
    assert.equal(
      readdirSync(directory).filter(name => name.endsWith('.part')),
      [],
    );
    await server.stop();
  }));

test('the rows that are searched and written are counted, against objects and against a catalog', () =>
  inWorld(async world => {
    const places = HARD_PLACES.slice(0, 3);
    await world.ingest(places);
    await world.addCatalog('gaia_dr3', places);
    const config = configWith({ NEARSKY_DATA: join(world.directory, 'data') });
    for (const against of ['objects', 'gaia_dr3']) {
      let last: RowProgress | undefined;
      const app = createApp({ config, api: API, parts: PARTS, log: () => {}, onProgress: now => (last = now) });
      while (!app.ready) await sleep(5);
      const body = `ra,dec\n${places.map(({ ra, dec }) => `${ra},${dec}`).join('\n')}\n`;
      const request = new Request(`http://localhost/api/crossmatch?against=${against}`, { method: 'POST', body });
      await (await app.fetch(request)).text();
      await app.close();
      assert.equal(last, { of: 3, searched: 3, done: 3 });
    }
  }));

test.run();
