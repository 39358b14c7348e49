/**
 * The bytes of an arena: one SharedArrayBuffer, written once by the builder, then only read, by any number of threads.
 *
 * Rows are sorted by their HEALPix pixel at order 16 (NESTED), so that neighbours on the sky are neighbours in memory.
 * A bucket is a run of rows in one pixel (order 3 to 13, as deep as its density requires). Blocks of 16 rows are the
 * items of the bucket's Flatbush tree. Within a bucket a point is a pair of uint16: its orthographic projection on the
 * plane that touches the sphere at the centre of the bucket's pixel. A projection only shortens chords, so a box of the
 * radius around the projected query misses nothing. It has no poles and no seam.
 *
 *   header       16 float64    magic, version, then the numbers of `ArenaDimensions`
 *   rows         bytes         32 bytes per row, or 24 without times, so that a hit is in one place: ra and dec, float64,
 *                              degrees, as given; id, int64; time, float64, only when the points had one
 *   directory    int32[12 * 4^directoryOrder + 1]   number of buckets whose key is below the pixel's
 *   bucketKey    int32[b]      ascending: the bucket's first order-13 pixel
 *   records      bytes         128 bytes per bucket, see BUCKET_*: apart from the points, so that they stay in the
 *                              processor's cache
 *   buckets      bytes         one after the other, each aligned to 64:
 *                                uv, uint16[2 * rows]: the points' coordinates, in units of the bucket's scale
 *                                tree, a serialised Flatbush with uint16 boxes, aligned to 8
 */

const MAGIC = 0x6e656172; // "near"
const VERSION = 3;
const HEADER_BYTES = 16 * 8;
const SECTION_ALIGNMENT = 64;

/** Rows per block; a block is an item of a bucket's tree. A very crowded bucket has larger blocks, see `blockRows`. */
const BLOCK_ROWS = 16;

/** Flatbush keeps its indices in uint16 only below 16,384 nodes; a bucket never has more items than this. */
const MAX_ITEMS = 15000;

/** The number of rows per block in a bucket of `rows` rows. */
export function blockRows(rows: number): number {
  return rows <= BLOCK_ROWS * MAX_ITEMS ? BLOCK_ROWS : Math.ceil(rows / MAX_ITEMS);
}

/** Children per Flatbush node. */
export const NODE_SIZE = 16;

/** The number of nodes in a Flatbush tree over `items` items, including the items. */
function treeNodes(items: number): number {
  let nodes = items;
  let level = items;
  do {
    level = Math.ceil(level / NODE_SIZE);
    nodes += level;
  } while (level !== 1);
  return nodes;
}

/** Bytes before the boxes of a serialised Flatbush. */
export const TREE_HEADER_BYTES = 8;

/** Bytes of a serialised Flatbush with uint16 boxes and indices, rounded up to 8. */
export function treeBytes(items: number): number {
  return align(TREE_HEADER_BYTES + treeNodes(items) * 10, 8);
}

/** The number of cells in a bucket: the pixels two orders below its own. */
export const CELLS = 16;

/** A bucket with more rows than this has no cells, because their first rows would not fit into a uint16. */
export const MAX_CELLED_ROWS = 65535;

export function bucketBytes(rows: number): number {
  return align(2 * treeOffset(rows) + treeBytes(Math.ceil(rows / blockRows(rows))), BUCKET_ALIGNMENT);
}

/** The offset of a bucket's tree from its points, in uint16. */
export function treeOffset(rows: number): number {
  return 2 * (rows + (rows & 1));
}

// The values of a row.
export const ROW_RA = 0;
export const ROW_DEC = 1;
export const ROW_ID = 2;
export const ROW_TIME = 3;

/** A bucket's record, in bytes; it is read as float64, int32 and uint16. */
export const RECORD_BYTES = 128;
export const BUCKET_ALIGNMENT = 64;
// In float64: unit vectors to the east (whose z is 0) and north, origin and units per radian of uv, and the maximum
// squared distance of a point from the point where the plane touches the sphere.
export const BUCKET_EAST = 0;
export const BUCKET_NORTH = 2;
export const BUCKET_U0 = 5;
export const BUCKET_V0 = 6;
export const BUCKET_SCALE = 7;
export const BUCKET_RHO2 = 8;
// In int32: the order of the bucket's pixel and its place in the face, the first row, the row after the last one, and
// the start of the bucket, in units of 64 bytes from the first record.
export const BUCKET_ORDER = 18;
export const BUCKET_X = 19;
export const BUCKET_Y = 20;
export const BUCKET_ROW = 21;
export const BUCKET_ROW_END = 22;
export const BUCKET_START = 23;
// In uint16: the first row, from the bucket's, of each of the pixel's 16 grandchildren.
export const BUCKET_CELLS = 48;

export interface ArenaDimensions {
  readonly rows: number;
  readonly buckets: number;
  readonly directoryOrder: number;
  readonly bucketsBytes: number;
  readonly hasTime: boolean;
}

export class ArenaError extends Error {
  override name = 'ArenaError';
}

function align(bytes: number, to: number): number {
  return Math.ceil(bytes / to) * to;
}

/** Typed views of the sections of an arena. */
export class ArenaViews {
  readonly dimensions: ArenaDimensions;
  /** The rows as arrays of two types; a row is `stride` values. */
  readonly rows: Float64Array;
  readonly rowInts: BigInt64Array;
  readonly stride: number;
  readonly directory: Int32Array;
  readonly bucketKey: Int32Array;
  /** The records and the buckets as arrays of three types. */
  readonly floats: Float64Array;
  readonly ints: Int32Array;
  readonly words: Uint16Array;

  constructor(buffer: SharedArrayBuffer, dimensions: ArenaDimensions) {
    this.dimensions = dimensions;
    const { rows, buckets, directoryOrder, bucketsBytes, hasTime } = dimensions;
    let at = HEADER_BYTES;
    const take = (bytes: number): number => {
      const start = at;
      at += align(bytes, SECTION_ALIGNMENT);
      return start;
    };
    this.stride = rowStride(hasTime);
    const first = take(8 * this.stride * rows);
    this.rows = new Float64Array(buffer, first, this.stride * rows);
    this.rowInts = new BigInt64Array(buffer, first, this.stride * rows);
    const cells = directoryCells(directoryOrder) + 1;
    this.directory = new Int32Array(buffer, take(4 * cells), cells);
    this.bucketKey = new Int32Array(buffer, take(4 * buckets), buckets);
    const bytes = RECORD_BYTES * buckets + bucketsBytes;
    const start = take(bytes);
    this.floats = new Float64Array(buffer, start, bytes / 8);
    this.ints = new Int32Array(buffer, start, bytes / 4);
    this.words = new Uint16Array(buffer, start, bytes / 2);
  }
}

/** The number of values in a row. */
export function rowStride(hasTime: boolean): number {
  return hasTime ? 4 : 3;
}

function directoryCells(order: number): number {
  return 12 * 4 ** order;
}

function arenaBytes({ rows, buckets, directoryOrder, bucketsBytes, hasTime }: ArenaDimensions): number {
  const sections = [
    8 * rowStride(hasTime) * rows,
    4 * (directoryCells(directoryOrder) + 1),
    4 * buckets,
    RECORD_BYTES * buckets + bucketsBytes,
  ];
  return sections.reduce((sum, bytes) => sum + align(bytes, SECTION_ALIGNMENT), HEADER_BYTES);
}

/** Makes an arena for these counts: its header is written, the rest is zero. */
export function createArena(dimensions: ArenaDimensions): { buffer: SharedArrayBuffer; views: ArenaViews } {
  const buffer = new SharedArrayBuffer(arenaBytes(dimensions));
  const header = new Float64Array(buffer, 0, 16);
  const { rows, buckets, directoryOrder, bucketsBytes, hasTime } = dimensions;
  header.set([MAGIC, VERSION, rows, buckets, directoryOrder, bucketsBytes, hasTime ? 1 : 0]);
  return { buffer, views: new ArenaViews(buffer, dimensions) };
}

/**
 * Opens views of an arena's bytes.
 *
 * @throws ArenaError if they are not an arena, have another version, or are truncated
 */
export function readArena(buffer: SharedArrayBuffer): ArenaViews {
  if (buffer.byteLength < HEADER_BYTES)
    throw new ArenaError(
      `Cannot open an arena because it is shorter than its header: it has ${buffer.byteLength} bytes`,
    );
  const [magic, version, rows, buckets, directoryOrder, bucketsBytes, hasTime] = new Float64Array(buffer, 0, 16);
  if (magic !== MAGIC) throw new ArenaError('Cannot open an arena because these bytes are not one');
  if (version !== VERSION)
    throw new ArenaError(`Cannot open an arena because its version must be ${VERSION}: it is ${version}`);
  const dimensions: ArenaDimensions = {
    rows: rows!,
    buckets: buckets!,
    directoryOrder: directoryOrder!,
    bucketsBytes: bucketsBytes!,
    hasTime: hasTime === 1,
  };
  if (arenaBytes(dimensions) !== buffer.byteLength)
    throw new ArenaError(
      `Cannot open an arena because it must have ${arenaBytes(dimensions)} bytes: it has ${buffer.byteLength} bytes`,
    );
  return new ArenaViews(buffer, dimensions);
}
