/** Collects the cells of a MOC as ranges of order-29 pixels, up to a limit. */

import { invalidArea } from '../../core/base/area_error.ts';
import { MAX_AREA_CELLS } from '../../core/contract/limits.ts';

const MAX_MOC_ORDER = 29;

export class MocRanges {
  // Typed arrays, because each bigint in a plain array would be a separate object.
  #firsts = new BigInt64Array(1024);
  #ends = new BigInt64Array(1024);
  #length = 0;

  /**
   * Adds the cells `first` to `last`, inclusive, of an order.
   * @throws AreaError if the order or a cell does not exist, or there are too many cells
   */
  add(order: number, first: bigint, last: bigint): void {
    if (!(Number.isInteger(order) && order >= 0 && order <= MAX_MOC_ORDER))
      throw invalidArea(`the orders of a MOC must be 0 to ${MAX_MOC_ORDER} (${order} was given)`);
    const most = 12n * 4n ** BigInt(order) - 1n;
    if (first < 0n || last > most || first > last)
      throw invalidArea(`the cells of order ${order} must be 0 to ${most} (${first} to ${last} were given)`);
    if (this.#length === MAX_AREA_CELLS) throw tooManyCells();
    if (this.#length === this.#firsts.length) this.#grow();
    const shift = BigInt(2 * (MAX_MOC_ORDER - order));
    this.#firsts[this.#length] = first << shift;
    this.#ends[this.#length++] = (last + 1n) << shift;
  }

  #grow(): void {
    const [firsts, ends] = [this.#firsts, this.#ends];
    this.#firsts = new BigInt64Array(2 * firsts.length);
    this.#ends = new BigInt64Array(2 * ends.length);
    this.#firsts.set(firsts);
    this.#ends.set(ends);
  }

  /** The first pixel of each range, in the order of `add`. */
  get firsts(): BigInt64Array {
    return this.#firsts.subarray(0, this.#length);
  }

  /** The pixel after the end of each range. */
  get ends(): BigInt64Array {
    return this.#ends.subarray(0, this.#length);
  }
}

export function tooManyCells() {
  return invalidArea(`it must have at most ${MAX_AREA_CELLS} cells: send a MOC of a lower order`);
}
