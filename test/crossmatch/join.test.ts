/** A join on the pool is the join on one thread, whatever the parts. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Arena, buildArena, NO_MATCH, nearestJoin, SkyIndex } from '../../index/mod.ts';
import { nearestJoinOnPool } from '../../src/crossmatch/join.ts';
import { Pool } from '../../src/pool/pool.ts';
import { nearestByScan } from '../oracle/brute_force.ts';
import { randomSky } from '../oracle/skies.ts';
import { failure } from '../store/support.ts';

const test = suite('crossmatch/join');

test('every position has the nearest point of all arenas, or none', async () => {
  const { points, centres } = randomSky(77, 3000);
  const parts = [0, 1].map(part => {
    const column = <T extends Float64Array | BigInt64Array>(all: T) => all.filter((_, i) => i % 2 === part) as T;
    return buildArena({ ra: column(points.ra), dec: column(points.dec), id: column(points.id) });
  });
  // About the points themselves, about the poles and seams that the sky has, and where there may be nothing.
  const ra = Float64Array.from([...points.ra.slice(0, 150), ...centres.map(place => place.ra), 12, 123.4]);
  const dec = Float64Array.from([...points.dec.slice(1, 151), ...centres.map(place => place.dec), 34, -56.7]);
  const index = new SkyIndex(parts.map(buffer => new Arena(buffer)));
  const alone = nearestJoin(index, ra, dec, 60);
  for (const threads of [1, 3]) {
    const pool = new Pool({ threads });
    const together = await nearestJoinOnPool(pool, parts, ra, dec, 60);
    assert.equal(together, alone);
    assert.is((await nearestJoinOnPool(pool, parts, ra.slice(0, 0), dec.slice(0, 0), 60)).matched, 0);
    const outside = await failure(() =>
      nearestJoinOnPool(
        pool,
        parts,
        ra.map(() => 361),
        dec,
        60,
      ),
    );
    assert.match(outside.message, 'ra as it must be 0 to 360');
    await pool.close();
  }
  let matched = 0;
  for (let i = 0; i < ra.length; i++) {
    const expected = nearestByScan(points, ra[i]!, dec[i]!, 60);
    const found = alone.arena[i] === NO_MATCH ? undefined : index.arenas[alone.arena[i]!]!.id[alone.row[i]!];
    assert.is(found, expected?.id);
    if (expected) matched++;
  }
  assert.is(alone.matched, matched);
  assert.ok(matched > 10 && matched < ra.length, `${matched} of ${ra.length}`);
});

test.run();
