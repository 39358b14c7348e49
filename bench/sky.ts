/** The skies that are measured: points and queries as little-endian float64 columns in a directory, as skyref.cpp writes and reads them. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../test/oracle/skies.ts';

export interface Sky {
  readonly dir: string;
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  readonly queryRa: Float64Array;
  readonly queryDec: Float64Array;
}

export interface SkySize {
  readonly points: number;
  readonly queries: number;
  readonly seed: number;
}

/** The output of skyref; undefined without g++. */
export type Skyref = Readonly<Record<string, number>> | undefined;

const cache = join(tmpdir(), 'nearsky-bench');
const skyrefSource = fileURLToPath(new URL('./skyref.cpp', import.meta.url));

/** The native reference, compiled once; undefined without g++. */
function skyref(): string | undefined {
  const program = join(cache, 'skyref');
  if (existsSync(program)) return program;
  mkdirSync(cache, { recursive: true });
  try {
    execFileSync('g++', ['-O3', '-march=native', '-std=c++17', '-o', program, skyrefSource], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  return program;
}

/** Runs the native reference over a sky, on one thread. */
export function runSkyref(dir: string): Skyref {
  const program = skyref();
  return program ? JSON.parse(execFileSync(program, ['run', dir], { encoding: 'utf8' })) : undefined;
}

export function readSky(dir: string): Sky {
  const column = (name: string) => {
    const bytes = readFileSync(join(dir, `${name}.f64`));
    return new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
  };
  return { dir, ra: column('ra'), dec: column('dec'), queryRa: column('qra'), queryDec: column('qdec') };
}

/** The skies of a workload by name: the given one, or skyref's and a uniform one. */
export function skiesOf({
  points,
  queries,
  seed,
  sky,
}: SkySize & { readonly sky?: string | undefined }): Record<string, Sky> {
  const size = { points, queries, seed };
  return sky ? { given: readSky(sky) } : { clustered: clusteredSky(size), uniform: uniformSky(size) };
}

/** skyref's own sky, half of it in crowds; the uniform one without g++. */
export function clusteredSky({ points, queries, seed }: SkySize): Sky {
  const program = skyref();
  if (!program) return uniformSky({ points, queries, seed });
  const dir = join(cache, `clustered-${points}-${queries}-${seed}`);
  if (!existsSync(join(dir, 'qdec.f64'))) {
    mkdirSync(dir, { recursive: true });
    execFileSync(program, ['gen', dir, String(seed), String(points), String(queries)]);
  }
  return readSky(dir);
}

/** Points anywhere, every other query within an arcsec or so of a point. */
export function uniformSky({ points, queries, seed }: SkySize): Sky {
  const dir = join(cache, `uniform-${points}-${queries}-${seed}`);
  if (!existsSync(join(dir, 'qdec.f64'))) {
    mkdirSync(dir, { recursive: true });
    const random = seededRandom(seed);
    const ra = Float64Array.from({ length: points }, () => 360 * random());
    const dec = Float64Array.from({ length: points }, () => (Math.asin(2 * random() - 1) * 180) / Math.PI);
    const near = Array.from({ length: queries }, (_, i) => (i % 2 ? -1 : Math.floor(random() * points)));
    const jitter = () => ((random() - 0.5) * 2) / 3600;
    const queryDec = Float64Array.from(near, k =>
      k < 0 ? (Math.asin(2 * random() - 1) * 180) / Math.PI : Math.max(-90, Math.min(90, dec[k]! + jitter())),
    );
    const queryRa = Float64Array.from(near, (k, i) =>
      k < 0 ? 360 * random() : (ra[k]! + jitter() / Math.cos((queryDec[i]! * Math.PI) / 180) + 360) % 360,
    );
    for (const [name, column] of Object.entries({ ra, dec, qra: queryRa, qdec: queryDec }))
      writeFileSync(join(dir, `${name}.f64`), new Uint8Array(column.buffer));
  }
  return readSky(dir);
}

/**
 * A random position. One in twenty is within a degree of (150, 2) in each coordinate, where ADQL cones are requested.
 */
export function placeAround(random: () => number): { readonly ra: number; readonly dec: number } {
  const isNear = random() < 0.05;
  const ra = isNear ? 149 + 2 * random() : 360 * random();
  const dec = isNear ? 1 + 2 * random() : (Math.asin(2 * random() - 1) * 180) / Math.PI;
  return { ra, dec };
}
