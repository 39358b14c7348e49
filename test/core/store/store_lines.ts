/** Stores the worlds of the contract, which are lines of an export, without the commands that export and import. */

import { parseJson } from '@nearsky/astrotables/json';
import * as assert from 'uvu/assert';
import { publishLoad } from '../../../src/capabilities/names/registry_writer.ts';
import { parseTime } from '../../../src/core/base/parse_time.ts';
import type { ImportItem } from '../../../src/core/store/import.ts';
import { openStore } from '../../../src/core/store/store.ts';
import type { TnsRecord } from '../../../src/core/store/types.ts';
import { Writer } from '../../../src/core/store/writer.ts';

// biome-ignore lint/suspicious/noExplicitAny: the lines of the worlds are right
type Fields = any;

const timeOf = (text: string | null) => (text === null ? null : parseTime(text)!);

const KINDS: Readonly<Record<string, (fields: Fields, diaObjectId: bigint) => ImportItem>> = {
  object: (fields, diaObjectId) => ({
    kind: 'object',
    diaObjectId,
    object: {
      position: fields.ra === null ? null : { ra: fields.ra, dec: fields.dec },
      reliability: fields.reliability,
      ingestTimeUs: timeOf(fields.ingest_time)!,
      eventTimeUs: timeOf(fields.event_time)!,
      state: fields.state,
      brokers: fields.brokers.toSorted(),
    },
  }),
  crossmatch_record: (fields, diaObjectId) => ({
    kind: 'crossmatch_record',
    diaObjectId,
    record: {
      matchVersion: fields.match_version,
      crossmatchedAtUs: timeOf(fields.crossmatched_at)!,
      brokersAtCrossmatch: fields.brokers_at_crossmatch,
      catalogOutcomes: Object.entries(fields.catalog_outcomes),
    },
    provenance: fields.provenance,
  }),
  match: ({ statistics, ...fields }, diaObjectId) => ({
    kind: 'match',
    diaObjectId,
    match: {
      matchVersion: fields.match_version,
      catalogName: fields.catalog_name,
      catalogSourceId: fields.catalog_source_id,
      separationArcsec: fields.separation_arcsec,
      ...(statistics && {
        statistics: {
          version: statistics.version,
          sourceDensity: statistics.source_density,
          sourcesWithinRadius: statistics.sources_within_radius,
          secondSeparationArcsec: statistics.second_separation_arcsec,
          likelihood: {
            combinedErrorMas: statistics.combined_error_mas,
            lnWeightRatio: statistics.ln_weight_ratio,
            priorCompleteness: statistics.prior_completeness,
          },
        },
      }),
    },
    source: {
      ra: fields.ra,
      dec: fields.dec,
      payload:
        fields.catalog_payload &&
        Object.fromEntries(Object.entries(fields.catalog_payload).map(([key, value]) => [key.toLowerCase(), value])),
    },
  }),
  tns_association: (fields, diaObjectId) => ({
    kind: 'tns_association',
    diaObjectId,
    tns: {
      checked: fields.checked,
      snapshotEpochUs: timeOf(fields.snapshot_epoch),
      objid: fields.objid,
      name: fields.name,
      namePrefix: fields.name_prefix,
      classification: fields.classification,
      redshift: fields.redshift,
      separationArcsec: fields.separation_arcsec,
    },
  }),
};

const registered = ({ type: _, name_prefix, ...rest }: Fields): TnsRecord => ({ ...rest, namePrefix: name_prefix });

export async function storeLines(dataDir: string, lines: readonly string[]): Promise<void> {
  const parsed = lines.map(line => parseJson(line, 'int64') as Fields);
  const store = openStore(dataDir, 'write');
  try {
    const writer = new Writer(store);
    const items = parsed.flatMap(fields => KINDS[fields.type]?.(fields, BigInt(fields.diaObjectId)) ?? []);
    const outcomes = new Set(await writer.import(items));
    assert.equal([...outcomes], ['imported']);
    const snapshot = parsed.find(({ type }) => type === 'tns_snapshot');
    if (snapshot === undefined) return;
    const load = await writer.commit({ kind: 'begin_registry' });
    await writer.commit({
      kind: 'stage_registry',
      load,
      records: parsed.filter(({ type }) => type === 'tns_object').map(registered),
    });
    await publishLoad(writer, load, timeOf(snapshot.epoch)!);
  } finally {
    await store.close();
  }
}
