/** The four catalogs of the service. Their order matters: outcomes and provenance list them so. */

export type CatalogName = 'gaia_dr3' | 'des_y6_gold' | 'delve_dr3_gold' | 'skymapper_dr4';

/**
 * One of the four catalogs of the service: its fixed properties, wherever a copy of the catalog lies. Column names are
 * in the catalog's own case.
 */
export interface CatalogDefinition {
  readonly name: CatalogName;
  readonly release: string;
  readonly idColumn: string;
  readonly raColumn: string;
  readonly decColumn: string;
  /** HEALPix order at which the footprint is kept. */
  readonly footprintOrder: number;
  /** Stored with each match, under the lowercased name; in the order of the contract (docs/contract.md). */
  readonly payloadColumns: readonly string[];
}

/**
 * The HEALPix order of the known footprint of each registered catalog, by name, for texts about the catalogs. Undefined
 * where the database has never been read.
 */
export type FootprintOrders = ReadonlyMap<CatalogName, number> | undefined;

/** Columns that DES Y6 Gold and DELVE DR3 Gold share, after the magnitudes. */
const GOLD_COLUMNS = [
  'RA',
  'DEC',
  'BDF_T',
  'BDF_G_1',
  'BDF_G_2',
  'BDF_FRACDEV',
  'DNF_Z',
  'DNF_ZSIGMA',
  'EXT_MASH',
  'FLAGS_GOLD',
  'FLAGS_FOREGROUND',
  'FLAGS_FOOTPRINT',
  'BDF_FLAGS',
];

const perBand = (prefix: string, bands: string, suffix = '') => [...bands].map(band => `${prefix}${band}${suffix}`);

export const CATALOGS: readonly CatalogDefinition[] = [
  {
    name: 'gaia_dr3',
    release: 'Gaia DR3',
    idColumn: 'source_id',
    raColumn: 'ra',
    decColumn: 'dec',
    footprintOrder: 8,
    payloadColumns: [
      'phot_g_mean_mag',
      'phot_bp_mean_mag',
      'phot_rp_mean_mag',
      'phot_g_mean_flux_over_error',
      'phot_bp_mean_flux_over_error',
      'phot_rp_mean_flux_over_error',
      'ra',
      'dec',
      'ra_error',
      'dec_error',
      'parallax',
      'parallax_error',
      'pmra',
      'pmra_error',
      'pmdec',
      'pmdec_error',
      'ref_epoch',
      'classprob_dsc_combmod_star',
      'classprob_dsc_combmod_galaxy',
      'classprob_dsc_combmod_quasar',
      'ruwe',
      'astrometric_excess_noise',
      'astrometric_excess_noise_sig',
    ],
  },
  {
    name: 'des_y6_gold',
    release: 'DES Y6 Gold',
    idColumn: 'COADD_OBJECT_ID',
    raColumn: 'RA',
    decColumn: 'DEC',
    footprintOrder: 6,
    payloadColumns: [...perBand('WAVG_MAG_PSF_', 'GRIZY'), ...perBand('WAVG_MAGERR_PSF_', 'GRIZY'), ...GOLD_COLUMNS],
  },
  {
    name: 'delve_dr3_gold',
    release: 'DELVE DR3 Gold',
    idColumn: 'COADD_OBJECT_ID',
    raColumn: 'RA',
    decColumn: 'DEC',
    footprintOrder: 10,
    payloadColumns: [...perBand('WAVG_MAG_PSF_', 'GRIZ'), ...perBand('WAVG_MAGERR_PSF_', 'GRIZ'), ...GOLD_COLUMNS],
  },
  {
    name: 'skymapper_dr4',
    release: 'SkyMapper DR4',
    idColumn: 'object_id',
    raColumn: 'raj2000',
    decColumn: 'dej2000',
    footprintOrder: 8,
    payloadColumns: [
      ...perBand('', 'uvgriz', '_psf'),
      ...perBand('e_', 'uvgriz', '_psf'),
      'raj2000',
      'dej2000',
      'e_raj2000',
      'e_dej2000',
      'class_star',
      'flags',
      'nimaflags',
      'ngood',
    ],
  },
];

/** The definition of that name, or undefined. */
export function catalogDefinition(name: string): CatalogDefinition | undefined {
  return CATALOGS.find(catalog => catalog.name === name);
}
