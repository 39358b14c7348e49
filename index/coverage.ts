/** The part of the sky that a catalog covers. */
import { checkOrder, conePixels, pixelOf } from './healpix.ts';

/** A set of NESTED pixels of one order (0 to 13), kept as sorted ranges. Immutable. */
export class Coverage {
  readonly order: number;
  /** Pairs [first, end) of pixels at `order`, ascending, neither touching nor overlapping. */
  readonly ranges: Uint32Array;

  private constructor(order: number, ranges: Uint32Array) {
    this.order = order;
    this.ranges = ranges;
  }

  /** @throws RangeError for an order that is not 0 to 13, or a pixel out of range */
  static fromPixels(order: number, pixels: Iterable<number>): Coverage {
    const end = pixelCount(order);
    const sorted = Float64Array.from(pixels).sort();
    const ranges: number[] = [];
    for (const pixel of sorted) {
      if (!(Number.isInteger(pixel) && pixel >= 0 && pixel < end))
        throw new RangeError(`a pixel of order ${order} must be 0 to ${end - 1} (${pixel} was given)`);
      const last = ranges.length - 1;
      if (last > 0 && pixel <= ranges[last]!) ranges[last] = Math.max(ranges[last]!, pixel + 1);
      else ranges.push(pixel, pixel + 1);
    }
    return new Coverage(order, Uint32Array.from(ranges));
  }

  /** @throws RangeError if the ranges are not sorted pairs like `ranges` */
  static fromRanges(order: number, ranges: Uint32Array): Coverage {
    const end = pixelCount(order);
    let previous = -1;
    for (const bound of ranges) {
      if (bound <= previous || bound > end)
        throw new RangeError(`coverage ranges must ascend up to ${end}: ${bound} follows ${previous}`);
      previous = bound;
    }
    if (ranges.length % 2) throw new RangeError('coverage ranges must come in pairs');
    return new Coverage(order, ranges);
  }

  /** The number of covered pixels. */
  get size(): number {
    let sum = 0;
    for (let i = 0; i < this.ranges.length; i += 2) sum += this.ranges[i + 1]! - this.ranges[i]!;
    return sum;
  }

  hasPixel(pixel: number): boolean {
    let low = 0;
    let high = this.ranges.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.ranges[middle]! <= pixel) low = middle + 1;
      else high = middle;
    }
    return low % 2 === 1;
  }

  /** Whether the pixel of a position (degrees) is covered. Throws a RangeError for a position out of range. */
  contains(ra: number, dec: number): boolean {
    return this.hasPixel(pixelOf(this.order, ra, dec));
  }

  /**
   * Whether a covered pixel lies within `radiusArcsec` (0 to 3600) of a position. Always true if one does; may also be
   * true if the nearest one is up to 1.5 times as far.
   */
  touches(ra: number, dec: number, radiusArcsec: number): boolean {
    return conePixels(this.order, ra, dec, radiusArcsec).some(pixel => this.hasPixel(pixel));
  }
}

function pixelCount(order: number): number {
  checkOrder(order);
  return 12 * 4 ** order;
}
