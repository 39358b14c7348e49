/** The nearest point to each of many positions, on all threads of a pool. */
import { Arena, type JoinResult, nearestJoin, SkyIndex } from '../../index/mod.ts';
import type { Pool } from '../pool/pool.ts';

/** Joins a part of the positions. Buffers of float64 degrees, of one length. */
export interface JoinTask {
  readonly kind: 'join';
  readonly arenas: readonly SharedArrayBuffer[];
  readonly ra: ArrayBuffer;
  readonly dec: ArrayBuffer;
  /** Inclusive, 0 to 3600. */
  readonly radiusArcsec: number;
}

/** The columns of a JoinResult, as buffers. */
export interface JoinAnswer {
  readonly arena: ArrayBufferLike;
  readonly row: ArrayBufferLike;
  readonly separationArcsec: ArrayBufferLike;
  readonly matched: number;
}

export function runJoin({ arenas, ra, dec, radiusArcsec }: JoinTask): JoinAnswer {
  const index = new SkyIndex(arenas.map(buffer => new Arena(buffer)));
  const result = nearestJoin(index, new Float64Array(ra), new Float64Array(dec), radiusArcsec);
  return {
    arena: result.arena.buffer,
    row: result.row.buffer,
    separationArcsec: result.separationArcsec.buffer,
    matched: result.matched,
  };
}

/**
 * `nearestJoin` with as many parts as the pool has threads.
 *
 * @param ra, dec degrees, of one length
 * @throws RangeError for a position or a radius out of range; PoolError
 */
export async function nearestJoinOnPool(
  pool: Pool,
  arenas: readonly SharedArrayBuffer[],
  ra: Float64Array,
  dec: Float64Array,
  radiusArcsec: number,
): Promise<JoinResult> {
  const size = Math.max(1, Math.ceil(ra.length / pool.threads));
  const starts = Array.from({ length: Math.ceil(ra.length / size) }, (_, part) => part * size);
  const answers = await Promise.all(
    starts.map(start => {
      const part = [ra.slice(start, start + size).buffer, dec.slice(start, start + size).buffer] as const;
      const task = { kind: 'join', arenas, ra: part[0], dec: part[1], radiusArcsec } as const;
      return pool.run(task, { transferList: [...part] });
    }),
  );
  const arena = new Uint32Array(ra.length);
  const row = new Uint32Array(ra.length);
  const separationArcsec = new Float64Array(ra.length);
  answers.forEach((answer, part) => {
    arena.set(new Uint32Array(answer.arena), starts[part]);
    row.set(new Uint32Array(answer.row), starts[part]);
    separationArcsec.set(new Float64Array(answer.separationArcsec), starts[part]);
  });
  return { arena, row, separationArcsec, matched: answers.reduce((sum, { matched }) => sum + matched, 0) };
}
