/** The rows of a table against a registered catalog, read where it lies. */
import { eachConcurrently } from '../base/concurrency.ts';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import type { Find } from '../contract/table_match.ts';
import { type FileMatches, runMatch } from '../crossmatch/match_file.ts';
import { openCatalog, planCatalog } from '../crossmatch/plan.ts';
import type { CatalogRegistration } from '../store/catalog_registration.ts';
import { unpackPlace, unpackValues } from '../store/records.ts';
import { TableError } from '../table_input/input_table.ts';
import type { Cell, Column } from '../tables/columns.ts';
import { payloadCell, payloadColumns } from '../tables/payload_columns.ts';
import type { ValidPositions } from './match_objects.ts';
import type { Batch, Pairs } from './pairs.ts';

/** Files that are read at once: while a host sends one, another is searched. */
const FILES_AT_ONCE = 4;
/** The most bytes that the columns of the found sources may take. */
const MAX_SOURCES_BYTES = 256 << 20;

/**
 * @returns the reasons for which files could not be read
 * @throws TableError where so many sources are found that they would not fit into memory
 */
export async function matchCatalog(
  registration: CatalogRegistration,
  definition: CatalogDefinition,
  { row, ra, dec }: ValidPositions,
  radiusArcsec: number,
  find: Find,
  pairs: Pairs,
): Promise<string[]> {
  const { location, columns } = registration;
  const { covered, searches } = planCatalog(openCatalog(registration), ra, dec, radiusArcsec);
  covered.forEach((isCovered, object) => {
    if (!isCovered) pairs.setUnmatched(row[object]!, 'outside_footprint');
  });
  const payload = payloadColumns(definition);
  const problems: string[] = [];
  let bytes = 0;
  await eachConcurrently(searches, FILES_AT_ONCE, async ({ file, objects }) => {
    const positions = {
      ra: Float64Array.from(objects, object => ra[object]!),
      dec: Float64Array.from(objects, object => dec[object]!),
    };
    const answer = await runMatch({ kind: 'match', location, file, columns, radiusArcsec, find, ...positions });
    if (answer.outcome !== 'searched') {
      problems.push(answer.reason);
      for (const object of objects) pairs.setUnmatched(row[object]!, 'skipped_read_failure');
      return;
    }
    bytes += answer.matches.sources.length;
    if (bytes > MAX_SOURCES_BYTES)
      throw new TableError('more sources are found than fit into memory: send fewer rows, or search a smaller radius');
    pairs.add(batchOf(answer.matches, objects, row, payload));
  });
  return problems;
}

function batchOf(
  { object, id, separationArcsec, sources, sourceEnds }: FileMatches,
  objects: readonly number[],
  row: Uint32Array,
  payload: readonly Column[],
): Batch {
  const sourceAt = (at: number) => sources.subarray(sourceEnds[at - 1] ?? 0, sourceEnds[at]);
  const [ra, dec] = [new Float64Array(id.length), new Float64Array(id.length)];
  for (let at = 0; at < id.length; at++) ({ ra: ra[at], dec: dec[at] } = unpackPlace(sourceAt(at)));
  return {
    row: object.map(each => row[objects[each]!]!),
    id,
    ra,
    dec,
    separationArcsec,
    payload(at) {
      const values = unpackValues(sourceAt(at));
      return payload.map((column, i): Cell => payloadCell(column, values[i]) ?? null);
    },
  };
}
