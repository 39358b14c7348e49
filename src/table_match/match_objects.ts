/** The rows of a table against the objects, which the process that serves has in its memory: it is asked for some positions at a time. */
import type { Find } from '../contract/table_match.ts';
import { question } from '../pool/process_tasks.ts';
import type { FoundObjects, ObjectsQuestion } from './find_objects.ts';
import type { Pairs } from './pairs.ts';

/** Positions in degrees, all valid, and the row of each. */
export interface ValidPositions {
  readonly row: Uint32Array;
  readonly ra: Float64Array;
  readonly dec: Float64Array;
}

/** Positions that are asked for at once: they take 20 ms, for which a small table of somebody else waits. */
const STEP = 8192;

/**
 * @param onShare called with the share of the search that is done
 * @throws TableError where too many pairs are found
 */
export async function matchObjects(
  { row, ra, dec }: ValidPositions,
  radiusArcsec: number,
  find: Find,
  pairs: Pairs,
  onShare: (searched: number) => void,
): Promise<void> {
  for (let from = 0; from < row.length; ) {
    const to = Math.min(from + STEP, row.length);
    // Copies: of a part of an array, the whole array would be sent.
    const asked: ObjectsQuestion = { ra: ra.slice(from, to), dec: dec.slice(from, to), radiusArcsec, find };
    const found = (await question(asked)) as FoundObjects;
    const { searched, at, id, separationArcsec } = found;
    const columns = [id, found.ra, found.dec, separationArcsec].map(values => ({ values }));
    pairs.add({ row: at.map(place => row[from + place]!), id, separationArcsec, columns });
    from += searched;
    onShare(from / row.length);
  }
}
