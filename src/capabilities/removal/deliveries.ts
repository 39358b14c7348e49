/** Finds the objects that a broker delivered for the first time in a window of time. */
import { readCurrent } from '../../core/store/object_record.ts';
import { oldestIds } from '../../core/store/recent.ts';
import type { Store } from '../../core/store/store.ts';
import type { DeliverySource } from '../../core/store/types.ts';

interface Window {
  readonly broker: string;
  /** The start of the window, inclusive. A delivery has the time at which it was stored. */
  readonly fromUs: number;
  /** Exclusive. */
  readonly toUs: number;
}

export interface FoundDeliveries {
  readonly ids: ReadonlySet<bigint>;
  /** The objects whose first delivery this was. Their position, times and reliability come from it. */
  readonly first: ReadonlySet<bigint>;
  /** The maximum number of further objects: this broker and others delivered them, but the times are not recorded. */
  readonly undated: number;
}

/**
 * Reads the whole journal. Its entries record the time and the broker of deliveries, except imports.
 * For those, the time is known only if a single broker delivered the object: it is the ingest time.
 */
export function deliveriesIn(store: Store, { broker, fromUs, toUs }: Window): FoundDeliveries {
  /** The objects that were stored in the window, and whether only this broker delivered them. */
  const ingested = new Map<bigint, boolean>();
  for (const id of oldestIds(store.databases, { startUs: fromUs, endUs: toUs })) {
    const { brokers = [] } = store.getObject(id) ?? {};
    if (brokers.includes(broker)) ingested.set(id, brokers.length === 1);
  }
  /** The objects whose delivery was in the window, and whether it stored them. */
  const found = new Map<bigint, boolean>();
  /** The objects of `ingested` with a recorded delivery, at any time. */
  const dated = new Set<bigint>();
  /**
   * The objects that another broker's delivery stored. Their ingest time is the time of that delivery, even if it was
   * removed since.
   */
  const storedByOthers = new Set<bigint>();
  let isComplete = true;
  for (const { stored, delivered, removed, source, isImport } of store.deliveriesAfter(0)) {
    for (const id of removed) {
      found.delete(id);
      dated.delete(id);
      storedByOthers.delete(id);
    }
    if (!source) {
      if (isImport) isComplete = false;
      continue;
    }
    const isInWindow = source.timeUs >= fromUs && source.timeUs < toUs;
    for (const [i, id] of [...stored, ...delivered].entries()) {
      if (brokerOf(source, i) !== broker) {
        if (i < stored.length && ingested.has(id)) storedByOthers.add(id);
        continue;
      }
      if (ingested.has(id)) dated.add(id);
      // A delivery that was removed may have come again.
      if (isInWindow) found.set(id, i < stored.length);
      else found.delete(id);
    }
  }
  for (const id of found.keys()) if (!store.getObject(id)?.brokers.includes(broker)) found.delete(id);
  let undated = 0;
  for (const [id, isOnly] of ingested) {
    if (dated.has(id)) continue;
    if (isOnly && !storedByOthers.has(id)) found.set(id, true);
    else undated++;
  }
  // Another broker may have been the first to deliver an object, before the window.
  if (!isComplete)
    undated += store.countWhere(({ diaObjectId, ingestTimeUs, current }) => {
      const { brokers } = readCurrent(current);
      return ingestTimeUs < fromUs && brokers.length > 1 && brokers.includes(broker) && !found.has(diaObjectId);
    });
  const first = new Set([...found].filter(([, isFirst]) => isFirst).map(([id]) => id));
  return { ids: new Set(found.keys()), first, undated };
}

const brokerOf = ({ brokers }: DeliverySource, i: number) => (typeof brokers === 'string' ? brokers : brokers[i]);
