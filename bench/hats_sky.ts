/** A catalog in HATS directories and objects to crossmatch with it, made once for each size and seed. */
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { columnNames } from '../src/core/contract/catalog.ts';
import { catalogDefinition } from '../src/core/contract/catalogs.ts';
import { FORMAT_VERSION } from '../src/core/store/environment.ts';
import { openStore } from '../src/core/store/store.ts';
import { Writer } from '../src/core/store/writer.ts';
import { type HatsColumn, writeHats } from '../test/core/catalogs/write_hats.ts';
import { anywhere, offset, type Place, seededRandom } from '../test/oracle/skies.ts';

export interface HatsSky {
  readonly catalog: string;
  /** A data directory with all objects pending, and no catalog. */
  readonly data: string;
  /** The same rows as FITS tables for other programs, with ids and positions only. */
  readonly catalogFits: string;
  readonly objectsFits: string;
}

export interface HatsSkySize {
  readonly sources: number;
  readonly objects: number;
  readonly seed: number;
}

export const FIRST_TIME_US = 1_790_000_000_000_000;
export const DAY_US = 86_400_000_000;
/** Over which the events of the objects are spread. */
const NIGHTS = 10;
const FIRST_OBJECT = 170_000_000_000_000_000n;
const FIRST_SOURCE = 4_612_352_219_396_039_168n;
/** Gives about 200 partitions, whatever the number of sources. */
const PARTITION_SHARE = 1 / 74;
const CROWDS = 60;
const CROWD_ARCSEC = 4 * 3600;
const INGEST_BATCH = 10_000;

/** The sky with this size. It is made if it is missing, which takes about a minute for five million sources. */
export async function hatsSky(size: HatsSkySize, note: (text: string) => void): Promise<HatsSky> {
  const dir = join(tmpdir(), 'nearsky-bench', `nights-${FORMAT_VERSION}-${size.sources}-${size.objects}-${size.seed}`);
  const paths = (root: string) => ({
    catalog: join(root, 'gaia_dr3'),
    data: join(root, 'data'),
    catalogFits: join(root, 'catalog.fits'),
    objectsFits: join(root, 'objects.fits'),
  });
  if (existsSync(dir)) return paths(dir);
  const unfinished = `${dir}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  await make(paths(unfinished), size, note);
  renameSync(unfinished, dir);
  return paths(dir);
}

interface Points {
  readonly ra: Float64Array;
  readonly dec: Float64Array;
  readonly id: BigInt64Array;
}

async function make(paths: HatsSky, size: HatsSkySize, note: (text: string) => void): Promise<void> {
  const random = seededRandom(size.seed);
  const crowds = Array.from({ length: CROWDS }, () => anywhere(random));
  // Every other source in a crowd, which is densest in its middle.
  const sources = points(size.sources, FIRST_SOURCE, row =>
    row % 2
      ? anywhere(random)
      : offset(crowds[Math.floor(CROWDS * random() ** 2)]!, CROWD_ARCSEC * random(), 2 * Math.PI * random()),
  );
  // Every other object within 1.5 arcsec of a source.
  const objects = points(size.objects, FIRST_OBJECT, row => {
    if (row % 2) return anywhere(random);
    const source = Math.floor(random() * size.sources);
    return offset({ ra: sources.ra[source]!, dec: sources.dec[source]! }, 1.5 * random(), 2 * Math.PI * random());
  });
  note('writing the FITS tables');
  writeFits(paths.catalogFits, sources);
  writeFits(paths.objectsFits, objects);
  note('storing the objects');
  await store(paths.data, objects);
  note(`writing a HATS catalog of ${size.sources} sources`);
  const payload = columnNames(catalogDefinition('gaia_dr3')!).filter(name => name !== 'ra' && name !== 'dec');
  writeHats(paths.catalog, {
    name: 'gaia_dr3',
    columns: [
      { name: 'source_id', type: 'INT64', data: sources.id },
      { name: 'ra', type: 'DOUBLE', data: sources.ra },
      { name: 'dec', type: 'DOUBLE', data: sources.dec },
      ...payload.map(
        (name): HatsColumn => ({ name, type: 'FLOAT', data: Float32Array.from(sources.ra, () => 20 * random()) }),
      ),
    ],
    ra: 'ra',
    dec: 'dec',
    maxRows: Math.ceil(size.sources * PARTITION_SHARE),
  });
}

function points(rows: number, firstId: bigint, placeOf: (row: number) => Place): Points {
  const [ra, dec, id] = [new Float64Array(rows), new Float64Array(rows), new BigInt64Array(rows)];
  for (let row = 0; row < rows; row++) {
    const place = placeOf(row);
    ra[row] = place.ra;
    dec[row] = place.dec;
    id[row] = firstId + BigInt(row);
  }
  return { ra, dec, id };
}

export async function store(dataDir: string, { ra, dec, id }: Points): Promise<void> {
  const opened = openStore(dataDir, 'write');
  const writer = new Writer(opened);
  for (let from = 0; from < id.length; from += INGEST_BATCH) {
    const rows = Array.from({ length: Math.min(INGEST_BATCH, id.length - from) }, (_, at) => from + at);
    const deliveries = rows.map(row => ({
      diaObjectId: id[row]!,
      position: { ra: ra[row]!, dec: dec[row]! },
      reliability: 0.9,
      eventTimeUs: FIRST_TIME_US + ((row >> 1) % NIGHTS) * DAY_US,
      broker: 'lasair' as const,
    }));
    await writer.ingest(deliveries, FIRST_TIME_US + from);
  }
  await opened.close();
}

const FITS_BLOCK = 2880;
const ROW_BYTES = 24;

/** A binary table of `id` (64-bit integer), `ra` and `dec` (FITS standard 4.0, section 7.3). */
function writeFits(path: string, { ra, dec, id }: Points): void {
  const rows = id.length;
  const table = new DataView(new ArrayBuffer(padded(rows * ROW_BYTES)));
  for (let row = 0; row < rows; row++) {
    table.setBigInt64(ROW_BYTES * row, id[row]!);
    table.setFloat64(ROW_BYTES * row + 8, ra[row]!);
    table.setFloat64(ROW_BYTES * row + 16, dec[row]!);
  }
  const columns = { TTYPE1: 'id', TFORM1: 'K', TTYPE2: 'ra', TFORM2: 'D', TTYPE3: 'dec', TFORM3: 'D' };
  const shape = { BITPIX: 8, NAXIS: 2, NAXIS1: ROW_BYTES, NAXIS2: rows, PCOUNT: 0, GCOUNT: 1, TFIELDS: 3 };
  const primary = header({ SIMPLE: true, BITPIX: 8, NAXIS: 0, EXTEND: true });
  writeFileSync(path, primary + header({ XTENSION: 'BINTABLE', ...shape, ...columns }), 'latin1');
  const file = openSync(path, 'a');
  writeSync(file, table);
  closeSync(file);
}

const padded = (bytes: number) => Math.ceil(bytes / FITS_BLOCK) * FITS_BLOCK;

function header(cards: Readonly<Record<string, string | number | boolean>>): string {
  const lines = Object.entries(cards).map(([name, value]) => {
    const text = typeof value === 'string' ? `'${value.padEnd(8)}'` : String(value === true ? 'T' : value).padStart(20);
    return `${name.padEnd(8)}= ${text}`.padEnd(80);
  });
  const text = [...lines, 'END'.padEnd(80)].join('');
  return text.padEnd(padded(text.length));
}
