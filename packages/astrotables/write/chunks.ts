/** Collects rows in transposed chunks, for formats that store each column together. */
import { type Cell, type Column, checkBlock, checkRow, type Row } from '../columns.ts';

/** Rows per chunk: a few milliseconds of work. */
const CHUNK_ROWS = 1000;

/** Collects rows, and passes them on as one list per column. */
export class Chunks {
  readonly #columns: readonly Column[];
  readonly #write: (values: readonly ArrayLike<Cell>[], rows: number) => void;
  #values: Cell[][] = [];
  #rows = 0;

  /** @param write called for each chunk, with the cells of each column */
  constructor(columns: readonly Column[], write: (values: readonly ArrayLike<Cell>[], rows: number) => void) {
    this.#columns = columns;
    this.#write = write;
    this.#values = columns.map(() => []);
  }

  /** @throws CellError */
  add(cells: Row): void {
    checkRow(this.#columns, cells);
    for (let i = 0; i < this.#columns.length; i++) this.#values[i]!.push(cells[i]!);
    if (++this.#rows === CHUNK_ROWS) this.flush();
  }

  /**
   * Passes on rows that arrive column by column, as a chunk of their own.
   * @throws CellError
   */
  addBlock(values: readonly ArrayLike<Cell>[]): void {
    this.flush();
    checkBlock(this.#columns, values);
    this.#write(values, values[0]!.length);
  }

  /** Writes the remaining rows. */
  flush(): void {
    if (this.#rows === 0) return;
    this.#write(this.#values, this.#rows);
    this.#values = this.#columns.map(() => []);
    this.#rows = 0;
  }
}
