/** `against=` catalogs with a radius of their own. */
import { join } from 'node:path';
import { openTable } from '@nearsky/astrotables';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TestApp } from '../../core/http/support.ts';
import { addRadiusCatalog, scan, seams } from '../crossmatch/own_radii.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('table_match/own radius');

test('without radius_arcsec each catalog is searched within its own radius; radius_arcsec replaces it [Crossmatch of a table]', () =>
  inWorld(async world => {
    const catalogs = [await addRadiusCatalog(world, 'galaxies'), await addRadiusCatalog(world, 'xray')];
    const places = [...seams(8, 45, 3), ...catalogs[1]!.places.slice(0, 40)];
    const table = `ra,dec\n${places.map(({ ra, dec }) => `${ra},${dec}`).join('\n')}\n`;
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      /** The columns as text, and the answer's text as a VOTable. */
      const ask = async (search: string) => {
        const answers = ['csv', 'votable'].map(format => `/api/crossmatch?format=${format}&${search}`);
        const [csv, votable] = await Promise.all(answers.map(path => app.post(path, table, 'text/csv')));
        assert.is(csv!.status, 200, csv!.text);
        const read = await openTable(new TextEncoder().encode(csv!.text), { maxRows: 9999, maxBytes: 1e8 }, true);
        const cells: string[][] = read.columns.map(() => []);
        for await (const block of read.blocks(read.columns.map((_, i) => i)))
          block.cells.forEach((of, i) => void cells[i]!.push(...Array.from(of, cell => `${cell ?? ''}`)));
        return { columns: new Map(read.columns.map(({ name }, i) => [name, cells[i]!])), about: votable!.text };
      };
      const expected = (at: number, fixed?: number) =>
        places.map(place => {
          const id = scan(catalogs[at]!, place, fixed)[0]?.id;
          return id === undefined ? '' : `${id}`;
        });
      for (const [at, { name, radius }] of catalogs.entries()) {
        const own = await ask(`against=${name}`);
        assert.equal(own.columns.get('nearsky_source_id'), expected(at), name);
        assert.match(own.about, `&quot;radius_arcsec&quot;:${radius.arcsec},&quot;find`);
        assert.match(own.about, `&quot;The ${name}&quot;,&quot;radius_arcsec&quot;:${radius.arcsec}`);
        const fixed = await ask(`against=${name}&radius_arcsec=7.5`);
        assert.match(fixed.about, '&quot;radius_arcsec&quot;:7.5,&quot;find');
        assert.match(fixed.about, `&quot;The ${name}&quot;}`);
        assert.equal(fixed.columns.get('nearsky_source_id'), expected(at, 7.5), name);
        const every = await ask(`against=${name}&find=all`);
        const pairs = places.reduce((sum, place) => sum + scan(catalogs[at]!, place).length, 0);
        assert.is(every.columns.get('nearsky_source_id')!.filter(id => id !== '').length, pairs);
      }
      const all = await ask('against=all');
      for (const [at, { name }] of catalogs.entries())
        assert.equal(all.columns.get(`nearsky_${name}_source_id`), expected(at), name);
    } finally {
      await app.app.close();
    }
  }));

test.run();
