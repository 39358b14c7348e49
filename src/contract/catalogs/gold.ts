/** The parts that DES Y6 Gold and DELVE DR3 Gold share: both are made by the same programs. */
import type { CatalogColumn, CatalogDefinition } from '../catalog.ts';
import { magnitudeColumns } from '../catalog.ts';

const flags = (name: string, description: string): CatalogColumn => ({
  name,
  type: 'int64',
  ucd: 'meta.code',
  description: `Flags: ${description}`,
});

const value = (name: string, description: string, ucd: string, unit?: string): CatalogColumn => ({
  name,
  type: 'float64',
  ...(unit !== undefined && { unit }),
  ucd,
  description,
});

const AFTER_MAGNITUDES: readonly CatalogColumn[] = [
  value('RA', 'Right ascension', 'pos.eq.ra', 'deg'),
  value('DEC', 'Declination', 'pos.eq.dec', 'deg'),
  value('BDF_T', 'Squared size of the bulge and disc fit', 'phys.angSize', 'arcsec**2'),
  value('BDF_G_1', 'First component of the ellipticity of the fit', 'src.ellipticity'),
  value('BDF_G_2', 'Second component of the ellipticity of the fit', 'src.ellipticity'),
  value('BDF_FRACDEV', 'Share of the bulge in the flux of the fit', 'stat.fit.param'),
  value('DNF_Z', 'DNF photometric redshift', 'src.redshift.phot'),
  value('DNF_ZSIGMA', 'Uncertainty of dnf_z', 'stat.error;src.redshift.phot'),
  {
    name: 'EXT_MASH',
    type: 'int64',
    ucd: 'src.class.starGalaxy',
    description: 'Star-galaxy class, from 0 (star) to 4 (galaxy)',
  },
  flags('FLAGS_GOLD', 'of the measurement'),
  flags('FLAGS_FOREGROUND', 'near a bright foreground object'),
  flags('FLAGS_FOOTPRINT', 'within the footprint'),
  flags('BDF_FLAGS', 'of the bulge and disc fit'),
];

/** @param bands the letters of the bands, from blue to red */
export function goldColumns(bands: string): CatalogColumn[] {
  const magnitudes = magnitudeColumns(bands, {
    name: band => `WAVG_MAG_PSF_${band.toUpperCase()}`,
    errorName: band => `WAVG_MAGERR_PSF_${band.toUpperCase()}`,
    kind: 'Weighted mean PSF',
  });
  return [...magnitudes, ...AFTER_MAGNITUDES];
}

/** @param bands the letters of the bands, from blue to red */
export function goldPhotometry(bands: string): CatalogDefinition['photometry'] {
  return {
    system: 'AB, PSF',
    main: 'r',
    bands: [...bands].map(letter => ({
      letter,
      magnitude: `wavg_mag_psf_${letter}`,
      error: `wavg_magerr_psf_${letter}`,
    })),
    colours: [
      ['g', 'r'],
      ['r', 'i'],
      ['i', 'z'],
    ],
  };
}

export const GOLD = {
  idColumn: 'COADD_OBJECT_ID',
  raColumn: 'RA',
  decColumn: 'DEC',
  filterable: [
    { name: 'DNF_Z', unit: 'dimensionless' },
    {
      name: 'DNF_ZSIGMA',
      unit: 'dimensionless',
      description: 'Uncertainty of the DNF photometric redshift',
    },
    { name: 'EXT_MASH', unit: 'class code (0-4)' },
  ],
  chatKeys: ['wavg_mag_psf_g', 'wavg_mag_psf_r', 'wavg_mag_psf_i', 'ext_mash', 'dnf_z'],
  highlights: [
    {
      kind: 'value',
      label: 'Photo-z',
      title: 'By DNF',
      value: 'dnf_z',
      error: 'dnf_zsigma',
      min: 0,
      digits: 3,
    },
    {
      kind: 'code',
      label: 'Star or galaxy',
      value: 'ext_mash',
      words: ['star', 'likely a star', 'ambiguous', 'likely a galaxy', 'galaxy'],
    },
    { kind: 'flags', label: 'Flags', of: ['flags_gold', 'flags_foreground'] },
  ],
} satisfies Partial<CatalogDefinition>;
