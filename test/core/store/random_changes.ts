/** Random changes of every kind to few objects, so that they affect each other; and the contents of a store. */

import type { Change, ChangeKind, ChangeOf } from '../../../src/core/store/changes.ts';
import { DATABASE_NAMES } from '../../../src/core/store/databases.ts';
import type { ImportItem } from '../../../src/core/store/import.ts';
import { LEVEL } from '../../../src/core/store/level.ts';
import { likelihoodOf, type MatchStatistics, statisticsOf } from '../../../src/core/store/match_statistics.ts';
import { packSource } from '../../../src/core/store/records.ts';
import type { RegistrySnapshot } from '../../../src/core/store/registry.ts';
import { openStore, type Store } from '../../../src/core/store/store.ts';
import type {
  CrossmatchResult,
  Delivery,
  MatchSource,
  PackedSource,
  TnsRecord,
} from '../../../src/core/store/types.ts';
import { provenance } from './support.ts';

const FIRST_US = 1_772_010_265_000_000;
const BROKERS = ['antares', 'lasair', 'pittgoogle'];
const OUTCOMES: readonly CrossmatchResult['catalogOutcomes'][] = [
  [
    ['gaia_dr3', 'searched'],
    ['des_y6_gold', 'outside_footprint'],
  ],
  [
    ['gaia_dr3', 'searched'],
    ['des_y6_gold', 'skipped_read_failure'],
  ],
];
const KEYS = ['mag', 'big', 'name', 'none'];

export class RandomChanges {
  readonly #random: () => number;
  readonly #hasTextIds: boolean;

  /** @param hasTextIds whether some sources have text ids, which a log of the first level refuses */
  constructor(random: () => number, hasTextIds = false) {
    this.#random = random;
    this.#hasTextIds = hasTextIds;
  }

  int(below: number): number {
    return Math.floor(this.#random() * below);
  }

  pick<T>(values: readonly T[]): T {
    return values[this.int(values.length)]!;
  }

  #many<T>(most: number, make: () => T): T[] {
    return Array.from({ length: 1 + this.int(most) }, make);
  }

  /** One of some sixty ids, near the ends of the ids that can be and of the integers that a number can hold. */
  #id(): bigint {
    return this.pick([0n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 20n]) + BigInt(this.int(16));
  }

  #delivery(): Delivery {
    return {
      diaObjectId: this.#id(),
      position:
        this.int(8) === 0
          ? null
          : { ra: this.pick([0, -0, 360, 359.9999999, this.#random() * 360]), dec: 90 - 180 * this.#random() },
      reliability: this.pick([null, 0, 1, this.#random()]),
      ...(this.int(2) === 0 && { positionErrorMas: 100 * this.#random() }),
      eventTimeUs: FIRST_US + this.int(1e9),
      broker: this.pick(BROKERS),
    };
  }

  #unstored(): Pick<ChangeOf<'deliver'>, 'unstored'> {
    const rejected = this.int(2) === 0 ? {} : { 'not JSON': 1 + this.int(9) };
    const counts = { broker: this.pick(BROKERS), below_cut: this.int(2), skipped: this.int(3), rejected };
    return this.int(2) === 0 ? {} : { unstored: counts };
  }

  #source(): MatchSource {
    const payload = { mag: this.#random() * 30, big: 2n ** 62n + BigInt(this.int(9)), name: 'té "\\', none: null };
    return { ra: this.#random() * 360, dec: null, payload: this.int(4) === 0 ? null : payload };
  }

  #packedSource(): PackedSource {
    return { keys: KEYS, packed: packSource(this.#random() * 360, -30.5, [18.25, 2n ** 63n - 1n, 'x', null]) };
  }

  #match(): CrossmatchResult['matches'][number] {
    const number = `${4_000_000_000_000_000_000n + BigInt(this.int(1000))}`;
    return {
      catalogName: this.pick(['gaia_dr3', 'des_y6_gold']),
      catalogSourceId: this.#hasTextIds && this.int(4) === 0 ? `β Cet ${this.int(1000)}` : number,
      separationArcsec: this.#random(),
      ...(this.int(3) === 0 && { separationAtEpochArcsec: this.#random() }),
      ...(this.int(2) === 0 && { statistics: this.#statistics() }),
      source: this.int(2) === 0 ? this.#source() : this.#packedSource(),
    };
  }

  #statistics(): MatchStatistics {
    const maybe = (value: number) => (this.int(3) === 0 ? Number.NaN : value);
    const likelihood = likelihoodOf(this.#random(), maybe(300), maybe(10 * this.#random()), this.pick([1, 0.7]));
    const [density, second] = [maybe(10 ** (8 * this.#random() - 5)), maybe(60 * this.#random())];
    return statisticsOf(density, 1 + this.int(300), second, likelihood);
  }

  #result(): CrossmatchResult {
    const none = { objid: null, name: null, namePrefix: null, classification: null, redshift: null };
    const tns = { checked: true, snapshotEpochUs: FIRST_US, ...none, separationArcsec: null };
    const matches = this.int(2) === 0 ? [] : this.#many(3, () => this.#match());
    const result = { diaObjectId: this.#id(), catalogOutcomes: this.pick(OUTCOMES), matches };
    return this.int(2) === 0 ? result : { ...result, tns };
  }

  #items(): ImportItem[] {
    const diaObjectId = this.#id();
    const { position, reliability, eventTimeUs, broker } = this.#delivery();
    const object = { position: position && { ...position, ra: position.ra + 0 }, reliability, eventTimeUs };
    const state = this.pick(['pending', 'crossmatched'] as const);
    const match = { matchVersion: 1, ...this.#match(), catalogName: 'gaia_dr3' };
    const { source: _, ...summary } = match;
    return [
      {
        kind: 'object',
        diaObjectId,
        object: { ...object, ingestTimeUs: FIRST_US + this.int(1e6), state, brokers: [broker] },
      },
      { kind: 'match', diaObjectId, match: summary, source: this.#source() },
    ];
  }

  #transient(): TnsRecord {
    const objid = this.pick([0, 7, 2 ** 32, 2 ** 53 - 1 - this.int(20)]);
    return {
      objid,
      name: `2026${this.pick(['abc', 'Xyz'])}`,
      namePrefix: this.pick([null, 'SN']),
      ra: this.#random() * 360,
      dec: 1,
      classification: null,
      redshift: this.#random(),
    };
  }

  /** A change; loads and snapshots of the registry are as likely to be the store's as not. */
  change(kind: RandomKind = this.pick([...KINDS, ...OFTEN])): Change {
    const timeUs = FIRST_US + this.int(1e9);
    const load = 1 + this.int(3);
    const snapshot: RegistrySnapshot = {
      load,
      revision: this.int(2),
      epochUs: timeUs,
      fileEpochUs: timeUs,
      validators: this.pick([null, { etag: '"é"', lastModified: null }]),
    };
    const records = this.#many(4, () => this.#transient());
    switch (kind) {
      case 'deliver':
        return { kind, timeUs, deliveries: this.#many(8, () => this.#delivery()), ...this.#unstored() };
      case 'crossmatch':
        return {
          kind,
          timeUs,
          provenance: { ...provenance, crossmatch_radius_arcsec: this.pick([1, 2]) },
          ...(this.int(2) === 0 && { isAgain: true }),
          results: this.#many(8, () => this.#result()),
        };
      case 'fill_statistics':
        return {
          kind,
          timeUs,
          found: this.#many(8, () => {
            const { diaObjectId, matches } = this.#result();
            const named = matches.map(({ catalogName, catalogSourceId }) => ({ catalogName, catalogSourceId }));
            return { diaObjectId, matches: named.map(match => ({ ...match, statistics: this.#statistics() })) };
          }),
        };
      case 'import':
        return { kind, timeUs, entries: this.#many(3, () => this.#items()).flat() };
      case 'remove':
        return {
          kind,
          timeUs,
          ids: this.#many(4, () => this.#id()),
          reason: 'a wrong file: é',
          ...(this.int(2) === 0 && { broker: this.pick(BROKERS) }),
        };
      case 'register_catalog':
        return { kind, timeUs, registration: this.#registration(timeUs) };
      case 'remove_catalog':
        return { kind, timeUs, name: this.pick(['gaia_dr3', 'des_y6_gold']) };
      case 'published':
        return {
          kind,
          timeUs,
          topic: this.pick(['a', 'b']),
          position: { sequence: this.int(9), objects: 1, messages: 2 ** 40 },
        };
      case 'begin_registry':
        return { kind, timeUs };
      case 'share_settings':
        return { kind, timeUs, settings: { RADIUS: `${this.int(3)}` }, isReplacing: this.int(2) === 0 };
      case 'report_node':
        return { kind, timeUs, node: this.pick(['b:/data', 'a:/data']), level: this.pick([LEVEL, LEVEL + 1]) };
      case 'level':
        return { kind, timeUs, level: LEVEL };
      case 'stage_registry':
      case 'change_staged_registry':
        return { kind, timeUs, load, records };
      case 'publish_registry':
        return { kind, timeUs, snapshot, base: this.pick([undefined, null, snapshot]) };
      case 'change_registry':
        return { kind, timeUs, base: snapshot, records, epochUs: timeUs };
      case 'take_lease':
        return { kind, timeUs, name: this.pick(['a', 'b']), owner: this.pick(['one', 'other']) };
      case 'remove_registry_loads':
        return { kind, timeUs, first: 0, end: load, limit: 3 };
    }
  }

  #registration(addedAtUs: number) {
    const columns = { id: 'source_id', ra: 'RA', dec: 'DEC', payload: [{ key: 'mag', column: null }] };
    const ranges = Uint8Array.from({ length: 16 }, () => this.int(256));
    return {
      name: this.pick(['gaia_dr3', 'des_y6_gold'] as const),
      location: '/catalogs/gaia',
      addedAtUs,
      partitions: [{ order: 3, ipix: this.int(768), files: ['Npix=5.parquet'] }],
      columns,
      coverage: { order: 10, ranges, source: 'rows', pixelsLeftOut: 0 },
      counted: { rows: this.int(1e9), withoutPosition: null, withoutId: 3 },
      hats: { rows: null, builder: 'hats-import', releaseDate: null },
    };
  }
}

export const KINDS = [
  'deliver',
  'crossmatch',
  'import',
  'remove',
  'register_catalog',
  'remove_catalog',
  'fill_statistics',
  'published',
  'begin_registry',
  'stage_registry',
  'change_staged_registry',
  'publish_registry',
  'change_registry',
  'remove_registry_loads',
  'take_lease',
  'report_node',
  'share_settings',
  'level',
] as const satisfies readonly ChangeKind[];

type RandomKind = (typeof KINDS)[number];

/** Chances for objects to be delivered, and then crossmatched. */
const OFTEN: readonly RandomKind[] = ['deliver', 'deliver', 'deliver', 'crossmatch', 'crossmatch', 'crossmatch'];

/** Every key and value of a store, as text, but for its format, when it was made, what its machine noted, and the claims of its processes. */
export function dump({ databases }: Store): string[] {
  return DATABASE_NAMES.filter(name => name !== 'claims').flatMap(name =>
    // Only the format and the time of making have no checksum, and so no value here.
    [...databases[name].scan()]
      .filter(({ key }) => name !== 'meta' || !/^(notes\/|last_done$)/.test(text(key)))
      .map(({ key, value }) => `${name} ${hex(key)} ${value && hex(value)}`),
  );
}

/** The dump of a data directory. */
export async function dumpOf(dataDir: string): Promise<string[]> {
  const store = openStore(dataDir, 'read');
  try {
    return dump(store);
  } finally {
    await store.close();
  }
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('latin1');
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
