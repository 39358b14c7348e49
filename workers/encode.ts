/** Stored rows as the values that the API answers with; keys and their order are those of the wire contract (sections 3.2 to 3.6). */
import { BEST_GUESS, type DetailLevel } from '../src/contract/enums.ts';
import { statusOf } from '../src/store/status.ts';
import type { Store } from '../src/store/store.ts';
import type {
  CrossmatchRecord,
  MatchSource,
  MatchSummary,
  StoredObject,
  TnsAssociation,
  TnsRecord,
} from '../src/store/types.ts';
import { type Rendered, rendered } from './json.ts';
import { newestMatches } from './matches.ts';
import type { ServiceFacts } from './tasks.ts';
import { formatTime, formatTimeOrNull } from './times.ts';

export type Wire = Readonly<Record<string, unknown>>;

const BEST_GUESS_DESCRIPTION =
  "A best guess: the service's current settings. What an object was crossmatched under was not recorded at the time.";

const LEVEL: Readonly<Record<DetailLevel, number>> = { ids: 0, position: 1, matches: 2, full: 3 };

/** What stays the same from one answer to the next: settings, and provenance sets, which never change once stored. */
export class AnswerFacts {
  readonly provenance: Rendered;
  readonly catalogs: readonly string[];
  readonly recordingRelease: string;
  readonly tnsSnapshotMaxAgeSeconds: number;
  /** The entry of `provenance_sets` for what was crossmatched before recording began. */
  readonly bestGuess: Rendered;
  readonly #tnsUrlTemplate: string;
  readonly #sets = new Map<number, { readonly hash: string; readonly entry: Rendered }>();

  constructor({ provenance, recordingRelease, tnsUrlTemplate, tnsSnapshotMaxAgeSeconds }: ServiceFacts) {
    const { crossmatch_radius_arcsec, catalogs, reliability_cuts } = provenance;
    this.provenance = rendered(provenance);
    this.catalogs = catalogs.map(catalog => catalog.name);
    this.recordingRelease = recordingRelease;
    this.#tnsUrlTemplate = tnsUrlTemplate;
    this.tnsSnapshotMaxAgeSeconds = tnsSnapshotMaxAgeSeconds;
    this.bestGuess = rendered({
      basis: BEST_GUESS,
      description: BEST_GUESS_DESCRIPTION,
      crossmatch_radius_arcsec,
      catalogs,
      reliability_cuts,
    });
  }

  recordedSet(store: Store, ordinal: number): { readonly hash: string; readonly entry: Rendered } {
    let known = this.#sets.get(ordinal);
    if (!known) {
      const { hash, set } = store.provenanceSet(ordinal);
      const { crossmatch_radius_arcsec, catalogs, reliability_cuts } = set;
      known = {
        hash,
        entry: rendered({ basis: 'recorded', crossmatch_radius_arcsec, catalogs, reliability_cuts }),
      };
      this.#sets.set(ordinal, known);
    }
    return known;
  }

  /** The registry's page of a bare designation. */
  tnsUrl(name: string): string {
    return this.#tnsUrlTemplate.replace('{name}', encodeURIComponent(name));
  }

  /** A record of the registry, on the result of a name. */
  tnsRecord({ objid, name, namePrefix, ra, dec, classification, redshift }: TnsRecord): Wire {
    return { objid, name, classification, redshift, url: this.tnsUrl(name), name_prefix: namePrefix, ra, dec };
  }
}

/** Encodes the objects of one answer, and collects the provenance sets that they refer to. */
export class ObjectEncoder {
  /** The answer's `provenance_sets`. */
  readonly provenanceSets: Record<string, unknown> = {};
  readonly #facts: AnswerFacts;
  readonly #store: Store;
  readonly #level: number;

  constructor(facts: AnswerFacts, store: Store, detail: DetailLevel) {
    this.#facts = facts;
    this.#store = store;
    this.#level = LEVEL[detail];
  }

  entry(object: StoredObject): Wire {
    const entry: Record<string, unknown> = {
      diaObjectId: object.diaObjectId,
      diaObjectId_str: `${object.diaObjectId}`,
      status: statusOf(object),
    };
    if (this.#level >= LEVEL.position) {
      entry.ra = object.position?.ra ?? null;
      entry.dec = object.position?.dec ?? null;
      entry.reliability = object.reliability;
      entry.ingest_time = formatTime(object.ingestTimeUs);
      entry.event_time = formatTime(object.eventTimeUs);
      entry.brokers = object.brokers;
    }
    entry.crossmatch = object.state === 'pending' ? null : this.#crossmatch(object.records.at(-1));
    if (this.#level >= LEVEL.matches) {
      entry.matches = object.state === 'pending' ? [] : this.#matchesWithProvenance(object);
      entry.tns = object.tns && this.#tns(object.tns);
    }
    return entry;
  }

  /** An object of the recent crossmatches: listed with its matches whatever its state. */
  recentEntry(object: StoredObject): Wire {
    const entry: Record<string, unknown> = {
      diaObjectId: object.diaObjectId,
      diaObjectId_str: `${object.diaObjectId}`,
    };
    if (this.#level >= LEVEL.position) {
      entry.ra = object.position?.ra ?? null;
      entry.dec = object.position?.dec ?? null;
    }
    if (this.#level >= LEVEL.matches) entry.matches = this.#matches(object).map(({ wire }) => wire);
    return entry;
  }

  #crossmatch(record: CrossmatchRecord | undefined): Wire {
    const { catalogs, recordingRelease, bestGuess } = this.#facts;
    if (!record) {
      this.provenanceSets[BEST_GUESS] = bestGuess;
      return {
        provenance: 'not_recorded',
        match_version: null,
        crossmatched_at: null,
        provenance_set: null,
        brokers_at_crossmatch: null,
        catalog_outcomes: Object.fromEntries(catalogs.map(name => [name, 'not_recorded'])),
        recording_release: recordingRelease,
        best_guess_provenance_set: BEST_GUESS,
      };
    }
    const outcomes: Record<string, string> = {};
    for (const name of catalogs) outcomes[name] = 'not_in_service_at_crossmatch';
    for (const [name, outcome] of record.catalogOutcomes) outcomes[name] = outcome;
    return {
      provenance: 'recorded',
      match_version: record.matchVersion,
      crossmatched_at: formatTime(record.crossmatchedAtUs),
      provenance_set: this.#referTo(record),
      brokers_at_crossmatch: record.brokersAtCrossmatch,
      catalog_outcomes: outcomes,
    };
  }

  /** The key of a record's provenance set, which the answer then contains. */
  #referTo(record: CrossmatchRecord): string {
    const { hash, entry } = this.#facts.recordedSet(this.#store, record.provenanceSet);
    this.provenanceSets[hash] = entry;
    return hash;
  }

  #matchesWithProvenance(object: StoredObject): Wire[] {
    return this.#matches(object).map(({ match, wire }) => {
      return { ...wire, provenance_set: this.#matchProvenance(object, match) };
    });
  }

  #matches(object: StoredObject): { readonly match: MatchSummary; readonly wire: Wire }[] {
    const listed = newestMatches(object.matches);
    if (this.#level < LEVEL.full) return listed.map(({ match }) => ({ match, wire: matchSummary(match) }));
    const sources = this.#store.getSources(object.diaObjectId);
    return listed.flatMap(({ match, index }) => {
      const wire = this.#publishedMatch(object, match, sources[index]);
      return wire ? [{ match, wire }] : [];
    });
  }

  /** Undefined where the source has no usable position: such a match cannot be published. */
  #publishedMatch(object: StoredObject, match: MatchSummary, source: MatchSource | undefined): Wire | undefined {
    if (!Number.isFinite(source?.ra) || !Number.isFinite(source?.dec)) return undefined;
    const { tns } = object;
    return {
      diaObjectId: object.diaObjectId,
      ra: source!.ra,
      dec: source!.dec,
      ...matchSummary(match),
      catalog_payload: source!.payload,
      catalogs_skipped: [],
      partial: false,
      tns_checked: tns?.checked ?? false,
      tns_snapshot_epoch: formatTimeOrNull(tns?.snapshotEpochUs),
      tns: tns && tns.name !== null ? this.#associated(tns, tns.name) : undefined,
    };
  }

  #matchProvenance(object: StoredObject, match: MatchSummary): string | null {
    const record = object.records.find(({ matchVersion }) => matchVersion === match.matchVersion);
    return record ? this.#referTo(record) : null;
  }

  #associated(tns: TnsAssociation, name: string): Wire {
    return {
      objid: tns.objid,
      name,
      classification: tns.classification,
      redshift: tns.redshift,
      separation_arcsec: tns.separationArcsec,
      url: this.#facts.tnsUrl(name),
    };
  }

  #tns(tns: TnsAssociation): Wire {
    return {
      checked: tns.checked,
      snapshot_epoch: formatTimeOrNull(tns.snapshotEpochUs),
      name: tns.name,
      name_prefix: tns.namePrefix,
      classification: tns.classification,
      redshift: tns.redshift,
      separation_arcsec: tns.separationArcsec,
      url: tns.name === null ? null : this.#facts.tnsUrl(tns.name),
    };
  }
}

function matchSummary({ catalogName, catalogSourceId, separationArcsec }: MatchSummary): Wire {
  return {
    catalog_name: catalogName,
    catalog_source_id: catalogSourceId,
    separation_arcsec: separationArcsec,
  };
}
