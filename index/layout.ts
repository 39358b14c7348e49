/**
 * The bytes of an arena: one SharedArrayBuffer, written once by the builder, then only read, by any number of threads.
 *
 * Rows are sorted by their HEALPix pixel at order 16 (NESTED), so that neighbours on the sky are neighbours in memory. A bucket is a run of
 * rows in one pixel (order 3 to 13, as deep as its density asks for); blocks of 16 rows are the items of the bucket's Flatbush tree.
 * Within a bucket a point is a pair of uint16: its orthographic projection on the plane that touches the sphere at the bucket's
 * mean direction. A projection only shortens chords, so a box of the radius around the projected query misses nothing, and it has
 * neither poles nor a seam.
 *
 *   header       16 float64    magic, version, then the numbers of `ArenaShape`
 *   ra, dec      float64[n]    degrees, as given
 *   id           int64[n]
 *   time         float64[n]    only when the points had one
 *   uv           uint16[2n]    projected coordinates, in units of the bucket's scale
 *   frames       float64[12b]  see FRAME_*
 *   bucketKey    int32[b]      first order-13 pixel of the bucket, ascending
 *   bucketEnd    int32[b]      order-13 pixel after its last
 *   bucketRow    int32[b + 1]  first row
 *   bucketTree   int32[b]      where its tree begins, in bytes / 8 from the start of the trees
 *   directory    int32[12 * 4^directoryOrder + 1]   how many buckets have a key below that of the pixel
 *   trees        bytes         one serialised Flatbush (uint16 boxes) a bucket, each aligned to 8
 */

const MAGIC = 0x6e656172; // "near"
const VERSION = 1;
const HEADER_BYTES = 16 * 8;

/** Rows in a block, the item of a bucket's tree. A bucket too crowded for that has larger blocks, see `blockRows`. */
export const BLOCK_ROWS = 16;

/** Flatbush keeps its indices in uint16 only below 16,384 nodes; a bucket never has more items than this. */
const MAX_ITEMS = 15000;

/** Rows of one block in a bucket of `rows` rows. */
export function blockRows(rows: number): number {
  return rows <= BLOCK_ROWS * MAX_ITEMS ? BLOCK_ROWS : Math.ceil(rows / MAX_ITEMS);
}

/** Children of a Flatbush node. */
export const NODE_SIZE = 16;

/** Nodes of a Flatbush tree over `items` items, its items included. */
export function treeNodes(items: number): number {
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
  return align(TREE_HEADER_BYTES + treeNodes(items) * 10);
}

// Offsets in a bucket's frame: east and north unit vectors, origin and units per radian of uv, and the greatest squared distance of a
// point from the point where the plane touches.
export const FRAME_STRIDE = 12;
export const FRAME_EAST = 0;
export const FRAME_NORTH = 3;
export const FRAME_U0 = 6;
export const FRAME_V0 = 7;
export const FRAME_SCALE = 8;
export const FRAME_RHO2 = 9;

export interface ArenaShape {
  readonly rows: number;
  readonly buckets: number;
  readonly directoryOrder: number;
  readonly treesBytes: number;
  readonly hasTime: boolean;
}

export class ArenaError extends Error {
  override name = 'ArenaError';
}

function align(bytes: number): number {
  return (bytes + 7) & ~7;
}

/** Typed views of the sections of an arena. */
export class ArenaViews {
  readonly shape: ArenaShape;
  readonly byteLength: number;
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  readonly id: BigInt64Array;
  readonly time: Float64Array | undefined;
  readonly uv: Uint16Array;
  readonly frames: Float64Array;
  readonly bucketKey: Int32Array;
  readonly bucketEnd: Int32Array;
  readonly bucketRow: Int32Array;
  readonly bucketTree: Int32Array;
  readonly directory: Int32Array;
  readonly trees: Uint8Array;
  /** The same bytes as `trees`. */
  readonly treeWords: Uint16Array;

  constructor(buffer: SharedArrayBuffer, shape: ArenaShape) {
    this.shape = shape;
    const { rows, buckets, directoryOrder, treesBytes, hasTime } = shape;
    let at = HEADER_BYTES;
    const take = (bytes: number): number => {
      const start = at;
      at += Math.ceil(bytes / 8) * 8;
      return start;
    };
    this.ra = new Float64Array(buffer, take(8 * rows), rows);
    this.dec = new Float64Array(buffer, take(8 * rows), rows);
    this.id = new BigInt64Array(buffer, take(8 * rows), rows);
    this.time = hasTime ? new Float64Array(buffer, take(8 * rows), rows) : undefined;
    this.uv = new Uint16Array(buffer, take(4 * rows), 2 * rows);
    this.frames = new Float64Array(buffer, take(8 * FRAME_STRIDE * buckets), FRAME_STRIDE * buckets);
    this.bucketKey = new Int32Array(buffer, take(4 * buckets), buckets);
    this.bucketEnd = new Int32Array(buffer, take(4 * buckets), buckets);
    this.bucketRow = new Int32Array(buffer, take(4 * (buckets + 1)), buckets + 1);
    this.bucketTree = new Int32Array(buffer, take(4 * buckets), buckets);
    const cells = directoryCells(directoryOrder) + 1;
    this.directory = new Int32Array(buffer, take(4 * cells), cells);
    const trees = take(treesBytes);
    this.trees = new Uint8Array(buffer, trees, treesBytes);
    this.treeWords = new Uint16Array(buffer, trees, treesBytes / 2);
    this.byteLength = at;
  }
}

function directoryCells(order: number): number {
  return 12 * 4 ** order;
}

function shapeBytes({ rows, buckets, directoryOrder, treesBytes, hasTime }: ArenaShape): number {
  const pad = (bytes: number) => Math.ceil(bytes / 8) * 8;
  return (
    HEADER_BYTES +
    pad(8 * rows) * (hasTime ? 4 : 3) +
    pad(4 * rows) +
    8 * FRAME_STRIDE * buckets +
    pad(4 * buckets) * 3 +
    pad(4 * (buckets + 1)) +
    pad(4 * (directoryCells(directoryOrder) + 1)) +
    treesBytes
  );
}

/** A new arena of a shape, its header written and the rest zero. */
export function createArena(shape: ArenaShape): { buffer: SharedArrayBuffer; views: ArenaViews } {
  const buffer = new SharedArrayBuffer(shapeBytes(shape));
  const header = new Float64Array(buffer, 0, 16);
  const { rows, buckets, directoryOrder, treesBytes, hasTime } = shape;
  header.set([MAGIC, VERSION, rows, buckets, directoryOrder, treesBytes, hasTime ? 1 : 0]);
  return { buffer, views: new ArenaViews(buffer, shape) };
}

/**
 * The views of an arena's bytes.
 *
 * @throws ArenaError when they are not an arena, are of another version, or are cut short
 */
export function readArena(buffer: SharedArrayBuffer): ArenaViews {
  if (buffer.byteLength < HEADER_BYTES)
    throw new ArenaError(`Cannot open an arena as it is shorter than its header: it has ${buffer.byteLength} bytes`);
  const [magic, version, rows, buckets, directoryOrder, treesBytes, hasTime] = new Float64Array(buffer, 0, 16);
  if (magic !== MAGIC) throw new ArenaError('Cannot open an arena as these bytes are not one');
  if (version !== VERSION)
    throw new ArenaError(`Cannot open an arena as its version must be ${VERSION}: it is ${version}`);
  const shape: ArenaShape = {
    rows: rows!,
    buckets: buckets!,
    directoryOrder: directoryOrder!,
    treesBytes: treesBytes!,
    hasTime: hasTime === 1,
  };
  if (shapeBytes(shape) !== buffer.byteLength)
    throw new ArenaError(
      `Cannot open an arena as it must have ${shapeBytes(shape)} bytes: it has ${buffer.byteLength} bytes`,
    );
  return new ArenaViews(buffer, shape);
}
