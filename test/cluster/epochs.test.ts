/** Epochs: nodes compare their archives, and one that is another than most others stops. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Node } from '../../src/cluster/node.ts';
import { LostPlace } from '../../src/cluster/record_log.ts';
import { encodeChange } from '../../src/store/change_record.ts';
import type { Change } from '../../src/store/changes.ts';
import { FORMAT_VERSION } from '../../src/store/environment.ts';
import { openStore, type Store } from '../../src/store/store.ts';
import { withDirectory } from '../directory.ts';
import { dump } from '../store/random_changes.ts';
import { delivery, failure, falsify } from '../store/support.ts';
import { Link, MemoryLog } from './memory_log.ts';

const test = suite('cluster/epochs');
const NOON_US = 1_772_020_800_000_000;
const DIFFERENT =
  /^Cannot follow the log from record (\d+) on: the archive of this node differs from the archive of most nodes \(2 of 3\): start it from a backup/;

/** Nodes of one log, and whatever the log is given. */
class Cluster {
  readonly log = new MemoryLog();
  readonly stores: Store[] = [];
  readonly nodes: Node[] = [];

  append(...changes: Change[]): void {
    for (const change of changes) for (const record of encodeChange(change)) this.log.append(`${this.log.end}`, record);
  }

  /** Begins another process of a node. */
  begin(at: number): Node {
    return (this.nodes[at] = new Node(this.stores[at]!, new Link(this.log)));
  }

  async catchUp(...nodes: Node[]): Promise<void> {
    for (const node of nodes) while ((await node.step()) > 0);
  }

  deliver(broker: string, ...ids: bigint[]): void {
    this.append({ kind: 'deliver', timeUs: NOON_US, deliveries: ids.map(id => delivery(id, { broker })) });
  }

  tick(): void {
    this.append({ kind: 'tick', timeUs: NOON_US });
  }

  /** Has nodes vote in the present epoch, as far as they know it. */
  vote(...nodes: number[]): void {
    for (const at of nodes) {
      const { number, digest } = this.stores[at]!.epoch()!;
      this.append(voteOf(`node ${at}`, number, digest!));
    }
  }
}

const voteOf = (voter: string, epoch: number, digest: string, format = FORMAT_VERSION): Change => ({
  kind: 'vote',
  timeUs: NOON_US,
  epoch,
  vote: { voter, format, digest },
});

/** Three nodes that have the same objects. */
const withNodes = (body: (cluster: Cluster) => Promise<void>) =>
  withDirectory(async directory => {
    const cluster = new Cluster();
    try {
      for (const at of [0, 1, 2]) {
        cluster.stores.push(openStore(`${directory}/${at}`, 'write'));
        cluster.begin(at);
      }
      cluster.deliver('lasair', 1n, 2n, 3n);
      await cluster.catchUp(...cluster.nodes);
      await body(cluster);
    } finally {
      for (const store of cluster.stores) await store.close();
    }
  });

test('nodes that have the same go on, and have the same digest', () =>
  withNodes(async cluster => {
    for (const broker of ['antares', 'pittgoogle']) {
      cluster.tick();
      await cluster.catchUp(...cluster.nodes);
      cluster.vote(0, 1, 2);
      cluster.deliver(broker, 1n, 2n);
    }
    cluster.tick();
    await cluster.catchUp(...cluster.nodes);
    const [first, ...others] = cluster.stores.map(dump);
    for (const other of others) assert.equal(other, first);
    const { number, digestsBefore, votes, digest } = cluster.stores[0]!.epoch()!;
    assert.equal([number, digestsBefore, votes.length], [3, 1, 0]);
    assert.match(digest!, /^[0-9a-f]{16}$/);
    assert.is.not(digest, '0'.repeat(16));
  }));

test('a node whose archive differs stops at the end of the epoch, and again whenever it starts; the others go on', () =>
  withNodes(async cluster => {
    falsify(cluster.stores[1]!, 2n);
    cluster.deliver('antares', 2n);
    cluster.tick();
    await cluster.catchUp(...cluster.nodes);
    cluster.vote(0, 1, 2);
    cluster.deliver('antares', 3n);
    const at = cluster.log.end;
    cluster.tick();
    cluster.deliver('antares', 1n);
    await cluster.catchUp(cluster.nodes[0]!, cluster.nodes[2]!);
    assert.equal(dump(cluster.stores[0]!), dump(cluster.stores[2]!));
    assert.is(cluster.stores[0]!.epoch()!.digestsBefore, 2);
    for (let start = 0; start < 3; start++) {
      const node = cluster.begin(1);
      const error = await failure(() => cluster.catchUp(node));
      assert.instance(error, LostPlace);
      assert.is(Number(DIFFERENT.exec(error.message)?.[1]), at, error.message);
      // Everything before the tick is applied.
      assert.is(cluster.stores[1]!.logPosition()?.next, at);
    }
  }));

test('a node that was away, and has not voted, is judged, too', () =>
  withNodes(async cluster => {
    falsify(cluster.stores[1]!, 2n);
    cluster.deliver('antares', 2n);
    cluster.tick();
    await cluster.catchUp(cluster.nodes[0]!, cluster.nodes[2]!);
    cluster.vote(0, 2);
    cluster.tick();
    assert.match((await failure(() => cluster.catchUp(cluster.nodes[1]!))).message, /most nodes \(2 of 2\)/);
  }));

test('without a majority nobody stops until there is one', () =>
  withNodes(async cluster => {
    falsify(cluster.stores[1]!, 2n);
    cluster.deliver('antares', 2n);
    cluster.tick();
    await cluster.catchUp(...cluster.nodes);
    cluster.vote(0, 1);
    cluster.tick();
    await cluster.catchUp(...cluster.nodes);
    for (const store of cluster.stores) assert.is(store.epoch()!.digestsBefore, 2);
    // Nothing was written since, but what differs is not forgotten.
    cluster.vote(0, 1, 2);
    cluster.tick();
    await cluster.catchUp(cluster.nodes[0]!, cluster.nodes[2]!);
    assert.match((await failure(() => cluster.catchUp(cluster.nodes[1]!))).message, DIFFERENT);
  }));

test('one vote decides nothing, nor do a vote that comes late, a second one of a node, or those of another format', () =>
  withNodes(async cluster => {
    const wrong = 'f'.repeat(16);
    cluster.tick();
    cluster.append(voteOf('a', 1, wrong), voteOf('a', 1, wrong), voteOf('b', 2, wrong));
    cluster.tick();
    cluster.append(voteOf('b', 1, wrong), voteOf('c', 1, wrong));
    cluster.append(voteOf('b', 2, wrong, FORMAT_VERSION + 1), voteOf('c', 2, wrong, FORMAT_VERSION + 1));
    cluster.tick();
    cluster.append(voteOf('b', 3, wrong), voteOf('c', 3, '1'.repeat(16)), voteOf('d', 3, wrong));
    await cluster.catchUp(...cluster.nodes);
    assert.is(cluster.stores[0]!.epoch()!.votes.length, 3);
    cluster.tick();
    assert.match((await failure(() => cluster.catchUp(cluster.nodes[0]!))).message, DIFFERENT);
  }));

test('digests begin anew after many epochs, so that archives of a new format are comparable again', () =>
  withNodes(async cluster => {
    const digests = new Set<string>();
    for (let i = 0; i < 513; i++) {
      cluster.tick();
      await cluster.catchUp(cluster.nodes[0]!);
      digests.add(cluster.stores[0]!.epoch()!.digest!);
    }
    // The digest is that of the deliveries at first, and that of no writes at last.
    assert.equal([digests.size, [...digests][1]], [2, '0'.repeat(16)]);
  }));

test.run();
