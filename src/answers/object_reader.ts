/** Reads stored objects for tables, with the values that `ObjectWriter` writes as JSON. */
import type { DetailLevel } from '../contract/enums.ts';
import { worthOf } from '../store/match_statistics.ts';
import type { ObjectView } from '../store/object_record.ts';
import type { SourceValues } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import type { AnsweredObject, Match } from '../tables/object_table.ts';
import { isPublishable, LEVEL, listedMatches, shownStatus } from './object_writer.ts';
import type { CurrentFragments, SetFragments, SharedFragments } from './shared_fragments.ts';

export class ObjectReader {
  /** The provenance sets of the crossmatches that were read so far. */
  readonly sets = new Set<SetFragments>();
  readonly #fragments: SharedFragments;
  readonly #store: Store;
  readonly #level: number;

  constructor(fragments: SharedFragments, store: Store, detail: DetailLevel) {
    this.#fragments = fragments;
    this.#store = store;
    this.#level = LEVEL[detail];
  }

  read(object: ObjectView): AnsweredObject {
    const current = this.#fragments.current(this.#store, object.current);
    const isPending = object.state === 'pending';
    if (!isPending) this.sets.add(current.set);
    return {
      diaObjectId_str: object.diaObjectId,
      status: shownStatus(object, current),
      crossmatch: isPending ? null : crossmatchOf(object, current),
      ...(this.#level >= LEVEL.position && delivery(object, current)),
      ...(this.#level >= LEVEL.matches && {
        matches: isPending ? [] : this.#matches(object, current),
        tns: this.#fragments.association(object.tns).value,
      }),
    };
  }

  /**
   * Reads an object of the recent crossmatches, with its matches whatever its status. In these answers the registry
   * association is part of each match, so an object without listed matches has none.
   */
  readRecent(object: ObjectView): AnsweredObject {
    const [ra, dec] = object.storedPosition();
    const current = this.#fragments.current(this.#store, object.current);
    const matches = this.#level >= LEVEL.matches ? this.#matches(object, current) : undefined;
    return {
      diaObjectId_str: object.diaObjectId,
      ...(this.#level >= LEVEL.position && { ra, dec }),
      ...(matches && { matches }),
      ...(matches?.length && { tns: this.#fragments.association(object.tns).value ?? { checked: false } }),
    };
  }

  #matches(object: ObjectView, current: CurrentFragments): Match[] {
    const sources = this.#level === LEVEL.full ? this.#store.readSources(object) : undefined;
    const matches: Match[] = [];
    for (const { at, index, set } of listedMatches(object, current, this.#fragments, this.#store)) {
      const [separation, atEpoch] = object.separations(at);
      const catalogName = object.catalogName(at);
      const match = {
        catalog_name: catalogName,
        catalog_source_id: object.sourceId(at),
        separation_arcsec: separation,
        ...(atEpoch !== undefined && { separation_at_epoch_arcsec: atEpoch }),
        ...worthOf({ separationArcsec: separation, separationAtEpochArcsec: atEpoch }, object.statistics(at)),
        catalog_release: set?.releases.get(catalogName) ?? null,
      };
      const source = sources?.[index];
      if (sources && !isPublishable(source)) {
        this.#fragments.onLeftOut('sourcesLeftOut');
        continue;
      }
      matches.push(source ? { ...match, ...this.#published(source) } : match);
      if (set) this.sets.add(set);
    }
    return matches;
  }

  #published({ ra, dec, keys, values }: SourceValues): Pick<Match, 'ra' | 'dec' | 'catalog_payload'> {
    const names = keys === null ? undefined : this.#store.payloadKeys(keys);
    return {
      ra,
      dec,
      catalog_payload: names ? Object.fromEntries(names.map((name, i) => [name, shown(values[i])])) : null,
    };
  }
}

function crossmatchOf(object: ObjectView, { values: { crossmatch }, version }: CurrentFragments) {
  return version === undefined ? crossmatch : { ...crossmatch, crossmatched_at: object.crossmatchedAtUs };
}

function delivery(object: ObjectView, { values: { brokers } }: CurrentFragments) {
  const [ra, dec, reliability] = object.place();
  return { ra, dec, reliability, ingest_time: object.ingestTimeUs, event_time: object.eventTimeUs, brokers };
}

/** Converts numbers that are not finite, which JSON does not have. */
function shown(value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? null : value;
}
