/**
 * A small archive with everything that is difficult for queries: NULL everywhere, poles, the meridian of 0, ids beyond
 * 2^53, and strings with wildcards of patterns.
 */

import type { DescribedTable } from '@nearsky/adql';
import type { Cell } from '@nearsky/astrotables';
import { pixel29 } from '@nearsky/sky-index';
import { seededRandom } from '../../oracle/skies.ts';
import { column, PLACE, position } from '../support.ts';

export const TABLES: readonly DescribedTable[] = [
  {
    schema: 'nearsky',
    name: 'objects',
    description: 'Objects',
    columns: [
      ...PLACE,
      column('reliability', 'float64'),
      column('mag', 'float32', 'mag'),
      column('n', 'int32'),
      column('ingest_time', 'time'),
      column('status', 'text'),
      column('label', 'text'),
      column('tns_checked', 'boolean'),
    ],
    position,
  },
  {
    schema: 'nearsky',
    name: 'matches',
    description: 'Matches',
    columns: [
      ...PLACE,
      column('place', 'int32'),
      column('catalog_name', 'text'),
      column('separation', 'float64', 'arcsec'),
      column('size', 'int64'),
    ],
    position,
  },
];

const random = seededRandom(23);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
const maybe = <T>(share: number, value: T): T | null => (random() < share ? value : null);
const rounded = (value: number, places: number) => Number(value.toFixed(places));

const CENTRES = [
  [0.001, 0.5],
  [359.999, -0.5],
  [10, 89.95],
  [200, -89.95],
  [150.1, 2.2],
] as const;
const LABELS = ['abc', 'ABC', 'aBc%', 'a_c', 'a\\c', "it's", '', ' ', 'Éa', 'éA', '100%', '12', '-3', 'abcabc', '"q"'];

function place(): (number | null)[] {
  const [ra, dec] = pick(CENTRES);
  const near = rounded(Math.max(-90, Math.min(90, dec + (random() - 0.5) * 0.2)), 6);
  const wide = rounded(Math.asin(2 * random() - 1) * (180 / Math.PI), 6);
  return random() < 0.7
    ? [rounded((ra + (random() - 0.5) * 0.4 + 360) % 360, 6), near]
    : [rounded(random() * 360, 6), wide];
}

const pixelOf = ([ra, dec]: readonly (number | null)[]) => (ra === null || dec === null ? -1n : pixel29(ra!, dec!));

const objects: Cell[][] = Array.from({ length: 80 }, (_, i) => {
  const at = i < 2 ? [i === 0 ? 0 : 123.456, i === 0 ? 90 : -90] : random() < 0.06 ? [null, null] : place();
  const time = Date.UTC(2026, 0, 1) * 1000 + Math.floor(random() * 40) * 21_600_000_000 + pick([0, 500_000, 123_456]);
  return [
    pixelOf(at),
    170_055_002_004_914_000n + BigInt(i),
    ...(at as Cell[]),
    maybe(0.8, pick([0, 0.5, 1, rounded(random(), 3)])),
    maybe(0.8, Math.fround(rounded(15 + random() * 10, 2))),
    maybe(0.85, Math.floor(random() * 26) - 5),
    time,
    maybe(0.85, pick(['matched', 'unmatched', 'Pending', ''])),
    maybe(0.9, pick(LABELS)),
    maybe(0.7, random() < 0.5),
  ];
});

const matches: Cell[][] = objects.flatMap((object, i) =>
  Array.from({ length: [0, 1, 1, 2, 3][i % 5]! }, (_, place): Cell[] => {
    const isOrphan = random() < 0.1;
    const id = isOrphan ? 170_055_002_004_915_000n + BigInt(i) : object[1]!;
    const catalog = pick(['gaia_dr3', 'two_mass', 'Gaia_DR3']);
    return [
      object[0]!,
      id,
      object[2]!,
      object[3]!,
      place,
      catalog,
      maybe(0.9, rounded(random(), 4)),
      maybe(0.8, 2n ** 53n + BigInt(i)),
    ];
  }),
);

/** Parallel to `TABLES`. */
export const ROWS: readonly (readonly Cell[][])[] = [objects, matches];
