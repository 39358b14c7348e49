/**
 * Caches the parts that many answers have in common, as bytes: settings, provenance sets, and strings about objects.
 */
import { fragment } from '@nearsky/astrotables/bytes';
import { toJson } from '@nearsky/astrotables/json';
import { formatTimeOrNull } from '../base/times.ts';
import { BEST_GUESS } from '../contract/enums.ts';
import { readAssociation, readCurrent, type TimelessRecord } from '../store/object_record.ts';
import type { AnswerSettings } from '../store/provenance.ts';
import { type CrossmatchedStatus, crossmatchedStatus } from '../store/status.ts';
import type { BesideObjects } from '../store/store_reader.ts';
import type { TnsAssociation, TnsRecord } from '../store/types.ts';
import { skippedCatalogs } from '../store/unread.ts';
import type { AnsweredObject, Tns } from './answered.ts';

/** The punctuation between the parts of an answer. */
export const SEPARATOR = fragment(', ');
export const BRACE = fragment('}');
export const END_OF_LIST = fragment(']');

const BEST_GUESS_DESCRIPTION =
  "A best guess: the service's current settings. The settings of this object's crossmatch were not recorded at the time.";

/** `, "catalog_release": ...` of the matches with a catalog. */
interface ReleaseFragment {
  /** The name of the catalog as objects store it. */
  readonly name: Uint8Array;
  readonly key: Uint8Array;
}

const releaseKey = (release: string | null) => fragment(`, "catalog_release": ${toJson(release)}`);

/** The key of a match whose crossmatch is not recorded. */
const NO_RELEASE = releaseKey(null);

/**
 * The key of a match, from the stored name of its catalog. Comparing bytes takes a third of the time of decoding the
 * name.
 */
export function releaseFragment(
  set: SetFragments | undefined,
  bytes: Uint8Array,
  from: number,
  to: number,
): Uint8Array {
  for (const { name, key } of set?.releaseKeys ?? []) {
    let at = name.length === to - from ? 0 : Number.POSITIVE_INFINITY;
    while (at < name.length && name[at] === bytes[from + at]) at++;
    if (at === name.length) return key;
  }
  return NO_RELEASE;
}

/** An entry of `provenance_sets`, to which other parts of the answer refer. */
export interface SetFragments {
  /** `"KEY": {...}` */
  readonly entry: Uint8Array;
  /** The end of a match that refers to this set. */
  readonly matchEnd: Uint8Array;
  /** The releases by catalog. */
  readonly releases: ReadonlyMap<string, string>;
  readonly releaseKeys: readonly ReleaseFragment[];
}

/** The strings for all objects that have the same brokers and the same kind of crossmatch. */
export interface CurrentFragments {
  /** The status of such an object, if it has no matches. */
  readonly status: CrossmatchedStatus;
  /** `, "brokers": [...]` */
  readonly brokers: Uint8Array;
  /** `, "crossmatch": {...}`; in two parts if the time of the crossmatch has to be inserted. */
  readonly crossmatch: Uint8Array;
  readonly afterTime: Uint8Array | undefined;
  /** The set to which the crossmatch refers. */
  readonly set: SetFragments;
  /** The version of the crossmatch (undefined if none is recorded), and its `skippedFragment`. */
  readonly version: number | undefined;
  readonly skipped: Uint8Array;
  /** The values of `brokers` and `crossmatch`, without the time. */
  readonly values: Required<Pick<AnsweredObject, 'brokers'>> & { readonly crossmatch: AnsweredCrossmatch };
}

type AnsweredCrossmatch = NonNullable<AnsweredObject['crossmatch']>;

/** The strings for all objects that have the same registry association. */
interface AssociationFragments {
  /** `, "tns": ...` of the object. */
  readonly ofObject: Uint8Array;
  /** The part about the registry in a match at `full`. */
  readonly ofMatch: Uint8Array;
  /** The value of `ofObject`. */
  readonly value: Tns | null;
}

/**
 * The part about the catalogs that could not be read for the crossmatch, in a match at `full`. Empty if the crossmatch
 * is not recorded.
 */
export function skippedFragment(record: Pick<TimelessRecord, 'catalogOutcomes'> | undefined): Uint8Array {
  const catalogs = record ? [...skippedCatalogs(record)] : [];
  return fragment(`, "catalogs_skipped": ${toJson(catalogs)}, "partial": ${catalogs.length > 0}`);
}

/** The end of a match whose crossmatch is not recorded. */
export const NO_SET = fragment(', "provenance_set": null}');

/** The maximum number of cached strings of each kind. There are seldom more than a few dozen. */
const MAX_REMEMBERED = 4096;

/** A function with a cache of its results. */
class Memo<Key, Value> {
  readonly #values = new Map<Key, Value>();

  get(key: Key, make: () => Value): Value {
    let value = this.#values.get(key);
    if (value === undefined) {
      value = make();
      if (this.#values.size >= MAX_REMEMBERED) this.#values.clear();
      this.#values.set(key, value);
    }
    return value;
  }
}

/** Counts the values that an answer cannot show. */
type LeftOut = 'sourcesLeftOut' | 'valuesLeftOut';

/**
 * The fragments for one state of the settings. They stay valid while the settings do, because the data stored under an
 * ordinal never change.
 */
export class SharedFragments {
  /** The start of most answers: `{"provenance": {...}` */
  readonly start: Uint8Array;
  readonly tnsSnapshotMaxAgeSeconds: number;
  readonly settings: AnswerSettings;
  /** Called for each source and each value that an answer leaves out. */
  readonly onLeftOut: (what: LeftOut) => void;
  readonly #catalogs: readonly string[];
  readonly #bestGuess: SetFragments;
  readonly #notRecorded: Uint8Array;
  readonly #sets = new Memo<number, SetFragments & { readonly hash: string }>();
  readonly #currentFragments = new Memo<string, CurrentFragments>();
  readonly #associations = new Memo<string, AssociationFragments>();
  readonly #payloadKeys = new Memo<number, readonly Uint8Array[]>();

  constructor(settings: AnswerSettings, onLeftOut: (what: LeftOut) => void = () => {}) {
    const { crossmatch_radius_arcsec, catalogs, reliability_cuts } = settings.provenance;
    this.settings = settings;
    this.onLeftOut = onLeftOut;
    this.start = fragment(`{"provenance": ${toJson(settings.provenance)}`);
    this.#catalogs = catalogs.map(catalog => catalog.name);
    this.tnsSnapshotMaxAgeSeconds = settings.tnsSnapshotMaxAgeSeconds;
    const basis = { basis: BEST_GUESS, description: BEST_GUESS_DESCRIPTION };
    this.#bestGuess = {
      entry: fragment(`"${BEST_GUESS}": ${toJson({ ...basis, crossmatch_radius_arcsec, catalogs, reliability_cuts })}`),
      matchEnd: NO_SET,
      releases: new Map(),
      releaseKeys: [],
    };
    this.#notRecorded = fragment(`, "crossmatch": ${toJson(this.#unrecorded())}`);
  }

  /** @param text the section `current` of an object */
  current(store: BesideObjects, text: string): CurrentFragments {
    return this.#currentFragments.get(text, () => this.#makeCurrent(store, text));
  }

  #makeCurrent(store: BesideObjects, text: string): CurrentFragments {
    const { brokers, record } = readCurrent(text);
    const status = crossmatchedStatus(false, record?.catalogOutcomes);
    const common = {
      status,
      brokers: fragment(`, "brokers": ${toJson(brokers)}`),
      version: record?.matchVersion,
      skipped: skippedFragment(record),
    };
    if (!record)
      return {
        ...common,
        crossmatch: this.#notRecorded,
        afterTime: undefined,
        set: this.#bestGuess,
        values: { brokers, crossmatch: this.#unrecorded() },
      };
    const set = this.recordedSet(store, record.provenanceSet);
    const start = { provenance: 'recorded', match_version: record.matchVersion };
    const end = {
      provenance_set: set.hash,
      brokers_at_crossmatch: record.brokersAtCrossmatch,
      catalog_outcomes: this.#outcomes(record),
    };
    return {
      ...common,
      crossmatch: fragment(`, "crossmatch": ${toJson(start).slice(0, -1)}, "crossmatched_at": `),
      afterTime: fragment(`, ${toJson(end).slice(1)}`),
      set,
      values: { brokers, crossmatch: { ...start, crossmatched_at: null, ...end } },
    };
  }

  /** The outcomes: first those of the current catalogs, in their order, then those of former catalogs. */
  #outcomes({ catalogOutcomes }: TimelessRecord): Record<string, string> {
    const outcomes: Record<string, string> = {};
    for (const name of this.#catalogs) outcomes[name] = 'not_in_service_at_crossmatch';
    for (const [name, outcome] of catalogOutcomes) outcomes[name] = outcome;
    return outcomes;
  }

  #unrecorded() {
    return {
      provenance: 'not_recorded',
      match_version: null,
      crossmatched_at: null,
      provenance_set: null,
      brokers_at_crossmatch: null,
      catalog_outcomes: Object.fromEntries(this.#catalogs.map(name => [name, 'not_recorded'])),
      recording_release: this.settings.recordingRelease,
      best_guess_provenance_set: BEST_GUESS,
    };
  }

  recordedSet(store: BesideObjects, ordinal: number): SetFragments & { readonly hash: string } {
    return this.#sets.get(ordinal, () => {
      const { hash, set } = store.provenanceSet(ordinal);
      const { crossmatch_radius_arcsec, catalogs, reliability_cuts } = set;
      const entry = toJson({ basis: 'recorded', crossmatch_radius_arcsec, catalogs, reliability_cuts });
      return {
        hash,
        entry: fragment(`${toJson(hash)}: ${entry}`),
        matchEnd: fragment(`, "provenance_set": ${toJson(hash)}}`),
        releases: new Map(catalogs.map(({ name, release }) => [name, release])),
        releaseKeys: catalogs.map(({ name, release }) => ({
          name: fragment(toJson(name).slice(1, -1)),
          key: releaseKey(release),
        })),
      };
    });
  }

  /** @param text the section `tns` of an object */
  association(text: string): AssociationFragments {
    return this.#associations.get(text, () => {
      const tns = readAssociation(text);
      const matched = tns && tns.name !== null ? `, "tns": ${toJson(this.#associated(tns, tns.name))}` : '';
      const epoch = toJson(formatTimeOrNull(tns?.snapshotEpochUs));
      const value = this.tnsOf(tns);
      return {
        value,
        ofObject: fragment(`, "tns": ${toJson(value)}`),
        ofMatch: fragment(`, "tns_checked": ${tns?.checked ?? false}, "tns_snapshot_epoch": ${epoch}${matched}`),
      };
    });
  }

  #associated({ objid, classification, redshift, separationArcsec }: TnsAssociation, name: string) {
    return { objid, name, classification, redshift, separation_arcsec: separationArcsec, url: this.#tnsUrl(name) };
  }

  /** The value of the key `tns` of an object. */
  tnsOf(tns: TnsAssociation | null): Tns | null {
    return tns && this.#tns(tns);
  }

  #tns(tns: TnsAssociation) {
    return {
      checked: tns.checked,
      snapshot_epoch: formatTimeOrNull(tns.snapshotEpochUs),
      name: tns.name,
      name_prefix: tns.namePrefix,
      classification: tns.classification,
      redshift: tns.redshift,
      separation_arcsec: tns.separationArcsec,
      url: tns.name === null ? null : this.#tnsUrl(tns.name),
    };
  }

  /** The address of the registry's page about a designation without prefix. */
  #tnsUrl(name: string): string {
    return this.settings.tnsUrlTemplate.replace('{name}', encodeURIComponent(name));
  }

  /** A record of the registry for the result of a name, as JSON. */
  tnsRecord({ objid, name, namePrefix, ra, dec, classification, redshift }: TnsRecord): string {
    return toJson({
      objid,
      name,
      classification,
      redshift,
      url: this.#tnsUrl(name),
      name_prefix: namePrefix,
      ra,
      dec,
    });
  }

  /**
   * The bytes before each value of a payload, for the keys with an ordinal: `{"KEY": ` for the first key, `, "KEY": `
   * for the others.
   */
  payloadKeys(store: BesideObjects, ordinal: number): readonly Uint8Array[] {
    return this.#payloadKeys.get(ordinal, () =>
      store.payloadKeys(ordinal).map((key, i) => fragment(`${i === 0 ? '{' : ', '}${toJson(key)}: `)),
    );
  }
}
