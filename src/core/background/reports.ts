/** Reports this node to the others; the reports also advance the time of an idle log. */
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { repeat } from '../base/timeout.ts';
import { readLogPosition } from '../store/log_position.ts';
import type { Store } from '../store/store.ts';
import { ClockAhead } from '../store/store_error.ts';
import type { Writer } from '../store/writer.ts';
import { type Work, workUntilClosed } from './duty.ts';

/** Each report is a commit on every node: tens of kilobytes on its disk. */
const REPORT_MS = 120_000;

/** @param node the host and the data directory, by which people recognise the node */
export function beginReports(store: Store, writer: Writer, log: Log, node: string): Work {
  const failed = (error: unknown) => log('report_failed', { error: messageOf(error) });
  return workUntilClosed(signal => repeat(signal, REPORT_MS, () => reportNode(store, writer, node), failed));
}

/**
 * Reports this node, and the highest level that it can read, to the other nodes.
 * @param node its host and data directory
 */
export async function reportNode(store: Store, writer: Writer, node: string): Promise<void> {
  const report = { kind: 'report_node', node, level: store.readableLevel } as const;
  try {
    await writer.commit(report);
  } catch (error) {
    if (!(error instanceof ClockAhead)) throw error;
    // Without a report, the other nodes could raise the level of the log above this node's.
    await writer.commit(report, readLogPosition(store.databases)?.timeUs);
  }
}
