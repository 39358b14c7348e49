/** Decimal hours as right ascensions: a warning, and `ra_unit`. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tableOfList } from '../../../src/capabilities/objects/search_text.js';
import { TestApp } from '../../core/http/support.ts';
import { inWorld } from '../crossmatch/world.ts';
import { AT, BEYOND_24, DEC, LISTS, RA } from '../objects/lists.ts';

const test = suite('table_match/hours');

test('all below 24, over the sky: a warning that names ra_unit=h, which reads them as hours [Crossmatch of a table]', () =>
  inWorld(async world => {
    const places = Array.from({ length: 12 }, (_, i) => ({ ra: 15 * (1.9 * i), dec: 6 * i - 40 }));
    await world.ingest(places);
    const app = await new TestApp(join(world.directory, 'data')).ready();
    const tableOf = (some: typeof places, divisor: number, name = 'ra') =>
      `${name},dec\n${some.map(({ ra, dec }) => `${ra / divisor},${dec}\n`).join('')}`;
    const send = async (search: string, table: string) => {
      const { status, headers, text } = await app.post(`/api/crossmatch${search}`, table, 'text/csv');
      assert.is(status, 200, text);
      return { warning: headers.get('X-Position-Warning'), matched: text.match(/,matched,/g)?.length ?? 0 };
    };
    try {
      const hours = tableOf(places, 15);
      const { warning } = await send('', hours);
      assert.match(warning!, 'ra_unit=h');
      assert.equal(await send('?ra_unit=h', hours), { warning: null, matched: 12 });
      assert.is((await send('?ra_unit=deg', hours)).warning, null);
      assert.equal(await send('', tableOf(places, 1)), { warning: null, matched: 12 });
      assert.is((await send('', tableOf(places.slice(0, 5), 15))).warning, null, 'too few to tell');
      const near = places.map(({ ra }, i) => ({ ra: ra / 15, dec: i / 10 }));
      assert.is((await send('', tableOf(near, 1))).warning, null, 'a strip of the sky');
      const ecsv =
        '# %ECSV 1.0\n# ---\n# datatype:\n# - {name: ra, unit: deg, datatype: float64}\n# - {name: dec, unit: deg, datatype: float64}\n';
      const stated = await app.post('/api/crossmatch?ra_unit=h', ecsv + hours.replaceAll(',', ' '), 'text/csv');
      assert.equal([stated.status, stated.body.param], [400, 'ra_unit']);
      const degrees = await app.post('/api/crossmatch?ra_unit=h', tableOf(places, 1), 'text/csv');
      assert.is(degrees.status, 400, degrees.text);
      assert.match(degrees.body.message, BEYOND_24);
    } finally {
      await app.app.close();
    }
  }));

test('lists as people paste them are rows of a crossmatch', () =>
  inWorld(async world => {
    await world.ingest([{ ra: RA, dec: DEC }]);
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      for (const [from, pasted, ...expected] of LISTS) {
        const list = tableOfList(pasted);
        if (list === undefined) continue;
        const { status, text } = await app.post('/api/crossmatch', list, 'text/csv');
        assert.is(status, 200, `${from}: ${text}`);
        const rows = text.trimEnd().split('\n').slice(1);
        assert.is(rows.length, list.trimEnd().split('\n').length - 1, from);
        expected.slice(-rows.length).forEach((each, i) => {
          const isPosition = typeof each === 'string' && each.startsWith(AT);
          assert.match(rows[i]!, isPosition ? /,(?:matched|no_match),/ : ',invalid_position,', from);
        });
      }
    } finally {
      await app.app.close();
    }
  }));

test.run();
