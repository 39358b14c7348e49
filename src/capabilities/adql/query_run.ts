/** A query that the engine runs, and the answer made from its rows. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  DuckDBConnection,
  DuckDBDataChunk,
  DuckDBPreparedStatement,
  DuckDBResult,
  DuckDBVector,
} from '@duckdb/node-api';
import type { Cell, Column, FitsRows } from '@nearsky/astrotables';
import { beginFits, rowByRow, type TableWriter, tableFormat, VotableWriter } from '@nearsky/astrotables';
import { ByteSink } from '@nearsky/astrotables/bytes';
import { messageOf } from '../../core/base/error_text.ts';
import { Semaphore } from '../../core/base/semaphore.ts';
import { objectLinks } from '../vo/object_links.ts';
import { isOutOfMemory, JobFailure, meaningOf, NO_MEMORY } from './engine_errors.ts';
import type { TapFormat } from './tap_formats.ts';
import type { Upload } from './upload_file.ts';

/** The size of a part of an answer, bytes. */
const PART_BYTES = 256 * 1024;
/**
 * The maximum number of characters of all descriptions of an answer. If there are more, each column gets an equal
 * share. 500 columns may repeat one uploaded description, and Parquet writes each one four times in one step.
 */
const MAX_DESCRIPTIONS = 128 * 1024;
/** The maximum number of cells that exist as objects at the same time. */
const BLOCK_CELLS = 16 * 1024;
/** Garbage is collected after this many bytes of chunks. */
const COLLECT_BYTES = 16 * 2 ** 20;
/** The maximum number of rows that the engine returns together. */
const CHUNK_ROWS = 2048;
/**
 * The maximum number of rows of a query that runs in one step. The engine's limit does not count the memory of such a
 * result, so it is a small part of the memory for a chunk, however wide the rows are.
 */
export const FEW_ROWS = 256;
const CELL_BYTES = 8;
/** The bytes of the uncollected chunks of all queries. */
let uncollected = 0;
/** The rows of only one answer are written at a time, so that steps of other queries wait for one answer at most. */
const writing = new Semaphore(1);
/** Longer SQL takes the engine up to 0.3 s of processor time to plan, characters. It ignores interrupts meanwhile. */
const LONG_SQL = 8192;
/** Long SQL is planned in turns: plans at the same time delay each other, and all small queries. */
const planning = new Semaphore(1);
/** The interval between attempts to interrupt a query that should end. */
const INTERRUPT_MS = 100;
/** An answer is dropped if no part of it was requested for this long, and for as long as a query may take. */
const IDLE_MS = 60_000;

export interface TapQuery {
  readonly query: string;
  readonly maxRecords: number;
  /** The journal entry after which the tables are read; undefined for the present state. */
  readonly at?: number;
  readonly format: TapFormat;
  /** The maximum time from the start of the query to its last row. */
  readonly seconds: number;
  /**
   * Set if no part of the answer is read before it is complete. An answer that fails after its first rows is then
   * useless.
   */
  readonly isJob?: true;
  /** Scheme and host of this service, for the links of objects in VOTables; undefined for none. */
  readonly base?: string;
  readonly uploads: readonly Upload[];
  /** The file of all uploaded tables; undefined if there are none. */
  readonly uploadPath?: string;
}

/** A query whose uploaded tables have been read. */
export interface EngineQuery extends Omit<TapQuery, 'uploads' | 'uploadPath'> {
  /** The directory of the tables, see `uploaded_tables`; undefined if there are none. */
  readonly tables?: string;
}

/** A fact about the answer. */
interface Info {
  readonly name: string;
  readonly value: string;
}

/** The facts about the rows that a format with the number of rows in its header needs. */
interface Counted {
  readonly isCut: boolean;
  readonly contents: FitsRows;
}

/** Rows that the engine returned together. */
interface Chunk {
  /** Owns the memory of the vectors. Strings are read from it, so it must not be collected before them. */
  readonly owner: unknown;
  readonly vectors: readonly DuckDBVector[];
  readonly rows: number;
  readonly isLast: boolean;
  /** The first row that is not yet written. */
  from: number;
}

/** A running query, and the answer made from its rows. */
export class QueryRun {
  /** The connection, in a transaction. */
  readonly #connection: DuckDBConnection;
  readonly #columns: readonly Column[];
  readonly #query: EngineQuery;
  readonly #out = new ByteSink();
  readonly #onIdle: () => void;
  #writer: Pick<TableWriter, 'block' | 'end'> | undefined;
  #votable: VotableWriter | undefined;
  #result: DuckDBResult | undefined;
  /** The chunks of a result of few rows that are not yet written. */
  #few: Chunk[] = [];
  /** The next chunk. The engine makes it while the previous one is written. */
  #next: Promise<DuckDBDataChunk | null> | undefined;
  #chunk: Chunk | undefined;
  #sql = '';
  #setup: readonly (() => Promise<unknown>)[] = [];
  #rows = 0;
  #isLate = false;
  /** Whether the whole answer was returned. */
  isDone = false;
  #isClosed = false;
  /** The present step of the engine. */
  #working: Promise<unknown> | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(connection: DuckDBConnection, columns: readonly Column[], query: EngineQuery, onIdle: () => void) {
    this.#connection = connection;
    this.#columns = withinDescriptions(columns);
    this.#query = query;
    this.#onIdle = onIdle;
    this.#deadline = setTimeout(() => {
      this.#isLate = true;
      this.#connection.interrupt();
    }, 1000 * query.seconds);
  }

  /**
   * Runs the query until its first rows are available.
   * @param infosOf makes the information for the answer, when the transaction has its state
   * @param few SQL for its first rows, more than `FEW_ROWS` if there are more; undefined if that may cost too much
   * @param setup the steps that were done for it in the transaction
   */
  async begin(
    sql: string,
    infosOf: () => Promise<readonly Info[]>,
    few?: string,
    setup: readonly (() => Promise<unknown>)[] = [],
  ): Promise<void> {
    this.#setup = setup;
    const counted = this.#query.format.writer === 'fits' ? await this.#counted(sql) : undefined;
    this.#sql = counted ? 'FROM temp.main.result' : sql;
    if (few !== undefined && !counted && few.length < LONG_SQL && (await this.#runFew(few)))
      await this.#beginAnswer(await this.work(infosOf), undefined);
    else await this.#beginStream(infosOf, counted);
    await this.#write();
    this.#waits();
  }

  /**
   * Runs a query of up to `FEW_ROWS` rows in one step of the engine. Streaming takes six steps and twice the processor
   * time. Each step waits while other queries use the processors.
   * @returns false if the query has more rows
   */
  async #runFew(sql: string): Promise<boolean> {
    const result = await this.work(() => this.#connection.run(sql));
    if (result.rowCount > FEW_ROWS) return false;
    const last = result.chunkCount - 1;
    for (let i = 0; i <= last; i++) {
      const chunk = result.getChunk(i);
      this.#few.push({ ...this.#chunkOf(chunk, chunk.rowCount, i === last), owner: [result, chunk] });
    }
    if (last < 0) this.#few.push({ owner: result, vectors: [], rows: 0, isLast: true, from: 0 });
    return true;
  }

  async #beginStream(infosOf: () => Promise<readonly Info[]>, counted: Counted | undefined): Promise<void> {
    const prepared = await this.#prepared(withEnd(this.#sql, this.#columns.length));
    try {
      await this.#beginAnswer(await this.work(infosOf), counted);
      if (counted) {
        // The rows stay even if the transaction fails.
        await this.work(() => this.#connection.run('COMMIT'));
        this.#setup = [];
      }
      this.#result = await this.work(() => prepared.stream());
    } finally {
      prepared.destroySync();
    }
  }

  /** A query that has ended before its turn is not planned. */
  async #prepared(sql: string): Promise<DuckDBPreparedStatement> {
    const prepare = async () => {
      this.#throwIfEnded();
      return await this.#connection.prepare(sql);
    };
    return await this.work(sql.length < LONG_SQL ? prepare : () => planning.run(1, prepare));
  }

  async #beginAnswer(infos: readonly Info[], counted: Counted | undefined): Promise<void> {
    const { format, base } = this.#query;
    const { writer } = format;
    const services = base === undefined ? [] : [objectLinks(base)];
    const table = { name: 'result', description: 'The rows of the query', columns: this.#columns };
    const facts = Object.fromEntries(infos.map(({ name, value }) => [name, value]));
    if (writer === 'tabledata' || writer === 'binary2') {
      const votable = new VotableWriter(this.#out, { ...table, services }, writer);
      votable.begin(infos);
      this.#votable = votable;
      this.#writer = {
        block: cells => votable.block(cells),
        end: isCut => votable.end(isCut ? 'OVERFLOW' : 'OK'),
      };
    } else if (writer === 'fits') {
      const { isCut, contents } = counted!;
      const { query, nearsky_journal_entry: entry, nearsky_as_of: asOf } = facts;
      const cards = { QSTATUS: isCut ? 'OVERFLOW' : 'OK', NSENTRY: entry!, NSASOF: asOf! };
      const fits = beginFits(this.#out, table, contents, cards, query!);
      this.#writer = { block: rowByRow(cells => fits.row(cells)), end: () => fits.end() };
    } else {
      const begin = await tableFormat(writer);
      this.#writer = begin(this.#out, table, { program: 'nearsky', json: JSON.stringify(facts) });
    }
  }

  /**
   * Stores the rows in a temporary table of the connection, for a format that states the number of rows before the
   * rows.
   */
  async #counted(sql: string): Promise<Counted> {
    const names = this.#columns.map((_, i) => `c${i + 1}`);
    const prepared = await this.#prepared(`CREATE TEMP TABLE result(${names.join(', ')}) AS ${sql}`);
    await this.work(() => prepared.run()).finally(() => prepared.destroySync());
    const counts = this.#columns.map(({ type }, i) => {
      const characters = type === 'text' ? `coalesce(max(length(c${i + 1})), 0)` : '0';
      return `${characters}, count(*) > count(c${i + 1})`;
    });
    const reader = await this.work(() =>
      this.#connection.runAndReadAll(`SELECT count(*), ${counts.join(', ')} FROM temp.main.result`),
    );
    const [count, ...of] = reader.getRows()[0]!;
    const { maxRecords } = this.#query;
    const columns = names.map((_, i) => ({ characters: Number(of[2 * i]), hasNulls: of[2 * i + 1] === true }));
    const rows = Math.min(Number(count), maxRecords);
    return { isCut: Number(count) > maxRecords, contents: { rows, columns } };
  }

  /**
   * The next bytes; null at the end.
   * @throws JobFailure if the query was ended, or fails after its first rows, and the format of its answer cannot express that
   * @throws the engine's error if a job finds no memory
   */
  async part(): Promise<Uint8Array<ArrayBuffer> | null> {
    clearTimeout(this.#idle);
    try {
      while (!this.isDone && this.#out.length < PART_BYTES) {
        if (this.#isClosed) throw new JobFailure('the query was ended');
        await this.#write();
      }
    } catch (error) {
      if (this.#query.isJob && isOutOfMemory(error)) throw error;
      const reason = this.reasonOf(error);
      if (!this.#votable || this.#query.isJob) throw new JobFailure(reason);
      this.#votable.end({ error: reason });
      this.isDone = true;
    }
    this.#waits();
    if (this.#out.length === 0) return null;
    const part = this.#out.bytes.slice(0, this.#out.length);
    this.#out.length = 0;
    return part;
  }

  #waits(): void {
    this.#idle = setTimeout(this.#onIdle, Math.max(IDLE_MS, 1000 * this.#query.seconds));
  }

  /** Writes some rows: a chunk may have 2,048 rows of 2,000 columns. */
  async #write(): Promise<void> {
    const chunk = (this.#chunk ??= await this.#nextChunk());
    if (!chunk) return;
    // The first rows do not wait, because a small answer has no other rows.
    if (this.#rows < CHUNK_ROWS) return this.#writeOf(chunk);
    await writing.run(1, async () => {
      if (!this.#isClosed) this.#writeOf(chunk);
      await nextTurn();
    });
  }

  #writeOf(chunk: Chunk): void {
    const { vectors, rows } = chunk;
    const left = this.#query.maxRecords - this.#rows;
    const to = Math.min(rows, chunk.from + left, chunk.from + Math.max(1, Math.floor(BLOCK_CELLS / vectors.length)));
    if (to > chunk.from) {
      this.#writer!.block(this.#columns.map((column, i) => cellsOf(column, vectors[i]!, chunk.from, to)));
      this.#rows += to - chunk.from;
      chunk.from = to;
    }
    if (to < rows && this.#rows < this.#query.maxRecords) return;
    this.#chunk = undefined;
    if (chunk.isLast || to < rows) this.#end(to < rows);
  }

  async #nextChunk(): Promise<Chunk | undefined> {
    const few = this.#few.shift();
    if (few) return few;
    const chunk = await (this.#next ?? this.#fetch());
    this.#next = undefined;
    if (this.#isClosed) return undefined;
    if (!chunk || chunk.rowCount === 0) throw await this.#whyEnded();
    const isLast = chunk.getColumnVector(this.#columns.length).getItem(chunk.rowCount - 1) === true;
    const rows = isLast ? chunk.rowCount - 1 : chunk.rowCount;
    if (!isLast && rows <= this.#query.maxRecords - this.#rows) {
      this.#next = this.#fetch();
      this.#next.catch(() => {});
    }
    // Until a result is read to its end, its connection stays in the old state of the tables.
    if (isLast) await this.#fetch();
    return this.#chunkOf(chunk, rows, isLast);
  }

  #chunkOf(owner: DuckDBDataChunk, rows: number, isLast: boolean): Chunk {
    this.#collect();
    return { owner, vectors: this.#columns.map((_, i) => owner.getColumnVector(i)), rows, isLast, from: 0 };
  }

  /**
   * Collects garbage: the engine's library keeps a chunk until its object is collected, and the runtime does not know
   * how large the chunk is.
   */
  #collect(): void {
    uncollected += CHUNK_ROWS * this.#columns.length * CELL_BYTES;
    if (uncollected < COLLECT_BYTES) return;
    uncollected = 0;
    globalThis.gc?.({ type: 'minor' });
  }

  /**
   * Returns the reason why the engine returned no further rows. The engine reports the error only if all rows are
   * requested at once.
   */
  async #whyEnded(): Promise<unknown> {
    try {
      // After an error the transaction may still be open, but answers nothing.
      await this.work(() => this.#connection.run('ROLLBACK').catch(() => {}));
      for (const step of [...this.#setup, () => this.#connection.run(this.#sql)]) await this.work(step);
    } catch (error) {
      return error;
    }
    return new Error('it ended before its last row');
  }

  #fetch(): Promise<DuckDBDataChunk | null> {
    return this.work(() => this.#result!.fetchChunk());
  }

  #end(isCut: boolean): void {
    this.#writer!.end(isCut);
    this.isDone = true;
  }

  /** The reason why the query has no answer, for its author. */
  reasonOf(error: unknown): string {
    if (error instanceof JobFailure) return error.message;
    if (this.#isLate)
      return 'the query takes longer than is allowed: ask for fewer rows, or for a smaller part of the sky';
    if (isOutOfMemory(error)) return NO_MEMORY;
    const meaning = meaningOf(error);
    if (meaning !== undefined) return `the query cannot be carried out: ${meaning}`;
    if (!this.#isClosed)
      process.stderr.write(
        `${JSON.stringify({ event: 'tap_query_failed', error: messageOf(error).slice(0, 2000) })}\n`,
      );
    return 'the query cannot be carried out: the log of the service says why';
  }

  /**
   * Runs a step of the engine. The connection must not be closed meanwhile, because the engine would continue the
   * query.
   */
  async work<T>(work: () => Promise<T>): Promise<T> {
    this.#throwIfEnded();
    // Repeated, because an interrupt between two steps of the engine has no effect.
    const again = setInterval(() => {
      if (this.#isClosed || this.#isLate) this.#connection.interrupt();
    }, INTERRUPT_MS);
    const working = work();
    this.#working = working;
    try {
      return await working;
    } finally {
      clearInterval(again);
      this.#working = undefined;
      if (this.#isClosed) this.#connection.closeSync();
    }
  }

  #throwIfEnded(): void {
    if (this.#isClosed || this.#isLate) throw new Error('the query was ended');
  }

  /**
   * Resolves when the engine has stopped working. It ignores interrupts while it plans a query.
   * @returns whether the query was interrupted
   */
  async close(): Promise<boolean> {
    const isInterrupted = this.#isLate || this.#working !== undefined;
    this.#isClosed = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#idle);
    this.#connection.interrupt();
    if (this.#working) await this.#working.catch(() => {});
    else this.#connection.closeSync();
    return isInterrupted;
  }
}

/**
 * Adds a column to a query, and a last row in which that column is true. The engine's library treats an error or an
 * interrupt after the first rows like the end of the rows, so only the extra row proves that the result is complete.
 */
function withEnd(sql: string, columns: number): string {
  return `SELECT *, false FROM (${sql}) UNION ALL SELECT ${'NULL, '.repeat(columns)}true`;
}

function withinDescriptions(columns: readonly Column[]): readonly Column[] {
  if (columns.reduce((sum, { description }) => sum + description.length, 0) <= MAX_DESCRIPTIONS) return columns;
  const share = Math.floor(MAX_DESCRIPTIONS / columns.length);
  return columns.map(column => ({ ...column, description: column.description.slice(0, share).toWellFormed() }));
}

/** The values of a column of a chunk. */
function cellsOf({ type }: Column, vector: DuckDBVector, from: number, to: number): Cell[] {
  const cells: Cell[] = new Array(to - from);
  for (let row = from; row < to; row++) {
    const value = vector.getItem(row);
    cells[row - from] = type === 'time' && value !== null ? Number(value) : (value as Cell);
  }
  return cells;
}
