/** Rows in chunks, transposed, for formats that store each column together. */
import { type Cell, type Column, checkRow, type Row } from './columns.ts';

/** Rows of a chunk: a few milliseconds of work. */
const CHUNK_ROWS = 1000;

/** Gathers rows, and gives them away as one list a column. */
export class Chunks {
  readonly #columns: readonly Column[];
  readonly #chunkRows: number;
  readonly #write: (values: readonly (readonly Cell[])[], rows: number) => void;
  #values: Cell[][] = [];
  #rows = 0;

  /** @param write called for each chunk, with the cells of each column */
  constructor(
    columns: readonly Column[],
    write: (values: readonly (readonly Cell[])[], rows: number) => void,
    chunkRows = CHUNK_ROWS,
  ) {
    this.#chunkRows = chunkRows;
    this.#columns = columns;
    this.#write = write;
    this.#values = columns.map(() => []);
  }

  /** @throws CellError */
  add(cells: Row): void {
    checkRow(this.#columns, cells);
    for (let i = 0; i < this.#columns.length; i++) this.#values[i]!.push(cells[i]!);
    if (++this.#rows === this.#chunkRows) this.flush();
  }

  /** Writes the remaining rows. */
  flush(): void {
    if (this.#rows === 0) return;
    this.#write(this.#values, this.#rows);
    this.#values = this.#columns.map(() => []);
    this.#rows = 0;
  }
}
