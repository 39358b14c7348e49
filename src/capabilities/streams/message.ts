/**
 * Makes the messages of a stream of matches, one per match. Each has an id, by which readers recognise repeated
 * messages.
 */
import { hash } from 'node:crypto';
import type { RemovedObject, SkyPosition } from '../../core/store/types.ts';

/** A match as it is published. */
export interface MatchMessage {
  readonly diaObjectId: bigint;
  readonly matchVersion: number;
  readonly catalogName: string;
  /** Tells an object from one with the same id that was removed before. */
  readonly ingestTimeUs: number;
  /** The position of the object; null if it has none. */
  readonly position: SkyPosition | null;
  /** JSON without spaces. */
  readonly value: Uint8Array;
  /** The topics to which it is published; by default the topic of all matches. */
  readonly topics?: readonly string[];
}

export interface MessageReader {
  /**
   * The messages of an object's crossmatch, in order of catalog name and source id.
   * @param matchVersion undefined for all crossmatches of the object, the oldest first
   * @param removed the object, if the change removed it
   */
  messages(diaObjectId: bigint, matchVersion: number | undefined, removed?: RemovedObject): readonly MatchMessage[];
}

/** The namespace of the ids: an arbitrary UUID, fixed for ever. */
const NAMESPACE = '6f1c0de2-3b7a-5e49-9d53-2f0a8c41b6d7';

const namespace = Buffer.from(NAMESPACE.replaceAll('-', ''), 'hex');

/**
 * The id of a message, 16 bytes: the UUID of version 5 (RFC 9562) of `DIAOBJECTID/MATCH_VERSION/CATALOG_NAME/INGEST_TIME`,
 * where the time is in microseconds since 1970. A match has the same id each time it is sent.
 */
export function messageId({
  diaObjectId,
  matchVersion,
  catalogName,
  ingestTimeUs,
}: Omit<MatchMessage, 'value' | 'position'>): Buffer {
  return idOfName(`${diaObjectId}/${matchVersion}/${catalogName}/${ingestTimeUs}`);
}

/** The UUID of version 5 of a name. */
export function idOfName(name: string): Buffer {
  // In Node, making a digest as a string and then bytes from it takes half the time of making a digest as a buffer.
  const digest = hash('sha1', Buffer.concat([namespace, Buffer.from(name)]), 'binary');
  const id = Buffer.from(digest.slice(0, 16), 'binary');
  id[6] = (id[6]! & 0x0f) | 0x50;
  id[8] = (id[8]! & 0x3f) | 0x80;
  return id;
}
