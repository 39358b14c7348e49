/**
 * The answers required for the sample's alerts and catalogs, computed from the files by scans, without code of src/.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pixelOf, separationArcsec } from '@nearsky/sky-index';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { CATALOGS, sample } from './support.ts';

/** The columns and the order of the footprint, as the specification has them. */
const COLUMNS = {
  gaia_dr3: { id: 'source_id', ra: 'ra', dec: 'dec', order: 8 },
  des_y6_gold: { id: 'COADD_OBJECT_ID', ra: 'RA', dec: 'DEC', order: 6 },
  delve_dr3_gold: { id: 'COADD_OBJECT_ID', ra: 'RA', dec: 'DEC', order: 10 },
  skymapper_dr4: { id: 'object_id', ra: 'raj2000', dec: 'dej2000', order: 8 },
} as const;

export type CatalogName = (typeof CATALOGS)[number];
export type Row = Record<string, unknown>;

/** Every row of one of the sample's catalogs. */
export async function catalogRows(name: CatalogName): Promise<Row[]> {
  const dataset = join(sample, 'catalogs', name, 'dataset');
  const files = readdirSync(dataset, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.parquet'));
  const parts = await Promise.all(
    files.map(async file => parquetReadObjects({ file: await asyncBufferFromFile(join(dataset, file)) })),
  );
  return parts.flat();
}

export interface ExpectedMatch {
  readonly catalog_name: string;
  readonly catalog_source_id: string;
  readonly separation_arcsec: number;
}

export interface Expected {
  readonly outcomes: Record<string, string>;
  /** Ordered by catalog name. */
  readonly matches: readonly ExpectedMatch[];
  readonly status: string;
}

interface SampleCatalog {
  readonly name: CatalogName;
  readonly rows: readonly Row[];
  /** NESTED pixels at the order of the footprint. */
  readonly footprint: ReadonlySet<number>;
}

export class Sky {
  readonly #catalogs: readonly SampleCatalog[];

  private constructor(catalogs: readonly SampleCatalog[]) {
    this.#catalogs = catalogs;
  }

  static async read(): Promise<Sky> {
    const catalogs = await Promise.all(
      CATALOGS.map(async name => {
        const rows = await catalogRows(name);
        const { ra, dec, order } = COLUMNS[name];
        const footprint = new Set(rows.map(row => pixelOf(order, row[ra] as number, row[dec] as number)));
        return { name, rows, footprint };
      }),
    );
    return new Sky(catalogs);
  }

  /** The crossmatch of one position; null for an invalid one. */
  crossmatch(position: { readonly ra: number; readonly dec: number } | null): Expected {
    const outcomes: Record<string, string> = {};
    const matches: ExpectedMatch[] = [];
    for (const { name, rows, footprint } of this.#catalogs) {
      const columns = COLUMNS[name];
      if (!position) {
        outcomes[name] = 'not_searched_invalid_position';
        continue;
      }
      const { ra, dec } = position;
      const within = rows
        .map(row => ({
          catalog_name: name,
          catalog_source_id: String(row[columns.id]),
          separation_arcsec: separationArcsec(ra, dec, row[columns.ra] as number, row[columns.dec] as number),
        }))
        .filter(match => match.separation_arcsec <= 1)
        .sort((a, b) => a.separation_arcsec - b.separation_arcsec);
      const covered = footprint.has(pixelOf(columns.order, ra, dec));
      // A match across the edge of the footprint proves that the position was searched.
      outcomes[name] = covered || within[0] ? 'searched' : 'outside_footprint';
      if (within[0]) matches.push(within[0]);
    }
    matches.sort((a, b) => (a.catalog_name < b.catalog_name ? -1 : 1));
    const searched = Object.values(outcomes).includes('searched');
    const status = matches.length ? 'coincident_sources' : searched ? 'no_coincident_source' : 'not_searched';
    return { outcomes, matches, status };
  }
}

/** An object of the sample as the lines of the alert files, read with regular expressions, say. */
export interface SampleObject {
  readonly id: string;
  readonly position: { readonly ra: number; readonly dec: number } | null;
  readonly brokers: string[];
}

const PATTERNS = {
  lasair: /"diaObjectId": ?(\d+),.*?"ra": ?([-\d.]+), ?"decl": ?([-\d.]+)/,
  antares: /"lsst_diaObject_diaObjectId":(\d+),.*?"lsst_diaObject_ra":([-\d.]+),.*?"lsst_diaObject_dec":([-\d.]+)/,
  pittgoogle: /"diaObject": ?\{.*?"diaObjectId": ?(\d+),.*?"ra": ?([-\d.]+),.*?"dec": ?([-\d.]+)/,
};

/** The lines of the sample's alerts that are not stored, and why. */
const REFUSED = /solar-system|cut off|no reliability|313897383979122767|170028513894596704/;

/** The objects that ingesting these files, in this order, must give; ascending by id. */
export function sampleObjects(
  files: readonly (readonly [broker: keyof typeof PATTERNS, file: string])[],
): SampleObject[] {
  const objects = new Map<string, SampleObject>();
  for (const [broker, file] of files) {
    for (const line of readFileSync(join(sample, 'alerts', file), 'utf8').split('\n')) {
      const found = PATTERNS[broker].exec(line.replaceAll('\\"', '"'));
      if (!found || REFUSED.test(line)) continue;
      const [, id, ra, dec] = found as unknown as [string, string, string, string];
      const known = objects.get(id);
      const position = Math.abs(Number(dec)) <= 90 ? { ra: Number(ra), dec: Number(dec) } : null;
      if (!known) objects.set(id, { id, position, brokers: [broker] });
      else if (!known.brokers.includes(broker)) known.brokers.push(broker);
    }
  }
  for (const { brokers } of objects.values()) brokers.sort();
  return [...objects.values()].sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
}
