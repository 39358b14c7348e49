/** Counts the outcomes of messages, and stores the messages. */
import { nowUs } from '../../core/base/times.ts';
import type { Delivery } from '../../core/store/types.ts';
import type { Writer } from '../../core/store/writer.ts';
import type { Normalised } from './normalise.ts';
import { type Origin, type Reject, type RejectLog, reasonKind, rejectOf } from './rejects.ts';

/** The outcomes of messages that are not stored yet. This is plain data, so it can be passed between threads. */
export interface Outcomes {
  /** The number of messages. */
  read: number;
  /** Solar-system objects. */
  skipped: number;
  below_cut: number;
  /** Deliveries whose event time is the time of receipt. */
  without_event_time: number;
  /** Empty lines between messages. */
  blank: number;
  readonly deliveries: Delivery[];
  readonly rejects: Reject[];
}

export function noOutcomes(): Outcomes {
  return { read: 0, skipped: 0, below_cut: 0, without_event_time: 0, blank: 0, deliveries: [], rejects: [] };
}

/** Adds the outcome of a message. `origin` and `message` (a string or bytes) are for the log of rejects. */
export function addOutcome(
  outcomes: Outcomes,
  normalised: Normalised,
  origin: Origin,
  message: string | Uint8Array,
): void {
  outcomes.read++;
  if (normalised.kind === 'delivery') {
    outcomes.deliveries.push(normalised.delivery);
    if (normalised.isReceiptTime) outcomes.without_event_time++;
  } else if (normalised.kind === 'rejected') outcomes.rejects.push(rejectOf(origin, normalised.reason, message));
  else outcomes[normalised.kind]++;
}

export function addOutcomes(outcomes: Outcomes, more: Outcomes): void {
  outcomes.read += more.read;
  outcomes.skipped += more.skipped;
  outcomes.below_cut += more.below_cut;
  outcomes.without_event_time += more.without_event_time;
  outcomes.blank += more.blank;
  for (const delivery of more.deliveries) outcomes.deliveries.push(delivery);
  for (const reject of more.rejects) outcomes.rejects.push(reject);
}

/** The numbers of messages by outcome. `read` is the sum of the counts up to `rejected`. */
export interface MessageCounts {
  read: number;
  /** New objects. */
  stored: number;
  /** Known objects that another broker delivered for the first time. */
  further_broker: number;
  duplicate: number;
  below_cut: number;
  /** Solar-system objects. */
  skipped: number;
  rejected: number;
  /** Stored messages, whether new or not, with a missing or impossible position. */
  without_position: number;
  /** Stored messages, whether new or not, without a usable time; their event time is the time of receipt. */
  without_event_time: number;
  /** Empty lines between messages. */
  blank_lines: number;
}

const noMessages = (): MessageCounts => ({
  read: 0,
  stored: 0,
  further_broker: 0,
  duplicate: 0,
  below_cut: 0,
  skipped: 0,
  rejected: 0,
  without_position: 0,
  without_event_time: 0,
  blank_lines: 0,
});

const MAX_FIRST_REJECTS = 3;

/** Makes messages durable, and then counts them. */
export class Ingester {
  readonly #writer: Writer;
  readonly #rejects: RejectLog;
  readonly #counts = noMessages();
  /** The first messages that were rejected. */
  readonly firstRejects: Reject[] = [];

  constructor(writer: Writer, rejects: RejectLog) {
    this.#writer = writer;
    this.#rejects = rejects;
  }

  /** The counts of the messages that are durable. */
  get counts(): Readonly<MessageCounts> {
    return this.#counts;
  }

  /**
   * Writes the rejects, and stores the deliveries in one commit. Both are durable when this resolves.
   * @throws StoreError; then nothing was counted, and the call may be repeated
   */
  async store({ read, skipped, below_cut, without_event_time, blank, deliveries, rejects }: Outcomes): Promise<void> {
    // The rejects are written first. If the call is repeated, a second copy of a reject is harmless, but a delivery
    // counts as new only once.
    this.#rejects.write(rejects);
    this.firstRejects.push(...rejects.slice(0, MAX_FIRST_REJECTS - this.firstRejects.length));
    const isUnstored = skipped + below_cut + rejects.length > 0;
    const unstored = isUnstored && { broker: this.#rejects.name, below_cut, skipped, rejected: countReasons(rejects) };
    const written = await this.#writer.ingest(deliveries, nowUs(), unstored || undefined);
    const counts = this.#counts;
    counts.read += read;
    counts.stored += written.stored;
    counts.further_broker += written.delivered;
    counts.duplicate += written.duplicate;
    counts.below_cut += below_cut;
    counts.skipped += skipped;
    counts.rejected += rejects.length;
    for (const { position } of deliveries) if (!position) counts.without_position++;
    counts.without_event_time += without_event_time;
    counts.blank_lines += blank;
  }
}

function countReasons(rejects: readonly Reject[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { reason } of rejects) counts.set(reasonKind(reason), (counts.get(reasonKind(reason)) ?? 0) + 1);
  return Object.fromEntries(counts);
}

/** Rows for `table`. Counts that are usually zero are shown only if they are not zero. */
export function describeCounts(
  counts: MessageCounts,
  rejectsFile: string | null,
): [label: string, value: string | number][] {
  const others: [string, number][] = [
    ['delivered by another broker', counts.further_broker],
    ['duplicates', counts.duplicate],
    ['below the reliability cut', counts.below_cut],
    ['skipped (solar system)', counts.skipped],
    ['without a usable position', counts.without_position],
    ['without a usable time', counts.without_event_time],
    ['blank lines', counts.blank_lines],
  ];
  return [
    ['read', counts.read],
    ['new objects', counts.stored],
    ...others.filter(([, count]) => count > 0),
    ['rejected', rejectsFile ? `${counts.rejected}, see ${rejectsFile}` : 0],
  ];
}
