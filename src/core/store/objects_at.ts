/** The stored objects as they were after a journal entry, from the history (src/core/store/history.ts). */
import { countObjectsAt } from './counts.ts';
import type { Databases } from './databases.ts';
import { formerRecord, formerSources, latestIngestAt } from './history.ts';
import type { ObjectView } from './object_record.ts';
import { isStored } from './object_tables.ts';
import { decodeSources, decodeSourceValues, type SourceValues } from './records.ts';
import type { MatchSource } from './types.ts';

/** The objects of one state of the archive: the present one (`Store`), or the state after a journal entry (`Store.at`). */
export interface StoredObjects {
  /** The journal entry; undefined if the present objects are read, which may change. */
  readonly entry: number | undefined;
  /** Whether the present objects are those of this state. */
  readonly isPresent: boolean;
  /** Reads an object into a view, for the queries; returns whether it is stored. */
  readObject(diaObjectId: bigint, into: ObjectView): boolean;
  /**
   * The sources of an object's matches, parallel to the object's `matches`; further ones may follow after an earlier
   * entry. Empty if there are none.
   */
  getSources(diaObjectId: bigint): readonly MatchSource[];
  /** The stored form of `getSources` for an object that was read into a view: see `payloadKeys`. */
  readSources(object: Pick<ObjectView, 'diaObjectId'>): readonly SourceValues[];
  /** The number of objects, counted without reading them. */
  countObjects(): number;
}

interface PresentObjects extends StoredObjects {
  readonly databases: Databases;
  /** Changes whenever later commits become visible. */
  readonly reads: number;
  hasEntry(sequence: number): boolean;
  payloadKeys(ordinal: number): readonly string[];
}

export class ObjectsAt implements StoredObjects {
  readonly entry: number;
  readonly #present: PresentObjects;
  /** Whether there was no later entry at the last check. The check saves a look into the history for each object. */
  #isPresent = true;
  #checkedAt: number | undefined;

  /** @param entry a journal entry of the history */
  constructor(present: PresentObjects, entry: number) {
    this.#present = present;
    this.entry = entry;
  }

  get isPresent(): boolean {
    const { reads } = this.#present;
    if (this.#isPresent && this.#checkedAt !== reads) {
      this.#isPresent = !this.#present.hasEntry(this.entry + 1);
      this.#checkedAt = reads;
    }
    return this.#isPresent;
  }

  #former(of: typeof formerRecord, diaObjectId: bigint): Uint8Array | undefined {
    return this.isPresent ? undefined : of(this.#present.databases, diaObjectId, this.entry);
  }

  readObject(diaObjectId: bigint, into: ObjectView): boolean {
    const former = this.#former(formerRecord, diaObjectId);
    if (!former) return this.#present.readObject(diaObjectId, into);
    if (former.length === 0) return false;
    into.load(diaObjectId, former);
    return true;
  }

  /** Whether an object was stored. Reads only the history, if that is enough. */
  isStored(diaObjectId: bigint): boolean {
    const former = this.#former(formerRecord, diaObjectId);
    return former ? former.length > 0 : isStored(this.#present.databases, diaObjectId);
  }

  getSources(diaObjectId: bigint): readonly MatchSource[] {
    const former = this.#former(formerSources, diaObjectId);
    if (!former) return this.#present.getSources(diaObjectId);
    return decodeSources(former, ordinal => this.#present.payloadKeys(ordinal));
  }

  readSources(object: Pick<ObjectView, 'diaObjectId'>): readonly SourceValues[] {
    const former = this.#former(formerSources, object.diaObjectId);
    return former ? decodeSourceValues(former) : this.#present.readSources(object);
  }

  countObjects(): number {
    return countObjectsAt(this.#present.databases, this.entry);
  }

  /** The latest ingest time of any object; 0 if there was none. */
  latestIngestUs(): number {
    return latestIngestAt(this.#present.databases, this.entry);
  }
}
