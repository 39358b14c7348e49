/** Decimal hours as right ascensions in lookups and samples, in JSON and in tables: a warning, and `ra_unit`. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tableOfList } from '../../../src/capabilities/objects/search_text.js';
import { TestApp } from '../../core/http/support.ts';
import { inWorld } from '../crossmatch/world.ts';
import { BEYOND_24, LISTS } from '../objects/lists.ts';

const test = suite('sample/hours');

const places = Array.from({ length: 12 }, (_, i) => ({ ra: 15 * (1.9 * i), dec: 6 * i - 40 }));

const withObjects = (body: (app: TestApp) => Promise<void>) =>
  inWorld(async world => {
    await world.ingest(places);
    const app = await new TestApp(join(world.directory, 'data')).ready();
    try {
      await body(app);
    } finally {
      await app.app.close();
    }
  });

test('lookups, samples and their tables warn alike, and read hours [Lookup; Sample]', () =>
  withObjects(async app => {
    const inputs = (divisor: number, some = places) =>
      some.map(({ ra, dec }) => ({ kind: 'position', ra: ra / divisor, dec, radius_arcsec: 1 }));
    const table = (divisor: number, some = places) =>
      `ra,dec\n${some.map(({ ra, dec }) => `${ra / divisor},${dec}\n`).join('')}`;
    const foundOf = (body: { results?: { total: number }[]; rows?: { diaObjectId_str: string | null }[] }) =>
      body.results
        ? body.results.filter(({ total }) => total > 0).length
        : body.rows!.filter(row => row.diaObjectId_str !== null).length;
    for (const [path, sent, type] of [
      ['/api/lookup', (by: number, some?: typeof places) => ({ inputs: inputs(by, some) }), 'application/json'],
      ['/api/sample', (by: number, some?: typeof places) => ({ inputs: inputs(by, some) }), 'application/json'],
      ['/api/sample', table, 'text/csv'],
    ] as const) {
      const ask = async (search: string, body: unknown) => {
        const answer = await app.post(`${path}${search}`, body, type);
        assert.is(answer.status, 200, answer.text);
        return { warning: answer.headers.get('X-Position-Warning'), found: foundOf(answer.body) };
      };
      const doubtful = await ask('', sent(15));
      assert.match(doubtful.warning!, 'ra_unit=h');
      assert.equal(await ask('?ra_unit=h', sent(15)), { warning: null, found: 12 }, path);
      assert.is((await ask('?ra_unit=deg', sent(15))).warning, null);
      assert.equal(await ask('', sent(1)), { warning: null, found: 12 });
      assert.is((await ask('', sent(15, places.slice(0, 5)))).warning, null, 'too few to tell');
      const { status, body } = await app.post(`${path}?ra_unit=x`, sent(15), type);
      assert.equal([status, body.param], [400, 'ra_unit']);
    }
    const late = await app.post('/api/lookup?ra_unit=h', {
      inputs: [{ kind: 'position', ra: 25, dec: 1, radius_arcsec: 1 }],
    });
    assert.is(late.body.results[0].error.message.includes('24'), true, late.text);
    const degrees = await app.post('/api/sample?ra_unit=h', table(1), 'text/csv');
    assert.is(degrees.status, 400, degrees.text);
    assert.match(degrees.body.message, BEYOND_24);
    const kept = await app.post('/api/samples?ra_unit=h', { title: 'a', inputs: inputs(15) });
    assert.equal([kept.status, kept.body.param], [400, 'ra_unit']);
    const { body: made } = await app.post('/api/samples?ra_unit=h&title=b', table(15), 'text/csv');
    assert.is(foundOf((await app.get(`/api/samples/${made.id}`)).body), 12);
  }));

test('ra_unit may repeat the unit of the column in other words, and not contradict it', () =>
  withObjects(async app => {
    const votable = (unit: string) =>
      `<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>` +
      `<FIELD name="ra" datatype="double" unit="${unit}"/><FIELD name="dec" datatype="double" unit="deg"/>` +
      `<DATA><TABLEDATA><TR><TD>10</TD><TD>5</TD></TR></TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>`;
    for (const [unit, raUnit, ra] of [
      ['hourangle', 'h', 150],
      ['degree', 'deg', 10],
      ['hourangle', 'deg', undefined],
      ['deg', 'h', undefined],
    ] as const) {
      const answer = await app.post(`/api/sample?ra_unit=${raUnit}`, votable(unit), 'application/x-votable+xml');
      if (ra === undefined) assert.equal([answer.status, answer.body.param], [400, 'ra_unit']);
      else assert.is(answer.body.rows[0].ra, ra, answer.text);
    }
  }));

test('hours are right ascensions, also in an old frame', () =>
  withObjects(async app => {
    for (const [search, list, refusal] of [
      ['frame=fk4', 'ra,dec\n200,5\n', 'holds 200, which is more than 24 hours'],
      ['frame=icrs', 'ra,dec\n200,5\n', 'holds 200, which is more than 24 hours'],
      ['', 'l,b\n5,5\n', 'ra_unit is h'],
      ['', 'name,position\na,10.5 2.0\n', 'ra_unit=h needs'],
    ] as const) {
      const { status, body } = await app.post(`/api/sample?ra_unit=h&${search}`, list, 'text/csv');
      assert.is(status, 400, list);
      assert.match(body.message, refusal);
    }
  }));

test('lists as people paste them are rows of a report', () =>
  withObjects(async app => {
    for (const [from, pasted, ...expected] of LISTS) {
      const list = tableOfList(pasted);
      if (list === undefined) continue;
      const { status, text, body } = await app.post('/api/sample', list, 'text/csv');
      assert.is(status, 200, `${from}: ${text}`);
      const rows = list.trimEnd().split('\n').length - 1;
      assert.equal([body.count, body.rows.length], [rows, rows], from);
      const wanted = expected.slice(-rows);
      wanted.forEach((each, i) => {
        const row = body.rows[i];
        assert.is(row.status === 'invalid_input', each instanceof RegExp, `${from}: ${JSON.stringify(row)}`);
        if (typeof each === 'string' && each.startsWith('at')) assert.ok(Math.abs(row.ra - 188.73625) < 1e-3, from);
      });
    }
  }));

test.run();
