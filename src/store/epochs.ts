/**
 * Epochs of a log: from one tick to the next. At a tick each archive has a digest of what the records before it have
 * written; the nodes put theirs into the log as votes, and the next tick judges. An archive whose digest is not that of
 * most nodes is not what the log makes.
 */
import type { Databases } from './databases.ts';
import { FORMAT_VERSION } from './environment.ts';
import { decodePlain, encodePlain } from './records.ts';
import { currentDigest, digesting } from './write_digest.ts';

/** The digest that a node had at the beginning of an epoch. */
export interface Vote {
  /** Names the node. */
  readonly voter: string;
  /** The stored format that the digest is of: others write other bytes. */
  readonly format: number;
  /** 16 hexadecimal digits. */
  readonly digest: string;
}

export interface Epoch {
  /** From 1. */
  readonly number: number;
  /** The digest of this archive when the epoch began; null where it is not comparable with others yet. */
  readonly digest: string | null;
  /** The nodes' votes: their digests when the epoch began. */
  readonly votes: readonly Vote[];
  /** The number of different digests among the votes of the epoch before: more than 1 where archives differ. */
  readonly digestsBefore: number;
}

/**
 * Digests begin anew every so many epochs, an hour or so, so that an archive whose format was upgraded in between is
 * comparable again.
 */
const EPOCHS_A_DIGEST = 512;

const KEY = new TextEncoder().encode('epoch');

/** Undefined before the first tick. */
export function readEpoch({ meta }: Databases): Epoch | undefined {
  const bytes = meta.get(KEY);
  if (!bytes) return undefined;
  const [number, digest, votes, digestsBefore] = decodePlain(bytes) as [
    number,
    string | null,
    [string, number, string][],
    number,
  ];
  return { number, digest, votes: votes.map(([voter, format, of]) => ({ voter, format, digest: of })), digestsBefore };
}

/** To be called in a write transaction, as are the functions below. The epoch is no part of any digest. */
function writeEpoch({ meta }: Databases, { number, digest, votes, digestsBefore }: Epoch): void {
  const packed = votes.map(vote => [vote.voter, vote.format, vote.digest]);
  digesting(undefined, () => meta.put(KEY, encodePlain([number, digest, packed, digestsBefore])));
}

export function removeEpoch({ meta }: Databases): void {
  meta.remove(KEY);
}

/**
 * Ends an epoch, judges it, and begins the next one.
 * @throws Error when this archive is not what most nodes have
 */
export function beginEpoch(databases: Databases): void {
  const ended = readEpoch(databases);
  const number = (ended?.number ?? 0) + 1;
  const digestsBefore = ended ? requireMajority(ended) : 0;
  writeEpoch(databases, { number, digest: currentDigest()?.text ?? null, votes: [], digestsBefore });
}

/** Whether digests begin anew with the epoch that has just begun. */
export function isNewDigest(databases: Databases): boolean {
  return (readEpoch(databases)?.number ?? 0) % EPOCHS_A_DIGEST === 0;
}

/** Counts a node's vote, once an epoch; one of another epoch comes too late. */
export function castVote(databases: Databases, number: number, { voter, format, digest }: Vote): void {
  const epoch = readEpoch(databases);
  if (epoch?.number !== number || epoch.votes.some(vote => vote.voter === voter)) return;
  writeEpoch(databases, { ...epoch, votes: [...epoch.votes, { voter, format, digest }] });
}

/**
 * One vote alone decides nothing, as it may be that of the archive that is wrong.
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
      `the archive of this node is another one than that of most nodes (${count} of ${comparable.length}): start it from a backup of another node (nearsky backup)`,
    );
  }
  return counts.size;
}
