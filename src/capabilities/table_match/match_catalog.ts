/** Matches the rows of a table with a registered catalog, by reading the catalog's own files. */
import { setImmediate } from 'node:timers/promises';
import { TableError } from '@nearsky/astrotables';
import { eachConcurrently } from '../../core/base/concurrency.ts';
import type { CatalogDefinition } from '../../core/contract/catalogs.ts';
import { DEFAULT_MATCH_RADIUS_ARCSEC, type Find } from '../../core/contract/table_match.ts';
import { verdictsOf } from '../../core/contract/verdict.js';
import type { CatalogRegistration } from '../../core/store/catalog_registration.ts';
import { likelihoodOf, probabilities, roundedChance, roundedDensity } from '../../core/store/match_statistics.ts';
import { payloadColumns } from '../catalogs/payload_columns.ts';
import { errorsOf } from '../crossmatch/catalog_errors.ts';
import { helperPool } from '../crossmatch/crossmatch_pool.ts';
import {
  type ColumnMatches,
  type MatchColumnsTask,
  nearness,
  runMatchColumns,
  type SourceColumn,
} from '../crossmatch/match_file.ts';
import { motionOf, yearsBetween } from '../crossmatch/motion.ts';
import { openCatalog, planCatalog } from '../crossmatch/plan.ts';
import type { ValidPositions } from './match_objects.ts';
import type { Batch, Pairs } from './pairs.ts';

/** The number of files per thread: while a host sends one, another is searched. */
const FILES_AT_ONCE = 2;
/** For fewer files, there are no helper threads: the files would be read before the threads had started. */
const HELPED_FILES = 16;
/** The maximum number of bytes for the columns of the sources found. */
const MAX_SOURCES_BYTES = 256 << 20;

export interface CatalogSearch {
  readonly registration: CatalogRegistration;
  readonly definition: CatalogDefinition;
  readonly positions: ValidPositions;
  /** The 1σ errors of the table's rows, NaN if unknown; undefined without any. */
  readonly errorMas: Float64Array | undefined;
  /** The Julian years of the table's rows, NaN if unknown; undefined if sources are compared at their catalog positions. */
  readonly epochs: Float64Array | undefined;
  /** Undefined for the catalog's own radius, or the default. */
  readonly radiusArcsec: number | undefined;
  readonly find: Find;
  /** MATCH_PRIOR_COMPLETENESS. */
  readonly priorCompleteness: number;
}

/**
 * @param onShare called with the completed fraction of the search
 * @param held the bytes of the sources that earlier searches found; those of this one are added
 * @returns why files could not be read
 * @throws TableError if the sources found do not fit into memory, or if epochs are given and sources have no motions
 */
export async function matchCatalog(
  search: CatalogSearch,
  pairs: Pairs,
  onShare: (searched: number) => void,
  held: { bytes: number },
): Promise<string[]> {
  const { registration, definition, find, priorCompleteness, errorMas, epochs } = search;
  const { row, ra, dec } = search.positions;
  const { location, columns } = registration;
  const errors = errorMas && errorsOf(definition, columns);
  const motion = epochs && motionOf(definition, columns);
  if (epochs && !motion)
    throw new TableError(`the sources of ${definition.name} have no proper motions here: leave out epoch=`, 'epoch');
  const years = motion && Float64Array.from(row, each => yearsBetween(motion.epoch, epochs[each]!));
  const planned = openCatalog(registration, motion);
  const own = search.radiusArcsec === undefined ? planned.radius : undefined;
  const radius = own ?? { radiusArcsec: search.radiusArcsec ?? DEFAULT_MATCH_RADIUS_ARCSEC };
  const { covered, searches } = planCatalog(planned, ra, dec, radius.radiusArcsec, years);
  covered.forEach((isCovered, object) => {
    if (!isCovered) pairs.setUnmatched(row[object]!, 'outside_footprint');
  });
  const payload = payloadColumns(definition);
  const problems: string[] = [];
  // A row near the edge of a partition is searched for in several partitions.
  const all = searches.reduce((sum, { objects }) => sum + objects.length, 0);
  let done = 0;
  const helpers = searches.length < HELPED_FILES ? undefined : helperPool();
  // Reading a local file does not yield to the event loop, so another thread's answer could not arrive in the meantime.
  const inThisThread = async (task: MatchColumnsTask) => {
    await setImmediate();
    return await runMatchColumns(task);
  };
  const inHelper = (task: MatchColumnsTask) => helpers!.run(task);
  const free = Array.from({ length: FILES_AT_ONCE * (1 + (helpers?.threads ?? 0)) }, (_, i) =>
    i < FILES_AT_ONCE ? inThisThread : inHelper,
  );
  try {
    await eachConcurrently(searches, free.length, async ({ file, hasAllRows, objects }) => {
      const positions = {
        ra: Float64Array.from(objects, object => ra[object]!),
        dec: Float64Array.from(objects, object => dec[object]!),
      };
      const run = free.pop()!;
      const task = {
        module: 'src/capabilities/crossmatch/match_file',
        kind: 'matchColumns',
        location,
        file,
        columns,
        ...radius,
        find,
        hasAllRows,
        payload,
        ...positions,
        ...(motion && { motion: { ...motion, years: Float64Array.from(objects, object => years![object]!) } }),
        ...(errors && {
          errors: { ...errors, objectMas: Float64Array.from(objects, object => errorMas[row[object]!]!) },
        }),
      } as const;
      const answer = await run(task);
      free.push(run);
      onShare((done += objects.length) / all);
      if (answer.outcome !== 'searched') {
        problems.push(answer.reason);
        for (const object of objects) pairs.setUnmatched(row[object]!, 'skipped_read_failure');
        return;
      }
      const { id, payload: found } = answer.matches;
      held.bytes += found.reduce((sum, column) => sum + bytesOf(column), bytesOf({ values: id }));
      if (held.bytes > MAX_SOURCES_BYTES)
        throw new TableError(
          'more sources are found than fit into memory: send fewer rows, or search a smaller radius',
        );
      pairs.add(batchOf(definition, answer.matches, objects, row, priorCompleteness, motion !== undefined));
    });
  } finally {
    await helpers?.close();
  }
  return problems;
}

/** A string counts as one byte per character. */
function bytesOf({ values, isNull }: SourceColumn): number {
  if (isNull || values instanceof BigInt64Array) return 9 * values.length;
  return Array.from(values).reduce<number>((sum, cell) => sum + 8 + (typeof cell === 'string' ? cell.length : 0), 0);
}

function batchOf(
  definition: CatalogDefinition,
  {
    object,
    id,
    ra,
    dec,
    separationArcsec: atCatalog,
    separationAtEpochArcsec: atEpoch,
    density,
    sourcesWithinRadius,
    secondSeparationArcsec: second,
    combinedErrorMas,
    lnWeights,
    payload,
  }: ColumnMatches,
  objects: readonly number[],
  row: Uint32Array,
  priorCompleteness: number,
  isMoved: boolean,
): Batch {
  const separationArcsec = atEpoch.map((separationAtEpochArcsec, at) =>
    nearness({ separationArcsec: atCatalog[at]!, separationAtEpochArcsec }),
  );
  const isUnknown = Uint8Array.from(density, value => (Number.isNaN(value) ? 1 : 0));
  const rounded = density.map(roundedDensity);
  const chance = rounded.map((value, at) => roundedChance(value, separationArcsec[at]!));
  const count = BigInt64Array.from(sourcesWithinRadius, BigInt);
  const nulls = () => ({ values: new Float64Array(id.length), isNull: new Uint8Array(id.length).fill(1) });
  const ofErrors = { normalized_separation: nulls(), match_probability: nulls(), any_match_probability: nulls() };
  const complete = () =>
    combinedErrorMas.forEach((errorMas, at) => {
      const arcsec = separationArcsec[at]!;
      const likelihood = likelihoodOf(arcsec, errorMas, lnWeights[at]!, priorCompleteness);
      const found = probabilities(arcsec, isUnknown[at] ? null : rounded[at]!, likelihood);
      for (const key of Object.keys(ofErrors) as (keyof typeof ofErrors)[]) {
        const value = found[key];
        if (value === null) continue;
        ofErrors[key].values[at] = value;
        ofErrors[key].isNull[at] = 0;
      }
    });
  const isAlone = Uint8Array.from(second, value => (Number.isNaN(value) ? 1 : 0));
  return {
    row: object.map(each => row[objects[each]!]!),
    id,
    separationArcsec,
    neighbours: { count, second, isAlone, combinedErrorMas, lnWeights },
    complete,
    columns: [
      ...[id, ra, dec, atCatalog].map(values => ({ values })),
      ...(isMoved
        ? [{ values: atEpoch, isNull: Uint8Array.from(atEpoch, value => (Number.isNaN(value) ? 1 : 0)) }]
        : []),
      { values: chance, isNull: isUnknown },
      { values: rounded, isNull: isUnknown },
      { values: count },
      { values: second, isNull: isAlone },
      ...Object.values(ofErrors),
      ...payload,
      ...verdictColumns(definition, payload, id.length),
    ],
  };
}

/** The column of the verdicts, if the catalog can say what its sources are. */
function verdictColumns(
  definition: CatalogDefinition,
  payload: readonly SourceColumn[],
  sources: number,
): SourceColumn[] {
  const { verdicts } = definition;
  if (!verdicts) return [];
  const columns = new Map(payloadColumns(definition).map(({ name }, i) => [name, payload[i]!]));
  const columnOf = (key: string) => {
    const { values, isNull }: SourceColumn = columns.get(key) ?? { values: [] };
    return (at: number) => (isNull?.[at] ? null : values[at]);
  };
  return [{ values: verdictsOf(verdicts, sources, columnOf) }];
}
