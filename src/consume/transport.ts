/** Types that the live transports of the brokers share. */
import type { Normalised } from '../ingest/normalise.ts';
import type { Origin } from '../ingest/rejects.ts';

/** A message as received. */
export interface Message {
  readonly origin: Origin;
  readonly bytes: Uint8Array;
  /** Whether the message has no value at all, by which Kafka marks a key as deleted; `bytes` is then empty. */
  readonly isTombstone?: boolean;
}

/** A message that can't be used, now or later; the error's text says why. */
export class UnusableMessage extends Error {
  override name = 'UnusableMessage';
}

/** The limits of a batch in messages and in bytes; one message may exceed the bytes. */
export interface BatchLimits {
  readonly messages: number;
  readonly bytes: number;
  /** The time for which the first message waits for others. */
  readonly seconds: number;
}

/** One connection to a broker. Any call may reject: the connection is then useless and must be closed. */
export interface Connection<M extends Message> {
  /** The next messages, in their order; an empty list only when the connection's signal has fired. */
  receive(): Promise<readonly M[]>;
  /** Tells the broker that it need not deliver the messages of the last `receive` again. */
  acknowledge(messages: readonly M[]): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** The way to reach a broker and to read its messages. */
export interface Feed<M extends Message> {
  /**
   * Connects to the broker; connections are made one after another. The signal ends the waiting for messages and for a
   * connection.
   */
  connect(signal: AbortSignal): Promise<Connection<M>>;
  /**
   * The outcome of each message, in their order.
   * @throws Error where an outcome cannot be determined now
   */
  normalise(messages: readonly M[], receivedAtUs: number, signal: AbortSignal): Promise<readonly Normalised[]>;
  /** Releases everything that the feed holds beside the connections. */
  close(): Promise<void>;
}
