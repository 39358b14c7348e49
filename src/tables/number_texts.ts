import type { ByteSink } from '../base/bytes.ts';
import type { Cell } from './columns.ts';

/**
 * Writes the cells of a column of float64 one after another, each in the shortest text that reads back as the same number.
 * The text of all of them takes half the time of a text each.
 */
export class NumberTexts {
  readonly #cells: ArrayLike<Cell>;
  readonly #text: string;
  #row = 0;
  /** Where the text of the row begins, after a bracket or comma. */
  #from = 1;

  /** @param cells numbers and null */
  constructor(cells: ArrayLike<Cell>) {
    this.#cells = cells;
    this.#text = JSON.stringify(Array.isArray(cells) ? cells : Array.from(cells));
  }

  /**
   * Goes on to the next cell, and writes it where it has a text of digits.
   * @param before what is written before it
   * @returns whether it was written: null, NaN, the infinities and -0 were not
   */
  write(out: ByteSink, before?: Uint8Array): boolean {
    const cell = this.#cells[this.#row++] as number | null;
    const from = this.#from;
    const comma = this.#text.indexOf(',', from);
    const to = comma < 0 ? this.#text.length - 1 : comma;
    this.#from = to + 1;
    if (cell === null || !Number.isFinite(cell) || Object.is(cell, -0)) return false;
    if (before) out.fragment(before);
    out.part(this.#text, from, to);
    return true;
  }
}
