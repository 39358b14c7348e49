import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { runValidation } from '../../../src/capabilities/validation/run_validation.ts';
import { test } from '../../core/contract/occurring.ts';
import { loadRegistry, TestApp } from '../../core/http/support.ts';
import { inWorld } from '../crossmatch/world.ts';

test('the validation of matches', () =>
  inWorld(async world => {
    // More than a hundred sources per square arcmin around the object.
    const dense = Array.from({ length: 900 }, (_, i) => ({
      ra: 150 + ((i % 30) - 15) / 720,
      dec: 2 + (Math.floor(i / 30) - 15) / 720,
    }));
    const sparse = Array.from({ length: 30 }, (_, i) => ({ ra: 170, dec: 2 + (i - 15) / 60 }));
    await world.addCatalog('gaia_dr3', [...dense, ...sparse]);
    await world.addCatalog('des_y6_gold', [{ ra: 10, dec: -60 }]);
    await world.ingest([
      { ra: 150, dec: 2 },
      { ra: 170, dec: 2 },
    ]);
    const validated = async (hours: string) => {
      const app = await new TestApp(join(world.directory, 'data'), { NEARSKY_VALIDATION_HOURS: hours }).ready();
      const before = (await app.get('/api/validation')).body;
      await runValidation(app.config, 0, { isBackground: false });
      const { body } = await app.get('/api/validation');
      assert.is((await app.post('/api/validation', {})).status, 405);
      await app.app.close();
      return [before.status, body.status, body.validation.registry.epoch];
    };
    assert.equal(await validated('null'), ['not_made', 'made', null]);
    await loadRegistry(world, 1_767_225_600_000_000, [{ name: '2026abc', ra: 150, dec: 2, classification: 'SN Ia' }]);
    assert.equal(await validated('5'), ['made', 'made', '2026-01-01T00:00:00+00:00']);
  }));
