/**
 * The one thread of `serve` that writes: it does the duties of capabilities, such as crossmatches of pending objects. LMDB
 * allows one write at a time, so a write may wait for another process without a time limit. Serving threads must never
 * wait like that.
 */

import { hostname } from 'node:os';
import { resolve } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { type Counter, Counts } from '../base/counts.ts';
import { messageOf } from '../base/error_text.ts';
import { type Log, logTo } from '../base/log.ts';
import { steadyMs } from '../base/runtime.ts';
import { SharedState } from '../base/shared_state.ts';
import { repeat } from '../base/timeout.ts';
import type { LogTopic } from '../cluster/kafka_settings.ts';
import { Member } from '../cluster/member.ts';
import { applyHistory, requireNoLog } from '../cluster/open_archive.ts';
import { changedOnDisk } from '../cluster/record_log.ts';
import { shareSettings, whySettingsDiffer } from '../cluster/shared_settings.ts';
import type { Config } from '../config/config.ts';
import type { Task, Tasks } from '../pool/pool.ts';
import { runTask } from '../pool/run_task.ts';
import { readDamage } from '../store/claims.ts';
import { readLevel, UnreadableLevel } from '../store/level.ts';
import { readLogPosition } from '../store/log_position.ts';
import { noteEvent, notingErrors } from '../store/noting.ts';
import { openStore, type Store } from '../store/store.ts';
import { DamagedValue } from '../store/store_error.ts';
import { Writer } from '../store/writer.ts';
import type { DutyTask, InWriter, OnDuty } from './beside_writer.ts';
import { Duty, type Work, workUntilClosed } from './duty.ts';
import { beginReports } from './reports.ts';
import { beginScrub } from './scrub.ts';

export interface WriteTask extends Task<undefined> {
  readonly module: 'src/core/background/writer_thread';
  readonly kind: 'write';
  readonly config: Config;
  /** The log that the archive follows, if any. */
  readonly topic: LogTopic | undefined;
  /** By the names of their leases. */
  readonly duties: ReadonlyMap<string, DutyTask>;
  /** See `Capability`. */
  readonly counters: readonly Counter[];
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
  /** See `WriterLink`. */
  | { readonly kind: 'run'; readonly name: string; readonly task: Task<Work> };

export const tasks: Tasks<WriteTask> = { write: runWriter };

/** The interval at which counts are stored. */
const KEEP_MS = 60_000;

/**
 * Resolves after the signal to stop, when nothing is being written.
 * @throws StoreError if the database cannot be opened for writing
 */
async function runWriter({ config, topic, duties, counters, link, ...task }: WriteTask): Promise<undefined> {
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
  store.onFullDisk = bytes => state.wantDisk(bytes);
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
  const given = new Map<string, Promise<Work>>();
  notes = writer;
  const counts = new Counts(counters, state.counts);
  const notKept = (error: unknown) => log('counts_not_stored', { error: messageOf(error) });
  const keepNew = async () => counts.hasNew && (await writer.keepCounts(counts));
  await writer.keepCounts(counts).catch(notKept);
  work.push(workUntilClosed(signal => repeat(signal, KEEP_MS, keepNew, notKept)));
  let isStopping = false;
  link.on('message', (message: ToWriter) => {
    if (message.kind === 'stop') return stop.resolve();
    if (message.kind === 'failed') return noteEvent(writer, message.event, message.fields);
    if (message.kind === 'run') return run(message.name, message.task);
    void start().catch(() => {});
  });
  const run = (name: string, task: Task<Work>) => {
    const after = Promise.resolve(given.get(name)).then(former => former?.close());
    after.catch(() => {});
    const added: InWriter = { store, writer, after };
    given.set(name, Promise.resolve(runTask({ ...task, ...added })) as Promise<Work>);
  };
  const start = async () => {
    if (member) {
      const onDamage = (damage: DamagedValue) => member.stop(changedOnDisk(damage));
      const onWhole = async () => {
        if (readDamage(store.databases) !== undefined) await new Writer(store).noteDamage(undefined);
      };
      work.push(beginScrub(store, { onDamage, onWhole, log, begins: member.caughtUp }));
    }
    // Work on an outdated archive would be useless.
    await member?.caughtUp;
    const shared = member && shareSettings(store, writer, config);
    await shared?.catch(error => log('settings_not_shared', { error: messageOf(error) }));
    begin();
  };
  const begun = (name: string, beginning: Promise<Work>): Work => {
    const work = beginning.catch(error => log('duty_failed', { duty: name, error: messageOf(error) }));
    return { close: async () => (await work)?.close() };
  };
  const begin = () => {
    if (isStopping) return;
    // A node with other settings would store different data than the other nodes.
    const hasSameSettings = () => {
      store.resetRead();
      return whySettingsDiffer(store, config) === undefined;
    };
    if (member) work.push(beginReports(store, writer, log, `${hostname()}:${resolve(config.NEARSKY_DATA)}`));
    for (const [name, task] of duties) {
      const begin = () => runTask({ ...task, store, writer, log } as OnDuty) as Promise<Work>;
      work.push(member ? new Duty({ name, store, writer, log, begin, isFit: hasSameSettings }) : begun(name, begin()));
    }
  };
  send({ kind: 'opened' });
  await stop.promise;
  isStopping = true;
  // Abandons changes that wait for the log, so that the writer can stop.
  await Promise.all([
    ...work.map(each => each.close()),
    ...[...given.values()].map(async each => (await each).close()),
    member?.close(),
  ]);
  await keepNew().catch(notKept);
  await store.close();
  link.close();
  return undefined;
}

/** Shares the node's position in its log with every thread. */
function reportTo(state: SharedState, store: Store, log: Log) {
  const reportPosition = () => {
    const { next, timeUs } = readLogPosition(store.databases) ?? { next: 0, timeUs: 0 };
    state.logPosition = next;
    state.logTimeUs = timeUs;
    state.logLevel = readLevel(store.databases);
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
      const own = new Writer(store);
      if (cause instanceof DamagedValue) {
        state.isDamaged = true;
        own.noteDamage(cause.what).catch(() => {});
      }
      if (cause instanceof UnreadableLevel) {
        state.logLevel = cause.level;
        state.isOutdated = true;
      }
      state.isStopped = true;
      log('node_stopped', { error: messageOf(error) });
      // Needed by `node status`. A damaged disk may refuse the write.
      own.noteStop(messageOf(error)).catch(() => {});
    },
  };
}
