/**
 * An epoch of a log lasts from one tick to the next. At a tick each node has a digest of everything that earlier
 * records have written to its archive. Each node appends its digest to the log as a vote, and the next tick compares
 * the votes. A node whose digest differs from the majority has a wrong archive.
 */
import type { Databases } from './databases.ts';
import { FORMAT_VERSION } from './environment.ts';
import { FIRST_LEVEL } from './level.ts';
import { decodePlain, encodePlain } from './records.ts';
import { currentDigest, digesting } from './write_digest.ts';

/** The digest that a node had at the beginning of an epoch. */
export interface Vote {
  /** The name of the node. */
  readonly voter: string;
  /** The stored format. Digests of different formats differ, because their bytes do. */
  readonly format: number;
  /** 16 hexadecimal digits. */
  readonly digest: string;
  /** The host and the data directory of the node; defaults to the voter. */
  readonly node?: string;
  /** The highest level that the node reads; defaults to the first. */
  readonly level?: number;
}

/** A node that has voted recently. */
export interface SeenNode {
  /** Its host and data directory. */
  readonly node: string;
  /** The highest level that it reads. */
  readonly level: number;
  /** The epoch of its last vote. */
  readonly epoch: number;
}

export interface Epoch {
  /** From 1. */
  readonly number: number;
  /** The digest of this archive when the epoch began; null while it is not comparable with the others. */
  readonly digest: string | null;
  /** The nodes' votes: their digests when the epoch began. */
  readonly votes: readonly Vote[];
  /** The number of different digests among the votes of the epoch before: more than 1 where archives differ. */
  readonly digestsBefore: number;
  /** The nodes that have voted in the last epochs, by name. */
  readonly nodes: readonly SeenNode[];
}

/**
 * Digests restart after this many epochs, about an hour, so that an archive whose format was upgraded in between
 * becomes comparable again.
 */
const EPOCHS_A_DIGEST = 512;
/** A node is forgotten after this many epochs without a vote, five minutes. */
const SEEN_EPOCHS = 60;

const KEY = new TextEncoder().encode('epoch');

/** Undefined before the first tick. */
export function readEpoch({ meta }: Databases): Epoch | undefined {
  const bytes = meta.get(KEY);
  if (!bytes) return undefined;
  const [number, digest, votes, digestsBefore, nodes = []] = decodePlain(bytes) as [
    number,
    string | null,
    [string, number, string][],
    number,
    [string, number, number][]?,
  ];
  return {
    number,
    digest,
    votes: votes.map(([voter, format, of]) => ({ voter, format, digest: of })),
    digestsBefore,
    nodes: nodes.map(([node, level, epoch]) => ({ node, level, epoch })),
  };
}

/** To be called in a write transaction, like the functions below. The epoch is not part of any digest. */
function writeEpoch({ meta }: Databases, { number, digest, votes, digestsBefore, nodes }: Epoch): void {
  const packed = votes.map(vote => [vote.voter, vote.format, vote.digest]);
  const seen = nodes.map(({ node, level, epoch }) => [node, level, epoch]);
  digesting(undefined, () => meta.put(KEY, encodePlain([number, digest, packed, digestsBefore, seen])));
}

export function removeEpoch({ meta }: Databases): void {
  meta.remove(KEY);
}

/**
 * Ends an epoch, compares its votes, and begins the next one.
 * @throws Error if this archive differs from the archive of most nodes
 */
export function beginEpoch(databases: Databases): void {
  const ended = readEpoch(databases);
  const number = (ended?.number ?? 0) + 1;
  const digestsBefore = ended ? requireMajority(ended) : 0;
  const nodes = (ended?.nodes ?? []).filter(({ epoch }) => epoch > number - SEEN_EPOCHS);
  writeEpoch(databases, { number, digest: currentDigest()?.text ?? null, votes: [], digestsBefore, nodes });
}

/** Whether digests restart with the epoch that has just begun. */
export function isNewDigest(databases: Databases): boolean {
  return (readEpoch(databases)?.number ?? 0) % EPOCHS_A_DIGEST === 0;
}

/**
 * Counts a node's vote, once per epoch. A vote for another epoch is too late to count, but shows that the node is
 * alive.
 */
export function castVote(databases: Databases, number: number, vote: Vote): void {
  const epoch = readEpoch(databases);
  if (!epoch) return;
  const { voter, node = voter, level = FIRST_LEVEL } = vote;
  const others = epoch.nodes.filter(seen => seen.node !== node);
  const nodes = [...others, { node, level, epoch: epoch.number }].sort((a, b) => (a.node < b.node ? -1 : 1));
  const counts = epoch.number === number && !epoch.votes.some(other => other.voter === voter);
  writeEpoch(databases, { ...epoch, votes: counts ? [...epoch.votes, vote] : epoch.votes, nodes });
}

/**
 * A single vote decides nothing, because it may come from the wrong archive.
 * @returns the number of different digests
 */
function requireMajority({ digest, votes }: Epoch): number {
  const comparable = votes.filter(({ format }) => format === FORMAT_VERSION);
  const counts = new Map<string, number>();
  for (const vote of comparable) counts.set(vote.digest, (counts.get(vote.digest) ?? 0) + 1);
  for (const [most, count] of counts) {
    const isMajority = count > 1 && 2 * count > comparable.length;
    if (!isMajority || digest === null || most === digest) continue;
    throw new Error(
      `the archive of this node differs from the archive of most nodes (${count} of ${comparable.length}): start it from a backup of another node (nearsky backup)`,
    );
  }
  return counts.size;
}
