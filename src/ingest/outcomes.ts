import type { Delivery } from '../store/types.ts';
import type { Normalised } from './normalise.ts';
import type { Origin, Reject } from './rejects.ts';
import { rejectOf } from './rejects.ts';

/** What messages came to, before any of it is stored. Plain data: it crosses threads. */
export interface Outcomes {
  /** How many messages there were. */
  read: number;
  /** Solar-system objects. */
  skipped: number;
  below_cut: number;
  /** Lines between the messages that hold nothing. */
  blank: number;
  readonly deliveries: Delivery[];
  readonly rejects: Reject[];
}

export function noOutcomes(): Outcomes {
  return { read: 0, skipped: 0, below_cut: 0, blank: 0, deliveries: [], rejects: [] };
}

/** Adds what one message came to; `origin` and `message`, its text or bytes, are for the log of rejects. */
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
