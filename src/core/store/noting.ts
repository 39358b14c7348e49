/** Notes errors and finished chores of this machine for the report of the night. */
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import type { Chore } from './nights.ts';
import { openStore } from './store.ts';
import { Writer } from './writer.ts';

/** The noted errors: their kinds, by the event that logs them. */
const KINDS: Readonly<Record<string, string>> = {
  append_failed: 'log of the nodes',
  consume_failed: 'consume',
  crossmatch_failed: 'crossmatch',
  log_failed: 'log of the nodes',
  node_stopped: 'node stopped',
  publish_failed: 'publish',
  publisher_failed: 'publish',
  retention_failed: 'retention',
  tns_refresh_failed: 'registry',
};

type Fields = Parameters<Log>[1];

/** A log that also notes the errors among its events, once there is a writer. */
export function notingErrors(log: Log, writer: () => Writer | undefined): Log {
  return (event, fields) => {
    log(event, fields);
    noteEvent(writer(), event, fields);
  };
}

export function noteEvent(writer: Writer | undefined, event: string, fields: Fields = {}): void {
  const { broker, error, problems } = fields as { broker?: string; error?: unknown; problems?: { reason: string }[] };
  for (const { reason } of problems ?? []) noteError(writer, 'catalog unreadable', reason);
  const kind = KINDS[event];
  if (kind !== undefined) noteError(writer, broker === undefined ? kind : `${kind} ${broker}`, error);
}

/** Whatever failed may also prevent the note, so a failure to note is ignored. */
export function noteError(writer: Writer | undefined, kind: string, error: unknown): void {
  writer?.noteError(kind, messageOf(error)).catch(() => {});
}

/** Call this when the store is closed, because a process cannot open it for writing while it is open for reading. */
export async function noteChore(dataDir: string, chore: Chore, target: string): Promise<void> {
  await using store = openStore(dataDir, 'write');
  await new Writer(store).noteDone(chore, target);
}
