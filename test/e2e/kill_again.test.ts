/**
 * kill -9 of `crossmatch --again` at random moments, then a restart: every object has its old crossmatch or the new one at
 * any moment, and the end is that of a run that nobody disturbed. NEARSKY_KILLS sets how many times (2).
 */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Dump, readDump } from './dump.ts';
import { assertJournalKept, killAfter, kills, random, writeMessages } from './kill_support.ts';
import { nearsky, sample, start, withDirectory } from './support.ts';

const times = process.env.NEARSKY_KILLS ? kills : 2;
const OBJECTS = 400;
const BATCH = 20;

const test = suite('e2e/kill again');

test(`crossmatch --again, killed ${times} times`, () =>
  withDirectory(async directory => {
    const messages = join(directory, 'messages.ndjson');
    await writeMessages(messages, OBJECTS);
    const ready = join(directory, 'ready');
    const add = (name: string) => nearsky('catalog', 'add', name, join(sample, 'catalogs', name), '--data', ready);
    await nearsky('ingest', '--broker', 'lasair', '--data', ready, messages);
    await add('gaia_dr3');
    const first = await start(['crossmatch', '--data', ready], { CROSSMATCH_RADIUS_ARCSEC: '0.5' }).finished;
    assert.is(first.code, 0, first.stderr);
    await add('des_y6_gold');
    assert.is((await nearsky('stats', '--again', '--data', ready)).again, OBJECTS);
    const old = await readDump(ready);
    const undisturbed = join(directory, 'undisturbed');
    cpSync(ready, undisturbed, { recursive: true });
    assert.is((await nearsky('crossmatch', '--again', '--data', undisturbed)).recorded, OBJECTS);
    const whole = await readDump(undisturbed);
    assert.is(whole.journal.crossmatched.length, 2 * OBJECTS);

    assert.is((await nearsky('stats', '--again', '--data', undisturbed)).again, 0);

    let killed = 0;
    for (let run = 0; killed < times; run++) {
      const data = join(directory, `data${run}`);
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
