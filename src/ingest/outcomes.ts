import type { Delivery } from '../store/types.ts';
import type { Normalised } from './normalise.ts';
import type { Origin, Reject } from './rejects.ts';
import { rejectOf } from './rejects.ts';

/** The outcomes of messages before any of them is stored. Plain data that crosses threads. */
export interface Outcomes {
  /** The number of messages. */
  read: number;
  /** Solar-system objects. */
  skipped: number;
  below_cut: number;
  /** Empty lines between the messages. */
  blank: number;
  readonly deliveries: Delivery[];
  readonly rejects: Reject[];
}

export function noOutcomes(): Outcomes {
  return { read: 0, skipped: 0, below_cut: 0, blank: 0, deliveries: [], rejects: [] };
}

/** Adds the outcome of one message; `origin` and `message`, its text or bytes, are for the log of rejects. */
export function addOutcome(
  outcomes: Outcomes,
  normalised: Normalised,
  origin: Origin,
  message: string | Uint8Array,
): void {
  outcomes.read++;
  switch (normalised.kind) {
    case 'delivery':
      outcomes.deliveries.push(normalised.delivery);
      break;
    case 'skipped':
      outcomes.skipped++;
      break;
    case 'below_cut':
      outcomes.below_cut++;
      break;
    case 'rejected':
      outcomes.rejects.push(rejectOf(origin, normalised.reason, message));
  }
}

export function addOutcomes(outcomes: Outcomes, more: Outcomes): void {
  outcomes.read += more.read;
  outcomes.skipped += more.skipped;
  outcomes.below_cut += more.below_cut;
  outcomes.blank += more.blank;
  for (const delivery of more.deliveries) outcomes.deliveries.push(delivery);
  for (const reject of more.rejects) outcomes.rejects.push(reject);
}
