/** What the live transports of the brokers have in common. */
import type { Normalised } from '../ingest/normalise.ts';
import type { Origin } from '../ingest/rejects.ts';

/** A message as it came. */
export interface Message {
  readonly origin: Origin;
  readonly bytes: Uint8Array;
  /** It has no value at all, by which Kafka marks a key as deleted; then there are no bytes. */
  readonly isTombstone?: boolean;
}

/** A message that can't be used, now or later; the text says why. */
export class UnusableMessage extends Error {
  override name = 'UnusableMessage';
}

/** How many messages, or bytes of them, a batch may have; one message may exceed the bytes. */
export interface BatchLimits {
  readonly messages: number;
  readonly bytes: number;
  /** How long its first message waits for others. */
  readonly seconds: number;
}

/** One connection to a broker. Any call may reject: then the connection is of no use any more, and is to be closed. */
export interface Connection<M extends Message> {
  /** The next messages, in their order; none only when the signal that it was made with has fired. */
  receive(): Promise<readonly M[]>;
  /** Tells the broker that it need not deliver these again: all that the last `receive` gave. */
  acknowledge(messages: readonly M[]): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** How to reach a broker, and what to make of its messages. */
export interface Feed<M extends Message> {
  /** Connections are made one after another. The signal ends the waiting for messages and for a connection. */
  connect(signal: AbortSignal): Promise<Connection<M>>;
  /**
   * What each message comes to, in their order.
   * @throws Error where that cannot be found out now
   */
  normalise(messages: readonly M[], receivedAtUs: number, signal: AbortSignal): Promise<readonly Normalised[]>;
  /** Lets go of what it holds beside the connections. */
  close(): Promise<void>;
}
