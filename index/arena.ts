/** One searchable arena. */
import {
  cellOf,
  discOrder,
  discPixels,
  FacePoint,
  faceMargin,
  MAX_AREA_ORDER,
  MAX_ORDER,
  pixel16,
  pixelOfCell,
} from './healpix.ts';
import {
  type ArenaViews,
  BUCKET_ALIGNMENT,
  BUCKET_CELLS,
  BUCKET_EAST,
  BUCKET_NORTH,
  BUCKET_ORDER,
  BUCKET_RHO2,
  BUCKET_ROW,
  BUCKET_ROW_END,
  BUCKET_SCALE,
  BUCKET_START,
  BUCKET_U0,
  BUCKET_V0,
  BUCKET_X,
  BUCKET_Y,
  blockRows,
  CELLS,
  MAX_CELLED_ROWS,
  RECORD_BYTES,
  ROW_DEC,
  ROW_ID,
  ROW_RA,
  ROW_TIME,
  readArena,
  TREE_HEADER_BYTES,
  treeOffset,
} from './layout.ts';
import { RADIANS_PER_ARCSEC, RADIANS_PER_DEGREE, separationArcsec } from './sphere.ts';
import { searchTree } from './tree.ts';

/**
 * The maximum distance of a stored coordinate from the true one, in units of the bucket's scale: half a unit of
 * rounding in u and in v (0.7072 together), plus a margin for float64 rounding.
 */
const COORDINATE_ERROR = 0.75;

/** A relative margin for the float64 rounding of a chord. */
const CHORD_SLACK = 1e-9;

const MAX_NSIDE = 2 ** MAX_ORDER;

/** The last order-13 pixel, and the number of order-16 pixels in each. */
const MAX_KEY = 12 * 4 ** MAX_ORDER - 1;
const KEY_PIXELS = 4 ** (MAX_AREA_ORDER - MAX_ORDER);

const CELL_SIDE = Math.sqrt(CELLS);
// Masks with a bit for each cell of a bucket, by NESTED number. Entry n has the first n columns (x), or rows (y).
const CELL_COLUMNS = [0, 0x0505, 0x0f0f, 0x5f5f, 0xffff];
const CELL_ROWS = [0, 0x0033, 0x00ff, 0x33ff, 0xffff];

/** If a disc's cells have more rows than this, the bucket's tree is searched instead. */
const MAX_SCANNED_ROWS = 256;

/** Rows found, reused between searches. */
export class ConeHits {
  /** The number of rows that are valid. */
  count = 0;
  /** Number of the arena in its index. */
  arena: Uint32Array = new Uint32Array(1024);
  row: Uint32Array = new Uint32Array(1024);

  /** Reserves space for `more` hits beyond `count`. */
  reserve(more: number): void {
    const needed = this.count + more;
    if (needed <= this.row.length) return;
    const arena = new Uint32Array(Math.max(needed, 2 * this.row.length));
    const row = new Uint32Array(arena.length);
    arena.set(this.arena);
    row.set(this.row);
    this.arena = arena;
    this.row = row;
  }
}

/** A disc on the sky, with the values that every arena needs; reused between searches. */
export class Disc {
  ra = 0;
  dec = 0;
  radiusArcsec = NaN;
  x = 0;
  y = 0;
  z = 0;
  /** Length of the chord of the radius on the unit sphere. */
  chord = 0;
  readonly point: FacePoint = new FacePoint();
  /** The order-13 pixel of the centre. */
  key = 0;
  /** The reach of the disc in face coordinates. */
  margin = 0;
  /** The pixels at `pixelOrder` that the disc may touch; valid after `findPixels`. */
  readonly pixels: Int32Array = new Int32Array(10);
  pixelOrder = 0;
  private pixelCount = -1;

  /** Degrees and arcsec, within the bounds of `checkPosition` and `checkRadius`. */
  set(ra: number, dec: number, radiusArcsec: number): void {
    this.ra = ra;
    this.dec = dec;
    if (radiusArcsec !== this.radiusArcsec) this.setRadius(radiusArcsec);
    const a = ra * RADIANS_PER_DEGREE;
    const d = dec * RADIANS_PER_DEGREE;
    const cosDec = Math.cos(d);
    this.x = cosDec * Math.cos(a);
    this.y = cosDec * Math.sin(a);
    this.z = Math.sin(d);
    this.point.set(ra, this.z, cosDec);
    this.key = pixelOfCell(
      MAX_ORDER,
      this.point.face,
      cellOf(this.point.x, MAX_NSIDE),
      cellOf(this.point.y, MAX_NSIDE),
    );
    this.pixelCount = -1;
  }

  private setRadius(radiusArcsec: number): void {
    this.radiusArcsec = radiusArcsec;
    const radius = radiusArcsec * RADIANS_PER_ARCSEC;
    this.chord = 2 * Math.sin(radius / 2) * (1 + CHORD_SLACK);
    this.margin = faceMargin(radius);
    this.pixelOrder = discOrder(this.margin);
  }

  /** Fills `pixels`, once per disc. Returns the number of pixels, at most nine. */
  findPixels(): number {
    if (this.pixelCount < 0) {
      this.pixelCount = discPixels(this.pixelOrder, this.point, this.margin, this.pixels);
    }
    return this.pixelCount;
  }
}

/** The best row so far of a nearest search; reused. */
export class NearestBest {
  /** Number of the arena in its index; -1 when nothing is found yet. */
  arena = -1;
  row = -1;
  /** The separation of the best row; until a row is found, the radius. */
  separationArcsec = 0;
  /** The best row's arena, for its id: it is read only for ties and at the end. */
  rows: Arena | undefined;

  get id(): bigint {
    return this.rows!.id(this.row);
  }
}

// Scratch of one search; a thread searches one arena at a time.
// Pairs: the first row of a range and the row after its last one, relative to the bucket's first row.
const foundRanges = new Int32Array(32768);
let foundBuckets = new Int32Array(1024);

/** An arena in shared memory, opened for searching. Opening costs a few microseconds and copies nothing. */
export class Arena {
  readonly buffer: SharedArrayBuffer;
  /** The number of points. */
  readonly length: number;
  readonly hasTime: boolean;
  private readonly views: ArenaViews;
  private readonly directoryShift: number;
  // The bucket that is being searched: the disc's centre in the bucket's coordinates, the maximum distance of any point
  // of the disc from that centre, and the squared distance within which a point is certainly in the disc. For points
  // between the two distances, the float64 coordinates decide.
  private u = 0;
  private v = 0;
  private outer = 0;
  private inner2 = 0;

  /** @throws ArenaError when the bytes are not an arena of this version */
  constructor(buffer: SharedArrayBuffer) {
    const views = readArena(buffer);
    this.buffer = buffer;
    this.views = views;
    this.length = views.dimensions.rows;
    this.hasTime = views.dimensions.hasTime;
    this.directoryShift = 2 * (MAX_ORDER - views.dimensions.directoryOrder);
  }

  /** Bytes of the arena without the exact coordinates and the times: the memory that searching uses, ids included. */
  get indexBytes(): number {
    return this.buffer.byteLength - this.length * (this.hasTime ? 24 : 16);
  }

  /** Degrees, like `dec`. */
  ra(row: number): number {
    return this.views.rows[row * this.views.stride + ROW_RA]!;
  }

  dec(row: number): number {
    return this.views.rows[row * this.views.stride + ROW_DEC]!;
  }

  id(row: number): bigint {
    return this.views.rowInts[row * this.views.stride + ROW_ID]!;
  }

  /** The time that was given with the point; only if `hasTime`. */
  time(row: number): number {
    return this.views.rows[row * this.views.stride + ROW_TIME]!;
  }

  /** Copies the rows from `from` to before `to` to a `row` of other rows, which have as many values each. */
  copyRows(from: number, to: number, rows: Float64Array, row: number): void {
    const { stride } = this.views;
    rows.set(this.views.rows.subarray(from * stride, to * stride), row * stride);
  }

  /** The NESTED pixel of a row at order 16; rows are sorted by it. */
  pixelOf(row: number): number {
    return pixel16(this.ra(row), this.dec(row));
  }

  /** The first row in or after an order-16 pixel; `length` if there is none. */
  rowOfPixel(pixel: number): number {
    const bucket = this.bucketAt(Math.min(MAX_KEY, Math.floor(pixel / KEY_PIXELS)));
    if (bucket < 0) return 0;
    const { ints } = this.views;
    const record = bucket * (RECORD_BYTES / 4);
    let low = ints[record + BUCKET_ROW]!;
    let high = ints[record + BUCKET_ROW_END]!;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pixelOf(middle) < pixel) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Appends the rows that lie in the disc, its edge included, to `hits`. */
  coneSearch(disc: Disc, hits: ConeHits): void {
    const buckets = this.findBuckets(disc);
    for (let i = 0; i < buckets; i++) this.coneInBucket(foundBuckets[i]!, disc, hits);
  }

  /**
   * Improves `best` with this arena's nearest row within `best.separationArcsec` (inclusive) of the disc's centre; of
   * equal separations the lowest id. `arena` is this arena's number in the index.
   */
  nearest(disc: Disc, arena: number, best: NearestBest): void {
    const buckets = this.findBuckets(disc);
    for (let i = 0; i < buckets; i++) this.nearestInBucket(foundBuckets[i]!, disc, arena, best);
  }

  /** Writes the numbers of the buckets that the disc may touch to `foundBuckets`, ascending. Returns their number. */
  private findBuckets(disc: Disc): number {
    const { bucketKey, dimensions } = this.views;
    const home = this.bucketAt(disc.key);
    if (home >= 0 && disc.key < this.bucketEnd(home) && this.holdsDisc(home, disc)) {
      foundBuckets[0] = home;
      return 1;
    }
    const pixels = disc.findPixels();
    const shift = 2 * (MAX_ORDER - disc.pixelOrder);
    let count = 0;
    let next = 0;
    for (let i = 0; i < pixels; i++) {
      const start = disc.pixels[i]! << shift;
      const end = start + 2 ** shift;
      let bucket = this.bucketAt(start);
      if (bucket < next || this.bucketEnd(bucket) <= start) bucket++;
      if (bucket < next) bucket = next;
      for (; bucket < dimensions.buckets && bucketKey[bucket]! < end; bucket++) {
        if (count === foundBuckets.length) growFoundBuckets();
        foundBuckets[count++] = bucket;
      }
      next = bucket;
    }
    return count;
  }

  /** The last bucket that begins at or before an order-13 pixel, or -1. */
  private bucketAt(key: number): number {
    const { directory, bucketKey } = this.views;
    const cell = key >> this.directoryShift;
    let bucket = directory[cell]! - 1;
    // No branch on a comparison, because no processor can predict it: the mask is -1 if the key is at most `key`.
    for (let more = directory[cell + 1]! - 1 - bucket; more > 0; ) {
      const step = (more + 1) >> 1;
      bucket += step & ((bucketKey[bucket + step]! - key - 1) >> 31);
      more -= step;
    }
    return bucket;
  }

  private bucketOrder(bucket: number): number {
    return this.views.ints[bucket * (RECORD_BYTES / 4) + BUCKET_ORDER]!;
  }

  /** The order-13 pixel after the bucket's last one. */
  private bucketEnd(bucket: number): number {
    return this.views.bucketKey[bucket]! + (1 << (2 * (MAX_ORDER - this.bucketOrder(bucket))));
  }

  /** Whether the disc stays inside the pixel of the bucket that contains its centre; usually it does. */
  private holdsDisc(bucket: number, { point, margin }: Disc): boolean {
    const nside = 1 << this.bucketOrder(bucket);
    return isInCell(point.x * nside, point.y * nside, margin * nside);
  }

  /**
   * Brings the disc into the coordinates of a bucket and finds the rows that the disc may touch. Returns the number of
   * ranges in `foundRanges`.
   *
   * For points p and q of the sphere with projections at most rho from the point where the plane touches, the chord c
   * and the distance d of the projections obey d <= c <= d / sqrt(1 - rho^2).
   */
  private enterBucket(bucket: number, disc: Disc, chord: number): number {
    const { floats, ints, words } = this.views;
    const at = bucket * (RECORD_BYTES / 8);
    const u = disc.x * floats[at + BUCKET_EAST]! + disc.y * floats[at + BUCKET_EAST + 1]!;
    const v =
      disc.x * floats[at + BUCKET_NORTH]! +
      disc.y * floats[at + BUCKET_NORTH + 1]! +
      disc.z * floats[at + BUCKET_NORTH + 2]!;
    const scale = floats[at + BUCKET_SCALE]!;
    const rho2 = Math.max(floats[at + BUCKET_RHO2]!, u * u + v * v);
    const reach = chord * scale;
    const inner = reach * Math.sqrt(Math.max(0, 1 - rho2)) * (1 - 2 * CHORD_SLACK) - COORDINATE_ERROR;
    const outer = reach + COORDINATE_ERROR;
    const queryU = (u - floats[at + BUCKET_U0]!) * scale;
    const queryV = (v - floats[at + BUCKET_V0]!) * scale;
    this.u = queryU;
    this.v = queryV;
    this.outer = outer;
    this.inner2 = inner > 0 ? inner * inner : -1;
    const record = bucket * (RECORD_BYTES / 4);
    const rows = ints[record + BUCKET_ROW_END]! - ints[record + BUCKET_ROW]!;
    if (disc.point.face === this.views.bucketKey[bucket]! >> (2 * MAX_ORDER) && rows <= MAX_CELLED_ROWS) {
      const ranges = this.cellRanges(bucket, disc, rows);
      if (ranges >= 0) return ranges;
    }
    if (queryU + outer < 0 || queryV + outer < 0 || queryU - outer > 65535 || queryV - outer > 65535) return 0;
    const step = blockRows(rows);
    const blocks = searchTree(
      words,
      ints[record + BUCKET_START]! * (BUCKET_ALIGNMENT / 2) + treeOffset(rows) + TREE_HEADER_BYTES / 2,
      Math.ceil(rows / step),
      toInt(queryU - outer),
      toInt(queryV - outer),
      toInt(queryU + outer + 1),
      toInt(queryV + outer + 1),
      foundRanges,
    );
    for (let i = blocks - 1; i >= 0; i--) {
      const first = foundRanges[i]! * step;
      foundRanges[2 * i] = first;
      foundRanges[2 * i + 1] = Math.min(first + step, rows);
    }
    return blocks;
  }

  /**
   * Finds the rows of the cells that a disc on the bucket's face may touch. Returns the number of ranges in
   * `foundRanges`, or -1 if they have so many rows that the tree is faster.
   *
   * No path between two points of a face leaves it by a meridian and returns. So both face coordinates change by less
   * than the margin, also where the path crosses other faces.
   */
  private cellRanges(bucket: number, { point, margin }: Disc, rows: number): number {
    const { ints, words } = this.views;
    const record = bucket * (RECORD_BYTES / 4);
    const scale = CELL_SIDE << ints[record + BUCKET_ORDER]!;
    const x = point.x * scale - CELL_SIDE * ints[record + BUCKET_X]!;
    const y = point.y * scale - CELL_SIDE * ints[record + BUCKET_Y]!;
    const reach = margin * scale;
    const west = Math.max(0, Math.floor(x - reach));
    const east = Math.min(CELL_SIDE - 1, Math.floor(x + reach));
    const south = Math.max(0, Math.floor(y - reach));
    const north = Math.min(CELL_SIDE - 1, Math.floor(y + reach));
    if (west > east || south > north) return 0;
    // A bit for each cell that the disc may touch.
    let mask = CELL_COLUMNS[east + 1]! & ~CELL_COLUMNS[west]! & (CELL_ROWS[north + 1]! & ~CELL_ROWS[south]!);
    const cells = bucket * (RECORD_BYTES / 2) + BUCKET_CELLS;
    let ranges = 0;
    let total = 0;
    while (mask !== 0) {
      const first = lowestBit(mask);
      const end = first + lowestBit(~(mask >> first));
      mask &= -1 << end;
      const from = words[cells + first]!;
      const to = end === CELLS ? rows : words[cells + end]!;
      if (to === from) continue;
      total += to - from;
      foundRanges[2 * ranges] = from;
      foundRanges[2 * ranges + 1] = to;
      ranges++;
    }
    return total <= MAX_SCANNED_ROWS ? ranges : -1;
  }

  private coneInBucket(bucket: number, disc: Disc, hits: ConeHits): void {
    const ranges = this.enterBucket(bucket, disc, disc.chord);
    if (ranges === 0) return;
    const { ints, words } = this.views;
    const { u, v, inner2 } = this;
    const outer2 = this.outer * this.outer;
    const record = bucket * (RECORD_BYTES / 4);
    const firstRow = ints[record + BUCKET_ROW]!;
    const uv = ints[record + BUCKET_START]! * (BUCKET_ALIGNMENT / 2);
    let count = hits.count;
    for (let i = 0; i < ranges; i++) {
      const first = foundRanges[2 * i]!;
      const end = foundRanges[2 * i + 1]!;
      hits.reserve(end - first);
      const out = hits.row;
      for (let k = first; k < end; k++) {
        const du = words[uv + 2 * k]! - u;
        const dv = words[uv + 2 * k + 1]! - v;
        const d2 = du * du + dv * dv;
        if (d2 > outer2) continue;
        const row = firstRow + k;
        if (d2 <= inner2 || separationArcsec(disc.ra, disc.dec, this.ra(row), this.dec(row)) <= disc.radiusArcsec)
          out[count++] = row;
      }
      hits.count = count;
    }
  }

  private nearestInBucket(bucket: number, disc: Disc, arena: number, best: NearestBest): void {
    // A nearer row shrinks the disc.
    const chord =
      best.row < 0 ? disc.chord : 2 * Math.sin((best.separationArcsec * RADIANS_PER_ARCSEC) / 2) * (1 + CHORD_SLACK);
    const ranges = this.enterBucket(bucket, disc, chord);
    if (ranges === 0) return;
    const { floats, ints, words } = this.views;
    const { u, v } = this;
    const scale = floats[bucket * (RECORD_BYTES / 8) + BUCKET_SCALE]!;
    const record = bucket * (RECORD_BYTES / 4);
    const firstRow = ints[record + BUCKET_ROW]!;
    const uv = ints[record + BUCKET_START]! * (BUCKET_ALIGNMENT / 2);
    let outer2 = this.outer * this.outer;
    for (let i = 0; i < ranges; i++) {
      const first = foundRanges[2 * i]!;
      const end = foundRanges[2 * i + 1]!;
      for (let k = first; k < end; k++) {
        const du = words[uv + 2 * k]! - u;
        const dv = words[uv + 2 * k + 1]! - v;
        if (du * du + dv * dv > outer2) continue;
        const row = firstRow + k;
        const separation = separationArcsec(disc.ra, disc.dec, this.ra(row), this.dec(row));
        if (separation > best.separationArcsec) continue;
        if (best.row >= 0 && separation === best.separationArcsec && this.id(row) >= best.id) continue;
        best.separationArcsec = separation;
        best.arena = arena;
        best.rows = this;
        best.row = row;
        const outer = separation * RADIANS_PER_ARCSEC * (1 + CHORD_SLACK) * scale + COORDINATE_ERROR;
        outer2 = outer * outer;
      }
    }
  }
}

/** Whether a disc of this reach, centred at these coordinates of a grid, lies in one cell of the grid. */
function isInCell(x: number, y: number, reach: number): boolean {
  const dx = x - Math.floor(x);
  const dy = y - Math.floor(y);
  return dx > reach && 1 - dx > reach && dy > reach && 1 - dy > reach;
}

/** The number of the lowest bit that is set in an int32 other than 0. */
function lowestBit(bits: number): number {
  return 31 - Math.clz32(bits & -bits);
}

/** The largest integer at or below a coordinate. A coordinate outside the range of points stays outside. */
function toInt(coordinate: number): number {
  return Math.floor(Math.max(-2, Math.min(65537, coordinate))) | 0;
}

function growFoundBuckets(): void {
  const larger = new Int32Array(2 * foundBuckets.length);
  larger.set(foundBuckets);
  foundBuckets = larger;
}
