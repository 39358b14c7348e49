/** Crossmatches a table. This is the task of a process that reads uploads. */

import {
  checkTimes,
  type FrameSource,
  findPositions,
  type InputTable,
  type NamedColumns,
  type Positions,
  readEpochs,
  readPositionErrors,
  readPositions,
  TableError,
  withColumns,
  withFrames,
} from '@nearsky/astrotables';
import { describeFrame } from '@nearsky/astrotables/frames';
import { isPosition, wrapRa } from '@nearsky/sky-index';
import { isThere } from '../../core/base/files.ts';
import { type CatalogDefinition, Catalogs, isSameDefinition } from '../../core/contract/catalogs.ts';
import type { MatchFormat } from '../../core/contract/formats.ts';
import { circularErrorMas, ERROR_UNITS_MAS } from '../../core/contract/position_errors.ts';
import type { RowProgress } from '../../core/contract/row_progress.ts';
import type { Find, RaUnit, RowsKept } from '../../core/contract/table_match.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { readCatalog } from '../../core/store/catalog_registration.ts';
import { currentStore } from '../../core/store/thread_store.ts';
import { hoursWarning, withRaUnit } from '../jobs/ra_unit.ts';
import {
  AnswerFile,
  openSent,
  refusalOf,
  type TableInput,
  type TableOutput,
  type TableRefusal,
} from '../jobs/table_task.ts';
import { note } from '../uploads/process_tasks.ts';
import { matchCatalog } from './match_catalog.ts';
import { matchObjects, type SearchedEntry, type ValidPositions } from './match_objects.ts';
import { Pairs } from './pairs.ts';
import { answeredRows, copiedTable, type MatchedPart, type Result, resultParts } from './result_table.ts';

/** The parameters for the crossmatch of a table. */
export interface TableRequest {
  /** None to match with the objects. */
  readonly catalogs: readonly CatalogDefinition[];
  /** Whether the registered ones among the catalogs are searched, each with columns of its own; otherwise there is one at most. */
  readonly isAll: boolean;
  /** Inclusive; more than 0 and at most 60. Undefined for that of each catalog, or the default. */
  readonly radiusArcsec: number | undefined;
  readonly find: Find;
  readonly rows: RowsKept;
  /** The columns that the request names for the position. */
  readonly named: NamedColumns;
  /** The 1σ errors of the positions, as for `readPositionErrors`; undefined if they are not known. */
  readonly error?: string | undefined;
  readonly priorCompleteness: number;
  /** The epochs of the positions, as for `readEpochs`; undefined to compare sources at their catalog positions. */
  readonly epoch?: string | undefined;
  /** The table's columns that are copied to the answer, as for `withColumns`; undefined for all. */
  readonly columns?: string | undefined;
  /** The format of the answer. The default is the format of the table, or the most similar one. */
  readonly format: MatchFormat | undefined;
  /** The unit of a right ascension without a unit of its own. */
  readonly raUnit?: RaUnit | undefined;
  /** The journal entry whose objects are matched; the newest one by default. */
  readonly at?: number | undefined;
  /** The members of the answer besides its rows, as JSON. */
  readonly about: string;
}

/** The task: a crossmatch in a separate process. It ends if the file of its table is deleted. */
export interface MatchTableTask extends Task<TableWritten>, TableRequest, TableInput, TableOutput {
  readonly module: 'src/capabilities/table_match/match_task';
  readonly kind: 'matchTable';
}

export type TableBegun =
  | {
      readonly outcome: 'begun';
      readonly inputRows: number;
      readonly rows: number;
      /** The names of those columns of the table that the answer cannot hold. */
      readonly dropped: readonly string[];
      readonly matches: number;
      readonly format: MatchFormat;
      /** The names of the columns that contain the position. */
      readonly ra: string;
      readonly dec: string;
      /** The frame of the positions, as written by `describeFrame`, and how it was determined. */
      readonly frame: string;
      readonly frameSource: FrameSource;
      readonly problems: readonly string[];
      /** Set if the positions look like hours, and were taken for degrees. */
      readonly warning?: string;
      /** The journal entry that the objects are from, if the archive keeps that state. */
      readonly journalEntry?: number;
    }
  | TableRefusal;

export interface TableWritten {
  readonly begun: TableBegun;
  readonly bytes: number;
  /** The answer, if it is small and need not survive a restart. There is no file then. */
  readonly answer?: Uint8Array<ArrayBuffer>;
}

/** Up to this many bytes of an answer return as a message, which takes less time than a file. */
const SMALL_ANSWER_BYTES = 1 << 16;

/** The time between two progress reports. */
const NOTE_MS = 250;

export const tasks: Tasks<MatchTableTask> = { matchTable: runMatchTable };

async function runMatchTable(task: MatchTableTask): Promise<TableWritten> {
  const { input, isKept } = task;
  const file = new AnswerFile(task);
  try {
    const progress = new NotedProgress();
    const { begun, result } = await begin(task, progress);
    let bytes = 0;
    let last: Uint8Array<ArrayBuffer> | undefined;
    for await (const part of resultParts(result, done => progress.set({ done }))) {
      if (typeof input === 'string' && !isThere(input)) throw new TableError('its job was ended');
      bytes += part.length;
      if (last) file.write(last);
      last = part;
    }
    if (!isKept && bytes <= SMALL_ANSWER_BYTES) return { begun, bytes, answer: last! };
    file.write(last!);
    file.end();
    return { begun, bytes };
  } catch (error) {
    return { begun: refusalOf(error), bytes: 0 };
  } finally {
    file.close();
  }
}

/** Reports the progress to the serving process, unless the crossmatch is over sooner. */
class NotedProgress {
  #progress: RowProgress = { of: 0, searched: 0, done: 0 };
  #saidMs = performance.now();

  set(progress: Partial<RowProgress>): void {
    this.#progress = { ...this.#progress, ...progress };
    if (performance.now() - this.#saidMs < NOTE_MS) return;
    this.#saidMs = performance.now();
    note(this.#progress);
  }
}

async function begin(task: MatchTableTask, progress: NotedProgress): Promise<{ begun: TableBegun; result: Result }> {
  const { isAll, rows, about } = task;
  // A string stays a string if the format of the answer is a text format, too.
  const areTyped = task.format !== undefined && task.format !== 'csv';
  const table = withRaUnit(await openSent(task, areTyped), task.raUnit, task.named);
  const format = task.format ?? (table.format === 'fits' ? 'votable' : table.format);
  const columns = findPositions(table, task.named);
  progress.set({ of: table.rows });
  const { positions, invalid } = validPositions(await readPositions(table, columns));
  const warning = hoursWarning(table, columns, positions);
  const onShare = (share: number) => progress.set({ searched: Math.floor(share * table.rows) });
  const { parts, problems, searched } = await search(task, table, { positions, invalid }, onShare);
  progress.set({ searched: table.rows });
  for (const { pairs } of parts) pairs.settle();
  const [ra, dec] = [table.columns[columns.ra]!.name, table.columns[columns.dec]!.name];
  const marked = { ...table, columns: withFrames(table, columns) };
  const copied = task.columns === undefined ? marked : withColumns(marked, task.columns);
  const dropped = task.columns === undefined ? (table.dropped ?? []) : [];
  const { frameSource } = columns;
  const frame = describeFrame(columns.frame);
  const result = {
    table: copied,
    parts,
    isAll,
    rows,
    format,
    about: JSON.stringify({
      ...JSON.parse(about),
      ...(isAll && { searched: parts.map(({ catalog }) => catalog!.name) }),
      ...(searched && { journal_entry: searched.entry }),
      position_frame: frame,
      position_frame_source: frameSource,
      ...(warning !== undefined && { warning }),
      ...(dropped.length > 0 && { dropped_columns: dropped }),
    }),
  };
  if (!copiedTable(result)) await checkTimes(copied);
  const matches = parts.reduce((sum, { pairs }) => sum + pairs.count, 0);
  const counts = { inputRows: table.rows, rows: answeredRows(result), matches };
  const begun = { outcome: 'begun', ...counts, dropped, format, ra, dec, problems } as const;
  return {
    begun: {
      ...begun,
      frame,
      frameSource,
      ...(warning !== undefined && { warning }),
      ...(searched?.isKept && { journalEntry: searched.entry }),
    },
    result,
  };
}

/** Finds the matches of the rows with the objects, or with each catalog. */
async function search(
  task: MatchTableTask,
  table: InputTable,
  { positions, invalid }: ReturnType<typeof validPositions>,
  onShare: (searched: number) => void,
): Promise<{
  readonly parts: readonly MatchedPart[];
  readonly problems: readonly string[];
  /** Undefined for catalogs, which have no history. */
  readonly searched?: SearchedEntry;
}> {
  const { catalogs, isAll, radiusArcsec, find, priorCompleteness } = task;
  const emptyPairs = () => {
    const pairs = new Pairs(table.rows, find);
    for (const row of invalid) pairs.setUnmatched(row, 'invalid_position');
    return pairs;
  };
  if (catalogs.length === 0) {
    const pairs = emptyPairs();
    const searched = await matchObjects(positions, task, pairs, onShare);
    return { parts: [{ catalog: undefined, pairs, isMoved: false }], problems: [], searched };
  }
  const errorMas = task.error === undefined ? undefined : circularErrors(await readPositionErrors(table, task.error));
  const epochs = task.epoch === undefined ? undefined : await readEpochs(table, task.epoch);
  const store = currentStore();
  const asked = catalogs.flatMap(catalog => {
    const registration = readCatalog(store.databases, catalog.name);
    if (!registration && !isAll) throw new TableError(`the catalog ${catalog.name} is not registered here`);
    return registration ? [{ catalog, registration }] : [];
  });
  if (asked.length === 0) throw new TableError('no catalog is registered here');
  const problems: string[] = [];
  const parts: MatchedPart[] = [];
  const room = { bytes: 0 };
  for (const { catalog, registration } of asked) {
    // The answer has the release and the columns of the request, which may have waited as a job.
    if (!isSameDefinition(new Catalogs([registration]).get(catalog.name)!, catalog))
      throw new TableError(
        `the catalog ${catalog.name} was replaced or described anew meanwhile: send the table again`,
      );
    const pairs = emptyPairs();
    const isMoved = epochs !== undefined && catalog.motion !== undefined;
    const found = await matchCatalog(
      {
        registration,
        definition: catalog,
        positions,
        errorMas,
        epochs: isMoved ? epochs : undefined,
        radiusArcsec,
        find,
        priorCompleteness,
      },
      pairs,
      share => onShare((parts.length + share) / asked.length),
      room,
    );
    problems.push(...found);
    parts.push({ catalog, pairs, isMoved });
  }
  return { parts, problems };
}

/** @param errors arcsec @returns mas; NaN if unknown */
function circularErrors({ ra, dec }: Positions): Float64Array {
  return ra.map((error, row) => circularErrorMas(error, dec[row], ERROR_UNITS_MAS.arcsec!));
}

/**
 * Finds the rows with a valid position, and moves their positions to the front of the arrays, with right ascensions
 * from 0 to 360.
 */
function validPositions({ ra, dec }: Positions): { readonly positions: ValidPositions; readonly invalid: number[] } {
  const row = new Uint32Array(ra.length);
  const invalid: number[] = [];
  let valid = 0;
  for (let i = 0; i < ra.length; i++) {
    const position = { ra: wrapRa(ra[i]!), dec: dec[i]! };
    if (!isPosition(position.ra, position.dec)) {
      invalid.push(i);
      continue;
    }
    row[valid] = i;
    ra[valid] = position.ra;
    dec[valid++] = position.dec;
  }
  const positions = { row: row.subarray(0, valid), ra: ra.subarray(0, valid), dec: dec.subarray(0, valid) };
  return { positions, invalid };
}
