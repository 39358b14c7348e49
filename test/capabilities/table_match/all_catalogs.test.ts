/** `against=all`: each row beside the answers of the catalogs one by one. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { openTable } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MATCH_FORMATS } from '../../../src/core/contract/formats.ts';
import type { TestApp } from '../../core/http/support.ts';
import { HARD_PLACES, offset, seededRandom } from '../../oracle/skies.ts';
import { inWorld, type WrittenCatalog } from '../crossmatch/world.ts';
import { withApp } from './app.ts';

const test = suite('table_match/all_catalogs');

const CATALOGS = ['gaia_dr3', 'des_y6_gold'];

/** The cells of an answer by column, read with the format's own reader, as strings. */
async function columnsOf(app: TestApp, search: string, table: string): Promise<Map<string, string[]>> {
  const request = new Request(`http://localhost/api/crossmatch?${search}`, { method: 'POST', body: table });
  const answer = await app.app.fetch(request);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  assert.is(answer.status, 200, new TextDecoder().decode(bytes.subarray(0, 300)));
  const read = await openTable(bytes, { maxRows: 9999, maxBytes: 1e8 }, true);
  const cells: string[][] = read.columns.map(() => []);
  for await (const block of read.blocks(read.columns.map((_, i) => i)))
    block.cells.forEach((of, i) => void cells[i]!.push(...Array.from(of, cell => `${cell ?? ''}`)));
  return new Map(read.columns.map(({ name }, i) => [name, cells[i]!]));
}

test('one row per input, with the columns that each catalog alone gives, in every format [Crossmatch of a table]', () =>
  inWorld(async world => {
    const random = seededRandom(64);
    const around = (each: number) =>
      HARD_PLACES.flatMap(place => Array.from({ length: each }, () => offset(place, 5 * random() ** 2, 7 * random())));
    const written: WrittenCatalog[] = [];
    for (const name of CATALOGS) written.push(await world.addCatalog(name, around(15), { maxRows: 40 }));
    const places = around(6);
    const rows = [...places.map(({ ra, dec }) => `${ra},${dec}`), '12,60', 'x,1'];
    const table = `ra,dec\n${rows.join('\n')}\n`;
    await withApp(world, async app => {
      const compare = async (more: string, formats: readonly string[]) => {
        const alone = await Promise.all(
          CATALOGS.map(name => columnsOf(app, `against=${name}&radius_arcsec=3&format=ndjson${more}`, table)),
        );
        for (const format of formats) {
          const all = await columnsOf(app, `against=all&radius_arcsec=3&format=${format}${more}`, table);
          const named = [...all.keys()];
          const expected = CATALOGS.flatMap((name, i) =>
            [...alone[i]!.keys()].slice(2).map(column => column.replace(/^nearsky_/, `nearsky_${name}_`)),
          );
          assert.equal(named, ['ra', 'dec', 'nearsky_status', ...expected], format);
          CATALOGS.forEach((name, i) => {
            for (const [column, cells] of [...alone[i]!].slice(2)) {
              const found = all.get(column.replace(/^nearsky_/, `nearsky_${name}_`))!;
              assert.equal(found.map(plain), cells.map(plain), `${format} ${name} ${column}`);
            }
          });
          const statuses = CATALOGS.map(name => all.get(`nearsky_${name}_status`)!);
          const together = all.get('nearsky_status')!;
          assert.is(together.length, rows.length);
          together.forEach((status, row) => {
            const of = statuses.map(column => column[row]!);
            const order = ['matched', 'invalid_position', 'skipped_read_failure', 'no_match', 'outside_footprint'];
            assert.is(
              status,
              order.find(each => of.includes(each)),
              `row ${row}`,
            );
          });
        }
      };
      await compare(
        '',
        MATCH_FORMATS.map(({ name }) => name),
      );
      await compare('&error_arcsec=0.1', ['parquet']);
      const kept = await columnsOf(app, 'against=all&radius_arcsec=3&rows=matched&format=csv', table);
      const all = await columnsOf(app, 'against=all&radius_arcsec=3&format=csv', table);
      const matched = all.get('nearsky_status')!.filter(status => status === 'matched').length;
      assert.ok(matched > 0 && matched < rows.length);
      assert.equal(kept.get('nearsky_status'), Array(matched).fill('matched'));
      assert.ok(
        kept.get('nearsky_gaia_dr3_status')!.some(status => status !== 'matched'),
        'only the other one',
      );
      const answer = await app.post('/api/crossmatch?against=all&radius_arcsec=3&rows=matched', table, 'text/csv');
      assert.is(answer.headers.get('X-Row-Count'), `${matched}`);
      const pairs = CATALOGS.map(name => all.get(`nearsky_${name}_status`)!.filter(each => each === 'matched').length);
      assert.is(answer.headers.get('X-Match-Count'), `${pairs[0]! + pairs[1]!}`);
      const refused = await app.post('/api/crossmatch?against=all&find=all', table, 'text/csv');
      assert.equal([refused.status, refused.body.param], [400, 'find']);
      const partition = written[0]!.partitions[0]!;
      for (const file of partition.files) rmSync(join(written[0]!.location, file));
      const unread = await columnsOf(app, 'against=all&radius_arcsec=3&format=csv', table);
      const gaia = unread.get('nearsky_gaia_dr3_status')!;
      assert.ok(gaia.includes('skipped_read_failure'));
      unread.get('nearsky_status')!.forEach((status, row) => {
        if (gaia[row] === 'skipped_read_failure')
          assert.ok(['matched', 'skipped_read_failure'].includes(status), 'an unread catalog is not an empty one');
      });
    });
  }));

/** Formats differ in how they write a null, and FITS in the type of small integers. */
const plain = (cell: string) => (cell === 'NaN' ? '' : cell);

test('VOTable, ECSV and FITS carry the radius, the catalogs, their releases and the time; no catalog is 400 [Crossmatch of a table]', () =>
  inWorld(async world => {
    await withApp(world, async app => {
      const none = await app.post('/api/crossmatch?against=all', 'ra,dec\n10,10\n', 'text/csv');
      assert.equal([none.status, /no catalog is registered/.test(none.text)], [400, true]);
    });
    await world.addCatalog('gaia_dr3', [{ ra: 10, dec: 10 }]);
    await withApp(world, async app => {
      for (const format of ['votable', 'ecsv', 'fits']) {
        const path = `/api/crossmatch?against=all&radius_arcsec=2.5&format=${format}`;
        const { text } = await app.post(path, 'ra,dec\n10,10\n', 'text/csv');
        const about = format === 'fits' ? historyOf(text) : text.replaceAll('&quot;', '"');
        for (const said of [
          /"radius_arcsec": ?2\.5/,
          /"against": ?"all"/,
          /"searched": ?\["gaia_dr3"\]/,
          /"release": ?"Gaia DR3"/,
          /"time": ?"20\d\d-\d\d-\d\dT/,
        ])
          assert.match(about, said, format);
      }
    });
  }));

/** The cards of a FITS header have 80 bytes each. */
const historyOf = (text: string) =>
  (text.match(/.{80}/gs) ?? [])
    .filter(card => card.startsWith('HISTORY '))
    .map(card => card.slice(8, 78))
    .join('');

test.run();
