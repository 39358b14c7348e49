/** Changes: the same ones make the same store, byte for byte, and as bytes they lose nothing. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apply } from '../../../src/core/store/apply.ts';
import { decodeChange, encodeChange, MAX_RECORD_BYTES } from '../../../src/core/store/change_record.ts';
import type { Change } from '../../../src/core/store/changes.ts';
import { DATABASE_NAMES } from '../../../src/core/store/databases.ts';
import { beginHistory } from '../../../src/core/store/history.ts';
import { LEVEL } from '../../../src/core/store/level.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { StoreError } from '../../../src/core/store/store_error.ts';
import { seededRandom } from '../../oracle/skies.ts';
import { dump, KINDS, RandomChanges } from './random_changes.ts';
import { delivery, failure, withStore } from './support.ts';

const test = suite('store/changes');
const SEEDS = Number(process.env.TEST_SEEDS ?? 8);
const CHANGES = 40;

/** Applies a change; returns its outcome, or the reason why it is refused. */
function applyTo({ databases }: Store, change: Change): unknown {
  return databases.objects.transactionSync(() => {
    try {
      return apply(databases, change);
    } catch (error) {
      if (error instanceof StoreError) return error.message;
      throw error;
    }
  });
}

/** Everything but the place of the payload's keys in packed sources, which the store fills in. */
const comparable = (change: Change) =>
  JSON.stringify(change, (_key, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (Object.is(value, -0)) return '-0';
    if (value === undefined) return 'undefined';
    return ArrayBuffer.isView(value) ? Buffer.from(value as Uint8Array).toString('hex') : value;
  }).replaceAll(/\{"type":"Buffer","data":\[([\d,]*)\]\}/g, (_, bytes: string) =>
    JSON.stringify(Buffer.from(bytes.split(',').map(Number)).toString('hex')),
  );

test('a change of any kind is the same after it was bytes', () => {
  for (const kind of KINDS) {
    const changes = new RandomChanges(seededRandom(1), true);
    for (let i = 0; i < 200; i++) {
      const change = changes.change(kind);
      const records = encodeChange(change, LEVEL);
      assert.is(records.length, 1);
      assert.is(comparable(decodeChange(records[0]!)), comparable(change));
      // The same bytes, at a place that is no multiple of eight.
      const moved = new Uint8Array(records[0]!.length + 3).subarray(3);
      moved.set(records[0]!);
      assert.equal(encodeChange(decodeChange(moved), LEVEL), records);
    }
  }
});

test('the same changes make the same store, whether as they are or from their bytes, with any clock and any chance', async () => {
  const [now, chance] = [Date.now, Math.random];
  const filled = new Set<string>();
  for (let seed = 1; seed <= SEEDS; seed++) {
    await withStore(store =>
      withStore(async other => {
        for (const { databases } of [store, other]) databases.objects.transactionSync(() => beginHistory(databases));
        const changes = new RandomChanges(seededRandom(seed), true);
        for (let i = 0; i < CHANGES; i++) {
          const change = changes.change();
          const [record] = encodeChange(change, LEVEL);
          const outcome = applyTo(store, change);
          try {
            Date.now = () => 0;
            Math.random = () => 0.5;
            assert.equal(applyTo(other, decodeChange(record!)), outcome);
          } finally {
            [Date.now, Math.random] = [now, chance];
          }
        }
        const lines = dump(store);
        for (const line of lines) filled.add(line.split(' ', 1)[0]!);
        assert.equal(dump(other), lines);
      }),
    );
  }
  assert.equal(
    DATABASE_NAMES.filter(name => !filled.has(name)),
    ['claims'],
  );
});

test('a change that is too long for a record becomes several, and one that cannot is refused', async () => {
  const deliveries = Array.from({ length: 60_000 }, (_, i) => delivery(2n ** 62n + BigInt(i)));
  const long: Change = { kind: 'deliver', timeUs: 1e15, deliveries };
  const records = encodeChange(long);
  assert.ok(records.length > 1);
  assert.ok(records.every(({ length }) => length <= MAX_RECORD_BYTES));
  const parts = records.map(record => decodeChange(record) as typeof long);
  assert.ok(parts.every(({ kind, timeUs }) => kind === 'deliver' && timeUs === 1e15));
  assert.equal(
    parts.flatMap(part => part.deliveries),
    deliveries,
  );
  const single: Change = { ...long, deliveries: deliveries.slice(0, 1) };
  const catalog = new RandomChanges(seededRandom(2)).change('register_catalog');
  for (const change of [single, catalog]) {
    const { message } = await failure(() => encodeChange(change, LEVEL, 50));
    assert.match(
      message,
      new RegExp(`^Cannot write a change \\(${change.kind}\\) to the log because it has \\d+ bytes`),
    );
  }
});

test('a prepared object is written as what it was made of', () => {
  const entries = new RandomChanges(seededRandom(3)).change('import') as Change & { kind: 'import' };
  const items = entries.entries as never[];
  const prepared = { kind: 'prepared', items: () => items } as never;
  assert.equal(encodeChange({ ...entries, entries: [prepared] }), encodeChange(entries));
});

test('bytes that are no record, or of a newer nearsky, are refused', async () => {
  const [record] = encodeChange({ kind: 'begin_registry', timeUs: 1 });
  const bytes = Buffer.from(record!);
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Uint8Array.from(bytes, (byte, i) => (i === at ? byte ^ 1 : byte));
    assert.match((await failure(() => decodeChange(damaged))).message, /damaged or was not written by nearsky/);
    assert.match(
      (await failure(() => decodeChange(bytes.subarray(0, at)))).message,
      /damaged or was not written by nearsky/,
    );
  }
  // "begin_registry" and "steal_registry" have as many letters.
  const { crc32 } = await import('node:zlib');
  const resealed = (change: (content: Buffer) => void) => {
    const copy = Buffer.from(bytes);
    change(copy);
    copy.writeUInt32LE(crc32(copy.subarray(0, -4)), copy.length - 4);
    return copy;
  };
  const newer = resealed(copy => (copy[4] = 99));
  assert.match(
    (await failure(() => decodeChange(newer))).message,
    /^the level of the log is 99 and this nearsky reads levels up to \d+: install a newer nearsky on this node$/,
  );
  const other = resealed(copy => copy.write('steal', copy.indexOf('begin')));
  assert.match(
    (await failure(() => decodeChange(other))).message,
    /its kind "steal_registry" is unknown to this nearsky: install a newer nearsky on this node/,
  );
});

test.run();
