/**
 * Matches the rows of a table with the objects. The serving process has the objects in memory, and answers for a few
 * positions at a time.
 */
import { TableError } from '@nearsky/astrotables';
import { DEFAULT_MATCH_RADIUS_ARCSEC } from '../../core/contract/table_match.ts';
import { question } from '../uploads/process_tasks.ts';
import type { FoundObjects, NotThere, ObjectsQuestion } from './find_objects.ts';
import type { Pairs } from './pairs.ts';

/** Positions in degrees, all valid, and the row of each. */
export interface ValidPositions {
  readonly row: Uint32Array;
  readonly ra: Float64Array;
  readonly dec: Float64Array;
}

/** The number of positions per request. They take 5 ms, by which they delay other small tables. */
const STEP = 2048;

/** The journal entry that the objects are from, and whether the archive keeps that state. */
export type SearchedEntry = Pick<FoundObjects, 'entry' | 'isKept'>;

/**
 * @param onShare called with the completed fraction of the search
 * @throws TableError if there are too many pairs, or if the history does not have the entry
 */
export async function matchObjects(
  { row, ra, dec }: ValidPositions,
  {
    radiusArcsec = DEFAULT_MATCH_RADIUS_ARCSEC,
    find,
    at: entry,
  }: Pick<ObjectsQuestion, 'find' | 'at'> & { readonly radiusArcsec: number | undefined },
  pairs: Pairs,
  onShare: (searched: number) => void,
): Promise<SearchedEntry> {
  for (let from = 0; ; ) {
    const to = Math.min(from + STEP, row.length);
    // This is a copy, because sending a view of a part would send the whole array.
    const asked: ObjectsQuestion = { ra: ra.slice(from, to), dec: dec.slice(from, to), radiusArcsec, find, at: entry };
    const found = (await question(asked)) as FoundObjects | NotThere;
    if ('notInHistory' in found) throw new TableError(found.notInHistory, 'at');
    const { searched, at, id, separationArcsec } = found;
    const columns = [id, found.ra, found.dec, separationArcsec].map(values => ({ values }));
    pairs.add({ row: at.map(place => row[from + place]!), id, separationArcsec, columns });
    from += searched;
    if (from >= row.length) return found;
    onShare(from / row.length);
  }
}
