/**
 * Elects one node for a duty: the leader of a consumer group of Kafka, in which each candidate is a member. Kafka keeps
 * the leader until it leaves or its session expires, so the clocks of nodes are never compared. The members consume
 * nothing.
 */
import type { Consumer } from '@platformatic/kafka';
import { messageOf } from '../base/error_text.ts';
import type { Log } from '../base/log.ts';
import { repeat, withTimeout } from '../base/timeout.ts';
import { connectionTo } from '../config/kafka.ts';
import type { Election } from '../store/writer.ts';
import type { LogTopic } from './kafka_settings.ts';

/** The shortest session that Kafka accepts by default. */
const SESSION_MS = 6000;
const HEARTBEAT_MS = 1000;
/** A leader is certain to be the only one for this long after sending its last answered request. */
const HOLD_MS = SESSION_MS - HEARTBEAT_MS;
/** The pause after a failure, and after a candidate has resigned. */
const AGAIN_MS = 500;
const RESIGN_MS = 5000;
const CLOSE_MS = 1000;

export class KafkaElection implements Election {
  readonly #topic: LogTopic & { readonly log: Log };
  readonly #duty: string;
  readonly #stop = new AbortController();
  /** Resolves when the candidate has left. */
  readonly ended: Promise<void>;
  #isLeader = false;
  #heldUntilMs = Number.NEGATIVE_INFINITY;
  #resignedUntilMs = Number.NEGATIVE_INFINITY;
  /** Ends the membership. */
  #leave: (error?: unknown) => void = () => {};

  constructor(topic: LogTopic & { readonly log: Log }, duty: string) {
    [this.#topic, this.#duty] = [topic, duty];
    const pauseMs = () => Math.max(AGAIN_MS, this.#resignedUntilMs - performance.now());
    const unclear = (error: unknown) => topic.log('duty_unclear', { duty, error: messageOf(error) });
    this.ended = repeat(this.#stop.signal, pauseMs, () => this.#beMember(), unclear);
  }

  get isElected(): boolean {
    return this.#isLeader && performance.now() < this.#heldUntilMs;
  }

  resign(): void {
    this.#resignedUntilMs = performance.now() + RESIGN_MS;
    this.#leave();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#leave();
    await this.ended;
  }

  /** Resolves when this candidate has left the group; rejects when its membership fails. */
  async #beMember(): Promise<void> {
    const { promise: left, resolve, reject } = Promise.withResolvers<void>();
    this.#leave = error => (error === undefined ? resolve() : reject(error));
    const consumer = await this.#newConsumer();
    try {
      if (!this.#stop.signal.aborted) await Promise.race([consumer.joinGroup({}), left]);
      await left;
    } finally {
      this.#isLeader = false;
      const closed = consumer.close(true).catch(() => {});
      await withTimeout(closed, CLOSE_MS);
    }
  }

  async #newConsumer(): Promise<Consumer> {
    const { Consumer } = await import('@platformatic/kafka');
    const { topic } = this.#topic;
    const consumer = new Consumer({
      ...connectionTo(this.#topic),
      groupId: `${topic}-${this.#duty.replaceAll(' ', '-')}`,
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: SESSION_MS,
      heartbeatInterval: HEARTBEAT_MS,
      retries: 1,
    });
    consumer.topics.track(topic);
    // The answer to a request may be read long after Kafka sent it, so the time of the request counts.
    let sentMs = performance.now();
    const hold = () => {
      this.#heldUntilMs = sentMs + HOLD_MS;
    };
    consumer.on('consumer:group:join', ({ isLeader }: { isLeader?: boolean }) => {
      this.#isLeader = isLeader === true;
      hold();
    });
    consumer.on('consumer:heartbeat:start', () => {
      sentMs = performance.now();
    });
    consumer.on('consumer:heartbeat:end', hold);
    consumer.on('consumer:heartbeat:error', ({ error }: { error: unknown }) => {
      if (performance.now() > this.#heldUntilMs) this.#leave(error);
    });
    consumer.on('error', error => this.#leave(error));
    return consumer;
  }
}
