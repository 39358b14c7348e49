/** The objects that entries of the journal name. */
import type { Store } from '../../core/store/store.ts';
import { DamagedValue } from '../../core/store/store_error.ts';

export interface ChangedObjects {
  /** The objects that were removed at least once. They may have been stored anew. */
  readonly removed: ReadonlySet<bigint>;
  readonly changed: ReadonlySet<bigint>;
  /** The objects that were stored for the first time. */
  readonly added: ReadonlySet<bigint>;
}

/**
 * The objects that were stored, delivered again, crossmatched or removed after the entry `since` of the journal, up to `last`.
 * @returns undefined if they are more than `most`
 */
export function changedAfter(store: Store, since: number, last: number, most: number): ChangedObjects | undefined {
  const [changed, added, gone] = [new Set<bigint>(), new Set<bigint>(), new Set<bigint>()];
  for (let sequence = since; sequence < last; ) {
    const entries = store.journalAfter(sequence, Math.min(100, last - sequence));
    for (const { sequence: found, stored, delivered, crossmatched, removed } of entries) {
      if (found !== ++sequence) throw new DamagedValue(`entry ${sequence} of the journal`);
      for (const id of [...stored, ...delivered, ...crossmatched, ...removed]) changed.add(id);
      for (const id of stored) added.add(id);
      for (const id of removed) gone.add(id);
    }
    if (changed.size > most) return undefined;
    if (entries.length === 0) throw new DamagedValue(`entry ${sequence + 1} of the journal`);
  }
  return { changed, added, removed: gone };
}
