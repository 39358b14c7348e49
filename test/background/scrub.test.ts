/** Damage of the disk is found in the background. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { beginScrub } from '../../src/background/scrub.ts';
import { encodeObject } from '../../src/store/records.ts';
import { eventually } from '../directory.ts';
import { damage, delivery, withStore } from '../store/support.ts';

const test = suite('background/scrub');
const OBJECTS = 20_000;

test('a value that has changed on the disk is found, and named; otherwise nothing is', () =>
  withStore(async (store, writer, directory) => {
    const ids = Array.from({ length: OBJECTS }, (_, i) => BigInt(i + 1));
    await writer.ingest(
      ids.map(id => delivery(id, { eventTimeUs: 1_772_010_265_000_000 + Number(id) })),
      1,
    );
    const passes = new Set<string>();
    const scan = store.databases.claims.scan.bind(store.databases.claims);
    store.databases.claims.scan = range => {
      passes.add('claims');
      return scan(range);
    };
    const found: string[] = [];
    const whole = beginScrub(store, what => found.push(what), 1);
    await eventually('the last table is read', async () => passes.size > 0 || undefined);
    await whole.close();
    assert.equal(found, []);
    const { diaObjectId: _, ...fields } = store.getObject(15_000n)!;
    damage(directory, encodeObject(fields), 3);
    const damaged = beginScrub(store, what => found.push(what), 1);
    await eventually('it is found', async () => found.length > 0 || undefined);
    await damaged.close();
    assert.equal(found, ['15000 of objects']);
  }));

test.run();
