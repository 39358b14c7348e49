/** Seeded skies with the hard places in them. */
import type { PointColumns } from '@nearsky/sky-index';

/** Uniform in [0, 1), the same everywhere for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export interface Place {
  readonly ra: number;
  readonly dec: number;
}

/** Both poles, the seam of RA, the corners and edges of HEALPix base faces. */
export const HARD_PLACES: readonly Place[] = [
  { ra: 0, dec: 90 },
  { ra: 123, dec: 90 },
  { ra: 0, dec: -90 },
  { ra: 360, dec: -90 },
  { ra: 0, dec: 0 },
  { ra: 360, dec: 0 },
  { ra: 359.9999999, dec: 12 },
  { ra: 0, dec: 41.8103148957786 },
  { ra: 45, dec: 41.8103148957786 },
  { ra: 90, dec: 41.8103148957786 },
  { ra: 45, dec: 0 },
  { ra: 135, dec: -41.8103148957786 },
  { ra: 180, dec: -41.8103148957786 },
  { ra: 270, dec: 66.4435 },
  { ra: 90, dec: -66.4435 },
  { ra: 22.5, dec: 19.4712206344907 },
];

/** A point at a distance (arcsec) and a bearing (radians) from a place, exactly on the sphere, ra in [0, 360). */
export function offset({ ra, dec }: Place, distanceArcsec: number, bearing: number): Place {
  const k = Math.PI / 180;
  const rho = (distanceArcsec / 3600) * k;
  const s0 = Math.sin(dec * k);
  const c0 = Math.cos(dec * k);
  const s = s0 * Math.cos(rho) + c0 * Math.sin(rho) * Math.cos(bearing);
  const a = Math.atan2(Math.sin(bearing) * Math.sin(rho) * c0, Math.cos(rho) - s0 * s) / k;
  return {
    ra: (((ra + a) % 360) + 360) % 360,
    dec: Math.max(-90, Math.min(90, Math.asin(Math.max(-1, Math.min(1, s))) / k)),
  };
}

export function anywhere(random: () => number): Place {
  return { ra: 360 * random(), dec: Math.asin(2 * random() - 1) * (180 / Math.PI) };
}

/** A place of the sky chosen so that hard ones come often. */
export function somewhere(random: () => number, centres: readonly Place[]): Place {
  const kind = random();
  if (kind < 0.2) return anywhere(random);
  const centre =
    kind < 0.6
      ? HARD_PLACES[Math.floor(random() * HARD_PLACES.length)]!
      : centres[Math.floor(random() * centres.length)]!;
  return random() < 0.1 ? centre : offset(centre, 10 ** (random() * 5 - 1), random() * 2 * Math.PI);
}

/** A sky of `rows` points: some anywhere, most around hard places and a few crowded centres, some exact duplicates; ids shuffled. */
export function randomSky(seed: number, rows: number): { points: PointColumns; centres: Place[] } {
  const random = seededRandom(seed);
  const centres = Array.from({ length: 4 }, () => anywhere(random));
  const ra = new Float64Array(rows);
  const dec = new Float64Array(rows);
  const id = new BigInt64Array(rows);
  const time = new Float64Array(rows);
  for (let i = 0; i < rows; i++) {
    const duplicate = i > 0 && random() < 0.05;
    const other = Math.floor(random() * i);
    const place = duplicate ? { ra: ra[other]!, dec: dec[other]! } : somewhere(random, centres);
    ra[i] = place.ra;
    dec[i] = place.dec;
    id[i] = BigInt(Math.floor(random() * 2 ** 40)) * 2_000_003n + BigInt(i);
    time[i] = 1_700_000_000_000_000 + Math.floor(random() * 1000);
  }
  return { points: { ra, dec, id, time }, centres };
}
