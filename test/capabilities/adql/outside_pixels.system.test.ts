/** `CATALOG.sources` of a catalog whose positions lie a little outside the pixels of their rows. */
import { join } from 'node:path';
import { pixelOf, separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TestApp } from '../../core/http/support.ts';
import { duckdbObstacle, needs } from '../../needs.ts';
import { offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { inWorld } from '../crossmatch/world.ts';

const test = suite('tap/outside_pixels');
const check = needs(test, duckdbObstacle());

const random = seededRandom(36);
/** Stars in a field of 2 by 2 degrees, around a pole and on both sides of right ascension 0. */
const STARS: readonly Place[] = Array.from({ length: 4000 }, (_, i) => {
  if (i % 4 === 0) return { ra: (359.5 + random()) % 360, dec: 10 * random() };
  return i % 4 === 1 ? { ra: 360 * random(), dec: 90 - random() } : { ra: 60 + 2 * random(), dec: -49 + 2 * random() };
});
const BEARINGS = STARS.map(() => 2 * Math.PI * random());
const CIRCLES = 400;
const SHAPES = 12;

check('queries find rows whose positions were rounded after their pixels were made', () =>
  inWorld(async world => {
    const pixelsOf = STARS.map((star, i) => offset(star, 0.98, BEARINGS[i]!));
    const shape = { maxRows: 1000, rowGroupSize: 100, pixelsOf };
    const { id } = await world.addCatalog('gaia_dr3', STARS, shape);
    const app = new TestApp(join(world.directory, 'data'), { TAP_QUERY_SECONDS: '120' });
    const found = async (query: string, mine = 'n,ra,dec\n0,0,0\n') => {
      const form = new FormData();
      const fields = { LANG: 'ADQL', FORMAT: 'csv', UPLOAD: 'mine,param:table', QUERY: query };
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('table', new Blob([mine]), 'mine.csv');
      const encoded = new Response(form);
      const headers = { 'Content-Type': encoded.headers.get('Content-Type')! };
      const body = await encoded.bytes();
      const { status, text } = await app.get('/vo/tap/sync', { method: 'POST', headers, body });
      assert.is(status, 200, text);
      return text.trimEnd().split('\n').slice(1);
    };
    try {
      // The star is near the edge of each circle, its pixel beyond the edge.
      const beside = STARS.slice(0, CIRCLES).map((star, i) => offset(star, 0.9, BEARINGS[i]! + Math.PI));
      const expected = beside.flatMap(({ ra, dec }, n) =>
        STARS.flatMap((star, i) => (separationArcsec(ra, dec, star.ra, star.dec) <= 1 ? `${n},${id[i]}` : [])),
      );
      assert.ok(expected.length >= CIRCLES);
      const mine = `n,ra,dec\n${beside.map(({ ra, dec }, n) => `${n},${ra},${dec}\n`).join('')}`;
      const pairs =
        'SELECT m.n, s.source_id FROM TAP_UPLOAD.mine AS m JOIN gaia_dr3.sources AS s ON DISTANCE(POINT(m.ra, m.dec), POINT(s.ra, s.dec)) <= 1 / 3600.0';
      assert.equal((await found(pairs, mine)).sort(), expected.sort());
      const wide = `SELECT COUNT(*) FROM (${pairs.replace('1 / 3600.0', '1')}) AS pairs`;
      const within = beside
        .slice(0, 3)
        .flatMap(({ ra, dec }) => STARS.filter(star => separationArcsec(ra, dec, star.ra, star.dec) <= 3600));
      assert.equal(await found(wide, mine.split('\n').slice(0, 4).join('\n')), [`${within.length}`]);
      const sources = 'SELECT source_id FROM gaia_dr3.sources WHERE 1 = CONTAINS(POINT(ra, dec), ';
      const inEach = async (shapeOf: (i: number) => string) => {
        const missed: string[] = [];
        for (let i = 0; i < SHAPES; i++)
          if (!(await found(`${sources}${shapeOf(i)})`)).includes(`${id[i]}`)) missed.push(shapeOf(i));
        return missed;
      };
      assert.equal(await inEach(i => `CIRCLE(${beside[i]!.ra}, ${beside[i]!.dec}, 0.0002777)`), []);
      const corner = (i: number, angle: number) => offset(STARS[i]!, 0.1, angle);
      const corners = (i: number) => [0, 2, 4].map(angle => `${corner(i, angle).ra}, ${corner(i, angle).dec}`);
      assert.equal(await inEach(i => `POLYGON(${corners(i).join(', ')})`), []);
      assert.equal(await inEach(i => `MOC('13/${pixelOf(13, STARS[i]!.ra, STARS[i]!.dec)}')`), []);
    } finally {
      await app.app.close();
    }
  }),
);

test.run();
