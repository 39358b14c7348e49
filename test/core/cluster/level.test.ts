/**
 * Nodes of different releases share a log: none writes a record that another cannot read before the level of the log is
 * raised.
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { beginReports, reportNode } from '../../../src/core/background/reports.ts';
import { Node } from '../../../src/core/cluster/node.ts';
import { LostPlace } from '../../../src/core/cluster/record_log.ts';
import { raiseLevel, shareSettings } from '../../../src/core/cluster/shared_settings.ts';
import { apply } from '../../../src/core/store/apply.ts';
import { encodeChange } from '../../../src/core/store/change_record.ts';
import type { Change, UntimedChange } from '../../../src/core/store/changes.ts';
import { FIRST_LEVEL, LEVEL, readLevel, type UnreadableLevel } from '../../../src/core/store/level.ts';
import { readLogPosition } from '../../../src/core/store/log_position.ts';
import { readNodes } from '../../../src/core/store/nodes.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import { ClockAhead, StoreError } from '../../../src/core/store/store_error.ts';
import { Writer } from '../../../src/core/store/writer.ts';
import { eventually, withDirectory } from '../../directory.ts';
import { configOf } from '../http/support.ts';
import { dump } from '../store/random_changes.ts';
import { delivery, failure, withStore } from '../store/support.ts';
import { follow, Link, levelOf, MemoryLog } from './memory_log.ts';
import { NEWER, TOO_OLD } from './next_release.ts';

const test = suite('cluster/level');
const NOON_US = 1_772_020_800_000_000;

/** Nodes of a log, each of a release that reads up to a level. */
class Cluster {
  readonly log = new MemoryLog();
  readonly #directory: string;
  readonly #open = new Set<Store>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  open(name: string, readableLevel: number): Store {
    const store = openStore(join(this.#directory, name), 'write', readableLevel);
    this.#open.add(store);
    return store;
  }

  /** The same directory, opened by a newer release. */
  async upgrade(name: string, store: Store): Promise<Store> {
    this.#open.delete(store);
    await store.close();
    return this.open(name, NEWER);
  }

  append(change: UntimedChange, level = FIRST_LEVEL, timeUs = NOON_US): void {
    for (const record of encodeChange({ ...change, timeUs }, level)) this.log.append(`${this.log.end}`, record);
  }

  deliver(...ids: bigint[]): void {
    this.append({ kind: 'deliver', deliveries: ids.map(id => delivery(id)) });
  }

  /** Delivers the whole log to a node that was just started. */
  async catchUp(store: Store): Promise<void> {
    const node = new Node(store, new Link(this.log));
    while ((await node.step()) > 0);
  }

  async close(): Promise<void> {
    for (const store of this.#open) await store.close();
  }
}

const withCluster = (body: (cluster: Cluster, directory: string) => Promise<void>) =>
  withDirectory(async directory => {
    const cluster = new Cluster(directory);
    try {
      await body(cluster, directory);
    } finally {
      await cluster.close();
    }
  });

test('a node stops in front of a level that it cannot read, as often as it starts, and goes on when it is upgraded', () =>
  withCluster(async cluster => {
    const [older, newer] = [cluster.open('older', LEVEL), cluster.open('newer', NEWER)];
    cluster.deliver(1n, 2n);
    cluster.append({ kind: 'level', level: NEWER });
    cluster.deliver(3n);
    await cluster.catchUp(newer);
    assert.equal([readLevel(newer.databases), readLogPosition(newer.databases)?.next], [NEWER, 3]);
    for (let start = 0; start < 2; start++) {
      const node = new Node(older, new Link(cluster.log));
      const waiting = failure(() => node.submit({ kind: 'report_node', node: 'here', level: LEVEL, timeUs: NOON_US }));
      const error = await failure(() => node.step());
      assert.instance(error, LostPlace);
      assert.is(error.message, `Cannot follow the log from record 1 on: ${TOO_OLD}`);
      assert.is((error.cause as UnreadableLevel).level, NEWER);
      assert.is((await waiting).message, error.message);
      older.resetRead();
      assert.equal([readLevel(older.databases), readLogPosition(older.databases)?.next], [FIRST_LEVEL, 1]);
    }
    const upgraded = await cluster.upgrade('older', older);
    await cluster.catchUp(upgraded);
    assert.equal(dump(upgraded), dump(newer));
    assert.ok(upgraded.getObject(3n));
  }));

test('an archive of a higher level is not opened by an older release, nor is a backup of it', () =>
  withCluster(async (cluster, directory) => {
    const newer = cluster.open('newer', NEWER);
    cluster.append({ kind: 'level', level: NEWER });
    await cluster.catchUp(newer);
    const backup = join(directory, 'backup');
    mkdirSync(backup);
    await newer.copyTo(join(backup, 'nearsky.mdb'));
    await newer.close();
    for (const at of [join(directory, 'newer'), backup])
      for (const mode of ['read', 'write'] as const) {
        const error = await failure(() => openStore(at, mode));
        assert.instance(error, StoreError);
        assert.is(error.message, `Cannot open the data directory ${at} because ${TOO_OLD}`);
      }
    const upgraded = openStore(backup, 'write', NEWER);
    assert.is(readLevel(upgraded.databases), NEWER);
    await upgraded.close();
  }));

test('a process of an older release stops when one of a newer release has raised the level in the same directory', () =>
  withCluster(async (cluster, directory) => {
    const store = cluster.open('node', LEVEL);
    cluster.deliver(1n);
    const node = new Node(store, new Link(cluster.log));
    await node.step();
    const other = openStore(join(directory, 'node'), 'write', NEWER);
    cluster.append({ kind: 'level', level: NEWER });
    cluster.deliver(2n);
    await cluster.catchUp(other);
    const error = await failure(() => node.step());
    assert.instance(error, LostPlace);
    assert.is(error.message, `Cannot follow the log from record 3 on: ${TOO_OLD}`);
    await other.close();
  }));

test('the level never goes down, and is the same however often it is raised', () =>
  withStore(async store => {
    const digests = new Set<string>();
    for (const [level, is] of [
      [1, FIRST_LEVEL],
      [7, 7],
      [7, 7],
      [6, 7],
      [1, 7],
      [9, 9],
    ] as const) {
      store.databases.objects.transactionSync(() => apply(store.databases, { kind: 'level', timeUs: 0, level }));
      store.resetRead();
      assert.is(readLevel(store.databases), is);
      digests.add(dump(store).join());
    }
    assert.is(digests.size, 3);
  }));

test('an archive without a log has no level', () =>
  withCluster(async cluster => {
    const store = cluster.open('node', NEWER);
    cluster.append({ kind: 'level', level: NEWER });
    await cluster.catchUp(store);
    assert.is(readLevel(store.databases), NEWER);
    await new Writer(store).leaveLog();
    store.resetRead();
    assert.is(readLevel(store.databases), FIRST_LEVEL);
  }));

test('a record is written in the level of the log, whatever the release that writes it', () =>
  withCluster(async cluster => {
    const store = cluster.open('node', NEWER);
    const { writer, end } = follow(store, cluster.log);
    await reportNode(store, writer, 'here');
    await writer.commit({ kind: 'level', level: NEWER });
    await reportNode(store, writer, 'here');
    await end();
    assert.equal(cluster.log.entries.map(levelOf), [FIRST_LEVEL, FIRST_LEVEL, NEWER]);
    // Without the `level` record, the later record stops a node, too.
    cluster.log.entries = cluster.log.entries.toSpliced(1, 1).map((entry, position) => ({ ...entry, position }));
    const error = await failure(() => cluster.catchUp(cluster.open('older', LEVEL)));
    assert.is(error.message, `Cannot follow the log from record 1 on: ${TOO_OLD}`);
  }));

test('a kind of record is not written before the level that brought it', async () => {
  const change: Change = { kind: 'level', timeUs: 0, level: 2 };
  assert.match(
    (await failure(() => encodeChange(change, LEVEL - 1))).message,
    /^Cannot write a change \(level\) to the log because it needs level 1, and the level of the log is 0: upgrade every node, then run `nearsky node upgrade`$/,
  );
  assert.is(levelOf({ record: encodeChange(change, LEVEL)[0]! }), LEVEL);
});

test('the level is not raised while a node that reported lately cannot read it', () =>
  withCluster(async cluster => {
    const store = cluster.open('newer', NEWER);
    const report = (node: string, level: number, timeUs = NOON_US) =>
      cluster.append({ kind: 'report_node', node, level }, FIRST_LEVEL, timeUs);
    for (const node of ['b:/data', 'a:/data', 'c:/data']) report(node, LEVEL);
    const { writer, end } = follow(store, cluster.log);
    const raised = async () => {
      await eventually('the node has applied what the test appended', async () => {
        store.resetRead();
        return readLogPosition(store.databases)?.next === cluster.log.end || undefined;
      });
      return raiseLevel(store, writer);
    };
    report('b:/data', NEWER);
    assert.match(
      (await failure(raised)).message,
      new RegExp(
        `^Cannot raise the level of the log to ${NEWER} because nodes that reported within the last five minutes cannot read it: a:/data \\(up to ${LEVEL}\\), c:/data \\(up to ${LEVEL}\\)\\. Upgrade these first`,
      ),
    );
    report('a:/data', NEWER);
    assert.match((await failure(raised)).message, /read it: c:\/data \(up to \d\)\. Upgrade/);
    report('a:/data', NEWER, NOON_US + 299e6);
    assert.match((await failure(raised)).message, /c:\/data/);
    report('a:/data', NEWER, NOON_US + 301e6);
    await raised();
    store.resetRead();
    assert.is(readLevel(store.databases), NEWER);
    const { length } = cluster.log.entries;
    await raiseLevel(store, writer);
    assert.is(cluster.log.entries.length, length);
    await end();
  }));

test('a new log begins at the level of the release that begins it; one that has begun stays at its level', () =>
  withCluster(async (cluster, directory) => {
    const config = configOf(directory);
    for (const store of [cluster.open('older', LEVEL), cluster.open('newer', NEWER)]) {
      const { writer, end } = follow(store, cluster.log);
      // When this returns, the node has applied all records of the log.
      await reportNode(store, writer, 'here');
      await shareSettings(store, writer, config);
      await end();
      assert.is(readLevel(store.databases), LEVEL);
    }
    cluster.log.entries = [];
    const first = cluster.open('first', NEWER);
    const { writer, end } = follow(first, cluster.log);
    await shareSettings(first, writer, config);
    await end();
    assert.equal([readLevel(first.databases), cluster.log.end], [NEWER, 2]);
  }));

test('a node whose clock is ahead reports itself, so no level above its own is reached', () =>
  withCluster(async cluster => {
    const older = cluster.open('older', LEVEL);
    cluster.append({ kind: 'report_node', node: 'b:/data', level: NEWER }, FIRST_LEVEL, NOON_US);
    // The clock of this machine is months ahead.
    cluster.log.nowUs = NOON_US;
    const { writer, end } = follow(older, cluster.log);
    assert.instance(await failure(() => writer.commit({ kind: 'level', level: LEVEL })), ClockAhead);
    await reportNode(older, writer, 'a:/data');
    older.resetRead();
    assert.equal(
      readNodes(older.databases).map(({ node, level }) => [node, level]),
      [
        ['a:/data', LEVEL],
        ['b:/data', NEWER],
      ],
    );
    await end();
  }));

test('a node that serves reports its name and the level that it reads', () =>
  withCluster(async cluster => {
    const store = cluster.open('node', NEWER);
    const { writer, end } = follow(store, cluster.log);
    const reports = beginReports(store, writer, () => {}, 'host:/data');
    await eventually('it has reported', async () => {
      store.resetRead();
      return readNodes(store.databases).length > 0 || undefined;
    });
    await reports.close();
    await end();
    assert.equal(
      readNodes(store.databases).map(({ node, level }) => [node, level]),
      [['host:/data', NEWER]],
    );
  }));

test.run();
