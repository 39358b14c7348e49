/** Passes pieces of a block of lines between threads as bytes, at a fraction of the cost of objects. */
import type { PreparedObject } from '../../core/store/import.ts';
import type { ObjectState } from '../../core/store/types.ts';

/** The lines of a block from the start of this piece to the start of the next, or to the end of the block. */
export interface Piece {
  /** The offset of the piece in the bytes of the block. */
  readonly start: number;
  /** The line number of the piece's first line. */
  readonly firstLine: number;
  /** The object that the lines describe. Undefined if the lines are not prepared. */
  readonly prepared?: Prepared | undefined;
}

export type Prepared = Omit<PreparedObject, 'kind' | 'items'> & {
  /** The number of lines of each type, without the line of the object itself. */
  readonly counts: Readonly<Record<'crossmatch_record' | 'match' | 'tns_association', number>>;
};

export interface PackedPieces {
  /** The numbers of a piece: FIELDS numbers of eight bytes. The id is an int64, the others are float64. */
  readonly rows: ArrayBuffer;
  /** For each prepared object, the bytes of the object, then those of its sources. */
  readonly values: ArrayBuffer;
}

const FIELDS = 14;
const STATES: readonly ObjectState[] = ['pending', 'crossmatched'];

export function packPieces(pieces: readonly Piece[]): PackedPieces {
  const rows = new Float64Array(FIELDS * pieces.length);
  const ids = new BigInt64Array(rows.buffer);
  const size = pieces.reduce((sum, { prepared: p }) => sum + (p ? p.object.length + (p.sources?.length ?? 0) : 0), 0);
  const values = new Uint8Array(size);
  let end = 0;
  const add = (bytes: Uint8Array | undefined) => {
    if (bytes) values.set(bytes, end);
    end += bytes?.length ?? 0;
    return end;
  };
  for (const [i, { start, firstLine, prepared }] of pieces.entries()) {
    const at = FIELDS * i;
    rows[at + 1] = start;
    rows[at + 2] = firstLine;
    if (!prepared) {
      rows[at + 3] = rows[at + 4] = end;
      continue;
    }
    const { diaObjectId, position, ingestTimeUs, eventTimeUs, state, object, sources, isUnread, counts } = prepared;
    ids[at] = diaObjectId;
    rows[at + 3] = add(object);
    rows[at + 4] = add(sources);
    rows[at + 5] = position?.ra ?? Number.NaN;
    rows[at + 6] = position?.dec ?? Number.NaN;
    rows[at + 7] = ingestTimeUs;
    rows[at + 8] = eventTimeUs;
    rows[at + 9] = STATES.indexOf(state);
    rows[at + 10] = counts.crossmatch_record;
    rows[at + 11] = counts.match;
    rows[at + 12] = counts.tns_association;
    rows[at + 13] = Number(isUnread);
  }
  return { rows: rows.buffer, values: values.buffer };
}

export function unpackPieces(packed: PackedPieces): Piece[] {
  const rows = new Float64Array(packed.rows);
  const ids = new BigInt64Array(packed.rows);
  const pieces: Piece[] = [];
  let end = 0;
  for (let at = 0; at < rows.length; at += FIELDS) {
    const [start, firstLine, objectEnd, sourcesEnd] = [rows[at + 1]!, rows[at + 2]!, rows[at + 3]!, rows[at + 4]!];
    if (objectEnd === end) {
      pieces.push({ start, firstLine });
      continue;
    }
    const [ra, dec] = [rows[at + 5]!, rows[at + 6]!];
    const prepared = {
      diaObjectId: ids[at]!,
      position: Number.isNaN(ra) ? null : { ra, dec },
      ingestTimeUs: rows[at + 7]!,
      eventTimeUs: rows[at + 8]!,
      state: STATES[rows[at + 9]!]!,
      object: new Uint8Array(packed.values, end, objectEnd - end),
      sources: sourcesEnd > objectEnd ? new Uint8Array(packed.values, objectEnd, sourcesEnd - objectEnd) : undefined,
      isUnread: rows[at + 13] === 1,
      counts: { crossmatch_record: rows[at + 10]!, match: rows[at + 11]!, tns_association: rows[at + 12]! },
    };
    pieces.push({ start, firstLine, prepared });
    end = sourcesEnd;
  }
  return pieces;
}
