/** The cells of a MOC as they are read, bounded, to ranges of order-29 pixels. */
import { MAX_AREA_CELLS } from '../contract/limits.ts';
import { invalidArea } from './area_error.ts';

const MAX_MOC_ORDER = 29;

export class MocRanges {
  readonly #firsts: bigint[] = [];
  readonly #ends: bigint[] = [];

  /**
   * Adds the cells `first` to `last`, inclusive, of an order.
   * @throws AreaError for an order or a cell that there is none of, and for too many
   */
  add(order: number, first: bigint, last: bigint): void {
    if (!(Number.isInteger(order) && order >= 0 && order <= MAX_MOC_ORDER))
      throw invalidArea(`the orders of a MOC are 0 to ${MAX_MOC_ORDER} (${order} was given)`);
    const most = 12n * 4n ** BigInt(order) - 1n;
    if (first < 0n || last > most || first > last)
      throw invalidArea(`the cells of order ${order} are 0 to ${most} (${first} to ${last} was given)`);
    if (this.#firsts.length === MAX_AREA_CELLS) throw tooManyCells();
    const shift = BigInt(2 * (MAX_MOC_ORDER - order));
    this.#firsts.push(first << shift);
    this.#ends.push((last + 1n) << shift);
  }

  get firsts(): BigInt64Array {
    return BigInt64Array.from(this.#firsts);
  }

  get ends(): BigInt64Array {
    return BigInt64Array.from(this.#ends);
  }
}

export function tooManyCells() {
  return invalidArea(`it must have at most ${MAX_AREA_CELLS} cells: give one of a lower order`);
}
