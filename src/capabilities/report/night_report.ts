/** Makes the report of a night: what arrived, what was done with it, and whether a person must act. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { freeBytesAt } from '../../core/base/disk.ts';
import { formatTime, formatTimeOrNull } from '../../core/base/times.ts';
import type { Config } from '../../core/config/config.ts';
import { isSnapshotCurrent } from '../../core/contract/tns_names.ts';
import { type NightActivity, nightActivity } from '../../core/service/night_activity.ts';
import { readCatalogNames } from '../../core/store/catalog_registration.ts';
import { claimedIds, readStop } from '../../core/store/claims.ts';
import { RESERVE_BYTES } from '../../core/store/disk_space.ts';
import { readPublished } from '../../core/store/meta.ts';
import {
  type BrokerNight,
  type Chore,
  nightAfter,
  nightOf,
  readDone,
  readNight,
  readNotes,
} from '../../core/store/nights.ts';
import { countPending } from '../../core/store/object_tables.ts';
import { readRegistryEpochUs } from '../../core/store/registry.ts';
import type { Store } from '../../core/store/store.ts';
import { type DiskUse, diskUse } from '../status/disk_use.ts';

const HOUR_US = 3_600_000_000;
/** Objects should not be pending for longer than this. */
const MAX_PENDING_US = HOUR_US;
/** At most this many pending objects are read to find out their age. */
const MAX_AGED = 10_000;
/** A broker that delivered within this number of nights is expected to continue. */
const EXPECTED_NIGHTS = 7;
/** A person must act if the share of rejected messages is larger than this. */
const MAX_REJECTED_SHARE = 0.01;
const MAX_UNPUBLISHED_ENTRIES = 1000;
const MAX_BACKUP_AGE_US = 48 * HOUR_US;
const MIN_NIGHTS_LEFT = 14;
/** The growth is measured over this number of nights. */
const GROWTH_NIGHTS = 30;

export interface NightReport extends NightActivity {
  /** The reasons why a person must act; empty if there are none. */
  readonly needs_person: readonly string[];
  readonly brokers: Readonly<Record<string, BrokerNight & { readonly rejects_files: readonly string[] }>>;
  /** The present state of the database, like all fields below except `errors`. */
  readonly pending: { readonly objects: number; readonly overdue: boolean; readonly reason: string | null };
  /** Crossmatched objects for which a catalog could not be read. */
  readonly unread: boolean;
  readonly registry: { readonly epoch: string | null; readonly age_hours: number | null; readonly current: boolean };
  readonly stream: Readonly<Record<string, { readonly sequence: number; readonly behind: number }>>;
  readonly done: Readonly<Record<Chore, { readonly time: string; readonly target: string } | null>>;
  /** Bytes. */
  readonly disk: DiskUse & {
    readonly free: number | null;
    /** Mean growth of the database; null before the second night. */
    readonly growth_per_night: number | null;
    /** Nights until the disk is full; null if the database does not grow, or its growth is unknown. */
    readonly nights_left: number | null;
  };
  readonly errors: Readonly<Record<string, { readonly count: number; readonly last: string; readonly time: string }>>;
}

/** The counts and the errors belong to the night. Everything else is the present state. */
export function nightReport(store: Store, config: Config, nowUs: number, night?: string): NightReport {
  const activity = nightActivity(store, nowUs, night);
  const report = { ...activity, ...presentState(store, config, nowUs), ...recordOf(store, config, activity) };
  return { ...report, needs_person: whyNeeded(report, store, nowUs) };
}

/** The errors of the night, and the files of its rejected messages. */
function recordOf(store: Store, { NEARSKY_DATA }: Config, { night, brokers }: NightActivity) {
  const errors = Object.entries(readNotes(store.databases, night).errors).map(([kind, { count, lastText, lastUs }]) => {
    return [kind, { count, last: lastText, time: formatTime(lastUs) }] as const;
  });
  const found = Object.entries(brokers).map(([broker, counts]) => {
    return [broker, { ...counts, rejects_files: rejectsFiles(NEARSKY_DATA, broker, night) }] as const;
  });
  return { brokers: Object.fromEntries(found), errors: Object.fromEntries(errors) };
}

/** The files of rejects for the two UTC dates that the night covers. */
function rejectsFiles(dataDir: string, broker: string, night: string): string[] {
  const directory = join(dataDir, 'rejected');
  const starts = [night, nightAfter(night, 1)].map(date => `${broker}-${date}.`);
  try {
    const names = readdirSync(directory).filter(name => starts.some(start => name.startsWith(start)));
    return names.sort().map(name => join(directory, name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function presentState(store: Store, config: Config, nowUs: number) {
  const epochUs = readRegistryEpochUs(store.databases);
  const last = store.lastSequence();
  const stream = [...readPublished(store.databases)].map(([topic, { sequence }]) => {
    return [topic, { sequence, behind: last - sequence }] as const;
  });
  const { backup, export: exported } = readDone(store.databases);
  const shown = (done: typeof backup) => (done ? { time: formatTime(done.timeUs), target: done.target } : null);
  return {
    pending: pendingState(store, nowUs),
    unread: store.unreadIds(1).length > 0,
    registry: {
      epoch: formatTimeOrNull(epochUs),
      age_hours: epochUs === null ? null : Math.round((nowUs - epochUs) / HOUR_US),
      current: isSnapshotCurrent(epochUs, nowUs, config.TNS_SNAPSHOT_MAX_AGE_SECONDS),
    },
    stream: Object.fromEntries(stream),
    done: { backup: shown(backup), export: shown(exported) },
    disk: diskState(store, config.NEARSKY_DATA, nowUs),
  };
}

function pendingState(store: Store, nowUs: number): NightReport['pending'] {
  const objects = countPending(store.databases);
  if (objects === 0) return { objects, overdue: false, reason: null };
  const overdue = store.pendingIds(MAX_AGED).some(id => {
    const object = store.getObject(id);
    return object !== undefined && nowUs - object.ingestTimeUs > MAX_PENDING_US;
  });
  const claimed = claimedIds(store.databases, store.livePids()).size;
  const reason =
    readCatalogNames(store.databases).length === 0
      ? 'no catalog is registered'
      : claimed > 0
        ? `${claimed} are being crossmatched`
        : overdue
          ? 'nothing crossmatches them, or no catalog that covers them can be read'
          : 'they arrived within the last hour';
  return { objects, overdue, reason };
}

function diskState(store: Store, dataDir: string, nowUs: number): NightReport['disk'] {
  const use = diskUse(dataDir);
  const free = freeBytesAt(dataDir) ?? null;
  const tonight = nightOf(nowUs);
  let growth: number | null = null;
  for (let nights = GROWTH_NIGHTS; nights > 0 && growth === null; nights--) {
    const { databaseBytes } = readNotes(store.databases, nightAfter(tonight, -nights));
    if (databaseBytes !== undefined) growth = Math.round((use.database - databaseBytes) / nights);
  }
  const nights_left = free !== null && growth !== null && growth > 0 ? Math.floor(free / growth) : null;
  return { ...use, free, growth_per_night: growth, nights_left };
}

/** The most urgent reason comes first. */
function whyNeeded(report: Omit<NightReport, 'needs_person'>, store: Store, nowUs: number): string[] {
  const { brokers, disk, done, errors, night, pending, registry, stream } = report;
  const reasons: string[] = [];
  const stopped = readStop(store.databases, store.livePids());
  if (stopped !== undefined) reasons.push(`this node has stopped: ${stopped}`);
  if (disk.free !== null && disk.free < RESERVE_BYTES) reasons.push('the disk is full: nothing can be stored');
  else if (disk.nights_left !== null && disk.nights_left < MIN_NIGHTS_LEFT)
    reasons.push(`the disk is full in ${disk.nights_left} nights`);
  for (const [kind, { count, last }] of Object.entries(errors))
    if (kind.startsWith('ingest')) reasons.push(`${kind}: ${count === 1 ? last : `${count} errors, last: ${last}`}`);
  for (const broker of silentBrokers(store, night, Object.keys(brokers)))
    reasons.push(`${broker} delivered nothing, but others did; see the errors of consume and ingest`);
  for (const [broker, { messages, rejected, rejected_by_reason }] of Object.entries(brokers)) {
    const [most = ''] = Object.entries(rejected_by_reason).sort(([, a], [, b]) => b - a)[0] ?? [];
    if (rejected > MAX_REJECTED_SHARE * messages)
      reasons.push(`${rejected} of ${messages} messages of ${broker} were rejected, most because: ${most}`);
  }
  if (pending.overdue) reasons.push(`objects are pending for more than an hour: ${pending.reason}`);
  if (report.unread)
    reasons.push(
      `some objects were crossmatched without a catalog, ${errors['catalog unreadable']?.last ?? 'which could not be read'}`,
    );
  if (registry.epoch !== null && !registry.current)
    reasons.push(`the TNS registry is ${registry.age_hours} hours old, so names cannot be resolved`);
  for (const [topic, { behind }] of Object.entries(stream))
    if (behind > MAX_UNPUBLISHED_ENTRIES) reasons.push(`the stream to ${topic} is ${behind} journal entries behind`);
  if (done.backup && nowUs - Date.parse(done.backup.time) * 1000 > MAX_BACKUP_AGE_US)
    reasons.push(`the last backup was made at ${done.backup.time}`);
  return reasons;
}

/** Brokers that delivered in the previous nights but not in this one, although another broker did. */
function silentBrokers(store: Store, night: string, delivering: readonly string[]): string[] {
  if (delivering.length === 0) return [];
  const before = new Set<string>();
  for (let nights = 1; nights <= EXPECTED_NIGHTS; nights++)
    for (const broker of Object.keys(readNight(store.databases, nightAfter(night, -nights)).brokers))
      before.add(broker);
  return [...before].filter(broker => !delivering.includes(broker)).sort();
}
