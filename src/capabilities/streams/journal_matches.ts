/** Reads the matches that the journal records, in its order, piece by piece. */
import type { StoreReader } from '../../core/store/store_reader.ts';
import type { MatchMessage, MessageReader } from './message.ts';

export interface JournalPosition {
  /** Every entry up to this one is done. */
  readonly sequence: number;
  /** In the next entry, the number of crossmatched objects that are already done. */
  readonly objects: number;
}

/** About as many bytes as the key and the headers of a message take in Kafka. */
const ENVELOPE_BYTES = 128;

/** The maximum size of one piece. Each limit is at least 1. */
interface PieceLimits {
  readonly entries: number;
  /** Objects. Most of them may have no match. */
  readonly objects: number;
  /** Bytes of messages, with `ENVELOPE_BYTES` for each. The messages of the last object may exceed them. */
  readonly bytes: number;
}

export interface JournalSource {
  readonly store: Pick<StoreReader, 'crossmatchesAfter' | 'removedSince'>;
  /** Reads the entries; by default the crossmatches of the store. */
  readonly entries?: StoreReader['crossmatchesAfter'];
  readonly matches: MessageReader;
  /** Whether to include matches from imports. */
  readonly imported: boolean;
}

/** The matches of one object's crossmatch, at least one. */
export interface ObjectMatches {
  readonly messages: readonly MatchMessage[];
  /** The positions before and after them. */
  readonly begin: JournalPosition;
  readonly end: JournalPosition;
}

interface JournalPiece {
  readonly found: readonly ObjectMatches[];
  readonly end: JournalPosition;
  /** Whether a limit ended the piece, so that there may be more. */
  readonly isFull: boolean;
}

export function readMatches(
  { store, matches, imported, entries: read = (...after) => store.crossmatchesAfter(...after) }: JournalSource,
  from: JournalPosition,
  limits: PieceLimits,
): JournalPiece {
  const found: ObjectMatches[] = [];
  let [bytes, looked, entries] = [0, 0, 0];
  let end = from;
  for (const { sequence, ids, versions, isImport, removed } of read(from.sequence, limits.entries)) {
    // An object that was removed and stored anew since no longer has the data that this entry recorded.
    const isRemoved = store.removedSince(sequence);
    const count = isImport && !imported ? 0 : ids.length;
    // Some objects of the first entry after the position may already be done.
    for (let i = sequence === from.sequence + 1 ? from.objects : 0; i < count; i++) {
      const begin = { sequence: sequence - 1, objects: i };
      if (bytes >= limits.bytes || looked++ >= limits.objects) return { found, end: begin, isFull: true };
      if (isRemoved?.(ids[i]!)) continue;
      const messages = matches.messages(ids[i]!, versions?.[i], removed[i + removed.length - ids.length]);
      if (messages.length === 0) continue;
      for (const { value } of messages) bytes += value.length + ENVELOPE_BYTES;
      const end = i + 1 < count ? { ...begin, objects: i + 1 } : { sequence, objects: 0 };
      found.push({ messages, begin, end });
    }
    end = { sequence, objects: 0 };
    entries++;
  }
  return { found, end, isFull: entries === limits.entries };
}
