/** Index tasks: arenas from the database, the journal, and other arenas. */
import { Arena, buildArena, mergeArenas } from '../index/mod.ts';
import type { Store } from '../src/store/store.ts';
import type { StoredObject } from '../src/store/types.ts';
import type { BuiltArena, BuiltIndex, MergeTask, TailAnswer, TailTask } from './tasks.ts';
import { currentStore } from './thread.ts';

/** Columns that grow. */
class Points {
  length = 0;
  #ra = new Float64Array(1024);
  #dec = new Float64Array(1024);
  #id = new BigInt64Array(1024);
  #time = new Float64Array(1024);

  /** An object without a valid position cannot be found by position, so it is left out. */
  add({ diaObjectId, position, ingestTimeUs }: StoredObject): void {
    if (!position) return;
    if (this.length === this.#id.length) this.#grow();
    this.#ra[this.length] = position.ra;
    this.#dec[this.length] = position.dec;
    this.#id[this.length] = diaObjectId;
    this.#time[this.length] = ingestTimeUs;
    this.length++;
  }

  /** Takes out the points with these ids. */
  drop(ids: ReadonlySet<bigint>): void {
    if (ids.size === 0) return;
    let kept = 0;
    for (let i = 0; i < this.length; i++) {
      if (ids.has(this.#id[i]!)) continue;
      this.#ra[kept] = this.#ra[i]!;
      this.#dec[kept] = this.#dec[i]!;
      this.#id[kept] = this.#id[i]!;
      this.#time[kept] = this.#time[i]!;
      kept++;
    }
    this.length = kept;
  }

  build(): BuiltArena {
    const { length } = this;
    const buffer = buildArena({
      ra: this.#ra.subarray(0, length),
      dec: this.#dec.subarray(0, length),
      id: this.#id.subarray(0, length),
      time: this.#time.subarray(0, length),
    });
    return { buffer, length };
  }

  #grow(): void {
    const size = 2 * this.#id.length;
    const grown = (column: Float64Array<ArrayBuffer>) => {
      const larger = new Float64Array(size);
      larger.set(column);
      return larger;
    };
    const id = new BigInt64Array(size);
    id.set(this.#id);
    this.#ra = grown(this.#ra);
    this.#dec = grown(this.#dec);
    this.#id = id;
    this.#time = grown(this.#time);
  }
}

/**
 * An index of the whole database. Objects that others store meanwhile may or may not be in the snapshot that is read; they are taken
 * out again, so that the index answers for exactly the sequence number that it names, and following the journal repeats none.
 */
export function runRebuild(): BuiltIndex {
  const store = currentStore();
  const sequence = store.lastSequence();
  const points = new Points();
  for (const object of store.objects()) points.add(object);
  store.resetRead();
  points.drop(storedAfter(store, sequence));
  return { sequence, arenas: points.length > 0 ? [points.build()] : [] };
}

function storedAfter(store: Store, sequence: number): Set<bigint> {
  const ids = new Set<bigint>();
  for (
    let entries = store.journalAfter(sequence);
    entries.length > 0;
    entries = store.journalAfter(entries.at(-1)!.sequence)
  ) {
    for (const { stored } of entries) for (const id of stored) ids.add(id);
  }
  return ids;
}

export function runTail({ after, limit, absorb }: TailTask): TailAnswer {
  const store = currentStore();
  const entries = store.journalAfter(after, limit);
  const sequence = entries.at(-1)?.sequence ?? after;
  const points = new Points();
  for (const { stored } of entries) {
    for (const id of stored) {
      const object = store.getObject(id);
      if (!object) throw new Error(`Cannot follow the journal as it names object ${id}, which is not stored`);
      points.add(object);
    }
  }
  if (points.length === 0) return { sequence, arena: undefined };
  const arena = points.build();
  return { sequence, arena: absorb.length > 0 ? merged([...absorb, arena.buffer]) : arena };
}

export function runMerge({ arenas }: MergeTask): BuiltArena {
  return merged(arenas);
}

function merged(buffers: readonly SharedArrayBuffer[]): BuiltArena {
  const arenas = buffers.map(buffer => new Arena(buffer));
  return { buffer: mergeArenas(arenas), length: arenas.reduce((sum, arena) => sum + arena.length, 0) };
}
