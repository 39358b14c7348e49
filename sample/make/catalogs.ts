/** The sample's catalogs: real Gaia rows, and rows made around the alerts' positions. */
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { pixelOf } from '../../index/healpix.ts';
import { EDGE_TARGET, type Target } from './alerts.ts';
import { type Column, type Row, writeHats } from './hats.ts';
import { offset, seededRandom } from './sky.ts';

type Name = 'gaia_dr3' | 'des_y6_gold' | 'delve_dr3_gold' | 'skymapper_dr4';

/** Ids of made rows start here plus a block a catalog: beyond every id of the releases. DES and DELVE share a block on purpose. */
const MADE_SOURCE_IDS = 9_000_000_000_000_000_000n;
const ID_BLOCK: Record<Name, bigint> = {
  gaia_dr3: 1_000_000n,
  des_y6_gold: 2_000_000n,
  delve_dr3_gold: 2_000_000n,
  skymapper_dr4: 3_000_000n,
};

/** The fields in which the sample's alerts lie, and the catalogs that are made to cover each. An alert elsewhere is covered by none. */
const FIELDS: readonly { holds(target: Target): boolean; catalogs: readonly Name[] }[] = [
  { holds: ({ ra }) => ra < 15, catalogs: ['gaia_dr3', 'des_y6_gold', 'skymapper_dr4'] },
  {
    holds: ({ ra, dec }) => ra > 55 && ra < 70 && dec < -40,
    catalogs: ['gaia_dr3', 'des_y6_gold', 'delve_dr3_gold', 'skymapper_dr4'],
  },
  { holds: ({ ra }) => ra > 200 && ra < 250, catalogs: ['gaia_dr3', 'delve_dr3_gold', 'skymapper_dr4'] },
  { holds: ({ ra }) => ra > 140 && ra < 160, catalogs: ['gaia_dr3'] },
  { holds: ({ id }) => id === EDGE_TARGET.id, catalogs: ['gaia_dr3'] },
];

/** Separations, arcsec, of the sources made beside chosen objects; each of the others gets some by chance. */
const CHOSEN: Record<string, Partial<Record<Name, readonly number[]>>> = {
  // A source in every catalog.
  '313637935709683761': { gaia_dr3: [0.12], des_y6_gold: [0.35], delve_dr3_gold: [0.41], skymapper_dr4: [0.28] },
  '313637935744286779': { des_y6_gold: [0.2] },
  // Two within the radius: the nearest one counts.
  '313637935750578248': { gaia_dr3: [0.62, 0.31] },
  '313664312457036338': { gaia_dr3: [0.08], skymapper_dr4: [0.17] },
  // Just inside and just outside the radius.
  '313664312719705002': { des_y6_gold: [0.9995] },
  '313664312957206554': { des_y6_gold: [1.0005] },
  '313664312967168019': {},
  '313664312969789443': { des_y6_gold: [0.45], delve_dr3_gold: [0.55] },
  '313664313102958614': { delve_dr3_gold: [0.7] },
  [EDGE_TARGET.id]: { gaia_dr3: [0.4] },
};

/**
 * The source beside the first object is one star in every catalog: the values follow from the magnitudes of its Gaia row
 * (G 20.33, BP − RP 1.79) by the relations of Gaia EDR3 to SDSS (documentation of the release, section 5.5.1).
 */
const ONE_STAR = '313637935709683761';
const STAR: Partial<Record<Name, Row>> = {
  des_y6_gold: goldStar('GRIZY', [21.714, 20.416, 19.804, 19.468, 19.371]),
  delve_dr3_gold: goldStar('GRIZ', [21.731, 20.402, 19.811, 19.459]),
  skymapper_dr4: {
    class_star: 0.97,
    ...Object.fromEntries(
      [null, null, 21.64, 20.39, 19.79, 19.48].map((magnitude, i) => [`${'uvgriz'[i]}_psf`, magnitude]),
    ),
    e_u_psf: null,
    e_v_psf: null,
    e_g_psf: 0.21,
    e_r_psf: 0.085,
    e_i_psf: 0.074,
    e_z_psf: 0.12,
  },
};

/** A point source of DES or DELVE. */
function goldStar(bands: string, magnitudes: readonly number[]): Row {
  const point = { BDF_T: 0, EXT_MASH: 0, DNF_Z: NaN, DNF_ZSIGMA: NaN };
  return { ...point, ...Object.fromEntries([...bands].map((band, i) => [`WAVG_MAG_PSF_${band}`, magnitudes[i]!])) };
}

const FOOTPRINT_ORDER: Record<Name, number> = { gaia_dr3: 8, des_y6_gold: 6, delve_dr3_gold: 10, skymapper_dr4: 8 };

const catalogsAt = (target: Target): readonly Name[] => FIELDS.find(field => field.holds(target))?.catalogs ?? [];

interface Place {
  readonly ra: number;
  readonly dec: number;
  /** Whether it is that of the star that every catalog has. */
  readonly isStar?: boolean;
}

/** Where the made sources of each catalog lie: the coincident ones, and one a little further off that puts the pixel into the footprint. */
function makePlaces(targets: readonly Target[]): Record<Name, Place[]> {
  const random = seededRandom(20261007);
  const places: Record<Name, Place[]> = { gaia_dr3: [], des_y6_gold: [], delve_dr3_gold: [], skymapper_dr4: [] };
  for (const target of targets) {
    const { ra, dec } = target;
    for (const name of catalogsAt(target)) {
      const separations = [...(CHOSEN[target.id]?.[name] ?? [])];
      const byChance = random();
      if (!CHOSEN[target.id] && byChance < 0.4) separations.push(0.05 + 0.9 * random());
      if (!CHOSEN[target.id] && byChance < 0.1) separations.push(0.95 + 2 * random());
      for (const separation of separations) {
        const angle = target.id === EDGE_TARGET.id ? Math.PI / 2 : 2 * Math.PI * random();
        places[name].push({ ...offset(ra, dec, separation, angle), isStar: target.id === ONE_STAR });
      }
      places[name].push(besidePixel(FOOTPRINT_ORDER[name], target, random));
    }
  }
  return places;
}

/** A place 5 to 40 arcsec away, in the same pixel. */
function besidePixel(order: number, { ra, dec }: Place, random: () => number): Place {
  for (;;) {
    const place = offset(ra, dec, 5 + 35 * random(), 2 * Math.PI * random());
    if (pixelOf(order, place.ra, place.dec) === pixelOf(order, ra, dec)) return place;
  }
}

const round = (value: number, digits: number) => Number(value.toFixed(digits));

/** A real row moved to another place: its other values stay, what depends on the place or names the source does not. */
function madeGaiaRow(template: Row, id: bigint, { ra, dec }: Place): Row {
  const cleared = { random_index: null, l: null, b: null, ecl_lon: null, ecl_lat: null };
  return { ...template, ...cleared, designation: `nearsky sample ${id}`, source_id: id, ra, dec };
}

/** A row in the manner of DES Y6 Gold or, with four bands, of DELVE DR3 Gold. Every fifth has no photometric redshift. */
function madeGoldRow(bands: string, id: bigint, { ra, dec }: Place, random: () => number): Row {
  const galaxy = random() < 0.7;
  const magnitude = 18 + 5 * random();
  const redshift = random() < 0.2 ? NaN : round(0.05 + random(), 4);
  const row: Row = {
    COADD_OBJECT_ID: id,
    RA: ra,
    DEC: dec,
    ALPHAWIN_J2000: ra,
    DELTAWIN_J2000: dec,
    BDF_T: galaxy ? round(0.1 + 2 * random(), 5) : 0,
    BDF_G_1: round(0.4 * random() - 0.2, 5),
    BDF_G_2: round(0.4 * random() - 0.2, 5),
    BDF_FRACDEV: round(random(), 5),
    DNF_Z: redshift,
    DNF_ZSIGMA: Number.isNaN(redshift) ? NaN : round(0.02 + 0.1 * random(), 4),
    EXT_MASH: galaxy ? 4 : 0,
    FLAGS_GOLD: 0,
    FLAGS_FOREGROUND: 0,
    FLAGS_FOOTPRINT: 1,
    BDF_FLAGS: 0,
  };
  [...bands].forEach((band, i) => {
    row[`WAVG_MAG_PSF_${band}`] = round(magnitude - 0.35 * i, 3);
    row[`WAVG_MAGERR_PSF_${band}`] = round(0.004 + 0.02 * random(), 4);
  });
  return row;
}

function madeSkyMapperRow(id: bigint, { ra, dec }: Place, random: () => number): Row {
  const magnitude = 15 + 3 * random();
  const row: Row = {
    object_id: id,
    raj2000: ra,
    dej2000: dec,
    e_raj2000: BigInt(Math.round(20 + 100 * random())),
    e_dej2000: BigInt(Math.round(20 + 100 * random())),
    class_star: round(random(), 2),
    flags: 0,
    nimaflags: 0n,
    ngood: Math.round(5 + 40 * random()),
  };
  [...'uvgriz'].forEach((band, i) => {
    row[`${band}_psf`] = round(magnitude - 0.4 * i, 4);
    row[`e_${band}_psf`] = round(0.005 + 0.03 * random(), 4);
  });
  return row;
}

export async function readGaia(data: string): Promise<Row[]> {
  const file = await asyncBufferFromFile(join(data, 'gaia/gdr3_sm.1000rows.parquet'));
  return parquetReadObjects({ file });
}

/** Writes the four catalogs below `directory`. `gaia` are the real rows to keep. */
export function makeCatalogs(
  columns: Readonly<Record<string, readonly Column[]>>,
  directory: string,
  gaia: readonly Row[],
  targets: readonly Target[],
): void {
  const places = makePlaces(targets);
  const random = seededRandom(7);
  const made = (name: Name, row: (id: bigint, place: Place) => Row): Row[] =>
    places[name].map((place, i) => ({
      ...row(MADE_SOURCE_IDS + ID_BLOCK[name] + BigInt(i + 1), place),
      ...(place.isStar && STAR[name]),
    }));
  const description = (what: string) => `nearsky sample: ${what}; not for science, see sample/README.md`;
  const write = (name: Name, output: Omit<Parameters<typeof writeHats>[1], 'name' | 'columns'>) =>
    writeHats(join(directory, name), { name, columns: columns[name]!, ...output });
  write('gaia_dr3', {
    description: description(`${gaia.length} real Gaia DR3 rows and ${places.gaia_dr3.length} made ones`),
    rows: [
      ...gaia,
      ...made('gaia_dr3', (id, place) => madeGaiaRow(gaia[Math.floor(random() * gaia.length)]!, id, place)),
    ],
    raColumn: 'ra',
    decColumn: 'dec',
    idColumn: 'source_id',
    maxRows: 150,
    rowGroupSize: 100,
    coverage: { order: FOOTPRINT_ORDER.gaia_dr3, map: 'explicit' },
  });
  const gold = {
    description: description('made rows only'),
    raColumn: 'RA',
    decColumn: 'DEC',
    idColumn: 'COADD_OBJECT_ID',
  };
  write('des_y6_gold', {
    ...gold,
    rows: made('des_y6_gold', (id, place) => madeGoldRow('GRIZY', id, place, random)),
    maxRows: 60,
    rowGroupSize: 100,
    coverage: { order: FOOTPRINT_ORDER.des_y6_gold, map: 'implicit' },
  });
  write('delve_dr3_gold', {
    ...gold,
    rows: made('delve_dr3_gold', (id, place) => madeGoldRow('GRIZ', id, place, random)),
    maxRows: 45,
    rowGroupSize: 100,
    coverage: { order: FOOTPRINT_ORDER.delve_dr3_gold, map: 'explicit' },
  });
  write('skymapper_dr4', {
    description: description('made rows only'),
    rows: made('skymapper_dr4', (id, place) => madeSkyMapperRow(id, place, random)),
    raColumn: 'raj2000',
    decColumn: 'dej2000',
    idColumn: 'object_id',
    maxRows: 60,
    rowGroupSize: 25,
    coverage: { order: FOOTPRINT_ORDER.skymapper_dr4, map: 'none' },
  });
}
