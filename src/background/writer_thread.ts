/**
 * The one thread of `serve` that writes: it crossmatches pending objects, removes old ones, and keeps the registry up to date. LMDB
 * allows one write at a time, so a write may wait for another process without a time limit. Serving threads must never
 * wait like that.
 */

import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { messageOf } from '../base/error_text.ts';
import { type Log, logTo } from '../base/log.ts';
import { steadyMs } from '../base/runtime.ts';
import { SharedState } from '../base/shared_state.ts';
import { applyHistory, requireNoLog } from '../cluster/archive.ts';
import type { LogTopic } from '../cluster/kafka_settings.ts';
import { Member } from '../cluster/member.ts';
import { changedOnDisk } from '../cluster/record_log.ts';
import { shareSettings, whySettingsDiffer } from '../cluster/shared_settings.ts';
import type { Config } from '../config/config.ts';
import type { Task } from '../pool/pool.ts';
import { UnreadableLevel } from '../store/level.ts';
import { noteEvent, notingErrors } from '../store/noting.ts';
import { openStore, type Store } from '../store/store.ts';
import type { DamagedValue } from '../store/store_error.ts';
import { Writer } from '../store/writer.ts';
import { keepLedger, StoreLedger } from '../stream/ledger.ts';
import type { BotCredentials } from '../tns/client.ts';
import { BackgroundCrossmatch } from './crossmatch.ts';
import { Duty, type Work, workUntilClosed } from './duty.ts';
import { BackgroundRefresh } from './refresh.ts';
import { beginReports } from './reports.ts';
import { beginRetention } from './retention.ts';
import { beginScrub } from './scrub.ts';

export interface WriteTask extends Task<undefined> {
  readonly kind: 'write';
  readonly config: Config;
  /** The log that the archive follows, if any. */
  readonly topic: LogTopic | undefined;
  readonly crossmatch: boolean;
  /** The part that keeps the TNS registry up to date. */
  readonly bot: BotCredentials | undefined;
  /** The memory of the `SharedState`. */
  readonly state: SharedArrayBuffer;
  readonly link: MessagePort;
}

export type FromWriter =
  /** The database exists, and has the present format. */
  | { readonly kind: 'opened' }
  | { readonly kind: 'log'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> | undefined };

export type ToWriter =
  | { readonly kind: 'begin' }
  | { readonly kind: 'stop' }
  /** An event of another thread, for the report of the night. */
  | { readonly kind: 'failed'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }
  /** A publication begins; this thread keeps its ledger. The previous publication has ended. */
  | { readonly kind: 'publishing'; readonly topic: string; readonly ledger: MessagePort };

/**
 * Resolves after the signal to stop, when nothing is being written.
 * @throws StoreError if the database cannot be opened for writing
 */
export async function runWriter({ config, topic, crossmatch, bot, link, ...task }: WriteTask): Promise<undefined> {
  const send = (message: FromWriter) => link.postMessage(message);
  let notes: Writer | undefined;
  const log = notingErrors(
    logTo((event, fields) => send({ kind: 'log', event, fields })),
    () => notes,
  );
  const state = new SharedState(task.state);
  const stop = Promise.withResolvers<void>();
  const work: Work[] = [];
  const onWaiting = (isWaiting: boolean) => {
    state.writeWaitsSinceMs = isWaiting ? Date.now() : 0;
  };
  onWaiting(true);
  const store = openStore(config.NEARSKY_DATA, 'write');
  onWaiting(false);
  store.onWaiting = onWaiting;
  if (!topic) requireNoLog(store);
  const member = topic && new Member({ store, topic, log, isPatient: true, ...reportTo(state, store, log) });
  const writer = new Writer(store, member);
  if (config.NEARSKY_HISTORY === 'remove') {
    // A large history takes minutes to remove, so the service starts meanwhile.
    const failed = (error: unknown) => log('history_not_removed', { error: messageOf(error) });
    work.push(workUntilClosed(signal => applyHistory(writer, config, signal).catch(failed)));
  } else {
    await applyHistory(writer, config);
  }
  const ledgers = new Map<string, StoreLedger>();
  notes = writer;
  let isStopping = false;
  link.on('message', (message: ToWriter) => {
    if (message.kind === 'stop') return stop.resolve();
    if (message.kind === 'failed') return noteEvent(writer, message.event, message.fields);
    if (message.kind === 'publishing') {
      const former = ledgers.get(message.topic);
      const ledger = new StoreLedger(store, writer, message.topic);
      ledgers.set(message.topic, ledger);
      keepLedger(message.ledger, ledger, former?.end());
      return;
    }
    void start().catch(() => {});
  });
  const start = async () => {
    if (member) {
      const onDamage = (damage: DamagedValue) => member.stop(changedOnDisk(damage));
      work.push(beginScrub(store, { onDamage, log, begins: member.caughtUp }));
    }
    // Work on an outdated archive would be useless.
    await member?.caughtUp;
    const shared = member && shareSettings(store, writer, config);
    await shared?.catch(error => log('settings_not_shared', { error: messageOf(error) }));
    begin();
  };
  const begin = () => {
    if (isStopping) return;
    // If several nodes share a log, only one of them does each kind of work.
    const doAlone = (name: string, begin: () => Work, isFit = () => true) =>
      work.push(member ? new Duty({ name, store, writer, log, begin, isFit }) : begin());
    // A node with other settings would store different data than the other nodes.
    const hasSameSettings = () => {
      store.resetRead();
      return whySettingsDiffer(store, config) === undefined;
    };
    if (member) work.push(beginReports(writer, log, `${hostname()}:${resolve(config.NEARSKY_DATA)}`));
    if (crossmatch) doAlone('crossmatch', () => new BackgroundCrossmatch(store, writer, config, log), hasSameSettings);
    const days = config.NEARSKY_RETENTION_DAYS;
    if (days !== null) doAlone('remove old objects', () => beginRetention(store, writer, days, log), hasSameSettings);
    if (bot)
      doAlone(
        'refresh the registry',
        () => new BackgroundRefresh({ store, writer, config, bot, log }),
        hasSameSettings,
      );
  };
  send({ kind: 'opened' });
  await stop.promise;
  isStopping = true;
  // Abandons changes that wait for the log, so that the writer can stop.
  await Promise.all([
    ...work.map(each => each.close()),
    ...[...ledgers.values()].map(each => each.end()),
    member?.close(),
  ]);
  await store.close();
  link.close();
  return undefined;
}

/** Shares the node's position in its log with every thread. */
function reportTo(state: SharedState, store: Store, log: Log) {
  const reportPosition = () => {
    const { next, timeUs } = store.logPosition() ?? { next: 0, timeUs: 0 };
    state.logPosition = next;
    state.logTimeUs = timeUs;
    state.logLevel = store.logLevel();
  };
  // The log may be unreachable for a long time.
  reportPosition();
  return {
    onRead(left: number, clockSkewUs: number) {
      reportPosition();
      state.logLeft = left;
      state.clockSkewUs = clockSkewUs;
      state.isLogAway = false;
      if (left > 0) return;
      state.logFollowedMs = steadyMs();
      state.hasCaughtUp = true;
    },
    onFailed(isAway: boolean) {
      state.isLogAway = isAway;
    },
    onStopped(error: unknown, left: number) {
      state.logLeft = left;
      const { cause } = error as Error;
      if (cause instanceof UnreadableLevel) {
        state.logLevel = cause.level;
        state.isOutdated = true;
      }
      state.isStopped = true;
      log('node_stopped', { error: messageOf(error) });
      // Needed by `node status`. A damaged disk may refuse the write.
      new Writer(store).noteStop(messageOf(error)).catch(() => {});
    },
  };
}
