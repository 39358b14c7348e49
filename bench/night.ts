/**
 * A data directory like that after a season: crossmatched objects over the whole sky, with sources of every catalog. It
 * is made once and kept in the temporary directory.
 */

import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../src/core/config/config.ts';
import type { BrokerName } from '../src/core/contract/brokers.ts';
import { columnNames } from '../src/core/contract/catalog.ts';
import { CATALOGS } from '../src/core/contract/catalogs.ts';
import { FORMAT_VERSION } from '../src/core/store/environment.ts';
import { provenanceSetOf } from '../src/core/store/provenance.ts';
import { openStore } from '../src/core/store/store.ts';
import type { CrossmatchResult, Delivery } from '../src/core/store/types.ts';
import { Writer } from '../src/core/store/writer.ts';
import { anywhere, offset, type Place, seededRandom } from '../test/oracle/skies.ts';

export interface Night {
  readonly dataDir: string;
  readonly places: readonly Place[];
  /** When the last object was ingested, µs since 1970. */
  readonly lastIngestUs: number;
  idOf(object: number): bigint;
}

const COMMIT = 5000;
const FIRST_ID = 170_000_000_000_000_000n;
const FIRST_INGEST_US = 1_790_000_000_000_000;
const BROKERS: readonly BrokerName[] = ['antares', 'lasair', 'pittgoogle'];
/** The number of objects in crowds, and their maximum distance from the centre. */
const CROWDED_SHARE = 0.3;
const CROWD_ARCSEC = 120;
const CROWD_OBJECTS = 20;
/** The number of objects that are not crossmatched yet. */
const PENDING_SHARE = 0.02;
/** By catalog, the probability that an object within the footprint has a source. */
const MATCH_SHARE = 0.35;

/** @param note called with the progress */
export async function makeNight(objects: number, seed: number, note: (text: string) => void): Promise<Night> {
  const places = placesOf(objects, seed);
  const root = join(tmpdir(), 'nearsky-bench');
  const dataDir = join(root, `night-${FORMAT_VERSION}-${objects}-${seed}`);
  if (!existsSync(dataDir)) {
    const aside = `${dataDir}.${process.pid}.part`;
    mkdirSync(root, { recursive: true });
    try {
      await fill(aside, places, seed, note);
      renameSync(aside, dataDir);
    } finally {
      rmSync(aside, { recursive: true, force: true });
    }
  }
  return { dataDir, places, lastIngestUs: ingestTimeOf(objects), idOf };
}

/** Ids like those of the survey: increasing, but not consecutive. */
function idOf(object: number): bigint {
  return FIRST_ID + BigInt(object) * 1_000_003n;
}

function ingestTimeOf(object: number): number {
  return FIRST_INGEST_US + object * 10 + 123;
}

function placesOf(objects: number, seed: number): Place[] {
  const random = seededRandom(seed);
  const places: Place[] = [];
  let centre = anywhere(random);
  for (let i = 0; i < objects; i++) {
    if (i % CROWD_OBJECTS === 0) centre = anywhere(random);
    const crowded = random() < CROWDED_SHARE;
    places.push(crowded ? offset(centre, CROWD_ARCSEC * Math.sqrt(random()), 7 * random()) : anywhere(random));
  }
  return places;
}

async function fill(
  dataDir: string,
  places: readonly Place[],
  seed: number,
  note: (text: string) => void,
): Promise<void> {
  const random = seededRandom(seed + 1);
  const provenance = provenanceSetOf(loadConfig({ options: new Map([['NEARSKY_DATA', dataDir]]) }));
  const store = openStore(dataDir, 'write');
  const writer = new Writer(store);
  for (let from = 0; from < places.length; from += COMMIT) {
    if (from % (20 * COMMIT) === 0) note(`storing object ${from} of ${places.length}`);
    const numbers = Array.from({ length: Math.min(COMMIT, places.length - from) }, (_, k) => from + k);
    const ingestTimeUs = ingestTimeOf(from);
    await writer.ingest(
      numbers.map(number => deliveryOf(number, places[number]!, random)),
      ingestTimeUs,
    );
    const again = numbers.filter(() => random() < 0.3);
    await writer.ingest(
      again.map(number => ({ ...deliveryOf(number, places[number]!, random), broker: 'antares' as const })),
      ingestTimeUs,
    );
    const done = numbers.filter(() => random() >= PENDING_SHARE);
    await writer.recordCrossmatches(
      done.map(number => crossmatchOf(number, places[number]!, random)),
      provenance,
      ingestTimeUs + 30_000_000,
    );
  }
  await store.close();
}

function deliveryOf(number: number, position: Place, random: () => number): Delivery {
  return {
    diaObjectId: idOf(number),
    position,
    reliability: 0.6 + 0.4 * random(),
    eventTimeUs: FIRST_INGEST_US + number * 10 - 60_000_000,
    broker: BROKERS[Math.floor(random() * BROKERS.length)]!,
  };
}

function crossmatchOf(number: number, place: Place, random: () => number): CrossmatchResult {
  const inside = (catalog: string) => catalog === 'gaia_dr3' || place.dec < (catalog === 'des_y6_gold' ? -20 : 5);
  const matches = CATALOGS.filter(({ name }) => inside(name) && random() < MATCH_SHARE).map(definition => {
    const separationArcsec = Math.sqrt(random());
    const { ra, dec } = offset(place, separationArcsec, 7 * random());
    const values = columnNames(definition).map(column => [column.toLowerCase(), columnValue(column, ra, dec, random)]);
    return {
      catalogName: definition.name,
      catalogSourceId: `${4_000_000_000_000_000_000n + BigInt(Math.floor(random() * 2 ** 52))}`,
      separationArcsec,
      source: { ra, dec, payload: Object.fromEntries(values) },
    };
  });
  return {
    diaObjectId: idOf(number),
    catalogOutcomes: CATALOGS.map(({ name }) => [name, inside(name) ? 'searched' : 'outside_footprint'] as const),
    matches,
  };
}

/** Magnitudes and their like are float32 in the catalogs, positions float64, flags integers; one value in ten is missing. */
function columnValue(column: string, ra: number, dec: number, random: () => number): number | null {
  if (/^ra/i.test(column)) return ra;
  if (/^de/i.test(column)) return dec;
  if (random() < 0.1) return null;
  if (/flags|ext_mash|ngood/i.test(column)) return Math.floor(random() * 4);
  return Math.fround(14 + 12 * random());
}
