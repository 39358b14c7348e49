/** A log in memory, and one node's connection to it, which loses, delays and repeats messages. */

import { MOST_AHEAD_MS } from '../../../src/core/cluster/kafka_settings.ts';
import { Node } from '../../../src/core/cluster/node.ts';
import type { LogEntry, LogRead, RecordLog } from '../../../src/core/cluster/record_log.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { ClockAhead } from '../../../src/core/store/store_error.ts';
import { type Election, Writer } from '../../../src/core/store/writer.ts';

/** How far ahead of the log's time a record may be. */
export const AHEAD_US = 1000 * MOST_AHEAD_MS;

export class MemoryLog {
  entries: LogEntry[] = [];
  /** The position of the oldest record that is kept. */
  first = 0;
  identity = 'a cluster/a topic';

  /** The time of its servers, which refuse records that are too far ahead, like Kafka. */
  nowUs = Number.POSITIVE_INFINITY;
  /** The arrival time of each record. */
  readonly cameUs: number[] = [];
  /** The candidates for each duty; the first one is elected. */
  readonly candidates = new Map<string, object[]>();

  get end(): number {
    return this.entries.length;
  }

  append(id: string, record: Uint8Array): void {
    this.entries.push({ position: this.end, id, record });
    this.cameUs.push(this.nowUs);
  }

  elect(duty: string): Election {
    const candidates = this.candidates.get(duty) ?? [];
    this.candidates.set(duty, candidates);
    const leave = (election: Election) => {
      if (candidates.includes(election)) candidates.splice(candidates.indexOf(election), 1);
    };
    const election: Election = {
      get isElected() {
        return candidates[0] === election;
      },
      resign() {
        leave(election);
        candidates.push(election);
      },
      close: async () => leave(election),
    };
    candidates.push(election);
    return election;
  }

  read(from: number, most: number): LogRead {
    const isKept = from >= this.first && from <= this.end;
    return { entries: isKept ? this.entries.slice(from, from + most) : [], first: this.first, end: this.end };
  }
}

/** The level in which a record is written. */
export const levelOf = ({ record }: Pick<LogEntry, 'record'>) => record[4]!;

/** An append in transit. */
export interface Flight {
  readonly id: string;
  readonly record: Uint8Array;
  readonly timeUs: number;
  readonly answer: PromiseWithResolvers<void>;
}

export class Link implements RecordLog {
  readonly flights: Flight[] = [];
  readonly elections: Election[] = [];
  /** Whether the connection is cut. */
  isCut = false;
  /** The maximum number of records per read. */
  most = Number.POSITIVE_INFINITY;
  readonly #log: MemoryLog;

  constructor(log: MemoryLog) {
    this.#log = log;
  }

  async identity(): Promise<string> {
    this.#requireLink();
    return this.#log.identity;
  }

  /** The record waits in `flights` until `land`. */
  append(id: string, record: Uint8Array, timeUs: number): Promise<void> {
    const answer = Promise.withResolvers<void>();
    this.flights.push({ id, record, timeUs, answer });
    return answer.promise;
  }

  async read(from: number): Promise<LogRead> {
    this.#requireLink();
    return this.#log.read(from, this.most);
  }

  elect(duty: string): Election {
    const election = this.#log.elect(duty);
    this.elections.push(election);
    return election;
  }

  /**
   * Ends an append: the record arrives this many times, and the node is told that it arrived, that it did not, or
   * nothing.
   */
  land(flight: Flight, times: number, answer: 'appended' | 'failed' | 'silence'): void {
    this.flights.splice(this.flights.indexOf(flight), 1);
    if (flight.timeUs > this.#log.nowUs + AHEAD_US) {
      flight.answer.reject(new ClockAhead('the clock is ahead'));
      return;
    }
    for (let i = 0; i < times; i++) this.#log.append(flight.id, flight.record);
    if (answer === 'appended') flight.answer.resolve();
    if (answer === 'failed') flight.answer.reject(new Error('the broker did not answer'));
  }

  #requireLink(): void {
    if (this.isCut) throw new Error('the broker is away');
  }
}

/** A node that follows the log all the time over an immediate network, until it is ended. */
export function follow(store: Store, log: MemoryLog) {
  const link = new Link(log);
  const node = new Node(store, link);
  let isEnded = false;
  /** Whether it is paused. */
  let isStalled = false;
  const ended = (async () => {
    while (!isEnded) {
      for (const flight of isStalled ? [] : [...link.flights]) link.land(flight, 1, 'appended');
      if (!isStalled) await node.step();
      await new Promise(resolve => setTimeout(resolve, 1));
    }
  })();
  const end = () => {
    isEnded = true;
    return ended;
  };
  const stall = (isStalledNow: boolean) => {
    isStalled = isStalledNow;
    if (isStalled) for (const election of link.elections) election.resign();
  };
  return { writer: new Writer(store, node), stall, end };
}
