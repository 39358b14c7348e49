/** Brings the TNS registry up to date: once a day the whole file, then the changes of each later hour. */

import { closeSync } from 'node:fs';
import { openAnonymousFile } from '../../core/base/files.ts';
import { formatTime } from '../../core/base/times.ts';
import {
  countRegistry,
  type RegistrySnapshot,
  readRegistrySnapshot,
  type Validators,
} from '../../core/store/registry.ts';
import type { Store } from '../../core/store/store.ts';
import type { TnsRecord } from '../../core/store/types.ts';
import type { Writer } from '../../core/store/writer.ts';
import type { Download, TnsClient } from './client.ts';
import type { RegistryLoader, StagedLoad } from './loader.ts';
import { readPublicFile } from './public_file.ts';
import { RegistryError, type TimeSpan } from './registry_file.ts';
import { changeStaged, dropLoad, publishLoad, tidyRegistry } from './registry_writer.ts';

const WHOLE_FILE = 'tns_public_objects.csv.zip';
const HOUR_US = 3_600_000_000;
const DAY_US = 24 * HOUR_US;
/** A whole file is rejected if it has fewer than this fraction of the objects in the current registry. */
const LEAST_SHARE = 0.5;

interface RefreshOptions {
  readonly dataDir: string;
  readonly store: Store;
  readonly writer: Writer;
  readonly client: TnsClient;
  readonly loader: RegistryLoader;
  /** Microseconds since 1970. */
  readonly nowUs: number;
}

export interface RefreshSummary {
  /** The number of objects in the whole file; null if the current file is the newest. */
  readonly objects: number | null;
  /** The number of hourly change files that were applied. */
  readonly hours: number;
  /** The number of rows in the hourly change files. */
  readonly changes: number;
  readonly epochUs: number;
  /** Why no later hour was applied; null if the last hour was reached. */
  readonly gap: string | null;
}

/** The changes from an epoch up to `epochUs`. */
interface Changes extends Pick<RefreshSummary, 'hours' | 'epochUs' | 'gap'> {
  readonly records: readonly TnsRecord[];
}

/**
 * Downloads everything first, and then makes it visible in one commit. After any failure the registry and its epoch are
 * unchanged.
 * @throws RegistryError, also if another process is refreshing the registry; StoreError; errors of the client's
 *   signal and the loader's callback
 */
export async function refreshRegistry(options: RefreshOptions): Promise<RefreshSummary> {
  const claim = await options.writer.claimExclusively('refresh the TNS registry');
  if (!claim)
    throw new RegistryError('Cannot refresh because another process is already refreshing: wait until it finishes');
  try {
    return await refreshUnderClaim(options);
  } finally {
    await options.writer.dropClaim(claim);
  }
}

async function refreshUnderClaim(options: RefreshOptions): Promise<RefreshSummary> {
  const { store, writer, nowUs } = options;
  await tidyRegistry(writer, store);
  store.resetRead();
  const base = readRegistrySnapshot(store.databases) ?? null;
  const isOfToday = base !== null && Math.floor(base.fileEpochUs / DAY_US) >= Math.floor(nowUs / DAY_US);
  const whole = isOfToday ? undefined : await stageWhole(options, base);
  try {
    const changes = await downloadChanges(options, whole?.staged.epochUs ?? base!.epochUs);
    if (whole) {
      const { load, epochUs: fileEpochUs } = whole.staged;
      await changeStaged(writer, load, changes.records);
      await publishLoad(writer, load, changes.epochUs, { fileEpochUs, validators: whole.validators, base });
    } else if (changes.hours > 0) {
      await writer.commit({ kind: 'change_registry', base: base!, records: changes.records, epochUs: changes.epochUs });
    }
    const { hours, epochUs, gap } = changes;
    return { objects: whole?.staged.objects ?? null, hours, changes: changes.records.length, epochUs, gap };
  } catch (error) {
    if (whole) await dropLoad(writer, whole.staged.load);
    throw error;
  }
}

/** Stages the whole file as a load next to the registry. Undefined if the file is no newer than the file of `base`. */
async function stageWhole(options: RefreshOptions, base: RegistrySnapshot | null) {
  const { store, writer, loader } = options;
  return withFile(options, WHOLE_FILE, base?.validators ?? null, async (download, csv) => {
    if (download.outcome === 'absent')
      throw new RegistryError(`Cannot refresh because there is no ${WHOLE_FILE}: try again later`);
    if (download.outcome !== 'whole') return undefined;
    let staged: StagedLoad;
    try {
      staged = await loader.stage(csv(), WHOLE_FILE, span => newerEpoch(span, base, options.nowUs));
    } catch (error) {
      if (error instanceof NotNewer) return undefined;
      throw error;
    }
    const known = base ? countRegistry(store.databases) : 0;
    if (staged.objects >= LEAST_SHARE * known) return { staged, validators: download.validators };
    await dropLoad(writer, staged.load);
    throw new RegistryError(
      `Cannot use ${WHOLE_FILE} as the registry because it has only ${staged.objects} objects, and ${known} are known: check it, then load it with nearsky tns load`,
    );
  });
}

class NotNewer extends Error {}

function newerEpoch(span: TimeSpan | undefined, base: RegistrySnapshot | null, nowUs: number): number {
  const epochUs = span?.endUs ?? span?.startUs;
  if (epochUs === undefined)
    throw new RegistryError(`Cannot use ${WHOLE_FILE} because it does not state its time: try again later`);
  if (base && epochUs <= base.fileEpochUs) throw new NotNewer();
  // A registry with an epoch in the future would count as current for too long.
  if (epochUs > nowUs) {
    throw new RegistryError(
      `Cannot use ${WHOLE_FILE} because its time is in the future, ${formatTime(epochUs)}: set the clock of this machine, or try again later`,
    );
  }
  return epochUs;
}

/**
 * Downloads the changes since an epoch. The change files form a ring of 24, one per hour of the day. The first line of
 * each file gives its day and hour. Each file must continue where the known changes end. A file may be named after the
 * hour at which its span begins or ends, so one file may be from yesterday. The second file without new changes shows
 * that the newest file was passed.
 */
async function downloadChanges(options: RefreshOptions, fromUs: number): Promise<Changes> {
  const records: TnsRecord[] = [];
  let epochUs = fromUs;
  let hours = 0;
  let inVain = 0;
  for (let hourUs = fromUs - (fromUs % HOUR_US); hourUs <= options.nowUs && inVain < 2; hourUs += HOUR_US) {
    const file = `tns_public_objects_${new Date(hourUs / 1000).toISOString().slice(11, 13)}.csv.zip`;
    const found = await downloadHour(options, file);
    if (!found || found.endUs <= epochUs || found.endUs > options.nowUs) {
      inVain++;
      continue;
    }
    if (found.startUs > epochUs)
      return { records, hours, epochUs, gap: `${file} begins at ${formatTime(found.startUs)}` };
    for (const record of found.records) records.push(record);
    epochUs = found.endUs;
    hours++;
  }
  return { records, hours, epochUs, gap: null };
}

/** The changes in a file; undefined if the file does not exist. */
async function downloadHour(options: RefreshOptions, file: string) {
  return withFile(options, file, null, async (download, csv) => {
    if (download.outcome !== 'whole') return undefined;
    const { span, records } = await options.loader.readChanges(csv(), file);
    if (span?.endUs === undefined) {
      throw new RegistryError(`Cannot use ${file} because its first line is not a time span: try again later`);
    }
    return { startUs: span.startUs, endUs: span.endUs, records };
  });
}

/** Downloads a file to a temporary file, and passes its CSV to `use`. */
async function withFile<T>(
  { dataDir, client }: RefreshOptions,
  file: string,
  known: Validators | null,
  use: (download: Download, csv: () => AsyncIterable<Buffer>) => Promise<T>,
): Promise<T> {
  const descriptor = openAnonymousFile(dataDir);
  try {
    const download = await client.download(file, descriptor, known);
    return await use(download, () => readPublicFile(descriptor, file));
  } finally {
    closeSync(descriptor);
  }
}
