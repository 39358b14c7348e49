/**
 * Finds the objects within a radius of a position. It is made for millions of positions, of which nearly all have no
 * object nearby.
 */
import { RADIANS_PER_DEGREE, separationArcsec } from '@nearsky/sky-index';

/**
 * Added to the radius for zones and right ascensions, so that rounding never loses a source at the limit. The value is
 * far above the error of float64 degrees.
 */
export const PAD_ARCSEC = 1e-3;
/** The number of zones per object, large enough that most zones are empty. */
const ZONES_PER_OBJECT = 16;
/** More zones would not fit the processor's cache. */
const MAX_ZONES = 1 << 17;

/**
 * Zones of declination (Gray, Nieto-Santisteban & Szalay, MSR-TR-2006-52), each with the objects whose disc reaches
 * into the zone by ascending right ascension. A position is looked up in one zone; most zones are empty, and the lookup
 * then needs no trigonometric function. The rows of a file need not be sorted. The pixel column is not used, because it
 * may be missing, or may have been made from another version of the positions.
 */
export class ObjectZones {
  readonly #ra: Float64Array;
  readonly #dec: Float64Array;
  readonly radiusArcsec: number;
  /** Degrees, including the padding. */
  readonly #radius: number;
  /** The declination at which the first zone begins, degrees. */
  readonly #south: number;
  readonly #zonesPerDegree: number;
  /** The start of each zone's members, and the end of the last zone's. */
  readonly #starts: Uint32Array;
  readonly #members: Uint32Array;

  /** @param radiusArcsec inclusive; positions are degrees, 0 <= ra <= 360 */
  constructor(ra: Float64Array, dec: Float64Array, radiusArcsec: number) {
    this.#ra = ra;
    this.#dec = dec;
    this.radiusArcsec = radiusArcsec;
    const radius = (radiusArcsec + PAD_ARCSEC) / 3600;
    let [south, north] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const value of dec) {
      if (value < south) south = value;
      if (value > north) north = value;
    }
    const extent = ra.length > 0 ? north - south + 2 * radius : 0;
    // With zones narrower than the radius, each object would be in many zones.
    const zones = Math.min(MAX_ZONES, ZONES_PER_OBJECT * ra.length, Math.ceil(extent / radius));
    this.#radius = radius;
    this.#south = south - radius;
    this.#zonesPerDegree = zones / extent;
    const zoneOf = (value: number) => Math.min(zones - 1, Math.max(0, this.#zoneOf(value)));
    const first = Uint32Array.from(dec, value => zoneOf(value - radius));
    const last = Uint32Array.from(dec, value => zoneOf(value + radius));
    const starts = new Uint32Array(zones + 1);
    for (let object = 0; object < ra.length; object++)
      for (let zone = first[object]!; zone <= last[object]!; zone++) starts[zone + 1]!++;
    for (let zone = 0; zone < zones; zone++) starts[zone + 1]! += starts[zone]!;
    const members = new Uint32Array(starts[zones]!);
    const next = starts.slice();
    for (const object of Uint32Array.from(ra.keys()).sort((a, b) => ra[a]! - ra[b]!))
      for (let zone = first[object]!; zone <= last[object]!; zone++) members[next[zone]!++] = object;
    this.#starts = starts;
    this.#members = members;
  }

  #zoneOf(dec: number): number {
    return Math.floor((dec - this.#south) * this.#zonesPerDegree);
  }

  /** The maximum reach in right ascension, to either side, of the discs of a zone's members, degrees. */
  #reachOf(zone: number): number {
    const edge = (at: number) => Math.abs(this.#south + at / this.#zonesPerDegree);
    const dec = Math.max(edge(zone), edge(zone + 1)) + this.#radius;
    // A disc extends asin(sin r / cos dec), which is less than 1.1 times the ratio for ratios up to 1/2. Beyond that, a
    // disc may contain a pole.
    const ratio = this.#radius / Math.cos(Math.min(dec, 90) * RADIANS_PER_DEGREE);
    return ratio * RADIANS_PER_DEGREE <= 0.5 ? 1.1 * ratio : 360;
  }

  /** Whether any object lies within the radius, or a smaller one, of a position, 0 <= ra <= 360. */
  hasNear(ra: number, dec: number, radiusArcsec = this.radiusArcsec): boolean {
    if (this.#isEmpty(this.#zoneOf(dec))) return false;
    let found = false;
    this.near(ra, dec, (_, separation) => (found ||= separation <= radiusArcsec));
    return found;
  }

  /** Calls `visit` for every object within the radius of a position, 0 <= ra <= 360, in no particular order. */
  near(ra: number, dec: number, visit: (object: number, separationArcsec: number) => void): void {
    const zone = this.#zoneOf(dec);
    if (this.#isEmpty(zone)) return;
    const reach = this.#reachOf(zone);
    if (reach >= 180) this.#within(zone, ra, dec, 0, 360, visit);
    else {
      this.#within(zone, ra, dec, ra - reach, ra + reach, visit);
      if (ra < reach) this.#within(zone, ra, dec, ra - reach + 360, 360, visit);
      if (ra + reach > 360) this.#within(zone, ra, dec, 0, ra + reach - 360, visit);
    }
  }

  /** Whether a zone has no members or does not exist. */
  #isEmpty(zone: number): boolean {
    return !(zone >= 0 && this.#starts[zone]! < this.#starts[zone + 1]!);
  }

  /** The members of a zone from `west` to `east`, both inclusive. */
  #within(
    zone: number,
    ra: number,
    dec: number,
    west: number,
    east: number,
    visit: (object: number, separationArcsec: number) => void,
  ): void {
    const end = this.#starts[zone + 1]!;
    let low = this.#starts[zone]!;
    for (let high = end; low < high; ) {
      const middle = (low + high) >>> 1;
      if (this.#ra[this.#members[middle]!]! < west) low = middle + 1;
      else high = middle;
    }
    for (; low < end; low++) {
      const object = this.#members[low]!;
      if (this.#ra[object]! > east) return;
      const separation = separationArcsec(this.#ra[object]!, this.#dec[object]!, ra, dec);
      if (separation <= this.radiusArcsec) visit(object, separation);
    }
  }
}
