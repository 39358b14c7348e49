/** NEARSKY_RETENTION_DAYS: old objects are removed while the service runs. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { beginRetention } from '../../../src/capabilities/removal/retention.ts';
import { Duty } from '../../../src/core/background/duty.ts';
import { readCounts } from '../../../src/core/store/counts.ts';
import { LEVEL } from '../../../src/core/store/level.ts';
import { readLogPosition } from '../../../src/core/store/log_position.ts';
import { removalsAfter } from '../../../src/core/store/removals.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { follow, MemoryLog } from '../../core/cluster/memory_log.ts';
import { dump } from '../../core/store/random_changes.ts';
import { withStore } from '../../core/store/support.ts';
import { eventually } from '../../directory.ts';
import { DAY_US, fill, NEWEST_US, OLD, object } from './old_objects.ts';

const test = suite('background/retention');
const idsIn = (store: Store) => [...store.objects()].map(({ diaObjectId }) => diaObjectId);

const onlyNewIn = (store: Store) => async () => {
  store.resetRead();
  return readCounts(store.databases).objects === 2 || undefined;
};

test('objects that are older than the newest by more than the days are removed, in several commits', () =>
  withStore(async (store, writer) => {
    const events: unknown[] = [];
    await fill(writer);
    const before = store.lastSequence();
    const work = beginRetention(store, writer, 30, (event, fields) => events.push([event, fields]));
    try {
      await eventually('they are removed', onlyNewIn(store));
      assert.equal(idsIn(store), [2000n, 2001n]);
      assert.equal(
        store.journalAfter(before).map(({ removed }) => removed.length),
        [1000, 200],
      );
      assert.equal(events, [['old_objects_removed', { objects: OLD }]]);
      const [last] = removalsAfter(store.databases);
      assert.is(last!.reason, 'first stored more than 30 days before the newest object (NEARSKY_RETENTION_DAYS)');
    } finally {
      await work.close();
    }
  }));

test('an object from the future makes no object old', () =>
  withStore(async (store, writer) => {
    const FUTURE_US = 4_000_000_000_000_000;
    await fill(writer);
    await writer.import([object(2002n, FUTURE_US), object(2003n, NEWEST_US - 31 * DAY_US)]);
    const work = beginRetention(store, writer, 30, () => {});
    try {
      await eventually('the old ones are removed', async () => {
        store.resetRead();
        return store.getObject(2003n) || store.getObject(0n) || store.getObject(BigInt(OLD - 1)) ? undefined : true;
      });
      assert.equal(idsIn(store), [2000n, 2001n, 2002n]);
    } finally {
      await work.close();
    }
  }));

test('one node removes old objects, and all nodes follow', () =>
  withStore(first =>
    withStore(async second => {
      const log = new MemoryLog();
      const nodes = [first, second].map(store => ({ store, ...follow(store, log) }));
      await nodes[0]!.writer.commit({ kind: 'level', level: LEVEL });
      await fill(nodes[0]!.writer);
      const failed: unknown[] = [];
      const duties = nodes.map(({ store, writer }) => {
        const note = (event: string, fields?: object) => void (event.endsWith('failed') && failed.push(fields));
        const begin = () => beginRetention(store, writer, 30, note);
        return new Duty({ name: 'remove old objects', store, writer, log: note, begin });
      });
      for (const { store } of nodes) await eventually('they are removed', onlyNewIn(store));
      await Promise.all(duties.map(duty => duty.close()));
      const hasRead = (store: Store) => {
        store.resetRead();
        return readLogPosition(store.databases)?.next === log.end;
      };
      await eventually('both have read the log', async () => (hasRead(first) && hasRead(second)) || undefined);
      for (const { end } of nodes) await end();
      assert.equal(failed, []);
      assert.equal(dump(first), dump(second));
    }),
  ));

test.run();
