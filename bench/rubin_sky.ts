/**
 * Four catalogs in HATS with the columns and the density of real ones, and positions of transients among their sources.
 * They cover a part of the sky that grows with the number of rows. Made by DuckDB once, and kept for later runs.
 */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { INFO_FILE, PROPERTIES_FILES, partitionFile } from '@nearsky/hats/layout';
import type { CatalogColumn } from '../src/core/contract/catalog.ts';
import { catalogDefinition } from '../src/core/contract/catalogs.ts';
import { CATALOGS } from '../test/e2e/support.ts';
import { offset, type Place, seededRandom } from '../test/oracle/skies.ts';

export interface RubinSky {
  /** The directory of each catalog, by name. */
  readonly catalogs: ReadonlyMap<string, string>;
  /** Positions of sources, neighbours on the sky side by side: pairs of ra and dec as float64. */
  readonly positionsFile: string;
}

/** One alert in this many is about a new object. */
export const NEW_EVERY = 5;
/** Sources per square degree in each catalog. At high latitudes Gaia has fewer, and DES has more. */
const DENSITY = 93_000;
/** The area of one of the twelve base pixels, square degrees. */
const FACE_DEGREES2 = 3437.7468;
/** Partitions have up to half a million rows at this order, as hats-import makes them. */
const ORDER = 5;
/** The base pixel around (90, 0), where positions follow from pixels by one formula. */
const FACE = 5;
/** The first pixel of the part of the sky along both axes of the base pixel: declinations from -36 degrees on. */
const FIRST = 2;
const ARCSEC = 1 / (3600 * Math.sqrt(FACE_DEGREES2));
const POSITIONS = 1_000_000;
const FIRST_ID = 4_612_352_219_396_039_168n;

/** @param rows sources of each catalog */
export async function rubinSky(directory: string, rows: number, note: (text: string) => void): Promise<RubinSky> {
  const root = join(directory, `rubin-${rows}`);
  const sky = (at: string): RubinSky => ({
    catalogs: new Map(CATALOGS.map(name => [name, join(at, name)])),
    positionsFile: join(at, 'positions.f64'),
  });
  if (existsSync(root)) return sky(root);
  const unfinished = `${root}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    await make(connection, sky(unfinished), rows, note);
  } finally {
    connection.closeSync();
  }
  renameSync(unfinished, root);
  return sky(root);
}

async function make(
  connection: DuckDBConnection,
  { catalogs, positionsFile }: RubinSky,
  rows: number,
  note: (text: string) => void,
): Promise<void> {
  for (const macro of MACROS) await connection.run(`CREATE MACRO ${macro}`);
  const side = Math.max(1, Math.round(Math.sqrt(rows / DENSITY / FACE_DEGREES2) * 2 ** ORDER));
  const axis = Array.from({ length: side }, (_, i) => FIRST + i);
  const pixels = axis
    .flatMap(x => axis.map(y => ({ x, y, ipix: (FACE << (2 * ORDER)) + spread(x) + 2 * spread(y) })))
    .sort((a, b) => a.ipix - b.ipix);
  const rowsOf = (i: number) => Math.floor(((i + 1) * rows) / pixels.length) - Math.floor((i * rows) / pixels.length);
  const positions: number[] = [];
  for (const [i, { x, y, ipix }] of pixels.entries()) {
    note(`writing partition ${i + 1} of ${pixels.length} of each catalog`);
    // A third of the sources crowd into one corner of the pixel.
    const within = 'CASE WHEN random() < 0.3 THEN random() ** 2 ELSE random() END';
    await connection.run(
      `CREATE OR REPLACE TABLE stars AS SELECT range AS n, (${x} + ${within}) / ${2 ** ORDER} AS x, (${y} + ${within}) / ${2 ** ORDER} AS y FROM range(${rowsOf(i)})`,
    );
    const firstId = FIRST_ID + BigInt(Math.floor((i * rows) / pixels.length));
    for (const [name, directory] of catalogs) {
      const file = join(directory, partitionFile({ order: ORDER, ipix }, '.parquet'));
      mkdirSync(dirname(file), { recursive: true });
      await connection.run(copyOf(name, file, firstId, x, y));
    }
    const share = POSITIONS / rows;
    const sample = await connection.runAndReadAll(
      `SELECT sky_ra(x, y), sky_dec(x, y) FROM stars WHERE n % 2 = 0 AND random() < ${share} ORDER BY healpix(x, y)`,
    );
    for (const [ra, dec] of sample.getRows()) positions.push(Number(ra), Number(dec));
  }
  writeFileSync(positionsFile, Float64Array.from(positions));
  for (const [name, directory] of catalogs) {
    const { raColumn, decColumn } = catalogDefinition(name)!;
    const properties = {
      obs_collection: name,
      dataproduct_type: 'object',
      hats_nrows: rows,
      hats_col_ra: raColumn,
      hats_col_dec: decColumn,
      hats_col_healpix: '_healpix_29',
      hats_col_healpix_order: 29,
      hats_npix_suffix: '.parquet',
    };
    const lines = Object.entries(properties).map(([key, value]) => `${key}=${value}\n`);
    for (const file of PROPERTIES_FILES) writeFileSync(join(directory, file), `#HATS catalog\n${lines.join('')}`);
    const info = pixels.map(({ ipix }) => `${ORDER},${ipix}\n`).join('');
    writeFileSync(join(directory, INFO_FILE), `Norder,Npix\n${info}`);
  }
}

const spread = (value: number) => Number.parseInt(value.toString(2), 4);

/** Positions in a base pixel of the equator are x and y, 0 to 1 along its edges (Gorski et al. 2005, section 5). */
const MACROS = [
  's16(v) AS (v | (v << 16)) & 281470681808895',
  's8(v) AS (v | (v << 8)) & 71777214294589695',
  's4(v) AS (v | (v << 4)) & 1085102592571150095',
  's2(v) AS (v | (v << 2)) & 3689348814741910323',
  's1(v) AS (v | (v << 1)) & 6148914691236517205',
  `cell(t) AS s1(s2(s4(s8(s16(floor(t * ${2 ** 29})::BIGINT)))))`,
  `healpix(x, y) AS ${BigInt(FACE) << 58n} + cell(x) + 2 * cell(y)`,
  'sky_ra(x, y) AS 90 + 45 * (x - y)',
  'sky_dec(x, y) AS degrees(asin((x + y - 1) * 2 / 3))',
];

/** Every other source of a catalog is in all four catalogs, within a tenth of an arcsecond. */
function copyOf(name: string, file: string, firstId: bigint, x: number, y: number): string {
  const definition = catalogDefinition(name)!;
  const place = (axis: string, from: number) => {
    const [low, high] = [from / 2 ** ORDER, (from + 1) / 2 ** ORDER - 1e-9];
    const anywhere = `${from / 2 ** ORDER} + random() / ${2 ** ORDER}`;
    const near = `${axis} + ${0.2 * ARCSEC} * (random() - 0.5)`;
    return `least(greatest(CASE WHEN n % 2 = 0 THEN ${near} ELSE ${anywhere} END, ${low}), ${high}) AS ${axis}`;
  };
  const id = definition.idPixel
    ? `((h >> ${2 * (29 - definition.idPixel.order)}) << ${definition.idPixel.bits}) + n`
    : `${firstId} + n`;
  const { raColumn, decColumn } = definition;
  const others = definition.columns
    .filter(({ name }) => ![definition.idColumn, raColumn, decColumn].includes(name))
    .map(column => `${columnValue(column)} AS "${column.name}"`);
  const columns = [
    'h AS _healpix_29',
    `${id} AS "${definition.idColumn}"`,
    `sky_ra(x, y) AS "${raColumn}"`,
    `sky_dec(x, y) AS "${decColumn}"`,
    ...others,
  ];
  return `COPY (SELECT ${columns.join(', ')} FROM (SELECT *, healpix(x, y) AS h FROM (SELECT n, ${place('x', x)}, ${place('y', y)} FROM stars)) ORDER BY h)
    TO '${file}' (FORMAT parquet, COMPRESSION zstd)`;
}

/** Magnitudes and their like are float32 with a few digits; one value in twenty is missing. */
function columnValue({ name, type }: CatalogColumn): string {
  if (type === 'boolean') return 'random() < 0.5';
  if (type === 'text') return "'GALAXY'";
  if (type === 'int64') return 'floor(4 * random())::INTEGER';
  const value = /err|^e_/i.test(name) ? '0.01 + random()' : '14 + 12 * random()';
  return `CASE WHEN random() < 0.05 THEN NULL ELSE round(${value}, 3)::FLOAT END`;
}

/** A transient: its id, and a position that is near a source for three of five. */
export class Transients {
  readonly #positions: Float64Array;
  readonly #fields: number;
  readonly #perVisit: number;

  /** @param perVisit new objects of one visit, which share a field of 9.6 square degrees */
  constructor(positionsFile: string, rows: number, perVisit: number) {
    const bytes = readFileSync(positionsFile);
    this.#positions = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length / 8);
    this.#fields = Math.max(1, Math.round(rows / DENSITY / 9.6));
    this.#perVisit = perVisit;
  }

  place(number: number): Place {
    const random = seededRandom(number);
    // Mixes the seed, which is nearly the same for neighbours.
    random();
    const field = (Math.floor(number / this.#perVisit) * 7) % this.#fields;
    const at = Math.floor(((field + random()) / this.#fields) * (this.#positions.length / 2));
    const source = { ra: this.#positions[2 * at]!, dec: this.#positions[2 * at + 1]! };
    const arcsec = (random() < 0.6 ? 1.5 : 60) * random();
    return offset(source, arcsec, 2 * Math.PI * random());
  }
}
