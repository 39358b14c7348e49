/** What the columns of the catalogs' payloads hold: the names are those of the payload's keys, the order is the catalog's own. */
import type { CatalogDefinition, CatalogName } from '../contract/catalogs.ts';
import type { Cell, Column } from './columns.ts';

type Described = Omit<Column, 'name' | 'description' | 'type'> & { readonly type?: Column['type'] };

const column = (name: string, description: string, described: Described = {}): Column => ({
  name,
  type: 'float64',
  ...described,
  description,
});

/** The place of each band in the spectrum, by UCD1+'s names for parts of it. */
const EM: Readonly<Record<string, string>> = {
  u: 'em.opt.U',
  v: 'em.opt.U',
  g: 'em.opt.B',
  r: 'em.opt.R',
  i: 'em.opt.I',
  z: 'em.opt.I',
  y: 'em.IR',
};

const GAIA: readonly Column[] = [
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

const magnitudes = (bands: string): Column[] => [
  ...[...bands].map(band =>
    column(`wavg_mag_psf_${band}`, `Weighted mean PSF magnitude in ${band}, AB`, {
      unit: 'mag',
      ucd: `phot.mag;${EM[band]}`,
    }),
  ),
  ...[...bands].map(band =>
    column(`wavg_magerr_psf_${band}`, `Error of wavg_mag_psf_${band}`, {
      unit: 'mag',
      ucd: `stat.error;phot.mag;${EM[band]}`,
    }),
  ),
];

const flags = (name: string, description: string): Column =>
  column(name, `Flags: ${description}`, { type: 'int64', ucd: 'meta.code' });

const GOLD: readonly Column[] = [
  column('ra', 'Right ascension', { unit: 'deg', ucd: 'pos.eq.ra' }),
  column('dec', 'Declination', { unit: 'deg', ucd: 'pos.eq.dec' }),
  column('bdf_t', 'Squared size of the bulge and disc fit', { unit: 'arcsec**2', ucd: 'phys.angSize' }),
  column('bdf_g_1', 'First component of the ellipticity of the fit', { ucd: 'src.ellipticity' }),
  column('bdf_g_2', 'Second component of the ellipticity of the fit', { ucd: 'src.ellipticity' }),
  column('bdf_fracdev', 'Share of the bulge in the flux of the fit', { ucd: 'stat.fit.param' }),
  column('dnf_z', 'DNF photometric redshift', { ucd: 'src.redshift.phot' }),
  column('dnf_zsigma', 'Uncertainty of dnf_z', { ucd: 'stat.error;src.redshift.phot' }),
  column('ext_mash', 'Star-galaxy class, from 0 (star) to 4 (galaxy)', { type: 'int64', ucd: 'src.class.starGalaxy' }),
  flags('flags_gold', 'of the measurement'),
  flags('flags_foreground', 'near a bright foreground object'),
  flags('flags_footprint', 'within the footprint'),
  flags('bdf_flags', 'of the bulge and disc fit'),
];

const SKYMAPPER: readonly Column[] = [
  ...[...'uvgriz'].map(band =>
    column(`${band}_psf`, `PSF magnitude in ${band}, AB`, { unit: 'mag', ucd: `phot.mag;${EM[band]}` }),
  ),
  ...[...'uvgriz'].map(band =>
    column(`e_${band}_psf`, `Error of ${band}_psf`, { unit: 'mag', ucd: `stat.error;phot.mag;${EM[band]}` }),
  ),
  column('raj2000', 'Right ascension', { unit: 'deg', ucd: 'pos.eq.ra' }),
  column('dej2000', 'Declination', { unit: 'deg', ucd: 'pos.eq.dec' }),
  column('e_raj2000', 'Error of raj2000', { type: 'int64', unit: 'mas', ucd: 'stat.error;pos.eq.ra' }),
  column('e_dej2000', 'Error of dej2000', { type: 'int64', unit: 'mas', ucd: 'stat.error;pos.eq.dec' }),
  column('class_star', 'Star-galaxy class, from 0 (galaxy) to 1 (star)', { ucd: 'src.class.starGalaxy' }),
  column('flags', 'Flags: of the detections, combined', { type: 'int64', ucd: 'meta.code' }),
  column('nimaflags', 'Number of flagged pixels', { type: 'int64', ucd: 'meta.number' }),
  column('ngood', 'Number of detections without flags', { type: 'int64', ucd: 'meta.number' }),
];

const BY_CATALOG: Readonly<Record<CatalogName, readonly Column[]>> = {
  gaia_dr3: GAIA,
  des_y6_gold: [...magnitudes('grizy'), ...GOLD],
  delve_dr3_gold: [...magnitudes('griz'), ...GOLD],
  skymapper_dr4: SKYMAPPER,
};

/** The columns of a catalog's payload, all of them numbers. */
export function payloadColumns(catalog: CatalogName): readonly Column[] {
  return BY_CATALOG[catalog];
}

/** Of a catalog: the keys of the payload under which the source's own position is repeated. */
export function positionKeys({ raColumn, decColumn }: Pick<CatalogDefinition, 'raColumn' | 'decColumn'>): string[] {
  return [raColumn.toLowerCase(), decColumn.toLowerCase()];
}

/**
 * The cell of a payload's value. An import may bring values of other types than the catalog has: where one cannot stand in its column,
 * the cell is undefined. A key that the payload lacks is null.
 */
export function payloadCell({ type }: Column, value: unknown): Cell | undefined {
  if (value === null || value === undefined) return null;
  if (type === 'float64') return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'bigint' && BigInt.asIntN(64, value) === value ? value : undefined;
}
