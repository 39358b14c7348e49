/** Work that one of several nodes does at a time. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Duty } from '../../src/background/duty.ts';
import { follow, MemoryLog } from '../cluster/memory_log.ts';
import { eventually } from '../directory.ts';
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
    await eventually('the other work is taken', async () => store.lease('other work') && true);
    assert.equal([events, store.lease('work')], [[], undefined]);
    isFit = true;
    await eventually('it begins', async () => events.length === 1 || undefined);
    isFit = false;
    await eventually('it ends', async () => events.length === 2 || undefined);
    await Promise.all([duty.close(), other.close()]);
    await end();
  }));

test('a lease is over by the time of the log', () =>
  withStore(async (store, writer) => {
    assert.ok(await writer.takeLease('work', 'one', 60_000));
    assert.not.ok(await writer.takeLease('work', 'other', 60_000));
    assert.ok(await writer.takeLease('other work', 'other', 60_000));
    assert.ok(await writer.takeLease('work', 'one', 0));
    assert.ok(await writer.takeLease('work', 'other', 60_000));
    assert.is(store.lease('work')?.owner, 'other');
  }));

test.run();
