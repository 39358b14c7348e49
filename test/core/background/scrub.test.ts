/** Damage of the disk is found in the background. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { beginScrub } from '../../../src/core/background/scrub.ts';
import { encodeObject } from '../../../src/core/store/records.ts';
import { openStore } from '../../../src/core/store/store.ts';
import type { DamagedValue } from '../../../src/core/store/store_error.ts';
import { eventually, withDirectory } from '../../directory.ts';
import { blankLeaf, copyLeaf } from '../store/lmdb_pages.ts';
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
    const { claims } = store.databases;
    const getRange = claims.getRange.bind(claims);
    claims.getRange = range => {
      passes.add('claims');
      return getRange(range);
    };
    const found: string[] = [];
    const options = { onDamage: ({ what }: DamagedValue) => found.push(what), log: () => {}, pieceMs: 1 };
    let passed = 0;
    const onWhole = async () => void passed++;
    const whole = beginScrub(store, { ...options, onWhole });
    await eventually('the last table is read', async () => passes.size > 0 || undefined);
    await eventually('the whole is read', async () => passed > 0 || undefined);
    await whole.close();
    assert.equal(found, []);
    const { diaObjectId: _, ...fields } = store.getObject(15_000n)!;
    damage(directory, encodeObject(fields), 3);
    // The log is away, so this node never catches up.
    const damaged = beginScrub(store, { ...options, onWhole, begins: new Promise(() => {}), waitMs: 10 });
    await eventually('it is found', async () => found.length > 0 || undefined);
    await damaged.close();
    assert.equal([found, passed], [['15000 of pending'], 1]);
  }));

test('entries that are missing, and pages that are blank, are found', () =>
  withStore(async (_store, writer, directory) => {
    await writer.ingest(
      Array.from({ length: 500 }, (_, i) => delivery(BigInt(i + 1))),
      1,
    );
    for (const [harm, what] of [
      [copyLeaf, 'a page of objects_by_ingest'],
      [blankLeaf, 'a page of the database'],
    ] as const)
      await withDirectory(async copy => {
        copyFileSync(join(directory, 'nearsky.mdb'), join(copy, 'nearsky.mdb'));
        harm(copy, 'objects_by_ingest', 0, 1);
        const damaged = openStore(copy, 'write');
        const found: string[] = [];
        const scrub = beginScrub(damaged, { onDamage: each => found.push(each.what), log: () => {}, pieceMs: 1 });
        await eventually('it is found', async () => found.length > 0 || undefined);
        await scrub.close();
        assert.equal(found, [what]);
        await damaged.close();
      });
  }));

test.run();
