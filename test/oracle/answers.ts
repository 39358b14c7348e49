/** A stored object as answers show it, in plain values: the contract read once more (docs/contract.md, Provenance; Objects). */

import type { DetailLevel } from '../../src/core/contract/enums.ts';
import type { AnswerSettings } from '../../src/core/store/provenance.ts';
import type { HashedProvenanceSet } from '../../src/core/store/records.ts';
import type { MatchSource, MatchSummary, StoredObject, TnsAssociation } from '../../src/core/store/types.ts';

type Wire = Record<string, unknown>;

export interface Stored {
  readonly object: StoredObject;
  readonly sources: readonly MatchSource[];
  readonly sets: ReadonlyMap<number, HashedProvenanceSet>;
}

const LEVELS: readonly DetailLevel[] = ['ids', 'position', 'matches', 'full'];
const BEST_GUESS = 'best_guess_current_settings';

/** An ISO time with six digits of microseconds, or none. */
export function isoTime(timeUs: number): string {
  const [whole, millis] = new Date(Math.floor(timeUs / 1000)).toISOString().slice(0, -1).split('.');
  const micros = `${millis}${`${((timeUs % 1000) + 1000) % 1000}`.padStart(3, '0')}`;
  return `${whole}${micros === '000000' ? '' : `.${micros}`}+00:00`;
}

const timeOrNull = (timeUs: number | null) => (timeUs === null ? null : isoTime(timeUs));

/** The entry of a lookup, and the keys of the provenance sets that it refers to, in the order in which it does. */
export function lookupEntry(stored: Stored, detail: DetailLevel, service: AnswerSettings): [Wire, string[]] {
  const { object } = stored;
  const level = LEVELS.indexOf(detail);
  const isPending = object.state === 'pending';
  const record = object.records.at(-1);
  const referred = new Set<string>();
  const entry: Wire = { diaObjectId: object.diaObjectId, diaObjectId_str: `${object.diaObjectId}` };
  const isSearched = record === undefined || record.catalogOutcomes.some(([, outcome]) => outcome === 'searched');
  if (isPending) entry.status = 'crossmatch_pending';
  else if (object.matches.some(match => isListed(object, match))) entry.status = 'coincident_sources';
  else entry.status = isSearched ? 'no_coincident_source' : 'not_searched';
  if (level >= 1) {
    Object.assign(entry, {
      ra: object.position ? object.position.ra : null,
      dec: object.position ? object.position.dec : null,
      reliability: object.reliability,
      ingest_time: isoTime(object.ingestTimeUs),
      event_time: isoTime(object.eventTimeUs),
      brokers: object.brokers,
    });
  }
  entry.crossmatch = isPending ? null : crossmatch(stored, service);
  if (!isPending) referred.add(record ? stored.sets.get(record.provenanceSet)!.hash : BEST_GUESS);
  if (level >= 2) {
    entry.matches = isPending ? [] : matches(stored, level === 3, service, referred);
    entry.tns = object.tns && association(object.tns, service);
  }
  return [entry, [...referred]];
}

/** The entry of a recent crossmatch. */
export function recentEntry(stored: Stored, detail: DetailLevel, service: AnswerSettings): Wire {
  const { object } = stored;
  const level = LEVELS.indexOf(detail);
  const entry: Wire = { diaObjectId: object.diaObjectId, diaObjectId_str: `${object.diaObjectId}` };
  if (level >= 1) {
    entry.ra = object.position ? object.position.ra : null;
    entry.dec = object.position ? object.position.dec : null;
  }
  if (level >= 2) {
    entry.matches = matches(stored, level === 3, service, new Set()).map(({ provenance_set, ...match }) => match);
  }
  return entry;
}

function crossmatch({ object, sets }: Stored, { provenance, recordingRelease }: AnswerSettings): Wire {
  const record = object.records.at(-1);
  const names = provenance.catalogs.map(({ name }) => name);
  const all = (value: string) => Object.fromEntries(names.map(name => [name, value]));
  if (!record) {
    return {
      provenance: 'not_recorded',
      match_version: null,
      crossmatched_at: null,
      provenance_set: null,
      brokers_at_crossmatch: null,
      catalog_outcomes: all('not_recorded'),
      recording_release: recordingRelease,
      best_guess_provenance_set: BEST_GUESS,
    };
  }
  return {
    provenance: 'recorded',
    match_version: record.matchVersion,
    crossmatched_at: isoTime(record.crossmatchedAtUs),
    provenance_set: sets.get(record.provenanceSet)!.hash,
    brokers_at_crossmatch: record.brokersAtCrossmatch,
    catalog_outcomes: { ...all('not_in_service_at_crossmatch'), ...Object.fromEntries(record.catalogOutcomes) },
  };
}

/** Whether the newest record, or without one the newest match, has this version, and no source of the catalog is nearer. */
export function isListed({ records, matches }: StoredObject, match: MatchSummary): boolean {
  const newest = records[records.length - 1] ?? matches.reduce((a, b) => (b.matchVersion > a.matchVersion ? b : a));
  const far = (each: MatchSummary) => each.separationAtEpochArcsec ?? each.separationArcsec;
  const rivals = matches.filter(
    ({ matchVersion, catalogName }) => matchVersion === newest.matchVersion && catalogName === match.catalogName,
  );
  const [best] = rivals.sort((a, b) => far(a) - far(b) || (a.catalogSourceId < b.catalogSourceId ? -1 : 1));
  return match === best;
}

function matches(
  { object, sources, sets }: Stored,
  full: boolean,
  service: AnswerSettings,
  referred: Set<string>,
): Wire[] {
  const before = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return object.matches
    .map((match, i) => ({ match, source: sources[i] }))
    .filter(({ match }) => isListed(object, match))
    .sort(
      ({ match: a }, { match: b }) =>
        before(a.catalogName, b.catalogName) || before(a.catalogSourceId, b.catalogSourceId),
    )
    .filter(({ source }) => !full || (Number.isFinite(source?.ra) && Number.isFinite(source?.dec)))
    .map(({ match, source }) => {
      const record = object.records.find(({ matchVersion }) => matchVersion === match.matchVersion);
      const hash = record ? sets.get(record.provenanceSet)!.hash : null;
      if (hash !== null) referred.add(hash);
      const summary = {
        catalog_name: match.catalogName,
        catalog_source_id: match.catalogSourceId,
        separation_arcsec: match.separationArcsec,
      };
      const known = Object.entries(worth(match)).filter(([, value]) => value !== null);
      const further = {
        catalog_release:
          (record &&
            sets.get(record.provenanceSet)!.set.catalogs.find(({ name }) => name === match.catalogName)?.release) ??
          null,
        ...(known.length > 0 && { statistics: Object.fromEntries(known) }),
      };
      return full
        ? { ...published(object, source!, { ...summary, ...further }, service), provenance_set: hash }
        : { ...summary, provenance_set: hash };
    });
}

/** The statistics of a match; null where they are not known. */
export function worth({ separationArcsec, separationAtEpochArcsec, statistics }: MatchSummary): Wire {
  const {
    sourceDensity = null,
    sourcesWithinRadius = null,
    secondSeparationArcsec = null,
    likelihood,
  } = statistics ?? {};
  const { combinedErrorMas, lnWeightRatio = null, priorCompleteness = 1 } = likelihood ?? {};
  const separation = separationAtEpochArcsec ?? separationArcsec;
  const sources = (Math.PI / 3600) * (sourceDensity ?? 0) * separation * separation;
  const three = (value: number) => Number(value.toPrecision(3));
  const sigma = (combinedErrorMas ?? Number.NaN) / 1000;
  const normalized = (1000 * separation) / (combinedErrorMas ?? Number.NaN);
  // One over the sum of the weights; of exponents alone, because the factors may be infinite.
  const factors = (2 * Math.PI * (sourceDensity ?? 0) * sigma * sigma) / 3600 / priorCompleteness;
  const others = Math.exp(Math.log(factors) + normalized ** 2 / 2 - (lnWeightRatio ?? 0));
  return {
    chance_probability: sourceDensity === null ? null : Number((-Math.expm1(-sources)).toPrecision(3)),
    source_density: sourceDensity,
    sources_within_radius: sourcesWithinRadius,
    // The stored value is rounded to mas.
    second_separation_arcsec: secondSeparationArcsec === null ? null : Math.max(separation, secondSeparationArcsec),
    normalized_separation: Number.isFinite(normalized) ? three(normalized) : null,
    match_probability: lnWeightRatio === null ? null : three(Math.exp(-lnWeightRatio)),
    any_match_probability:
      lnWeightRatio === null || sourceDensity === null || Number.isNaN(others) ? null : three(1 / (1 + others)),
  };
}

function published(
  { diaObjectId, tns }: StoredObject,
  source: MatchSource,
  summary: Wire,
  service: AnswerSettings,
): Wire {
  const wire: Wire = {
    diaObjectId,
    ra: source.ra,
    dec: source.dec,
    ...summary,
    catalog_payload: source.payload,
    catalogs_skipped: [],
    partial: false,
    tns_checked: tns ? tns.checked : false,
    tns_snapshot_epoch: timeOrNull(tns ? tns.snapshotEpochUs : null),
  };
  if (tns && tns.name !== null) {
    const { objid, name, classification, redshift, separationArcsec } = tns;
    const url = urlOf(name, service);
    wire.tns = { objid, name, classification, redshift, separation_arcsec: separationArcsec, url };
  }
  return wire;
}

function association(tns: TnsAssociation, service: AnswerSettings): Wire {
  return {
    checked: tns.checked,
    snapshot_epoch: timeOrNull(tns.snapshotEpochUs),
    name: tns.name,
    name_prefix: tns.namePrefix,
    classification: tns.classification,
    redshift: tns.redshift,
    separation_arcsec: tns.separationArcsec,
    url: tns.name === null ? null : urlOf(tns.name, service),
  };
}

function urlOf(name: string, { tnsUrlTemplate }: AnswerSettings): string {
  return tnsUrlTemplate.split('{name}').join(encodeURIComponent(name));
}
