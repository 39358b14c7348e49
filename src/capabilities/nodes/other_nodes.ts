/**
 * Asks the services of the other nodes how much of the log they have applied. This works even while Kafka is away, or
 * the log is lost.
 */
import { messageOf } from '../../core/base/error_text.ts';

/**
 * How much of the shared log a node has applied. A node that has applied more has everything that a node with less has.
 */
export interface Holding {
  /** The number of its journal entries, which stays comparable when an archive leaves its log. */
  readonly sequence: number;
  /** The number of records of the log that it has applied. */
  readonly applied: number;
  /** The name of that log; null if none, or if the node's release does not give it. */
  readonly log: string | null;
  /** Whether its stored data was found damaged. */
  readonly isDamaged: boolean;
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

/** The nodes that hold most, without those whose data is damaged. */
export function holdMost<T extends { readonly found: Holding | undefined }>(nodes: readonly T[]): T[] {
  const isWhole = ({ found }: T) => found && !found.isDamaged;
  const whole = nodes.filter(isWhole);
  return whole.filter(({ found }) => whole.every(other => compare(found!, other.found!) >= 0));
}

/** Positions in different logs say nothing about each other. */
function compare(a: Holding, b: Holding): number {
  return a.sequence - b.sequence || (a.log === b.log ? a.applied - b.applied : 0);
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
  const log = /^nearsky_log_info\{log="([^"]*)"\} 1$/m.exec(text)?.[1] ?? null;
  return { sequence, applied, log, isDamaged: gauge('nearsky_node_damaged') === 1 };
}
