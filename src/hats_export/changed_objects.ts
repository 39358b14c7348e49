/** The objects that entries of the journal name. */
import type { Store } from '../store/store.ts';
import { damagedValue } from '../store/table.ts';

export interface ChangedObjects {
  readonly changed: ReadonlySet<bigint>;
  /** The objects that were stored for the first time. */
  readonly added: ReadonlySet<bigint>;
}

/**
 * The objects that were stored, delivered again or crossmatched after the entry `since` of the journal, up to `last`.
 * @returns undefined if they are more than `most`
 */
export function changedAfter(store: Store, since: number, last: number, most: number): ChangedObjects | undefined {
  const [changed, added] = [new Set<bigint>(), new Set<bigint>()];
  for (let sequence = since; sequence < last; ) {
    const entries = store.journalAfter(sequence, Math.min(100, last - sequence));
    for (const { sequence: found, stored, delivered, crossmatched } of entries) {
      if (found !== ++sequence) throw damagedValue(`entry ${sequence} of the journal`);
      for (const id of [...stored, ...delivered, ...crossmatched]) changed.add(id);
      for (const id of stored) added.add(id);
    }
    if (changed.size > most) return undefined;
    if (entries.length === 0) throw damagedValue(`entry ${sequence + 1} of the journal`);
  }
  return { changed, added };
}
