/**
 * The lines that the pages make of the columns of the catalogs, and of positions and times. Expected values are those
 * of astropy.
 */

import { separationArcsec } from '@nearsky/sky-index';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mainMagnitudeText } from '../../../src/capabilities/objects/photometry.js';
import { parseSearchText } from '../../../src/capabilities/objects/search_text.js';
import {
  fixed,
  fromGalactic,
  galactic,
  hours,
  measured,
  mjd,
  payloadText,
  rounded,
  sexagesimal,
} from '../../../src/capabilities/pages/browser/format.js';
import { brokersOf, parseMetrics, sampleOf } from '../../../src/capabilities/pages/browser/metrics.js';
import { highlights, inShort, worthParts } from '../../../src/capabilities/pages/browser/payload.js';
import { SKY_LINES } from '../../../src/capabilities/pages/browser/sky_lines.js';
import { catalogData } from '../../../src/capabilities/pages/page_data.ts';

const test = suite('pages/payload');

const catalogOf = (name: string) => catalogData().find(catalog => catalog.name === name);
const textOf = (catalog: string, payload: Record<string, unknown>) =>
  Object.fromEntries(highlights(catalogOf(catalog), payload).map(({ label, parts }) => [label, parts.join(' | ')]));

test('Gaia: errors from fluxes, parallax and motion with their errors, classes, quality', () => {
  const payload = {
    phot_g_mean_mag: 20.333789825439453,
    phot_bp_mean_mag: 20.90850257873535,
    phot_rp_mean_mag: 19.120153427124023,
    phot_g_mean_flux_over_error: 80.15032958984375,
    phot_bp_mean_flux_over_error: 6.147462368011475,
    phot_rp_mean_flux_over_error: 17.389698028564453,
    parallax: 2.37956349674459,
    parallax_error: 0.8310781717300415,
    pmra: -10.72246011287051,
    pmra_error: 1.084326148033142,
    pmdec: -2.047719689793502,
    pmdec_error: 0.7058563828468323,
    ref_epoch: 2016,
    classprob_dsc_combmod_star: 0.9,
    classprob_dsc_combmod_galaxy: 0.0995,
    classprob_dsc_combmod_quasar: 1e-7,
    ruwe: 1.5,
  };
  assert.equal(textOf('gaia_dr3', payload), {
    Magnitudes: 'BP 20.91 ± 0.18 | G 20.334 ± 0.014 | RP 19.120 ± 0.062',
    Colour: 'BP − RP 1.79 ± 0.19',
    Parallax: '2.38 ± 0.83 mas',
    'Proper motion': '−10.7 ± 1.1 E | −2.05 ± 0.71 N | mas/yr',
    'Star or galaxy': 'star 90 % | galaxy 10 %',
    Astrometry: 'RUWE 1.50, poor | position at 2016.0',
  });
  assert.is(mainMagnitudeText(catalogOf('gaia_dr3')?.photometry, payload), 'G 20.33');
  assert.match(
    textOf('gaia_dr3', { ...payload, parallax: 25, parallax_error: 0.02 }).Parallax!,
    /25\.000 ± 0\.020 mas \| some 40 pc/,
  );
  const bare = { ...payload, parallax: null, pmra: null, phot_bp_mean_mag: null };
  assert.match(textOf('gaia_dr3', bare).Parallax!, /two-parameter/);
  assert.not.ok('Colour' in textOf('gaia_dr3', bare));
});

test('what a catalog says of a source in short', () => {
  const short = (catalog: string, payload: Record<string, unknown> | null) =>
    inShort(catalogOf(catalog), payload).join(', ');
  const gaia = { phot_g_mean_mag: 14.034, parallax: 7.187, parallax_error: 0.021, classprob_dsc_combmod_star: 0.999 };
  assert.is(short('gaia_dr3', gaia), 'star (> 99 %), G 14.03 (Vega), parallax 7.187 ± 0.021 mas');
  const weak = { ...gaia, parallax: 0.08, classprob_dsc_combmod_star: 0.7, classprob_dsc_combmod_galaxy: 0.3 };
  assert.is(short('gaia_dr3', weak), 'star (70 %), G 14.03 (Vega)');
  assert.is(short('gaia_dr3', { ...gaia, classprob_dsc_combmod_star: null, parallax: null }), 'G 14.03 (Vega)');
  const des = { wavg_mag_psf_r: 18.5042, ext_mash: 4 };
  assert.is(short('des_y6_gold', des), 'galaxy (EXT_MASH 4), r 18.50 (AB)');
  assert.is(short('des_y6_gold', { ...des, ext_mash: 3 }), 'likely a galaxy (EXT_MASH 3), r 18.50 (AB)');
  assert.is(short('skymapper_dr4', { class_star: 0.97 }), 'star (class_star 0.97)');
  assert.is(short('skymapper_dr4', { class_star: 0.7 }), 'ambiguous (class_star 0.70)');
  assert.is(short('gaia_dr3', null), '');
  assert.equal(worthParts({}), []);
  assert.equal(worthParts({ statistics: { match_probability: 1 } }), []);
  const counterpart = { match_probability: 0.9, any_match_probability: 0.5 };
  assert.equal(worthParts({ statistics: counterpart }), ['counterpart: 45 %']);
  const both = { chance_probability: 0.0004, match_probability: 1, any_match_probability: 0.999 };
  assert.equal(worthParts({ statistics: both }), ['by chance 0.04 %', 'counterpart: > 99 %']);
  const chances = [0, 0.00009, 0.0004, 0.00455, 0.123, 0.5, 0.989, 0.995, 1];
  assert.equal(
    chances.map(chance => worthParts({ statistics: { chance_probability: chance } })[0]!.slice('by chance '.length)),
    ['< 0.01 %', '< 0.01 %', '0.04 %', '0.5 %', '12 %', '50 %', '99 %', '> 99 %', '> 99 %'],
  );
});

test('DES, DELVE, SkyMapper: sentinels are no magnitudes, photo-z, star or galaxy, flags', () => {
  const des = {
    wavg_mag_psf_g: 18.8541,
    wavg_magerr_psf_g: 0.0237,
    wavg_mag_psf_r: 18.5042,
    wavg_magerr_psf_r: 0.0002,
    wavg_mag_psf_i: 99,
    wavg_magerr_psf_i: 99,
    dnf_z: 0.3127,
    dnf_zsigma: 0.0213,
    ext_mash: 4,
    flags_gold: 8,
  };
  assert.equal(textOf('des_y6_gold', des), {
    Magnitudes: 'g 18.854 ± 0.024 | r 18.504 ± 0.001',
    Colour: 'g − r 0.350 ± 0.024',
    'Photo-z': '0.313 ± 0.021',
    'Star or galaxy': 'galaxy (EXT_MASH 4)',
    Flags: 'FLAGS_GOLD 8',
  });
  assert.is(mainMagnitudeText(catalogOf('delve_dr3_gold')?.photometry, { ...des, wavg_mag_psf_r: null }), 'g 18.85');
  assert.is(textOf('des_y6_gold', { ...des, dnf_z: null })['Photo-z'], 'none');
  assert.is(
    textOf('skymapper_dr4', { r_psf: 16.6, e_r_psf: 0.01, class_star: 0.98 })['Star or galaxy'],
    'star (class_star 0.98)',
  );
  assert.is(mainMagnitudeText(catalogOf('skymapper_dr4')?.photometry, { r_psf: null }), undefined);
  assert.equal(highlights(catalogOf('another'), {})[0], { label: 'Magnitudes', parts: ['none'], title: ' magnitudes' });
  assert.equal(highlights(catalogOf('gaia_dr3'), undefined), []);
});

test('numbers of any table have the digits that their errors or units give them, and integers all of theirs', () => {
  assert.is(rounded('2.37956349674459', 'mas', 0.8310781717300415), '2.38');
  assert.is(rounded('2.37956349674459', 'mas', Number.NaN), '2.38');
  assert.is(rounded('57.90444029687274', 'deg', Number.NaN), '57.9044403');
  assert.is(rounded('6.287154e-8', undefined, Number.NaN), '6.28715e-8');
  assert.is(rounded('61.62', 'deg', Number.NaN), '61.62');
  assert.is(rounded('9000000000000000004', undefined, 1), '9000000000000000004');
  assert.is(rounded('NaN', 'mag', Number.NaN), 'NaN');
});

test('values have the digits that their errors give them', () => {
  assert.is(measured(20.333789825439453, 0.0136), '20.334 ± 0.014');
  assert.is(measured(1234.5, 12), '1235 ± 12');
  assert.is(measured(-0.001, 0.5), '0.00 ± 0.50');
  assert.is(measured(1.23456, undefined, 3), '1.235');
  assert.is(measured(1.5, 0), '1.50');
  assert.is(fixed(-0.001, 2), '0.00', 'no minus before a zero');
  assert.is(fixed(-1.5, 1), '−1.5');
});

test('galactic coordinates, MJD, hours, positions as they are copied', () => {
  // SkyCoord(ra, dec).galactic of astropy.
  for (const [ra, dec, l, b] of [
    [266.4049882865447, -28.93617776179147, 0, 0],
    [192.85947789, 27.12825241, 0, 90],
    [61.62227592104076, -49.29512529953388, 257.2366339, -46.7415455],
    [10.684, 41.269, 121.1737667, -21.5730396],
  ] as const) {
    const found = galactic(ra, dec);
    // astropy's frame is defined by way of FK5, some 0.02 arcsec away; four decimals of a degree are shown.
    assert.ok(separationArcsec(found.l, found.b, l, b) < 0.05, `${ra} ${dec}: ${found.l} ${found.b}`);
    const back = fromGalactic(found.l, found.b);
    assert.ok(separationArcsec(back.ra, back.dec, ra, dec) < 0.001);
  }
  assert.is(mjd('2025-10-27T04:54:08.078113+00:00'), '60975.20426');
  assert.equal([0, 15, 30.5, 123.125, 359.9999999, -15].map(hours), ['0h', '1h', '2h02m', '8h12m30s', '0h', '23h']);
  for (const [ra, dec] of [
    [61.62227592, -49.295125],
    [0.0001, -0.00001],
    [359.99999, 89.9999],
  ] as const) {
    const text = sexagesimal(ra, dec);
    assert.match(text, /^\d\d:\d\d:\d\d\.\d\d [+-]\d\d:\d\d:\d\d\.\d$/);
    const found = parseSearchText(text);
    assert.is(found.kind, 'position', text);
    if (found.kind === 'position') assert.ok(separationArcsec(found.ra, found.dec, ra, dec) < 0.1, text);
  }
});

test('the lines on the map lie where they should', () => {
  const curveOf = (name: string) => SKY_LINES.filter(line => line.name === name);
  const nearest = (name: string, ra: number, dec: number) =>
    Math.min(
      ...curveOf(name).flatMap(({ at }) =>
        Array.from({ length: 3600 }, (_, i) => {
          const point = at(i / 3600);
          return point ? separationArcsec(point.ra, point.dec, ra, dec) / 3600 : Number.POSITIVE_INFINITY;
        }),
      ),
    );
  assert.ok(nearest('galactic', 266.405, -28.936) < 0.1, 'the galactic centre');
  assert.ok(nearest('galactic', 192.859, 27.128) > 89.9, 'its pole');
  assert.ok(nearest('ecliptic', 0, 0) < 0.1 && nearest('ecliptic', 90, 23.439) < 0.1);
  assert.ok(nearest('ecliptic', 270, 66.561) > 89.9);
  assert.ok(nearest('survey', 30, 12) < 0.1 && nearest('survey', 30, -72) < 0.1, 'its declinations');
  assert.ok(nearest('survey', 101.287, 12) > 5, 'not across the galactic plane');
  const outline = curveOf('survey').flatMap(({ at }) => Array.from({ length: 720 }, (_, i) => at(i / 720)));
  const points = outline.filter(point => point !== undefined);
  assert.ok(points.length > 500 && points.length < outline.length);
  for (const { ra, dec } of points)
    assert.ok(dec > -72.01 && dec < 12.01 && Math.abs(galactic(ra, dec).b) > 14.99, `${ra} ${dec}`);
});

test('what the service counts is read from its metrics', () => {
  const metrics = parseMetrics(
    [
      '# HELP a thing',
      'nearsky_objects_pending 3',
      'crossmatch_alerts_ingested_total{broker="lasair",result="new"} 86',
      'crossmatch_alerts_ingested_total{broker="lasair",result="duplicate"} 1',
      'crossmatch_alerts_ingested_total{broker="antares",result="new"} 12',
      'crossmatch_alert_last_success_timestamp_seconds{broker="lasair"} 1795316828.005',
      'odd{text="a \\"quoted\\" one"} 1e3',
      'not a sample',
    ].join('\n'),
  );
  assert.is(sampleOf(metrics, 'nearsky_objects_pending'), 3);
  assert.is(sampleOf(metrics, 'odd'), 1000);
  assert.is(sampleOf(metrics, 'absent'), undefined);
  assert.equal(brokersOf(metrics), [
    { broker: 'antares', alerts: 12, objects: 12, lastSeconds: undefined },
    { broker: 'lasair', alerts: 87, objects: 86, lastSeconds: 1795316828.005 },
  ]);
});

test('a list of a catalog keeps the digits of its integers', () => {
  assert.is(payloadText([9_000_000_000_000_000_001n, null, { flag: 1 }]), '[9000000000000000001, –, {flag: 1}]');
});

test.run();
