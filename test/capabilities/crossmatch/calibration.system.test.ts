/**
 * Tests whether chance probabilities are correct. Each object is a source that was moved by 20" to 60" in a random
 * direction, so that every other source near it is there by chance: the fraction of the objects whose nearest other
 * source has a chance probability of at most x must be x.
 *
 * CALIBRATION_OBJECTS is the number of objects of each field, 3000 by default. CALIBRATION_CATALOG is a Parquet file of
 * a HATS catalog with the columns `ra` and `dec`, which is then tested too.
 *
 * Each field is tested twice: the estimator alone, with a search so wide that nearly every object has a source, and the
 * crossmatch as a whole, from the files of a catalog to the stored match.
 */

import { openParquet } from '@nearsky/astrotables/parquet';
import { catalogFiles } from '@nearsky/hats';
import { pixel24, separationArcsec } from '@nearsky/sky-index';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { placesOf, RowDensity } from '../../../src/capabilities/crossmatch/density.ts';
import { chanceProbability, worthOf } from '../../../src/core/store/match_statistics.ts';
import { offset, type Place, seededRandom } from '../../oracle/skies.ts';
import { inWorld, PROVENANCE } from './world.ts';

const OBJECTS = Number(process.env.CALIBRATION_OBJECTS ?? 3000);
const CENTRE: Place = { ra: 210, dec: -32 };
const SIZE_ARCMIN = 30;
/** The radius of the crossmatch, in which no object has the source that it was moved from. */
const RADIUS_ARCSEC = 19.9;
const X = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9];

type Random = () => number;
/** Arcmin from the centre. */
type Offset = readonly [east: number, north: number];

interface Field {
  /** The sources, given their mean number. */
  readonly sources: (random: Random) => Offset[];
  /** The objects that count; all by default. */
  readonly isObject?: (at: Offset) => boolean;
  /** The order of the partitions; one partition by default. */
  readonly order?: number;
  /** All objects have a source within this radius. */
  readonly reachArcsec: number;
  /** The lowest density where objects are, sources per square arcmin. */
  readonly lowest: number;
}

const uniform = (perArcmin2: number, random: Random): Offset[] =>
  Array.from({ length: perArcmin2 * SIZE_ARCMIN ** 2 }, () => [
    SIZE_ARCMIN * (random() - 0.5),
    SIZE_ARCMIN * (random() - 0.5),
  ]);

function around([east, north]: Offset, distance: number, random: Random): Offset {
  const bearing = 2 * Math.PI * random();
  return [east + distance * Math.sin(bearing), north + distance * Math.cos(bearing)];
}

/** A cluster of stars: a Plummer profile with a radius of 2 arcmin. */
const plummer = (count: number, random: Random): Offset[] =>
  Array.from({ length: count }, () => around([0, 0], 2 / Math.sqrt((0.98 * random()) ** -1 - 1), random));

const fromEdge = ([east, north]: Offset) => 0.8 * east + 0.6 * north;

const FIELDS: Readonly<Record<string, Field>> = {
  'a sparse field': { sources: random => uniform(1, random), reachArcsec: 150, lowest: 1 },
  'the density of the Galactic plane': { sources: random => uniform(60, random), reachArcsec: 18, lowest: 60 },
  'across the edge of a cluster': {
    sources: random => [...uniform(5, random), ...plummer(12_000, random)],
    isObject: ([east, north]) => Math.hypot(east, north) > 1 && Math.hypot(east, north) < 8,
    reachArcsec: 60,
    lowest: 5,
  },
  'the border of a footprint': {
    sources: random => uniform(60, random).filter(at => fromEdge(at) < 0),
    isObject: at => fromEdge(at) < -0.15 && fromEdge(at) > -1,
    reachArcsec: 18,
    lowest: 60,
  },
  'borders of partitions': { sources: random => uniform(20, random), order: 11, reachArcsec: 30, lowest: 20 },
  'clustered sources': {
    sources: random => [
      ...uniform(10, random),
      ...uniform(1, random).flatMap(centre =>
        Array.from({ length: 20 * random() }, () =>
          around(centre, 0.6 * Math.sqrt(-2 * Math.log(1 - random())), random),
        ),
      ),
    ],
    reachArcsec: 60,
    lowest: 10,
  },
};

const isInside = ([east, north]: Offset) => Math.max(Math.abs(east), Math.abs(north)) < SIZE_ARCMIN / 2 - 2.5;
const placeOf = ([east, north]: Offset): Place => offset(CENTRE, 60 * Math.hypot(east, north), Math.atan2(east, north));

interface Displaced extends Place {
  readonly from: Place;
}

/** One realization of a field: its sources, and some of them moved. */
function realize({ sources, isObject = () => true }: Field, random: Random) {
  const at = sources(random);
  const places = at.map(placeOf);
  const objects = at.flatMap((source, i): Displaced[] => {
    const moved = around(source, (20 + 40 * random()) / 60, random);
    return isInside(moved) && isObject(moved) ? [{ ...placeOf(moved), from: places[i]! }] : [];
  });
  return { places, objects };
}

/** What became of displaced objects. */
class Found {
  /** Chance probabilities; infinite for an object without a source. */
  readonly probabilities: number[] = [];
  /** Objects whose source has no density. */
  unknown = 0;

  add(probability: number): void {
    if (Number.isNaN(probability)) this.unknown++;
    else this.probabilities.push(probability);
  }

  /** @param wanted the probabilities x to look at */
  assertCalibrated(wanted: readonly number[]): void {
    const { length } = this.probabilities;
    const lines = wanted.map(x => {
      const fraction = this.probabilities.filter(probability => probability <= x).length / length;
      return { x, fraction, allowed: 0.05 * x + 3 * Math.sqrt((x * (1 - x)) / length) };
    });
    const text = lines.map(({ x, fraction }) => `${x}: ${fraction.toFixed(4)}`).join(', ');
    const without = this.probabilities.filter(probability => probability === Number.POSITIVE_INFINITY).length;
    if (process.env.CALIBRATION_OBJECTS)
      console.log(`${length} objects, ${without} without a source, ${this.unknown} without a density; ${text}`);
    for (const { x, fraction, allowed } of lines) assert.ok(Math.abs(fraction - x) <= allowed, text);
    assert.ok(this.unknown <= 0.01 * length, `${this.unknown} objects without a density`);
  }
}

function addEstimated(
  found: Found,
  sources: readonly Place[],
  objects: readonly Displaced[],
  reachArcsec: number,
  order = 0,
): void {
  const sorted = sources
    .map(place => ({ ...place, pixel: pixel24(place.ra, place.dec) }))
    .sort((a, b) => a.pixel - b.pixel);
  const partitionOf = ({ pixel }: { readonly pixel: number }) => Math.floor(pixel / 4 ** (24 - order));
  const densityOf = new Map<number, number>();
  for (const rows of Map.groupBy(sorted.keys(), row => partitionOf(sorted[row]!)).values()) {
    const density = new RowDensity(
      placesOf(
        Float64Array.from(rows, row => sorted[row]!.ra),
        Float64Array.from(rows, row => sorted[row]!.dec),
      ),
    );
    for (const [i, row] of rows.entries()) densityOf.set(row, density.at(i));
  }
  const nearest = nearestOf(sorted, reachArcsec);
  for (const object of objects) {
    const match = nearest(object);
    found.add(match ? chanceProbability(densityOf.get(match.row)!, match.separation) : Number.POSITIVE_INFINITY);
  }
}

/**
 * The nearest position to an object, except the one that it was moved from; uses a grid whose cells are as wide as the
 * search radius.
 */
function nearestOf(places: readonly Place[], reachArcsec: number) {
  const cosDec = Math.cos((Math.max(...places.map(({ dec }) => Math.abs(dec))) * Math.PI) / 180);
  const cell = ({ ra, dec }: Place) => {
    const north = Math.floor((dec * 3600) / reachArcsec);
    return [north, Math.floor((ra * 3600 * cosDec * 0.95) / reachArcsec)] as const;
  };
  const grid = Map.groupBy(places.keys(), row => cell(places[row]!).join());
  return (object: Displaced) => {
    const [north, east] = cell(object);
    let best: { readonly row: number; readonly separation: number } | undefined;
    for (let n = north - 1; n <= north + 1; n++)
      for (let e = east - 1; e <= east + 1; e++)
        for (const row of grid.get(`${n},${e}`) ?? []) {
          const { ra, dec } = places[row]!;
          if (ra === object.from.ra && dec === object.from.dec) continue;
          const separation = separationArcsec(object.ra, object.dec, ra, dec);
          if (separation <= reachArcsec && !(best && best.separation <= separation)) best = { row, separation };
        }
    return best;
  };
}

for (const [name, field] of Object.entries(FIELDS)) {
  test(`a fraction x of displaced objects has a chance probability of at most x: ${name}`, () => {
    const random = seededRandom(name.length);
    const found = new Found();
    while (found.probabilities.length < OBJECTS) {
      const { places, objects } = realize(field, random);
      addEstimated(found, places, objects, field.reachArcsec, field.order);
    }
    found.assertCalibrated(X);
  });

  test(`so it is in what the crossmatch stores: ${name}`, async () => {
    const random = seededRandom(name.length);
    const found = new Found();
    while (found.probabilities.length < OBJECTS) {
      const { places, objects } = realize(field, random);
      await inWorld(async world => {
        const step = Math.ceil(objects.length / (OBJECTS - found.probabilities.length));
        const wanted = objects.filter((_, i) => i % step === 0);
        await world.addCatalog('gaia_dr3', places, { maxRows: field.order ? 60 : 20_000, rowGroupSize: 5000 });
        const ids = await world.ingest(wanted.map(({ ra, dec }) => ({ ra, dec })));
        await world.crossmatch({ provenance: () => ({ ...PROVENANCE, crossmatch_radius_arcsec: RADIUS_ARCSEC }) });
        for (const id of ids) {
          const match = world.store.getObject(id)!.matches[0];
          found.add(
            match ? (worthOf(match, match.statistics).chance_probability ?? Number.NaN) : Number.POSITIVE_INFINITY,
          );
        }
      });
    }
    // Up to this probability nearly every match lies within the radius.
    const largest = 0.75 * chanceProbability(field.lowest, RADIUS_ARCSEC);
    found.assertCalibrated(X.filter(x => x <= largest));
  });
}

const catalog = process.env.CALIBRATION_CATALOG;
if (catalog)
  test(`a fraction x of displaced objects has a chance probability of at most x: ${catalog}`, async () => {
    const at = catalog.lastIndexOf('/');
    const file = await openParquet(await (await catalogFiles(catalog.slice(0, at))).open(catalog.slice(at + 1)));
    const [ra, dec] = await Promise.all(['ra', 'dec'].map(column => file.readNumbers(column, 0)));
    const sources = Array.from(ra!, (value, row) => ({ ra: value, dec: dec![row]! }));
    const random = seededRandom(7);
    const objects = sources.map(from => ({ ...offset(from, 20 + 40 * random(), 2 * Math.PI * random()), from }));
    const found = new Found();
    addEstimated(found, sources, objects, 120);
    found.assertCalibrated(X);
    file.close();
  });

test('rows in any order have the same density', () => {
  const random = seededRandom(3);
  const sorted = uniform(5, random)
    .map(placeOf)
    .sort((a, b) => pixel24(a.ra, a.dec) - pixel24(b.ra, b.dec));
  const order = Uint32Array.from(sorted.keys());
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor((i + 1) * random());
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  const of = (places: readonly Place[]) =>
    new RowDensity(
      placesOf(
        Float64Array.from(places, ({ ra }) => ra),
        Float64Array.from(places, ({ dec }) => dec),
      ),
    );
  const [inOrder, shuffled] = [of(sorted), of(Array.from(order, row => sorted[row]!))];
  for (const [at, row] of order.entries()) assert.is(shuffled.at(at), inOrder.at(row));
});

test('rows without a position are no sources, and few rows tell no density [What a match is worth]', () => {
  const places = uniform(5, seededRandom(4))
    .map(placeOf)
    .sort((a, b) => pixel24(a.ra, a.dec) - pixel24(b.ra, b.dec));
  const withHoles = places.flatMap(place => [place, { ra: Number.NaN, dec: 1 }, { ra: 3, dec: 91 }]);
  const of = (list: readonly Place[]) =>
    new RowDensity(
      placesOf(
        Float64Array.from(list, ({ ra }) => ra),
        Float64Array.from(list, ({ dec }) => dec),
      ),
    );
  const [all, holes] = [of(places), of(withHoles)];
  for (let row = 0; row < places.length; row += 97) assert.is(holes.at(3 * row), all.at(row));
  assert.ok(Number.isNaN(of(places.slice(0, 8)).at(4)));
  assert.not(Number.isNaN(of(places.slice(0, 9)).at(4)));
  const same = of(Array.from({ length: 40 }, () => places[0]!));
  assert.ok(Number.isNaN(same.at(20)));
});

test.run();
