/**
 * kill -9 of `crossmatch --again` at random moments, then a restart: at any moment, every object has its old crossmatch
 * or the new one, and the result equals that of an undisturbed run. TEST_KILLS sets how many times (2).
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PROVENANCE, World } from '../capabilities/crossmatch/world.ts';
import { type Dump, readDump } from './dump.ts';
import { assertJournalKept, killAfter, kills, random } from './kill_support.ts';
import { nearsky, withDirectory } from './support.ts';

const OBJECTS = 400;
const BATCH = 20;

const test = suite('e2e/kill again');

test(`crossmatch --again, killed ${kills} times`, () =>
  withDirectory(async directory => {
    const places = Array.from({ length: OBJECTS }, (_, i) => ({ ra: (i * 137.5) % 360, dec: (i * 7.3) % 80 }));
    const world = new World(directory);
    await world.addCatalog('gaia_dr3', places, { maxRows: 50 });
    await world.ingest(places);
    await world.crossmatch({ provenance: () => ({ ...PROVENANCE, crossmatch_radius_arcsec: 0.5 }) });
    await world.addCatalog('des_y6_gold', places, { maxRows: 50 });
    await world.store.close();
    const ready = join(directory, 'data');
    const old = await readDump(ready);
    const undisturbed = join(directory, 'undisturbed');
    cpSync(ready, undisturbed, { recursive: true });
    assert.is((await nearsky('crossmatch', '--again', '--data', undisturbed)).recorded, OBJECTS);
    const whole = await readDump(undisturbed);
    assert.is(whole.journal.crossmatched.length, 2 * OBJECTS);
    const stats = await nearsky('stats', '--again', '--data', undisturbed);
    assert.equal([stats.again, stats.claimed], [0, 0]);

    let killed = 0;
    for (let run = 0; killed < kills; run++) {
      const data = join(directory, `killed${run}`);
      cpSync(ready, data, { recursive: true });
      const args = ['crossmatch', '--again', '--batch', `${BATCH}`, '--data', data];
      const seen = await killAfter(1 + Math.floor(random() * (OBJECTS / BATCH - 2)), data, args);
      const now = await readDump(data);
      if (seen) {
        killed++;
        assertJournalKept(seen, now);
        assertOldOrNew(now, old, whole);
      }
      await nearsky(...args);
      const end = await readDump(data);
      assert.equal(end.objects, whole.objects);
      assert.is(end.journal.crossmatched.length, 2 * OBJECTS);
    }
  }));

/** No object is between its two crossmatches. */
function assertOldOrNew(now: Dump, old: Dump, whole: Dump): void {
  assert.is(now.pending.size, 0);
  for (const [id, object] of now.objects) assert.ok([old.objects.get(id), whole.objects.get(id)].includes(object), id);
}

test.run();
