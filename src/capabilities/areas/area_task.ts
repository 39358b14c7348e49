/**
 * Reads an uploaded area or table of positions, and writes the result to a file. This is the task of a process whose
 * memory the kernel limits.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { findPositions, openTable, type Positions, readPositions, TableError } from '@nearsky/astrotables';
import { isGzip, isOutOfMemory } from '@nearsky/astrotables/bytes';
import { isPosition, wrapRa } from '@nearsky/sky-index';
import { Area, type AreaArrays, Discs, discArrays, type Region } from '@nearsky/sky-index/areas';
import { AreaError } from '../../core/base/area_error.ts';
import { MAX_FOLLOWED_POSITIONS, MAX_UNPACKED_AREA_BYTES } from '../../core/contract/limits.ts';
import type { Task, Tasks } from '../../core/pool/pool.ts';
import { PoolError } from '../../core/pool/pool_error.ts';
import type { FlatMap } from '../catalogs/flat_map.ts';
import { type AreaKind, type ReadArea, readArea, shapeTextIn } from '../catalogs/read_area.ts';
import { PackedArea } from './packed_area.ts';

export interface ReadAreaTask extends Task<AreaWritten> {
  readonly module: 'src/capabilities/areas/area_task';
  readonly kind: 'readArea';
  /** The path of the upload, and the path for the arrays of the area. */
  readonly input: string;
  readonly output: string;
  /** See `readArea`. */
  readonly level: number;
  /** For a table of positions, the radius of the discs around them; undefined for an area. */
  readonly radiusArcsec?: number | undefined;
}

export type AreaWritten =
  | {
      readonly outcome: 'read';
      readonly kind: AreaKind;
      readonly level: number | null;
      /**
       * The length of each array in the file, in bytes, or null if it is missing. The arrays follow each other in the
       * order of ARRAYS.
       */
      readonly lengths: readonly (number | null)[];
    }
  /**
   * The discs around the positions of a table. The file has their cells, with this length in bytes, then their arena.
   */
  | { readonly outcome: 'discs'; readonly cellsBytes: number }
  /** The upload is a shape: a short string, which the caller reads itself. */
  | { readonly outcome: 'shape'; readonly text: string }
  | { readonly outcome: 'refused'; readonly message: string; readonly param: AreaError['param'] }
  | { readonly outcome: 'tooLarge' };

const ARRAYS = {
  bounds: Float64Array,
  levels: Float64Array,
  merged: Float64Array,
  deepBounds: BigInt64Array,
  isCut: Uint8Array,
} as const;
const NAMES = Object.keys(ARRAYS) as (keyof typeof ARRAYS)[];

export const tasks: Tasks<ReadAreaTask> = { readArea: runReadArea };

async function runReadArea({ input, output, level, radiusArcsec }: ReadAreaTask): Promise<AreaWritten> {
  try {
    if (radiusArcsec !== undefined) return writeDiscs(await openPositions(readFileSync(input)), radiusArcsec, output);
    const sent = await unpacked(readFileSync(input));
    const text = sent instanceof Uint8Array ? shapeTextIn(sent) : undefined;
    if (text !== undefined) return { outcome: 'shape', text };
    const read = whole(readArea(sent, level));
    const { arrays } = read.area;
    const parts = NAMES.map(name => arrays[name]);
    writeFileSync(output, Buffer.concat(parts.flatMap(part => (part ? bytesOf(part) : []))), { mode: 0o600 });
    const lengths = parts.map(part => part?.byteLength ?? null);
    return { outcome: 'read', kind: read.kind, level: read.level, lengths };
  } catch (error) {
    if (error instanceof AreaError) return { outcome: 'refused', message: error.message, param: error.param };
    if (error instanceof TableError) return { outcome: 'refused', message: invalidTable(error.message), param: 'area' };
    if (error instanceof PoolError || isOutOfMemory(error)) return { outcome: 'tooLarge' };
    throw error;
  }
}

/**
 * Reads an area from a file of the operator. With a radius, the file is a table of positions, and the area consists of
 * the discs around them.
 * @throws AreaError, TableError; an error of the file system
 */
export async function readRegion(sent: Uint8Array, level: number, radiusArcsec: number | undefined): Promise<Region> {
  if (radiusArcsec === undefined) return whole(readArea(await unpacked(sent), level)).area.withoutLevels();
  return new Discs(discArraysOf(await openPositions(sent), radiusArcsec), radiusArcsec);
}

const invalidTable = (why: string) => `Cannot read the table of positions because ${why}`;

/** @throws TableError */
async function openPositions(sent: Uint8Array): Promise<Positions> {
  const limits = { maxRows: MAX_FOLLOWED_POSITIONS, maxBytes: MAX_UNPACKED_AREA_BYTES };
  const table = await openTable(sent, limits, false);
  return await readPositions(table, findPositions(table, {}));
}

/** @throws TableError if a row has no valid position, or there are no rows */
function discArraysOf({ ra, dec }: Positions, radiusArcsec: number) {
  if (ra.length === 0) throw new TableError('it has no rows');
  const wrapped = ra.map(wrapRa);
  const bad = wrapped.findIndex((each, row) => !isPosition(each, dec[row]!));
  if (bad >= 0) throw new TableError(`row ${bad + 1} has no valid position: leave it out`);
  return discArrays(wrapped, dec, radiusArcsec);
}

function writeDiscs(positions: Positions, radiusArcsec: number, output: string): AreaWritten {
  const { arena, cells } = discArraysOf(positions, radiusArcsec);
  writeFileSync(output, Buffer.concat([bytesOf(cells), new Uint8Array(arena)]), { mode: 0o600 });
  return { outcome: 'discs', cellsBytes: cells.byteLength };
}

async function unpacked(sent: Uint8Array): Promise<Uint8Array | FlatMap> {
  if (!isGzip(sent)) return sent;
  const packed = await PackedArea.open(sent);
  try {
    return packed.isMap ? await packed.readMap() : await packed.readAll();
  } finally {
    packed.close();
  }
}

function whole<T>(steps: Generator<undefined, T, undefined>): T {
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Reads the discs from a file that the task has written. */
export async function discsInFile(path: string, cellsBytes: number, radiusArcsec: number): Promise<Discs> {
  const file = await readFile(path);
  const arena = new SharedArrayBuffer(file.length - cellsBytes);
  new Uint8Array(arena).set(file.subarray(cellsBytes));
  const cells = new Uint16Array(Uint8Array.from(file.subarray(0, cellsBytes)).buffer);
  return new Discs({ arena, cells }, radiusArcsec);
}

/** Reads the area from a file that the task has written. */
export async function areaInFile(
  path: string,
  { kind, level, lengths }: AreaWritten & { outcome: 'read' },
): Promise<ReadArea> {
  const file = await readFile(path);
  let at = 0;
  const arrays = NAMES.flatMap((name, i) => {
    const length = lengths[i];
    if (typeof length !== 'number') return [];
    // Copies the array, so that it is aligned as its type requires.
    const bytes = Uint8Array.from(file.subarray(at, at + length));
    at += length;
    return [[name, new ARRAYS[name](bytes.buffer)] as const];
  });
  return { kind, level, area: Area.of(Object.fromEntries(arrays) as unknown as AreaArrays) };
}
