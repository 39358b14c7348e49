import type { CatalogColumn, CatalogDefinition } from '../catalog.ts';

const column = (name: string, description: string, described: { unit?: string; ucd: string }): CatalogColumn => ({
  name,
  type: 'float64',
  ...described,
  description,
});

const COLUMNS: readonly CatalogColumn[] = [
  column('phot_g_mean_mag', 'Mean magnitude in the G band, Vega', { unit: 'mag', ucd: 'phot.mag;em.opt' }),
  column('phot_bp_mean_mag', 'Mean magnitude in the BP band, Vega', { unit: 'mag', ucd: 'phot.mag;em.opt.B' }),
  column('phot_rp_mean_mag', 'Mean magnitude in the RP band, Vega', { unit: 'mag', ucd: 'phot.mag;em.opt.R' }),
  column('phot_g_mean_flux_over_error', 'Mean flux in the G band over its error', { ucd: 'stat.snr;phot.flux;em.opt' }),
  column('phot_bp_mean_flux_over_error', 'Mean flux in BP over its error', { ucd: 'stat.snr;phot.flux;em.opt.B' }),
  column('phot_rp_mean_flux_over_error', 'Mean flux in RP over its error', { ucd: 'stat.snr;phot.flux;em.opt.R' }),
  column('ra', 'Right ascension at ref_epoch', { unit: 'deg', ucd: 'pos.eq.ra' }),
  column('dec', 'Declination at ref_epoch', { unit: 'deg', ucd: 'pos.eq.dec' }),
  column('ra_error', 'Standard error of ra, times cos(dec)', { unit: 'mas', ucd: 'stat.error;pos.eq.ra' }),
  column('dec_error', 'Standard error of dec', { unit: 'mas', ucd: 'stat.error;pos.eq.dec' }),
  column('parallax', 'Parallax', { unit: 'mas', ucd: 'pos.parallax.trig' }),
  column('parallax_error', 'Standard error of the parallax', { unit: 'mas', ucd: 'stat.error;pos.parallax.trig' }),
  column('pmra', 'Proper motion in ra, times cos(dec)', { unit: 'mas.yr**-1', ucd: 'pos.pm;pos.eq.ra' }),
  column('pmra_error', 'Standard error of pmra', { unit: 'mas.yr**-1', ucd: 'stat.error;pos.pm;pos.eq.ra' }),
  column('pmdec', 'Proper motion in dec', { unit: 'mas.yr**-1', ucd: 'pos.pm;pos.eq.dec' }),
  column('pmdec_error', 'Standard error of pmdec', { unit: 'mas.yr**-1', ucd: 'stat.error;pos.pm;pos.eq.dec' }),
  column('ref_epoch', 'Epoch of the position, Julian year', { unit: 'yr', ucd: 'meta.ref;time.epoch' }),
  column('classprob_dsc_combmod_star', 'Probability of being a single star', { ucd: 'stat.probability' }),
  column('classprob_dsc_combmod_galaxy', 'Probability of being a galaxy', { ucd: 'stat.probability' }),
  column('classprob_dsc_combmod_quasar', 'Probability of being a quasar', { ucd: 'stat.probability' }),
  column('ruwe', 'Renormalised unit weight error', { ucd: 'stat.error' }),
  column('astrometric_excess_noise', 'Excess noise of the source', { unit: 'mas', ucd: 'stat.value' }),
  column('astrometric_excess_noise_sig', 'Significance of the excess noise', { ucd: 'stat.value' }),
];

export const GAIA_DR3: CatalogDefinition<'gaia_dr3'> = {
  name: 'gaia_dr3',
  release: 'Gaia DR3',
  idColumn: 'source_id',
  raColumn: 'ra',
  decColumn: 'dec',
  footprintOrder: 8,
  columns: COLUMNS,
  filterable: [
    { name: 'parallax', unit: 'mas' },
    { name: 'parallax_error', unit: 'mas' },
    { name: 'pmra', unit: 'mas/yr', description: 'Proper motion in right ascension, times cos(declination)' },
    { name: 'pmdec', unit: 'mas/yr', description: 'Proper motion in declination' },
    { name: 'ruwe', unit: 'dimensionless' },
    { name: 'classprob_dsc_combmod_star', unit: 'probability' },
    { name: 'classprob_dsc_combmod_galaxy', unit: 'probability' },
    { name: 'classprob_dsc_combmod_quasar', unit: 'probability' },
    {
      name: 'parallax_over_error',
      unit: 'dimensionless',
      description:
        'Parallax divided by its standard error, signed, computed from the stored values; ' +
        'never met when either is missing or the error is 0',
      quotientOf: { numerator: 'parallax', denominator: 'parallax_error' },
    },
  ],
  epoch: { column: 'ref_epoch', value: 'J2016.0' },
  reference: {
    home: 'https://www.cosmos.esa.int/web/gaia/data-release-3',
    paper: 'Gaia Collaboration, Vallenari et al. 2023, A&A 674, A1',
    paperUrl: 'https://doi.org/10.1051/0004-6361/202243940',
  },
  chatKeys: [
    'phot_g_mean_mag',
    'parallax',
    'parallax_error',
    'classprob_dsc_combmod_star',
    'classprob_dsc_combmod_galaxy',
  ],
  marker: [
    [0, -6],
    [6, 0],
    [0, 6],
    [-6, 0],
  ],
  colour: { light: '#b4530a', dark: '#ffb454' },
  photometry: {
    system: 'Vega',
    main: 'G',
    bands: [
      { letter: 'BP', magnitude: 'phot_bp_mean_mag', fluxOverError: 'phot_bp_mean_flux_over_error' },
      { letter: 'G', magnitude: 'phot_g_mean_mag', fluxOverError: 'phot_g_mean_flux_over_error' },
      { letter: 'RP', magnitude: 'phot_rp_mean_mag', fluxOverError: 'phot_rp_mean_flux_over_error' },
    ],
    colours: [['BP', 'RP']],
  },
  highlights: [
    {
      kind: 'parallax',
      label: 'Parallax',
      value: 'parallax',
      error: 'parallax_error',
      none: 'none: a two-parameter solution',
    },
    {
      kind: 'motion',
      label: 'Proper motion',
      east: 'pmra',
      north: 'pmdec',
      errors: ['pmra_error', 'pmdec_error'],
    },
    {
      kind: 'probabilities',
      label: 'Star or galaxy',
      title: 'Probabilities of DSC Combmod',
      of: [
        ['star', 'classprob_dsc_combmod_star'],
        ['galaxy', 'classprob_dsc_combmod_galaxy'],
        ['quasar', 'classprob_dsc_combmod_quasar'],
      ],
    },
    {
      kind: 'notes',
      label: 'Astrometry',
      title: 'A RUWE above 1.4 is poor',
      of: [
        { before: 'RUWE ', value: 'ruwe', digits: 2, poorAbove: 1.4 },
        { before: 'position at ', value: 'ref_epoch', digits: 1 },
      ],
    },
  ],
};
