/** A node and its log: time, outcomes, and every way to lose its place in the log. */
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Node } from '../../../src/core/cluster/node.ts';
import { LostPlace } from '../../../src/core/cluster/record_log.ts';
import { encodeChange } from '../../../src/core/store/change_record.ts';
import type { Change } from '../../../src/core/store/changes.ts';
import { readCounters } from '../../../src/core/store/counters.ts';
import { readLogPosition } from '../../../src/core/store/log_position.ts';
import { encodeObject, encodePlain } from '../../../src/core/store/records.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { RefusedChange, StoreError } from '../../../src/core/store/store_error.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { withDirectory } from '../../directory.ts';
import { blankLeaf, copyLeaf } from '../store/lmdb_pages.ts';
import { dump } from '../store/random_changes.ts';
import { damage, delivery, failure, provenance, result, withStore } from '../store/support.ts';
import { Link, MemoryLog } from './memory_log.ts';

const test = suite('cluster/node');
const NOON_US = 1_772_020_800_000_000;

const deliver = (timeUs: number, ...ids: bigint[]): Change => ({
  kind: 'deliver',
  timeUs,
  deliveries: ids.map(id => delivery(id)),
});

function append(log: MemoryLog, ...changes: Change[]): void {
  for (const change of changes) for (const record of encodeChange(change)) log.append(`${log.end}`, record);
}

async function catchUp(node: Node): Promise<void> {
  while ((await node.step()) > 0);
}

/** Submits a change, which the network delivers at once. */
async function submit(node: Node, link: Link, change: Change): Promise<unknown[]> {
  const outcome = node.submit(change);
  let isOver = false;
  const over = () => (isOver = true);
  outcome.then(over, over);
  while (!isOver) {
    for (const flight of [...link.flights]) link.land(flight, 1, 'appended');
    await node.step();
  }
  return outcome;
}

const withNode = (body: (node: Node, link: Link, log: MemoryLog, store: Store, directory: string) => Promise<void>) =>
  withStore((store, _writer, directory) => {
    const log = new MemoryLog();
    const link = new Link(log);
    return body(new Node(store, link), link, log, store, directory);
  });

test('what a node submits has the outcome that it has at its place in the log', () =>
  withNode(async (node, link, log, store) => {
    append(log, deliver(NOON_US, 1n));
    assert.equal(await submit(node, link, deliver(NOON_US, 1n, 2n)), [{ stored: 1, delivered: 0, duplicate: 1 }]);
    const crossmatch: Change = { kind: 'crossmatch', timeUs: NOON_US, provenance, results: [result(1n), result(3n)] };
    assert.equal(await submit(node, link, crossmatch), [{ recorded: 1, skipped: 1 }]);
    assert.equal(await submit(node, link, crossmatch), [{ recorded: 0, skipped: 2 }]);
    const base = { load: 7, revision: 0, epochUs: 1, fileEpochUs: 1, validators: null };
    const [refused] = await submit(node, link, { kind: 'change_registry', timeUs: 1, base, records: [], epochUs: 2 });
    assert.instance(refused, RefusedChange);
    assert.is(readLogPosition(store.databases)?.next, 5);
  }));

test('a long change is several records, each with its outcome', () =>
  withNode(async (node, link, log) => {
    const ids = Array.from({ length: 30_000 }, (_, i) => BigInt(i));
    const outcomes = (await submit(node, link, deliver(NOON_US, ...ids))) as { stored: number }[];
    assert.is(outcomes.length, log.end);
    assert.ok(outcomes.length > 1);
    assert.is(
      outcomes.reduce((sum, { stored }) => sum + stored, 0),
      ids.length,
    );
  }));

test('time goes on from record to record, whatever the clocks say', () =>
  withNode(async (node, _link, log, store) => {
    append(log, deliver(NOON_US, 1n), deliver(NOON_US - 5e9, 2n), deliver(NOON_US, 3n), deliver(NOON_US + 9, 4n));
    await catchUp(node);
    assert.equal(
      [...store.objects()].map(({ ingestTimeUs }) => ingestTimeUs - NOON_US),
      [0, 1, 2, 9],
    );
  }));

/** A node that has applied three records; then a change to the log; then the reason why the node stops. */
const losses: Record<string, readonly [(log: MemoryLog) => void, RegExp]> = {
  'the topic was made anew': [log => (log.identity = 'a cluster/another topic'), /it is a cluster\/another topic, but/],
  'the log was cut short': [
    log => log.entries.pop(),
    /it ends at record 2, but this node has applied 3 of its records/,
  ],
  'the log was cut short and went on': [
    log => {
      log.entries.pop();
      append(log, deliver(NOON_US, 50n), deliver(NOON_US, 51n));
    },
    /its record 2 differs from the record that this node applied/,
  ],
  'a record among the next ones is missing': [
    log => {
      append(log, deliver(NOON_US, 50n), deliver(NOON_US, 51n), deliver(NOON_US, 52n));
      log.entries.splice(4, 1);
    },
    /it has no record 4:/,
  ],
  'the last record is another one': [
    log => {
      log.entries.pop();
      log.append('another', encodeChange(deliver(NOON_US, 50n))[0]!);
    },
    /its record 2 differs from the record that this node applied/,
  ],
  'what comes next was removed': [
    log => {
      append(log, deliver(NOON_US, 50n));
      log.first = 4;
    },
    /it no longer has the records from 3 to 3/,
  ],
};

for (const [name, [change, why]] of Object.entries(losses)) {
  test(`${name}: the node stops, and names the cure`, () =>
    withNode(async (node, link, log, store) => {
      append(log, deliver(NOON_US, 1n), deliver(NOON_US, 2n), deliver(NOON_US, 3n));
      await catchUp(node);
      const before = dump(store);
      change(log);
      const again = new Node(store, link);
      const waiting = failure(() => again.submit(deliver(NOON_US, 9n)));
      for (const fails of [() => again.step(), () => again.step(), () => again.submit(deliver(NOON_US, 9n))]) {
        const error = await failure(fails);
        assert.instance(error, LostPlace);
        assert.match(error.message, why);
        assert.match(error.message, /start this node from a backup of another one/);
      }
      assert.instance(await waiting, LostPlace);
      assert.equal(dump(store), before);
    }));
}

test('a record that cannot be read stops a node in front of it', () =>
  withNode(async (node, link, log, store) => {
    append(log, deliver(NOON_US, 1n));
    const newer = Buffer.from(encodeChange(deliver(NOON_US, 2n))[0]!);
    newer[4] = 99;
    newer.writeUInt32LE(crc32(newer.subarray(0, -4)), newer.length - 4);
    const sealed = (content: Uint8Array) => {
      const bytes = Buffer.concat([Buffer.from('nsky\x01'), content, Buffer.alloc(4)]);
      bytes.writeUInt32LE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
      return bytes;
    };
    for (const [poison, why] of [
      [
        sealed(Buffer.of(0x93, 0xa7)),
        /from record 1 on: Cannot read the record because it is damaged or was not written by nearsky/,
      ],
      [sealed(encodePlain(['deliver', 1, null])), /from record 1 on: Cannot read the record because it is damaged/],
      [sealed(encodePlain(['import', 1, { entries: 5 }])), /from record 1 on: ./],
      [
        Buffer.from('{"diaObjectId": 7}'),
        /from record 1 on: Cannot read the record because it is damaged or was not written by nearsky/,
      ],
      [
        newer,
        /from record 1 on: the level of the log is 99 and this nearsky reads levels up to \d: install a newer nearsky on this/,
      ],
    ] as const) {
      log.entries = log.entries.slice(0, 1);
      log.append('poison', poison);
      append(log, deliver(NOON_US, 3n));
      const one = new Node(store, link);
      const error = await failure(() => catchUp(one));
      assert.instance(error, LostPlace);
      assert.match(error.message, why);
      assert.equal(
        [...store.objects()].map(({ diaObjectId }) => diaObjectId),
        [1n],
      );
      assert.is(readLogPosition(store.databases)?.next, 1);
    }
    assert.instance(await failure(() => catchUp(node)), LostPlace);
  }));

test('a node goes on where the log has removed only what it has applied', () =>
  withNode(async (node, link, log, store) => {
    append(log, deliver(NOON_US, 1n), deliver(NOON_US, 2n));
    await catchUp(node);
    log.first = 2;
    append(log, deliver(NOON_US, 3n));
    await catchUp(new Node(store, link));
    assert.is(readLogPosition(store.databases)?.next, 3);
  }));

test('a leader that does not show its last record yet stops no node', () =>
  withNode(async (node, link, log, store) => {
    append(log, deliver(NOON_US, 1n), deliver(NOON_US, 2n));
    await catchUp(node);
    const again = new Node(store, link);
    log.read = from => ({ entries: [], first: 0, end: Math.max(from, 1) });
    assert.match((await failure(() => again.step())).message, /the log does not show record 1 yet/);
    log.read = MemoryLog.prototype.read;
    append(log, deliver(NOON_US, 3n));
    await catchUp(again);
    assert.is(readLogPosition(store.databases)?.next, 3);
  }));

test('two that apply the log to one archive apply each record once', () =>
  withNode(async (node, link, log, store) => {
    append(log, deliver(NOON_US, 1n), deliver(NOON_US, 1n));
    const other = new Node(store, link);
    await Promise.all([node.step(), other.step()]);
    await catchUp(node);
    await catchUp(other);
    assert.equal(readCounters(store.databases)['ingested/lasair/duplicate'], 1);
  }));

test('nothing but its log changes an archive that a log makes', () =>
  withNode(async (node, _link, log, store) => {
    append(log, deliver(NOON_US, 1n));
    await catchUp(node);
    const before = dump(store);
    const writer = new Writer(store);
    for (const change of [
      () => writer.ingest([delivery(2n)], NOON_US),
      () => writer.recordCrossmatches([result(1n)], provenance, NOON_US),
      () => writer.commit({ kind: 'begin_registry' }),
    ]) {
      const { message } = await failure(change);
      assert.match(
        message,
        /because the archive follows a log \(a cluster\/a topic\): set NEARSKY_LOG, so that the change goes through the log$/,
      );
    }
    assert.equal(dump(store), before);
  }));

test('a new node needs the beginning of the log, and no archive of its own', () =>
  withNode(async (node, _link, log, store) => {
    append(log, deliver(NOON_US, 1n), deliver(NOON_US, 2n));
    log.first = 1;
    assert.match((await failure(() => node.step())).message, /it starts at record 1, but this node starts at record 0/);
    log.first = 0;
    await withStore(async (own, writer) => {
      await writer.ingest([delivery(5n)], NOON_US);
      const error = await failure(() => new Node(own, new Link(log)).step());
      assert.match(error.message, /this node has an archive that was not made from it/);
    });
    assert.ok(store.isEmpty);
  }));

test('a failure of the network or the disk stops no node', () =>
  withNode(async (node, link, log, store) => {
    append(log, deliver(NOON_US, 1n));
    link.isCut = true;
    assert.match((await failure(() => node.step())).message, /the broker is away/);
    link.isCut = false;
    const { requireSpace } = store;
    store.requireSpace = () => {
      throw new StoreError('the disk is full');
    };
    assert.match((await failure(() => node.step())).message, /the disk is full/);
    store.requireSpace = requireSpace;
    await catchUp(node);
    assert.is(readLogPosition(store.databases)?.next, 1);
  }));

test('a node that meets a damaged value stops and names it', () =>
  withStore(async (store, _writer, directory) => {
    const log = new MemoryLog();
    const node = new Node(store, new Link(log));
    append(log, deliver(NOON_US, 1n));
    await catchUp(node);
    const { diaObjectId: _, ...fields } = store.getObject(1n)!;
    damage(directory, encodeObject(fields), 3);
    append(log, deliver(NOON_US, 2n), deliver(NOON_US, 1n));
    const error = await failure(() => node.step());
    assert.instance(error, LostPlace);
    assert.match(
      error.message,
      /because 1 of pending has changed on the disk since it was stored: start this node from/,
    );
    assert.is(await failure(() => node.step()), error);
    assert.is(readLogPosition(store.databases)?.next, 2);
  }));

/** Damage of a disk that leaves the checksum of every remaining value right. */
const damages: Record<string, readonly [(directory: string) => void, what: string]> = {
  'the end of the journal is missing': [
    directory => copyLeaf(directory, 'journal', 0, -1),
    'the end of the position table, or of the journal,',
  ],
  'provenance sets are missing': [
    directory => copyLeaf(directory, 'provenance_sets', -1, 0),
    'a page of provenance_sets',
  ],
  'a page is blank': [directory => blankLeaf(directory, 'objects', -1), 'a page of the database'],
};

for (const [name, [harm, what]] of Object.entries(damages))
  test(`${name}: the node stops, and names the cure`, () =>
    withNode(async (node, link, log, _store, directory) => {
      const ids = Array.from({ length: 150 }, (_, i) => BigInt(i + 1));
      append(log, ...ids.map(id => deliver(NOON_US, id)));
      for (const id of ids.slice(0, 50)) {
        const catalogs = [{ name: `catalog ${id}`, release: '' }];
        append(log, {
          kind: 'crossmatch',
          timeUs: NOON_US,
          provenance: { ...provenance, catalogs },
          results: [result(id)],
        });
      }
      await catchUp(node);
      const { end } = log;
      append(log, { kind: 'crossmatch', timeUs: NOON_US, provenance, results: [result(150n)] }, deliver(NOON_US, 151n));
      await withDirectory(async copy => {
        copyFileSync(join(directory, 'nearsky.mdb'), join(copy, 'nearsky.mdb'));
        harm(copy);
        const store = openStore(copy, 'write');
        try {
          const again = new Node(store, link);
          const error = await failure(() => catchUp(again));
          assert.instance(error, LostPlace);
          assert.match(
            error.message,
            `because ${what} has changed on the disk since it was stored: start this node from`,
          );
          assert.is(await failure(() => again.step()), error);
          assert.ok(readLogPosition(store.databases)!.next <= end + 1);
        } finally {
          await store.close();
        }
      });
    }));

test('a disk that is too full for many records takes them in smaller parts', () =>
  withNode(async (node, _link, log, store) => {
    for (let id = 1n; id <= 10n; id++) append(log, deliver(NOON_US, id));
    const sizes: number[] = [];
    store.requireSpace = (doing, entries) => {
      if (doing !== 'apply the log') return;
      sizes.push(entries);
      if (entries > 6) throw new StoreError('the disk is full');
    };
    assert.is(await node.step(), 0);
    assert.equal(sizes, [20, 10, 6, 4, 10, 6, 4]);
    assert.is(readLogPosition(store.databases)?.next, 10);
  }));

test.run();
