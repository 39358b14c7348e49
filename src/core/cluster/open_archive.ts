/**
 * Opens the archive of a data directory for a command that changes it, either directly or through the log that nodes
 * share.
 */
import { messageOf } from '../base/error_text.ts';
import { logToStderr } from '../base/log.ts';
import { endBySignal } from '../base/stop_signal.ts';
import { withTimeout } from '../base/timeout.ts';
import type { Config } from '../config/config.ts';
import { readLogPosition } from '../store/log_position.ts';
import { openStore, type Store } from '../store/store.ts';
import { StoreError } from '../store/store_error.ts';
import { Writer } from '../store/writer.ts';
import { logSettings } from './kafka_log.ts';
import { Member } from './member.ts';
import { requireUndamaged } from './record_log.ts';
import { shareSettings, whySettingsDiffer } from './shared_settings.ts';

/** The time after which a command prints that it waits for the log. */
const QUIET_MS = 2000;
/** The interval between checks that the database is in its place. */
const LOOK_MS = 500;

/**
 * Opens the data directory; creates it if it is missing. With a log, the archive has applied the whole log when this
 * resolves.
 * @throws StoreError
 */
export async function openArchive(config: Config) {
  const topic = logSettings(config, process.env);
  const store = openStore(config.NEARSKY_DATA, 'write');
  let member: Member | undefined;
  const unwatch = endWhenGone(store);
  const close = async () => {
    unwatch();
    await member?.close();
    await store.close();
  };
  try {
    if (topic) {
      requireUndamaged(store);
      member = new Member({ store, topic, log: logToStderr });
    } else requireNoLog(store);
    const caughtUp = member?.caughtUp.then(() => true);
    if (caughtUp && !(await withTimeout(caughtUp, QUIET_MS))) logToStderr('waits_for_log');
    await caughtUp;
    const writer = new Writer(store, member);
    if (member) await requireSameSettings(store, writer, config);
    await applyHistory(writer, config);
    return { store, writer, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Begins or removes the history, if the setting says so.
 * @param signal see `Writer.keepHistory`
 */
export async function applyHistory(
  writer: Writer,
  { NEARSKY_HISTORY: history }: Config,
  signal?: AbortSignal,
): Promise<void> {
  if (history !== 'unchanged') await writer.keepHistory(history === 'keep', signal);
}

/**
 * Logs a line and kills the process once the files of the database are removed or replaced, or their disk is unmounted.
 * Otherwise a command would wait for changes to a database that no other process sees.
 * @returns a function that ends the watch
 */
export function endWhenGone(store: Store): () => void {
  const timer = setInterval(() => {
    try {
      store.requireInPlace();
    } catch (error) {
      logToStderr('database_gone', { error: messageOf(error) });
      // A thread that waits for input would delay `process.exit`.
      endBySignal('SIGKILL');
    }
  }, LOOK_MS).unref();
  return () => clearInterval(timer);
}

/** @throws StoreError if the settings of this node differ from the settings in the log */
async function requireSameSettings(store: Store, writer: Writer, config: Config): Promise<void> {
  await shareSettings(store, writer, config);
  store.resetRead();
  const differs = whySettingsDiffer(store, config);
  if (differs !== undefined) throw new StoreError(`Cannot change the archive because ${differs}`);
}

/** @throws StoreError if the archive follows a log that is not configured */
export function requireNoLog(store: Store): void {
  const position = readLogPosition(store.databases);
  if (!position) return;
  throw new StoreError(
    `Cannot use this data directory without its log because its archive is made from one (${position.log}): set NEARSKY_LOG`,
  );
}
