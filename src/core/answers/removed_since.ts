/** Reads the objects that were removed after a journal entry, as they were stored after it. */
import { Arena, buildArena } from '@nearsky/sky-index';
import { ObjectView } from '../store/object_record.ts';
import type { ObjectsAt } from '../store/objects_at.ts';
import { readLastRemoval, removalsAfter } from '../store/removals.ts';
import type { BesideObjects } from '../store/store_reader.ts';
import type { SkyPosition, StoredObject } from '../store/types.ts';
import { type Clock, NotInHistory, type Steps } from './context.ts';

interface FormerObject extends Pick<StoredObject, 'diaObjectId' | 'ingestTimeUs' | 'eventTimeUs'> {
  readonly position: SkyPosition | null;
  readonly hasMatches: boolean;
}

/** The number of objects that are read without a yield. */
const READ_AT_ONCE = 16;
/** A thread keeps up to this many removed objects in memory, about 230 bytes each. */
const MAX_REMOVED = 2_000_000;

export class RemovedSince {
  readonly store: BesideObjects;
  /** The objects after the entry. */
  readonly stored: ObjectsAt;
  /**
   * All removed objects, numbered in the order of reading. They may have been stored anew since. Other queries may add
   * further ones at each yield.
   */
  readonly ids = new Map<bigint, number>();
  /** Those that were stored after the entry. */
  readonly objects: FormerObject[] = [];
  readonly #view = new ObjectView();
  readonly #max: number;
  /** The journal entry of the last removal that was read. */
  #last: number;
  /** Reads further removals, a few objects at a time. Queries share this reader, so no query reads a removal again. */
  #reading: Iterator<undefined> | undefined;
  #built: { readonly count: number; readonly arena: Arena | undefined } = { count: 0, arena: undefined };

  constructor(store: BesideObjects, entry: number, max = MAX_REMOVED) {
    [this.store, this.stored, this.#max, this.#last] = [store, store.at(entry), max, entry];
  }

  /**
   * Reads the removals up to now. There may be very many objects, at some microseconds each.
   * @throws NotInHistory if there are too many; DamagedValue
   */
  *read(clock: Clock): Steps {
    while (readLastRemoval(this.store.databases) > this.#last) {
      if (this.ids.size > this.#max)
        throw new NotInHistory(
          `at must be later, except for objects by id (got ${this.stored.entry}): more than ${this.#max} objects were removed since`,
        );
      this.#reading ??= this.#further();
      try {
        this.#reading.next();
      } catch (error) {
        this.#reading = undefined;
        throw error;
      }
      if (clock.due) yield;
    }
  }

  *#further(): Iterator<undefined> {
    const last = readLastRemoval(this.store.databases);
    for (const { objects } of removalsAfter(this.store.databases, this.#last))
      for (const { diaObjectId } of objects) {
        this.#add(diaObjectId);
        if (this.ids.size % READ_AT_ONCE === 0) yield;
      }
    this.#last = last;
    this.#reading = undefined;
  }

  #add(diaObjectId: bigint): void {
    if (this.ids.has(diaObjectId)) return;
    const view = this.#view;
    if (this.stored.readObject(diaObjectId, view)) {
      const { position, ingestTimeUs, eventTimeUs, hasMatches } = view;
      this.objects.push({ diaObjectId, position, ingestTimeUs, eventTimeUs, hasMatches });
    }
    this.ids.set(diaObjectId, this.ids.size);
  }

  /** The objects that have a position; undefined if there are none. */
  get arena(): Arena | undefined {
    const { objects } = this;
    if (this.#built.count < objects.length) this.#built = { count: objects.length, arena: arenaOf(objects) };
    return this.#built.arena;
  }
}

function arenaOf(objects: readonly FormerObject[]): Arena | undefined {
  const placed = objects.filter(({ position }) => position !== null);
  if (placed.length === 0) return undefined;
  const buffer = buildArena({
    id: BigInt64Array.from(placed, ({ diaObjectId }) => diaObjectId),
    ra: Float64Array.from(placed, ({ position }) => position!.ra),
    dec: Float64Array.from(placed, ({ position }) => position!.dec),
    time: Float64Array.from(placed, ({ ingestTimeUs }) => ingestTimeUs),
  });
  return new Arena(buffer);
}

/** The removals of the latest request, kept because all pages of a walk have the same entry. */
let latest: RemovedSince | undefined;

/** The objects that were removed after a journal entry, to be read before use. */
export function removedSince(store: BesideObjects, entry: number): RemovedSince {
  if (latest?.store !== store || latest.stored.entry !== entry) latest = new RemovedSince(store, entry);
  return latest;
}
