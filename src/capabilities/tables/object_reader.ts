/** Reads stored objects for tables, with the values that `ObjectWriter` writes as JSON. */

import type { AnsweredObject, Match } from '../../core/answers/answered.ts';
import { DETAIL_RANK, isPublishable, setOfMatches, shownStatus } from '../../core/answers/object_writer.ts';
import type { CurrentFragments, SetFragments, SharedFragments } from '../../core/answers/shared_fragments.ts';
import type { DetailLevel } from '../../core/contract/enums.ts';
import { type Separations, worthOf } from '../../core/store/match_statistics.ts';
import type { ObjectView } from '../../core/store/object_record.ts';
import type { StoredObjects } from '../../core/store/objects_at.ts';
import type { SourceValues } from '../../core/store/records.ts';
import type { BesideObjects } from '../../core/store/store_reader.ts';

export class ObjectReader {
  /** The provenance sets of the crossmatches that were read so far. */
  readonly sets = new Set<SetFragments>();
  readonly #fragments: SharedFragments;
  readonly #store: BesideObjects;
  readonly #stored: StoredObjects;
  readonly #level: number;

  /** @param stored the objects' state */
  constructor(fragments: SharedFragments, store: BesideObjects, detail: DetailLevel, stored: StoredObjects) {
    this.#fragments = fragments;
    this.#store = store;
    this.#stored = stored;
    this.#level = DETAIL_RANK[detail];
  }

  read(object: ObjectView): AnsweredObject {
    const current = this.#fragments.current(this.#store, object.current);
    const isPending = object.state === 'pending';
    if (!isPending) this.sets.add(current.set);
    return {
      diaObjectId_str: object.diaObjectId,
      status: shownStatus(object, current),
      crossmatch: isPending ? null : crossmatchOf(object, current),
      ...(this.#level >= DETAIL_RANK.position && delivery(object, current)),
      ...(this.#level >= DETAIL_RANK.matches && {
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
    const matches = this.#level >= DETAIL_RANK.matches ? this.#matches(object, current) : undefined;
    return {
      diaObjectId_str: object.diaObjectId,
      ...(this.#level >= DETAIL_RANK.position && { ra, dec }),
      ...(matches && { crossmatch: object.state === 'pending' ? null : crossmatchOf(object, current), matches }),
      ...(matches?.length && { tns: this.#fragments.association(object.tns).value ?? { checked: false } }),
    };
  }

  #matches(object: ObjectView, current: CurrentFragments): Match[] {
    const sources = this.#level === DETAIL_RANK.full ? this.#stored.readSources(object) : undefined;
    const set = setOfMatches(current);
    const matches: Match[] = [];
    for (const { at, index } of object.currentMatches()) {
      const source = sources?.[index];
      if (sources && !isPublishable(source)) {
        this.#fragments.onLeftOut('sourcesLeftOut');
        continue;
      }
      const [separationArcsec, separationAtEpochArcsec] = object.separations(at);
      const summary = {
        catalog_name: object.catalogName(at),
        catalog_source_id: object.sourceId(at),
        separation_arcsec: separationArcsec,
      };
      const separations = { separationArcsec, separationAtEpochArcsec };
      matches.push(source ? { ...summary, ...this.#published(object, at, separations, source, set) } : summary);
      if (set) this.sets.add(set);
    }
    return matches;
  }

  /** The keys of a match that only `full` has. */
  #published(
    object: ObjectView,
    at: number,
    separations: Separations,
    { ra, dec, keys, values }: SourceValues,
    set: SetFragments | undefined,
  ): Omit<Match, 'catalog_name' | 'catalog_source_id' | 'separation_arcsec'> {
    const { separationAtEpochArcsec: atEpoch } = separations;
    const names = keys === null ? undefined : this.#store.payloadKeys(keys);
    return {
      ...(atEpoch !== undefined && { separation_at_epoch_arcsec: atEpoch }),
      catalog_release: set?.releases.get(object.catalogName(at)) ?? null,
      statistics: worthOf(separations, object.statistics(at)),
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

/** NaN means a missing value. Infinities stay, because all table formats except JSON have them. */
function shown(value: unknown): unknown {
  return Number.isNaN(value) ? null : value;
}
