/**
 * Keeps the map of the sky in the only thread of its own pool. The thread counts all objects once, and then follows the
 * journal.
 */

import { createHash } from 'node:crypto';
import { Rendered, toJson } from '@nearsky/astrotables/json';
import { RADIANS_PER_DEGREE } from '@nearsky/sky-index';
import type { Coverage } from '@nearsky/sky-index/areas';
import { messageOf } from '../../core/base/error_text.ts';
import { memoized } from '../../core/base/memoized.ts';
import { collectWhenQuiet } from '../../core/base/shared_memory.ts';
import type { MapLayer } from '../../core/contract/enums.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { threadData } from '../../core/pool/thread_data.ts';
import { ObjectView } from '../../core/store/object_record.ts';
import { countRecords } from '../../core/store/object_tables.ts';
import type { Provenance } from '../../core/store/provenance.ts';
import { RegisteredCatalogs } from '../../core/store/registered_catalogs.ts';
import { statusOf, statusOfView } from '../../core/store/status.ts';
import type { Store } from '../../core/store/store.ts';
import { currentStore, threadDataDir } from '../../core/store/thread_store.ts';
import { openCoverage } from '../catalogs/coverage.ts';
import { cellOfKey, type Disc, keysTouching } from './cells.ts';
import { readCounts, saveCounts } from './counts_file.ts';
import { SkyCounts } from './sky_counts.ts';
import { SkyCoverage } from './sky_coverage.ts';

/** The number of objects that one task reads. This takes about 100 ms, so no answer waits longer. */
const OBJECTS_A_TASK = 20_000;
const ENTRIES_A_TASK = 16;
/** The maximum time between saves of changed counts. After a restart, the journal is read from the saved sequence. */
const SAVE_MS = 600_000;

/** A task that adds some new journal entries to the counts. Needs a pool with a data directory and one thread. */
export interface FollowSkyTask extends Task<SkyProgress> {
  readonly module: 'src/capabilities/sky_map/map_thread';
  readonly kind: 'followSky';
}

export interface SkyProgress {
  /** Whether every object has been counted once. */
  readonly isCounted: boolean;
  /** Whether the counts now include every journal entry. */
  readonly isCurrent: boolean;
  /** The number of objects counted so far, and the number of all objects. */
  readonly taken: number;
  readonly objects: number;
  /** Why the last attempt to save the counts failed; undefined if it did not fail. */
  readonly saveError?: string;
}

/** A task that makes one answer: the body of a response. */
export interface SkyMapTask extends Task<SkyMapAnswer | undefined> {
  readonly module: 'src/capabilities/sky_map/map_thread';
  readonly kind: 'skyMap';
  readonly layer: MapLayer;
  /** 0 to FINEST_RESOLUTION. */
  readonly resolution: number;
  /** Null for the whole sky. */
  readonly disc: Disc | null;
  /** Whether to answer from the objects counted so far, while counting continues. */
  readonly isPartial: boolean;
  /** The provenance block of the answer. */
  readonly provenance: Provenance;
}

export interface SkyMapAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  /** A digest of the body: equal bodies have equal digests. */
  readonly digest: string;
  /** Whether every object was counted. */
  readonly isWhole: boolean;
}

interface Followed {
  readonly counts: SkyCounts;
  /** The last journal entry that the counts include. */
  sequence: number;
  /** The last object that was counted, during the first count of the database. */
  after: bigint | undefined;
  isCounted: boolean;
  /** When the counts were last saved, and the last journal entry that they then included. */
  savedAtMs: number;
  savedSequence: number;
  readonly wholeSkies: WholeSkies;
}

/** Caches the current answers for the whole sky, by resolution and provenance as JSON: a few MB. */
type WholeSkies = Map<string, SkyMapAnswer>;

/** The state of this thread. */
const stateOf = memoized((_: object): { followed?: Followed } => ({}));

export const tasks: Tasks<FollowSkyTask | SkyMapTask> = { followSky: runFollowSky, skyMap: runSkyMap };

function runFollowSky(): SkyProgress {
  const store = currentStore();
  const last = store.lastSequence();
  // If the journal ends earlier, it belongs to another database.
  const state = stateOf(threadData());
  if (state.followed && last < state.followed.sequence) delete state.followed;
  const followed = (state.followed ??= begin(store, last));
  if (followed.isCounted) readJournal(followed, store);
  else count(followed, store);
  const { isCounted, sequence } = followed;
  const isCurrent = isCounted && sequence >= last;
  const saveError = isCurrent ? saveNowAndThen(followed, store) : undefined;
  const progress = { isCounted, isCurrent, taken: followed.counts.objects, objects: countRecords(store.databases) };
  return saveError === undefined ? progress : { ...progress, saveError };
}

/**
 * Starts with the stored counts, or with none. Objects that change during the count have journal entries after `last`.
 */
function begin(store: Store, last: number): Followed {
  const known = readCounts(threadDataDir(), store);
  return {
    counts: new SkyCounts(known?.columns),
    sequence: known?.sequence ?? last,
    after: undefined,
    isCounted: known !== undefined,
    savedAtMs: known ? performance.now() : Number.NEGATIVE_INFINITY,
    savedSequence: known?.sequence ?? -1,
    wholeSkies: new Map(),
  };
}

/** Saves the counts if a save is due. Returns the error if saving failed; the counts in memory stay valid. */
function saveNowAndThen(followed: Followed, store: Store): string | undefined {
  const { counts, sequence, savedAtMs, savedSequence } = followed;
  if (sequence === savedSequence || performance.now() < savedAtMs + SAVE_MS) return undefined;
  // The time is set before the attempt, so that a full disk does not cause another attempt at once.
  followed.savedAtMs = performance.now();
  try {
    saveCounts(threadDataDir(), store, { sequence, columns: counts.columns() });
    followed.savedSequence = sequence;
    collectWhenQuiet();
  } catch (error) {
    return messageOf(error);
  }
}

function count(followed: Followed, store: Store): void {
  let taken = 0;
  for (const object of store.objects(followed.after)) {
    followed.counts.put(object, statusOf(object));
    followed.after = object.diaObjectId;
    if (++taken === OBJECTS_A_TASK) return;
  }
  followed.isCounted = true;
}

/** The object that is read at the moment. */
const view = new ObjectView();

function readJournal(followed: Followed, store: Store): void {
  let taken = 0;
  for (const entry of store.journalAfter(followed.sequence, ENTRIES_A_TASK)) {
    const { sequence, stored, crossmatched, removed } = entry;
    for (const id of removed) followed.counts.remove(id);
    for (const id of [...stored, ...crossmatched])
      if (store.readObject(id, view)) followed.counts.put(view, statusOfView(view));
    followed.sequence = sequence;
    followed.wholeSkies.clear();
    taken += stored.length + crossmatched.length + removed.length;
    if (taken >= OBJECTS_A_TASK) return;
  }
}

/** The answer; undefined until the database has been counted, unless a partial answer was requested. */
function runSkyMap({ layer, resolution, disc, isPartial, provenance }: SkyMapTask): SkyMapAnswer | undefined {
  const { followed } = stateOf(threadData());
  const source =
    layer === 'coverage' ? coverage.of(currentStore()) : followed?.isCounted || isPartial ? followed : undefined;
  if (!source) return undefined;
  const isWhole = !('counts' in source) || source.isCounted;
  const sky = toJson([resolution, provenance]);
  const known = disc || !isWhole ? undefined : source.wholeSkies.get(sky);
  if (known) return known;
  const within = disc ? keysTouching(disc, resolution) : undefined;
  const block =
    'counts' in source ? objectsBlock(source, resolution, within) : coverageBlock(source, resolution, within);
  const { keys, ...rest } = block;
  // The text is built directly, because cells need no escaping.
  const cells = new Rendered(
    keys.length === 0 ? '[]' : `["${keys.map(key => cellOfKey(key, resolution)).join('", "')}"]`,
  );
  const text = toJson({ provenance, layer, resolution, count: keys.length, ...rest, cells });
  const body = new TextEncoder().encode(text);
  const answer = { body, digest: createHash('sha256').update(body).digest('base64url').slice(0, 22), isWhole };
  if (!disc && isWhole) source.wholeSkies.set(sky, answer);
  return answer;
}

function objectsBlock({ counts, isCounted }: Followed, resolution: number, within: ReadonlySet<number> | undefined) {
  const { keys, byStatus } = counts.list(resolution, within);
  const uncounted = isCounted ? 0 : Math.max(0, countRecords(currentStore().databases) - counts.objects);
  return { keys, total: counts.objects, uncounted, without_position: counts.withoutPosition, by_status: byStatus };
}

const SKY_DEG2 = (4 * Math.PI) / RADIANS_PER_DEGREE ** 2;

/** The area of a coverage map, to a tenth of a square degree. */
function areaOf({ order, ranges }: Coverage): number {
  let pixels = 0;
  for (let i = 0; i < ranges.length; i += 2) pixels += Number(ranges[i + 1]! - ranges[i]!);
  return Math.round((pixels / (12 * 4 ** order)) * SKY_DEG2 * 10) / 10;
}

const coverage = new RegisteredCatalogs(registrations => {
  const footprints = registrations.map(({ name, coverage: stored }) => ({ name, coverage: openCoverage(stored) }));
  // The entries of the whole catalogs; keys as on the wire.
  const registered = registrations.map(({ name, hats }, i) => ({
    name,
    rows: hats.rows,
    area_deg2: areaOf(footprints[i]!.coverage),
  }));
  const wholeSkies: WholeSkies = new Map();
  return { map: new SkyCoverage(footprints), registered, wholeSkies };
});

function coverageBlock(
  { map, registered }: ReturnType<typeof coverage.of>,
  resolution: number,
  within: ReadonlySet<number> | undefined,
) {
  const { keys, byCatalog } = map.list(resolution, within);
  return { keys, by_catalog: byCatalog, registered };
}
