/**
 * Indexes the matches by source, to find the objects that matched a source. In most catalogs, nearby sources have
 * nearby ids, so that a commit changes few pages.
 */
import { createHash } from 'node:crypto';
import { integerId } from '../contract/source_ids.ts';
import { seedOf } from './checksum.ts';
import type { Databases } from './databases.ts';
import { ObjectView } from './object_record.ts';
import { decodeKey } from './records.ts';
import type { MatchSummary } from './types.ts';

const NOTHING = new Uint8Array(0);
/**
 * The bytes before the object's id: a hash of the catalog's name, then the source's id, or its hash if it is not an
 * integer.
 */
const SOURCE_BYTES = 12;
const MAX_OBJECT_ID = 2n ** 63n - 1n;
const view = new ObjectView();

export type SourceName = Pick<MatchSummary, 'catalogName' | 'catalogSourceId'>;

const seeds = new Map<string, number>();
const scratch = Buffer.alloc(SOURCE_BYTES + 8);

/** Writes a key of `matches_by_source`. */
function writeSourceKey(key: Buffer, { catalogName, catalogSourceId }: SourceName, diaObjectId: bigint): Buffer {
  let seed = seeds.get(catalogName);
  if (seed === undefined) seeds.set(catalogName, (seed = seedOf(catalogName)));
  key.writeInt32BE(seed);
  const id = integerId(catalogSourceId);
  if (id !== undefined) key.writeBigInt64BE(id, 4);
  else
    createHash('sha256')
      .update(catalogSourceId)
      .digest()
      .copy(key, 4, 0, SOURCE_BYTES - 4);
  key.writeBigInt64BE(diaObjectId, SOURCE_BYTES);
  return key;
}

/** A key of `matches_by_source`. */
export function encodeSourceKey(source: SourceName, diaObjectId: bigint): Uint8Array {
  return writeSourceKey(Buffer.alloc(SOURCE_BYTES + 8), source, diaObjectId);
}

/**
 * Lists an object under a source; listing it again has no effect. Call this in the transaction that stores the match.
 */
export function listMatch({ matches_by_source }: Databases, source: SourceName, diaObjectId: bigint): void {
  // LMDB copies the key at once.
  matches_by_source.put(writeSourceKey(scratch, source, diaObjectId), NOTHING);
}

/** Removes an object from the list of each source of its matches. */
export function unlistMatches(
  { matches_by_source }: Databases,
  diaObjectId: bigint,
  matches: readonly SourceName[],
): void {
  for (const match of matches) matches_by_source.remove(writeSourceKey(scratch, match, diaObjectId));
}

/** Lists an object under each source of its matches. */
export function listMatches(databases: Databases, diaObjectId: bigint, object: Uint8Array): void {
  view.load(diaObjectId, object);
  for (const at of view.matches()) {
    listMatch(databases, { catalogName: view.catalogName(at), catalogSourceId: view.sourceId(at) }, diaObjectId);
  }
}

/**
 * At most `limit` ids, ascending, of the objects that may have a match of any version with a source. Hashes may
 * collide, so the caller must check each object.
 */
export function idsBySource({ matches_by_source }: Databases, source: SourceName, limit: number): bigint[] {
  const [start, end] = [encodeSourceKey(source, 0n), encodeSourceKey(source, MAX_OBJECT_ID)];
  const keys = matches_by_source.getKeys({ start, end, inclusiveEnd: true, limit });
  return Array.from(keys, key => decodeKey(key.subarray(SOURCE_BYTES)));
}
