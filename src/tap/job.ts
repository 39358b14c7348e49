/** A query that the engine runs, and the answer that is made of its rows. */
import type { DuckDBConnection, DuckDBDataChunk, DuckDBResult, DuckDBVector } from '@duckdb/node-api';
import { ByteSink } from '../base/bytes.ts';
import { messageOf } from '../base/error_text.ts';
import type { Cell, Column } from '../tables/columns.ts';
import type { FitsRows } from '../tables/fits.ts';
import { tableFormat } from '../tables/formats.ts';
import { rowByRow, type TableWriter } from '../tables/table_writer.ts';
import { VotableWriter } from '../tables/votable.ts';
import type { TapFormat } from './formats.ts';
import type { Upload } from './upload_file.ts';

/** The bytes of a part of an answer. */
const PART_BYTES = 256 * 1024;
/** The interval in which a query that is to end is interrupted. */
const INTERRUPT_MS = 100;
/** An answer of which nobody has asked for a part this long is let go of. */
const IDLE_MS = 60_000;

export interface TapQuery {
  readonly query: string;
  readonly maxRecords: number;
  readonly format: TapFormat;
  /** The most that it may take, from its begin to its last row. */
  readonly seconds: number;
  /** Set where an answer that fails after its first rows is of no use: nobody has read of it. */
  readonly isJob?: true;
  readonly uploads: readonly Upload[];
  /** The file of all of them; there is none where the request has no parts. */
  readonly uploadPath?: string;
}

/** The message says to those who wrote the query why it has no answer. */
class JobFailure extends Error {}

/** A query that runs, and the answer that is made of its rows. */
export class Job {
  readonly #connection: DuckDBConnection;
  readonly #columns: readonly Column[];
  readonly #query: TapQuery;
  readonly #out = new ByteSink();
  readonly #onIdle: () => void;
  #writer: Pick<TableWriter, 'block' | 'end'> | undefined;
  #votable: VotableWriter | undefined;
  #result: DuckDBResult | undefined;
  /** The next chunk: the engine makes it while the one before is written. */
  #next: Promise<DuckDBDataChunk | null> | undefined;
  #sql = '';
  #rows = 0;
  #isLate = false;
  /** Whether all of it has been given. */
  isDone = false;
  #isClosed = false;
  #isWorking = false;
  #deadline: NodeJS.Timeout | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(connection: DuckDBConnection, columns: readonly Column[], query: TapQuery, onIdle: () => void) {
    this.#connection = connection;
    this.#columns = columns;
    this.#query = query;
    this.#onIdle = onIdle;
  }

  /** Runs the query until its first rows are there. */
  async begin(sql: string, infos: readonly { name: string; value: string }[]) {
    const { seconds, format } = this.#query;
    const { writer } = format;
    this.#deadline = setTimeout(() => {
      this.#isLate = true;
      this.#connection.interrupt();
    }, 1000 * seconds);
    const table = { name: 'result', description: 'The rows of the query', columns: this.#columns };
    const facts = Object.fromEntries(infos.map(({ name, value }) => [name, value]));
    let rows = sql;
    if (writer === 'tabledata' || writer === 'binary2') {
      const votable = new VotableWriter(this.#out, table, writer);
      votable.begin(infos);
      this.#votable = votable;
      this.#writer = {
        block: cells => votable.block(cells),
        end: isCut => votable.end(isCut ? 'OVERFLOW' : 'OK'),
      };
    } else if (writer === 'fits') {
      const { isCut, contents } = await this.#counted(sql);
      const { beginFits } = await import('../tables/fits.ts');
      const { query, nearsky_journal_entry: entry, nearsky_as_of: asOf } = facts;
      const cards = { QSTATUS: isCut ? 'OVERFLOW' : 'OK', NSENTRY: entry!, NSASOF: asOf! };
      const fits = beginFits(this.#out, table, contents, cards, query!);
      this.#writer = { block: rowByRow(cells => fits.row(cells)), end: () => fits.end() };
      rows = 'FROM temp.main.result';
    } else {
      const begin = await tableFormat(writer);
      this.#writer = begin(this.#out, table, JSON.stringify(facts));
    }
    this.#sql = rows;
    this.#result = await this.#work(() => this.#connection.stream(withEnd(rows, this.#columns.length)));
    await this.#write();
    this.#waits();
  }

  /** Makes the rows a table of the connection's own, for a format that says before them how many they are. */
  async #counted(sql: string): Promise<{ isCut: boolean; contents: FitsRows }> {
    const names = this.#columns.map((_, i) => `c${i + 1}`);
    await this.#work(() => this.#connection.run(`CREATE TEMP TABLE result(${names.join(', ')}) AS ${sql}`));
    const counts = this.#columns.map(({ type }, i) => {
      const characters = type === 'text' ? `coalesce(max(length(c${i + 1})), 0)` : '0';
      return `${characters}, count(*) > count(c${i + 1})`;
    });
    const reader = await this.#work(() =>
      this.#connection.runAndReadAll(`SELECT count(*), ${counts.join(', ')} FROM temp.main.result`),
    );
    const [count, ...of] = reader.getRows()[0]!;
    const { maxRecords } = this.#query;
    const columns = names.map((_, i) => ({ characters: Number(of[2 * i]), hasNulls: of[2 * i + 1] === true }));
    const rows = Math.min(Number(count), maxRecords);
    return { isCut: Number(count) > maxRecords, contents: { rows, columns } };
  }

  /** @throws JobFailure where a query fails after its first rows, and its answer cannot say that */
  async part(): Promise<Uint8Array | null> {
    clearTimeout(this.#idle);
    try {
      while (!this.isDone && !this.#isClosed && this.#out.length < PART_BYTES) await this.#write();
    } catch (error) {
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
    this.#idle = setTimeout(this.#onIdle, IDLE_MS);
  }

  /** Writes the rows of one chunk. */
  async #write(): Promise<void> {
    const chunk = await (this.#next ?? this.#fetch());
    if (this.#isClosed) return;
    if (!chunk || chunk.rowCount === 0) throw await this.#whyEnded();
    const isLast = chunk.getColumnVector(this.#columns.length).getItem(chunk.rowCount - 1) === true;
    const count = isLast ? chunk.rowCount - 1 : chunk.rowCount;
    const left = this.#query.maxRecords - this.#rows;
    this.#rows += count;
    if (!isLast && count <= left) {
      this.#next = this.#fetch();
      this.#next.catch(() => {});
    }
    const written = Math.min(count, left);
    if (written > 0)
      this.#writer!.block(this.#columns.map((column, i) => cellsOf(column, chunk.getColumnVector(i), written)));
    // Until a result is read to its end, its connection holds the tables as they were.
    if (isLast) await this.#fetch();
    if (isLast || count > left) this.#end(count > left);
  }

  /** The error for which the engine gave no further rows. It tells the error when all rows are asked for at once. */
  async #whyEnded(): Promise<unknown> {
    try {
      await this.#work(() => this.#connection.run(this.#sql));
    } catch (error) {
      return error;
    }
    return new Error('it ended before its last row');
  }

  #fetch(): Promise<DuckDBDataChunk | null> {
    return this.#work(() => this.#result!.fetchChunk());
  }

  #end(isCut: boolean): void {
    this.#writer!.end(isCut);
    this.isDone = true;
  }

  reasonOf(error: unknown): string {
    if (error instanceof JobFailure) return error.message;
    if (this.#isLate)
      return 'the query takes longer than a query may: ask for fewer rows, or for a smaller part of the sky';
    const message = messageOf(error);
    if (/out of memory/i.test(message)) return 'the query takes more memory than a query may: ask for less at once';
    // The engine shows its own SQL after the first line, which means nothing to those who wrote ADQL.
    return `the query cannot be carried out: ${message.split('\n', 1)[0]!.slice(0, 300)}`;
  }

  /** Lets the engine work. A connection that is closed meanwhile would go on with its query. */
  async #work<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed || this.#isLate) throw new Error('the query was ended');
    this.#isWorking = true;
    // An interrupt between two steps of the engine is lost.
    const again = setInterval(() => {
      if (this.#isClosed || this.#isLate) this.#connection.interrupt();
    }, INTERRUPT_MS);
    try {
      return await work();
    } finally {
      clearInterval(again);
      this.#isWorking = false;
      if (this.#isClosed) this.#connection.closeSync();
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#idle);
    this.#connection.interrupt();
    if (!this.#isWorking) this.#connection.closeSync();
  }
}

/**
 * The rows of a query, with another column, and behind them one row more, which is true there. After the first rows the
 * engine's library takes an error, and an interrupt, for the end of the rows.
 */
function withEnd(sql: string, columns: number): string {
  return `SELECT *, false FROM (${sql}) UNION ALL SELECT ${'NULL, '.repeat(columns)}true`;
}

/** The first values of a column of a chunk. */
function cellsOf({ type }: Column, vector: DuckDBVector, count: number): Cell[] {
  const cells: Cell[] = new Array(count);
  for (let row = 0; row < count; row++) {
    const value = vector.getItem(row);
    cells[row] = type === 'time' && value !== null ? Number(value) : (value as Cell);
  }
  return cells;
}
