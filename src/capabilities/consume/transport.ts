/** Types that the live transports of the brokers share. */
import type { Normalised } from '../ingest/normalise.ts';
import type { Origin } from '../ingest/rejects.ts';

export interface Message {
  readonly origin: Origin;
  readonly bytes: Uint8Array;
  /** Whether the message has no value, which is how Kafka marks a key as deleted; `bytes` is then empty. */
  readonly isTombstone?: boolean;
}

/** A message that can't be used, now or later; the error's message gives the reason. */
export class UnusableMessage extends Error {
  override name = 'UnusableMessage';
}

/** The limits of a batch in messages and in bytes; a single message may exceed the bytes. */
export interface BatchLimits {
  readonly messages: number;
  readonly bytes: number;
  /** How long the first message waits for others. */
  readonly seconds: number;
}

/** One connection to a broker. Any call may reject; the connection is then unusable and must be closed. */
export interface Connection<M extends Message> {
  /** Topics that the broker does not have; undefined for a transport without topics. */
  readonly missingTopics?: readonly string[];
  /** The next messages in order. The list is empty only if the connection's signal has fired. */
  receive(): Promise<readonly M[]>;
  /** Tells the broker not to deliver the messages of the last `receive` again. */
  acknowledge(messages: readonly M[]): Promise<void>;
  /** Never rejects. */
  close(): Promise<void>;
}

/** Connects to a broker and reads its messages. */
export interface Feed<M extends Message> {
  /**
   * Connects to the broker; resolves once it has answered. There is one connection at a time. The signal stops waiting
   * for messages and for the connection.
   */
  connect(signal: AbortSignal): Promise<Connection<M>>;
  /**
   * The outcomes of the messages, in order.
   * @throws Error if an outcome cannot be determined now
   */
  normalise(messages: readonly M[], receivedAtUs: number, signal: AbortSignal): Promise<readonly Normalised[]>;
  /** Releases the feed's resources other than connections. */
  close(): Promise<void>;
}
