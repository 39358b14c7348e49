/** Shared by the tests of the stream: stores with crossmatches, and messages as an independent writer has them. */
import { MatchMessages } from '../../../src/capabilities/streams/match_messages.ts';
import type { MatchMessage } from '../../../src/capabilities/streams/message.ts';
import { SharedFragments } from '../../../src/core/answers/shared_fragments.ts';
import { loadConfig } from '../../../src/core/config/config.ts';
import { statisticsOf } from '../../../src/core/store/match_statistics.ts';
import { answerSettings } from '../../../src/core/store/provenance.ts';
import type { Store } from '../../../src/core/store/store.ts';
import type { CrossmatchResult, StoredObject, TnsAssociation } from '../../../src/core/store/types.ts';
import type { Writer } from '../../../src/core/store/writer.ts';
import { delivery, provenance } from '../../core/store/support.ts';
import { worth } from '../../oracle/answers.ts';

export const FIRST_ID = 9_100_000_000_000_000_001n;
const CATALOGS = ['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'];

export const messagesOf = (store: Store) => new MatchMessages(store, new SharedFragments(answerSettings(loadConfig())));

/** The crossmatch of an object: matches in the first so many catalogs; a catalog that was skipped, if any. */
export function crossmatch(id: bigint, matches: number, skipped?: string): CrossmatchResult {
  return {
    diaObjectId: id,
    catalogOutcomes: CATALOGS.map(name => [name, name === skipped ? 'skipped_read_failure' : 'searched']),
    matches: CATALOGS.slice(0, matches).map((catalogName, i) => ({
      catalogName,
      catalogSourceId: `${4_000_000_000_000_000_000n + 10n * (id % 1_000_000n) + BigInt(i)}`,
      separationArcsec: 0.125 * (i + 1),
      ...(i < 2 && { statistics: statisticsOf(i === 0 ? 12.3 : Number.NaN, 1 + i, i === 0 ? Number.NaN : 0.5) }),
      source: {
        ra: Number(id % 360n) + 0.1 * i,
        dec: -30.5,
        payload: { name: `a "quoted", back\\slashed: té`, mag: 18.25 + i, big: 2n ** 62n + (id % 1000n), none: null },
      },
    })),
    ...(id % 3n === 0n && { tns: association(id) }),
  };
}

function association(id: bigint): TnsAssociation {
  const common = { checked: true, snapshotEpochUs: 1_772_010_000_000_000 };
  const none = { objid: null, name: null, namePrefix: null, classification: null, redshift: null };
  if (id % 2n === 0n) return { ...common, ...none, separationArcsec: null };
  const found = { objid: 12345, name: '2026abc', namePrefix: 'SN', classification: 'SN Ia', redshift: 0.05 };
  return { ...common, ...found, separationArcsec: 0.5 };
}

/** The ingest time of objects that `addObjects` stores. */
export const INGEST_US = 1_772_010_265_000_000;

/**
 * Stores that many new objects and crossmatches them, a commit each; object `i` gets `i % 5` matches.
 * @param isUnread which of them get two, because SkyMapper could not be read
 */
export async function addObjects(
  writer: Writer,
  from: number,
  to: number,
  isUnread = (_object: number) => false,
): Promise<bigint[]> {
  const ids = Array.from({ length: to - from }, (_, i) => FIRST_ID + BigInt(from + i));
  await writer.ingest(
    ids.map(id => delivery(id)),
    INGEST_US,
  );
  await writer.recordCrossmatches(
    ids.map(id => {
      const i = Number(id - FIRST_ID);
      return isUnread(i) ? crossmatch(id, 2, 'skymapper_dr4') : crossmatch(id, i % 5);
    }),
    provenance,
    1_772_010_266_000_000,
  );
  return ids;
}

const timeText = (us: number) => new Date(us / 1000).toISOString().replace(/\.000Z$/, '+00:00');

/** The messages of an object's crossmatch, as JSON texts, by the description of the stream and nothing of ours. */
export function expected(store: Store, object: StoredObject, version: number): string[] {
  const sources = store.getSources(object.diaObjectId);
  const record = object.records.find(({ matchVersion }) => matchVersion === version);
  const set = record && store.provenanceSet(record.provenanceSet).set;
  const skipped = (record?.catalogOutcomes ?? []).filter(([, outcome]) => outcome === 'skipped_read_failure');
  const { tns } = object;
  const association = tns?.name && {
    objid: tns.objid,
    name: tns.name,
    classification: tns.classification,
    redshift: tns.redshift,
    separation_arcsec: tns.separationArcsec,
    url: `https://www.wis-tns.org/object/${tns.name}`,
  };
  return object.matches.flatMap((match, i) => {
    if (match.matchVersion !== version) return [];
    const message = {
      diaObjectId: object.diaObjectId,
      ra: sources[i]!.ra,
      dec: sources[i]!.dec,
      catalog_name: match.catalogName,
      catalog_source_id: match.catalogSourceId,
      separation_arcsec: match.separationArcsec,
      catalog_release: set?.catalogs.find(({ name }) => name === match.catalogName)?.release ?? null,
      ...(match.statistics && { statistics: knownOf(worth(match)) }),
      catalog_payload: sources[i]!.payload,
      catalogs_skipped: skipped.map(([name]) => name),
      partial: skipped.length > 0,
      tns_checked: tns?.checked ?? false,
      tns_snapshot_epoch: tns?.snapshotEpochUs ? timeText(tns.snapshotEpochUs) : null,
      ...(association && { tns: association }),
    };
    const exact = JSON.stringify(message, (_, value) => (typeof value === 'bigint' ? `#${value}#` : value));
    return [exact.replace(/"#(\d+)#"/g, '$1').replace(/[^\x20-\x7e]/g, unit => `\\u${hex(unit)}`)];
  });
}

const knownOf = (values: object) => Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
const hex = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, '0');

/** Every message that the store has matches for, in the order of the journal, of crossmatches that were recorded in it. */
export function allExpected(store: Store): string[] {
  const versions = new Map<bigint, number>();
  return store.journalAfter(0, 1e9).flatMap(({ crossmatched }) =>
    crossmatched.flatMap(id => {
      const version = (versions.get(id) ?? 0) + 1;
      versions.set(id, version);
      return expected(store, store.getObject(id)!, version);
    }),
  );
}

export const textOf = ({ value }: MatchMessage) => Buffer.from(value).toString();
