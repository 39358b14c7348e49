/** The tasks of the thread that crossmatches tables: begin a table, give the next part of its answer, let go of it. */
import { closeSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { isPosition, openGeneration, wrapRa } from '../../index/mod.ts';
import { isThere } from '../base/files.ts';
import { collectWhenQuiet } from '../base/shared_memory.ts';
import type { CatalogDefinition } from '../contract/catalogs.ts';
import type { TableFormat } from '../contract/formats.ts';
import type { Find, RowsKept } from '../contract/table_match.ts';
import type { Task } from '../pool/pool.ts';
import type { PublishedGeneration } from '../publish/tasks.ts';
import { currentStore } from '../store/thread_store.ts';
import { checkTimes, TableError, type TableLimits } from '../table_input/input_table.ts';
import { openTable } from '../table_input/open.ts';
import { findPositions, type NamedColumns, type Positions, readPositions } from '../table_input/positions.ts';
import { matchCatalog } from './match_catalog.ts';
import { matchObjects, type ValidPositions } from './match_objects.ts';
import { Pairs } from './pairs.ts';
import { DONE, OF, SEARCHED, type SharedProgress } from './progress.ts';
import { copiedTable, type Result, resultParts } from './result_table.ts';

/** A crossmatch of a table, as it is asked for. */
export interface TableRequest {
  /** Undefined for the objects. */
  readonly catalog: CatalogDefinition | undefined;
  /** Inclusive; more than 0 and at most 60. */
  readonly radiusArcsec: number;
  readonly find: Find;
  readonly rows: RowsKept;
  /** The columns of the positions, where the request names them. */
  readonly named: NamedColumns;
  /** The format of the answer; by default that of the table, or the nearest to it. */
  readonly format: TableFormat | undefined;
  /** The information of the answer beside its rows, as JSON. */
  readonly about: string;
}

/** A crossmatch, as its thread needs it. */
interface TableTask extends TableRequest {
  readonly limits: TableLimits;
  /** For `objects`. */
  readonly generation: PublishedGeneration | undefined;
  readonly progress?: SharedProgress | undefined;
}

export interface BeginTableTask extends Task<TableBegun>, TableTask {
  readonly kind: 'beginTable';
  readonly job: number;
  readonly bytes: SharedArrayBuffer;
  readonly length: number;
}

export type TableBegun =
  | {
      readonly outcome: 'begun';
      /** The number of rows of the table. */
      readonly rows: number;
      /** The number of pairs. */
      readonly matches: number;
      readonly format: TableFormat;
      /** The names of the columns that were taken for the position. */
      readonly ra: string;
      readonly dec: string;
      readonly problems: readonly string[];
    }
  | { readonly outcome: 'late' }
  /** The message completes "Cannot crossmatch the table because ...". */
  | { readonly outcome: 'refused'; readonly message: string; readonly param: 'ra' | 'dec' | undefined };

/** The next part of an answer; null at its end. */
export interface TablePartTask extends Task<Uint8Array | null> {
  readonly kind: 'tablePart';
  readonly job: number;
}

/** A whole crossmatch, from file to file. */
export interface TableFileTask extends Task<TableWritten>, TableTask {
  readonly kind: 'tableFile';
  /** Where it is gone, the crossmatch ends. */
  readonly input: string;
  readonly output: string;
  readonly maxOutputBytes: number;
}

export type TableWritten = { readonly begun: TableBegun; readonly bytes: number };

export interface EndTableTask extends Task<undefined> {
  readonly kind: 'endTable';
  readonly job: number;
}

const answers = new Map<number, AsyncGenerator<Uint8Array>>();

export async function runBeginTable(task: BeginTableTask): Promise<TableBegun> {
  try {
    const { begun, result } = await begin(task, new Uint8Array(task.bytes, 0, task.length));
    const parts = resultParts(result, doneIn(task));
    // Damage that shows itself here is refused; later, the answer could only break off.
    const first = await parts.next();
    answers.set(task.job, resumed(first, parts));
    return begun;
  } catch (error) {
    return refusalOf(error);
  }
}

async function* resumed(first: IteratorResult<Uint8Array>, parts: AsyncGenerator<Uint8Array>) {
  if (!first.done) yield first.value;
  yield* parts;
}

export async function runTableFile(task: TableFileTask): Promise<TableWritten> {
  const { input, output, maxOutputBytes } = task;
  const file = openSync(output, 'w', 0o600);
  try {
    const { begun, result } = await begin(task, readFileSync(input));
    let bytes = 0;
    for await (const part of resultParts(result, doneIn(task))) {
      if (!isThere(input)) throw new TableError('its job was ended');
      bytes += part.length;
      if (bytes > maxOutputBytes) throw new TableError('its answer takes more room than the jobs may');
      writeFileSync(file, part);
    }
    fsyncSync(file);
    return { begun, bytes };
  } catch (error) {
    return { begun: refusalOf(error), bytes: 0 };
  } finally {
    closeSync(file);
    collectWhenQuiet();
  }
}

function doneIn({ progress }: TableTask): (done: number) => void {
  return done => {
    if (progress) progress[DONE] = done;
  };
}

/** @throws the error where it is no TableError */
function refusalOf(error: unknown): TableBegun {
  if (error instanceof TableError) return { outcome: 'refused', message: error.message, param: error.param };
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return { outcome: 'refused', message: 'the disk of the service has no room for its answer', param: undefined };
  throw error;
}

async function begin(task: TableTask, bytes: Uint8Array): Promise<{ begun: TableBegun; result: Result }> {
  const { catalog, radiusArcsec, find, rows, about, limits, progress } = task;
  // Text stays text where the answer is text again.
  const table = await openTable(bytes, limits, task.format !== undefined && task.format !== 'csv');
  const format = task.format ?? (table.format === 'fits' ? 'votable' : table.format);
  const columns = findPositions(table, task.named);
  if (progress) progress[OF] = table.rows;
  const pairs = new Pairs(table.rows, find);
  const positions = validPositions(await readPositions(table, columns), pairs);
  let problems: string[] = [];
  if (!catalog) matchObjects(openGeneration(task.generation!), positions, radiusArcsec, find, pairs);
  else {
    const registration = currentStore().catalog(catalog.name);
    if (!registration) throw new TableError(`the catalog ${catalog.name} is not registered here`);
    const onShare = (share: number) => {
      if (progress) progress[SEARCHED] = Math.floor(share * table.rows);
    };
    problems = await matchCatalog(registration, catalog, positions, radiusArcsec, find, pairs, onShare);
  }
  if (progress) progress[SEARCHED] = table.rows;
  pairs.settle();
  const [ra, dec] = [table.columns[columns.ra]!.name, table.columns[columns.dec]!.name];
  const result = { table, pairs, catalog, rows, format, about };
  if (!copiedTable(result)) await checkTimes(table);
  return { begun: { outcome: 'begun', rows: table.rows, matches: pairs.count, format, ra, dec, problems }, result };
}

/**
 * The rows that have a valid position, and these positions, with right ascensions from 0 to 360, in the arrays of all
 * positions. The other rows get the status `invalid_position`.
 */
function validPositions({ ra, dec }: Positions, pairs: Pairs): ValidPositions {
  const row = new Uint32Array(ra.length);
  let valid = 0;
  for (let i = 0; i < ra.length; i++) {
    const position = { ra: wrapRa(ra[i]!), dec: dec[i]! };
    if (!isPosition(position.ra, position.dec)) {
      pairs.setUnmatched(i, 'invalid_position');
      continue;
    }
    row[valid] = i;
    ra[valid] = position.ra;
    dec[valid++] = position.dec;
  }
  return { row: row.subarray(0, valid), ra: ra.subarray(0, valid), dec: dec.subarray(0, valid) };
}

/** @throws TableError where the rest of the table turns out to be damaged */
export async function runTablePart({ job }: TablePartTask): Promise<Uint8Array | null> {
  const part = await answers.get(job)?.next();
  if (!part) throw new Error('Cannot go on with a table because its thread has ended');
  return part.done ? null : part.value;
}

export async function runEndTable({ job }: EndTableTask): Promise<undefined> {
  await answers.get(job)?.return(undefined);
  answers.delete(job);
  collectWhenQuiet();
}
