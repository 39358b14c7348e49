/** A store like that after a night. */

import { NO_TRANSIENT } from '../src/capabilities/names/association.ts';
import { CATALOGS } from '../src/core/contract/catalogs.ts';
import { packSource } from '../src/core/store/records.ts';
import type { Store } from '../src/core/store/store.ts';
import type { CrossmatchResult, ProvenanceSet } from '../src/core/store/types.ts';
import { Writer } from '../src/core/store/writer.ts';
import { seededRandom } from '../test/oracle/skies.ts';

export const OBJECTS = 60_000;
const BATCH = 10_000;
const FIRST_ID = 170_000_000_000_000_000n;
const TIME_US = 1_790_000_000_123_456;

const PROVENANCE: ProvenanceSet = {
  crossmatch_radius_arcsec: 1,
  catalogs: CATALOGS.map(({ name, release }) => ({ name, release })),
  reliability_cuts: ['antares', 'lasair', 'pittgoogle'].map(broker => ({
    broker,
    min_reliability: 0.6,
    enforced_by: 'broker',
    status: 'declared',
    as_of: '2026-10-01',
  })),
};

const OUTCOMES: CrossmatchResult['catalogOutcomes'] = CATALOGS.map(({ name }) => [name, 'searched']);
const PAYLOADS = CATALOGS.map(({ columns }) => ({
  keys: columns.map(({ name }) => name.toLowerCase()),
  types: columns.map(({ type }) => type),
}));

/**
 * Two objects in three with a source in Gaia, one in three in DES too, one in ten with a transient: as a crossmatch
 * gives them, with outcomes and names of values that all share.
 */
function crossmatchOf(diaObjectId: bigint, i: number, random: () => number): CrossmatchResult {
  const matches = CATALOGS.slice(0, i % 3).map(({ name }, catalog) => {
    const { keys, types } = PAYLOADS[catalog]!;
    const values = types.map(type => {
      if (random() < 0.1) return null;
      return type === 'float64' ? 20 * random() : Math.floor(20 * random());
    });
    return {
      catalogName: name,
      catalogSourceId: String(4_611_686_018_427_387_905n + BigInt(i)),
      separationArcsec: random(),
      source: { keys, packed: packSource(360 * random(), 90 * random(), values) },
    };
  });
  const checked = { checked: true, snapshotEpochUs: TIME_US } as const;
  const tns =
    i % 10 === 0
      ? {
          ...checked,
          objid: i,
          name: `2026x${i}`,
          namePrefix: 'SN',
          classification: 'SN Ia',
          redshift: 0.02,
          separationArcsec: 0.5,
        }
      : { ...checked, ...NO_TRANSIENT };
  return { diaObjectId, catalogOutcomes: OUTCOMES, matches, tns };
}

/** Stores this number of crossmatched objects. */
export async function fill(store: Store, seed: number, objects = OBJECTS, writer = new Writer(store)): Promise<void> {
  const random = seededRandom(seed);
  for (let from = 0; from < objects; from += BATCH) {
    const ids = Array.from({ length: Math.min(BATCH, objects - from) }, (_, k) => FIRST_ID + BigInt(from + k));
    const deliveries = ids.map(diaObjectId => ({
      diaObjectId,
      position: { ra: 360 * random(), dec: 180 * random() - 90 },
      reliability: random(),
      eventTimeUs: TIME_US,
      broker: 'lasair' as const,
    }));
    await writer.ingest(deliveries, TIME_US + from);
    await writer.recordCrossmatches(
      ids.map((id, k) => crossmatchOf(id, from + k, random)),
      PROVENANCE,
      TIME_US,
    );
  }
}
