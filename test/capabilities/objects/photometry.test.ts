/** The magnitude by which sources are compared. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mainMagnitude } from '../../../src/capabilities/objects/photometry.js';
import { catalogDefinition } from '../../../src/core/contract/catalogs.ts';

const test = suite('objects/photometry');

test('the main band, else the reddest with a value; codes for a missing value are none', () => {
  const { photometry } = catalogDefinition('gaia_dr3')!;
  const of = (payload: Record<string, unknown> | null) => {
    const main = mainMagnitude(photometry, payload);
    return main && [main.letter, main.magnitude];
  };
  assert.equal(of({ phot_bp_mean_mag: 15, phot_g_mean_mag: 14, phot_rp_mean_mag: 13 }), ['G', 14]);
  assert.equal(of({ phot_bp_mean_mag: 15, phot_g_mean_mag: null, phot_rp_mean_mag: 13 }), ['RP', 13]);
  assert.equal(of({ phot_bp_mean_mag: 15, phot_g_mean_mag: 99, phot_rp_mean_mag: Number.NaN }), ['BP', 15]);
  for (const none of [{}, null, { phot_g_mean_mag: -99 }, { phot_g_mean_mag: '14' }]) assert.is(of(none), undefined);
  assert.is(mainMagnitude(undefined, { phot_g_mean_mag: 14 }), undefined);
});

test.run();
