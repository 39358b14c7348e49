/** Work that one of several nodes does at a time. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Duty } from '../../../src/core/background/duty.ts';
import { HeldLease } from '../../../src/core/store/held_lease.ts';
import { publishLease, readLease } from '../../../src/core/store/leases.ts';
import { eventually } from '../../directory.ts';
import { follow, MemoryLog } from '../cluster/memory_log.ts';
import { withStore } from '../store/support.ts';

const test = suite('background/duty');

test('one node does the work; another one takes over when that one is gone', () =>
  withStore(first =>
    withStore(async second => {
      const log = new MemoryLog();
      const events: string[] = [];
      const at = [first, second].map((store, i) => {
        const { writer, end } = follow(store, log);
        const begin = () => {
          events.push(`${i} begins`);
          return { close: async () => void events.push(`${i} ends`) };
        };
        return { end, duty: new Duty({ name: 'work', store, writer, log: () => {}, begin }) };
      });
      await eventually('one begins', async () => events.length > 0 || undefined);
      const [busy, other] = events[0] === '0 begins' ? [0, 1] : [1, 0];
      await at[busy]!.duty.close();
      await eventually('the other one begins', async () => events.length > 2 || undefined);
      assert.equal(events, [`${busy} begins`, `${busy} ends`, `${other} begins`]);
      await at[other]!.duty.close();
      for (const { end } of at) await end();
    }),
  ));

test('a node that is not fit for the work leaves it to another', () =>
  withStore(async store => {
    const log = new MemoryLog();
    const { writer, end } = follow(store, log);
    const events: string[] = [];
    let isFit = false;
    const begin = () => {
      events.push('begins');
      return { close: async () => void events.push('ends') };
    };
    const duty = new Duty({ name: 'work', store, writer, log: () => {}, begin, isFit: () => isFit });
    const other = new Duty({
      name: 'other work',
      store,
      writer,
      log: () => {},
      begin: () => ({ close: async () => {} }),
    });
    await eventually('the other work is taken', async () => readLease(store.databases, 'other work') && true);
    assert.equal([events, readLease(store.databases, 'work')], [[], undefined]);
    isFit = true;
    await eventually('it begins', async () => events.length === 1 || undefined);
    isFit = false;
    await eventually('it ends', async () => events.length === 2 || undefined);
    await Promise.all([duty.close(), other.close()]);
    await end();
  }));

test('the last owner in the log has the lease, and fences the one before it', () =>
  withStore(async store => {
    const log = new MemoryLog();
    const { writer, end } = follow(store, log);
    const position = { sequence: 0, objects: 0, messages: 0 };
    const leases = ['one', 'other'].map(() => new HeldLease(store, writer, publishLease('topic')));
    const publish = (i: number) =>
      writer.commit({ kind: 'published', topic: 'topic', position, owner: leases[i]!.owner });
    assert.equal([await leases[0]!.take(), await leases[1]!.take()], [true, false]);
    assert.equal([await publish(0), await publish(1)], [true, false]);
    leases[0]!.resign();
    assert.equal([await leases[1]!.take(), leases[0]!.isHeld], [true, false]);
    assert.equal([await publish(0), await publish(1)], [false, true]);
    const { length } = log.entries;
    assert.equal([await leases[1]!.take(), await leases[0]!.take()], [true, false]);
    assert.is(log.entries.length, length, 'a lease that is held is not written again');
    await end();
  }));

test.run();
