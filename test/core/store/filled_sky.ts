/** Stores to be exported: objects over the sky and in crowds, with matches of all kinds. Reads what was exported. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { payloadColumns } from '../../../src/capabilities/catalogs/payload_columns.ts';
import { CATALOGS, catalogDefinition } from '../../../src/core/contract/catalogs.ts';
import { likelihoodOf, statisticsOf } from '../../../src/core/store/match_statistics.ts';
import type { CrossmatchResult, Delivery, MatchSource } from '../../../src/core/store/types.ts';
import type { Writer } from '../../../src/core/store/writer.ts';
import { offset, seededRandom } from '../../oracle/skies.ts';
import { provenance } from './support.ts';

export const FIRST_ID = 9_100_000_000_000_000_001n;
const TIME_US = 1_790_000_000_123_456;
/** In each run of this many objects one has no position, one is pending, one is crossmatched again. */
const [NO_POSITION, PENDING, AGAIN] = [97, 89, 83];

/** The payload in the catalog's form, but for odd ones: values of other types, a column less, none at all. */
function sourceOf(catalog: string, i: number, random: () => number): MatchSource {
  const values = payloadColumns(catalogDefinition(catalog)!).map(({ name, type }) => {
    const value = random() < 0.1 ? null : type === 'int64' ? Math.floor(1e6 * random()) : 40 * random() - 20;
    return [name, value] as const;
  });
  const payload: Record<string, unknown> = Object.fromEntries(values);
  if (i % 41 === 0) payload[values[0]![0]] = 'a "text": tést';
  if (i % 43 === 0) payload.further = 2n ** 62n + BigInt(i);
  return { ra: i % 47 === 0 ? null : 360 * random(), dec: 90 * random(), payload: i % 37 === 0 ? null : payload };
}

function resultOf(diaObjectId: bigint, i: number, matches: number, random: () => number): CrossmatchResult {
  const tns = {
    checked: true,
    snapshotEpochUs: TIME_US,
    objid: i,
    name: `2026x${i}`,
    namePrefix: i % 2 ? 'SN' : null,
    classification: 'SN Ia',
    redshift: 0.02,
    separationArcsec: 0.5,
  };
  return {
    diaObjectId,
    catalogOutcomes: CATALOGS.map(({ name }) => [
      name,
      i % AGAIN === 1 && matches < 4 ? 'skipped_read_failure' : 'searched',
    ]),
    matches: CATALOGS.slice(0, matches).map(({ name }) => ({
      catalogName: name,
      // Some catalogs have text ids.
      catalogSourceId: i % 32 === 2 ? `J${i}` : `${4_611_686_018_427_387_905n + BigInt(i)}`,
      separationArcsec: random(),
      ...(i % 3 === 0 && { separationAtEpochArcsec: random() }),
      ...(i % 2 === 0 && {
        statistics: statisticsOf(
          100 * random(),
          1 + (i % 3),
          i % 3 > 0 ? 1 + random() : Number.NaN,
          likelihoodOf(random(), i % 4 ? 300 * random() : Number.NaN, 9 + random(), 1),
        ),
      }),
      source: sourceOf(name, i, random),
    })),
    ...(i % 10 === 0 && { tns }),
  };
}

/** Stores this many objects, half of them in a few crowds. */
export async function fillSky(writer: Writer, count: number, seed = 1): Promise<void> {
  const random = seededRandom(seed);
  const crowds = [
    { ra: 0, dec: 0 },
    { ra: 45, dec: 41.81 },
    { ra: 359.9999, dec: -30 },
    { ra: 10, dec: 89.9 },
  ];
  const deliveries = Array.from({ length: count }, (_, i): Delivery => {
    const anywhere = { ra: 360 * random(), dec: (180 / Math.PI) * Math.asin(2 * random() - 1) };
    const near = offset(crowds[(i >> 1) % 4]!, 120 * Math.sqrt(random()), 2 * Math.PI * random());
    return {
      diaObjectId: FIRST_ID + 7919n * BigInt(i),
      position: i % NO_POSITION === 5 ? null : i % 2 ? anywhere : near,
      reliability: i % 3 ? random() : null,
      ...(i % 4 && { positionErrorMas: 1 + 100 * random() }),
      eventTimeUs: TIME_US - i,
      broker: i % 2 ? 'lasair' : 'antares',
    };
  });
  await writer.ingest(deliveries, TIME_US);
  await writer.ingest(
    deliveries.filter((_, i) => i % 7 === 0).map(each => ({ ...each, broker: 'pittgoogle' as const })),
    TIME_US + 1,
  );
  const objects = deliveries.map(({ diaObjectId }, i) => [diaObjectId, i] as const);
  const results = objects.filter(([, i]) => i % PENDING !== 3).map(([id, i]) => resultOf(id, i, i % 4, random));
  await writer.recordCrossmatches(results, provenance, TIME_US + 2);
  const again = objects.filter(([, i]) => i % AGAIN === 1 && i % PENDING !== 3);
  await writer.recordCrossmatches(
    again.map(([id, i]) => resultOf(id, i, 4, random)),
    {
      ...provenance,
      catalogs: provenance.catalogs.map(each => ({ ...each, release: `${each.release}, the next one` })),
    },
    TIME_US + 3,
  );
}

export type Row = Record<string, unknown>;

/** Times as they are stored: a Date has no microseconds. */
const PARSERS = { timestampFromMicroseconds: (us: bigint) => us as never };

/** The rows of the Parquet files of an export, each with the path of its file. */
export async function readRows(directory: string, pattern: string): Promise<(Row & { path: string })[]> {
  const rows: (Row & { path: string })[] = [];
  for (const path of globSync(pattern, { cwd: directory })) {
    const bytes = readFileSync(join(directory, path));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    for (const row of await parquetReadObjects({ file, compressors, parsers: PARSERS })) rows.push({ ...row, path });
  }
  return rows;
}
