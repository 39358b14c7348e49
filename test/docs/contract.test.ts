/** Statements of docs/contract.md that no other test covers. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { columnNames } from '../../src/core/contract/catalog.ts';
import { CATALOGS } from '../../src/core/contract/catalogs.ts';
import { type Running, startApp } from '../core/http/support.ts';
import { root } from '../directory.ts';
import { describesMore } from '../removed.ts';

const test = suite<{ running: Running }>('docs/contract');

const contract = readFileSync(join(root, 'docs/contract.md'), 'utf8');

test.before(async context => {
  context.running = await startApp(async () => {});
});

test.after(({ running }) => running.close());

const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

test('every route of the table is there, under its methods [Routes]', async ({ running: { app } }) => {
  const rows = [...contract.matchAll(/^\| ([A-Z, ]+) \| (`\/.*?) \|.*\|$/gm)];
  const routes = rows.flatMap(([, methods, paths]) =>
    [...paths!.matchAll(/`([^`]+)`/g)].flatMap(([, path]) =>
      methods!.split(', ').map(method => [method, path!] as const),
    ),
  );
  assert.ok(routes.length > 0);
  for (const [method, path] of routes) {
    const address = path
      .replace('{diaObjectId}', '1')
      .replace('{catalog}', 'gaia_dr3')
      .replace('VERSION', version)
      .replace(/\{\w+\}/, '2026abc');
    const response = await app.app.fetch(new Request(`http://nearsky.test${address}`, { method }));
    await response.body?.cancel();
    const wrong = describesMore ? [405] : [404, 405];
    assert.ok(!wrong.includes(response.status), `${method} ${path} is ${response.status}`);
  }
});

test('the descriptions ignore every name [Query strings]', async ({ running: { app } }) => {
  for (const path of ['/openapi.json?', '/api/status?', '/api/describe?']) {
    const { status, headers } = await app.get(`${path}x.y=1&zz_min=1&response=count`);
    assert.equal([status, headers.get('X-Unknown-Parameters')], [200, 'x.y, zz_min, response'], path);
  }
});

test('the payload of each catalog has the keys of the contract [Catalogs]', () => {
  // As the specification lists them.
  const said: Readonly<Record<string, string>> = {
    gaia_dr3:
      'phot_g_mean_mag, phot_bp_mean_mag, phot_rp_mean_mag, phot_g_mean_flux_over_error, phot_bp_mean_flux_over_error, phot_rp_mean_flux_over_error, ra, dec, ra_error, dec_error, parallax, parallax_error, pmra, pmra_error, pmdec, pmdec_error, ref_epoch, classprob_dsc_combmod_star, classprob_dsc_combmod_galaxy, classprob_dsc_combmod_quasar, ruwe, astrometric_excess_noise, astrometric_excess_noise_sig',
    des_y6_gold:
      'wavg_mag_psf_ and wavg_magerr_psf_ for g, r, i, z, y; ra, dec, bdf_t, bdf_g_1, bdf_g_2, bdf_fracdev, dnf_z, dnf_zsigma, ext_mash, flags_gold, flags_foreground, flags_footprint, bdf_flags',
    delve_dr3_gold: 'as DES without the two columns of Y',
    skymapper_dr4:
      'u_psf, v_psf, g_psf, r_psf, i_psf, z_psf, the same with e_ before, raj2000, dej2000, e_raj2000, e_dej2000, class_star, flags, nimaflags, ngood',
  };
  const keysOf = (name: string) =>
    columnNames(CATALOGS.find(catalog => catalog.name === name)!).map(column => column.toLowerCase());
  assert.equal(keysOf('gaia_dr3'), said.gaia_dr3!.split(', '));
  const [des, others] = said.des_y6_gold!.split('; ') as [string, string];
  assert.is(des, 'wavg_mag_psf_ and wavg_magerr_psf_ for g, r, i, z, y');
  const bands = (list: string) =>
    ['wavg_mag_psf_', 'wavg_magerr_psf_'].flatMap(key => [...list].map(band => `${key}${band}`));
  assert.equal(keysOf('des_y6_gold').sort(), [...bands('grizy'), ...others.split(', ')].sort());
  assert.is(said.delve_dr3_gold!, 'as DES without the two columns of Y');
  assert.equal(keysOf('delve_dr3_gold').sort(), [...bands('griz'), ...others.split(', ')].sort());
  const [psf, rest] = said.skymapper_dr4!.split(', the same with e_ before, ') as [string, string];
  const magnitudes = psf.split(', ');
  assert.equal(
    keysOf('skymapper_dr4').sort(),
    [...magnitudes, ...magnitudes.map(key => `e_${key}`), ...rest.split(', ')].sort(),
  );
});

test.run();
