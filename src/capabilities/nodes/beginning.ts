/** Attaches an existing archive to a log, and detaches it. */

import { nowUs } from '../../core/base/times.ts';
import { Node } from '../../core/cluster/node.ts';
import { type RecordLog, requireUndamaged } from '../../core/cluster/record_log.ts';
import { raiseLevel } from '../../core/cluster/shared_settings.ts';
import { readLevel } from '../../core/store/level.ts';
import { readLogPosition } from '../../core/store/log_position.ts';
import { journalState } from '../../core/store/positions.ts';
import type { Store } from '../../core/store/store.ts';
import { StoreError } from '../../core/store/store_error.ts';
import { Writer } from '../../core/store/writer.ts';
import type { OtherNode } from './other_nodes.ts';

/**
 * Makes the archive the start of an empty log. It may be called again after an interruption.
 * @param others the other nodes; none may have more data than this archive
 * @throws StoreError if the log has records, the archive already follows a log, another process uses the archive, or
 * another node has more data
 */
export async function beginLog(store: Store, log: RecordLog, others: readonly OtherNode[] = []): Promise<void> {
  const cannot = 'Cannot begin the log with this archive';
  requireAlone(store, cannot);
  requireUndamaged(store);
  const { sequence } = journalState(store.databases);
  for (const { address, found } of others) {
    if (found && found.sequence > sequence) {
      const cure = found.isDamaged ? 'its data is damaged' : 'begin there';
      throw new StoreError(
        `${cannot} because it has ${sequence} journal entries and the node at ${address} has ${found.sequence}: ${cure}. If that archive is not needed, remove its address from NEARSKY_NODES`,
      );
    }
  }
  const position = readLogPosition(store.databases);
  if (position && position.next > 0)
    throw new StoreError(`${cannot} because it already follows a log (${position.log})`);
  const { end } = await log.read(0);
  if (end > 0) {
    throw new StoreError(
      `${cannot} because the log has ${end} records: create a new topic, or start this node from a backup of a node that follows the log`,
    );
  }
  await new Writer(store).beginLog(await log.identity());
  const node = new Node(store, log);
  await applied(node, node.submit({ kind: 'begin_log', timeUs: nowUs(), ...journalState(store.databases) }));
  // The archive may hold data that releases of a lower level cannot read.
  if (readLevel(store.databases) < store.readableLevel) await applied(node, raiseLevel(store, new Writer(store, node)));
  await node.close();
}

/** Lets a node follow its log until its own change is applied. */
async function applied(node: Node, change: Promise<unknown>): Promise<void> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  change.then(end, end);
  while (!isOver) await node.step();
  await change;
}

/**
 * Detaches the archive from its log.
 * @throws StoreError if it follows no log, or another process uses it
 */
export async function leaveLog(store: Store): Promise<void> {
  const cannot = 'Cannot leave the log';
  requireAlone(store, cannot);
  if (!readLogPosition(store.databases)) throw new StoreError(`${cannot} because this archive follows none`);
  await new Writer(store).leaveLog();
}

function requireAlone(store: Store, cannot: string): void {
  const [other] = [...store.livePids()].filter(pid => pid !== process.pid);
  if (other !== undefined) throw new StoreError(`${cannot} while process ${other} uses it: stop that process first`);
}
