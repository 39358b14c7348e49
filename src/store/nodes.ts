/**
 * The nodes that have reported themselves to the log recently. In the log a report is a `vote`, because earlier releases
 * read it as one.
 */
import type { Databases } from './databases.ts';
import { FIRST_LEVEL } from './level.ts';
import { MetaValue } from './meta.ts';

/** The fields that are used; votes of older releases have more. */
export interface Vote {
  /** Identifies a node that has no `node`. */
  readonly voter: string;
  /** The host and the data directory of the node; defaults to `voter`. */
  readonly node?: string;
  /** The highest level that the node reads; defaults to level 1. */
  readonly level?: number;
}

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
/** A value of older releases. */
const epoch = new MetaValue<unknown>('epoch');

/** By name. */
export function readNodes(databases: Databases): readonly SeenNode[] {
  return (stored.read(databases) ?? []).map(([node, level, timeUs]) => ({ node, level, timeUs }));
}

/** Call this in a write transaction, like `removeNodes`. */
export function reportNode(databases: Databases, { voter, node = voter, level = FIRST_LEVEL }: Vote, timeUs: number) {
  const others = readNodes(databases).filter(seen => seen.node !== node && seen.timeUs > timeUs - SEEN_US);
  const nodes = [...others, { node, level, timeUs }].sort((a, b) => (a.node < b.node ? -1 : 1));
  const packed = nodes.map(seen => [seen.node, seen.level, seen.timeUs] as const);
  stored.write(databases, packed);
  epoch.remove(databases);
}

export function removeNodes(databases: Databases): void {
  stored.remove(databases);
  epoch.remove(databases);
}
