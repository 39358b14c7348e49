/** Reads an uploaded area, from file to file: the task of a process whose memory the kernel limits. */
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isGzip, isOutOfMemory } from '@nearsky/astrotables/bytes';
import { Area, type AreaArrays } from '@nearsky/sky-index';
import { PoolError, type Task } from '../pool/pool.ts';
import { AreaError } from './area_error.ts';
import { type AreaKind, type ReadArea, readArea, shapeTextIn } from './areas.ts';
import type { FlatMap } from './flat_map.ts';
import { PackedArea } from './packed_area.ts';

export interface ReadAreaTask extends Task<AreaWritten> {
  readonly kind: 'readArea';
  /** The path of the upload, and the path to which the arrays of the area are written. */
  readonly input: string;
  readonly output: string;
  /** See `readArea`. */
  readonly level: number;
}

export type AreaWritten =
  | {
      readonly outcome: 'read';
      readonly kind: AreaKind;
      readonly level: number | null;
      /**
       * The length in bytes of each array in the file. The arrays follow each other in the order of ARRAYS; null for a
       * missing one.
       */
      readonly lengths: readonly (number | null)[];
    }
  /** The upload is a shape, which the caller reads itself: a text of limited length. */
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

export async function runReadArea({ input, output, level }: ReadAreaTask): Promise<AreaWritten> {
  try {
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
    if (error instanceof PoolError || isOutOfMemory(error)) return { outcome: 'tooLarge' };
    throw error;
  }
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

/** The area in a file that the task has written. */
export async function areaInFile(
  path: string,
  { kind, level, lengths }: AreaWritten & { outcome: 'read' },
): Promise<ReadArea> {
  const file = await readFile(path);
  let at = 0;
  const arrays = NAMES.flatMap((name, i) => {
    const length = lengths[i];
    if (typeof length !== 'number') return [];
    // A copy, so that the array is aligned as its type requires.
    const bytes = Uint8Array.from(file.subarray(at, at + length));
    at += length;
    return [[name, new ARRAYS[name](bytes.buffer)] as const];
  });
  return { kind, level, area: Area.of(Object.fromEntries(arrays) as unknown as AreaArrays) };
}
