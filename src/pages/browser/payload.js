/**
 * What decides, of the columns that a catalog has of a source: magnitudes, colours, parallax and proper motion, photometric redshift,
 * star or galaxy; each with its error, its unit and as many digits as it is good for.
 *
 * @typedef {{ label: string, parts: string[], title?: string }} Fact `parts` stand side by side, none is broken
 * @typedef {Record<string, unknown>} Payload
 */
import { fixed, measured } from './format.js';

/** Magnitudes beyond are the catalogs' ways to say that there is none. */
const FAINTEST = 40;
/** 2.5 / ln 10: from a relative error of a flux to an error in magnitudes. */
const MAGNITUDES = 1.0857362;
/** A parallax at least so many times its error gives a distance. */
const GOOD_PARALLAX = 5;

/** @param {Payload} payload @param {string} key @returns {number | undefined} */
function numberOf(payload, key) {
  const value = payload[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** @param {Payload} payload @param {string} key @returns {number | undefined} */
function magnitudeOf(payload, key) {
  const value = numberOf(payload, key);
  return value !== undefined && value > -30 && value < FAINTEST ? value : undefined;
}

/** Bands of each catalog from blue to red: the letter, the column, the column of its error. @type {Record<string, { system: string, main: string, bands: [letter: string, column: string, error: string][] }>} */
const PHOTOMETRY = {
  gaia_dr3: {
    system: 'Vega',
    main: 'G',
    bands: [
      ['BP', 'phot_bp_mean_mag', 'phot_bp_mean_flux_over_error'],
      ['G', 'phot_g_mean_mag', 'phot_g_mean_flux_over_error'],
      ['RP', 'phot_rp_mean_mag', 'phot_rp_mean_flux_over_error'],
    ],
  },
  des_y6_gold: { system: 'AB, PSF', main: 'r', bands: bands('grizy', 'wavg_mag_psf_', 'wavg_magerr_psf_') },
  delve_dr3_gold: { system: 'AB, PSF', main: 'r', bands: bands('griz', 'wavg_mag_psf_', 'wavg_magerr_psf_') },
  skymapper_dr4: { system: 'AB, PSF', main: 'r', bands: bands('uvgriz', '', 'e_', '_psf') },
};

/** @param {string} letters @param {string} prefix @param {string} errorPrefix @param {string} [suffix] @returns {[string, string, string][]} */
function bands(letters, prefix, errorPrefix, suffix = '') {
  return [...letters].map(letter => [letter, `${prefix}${letter}${suffix}`, `${errorPrefix}${letter}${suffix}`]);
}

/** Neighbouring bands whose difference is a colour. @type {Record<string, [string, string][]>} */
const COLOURS = {
  gaia_dr3: [['BP', 'RP']],
  des_y6_gold: [
    ['g', 'r'],
    ['r', 'i'],
    ['i', 'z'],
  ],
  delve_dr3_gold: [
    ['g', 'r'],
    ['r', 'i'],
    ['i', 'z'],
  ],
  skymapper_dr4: [
    ['g', 'r'],
    ['g', 'i'],
  ],
};

/** @param {string} catalog @param {Payload} payload */
function photometryOf(catalog, payload) {
  return (PHOTOMETRY[catalog]?.bands ?? []).flatMap(([letter, column, errorColumn]) => {
    const magnitude = magnitudeOf(payload, column);
    if (magnitude === undefined) return [];
    const error = numberOf(payload, errorColumn);
    const isRatio = errorColumn.endsWith('flux_over_error');
    return [{ letter, magnitude, error: error && isRatio ? MAGNITUDES / error : error }];
  });
}

/**
 * The magnitude by which sources are compared: that of the catalog's main band, else of its reddest.
 * @param {string} catalog @param {Payload | undefined} payload
 */
export function mainMagnitude(catalog, payload) {
  const known = photometryOf(catalog, payload ?? {});
  return known.find(({ letter }) => letter === PHOTOMETRY[catalog]?.main) ?? known.at(-1);
}

/** @param {string} catalog @param {Payload | undefined} payload @returns {string | undefined} such as `G 20.33` */
export function magnitudeText(catalog, payload) {
  const main = mainMagnitude(catalog, payload);
  return main && `${main.letter} ${fixed(main.magnitude, 2)}`;
}

/** @param {string} catalog @param {Payload | undefined} payload @returns {Fact[]} */
export function highlights(catalog, payload) {
  if (!payload) return [];
  const photometry = photometryOf(catalog, payload);
  const { system = '' } = PHOTOMETRY[catalog] ?? {};
  const magnitudes = photometry.map(({ letter, magnitude, error }) => `${letter} ${measured(magnitude, error, 3, 3)}`);
  const byLetter = new Map(photometry.map(each => [each.letter, each]));
  const colours = (COLOURS[catalog] ?? []).flatMap(([blue, red]) => {
    const [a, b] = [byLetter.get(blue), byLetter.get(red)];
    if (!a || !b) return [];
    const error = a.error !== undefined && b.error !== undefined ? Math.hypot(a.error, b.error) : undefined;
    return [`${blue} − ${red} ${measured(a.magnitude - b.magnitude, error, 2, 3)}`];
  });
  return [
    { label: 'Magnitudes', parts: magnitudes.length > 0 ? magnitudes : ['none'], title: `${system} magnitudes` },
    ...(colours.length > 0 ? [{ label: colours.length > 1 ? 'Colours' : 'Colour', parts: colours }] : []),
    ...(SPECIAL[catalog]?.(payload) ?? []),
  ];
}

/** What only this catalog has. @type {Record<string, (payload: Payload) => Fact[]>} */
const SPECIAL = { gaia_dr3: gaia, des_y6_gold: gold, delve_dr3_gold: gold, skymapper_dr4: skymapper };

/** @param {Payload} payload @returns {Fact[]} */
function gaia(payload) {
  const parallax = numberOf(payload, 'parallax');
  const parallaxError = numberOf(payload, 'parallax_error');
  const [pmra, pmdec] = [numberOf(payload, 'pmra'), numberOf(payload, 'pmdec')];
  /** @type {Fact[]} */
  const found = [];
  if (parallax !== undefined) {
    const isGood = parallaxError !== undefined && parallax >= GOOD_PARALLAX * parallaxError;
    const distance = isGood ? [`some ${Number((1000 / parallax).toPrecision(2))} pc`] : [];
    found.push({ label: 'Parallax', parts: [`${measured(parallax, parallaxError)} mas`, ...distance] });
  } else found.push({ label: 'Parallax', parts: ['none: a two-parameter solution'] });
  if (pmra !== undefined && pmdec !== undefined) {
    const east = measured(pmra, numberOf(payload, 'pmra_error'));
    const north = measured(pmdec, numberOf(payload, 'pmdec_error'));
    found.push({
      label: 'Proper motion',
      parts: [`${east} E`, `${north} N`, 'mas/yr'],
      title: `To the east and to the north; together ${measured(Math.hypot(pmra, pmdec), undefined)} mas/yr`,
    });
  }
  const classes = /** @type {const} */ ([
    ['star', 'classprob_dsc_combmod_star'],
    ['galaxy', 'classprob_dsc_combmod_galaxy'],
    ['quasar', 'classprob_dsc_combmod_quasar'],
  ]).flatMap(([word, key]) => {
    const probability = numberOf(payload, key);
    return probability === undefined ? [] : [{ word, probability }];
  });
  if (classes.length > 0) {
    const likely = classes.toSorted((a, b) => b.probability - a.probability).filter(each => each.probability >= 0.005);
    const parts = likely.map(({ word, probability }) => `${word} ${percent(probability)}`);
    found.push({ label: 'Star or galaxy', parts, title: 'Probabilities of DSC Combmod' });
  }
  const ruwe = numberOf(payload, 'ruwe');
  const epoch = numberOf(payload, 'ref_epoch');
  const quality = [
    ruwe !== undefined && `RUWE ${fixed(ruwe, 2)}${ruwe > 1.4 ? ', poor' : ''}`,
    epoch !== undefined && `position at ${fixed(epoch, 1)}`,
  ].filter(each => each !== false);
  if (quality.length > 0) found.push({ label: 'Astrometry', parts: quality, title: 'A RUWE above 1.4 is poor' });
  return found;
}

/** Classes of EXT_MASH, from stars to galaxies. */
const EXTENDED = ['star', 'likely a star', 'ambiguous', 'likely a galaxy', 'galaxy'];

/** DES Y6 Gold and DELVE DR3 Gold. @param {Payload} payload @returns {Fact[]} */
function gold(payload) {
  const [z, zError] = [numberOf(payload, 'dnf_z'), numberOf(payload, 'dnf_zsigma')];
  const extended = numberOf(payload, 'ext_mash');
  const flags = ['flags_gold', 'flags_foreground'].filter(key => (numberOf(payload, key) ?? 0) !== 0);
  /** @type {Fact[]} */
  const found = [
    { label: 'Photo-z', parts: [z !== undefined && z >= 0 ? measured(z, zError, 3) : 'none'], title: 'By DNF' },
  ];
  const word = extended === undefined ? undefined : EXTENDED[extended];
  if (extended !== undefined)
    found.push({
      label: 'Star or galaxy',
      parts: [`${word ?? 'none'} (EXT_MASH ${extended})`],
    });
  if (flags.length > 0) found.push({ label: 'Flags', parts: flags.map(key => `${key.toUpperCase()} ${payload[key]}`) });
  return found;
}

/** @param {Payload} payload @returns {Fact[]} */
function skymapper(payload) {
  const star = numberOf(payload, 'class_star');
  const flags = numberOf(payload, 'flags') ?? 0;
  /** @type {Fact[]} */
  const found = [];
  if (star !== undefined)
    found.push({
      label: 'Star or galaxy',
      parts: [`${star >= 0.9 ? 'star' : star <= 0.5 ? 'galaxy' : 'ambiguous'} (class_star ${fixed(star, 2)})`],
      title: 'From 0, a galaxy, to 1, a star',
    });
  if (flags !== 0) found.push({ label: 'Flags', parts: [`${flags}`] });
  return found;
}

/** @param {number} share */
function percent(share) {
  return share > 0.995 ? '> 99 %' : `${Math.round(100 * share)} %`;
}
