/**
 * Asks the services of the other nodes how much of the log they have applied. This works even while Kafka is away, or
 * the log is lost.
 */
import { messageOf } from '../base/error_text.ts';

/**
 * How much of the shared log a node has applied. A node that has applied more has everything that a node with less has.
 */
export interface Holding {
  /** The number of its journal entries, which stays comparable when an archive leaves its log. */
  readonly sequence: number;
  /** The number of records of the log that it has applied. */
  readonly applied: number;
}

export interface OtherNode {
  readonly address: string;
  /** Undefined if the service gave no answer. */
  readonly found: Holding | undefined;
  /** Why the service gave no answer. */
  readonly error?: string;
}

const ANSWER_MS = 3000;

/** Asks the services at these addresses; never rejects. */
export function otherNodes(addresses: readonly string[]): Promise<OtherNode[]> {
  return Promise.all(
    addresses.map(address =>
      holdingOf(address).then(
        found => ({ address, found }),
        error => ({ address, found: undefined, error: messageOf((error as Error).cause ?? error) }),
      ),
    ),
  );
}

/** The nodes that have applied most. */
export function holdMost<T extends { readonly found: Holding | undefined }>(nodes: readonly T[]): T[] {
  const compare = (a: Holding, b: Holding) => a.sequence - b.sequence || a.applied - b.applied;
  const known = nodes.flatMap(({ found }) => found ?? []);
  return nodes.filter(({ found }) => found && known.every(other => compare(found, other) >= 0));
}

async function holdingOf(address: string): Promise<Holding> {
  const answer = await fetch(`${address}/metrics`, { signal: AbortSignal.timeout(ANSWER_MS) });
  const text = await answer.text();
  const gauge = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const [sequence, applied] = [gauge('nearsky_journal_sequence'), gauge('nearsky_log_position')];
  if (!answer.ok || Number.isNaN(sequence) || Number.isNaN(applied))
    throw new Error(
      `${address}/metrics answers ${answer.status}, without the figures of a node whose database is readable`,
    );
  return { sequence, applied };
}
