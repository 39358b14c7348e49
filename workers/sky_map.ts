/** The map of the sky, kept in the one thread of a pool of its own: counted once, then brought up to date from the journal. */
import { createHash } from 'node:crypto';
import { openCoverage } from '../src/catalogs/coverage.ts';
import type { MapLayer } from '../src/contract/enums.ts';
import { cellOfKey, type Disc, keysTouching } from '../src/sky_map/cells.ts';
import { SkyCounts } from '../src/sky_map/sky_counts.ts';
import { SkyCoverage } from '../src/sky_map/sky_coverage.ts';
import type { Store } from '../src/store/store.ts';
import { Rendered, toJson } from './json.ts';
import { currentStore, threadFacts } from './thread.ts';

/** Objects that one task reads: some 100 ms, so that an answer is not waited for longer. */
const OBJECTS_A_TASK = 20_000;
const ENTRIES_A_TASK = 16;
/** How long a thread believes that the catalogs are the same. */
const CATALOGS_MS = 5000;

/** Takes in a part of what is news. Needs a pool with a data directory and one thread. */
export interface FollowSkyTask {
  readonly kind: 'followSky';
}

export interface SkyProgress {
  /** Whether every object has been counted once. */
  readonly isCounted: boolean;
  /** Whether nothing was left when it was looked at. */
  readonly isCurrent: boolean;
  /** Objects that were taken in so far, and how many there are. */
  readonly taken: number;
  readonly objects: number;
}

/** One answer: the body of a response. */
export interface SkyMapTask {
  readonly kind: 'skyMap';
  readonly layer: MapLayer;
  /** 0 to FINEST_RESOLUTION. */
  readonly resolution: number;
  /** Null for the whole sky. */
  readonly disc: Disc | null;
}

export interface SkyMapAnswer {
  readonly body: Uint8Array<ArrayBuffer>;
  /** Of the body: equal bodies have equal ones. */
  readonly digest: string;
}

interface Followed {
  readonly counts: SkyCounts;
  /** The journal up to here is taken in. */
  sequence: number;
  /** While the database is counted: the last object that was. */
  after: bigint | undefined;
  isCounted: boolean;
  readonly wholeSkies: WholeSkies;
}

/** Answers for the whole sky, by resolution, as long as they are those of the present: some MB. */
type WholeSkies = Map<number, SkyMapAnswer>;

let followed: Followed | undefined;

export function runFollowSky(): SkyProgress {
  const store = currentStore();
  const last = store.lastSequence();
  // A journal that ends earlier is another database's.
  if (followed && last < followed.sequence) followed = undefined;
  // Objects that change while they are counted are named by the journal after this.
  followed ??= { counts: new SkyCounts(), sequence: last, after: undefined, isCounted: false, wholeSkies: new Map() };
  if (followed.isCounted) readJournal(followed, store);
  else count(followed, store);
  const { isCounted, sequence } = followed;
  const isCurrent = isCounted && sequence >= last;
  return { isCounted, isCurrent, taken: followed.counts.objects, objects: store.entryCount('objects') };
}

function count(followed: Followed, store: Store): void {
  let taken = 0;
  for (const object of store.objects(followed.after)) {
    followed.counts.put(object);
    followed.after = object.diaObjectId;
    if (++taken === OBJECTS_A_TASK) return;
  }
  followed.isCounted = true;
}

function readJournal(followed: Followed, store: Store): void {
  let taken = 0;
  for (const { sequence, stored, crossmatched } of store.journalAfter(followed.sequence, ENTRIES_A_TASK)) {
    for (const id of [...stored, ...crossmatched]) {
      const object = store.getObject(id);
      if (object) followed.counts.put(object);
    }
    followed.sequence = sequence;
    followed.wholeSkies.clear();
    taken += stored.length + crossmatched.length;
    if (taken >= OBJECTS_A_TASK) return;
  }
}

/** Undefined until the database has been counted. */
export function runSkyMap({ layer, resolution, disc }: SkyMapTask): SkyMapAnswer | undefined {
  const source = layer === 'coverage' ? currentCoverage() : followed?.isCounted ? followed : undefined;
  if (!source) return undefined;
  const known = disc ? undefined : source.wholeSkies.get(resolution);
  if (known) return known;
  const within = disc ? keysTouching(disc, resolution) : undefined;
  const block =
    'counts' in source ? objectsBlock(source, resolution, within) : coverageBlock(source, resolution, within);
  const { keys, ...rest } = block;
  // Written at once: a cell is plain text.
  const cells = new Rendered(
    keys.length === 0 ? '[]' : `["${keys.map(key => cellOfKey(key, resolution)).join('", "')}"]`,
  );
  const { provenance } = threadFacts();
  const text = toJson({ provenance, layer, resolution, count: keys.length, ...rest, cells });
  const body = new TextEncoder().encode(text);
  const answer = { body, digest: createHash('sha256').update(body).digest('base64url').slice(0, 22) };
  if (!disc) source.wholeSkies.set(resolution, answer);
  return answer;
}

function objectsBlock({ counts }: Followed, resolution: number, within: ReadonlySet<number> | undefined) {
  const { keys, byStatus } = counts.list(resolution, within);
  return { keys, total: counts.objects, without_position: counts.withoutPosition, by_status: byStatus };
}

interface CatalogCoverage {
  readonly map: SkyCoverage;
  readonly catalogs: string;
  readonly wholeSkies: WholeSkies;
  seenAt: number;
}

let coverage: CatalogCoverage | undefined;

function coverageBlock({ map }: CatalogCoverage, resolution: number, within: ReadonlySet<number> | undefined) {
  const { keys, byCatalog } = map.list(resolution, within);
  return { keys, by_catalog: byCatalog };
}

function currentCoverage(): CatalogCoverage {
  const now = performance.now();
  if (coverage && now - coverage.seenAt < CATALOGS_MS) return coverage;
  const registered = currentStore().catalogs();
  const catalogs = toJson(registered.map(({ name, addedAtUs }) => [name, addedAtUs]));
  if (coverage?.catalogs === catalogs) coverage.seenAt = now;
  else {
    const footprints = registered.map(({ name, coverage: stored }) => ({ name, coverage: openCoverage(stored) }));
    coverage = { map: new SkyCoverage(footprints), catalogs, wholeSkies: new Map(), seenAt: now };
  }
  return coverage;
}
