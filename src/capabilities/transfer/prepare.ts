/**
 * Turns lines of an export into objects that only need a commit. A thread that cannot write can do no more than that.
 */

import { encodeNew, type ImportItem, type Ordinals } from '../../core/store/import.ts';
import { type LineBlock, MAX_LINE_BYTES, type PlacedLine, splitLines } from '../ingest/lines.ts';
import { LineError } from './fields.ts';
import { parseLine } from './parse.ts';
import type { Piece } from './pieces.ts';
import { NotStored } from './stored_ordinals.ts';

/** Consecutive lines: either all lines of one object, or lines that cannot be prepared. */
interface Run {
  readonly start: number;
  readonly firstLine: number;
  readonly items: ImportItem[];
}

/**
 * Divides a block into pieces, in the order of the block. An export writes the lines of an object together. The lines
 * of an object become a prepared piece if they are contiguous in the middle of the block, valid and consistent, and
 * refer only to stored provenance and payload keys. The writing thread reads all other lines, including those of the
 * first and the last object, which may continue in the adjacent blocks.
 */
export function prepareLines(block: LineBlock, ordinals: Ordinals): Piece[] {
  const runs = runsOf(block);
  const pieces: Piece[] = [];
  for (const [i, { start, firstLine, items }] of runs.entries()) {
    const encoded = i > 0 && i < runs.length - 1 && items.length > 0 ? encode(items, ordinals) : undefined;
    const [object] = items;
    if (!encoded || object?.kind !== 'object') {
      if (pieces.length === 0 || pieces.at(-1)!.prepared) pieces.push({ start, firstLine });
      continue;
    }
    const count = (kind: ImportItem['kind']) => items.reduce((sum, item) => sum + (item.kind === kind ? 1 : 0), 0);
    const { position, ingestTimeUs, eventTimeUs, state } = object.object;
    pieces.push({
      start,
      firstLine,
      prepared: {
        ...encoded,
        diaObjectId: object.diaObjectId,
        position,
        ingestTimeUs,
        eventTimeUs,
        state,
        counts: {
          crossmatch_record: count('crossmatch_record'),
          match: count('match'),
          tns_association: count('tns_association'),
        },
      },
    });
  }
  return pieces;
}

function runsOf(block: LineBlock): Run[] {
  const runs: Run[] = [];
  for (const line of splitLines(block, MAX_LINE_BYTES)) {
    const run = runs.at(-1);
    // A blank line belongs to the lines before it.
    if (run && line.text.trim() === '') continue;
    const item = itemOf(line);
    if (run && item && run.items[0]?.diaObjectId === item.diaObjectId) run.items.push(item);
    else runs.push({ start: line.start, firstLine: line.number, items: item ? [item] : [] });
  }
  return runs;
}

/** The item of a line. Undefined if the line is invalid, blank, part of the registry, or has unknown fields. */
function itemOf({ text, problem }: PlacedLine): ImportItem | undefined {
  if (problem !== undefined) return undefined;
  try {
    let isWhole = true;
    const parsed = parseLine(text, () => (isWhole = false));
    if (!isWhole) return undefined;
    return parsed.kind === 'tns_snapshot' || parsed.kind === 'tns_object' ? undefined : parsed;
  } catch (error) {
    if (error instanceof LineError) return undefined;
    throw error;
  }
}

function encode(items: readonly ImportItem[], ordinals: Ordinals) {
  try {
    return encodeNew(items, ordinals);
  } catch (error) {
    if (error instanceof NotStored) return undefined;
    throw error;
  }
}
