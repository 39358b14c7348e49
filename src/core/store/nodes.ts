/** The nodes that have reported themselves to the log recently. */
import type { Databases } from './databases.ts';
import { MetaValue } from './meta.ts';

export interface SeenNode {
  /** Its host and data directory. */
  readonly node: string;
  /** The highest level that it reads. */
  readonly level: number;
  /** The time of its last report. */
  readonly timeUs: number;
}

/** A node is forgotten after this time without a report. */
const SEEN_US = 300e6;

const stored = new MetaValue<(readonly [node: string, level: number, timeUs: number])[]>('nodes');

/** Returns the nodes, sorted by name. */
export function readNodes(databases: Databases): readonly SeenNode[] {
  return (stored.read(databases) ?? []).map(([node, level, timeUs]) => ({ node, level, timeUs }));
}

/** Call this in a write transaction, like `removeNodes`. */
export function reportNode(databases: Databases, { node, level, timeUs }: SeenNode): void {
  const others = readNodes(databases).filter(seen => seen.node !== node && seen.timeUs > timeUs - SEEN_US);
  const nodes = [...others, { node, level, timeUs }].sort((a, b) => (a.node < b.node ? -1 : 1));
  const packed = nodes.map(seen => [seen.node, seen.level, seen.timeUs] as const);
  stored.write(databases, packed);
}

export function removeNodes(databases: Databases): void {
  stored.remove(databases);
}
