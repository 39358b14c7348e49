/** The positions of a validation: objects with a known class, and random places near random objects. */
import { Arena, buildArena, ConeHits, SkyIndex, separationArcsec } from '@nearsky/sky-index';
import { ObjectView } from '../../core/store/object_record.ts';
import { readPositions } from '../../core/store/positions.ts';
import { readRegistry } from '../../core/store/registry.ts';
import type { StoreReader } from '../../core/store/store_reader.ts';
import type { SkyPosition, TnsRecord } from '../../core/store/types.ts';

/** The rows of the position table that are read at once. */
const ROWS_AT_ONCE = 8176;

/** A classified transient, and the stored object nearest to it. */
export interface ClassifiedObject {
  readonly record: TnsRecord & { readonly classification: string };
  readonly diaObjectId: bigint;
  readonly separationArcsec: number;
}

export interface SurveyedObjects {
  /** The number of classified transients in the registry. */
  readonly classified: number;
  /** Those with an object within the radius, by ascending objid. */
  readonly found: readonly ClassifiedObject[];
  /** The positions of random objects. */
  readonly random: readonly SkyPosition[];
}

/**
 * Reads all positions once: for the nearest object of each classified transient, as names are resolved, and for a random
 * sample of the objects.
 * @param radiusArcsec within which the object of a transient is sought, inclusive
 */
export function surveyObjects(
  store: StoreReader,
  rows: number,
  { radiusArcsec, objects, random }: { radiusArcsec: number; objects: number; random: () => number },
): SurveyedObjects {
  const records: ClassifiedObject['record'][] = [];
  for (const { classification, ...record } of readRegistry(store.databases))
    if (classification !== null && classification.trim() !== '') records.push({ ...record, classification });
  const sky = new SkyIndex([
    new Arena(
      buildArena({
        ra: Float64Array.from(records, ({ ra }) => ra),
        dec: Float64Array.from(records, ({ dec }) => dec),
        id: BigInt64Array.from(records.keys(), BigInt),
      }),
    ),
  ]);
  const chosen = chooseRows(rows, objects, random);
  const near = new Map<number, Omit<ClassifiedObject, 'record'>[]>();
  const sampled: SkyPosition[] = [];
  const view = new ObjectView();
  const hits = new ConeHits();
  for (let from = 0; from < rows; from += ROWS_AT_ONCE) {
    const { count, ids, fields } = readPositions(store.databases, from, Math.min(rows, from + ROWS_AT_ONCE));
    for (let row = 0; row < count; row++) {
      const [diaObjectId, ra, dec] = [ids[4 * row]!, fields[4 * row + 1]!, fields[4 * row + 2]!];
      if (Number.isNaN(ra)) continue;
      // The rows of removed objects stay in the table.
      if (chosen.has(from + row) && store.readObject(diaObjectId, view)) sampled.push({ ra, dec });
      sky.coneSearch(ra, dec, radiusArcsec, hits);
      for (let hit = 0; hit < hits.count; hit++) {
        const index = Number(sky.arenas[0]!.id(hits.row[hit]!));
        const record = records[index]!;
        const others = near.get(index) ?? [];
        others.push({ diaObjectId, separationArcsec: separationArcsec(record.ra, record.dec, ra, dec) });
        near.set(index, others);
      }
    }
  }
  const found = [...near.keys()]
    .sort((a, b) => a - b)
    .flatMap(index => {
      const stored = near.get(index)!.filter(({ diaObjectId }) => store.readObject(diaObjectId, view));
      stored.sort((a, b) => a.separationArcsec - b.separationArcsec || (a.diaObjectId < b.diaObjectId ? -1 : 1));
      return stored[0] ? [{ record: records[index]!, ...stored[0] }] : [];
    });
  return { classified: records.length, found, random: sampled };
}

/** Chooses so many of the rows, all with the same probability; all of them if there are no more. */
function chooseRows(rows: number, wanted: number, random: () => number): ReadonlySet<number> {
  if (rows <= wanted) return new Set(Array(rows).keys());
  const chosen = new Set<number>();
  while (chosen.size < wanted) chosen.add(Math.floor(rows * random()));
  return chosen;
}

/** Chooses so many of the items, all with the same probability, in their order. */
export function choose<T>(items: readonly T[], wanted: number, random: () => number): readonly T[] {
  const chosen = chooseRows(items.length, wanted, random);
  return items.filter((_, index) => chosen.has(index));
}

/** The place at a distance (arcsec) and a bearing (radians, from north through east) from a position. */
export function displaced({ ra, dec }: SkyPosition, distanceArcsec: number, bearing: number): SkyPosition {
  const degree = Math.PI / 180;
  const distance = (distanceArcsec / 3600) * degree;
  const [sin, cos] = [Math.sin(dec * degree), Math.cos(dec * degree)];
  const sinDec = sin * Math.cos(distance) + cos * Math.sin(distance) * Math.cos(bearing);
  const east = Math.atan2(Math.sin(bearing) * Math.sin(distance) * cos, Math.cos(distance) - sin * sinDec);
  const turned = (ra + east / degree + 360) % 360;
  return { ra: turned, dec: Math.asin(Math.max(-1, Math.min(1, sinDec))) / degree };
}

/** Uniform in [0, 1), the same for the same seed: mulberry32 of Tommy Ettinger. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
