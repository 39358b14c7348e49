/** Reports this node to the others; the reports also advance the time of an idle log. */
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { repeat } from '../base/timeout.ts';
import type { Writer } from '../store/writer.ts';
import { type Work, workUntilClosed } from './duty.ts';

/** Each report is a commit on every node: tens of kilobytes on its disk. */
const REPORT_MS = 120_000;

/** @param node the host and the data directory, by which people recognise the node */
export function beginReports(writer: Writer, log: Log, node: string): Work {
  const failed = (error: unknown) => log('report_failed', { error: messageOf(error) });
  return workUntilClosed(signal => repeat(signal, REPORT_MS, () => writer.reportNode(node), failed));
}
